"""Summary: what a table holds, column by column, before anything is decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from privacyfunnel.columns import KINDS, Column
from privacyfunnel.tables.open import open_table


@dataclass(frozen=True)
class ColumnSummary:
    """A column's kind, how many rows it is missing in and how many distinct values it has."""

    name: str
    kind: str
    n_rows: int
    missing: int
    distinct: int


def summary(table: Any, names: Sequence[str] | None = None) -> list[ColumnSummary]:
    """A summary of each column that can be counted, or of those named.

    >>> import pandas as pd
    >>> summary(pd.DataFrame({"city": ["Bonn", None, "Bonn"]}))
    [ColumnSummary(name='city', kind='text', n_rows=3, missing=1, distinct=1)]
    """
    table = open_table(table)
    if names is None:
        kinds = table.columns
        names = [n for n in table.names if kinds[n] in KINDS and table.names.count(n) == 1]
    columns = [Column(name, table.kind(name)) for name in names]
    if not columns:
        return []
    n_rows = table.n_rows
    pairs = zip(columns, table.known_and_distinct(columns), strict=True)
    return [ColumnSummary(c.name, c.kind, n_rows, n_rows - known, n) for c, (known, n) in pairs]


def identifiers(table: Any, names: Sequence[str] | None = None) -> list[str]:
    """The columns that are nearly unique per row, which point at persons: leave out or coarsen.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"id": range(100), "sex": [0, 1] * 50})
    >>> identifiers(table)
    ['id']
    """
    found = summary(table, names)
    return [c.name for c in found if is_nearly_unique(c.distinct, c.n_rows - c.missing)]


def is_nearly_unique(distinct: int, known: int) -> bool:
    """Whether so many distinct values among so many known ones point at persons.

    >>> is_nearly_unique(95, 100), is_nearly_unique(5, 5)
    (True, False)
    """
    return distinct > 10 and distinct >= 0.9 * known
