"""MeasuredLayout: a joint laid out for the compiled loops of any measure, any use, several secrets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.random import Generator
from numpy.typing import NDArray

from privacyfunnel.codes import Partition
from privacyfunnel.errors import InvalidInput
from privacyfunnel.information import Array, plogp
from privacyfunnel.joint import Joint, csc_columns, eta_table
from privacyfunnel.measures import MEASURES, Arimoto
from privacyfunnel.measures.measure import SHANNON, TOTAL_VARIATION
from privacyfunnel.objectives import Quantity, View
from privacyfunnel.solvers.base import FLAT
from privacyfunnel.solvers.target import Price, Weights, ceiling_of

Labels = NDArray[np.int64]

KINDS = [kind.kind for kind in MEASURES.values()]
NOTHING = 1e-11  # of the unit, gained, that counts as none: more than sums of 1e15 records are off
HIGH_ORDER = 12.0  # of Arimoto, from which on powers of counts would overflow
STEEP = 3.0  # how much steeper than on average a trade-off is taken to be


@dataclass(frozen=True, eq=False)
class MeasuredLayout:
    """The views that some quantities are sums of, stacked, and prices of quantities as prices of views.

    Searches know temperatures and penalties for bits. Here each quantity counts in such units that X
    itself tells as many as it has bits of information about S (``units``), and limits weigh a
    few times as much.
    """

    joint: Joint
    quantities: tuple[Quantity, ...]

    @cached_property
    def views(self) -> tuple[View, ...]:
        """Each view once."""
        return tuple(dict.fromkeys(view for quantity in self.quantities for _, view in quantity))

    @cached_property
    def shares(self) -> Array:
        """The weight of each view in each quantity, ``[quantity, view]``."""
        found = np.zeros((len(self.quantities), len(self.views)))
        for k, quantity in enumerate(self.quantities):
            for weight, view in quantity:
                found[k, self.views.index(view)] += weight
        return found

    @cached_property
    def units(self) -> Array:
        """How much of each quantity counts as a bit."""
        most = self.shares @ [view.most for view in self.views]
        bits = max(self.joint.information, 1e-3 * self.joint.entropy_x, 1e-12)
        plain = [view.measure is None for view in self.views]
        is_x = [bool(np.all(np.array(plain)[row > 0])) for row in self.shares]
        return np.where(is_x, 1.0, np.where(most > 0, most / bits, 1.0))

    @cached_property
    def weights(self) -> Array:
        """The weight of each x."""
        return self.joint.masses

    @property
    def n_rows(self) -> list[int]:
        """The rows of each view: those of its S, none of X itself."""
        return [0 if view.measure is None else view.joint.n_s for view in self.views]

    @cached_property
    def stacked(self) -> sp.csc_array:
        """The counts of all views, one below the other."""
        parts = [view.joint.counts for view in self.views if view.measure is not None]
        counts = sp.csc_array(sp.vstack(parts))
        counts.sort_indices()
        return counts

    @cached_property
    def arrays(self) -> tuple[tuple[Any, ...], NDArray[np.int64], tuple[Any, ...]]:
        """(columns, cells, views) as `_kernels.measured` takes them."""
        from privacyfunnel._kernels.measured import HIGH, WHOLE

        kinds, orders, p, tables = [], [], [np.zeros(0)], []
        whole = eta_table(self.joint.counts)
        for view in self.views:
            measure, table = view.measure, np.zeros(0)
            if measure is not None and measure.kind not in KINDS:
                raise InvalidInput(
                    f"the measure {measure.name!r} has no loop; method 'exhaustive' does without."
                )
            kinds.append(WHOLE if measure is None else measure.kind)
            orders.append(1.0 if measure is None else measure.order)
            if measure is not None:
                p.append(view.joint.p_s)
            if isinstance(measure, Arimoto):
                if measure.order > HIGH_ORDER:
                    kinds[-1] = HIGH
                elif whole.size:
                    table = np.arange(whole.size, dtype=float) ** measure.order
            tables.append(table)
        first = np.concatenate([[0], np.cumsum(self.n_rows)]).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum([len(t) for t in tables])]).astype(np.int64)
        columns = csc_columns(self.stacked)
        views = (
            first,
            np.array(kinds, dtype=np.int64),
            np.array(orders, dtype=float),
            np.concatenate(p),
            np.concatenate(tables),
            starts,
            whole,
        )
        return columns, _cell_bounds(columns, first), views

    @cached_property
    def by_rows(self) -> bool:
        """Whether all is Shannon's: then a price is one array of row weights, for Shannon's own loop."""
        return all(view.measure is None or view.measure.kind == SHANNON for view in self.views)

    @cached_property
    def every_row(self) -> bool:
        """Whether a move changes what all rows of a cluster tell, not only those of the symbol."""
        kinds = [view.measure.kind for view in self.views if view.measure is not None]
        return TOTAL_VARIATION in kinds

    def row_prices(self, price: Price) -> tuple[Any, ...] | None:
        """(price, limit, bound) for the loops of `_kernels.moves`; None where they cannot say it.

        Σ_v w_v [Σ_{r of v} η(q_r) − η(q)] is Σ_r w_r η(q_r) − (Σ_v w_v) η(q), and of X itself −w η(q).
        """
        if not self.by_rows or len(price.limits) > 1:
            return None
        weights, limits, most = self.priced(price)
        limit = limits[0] if len(limits) else np.zeros(len(weights))
        rows = np.repeat(np.arange(len(self.views)), self.n_rows)
        return (
            (weights[rows], -float(weights.sum())),
            (limit[rows], -float(limit.sum())),
            float(most[0]) if len(most) else np.inf,
        )

    @property
    def tol(self) -> float:
        """A gain that rounding alone can feign."""
        return NOTHING * self.joint.total

    def priced(self, price: Price) -> tuple[Array, Array, Array]:
        """(price, limits, most) of the views' sums that say what a price of quantities says."""
        unit = self._unit(price.weights)
        weights = np.array(price.weights) @ self.shares / unit
        limits = np.zeros((len(price.limits), len(self.views)))
        most = np.zeros(len(price.limits))
        rest = np.array([view.at_rest for view in self.views])
        # X itself is −Σ η of counts: H(X̂) = log N − Σ η(n)/N.
        rest -= np.where(
            [view.measure is None for view in self.views], np.log2(self.joint.total), 0
        )
        for k, (limit, bound) in enumerate(price.limits):
            row = np.array(limit) @ self.shares
            scale = STEEP / self._unit(limit)
            limits[k] = row * scale
            most[k] = ceiling_of(bound + row @ rest) * scale * self.joint.total
        return weights, limits, most

    def _unit(self, weights: Weights) -> float:
        """How much of a price counts as a bit: as much as a unit of what it weighs most."""
        units = np.abs(np.array(weights)) * self.units
        return float(units.max()) if units.any() else 1.0

    def amounts(self, code: Partition) -> tuple[float, ...]:
        """The quantities of a code."""
        told = np.array([view.amount(code) for view in self.views])
        return tuple(map(float, self.shares @ told))

    def anneal(
        self,
        labels: Labels,
        price: Price,
        schedule: Array,
        swaps: int,
        least: float,
        fixed: bool,
        rng: Generator,
    ) -> Labels | None:
        """Annealed moves and swaps, see `moves.anneal`."""
        from privacyfunnel._kernels.measured import anneal_measured
        from privacyfunnel._kernels.moves import anneal

        by_rows, given = self._moving(labels, price)
        loop = anneal if by_rows else anneal_measured
        best, value = loop(*given, schedule, swaps, least, fixed, self.tol, rng)
        return best if np.isfinite(value) else None

    def swap(self, labels: Labels, price: Price, least: float) -> Labels:
        """Pairs exchanged wherever that lowers the price, see `moves.swap`."""
        from privacyfunnel._kernels.measured import swap_descent_measured
        from privacyfunnel._kernels.moves import swap_descent

        by_rows, given = self._moving(labels, price)
        loop = swap_descent if by_rows else swap_descent_measured
        swapped: Labels = loop(*given, least, self.tol)
        return swapped

    def _moving(self, labels: Labels, price: Price) -> tuple[bool, tuple[Any, ...]]:
        """Whether Shannon's own loops can say the price, and what every loop over moves takes first."""
        columns, cells, views = self.arrays
        labels, rows = np.array(labels, dtype=np.int64), self.row_prices(price)
        if rows is not None:
            return True, (columns, self.weights, labels, views[-1], *rows)
        return False, (columns, cells, self.weights, labels, views, *self.priced(price))

    def _merged_prices(self, labels: Labels, price: Price) -> tuple[Array, Array, Any]:
        """The clusters' sums by view, their masses, and the pricing of such columns."""
        weights = self.priced(price)[0]
        sums = (self.stacked @ Partition(labels).matrix).toarray()
        masses = np.bincount(Partition(labels).labels, weights=self.weights).astype(float)

        def priced(columns: Array, masses: Array) -> Array:
            found, row = np.zeros(len(masses)), 0
            for weight, view in zip(weights, self.views, strict=True):
                if view.measure is None:
                    found -= weight * plogp(masses)
                else:
                    own = columns[row : row + view.joint.n_s]
                    found += weight * view.measure.clusters(own, view.joint.p_s)
                    row += view.joint.n_s
            return found

        return sums, masses, priced

    def merge_rises(self, labels: Labels, cluster: int, price: Price) -> Array:
        """By how much the price rises if a cluster is merged with each other."""
        sums, masses, priced = self._merged_prices(labels, price)
        alone = priced(sums, masses)
        together = priced(sums + sums[:, [cluster]], masses + masses[cluster])
        return np.asarray(together - alone - alone[cluster])

    def merge_pairs(self, labels: Labels, price: Price) -> Labels | None:
        """The two clusters merged that lower the price most, again and again; None where no pair does."""
        from privacyfunnel._kernels.merges import final_clusters

        code = Partition(labels)
        merges, _ = self.merge_path(code, price, -FLAT)
        if not len(merges):
            return None
        clusters = final_clusters(code.n_symbols, merges)[: code.n_symbols]
        return Partition(clusters[code.labels]).labels

    def merge_path(
        self, code: Partition, price: Price, stop_change: float
    ) -> tuple[NDArray[np.int64], Array]:
        """The merges of a code's clusters, the best pair first, and what each changes in the views."""
        from privacyfunnel._kernels.measured import merge_path_measured

        k, stop = code.n_symbols, stop_change * self.joint.total
        sums, masses = np.zeros((2 * k - 1, self.stacked.shape[0])), np.zeros(2 * k - 1)
        sums[:k] = (self.stacked @ code.matrix).toarray().T
        masses[:k] = np.bincount(code.labels, weights=self.weights)
        found: tuple[NDArray[np.int64], Array] = merge_path_measured(
            sums, masses, self.arrays[2], self.priced(price)[0], stop
        )
        return found

    def split(self, members: Labels, price: Price, least: float, rng: Generator) -> Labels | None:
        """A cluster's members in two groups, where that lowers the price; else None."""
        part = MeasuredPart(self.joint, self.quantities, self, members)
        start, schedule = rng.permutation(len(members)) % 2, np.zeros((20, 2))
        halves = part.anneal(start, price, schedule, 0, least, False, rng)
        if halves is None or halves.max() == 0:
            return None
        if (np.bincount(halves, weights=part.weights) < least).any():
            return None
        sums, masses, priced = part._merged_prices(halves, price)
        whole = priced(sums.sum(axis=1, keepdims=True), masses.sum(keepdims=True))[0]
        gained = whole - priced(sums, masses).sum()
        return Partition(halves).labels if gained > FLAT * self.joint.total else None


@dataclass(frozen=True, eq=False)
class MeasuredPart(MeasuredLayout):
    """Some symbols of a layout, priced as in the whole."""

    whole: MeasuredLayout
    members: Labels

    @cached_property
    def views(self) -> tuple[View, ...]:
        return self.whole.views

    @cached_property
    def weights(self) -> Array:
        return self.whole.weights[self.members]

    @cached_property
    def stacked(self) -> sp.csc_array:
        return sp.csc_array(self.whole.stacked[:, self.members])

    @cached_property
    def arrays(self) -> tuple[tuple[Any, ...], NDArray[np.int64], tuple[Any, ...]]:
        views = self.whole.arrays[2]
        columns = csc_columns(self.stacked)
        return columns, _cell_bounds(columns, views[0]), views


def _cell_bounds(columns: tuple[Any, ...], first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the cells of each x in each view start, ``[x, view]``, and where the last one ends."""
    indptr, indices, _, n_rows = columns
    n = len(indptr) - 1
    x = np.repeat(np.arange(n), np.diff(indptr))
    keys = x * (n_rows + 1) + indices  # rising, since rows are sorted within each x
    wanted = (np.arange(n)[:, None] * (n_rows + 1) + first[None, :]).ravel()
    return np.asarray(np.searchsorted(keys, wanted).reshape(n, len(first)), dtype=np.int64)
