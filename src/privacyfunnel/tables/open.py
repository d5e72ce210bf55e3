"""Opening: from what a user names to a Table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacyfunnel.errors import DataUnavailable
from privacyfunnel.tables.engines.duckdb import check_memory, connect, first_line
from privacyfunnel.tables.paths import read_database, read_paths
from privacyfunnel.tables.table import Table, sql_kind

if TYPE_CHECKING:
    import duckdb


def open_table(source: Any, *, memory: str | None = None) -> Table:
    """Open a path, a glob, a folder, a ``duckdb://FILE#TABLE`` address or a frame.

    Files are csv, tsv, parquet or json lines; frames are whatever narwhals understands (pandas,
    Polars, PyArrow, PySpark, Ibis, ...) or a DuckDB relation. ``memory`` bounds DuckDB, e.g. "2GB".

    >>> import pandas as pd
    >>> table = open_table(pd.DataFrame({"age": [40, 61], "city": ["Bonn", None]}))
    >>> table.columns, table.n_rows
    ({'age': 'integer', 'city': 'text'}, 2)
    """
    memory = check_memory(memory)
    if isinstance(source, Table):
        return source
    if isinstance(source, str | Path):
        return _open_files(source, memory, {})
    from privacyfunnel.tables.engines.frames import open_frame

    return open_frame(source, memory)


def _open_files(source: str | Path, memory: str | None, kinds: Mapping[str, str]) -> Table:
    import duckdb

    is_database = str(source).startswith("duckdb://")
    with connect(memory) as con:
        try:
            reading = (
                read_database(con, str(source)) if is_database else read_paths(con, source, kinds)
            )
            types = con.sql(f"FROM {reading.sql}").types
        except duckdb.Error as error:
            raise DataUnavailable(f"cannot read {source}: {first_line(error)}") from error

    def attach(con: duckdb.DuckDBPyConnection, _: Sequence[str]) -> None:
        if reading.setup:
            con.execute(reading.setup)
        safe = ", ".join(f"c{i}" for i in range(len(reading.names)))
        con.execute(f"CREATE TEMP VIEW t AS SELECT * FROM {reading.sql} AS s({safe})")

    def reopen(kinds: Mapping[str, str]) -> Table:
        return _open_files(source, memory, kinds)

    return Table(
        source=str(source),
        names=reading.names,
        kinds=tuple(sql_kind(str(t)) for t in types),
        attach=attach,
        memory=memory,
        files=reading.files,
        reopen=reopen if reading.is_text else None,
    )
