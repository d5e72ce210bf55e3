"""Large alphabets by any measure, for any use: insertion, then moves and swaps at random."""

from __future__ import annotations

import numpy as np

from privacyfunnel.codes import Partition
from privacyfunnel.objectives import Objective
from privacyfunnel.parallel import tell
from privacyfunnel.solvers.base import Solution
from privacyfunnel.solvers.large.blocks import LargeRun
from privacyfunnel.solvers.large.proposals import PART, InsertionSearch
from privacyfunnel.solvers.moves import JointLayout, Labels, merge_light
from privacyfunnel.solvers.target import Price, Target

SLOPES = 2.0 ** np.arange(-7, 7)  # prices of what is kept, in units of the mean slope
ROUNDS = 3  # of proposals for one demand


class MeasuredSearch(InsertionSearch):
    """Codes for a price of views."""

    warmth = 0.05, 0.0003
    runs = 5  # the first round has three

    def __init__(self, layout: JointLayout, run: LargeRun, rng: np.random.Generator) -> None:
        super().__init__(layout, run, rng)
        assert layout.measured is not None
        self.measured = layout.measured

    def insert(self, price: Price) -> Labels:
        """Every symbol where it costs least, in parts where they are very many."""
        from privacyfunnel._kernels.measured import insert_measured

        columns, cells, views = self.measured.arrays
        masses, weights = self.measured.weights, self.measured.priced(price)[0]

        def insert(part: Labels, labels: Labels) -> int:
            return int(insert_measured(columns, cells, masses, part, views, weights, labels))

        return self.in_parts(PART, insert)

    def improve(
        self, labels: Labels, price: Price, rng: np.random.Generator | None = None
    ) -> Labels:
        """The labels after the sweeps, never worse within the limits."""
        from privacyfunnel._kernels.measured import proposals_measured

        columns, cells, views = self.measured.arrays
        better, value = proposals_measured(
            columns, cells, self.measured.weights, np.array(labels, dtype=np.int64), views,
            *self.measured.priced(price), self.schedule(self.sweeps), self.layout.least,
            self.room(labels), self.measured.tol, self.rng if rng is None else rng,
        )  # fmt: skip
        return better if np.isfinite(value) else labels


def solve_measured(
    layout: JointLayout,
    demand: Objective | Target,
    run: LargeRun,
    *,
    rng: np.random.Generator,
) -> Solution:
    """A code for one λ, or one that meets a target, by `MeasuredSearch`."""
    joint, search = layout.joint, MeasuredSearch(layout, run, rng)
    objective = demand.objective if isinstance(demand, Target) else demand
    price = demand.price if isinstance(demand, Target) else Price(demand.weights)
    sign, slopes = objective.leakage_weight, [objective.lam]
    if isinstance(demand, Target):
        slopes = (SLOPES * objective.mean_slope(joint)).tolist()
    starts = [np.zeros(joint.n_x, dtype=np.int64)]
    if layout.least == 0:
        starts.append(np.arange(joint.n_x))
    for slope in slopes:
        weighed = Price((sign, -sign * slope))
        starts.append(merge_light(layout, search.insert(weighed), weighed))
    best = search.first(starts, price)
    if isinstance(demand, Target):  # the nearest on either side are worth a try too
        bounded = [demand.bounded(*layout.amounts(Partition(labels))) for labels in starts]
        order = np.argsort(np.abs(np.array(bounded) - demand.bits), kind="stable")
        tried = [best, *(starts[i] for i in order[:2])]
    else:
        tried = [best]
    for done in range(ROUNDS):
        better = [search.improve(labels, price) for labels in tried]
        best = search.first([best, *better], price)
        tried = [best]
        tell(run.progress, done + 1, ROUNDS)
        if run.is_late:
            break
    if not np.isfinite(price.of(*layout.amounts(Partition(best)))):
        assert isinstance(demand, Target)
        most = max(demand.bounded(*layout.amounts(Partition(labels))) for labels in starts)
        raise demand.unreached(joint, layout.least, most)
    return Solution.measured(joint, objective, Partition(best), run.status)
