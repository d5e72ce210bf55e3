"""Table: one face for files, databases and frames of every engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacyfunnel.columns import KINDS
from privacyfunnel.errors import InvalidInput
from privacyfunnel.tables.engines.duckdb import connect
from privacyfunnel.tables.paths import nearest

if TYPE_CHECKING:
    import duckdb
    import narwhals as nw


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A table of some engine, read and never changed. Build one with :func:`open_table`.

    Inside, its columns are called c0, c1, ..., so that no name of the user's meets an engine's
    syntax. ``attach`` shows some of them to a DuckDB of ours as ``t``; ``lazy`` is the frame of an engine
    that counts by itself, ``spark`` the native frame where that engine is Spark.
    """

    source: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]  # a key of columns.KINDS, or the engine's type that we cannot count
    attach: Callable[[duckdb.DuckDBPyConnection, Sequence[str]], Any]
    memory: str | None = None
    lazy: nw.LazyFrame[Any] | None = None
    spark: Any = None
    files: tuple[Path, ...] = ()
    length: int | None = None  # the number of rows, where the frame knows it
    reopen: Callable[[Mapping[str, str]], Table] | None = None

    @property
    def columns(self) -> dict[str, str]:
        """The columns and the kind of each, in order."""
        return dict(zip(self.names, self.kinds, strict=True))

    @cached_property
    def n_rows(self) -> int:
        """How many rows the table has, as the frame or its engine counts them."""
        if self.length is not None:
            return self.length
        if self.lazy is not None:
            import narwhals as nw

            return int(self.lazy.select(n=nw.len()).collect()["n"].item())
        with self.duckdb(self.names[:1]) as con:
            return int(con.execute("SELECT count(*) FROM t").fetchall()[0][0])

    @contextmanager
    def duckdb(self, names: Iterable[str]) -> Iterator[duckdb.DuckDBPyConnection]:
        """A DuckDB of our own in which the table is ``t``, with at least the named columns."""
        with connect(self.memory) as con:
            self.attach(con, [f"c{i}" for i in sorted({self.names.index(name) for name in names})])
            yield con

    def position(self, name: str, role: str = "") -> int:
        """Where a column stands; says what is wrong with a name that cannot be used."""
        role = f"{role} " if role else ""
        if name not in self.names:
            raise InvalidInput(f"no {role}column {name!r}{nearest(name, self.names)}")
        if self.names.count(name) > 1:
            raise InvalidInput(f"the table has two columns named {name!r}; rename one.")
        return self.names.index(name)

    def kind(self, name: str, role: str = "") -> str:
        """The kind of a column that can be counted."""
        kind = self.kinds[self.position(name, role)]
        if kind not in KINDS:
            raise InvalidInput(
                f"column {name!r} holds values of type {kind}, which cannot be counted; "
                "make it text, numbers or dates first."
            )
        return kind

    def __repr__(self) -> str:
        return f"Table({self.source}: {', '.join(self.names)})"


def sql_kind(sql_type: str) -> str:
    """The kind of a DuckDB type; the type itself where it is none that we can count."""
    name = sql_type.split("(")[0].strip('"').upper()
    if sql_type.endswith("]"):
        return sql_type
    if name.endswith("INT") or name == "INTEGER" or name == "UINTEGER":
        return "integer"
    if name.startswith("TIMESTAMP"):
        return "datetime"
    plain = {"BOOLEAN": "boolean", "DATE": "date"}
    plain |= dict.fromkeys(("FLOAT", "DOUBLE", "DECIMAL"), "number")
    plain |= dict.fromkeys(("VARCHAR", "ENUM", "UUID", "JSON", "NULL"), "text")
    return plain.get(name, sql_type)
