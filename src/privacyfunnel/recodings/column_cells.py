"""ColumnCells: what one column's groups cost, given what the other columns are released as."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.information import Array, plogp
from privacyfunnel.joint import Joint, eta_table
from privacyfunnel.measures import INFORMATION, Measure
from privacyfunnel.objectives import View
from privacyfunnel.solvers.measured_layout import MeasuredLayout
from privacyfunnel.solvers.target import MET, stays_within

Ints = NDArray[np.int64]
BINS = 256  # parts of a bound on what a column loses


@dataclass(frozen=True, eq=False)
class ColumnCells:
    """The weights of one column's values in the cells (r, s), and the prices of `_kernels.cells`.

    A group costs what its cells tell about S less ``keep`` for each bit that it keeps of the column.
    """

    parts: tuple[Ints, Ints, Ints, Array]  # indptr[v], r, s, weight
    weights: Array  # of each value
    shape: tuple[int, int]  # numbers of r and s
    depth: Array  # cost of suppressing one unit of weight of each r, by the other columns' loss
    least: float
    keep: float
    rough: float  # price of all that is kept, of which a cut that is not round costs a little
    total: float
    measure: tuple[Any, ...]

    @property
    def shares(self) -> Array:
        """p(v) of each value."""
        return self.weights / self.total

    def prices(self, unit: float = 0.0, each: float = 0.0) -> tuple[Any, ...]:
        """Costs and measure, as the loops take them, and what a budget is spent for there."""
        return (self.depth, self.least, self.keep, self.total, unit, each), self.measure

    def cut(
        self,
        loop: Callable[..., Any],
        order: Ints,
        layout: tuple[Any, ...],
        bound: float | None = None,
        most: int = 0,
    ) -> tuple[float, int, Any, Any]:
        """The price of the cheapest cut of values in an order, and its bin and tables to walk back by.

        It loses at most ``bound`` bits, or has ``most`` groups, where 0 is any number; the price is
        infinite where there is none.
        """
        budget, unit, losses = most, 0.0, np.zeros(0)
        if bound is not None:
            budget, unit = BINS, BINS / max(bound, 1e-12)
            losses = np.concatenate([[0.0], np.cumsum(plogp(self.shares[order]))])
        best, exact, *tables = loop(
            self.parts,
            order,
            self.weights,
            *self.shape,
            *layout,
            losses,
            budget + 2 if unit else budget,  # what is lost is rounded to bins, and measured after
            *self.prices(unit, float(not unit and most > 0)),
        )
        if bound is not None:
            best = np.where(stays_within(exact, BINS, BINS * MET), best, np.inf)
        bins = int(best.argmin())
        return float(best[bins]), bins, *tables


def lost_bits(labels: Ints, shares: Array) -> float:
    """H(X_i) − H(X̂_i): what groups of a column's values lose of it.

    >>> lost_bits(np.array([0, 0, 7]), np.array([0.25, 0.25, 0.5]))
    0.5
    """
    groups = np.bincount(np.unique(labels, return_inverse=True)[1], weights=shares)
    return float(plogp(groups).sum() - plogp(shares).sum())


def loop_measure(joint: Joint, measure: Measure, chance: float = 0.0) -> tuple[Any, ...]:
    """What a cell tells about S, as `_kernels.cells` takes it; ``chance`` is added for each cell."""
    plain = measure.kind, joint.p_s, eta_table(joint.counts), chance, joint.n_s
    if measure == INFORMATION:
        return plain
    _, _, views = MeasuredLayout(joint, (((1.0, View(joint, measure)),),)).arrays
    return *plain, views
