"""Engines: what holds a table and counts it; one file and one line here for each.

Each module has ``opens(source)``, whether it can, and ``open_source(source, memory)``, the Table; one of
files also takes the ``input_format`` that a user may name. One that writes rows by itself, instead of
showing them to DuckDB, draws lots as ``codebook/draws.py`` says. Addresses that name its tables are told
to users from ``files.ADDRESSES``, which the commands' help can read at once.
"""

ENGINES = ("duckdb", "spark", "narwhals")  # in the order in which they are asked
