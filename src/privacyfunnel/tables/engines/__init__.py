"""Engines: what holds a table and counts it: DuckDB, frames that narwhals understands, Spark."""
