"""Recoded join: the rows of a table beside the groups that a readable codebook releases them as."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.codebook.output import recoded_names, shown_groups
from privacyfunnel.codebook.recoded import recode, starred, stars_of
from privacyfunnel.errors import UnknownSymbol
from privacyfunnel.tables.encoding import combine_columns
from privacyfunnel.tables.join import Join, arrow_type

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class RecodedJoin(Join):
    """A join on the combinations that the table itself has, so that those never seen have a place too.

    ``numbers`` says how groups of numbers are written: as a label, with their bounds in two more
    columns, or as their mean.
    """

    numbers: str = "label"

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
        stars = np.array(stars_of(self.book))
        cells = starred(self.book, cells)
        return self._without_rare(cells, rows, stars, changed=bool(unseen.any()))

    def _without_rare(self, cells: Ints, rows: Ints, stars: Ints, changed: bool) -> Ints:
        """The same with every combination suppressed that goes out with too few records."""
        least = self.book.min_count
        if least <= 1 or not len(cells):
            return cells
        released, which = np.unique(cells, axis=0, return_inverse=True)
        which = which.ravel()
        counts = np.bincount(which, rows).astype(np.int64)
        hidden = (released == stars).all(axis=1)
        rare = ~hidden & (counts < least)
        if rare.any() and not self.suppress:
            few = f"a combination would go out with {counts[rare].min()} records"
            self.refuse(few, hint="unseen")
        if not rare.any() and not changed:
            return cells
        alone = counts[hidden | rare].sum()
        for j in np.argsort(counts, kind="stable"):
            if not 0 < alone < least:
                break
            if not (hidden[j] or rare[j]):
                rare[j] = True
                alone += counts[j]
        if 0 < alone < least:
            self.refuse(f"{alone} records would be released")
        return np.where(rare[which][:, None], stars, cells)

    @property
    def n_suppressed(self) -> int:
        """How many rows are ``*`` in all columns."""
        return int(self._groups[2][(self.cells == stars_of(self.book)).all(axis=1)].sum())

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many rows each symbol of the codebook gets."""
        label = {symbol.cells: symbol.label for symbol in self.book.symbols}
        found: dict[str, int] = {}
        for cell, n in zip(map(tuple, self.cells.tolist()), self._groups[2].tolist(), strict=True):
            if cell in label:
                found[label[cell]] = found.get(label[cell], 0) + n
        return {name: found[name] for name in self.book.labels if name in found}

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
