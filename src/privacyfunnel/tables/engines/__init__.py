"""Engines: what holds a table and counts it; one file and one line here for each.

Each module has ``opens(source)``, whether it can, and ``open_source(source, memory)``, the Table.
"""

ENGINES = ("duckdb", "spark", "narwhals")  # in the order in which they are asked
