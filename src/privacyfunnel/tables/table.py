"""Table: one face for files, databases and frames of every engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacyfunnel.columns import KINDS, Column
from privacyfunnel.errors import InvalidInput
from privacyfunnel.tables.paths import nearest

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from privacyfunnel.tables.join import Join


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Table(ABC):
    """A table that is read and never changed. Build one with :func:`open_table`.

    Each engine is a subclass in ``tables/engines`` and answers the abstract methods in its own way.
    Inside, columns are called c0, c1, ..., so that no name of the user's meets an engine's syntax;
    the *key* of a column is what its :meth:`~privacyfunnel.columns.Column.sql` or ``expr`` gives.
    """

    source: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]  # a key of columns.KINDS, or the engine's type that we cannot count
    files: tuple[Path, ...] = ()

    @property
    def columns(self) -> dict[str, str]:
        """The columns and the kind of each, in order."""
        return dict(zip(self.names, self.kinds, strict=True))

    @cached_property
    def n_rows(self) -> int:
        """How many rows the table has."""
        return self.count_rows()

    def position(self, name: str, role: str = "") -> int:
        """Where a column stands; says what is wrong with a name that cannot be used."""
        role = f"{role} " if role else ""
        if name not in self.names:
            raise InvalidInput(f"no {role}column {name!r}{nearest(name, self.names)}")
        if self.names.count(name) > 1:
            raise InvalidInput(f"the table has two columns named {name!r}; rename one.")
        return self.names.index(name)

    def place(self, name: str) -> str:
        """The name of a column inside: c0, c1, ..."""
        return f"c{self.position(name)}"

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

    @abstractmethod
    def count_rows(self) -> int:
        """How many rows the table has, as its engine counts them."""

    @abstractmethod
    def group(self, columns: Sequence[Column], weight: Column | None) -> pa.Table:
        """How often each combination of keys occurs: columns k0, k1, ... and n.

        With a ``weight`` also w, its sum, ``least``, its least value, and ``known``, how often it is.
        """

    @abstractmethod
    def known_and_distinct(self, columns: Sequence[Column]) -> list[tuple[int, int]]:
        """For each column how many rows have a value, and how many distinct values there are."""

    @abstractmethod
    def quantiles(self, column: Column, n: int) -> list[Any]:
        """The n - 1 values that cut a column into n parts; all None where it has no values.

        The q-quantile is the least value that at least a share q of the values does not exceed: a
        value of the column itself, so that every engine gives the same.
        """

    def count_missing(self, columns: Sequence[Column]) -> int:
        """How many rows lack a value in one of these columns."""
        return self.n_rows - self.count_complete(columns) if columns else 0

    @abstractmethod
    def count_complete(self, columns: Sequence[Column]) -> int:
        """How many rows lack a value in none of these columns."""

    @abstractmethod
    def write_join(self, join: Join, part: Path, fmt: str, ordered: bool) -> None:
        """Join every row to what it is released as and write them, in order if ``ordered``."""

    @abstractmethod
    def commonest_unknown(self, join: Join) -> tuple[tuple[Any, ...], int, int] | None:
        """The commonest value that the join does not know, and how many such rows and values."""

    @abstractmethod
    def in_duckdb(
        self, names: Iterable[str], paths: Sequence[Path] = ()
    ) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        """A DuckDB of our own in which the table is ``funnel_rows``, with at least the named columns.

        ``paths`` are other files or folders that it is to read or write.
        """

    def read_as(self, kinds: Mapping[str, str]) -> Table:
        """The same with these kinds where they were only our reading of it, as in a csv."""
        return self
