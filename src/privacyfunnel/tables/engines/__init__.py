"""Engines: what holds a table and counts it; one file and one line here for each.

Each module has ``opens(source)``, whether it can, and ``open_source(source, memory)``, the Table; one of
files also takes the ``input_format`` that a user may name. One that writes rows by itself, instead of
showing them to DuckDB, draws lots as ``codebook/draws.py`` says.
"""

# In the order in which they are asked; with the address of tables that are no files, where there is one.
ENGINES = {"duckdb": "duckdb://FILE#TABLE", "spark": "", "narwhals": ""}
# What the names of files end in that are opened, with their format, and these in words.
ENDINGS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "json",
    ".ndjson": "json",
}
FILES = "csv, tsv, parquet or json lines"
ADDRESSES = " or ".join(filter(None, ENGINES.values()))


def is_address(name: object) -> bool:
    """Whether a table is named by an address, and not by a path."""
    return "://" in str(name)
