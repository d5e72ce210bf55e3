"""Groups: categories without an order, put together freely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import itemgetter
from typing import Any

import numpy as np

from privacyfunnel.codes import Group
from privacyfunnel.columns import show
from privacyfunnel.information import entropy
from privacyfunnel.recodings.column_cells import ColumnCells, Ints, lost_bits
from privacyfunnel.recodings.hierarchy import distinct
from privacyfunnel.solvers.target import stays_within

FEW = 10  # values whose partitions are all considered: 3^n steps
SWEEPS = 20
PRICES = 8  # prices of a bit that are tried for a bound on what is lost
MOST = 30  # values beyond which partitions are too many to tell the number
LABEL = 64  # characters of a group's name, if its values take more
MISSING = show(None)
CELLS = 2e7  # cells of groups that moves keep at once


@dataclass(frozen=True, eq=False)
class Groups:
    """What a column of plain categories may become: any partition of its values.

    Exact for a few values, by subsets; else moves of one value at a time, from several starts.
    """

    values: tuple[Any, ...]

    @property
    def n_values(self) -> int:
        """Number of values."""
        return len(self.values)

    @property
    def exact(self) -> bool:
        """Whether `best` considers all partitions."""
        return self.n_values <= FEW

    def best(
        self, cells: ColumnCells, start: Ints, rng: np.random.Generator, *, coarse: bool = True
    ) -> Ints:
        """A cheap partition: a number for each value; ``coarse`` starts from one group too."""
        from privacyfunnel._kernels.cells import best_groups, move_groups

        n = self.n_values
        if self.exact:
            group = best_groups(cells.parts, cells.weights, *cells.shape, *cells.prices())
            labels, left = np.zeros(n, dtype=np.int64), (1 << n) - 1
            while left:
                chosen = int(group[left])
                labels[[v for v in range(n) if chosen >> v & 1]] = chosen
                left ^= chosen
            return labels
        most = int(np.clip(CELLS // (cells.shape[0] * cells.shape[1]), 2, n))
        found: list[tuple[float, Ints]] = []
        for begin in (start, np.zeros(n, dtype=np.int64)) if coarse else (start,):
            labels = np.unique(begin, return_inverse=True)[1].astype(np.int64)
            labels = np.minimum(labels, most - 1)
            orders = rng.permuted(np.tile(np.arange(n), (SWEEPS, 1)), axis=1)
            price = move_groups(
                cells.parts, labels, cells.weights, *cells.shape, most, *cells.prices(), orders
            )
            found.append((price, labels))
        return min(found, key=itemgetter(0))[1]

    def within(
        self, cells: ColumnCells, bound: float, start: Ints, rng: np.random.Generator
    ) -> Ints | None:
        """A cheap partition that loses at most ``bound`` bits, its price of a bit found by bisection."""
        whole = entropy(cells.shares)
        low, high, found = 0.0, max(cells.rough, 1e-9) / whole, None
        labels = start
        for _ in range(PRICES):
            price = high if found is None else np.sqrt(max(low, high / 64) * high)
            labels = self.best(replace(cells, keep=price), labels, rng, coarse=False)
            if stays_within(lost_bits(labels, cells.shares), bound):
                found, high = labels, price
            elif found is None:
                low, high = high, 4.0 * high
            else:
                low = price
        return found

    def ends(self) -> tuple[Ints, Ints]:
        """The finest and the coarsest labels."""
        return np.arange(self.n_values), np.zeros(self.n_values, dtype=np.int64)

    @property
    def n_codes(self) -> int:
        """The number of partitions: Bell's numbers, by their triangle; beyond `MOST` no longer exact."""
        row = [1]
        for _ in range(min(self.n_values, MOST) - 1):
            row = list(accumulate(row, initial=row[-1]))
        return row[-1]

    def every(self) -> Iterator[Ints]:
        """All partitions: each value joins a group that is there, or opens the next."""
        found = [(np.zeros(1, dtype=np.int64), 1)]
        for _ in range(self.n_values - 1):
            found = [
                (np.append(labels, g), max(used, g + 1))
                for labels, used in found
                for g in range(used + 1)
            ]
        return (labels for labels, _ in found)

    @property
    def listing(self) -> Ints:
        """The values in the order in which their groups are listed."""
        return np.arange(self.n_values)

    def released(self, labels: Ints) -> tuple[Group, ...]:
        """The group of each value."""
        if (labels == labels[0]).all() and self.n_values > 1:
            return (Group("*", self.values),) * self.n_values
        named, of_value = list[Group](), np.unique(labels, return_inverse=True)[1]
        for k in range(of_value.max() + 1):
            members = tuple(self.values[v] for v in np.flatnonzero(of_value == k))
            named.append(Group(group_label([show(value) for value in members]), members))
        named.append(Group("*", ()))  # a value may be called "a or b", or "*"
        groups = distinct(named)
        return tuple(groups[k] for k in of_value)


def group_label(names: Sequence[str]) -> str:
    """A group of values in words: all of them, or the first and how many more there are.

    That it holds the missing value is always said.

    >>> group_label(["a"]), group_label(["a", "b", "c"])
    ('a', 'a, b or c')
    >>> group_label([f"county {k}" for k in range(30)])
    'county 0, county 1, county 2, county 3, county 4 or 25 others'
    >>> group_label([*(f"county {k}" for k in range(30)), "missing"])
    'county 0, county 1, county 2, county 3, 26 others or missing'
    """
    whole = " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    if len(whole) <= LABEL or len(names) <= 2:
        return whole
    known = [name for name in names if name != MISSING]
    if len(known) < len(names):
        return f"{_first(known, LABEL - len(MISSING) - 4, ', ')} or {MISSING}"
    return _first(known, LABEL, " or ")


def _first(names: Sequence[str], room: int, last: str) -> str:
    """The first of many names that fit the room, and how many more there are."""
    shown = 1  # "or 1 others" would be as long as its name
    while shown < len(names) - 2 and len(", ".join(names[: shown + 1])) <= room - 14:
        shown += 1
    more = len(names) - shown
    return f"{', '.join(names[:shown])}{last}{more} others" if more > 1 else ", ".join(names)
