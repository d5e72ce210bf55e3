"""Recoded join: the rows of a table beside the groups that a readable codebook releases them as."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from privacyfunnel.codebook.output import recoded_names, shown_groups
from privacyfunnel.codebook.recoded import recode, starred, stars_of
from privacyfunnel.errors import UnknownSymbol
from privacyfunnel.tables.encoding import combine_columns
from privacyfunnel.tables.join import Ints, Join, arrow_type

if TYPE_CHECKING:
    import pyarrow as pa


class RecodedJoin(Join):
    """A join on the combinations that the table itself has, so that those never seen have a place too."""

    @property
    def outputs(self) -> list[str]:
        own = [recoded_names(column, self.numbers) for column in self.book.roles.public]
        return [f"o{i}_{n}" for i, names in enumerate(own) for n in range(len(names))]

    @cached_property
    def _groups(self) -> tuple[list[list[Any]], Ints, Ints]:
        """Distinct values of each column, which of them each combination has, and its rows."""
        coded, n = self.counted()
        codes, _ = combine_columns(coded, np.ones(len(n), dtype=bool))
        first = np.unique(codes, return_index=True)[1]
        places = np.column_stack([part[first] for part, _ in coded])
        rows = np.bincount(codes, n).astype(np.int64)
        return [symbols for _, symbols in coded], places, rows

    @cached_property
    def cells(self) -> Ints:
        """The groups of each combination; one after a column's last stands for ``*``."""
        values, places, rows = self._groups
        cells = recode(self.book, values, places)
        unseen = (cells < 0).any(axis=1)
        if unseen.any() and not self.suppress:
            worst = np.flatnonzero(unseen)[np.argmax(rows[unseen])]
            value = tuple(symbols[p] for symbols, p in zip(values, places[worst], strict=True))
            words = self.book.unknown(value, int(rows[unseen].sum()), int(unseen.sum()))
            raise UnknownSymbol(f"{words}.", hint="unseen")
        return self._hide_rare(starred(self.book, cells), rows, changed=bool(unseen.any()))

    def _hide_rare(self, cells: Ints, rows: Ints, changed: bool) -> Ints:
        """The same with every combination suppressed that goes out with too few records."""
        if self.book.min_count <= 1 or not len(cells):
            return cells
        stars = np.array(stars_of(self.book))
        released, which = np.unique(cells, axis=0, return_inverse=True)
        which = which.ravel()
        counts = np.bincount(which, rows).astype(np.int64)
        is_star = (released == stars).all(axis=1)
        hidden = int(counts[is_star].sum())
        counts[is_star] = 0
        few = counts[self._is_few(counts)]
        if len(few) and not self.suppress:
            self.refuse(f"a combination would go out with {few.min()} records", hint="unseen")
        if not len(few) and not changed:
            return cells
        return np.where(self._hide(counts, hidden)[which][:, None], stars, cells)

    @property
    def n_suppressed(self) -> int:
        """How many rows are ``*`` in all columns."""
        return int(self._groups[2][(self.cells == stars_of(self.book)).all(axis=1)].sum())

    @property
    def counts(self) -> dict[str, int]:
        """How many rows each symbol of the codebook gets."""
        rows: Counter[tuple[int, ...] | None] = Counter()
        for cell, n in zip(self.cells.tolist(), self._groups[2].tolist(), strict=True):
            rows[tuple(cell)] += n
        return {s.label: rows[s.cells] for s in self.book.symbols if s.cells in rows}

    def without_rare(self) -> Join:
        return self

    def lookup(self) -> pa.Table:
        import pyarrow as pa

        values, places, _ = self._groups
        data: dict[str, Any] = {}
        for i, column in enumerate(self.columns):
            raw = pa.array(
                [column.raw(value) for value in values[i]], type=arrow_type(column.key_kind)
            )
            data[f"k{i}"] = raw.take(pa.array(places[:, i]))
        data["place"] = pa.array(range(len(places)), type=pa.int64())
        for i in range(len(self.columns)):
            for n, (kind, shown) in enumerate(shown_groups(self.book, i, self.numbers)):
                known = pa.array(shown, type=arrow_type(kind))
                data[f"o{i}_{n}"] = known.take(pa.array(self.cells[:, i]))
        return pa.table(data)
