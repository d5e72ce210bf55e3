"""Opening: from what a user names to a Table of the engine that holds it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from privacyfunnel.errors import InvalidInput
from privacyfunnel.tables.connection import memory_bound
from privacyfunnel.tables.engines import ENDINGS, ENGINES, is_address
from privacyfunnel.tables.table import Table
from privacyfunnel.validation import check_choice


def open_table(source: Any, *, memory: str | None = None, input_format: str | None = None) -> Table:
    """Open a path, a glob, a folder, a ``duckdb://FILE#TABLE`` address or a frame.

    Files are csv, tsv, parquet or json lines; frames are whatever narwhals understands (pandas,
    Polars, PyArrow, PySpark, Ibis, ...) or a DuckDB relation. ``memory`` bounds DuckDB, e.g. "2GB".
    ``input_format`` is csv, tsv, parquet or json for files whose names do not tell.

    >>> import pandas as pd
    >>> table = open_table(pd.DataFrame({"age": [40, 61], "city": ["Bonn", None]}))
    >>> table.columns, table.n_rows
    ({'age': 'integer', 'city': 'text'}, 2)
    """
    memory = memory_bound(memory)
    if isinstance(source, Table):
        return source
    if input_format is not None:
        check_choice("input_format", input_format, sorted(set(ENDINGS.values())))
        if not isinstance(source, str | Path) or is_address(source):
            raise InvalidInput("an input_format is for files; frames and databases have their own.")
    for name in ENGINES:
        engine = import_module(f"privacyfunnel.tables.engines.{name}")
        if engine.opens(source):
            form = {} if input_format is None else {"input_format": input_format}
            opened: Table = engine.open_source(source, memory, **form)
            return opened
    raise InvalidInput(
        f"cannot read a table from {type(source).__name__}; pass a path or a data frame."
    )
