"""ColumnCells: what one column's groups cost, given what the other columns are released as."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.information import Array
from privacyfunnel.joint import Joint, eta_table
from privacyfunnel.measures import INFORMATION, Measure
from privacyfunnel.objectives import View
from privacyfunnel.solvers.measured_layout import MeasuredLayout

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

    @property
    def prices(self) -> tuple[Any, ...]:
        """Costs and measure, as the loops take them."""
        return self.prices_in(1.0)

    def prices_in(self, unit: float) -> tuple[Any, ...]:
        """The same, with the number of units that one lost bit is counted as."""
        return (self.depth, self.least, self.keep, self.total, unit), self.measure


def loop_measure(joint: Joint, measure: Measure, chance: float = 0.0) -> tuple[Any, ...]:
    """What a cell tells about S, as `_kernels.cells` takes it; ``chance`` is added for each cell."""
    plain = measure.kind, joint.p_s, eta_table(joint.counts), chance, joint.n_s
    if measure == INFORMATION:
        return plain
    _, _, views = MeasuredLayout(joint, (((1.0, View(joint, measure)),),)).arrays
    return *plain, views
