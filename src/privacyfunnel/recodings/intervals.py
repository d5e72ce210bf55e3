"""Intervals: an ordered column cut at points, exactly, by dynamic programming."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.codes import Group
from privacyfunnel.columns import known_places, show
from privacyfunnel.columns.missing import all_in_one, beside_runs
from privacyfunnel.errors import InvalidInput
from privacyfunnel.information import Array, plogp
from privacyfunnel.recodings.column_cells import ColumnCells, Ints
from privacyfunnel.recodings.cuts import cut_between, interval_label
from privacyfunnel.recodings.hierarchy import run_label
from privacyfunnel.validation import plain_labels

ROUNDING = ("prefer", "force", "free")
ROUGH = 2e-4  # of the share kept, that a cut at a point which is not round must bring more
POINTS = 128  # of the first level, half as many in a hurry
FINER = 4  # times more cut points from one level to the next
DENSE = 4  # in a hurry, a finer level is looked at where one point in so many, or more, is cut at


@dataclass(frozen=True, eq=False)
class Intervals:
    """What an ordered column may become: intervals between allowed cut points.

    ``order`` are the positions of the known values; where a missing one goes says `columns.missing`.
    ``cuts[j]`` is the point between the values at j − 1 and j (None for categories in a given order),
    ``rough[j]`` what a cut there costs of the share kept, infinite where none is allowed.

    All ways to cut thousands of values are too many where other columns are searched as well. ``levels``
    then are cut points, more and more of them, spread over the records with the roundest first: a search
    goes from one level to the next while that is cheaper and, where it is ``hurried``, cuts are dense;
    long intervals lie between points of the first.
    """

    values: tuple[Any, ...]
    order: Ints
    cuts: tuple[Any, ...]
    rough: Array
    most: int = 0  # intervals; 0 is any number
    levels: tuple[NDArray[np.bool_], ...] = ()  # none: all allowed points at once
    hurried: bool = False

    @classmethod
    def of_numbers(
        cls,
        values: Sequence[Any],
        *,
        cuts: Sequence[Any] | None = None,
        rounding: str = "prefer",
        most: int = 0,
        shares: Array | None = None,
        hurried: bool = False,
    ) -> Intervals:
        """Numbers, dates or times; ``cuts`` are the only points allowed, else round ones are preferred.

        ``rounding`` "force" allows round cuts only, "free" any. A cut is round if it is a multiple of the
        largest step (1, 5, 10, 50, ...) that has ten multiples or more within the range. With ``shares``,
        those of the values among the records, thousands of values are searched in levels.

        >>> ages = Intervals.of_numbers(tuple(range(17, 91)), rounding="force")
        >>> [ages.cuts[j] for j in range(1, 74) if ages.rough[j] == 0][:4]
        [20, 25, 30, 35]
        """
        order = known_places(values)
        known = [values[v] for v in order]
        n = len(known)
        if cuts is not None:
            return cls._at(tuple(values), order, cuts, most)
        between = [cut_between(a, b) for a, b in pairwise(known)]
        rough = np.zeros(n + 1)
        roundness = np.array([r for _, r in between])
        if rounding != "free" and n > 2:
            steps = [r for r in sorted(set(roundness)) if np.count_nonzero(roundness >= r) >= 9]
            price = np.inf if rounding == "force" else ROUGH
            rough[1:n] = np.where(
                roundness >= (steps[-1] if steps else roundness.min()), 0.0, price
            )
        points = (None, *(cut for cut, _ in between), None)
        n_points = POINTS // 2 if hurried else POINTS
        allowed = np.isfinite(rough)
        levels = () if shares is None else _levels(shares[order], roundness, allowed, n_points)
        places = np.array(order, dtype=np.int64)
        return cls(tuple(values), places, points, rough, most, levels, hurried)

    @classmethod
    def _at(
        cls, values: tuple[Any, ...], order: list[int], cuts: Sequence[Any], most: int
    ) -> Intervals:
        if isinstance(cuts, str) or not isinstance(cuts, Iterable):
            raise InvalidInput(f"cuts must be a list of points for each column, got {cuts!r}.")
        known, given = [values[v] for v in order], plain_labels(tuple(cuts))
        rough, points = np.full(len(known) + 1, np.inf), [None] * (len(known) + 1)
        whole = all(isinstance(value, int) for value in known)
        try:
            for cut in sorted(given):
                j = bisect_left(known, cut)
                if 0 < j < len(known):
                    # Between whole numbers 17.5 is where 18 begins, and is called so.
                    rough[j], points[j] = 0.0, math.ceil(cut) if whole else cut
        except TypeError:
            raise InvalidInput(
                f"cuts must be of the kind of the column's values, such as {known[0]!r}; "
                f"got {given[0]!r}."
            ) from None
        return cls(values, np.array(order, dtype=np.int64), tuple(points), rough, most)

    @classmethod
    def of_order(cls, values: Sequence[Any], order: Sequence[int], *, most: int = 0) -> Intervals:
        """Categories in the order given, as positions of the known values: runs of neighbours."""
        n = len(order)
        points = (None,) * (n + 1)
        return cls(tuple(values), np.array(order, dtype=np.int64), points, np.zeros(n + 1), most)

    def free(self) -> Intervals:
        """The same, where a cut at a point that is not round costs nothing."""
        return replace(self, rough=np.where(np.isinf(self.rough), np.inf, 0.0))

    @property
    def n_values(self) -> int:
        """Number of values, a missing one included."""
        return len(self.values)

    @property
    def exact(self) -> bool:
        """Whether `best` looks at all ways to cut."""
        return not self.levels

    def best(self, cells: ColumnCells, start: Ints, rng: np.random.Generator) -> Ints:
        """The cheapest intervals: a number for each value. Exact, O(n²) prices from running sums."""
        price, labels = np.inf, np.zeros(self.n_values, dtype=np.int64)
        prices = self._cut_prices(cells)
        for points in self.levels or (np.isfinite(self.rough),):
            cut_prices = np.where(points, prices, np.inf)
            finer = self._cut(cells, self.order, cut_prices, most=self.most)
            if finer[0] >= price:
                break
            price, labels = finer
            if self.hurried and DENSE * len(np.unique(labels)) < np.count_nonzero(points):
                break
        one = all_in_one(self.order, self.n_values)
        if one is None:
            return labels
        none = np.full(self.n_values + 1, np.inf)
        orders = self._missing, np.arange(self.n_values)
        alone, whole = (self._cut(cells, order, none)[0] for order in orders)
        return labels if price + alone < whole else one

    def within(
        self, cells: ColumnCells, bound: float, start: Ints, rng: np.random.Generator
    ) -> Ints | None:
        """The cheapest intervals that lose at most ``bound`` bits; None if there are none."""
        prices, shares = self._cut_prices(cells), cells.shares[self.order]
        for points in self.levels:  # the first that leaves some choice
            runs = np.bincount(np.cumsum(points[:-1]), weights=shares)
            lost = plogp(runs).sum() - np.cumsum(plogp(shares))[-1]
            if lost <= bound * (0.75 if self.hurried else 0.5):
                prices = np.where(points, prices, np.inf)
                break
        price, labels = self._cut(cells, self.order, prices, bound)
        return None if np.isinf(price) else labels

    def _cut(
        self,
        cells: ColumnCells,
        order: Ints,
        cut_prices: Array,
        bound: float | None = None,
        most: int = 0,
    ) -> tuple[float, Ints]:
        """The price of the cheapest intervals of values in an order, see `ColumnCells.cut`, and they."""
        from privacyfunnel._kernels.cells import cut_intervals

        far = np.ones(len(order) + 1, dtype=bool)  # where long intervals may begin and end
        if self.levels and order is self.order:
            far = self.levels[0]
        price, bins, starts, spent = cells.cut(cut_intervals, order, (cut_prices, far), bound, most)
        end, runs = len(order), np.zeros(len(order), dtype=np.int64)
        while end > 0:
            begin = int(starts[end, bins])
            runs[begin:end] = end
            bins -= int(spent[end, bins]) if bins else 0
            end = begin
        return price, beside_runs(runs, order, self.n_values)

    def _cut_prices(self, cells: ColumnCells) -> Array:
        allowed = np.where(np.isinf(self.rough), 0.0, self.rough) * cells.total * cells.rough
        return np.where(np.isinf(self.rough), np.inf, allowed)

    def ends(self) -> tuple[Ints, Ints]:
        """The finest and the coarsest labels."""
        runs = 1 + np.cumsum(np.isfinite(self.rough[: len(self.order)]))
        fine = beside_runs(runs, self.order, self.n_values)
        return fine, np.zeros(self.n_values, dtype=np.int64)

    @property
    def n_codes(self) -> int:
        """The number of ways to cut."""
        cuts = int(np.isfinite(self.rough[1 : len(self.order)]).sum())
        return int(2**cuts) + (all_in_one(self.order, self.n_values) is not None)

    def every(self) -> Iterator[Ints]:
        """All ways to cut."""
        cuts = [j for j in range(1, len(self.order)) if np.isfinite(self.rough[j])]
        for chosen in product((False, True), repeat=len(cuts)):
            begins = np.zeros(len(self.order), dtype=np.int64)
            begins[cuts] = chosen
            yield beside_runs(1 + np.cumsum(begins), self.order, self.n_values)
        one = all_in_one(self.order, self.n_values)
        if one is not None:
            yield one

    @property
    def listing(self) -> Ints:
        """The values in the order in which their groups are listed, missing last."""
        return np.concatenate([self.order, self._missing])

    @property
    def _missing(self) -> Ints:
        return np.setdiff1d(np.arange(self.n_values), self.order)

    def released(self, labels: Ints) -> tuple[Group, ...]:
        """The group of each value."""
        if (labels == labels[0]).all() and self.n_values > 1:
            return (Group("*", self.values),) * self.n_values
        known = [self.values[v] for v in self.order]
        whole = all(isinstance(value, int) for value in known)
        runs = labels[self.order]
        found: dict[int, Group] = {}
        for label in dict.fromkeys(runs.tolist()):
            at = np.flatnonzero(runs == label)
            low, high, members = at[0], at[-1] + 1, tuple(known[at[0] : at[-1] + 1])
            bounds = self.cuts[low], self.cuts[high]
            if bounds == (None, None):
                found[label] = Group(run_label(members), members)
            else:
                found[label] = Group(
                    interval_label(*bounds, members, whole=whole), members, *bounds
                )
        return tuple(
            Group(show(None), (None,)) if value is None else found[int(label)]
            for value, label in zip(self.values, labels, strict=True)
        )


def _levels(
    shares: Array, roundness: Array, allowed: NDArray[np.bool_], n_points: int
) -> tuple[NDArray[np.bool_], ...]:
    """Which points may be cut at each level: the roundest of each part of the records, last all.

    >>> levels = _levels(np.full(2000, 1 / 2000), np.zeros(1999), np.ones(2001, dtype=bool), 128)
    >>> [int(points.sum()) for points in levels]
    [130, 514, 2001]
    """
    places = np.flatnonzero(allowed[1:-1]) + 1
    passed = np.cumsum(shares)[places - 1] / shares.sum()
    levels = []
    while n_points < len(places):
        part = np.minimum((passed * n_points).astype(np.int64), n_points)
        order = np.lexsort((places, -roundness[places - 1], part))
        chosen = places[order[np.unique(part[order], return_index=True)[1]]]
        points = np.zeros_like(allowed)
        points[[0, len(shares)]] = True
        points[chosen] = True
        levels.append(points)
        n_points *= FINER
    return (*levels, allowed) if levels else ()
