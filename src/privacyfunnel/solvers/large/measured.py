"""Large alphabets by any measure, for any use: insertion, then moves and swaps at random."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable

import numpy as np

from privacyfunnel.codes import Partition
from privacyfunnel.errors import TargetUnreachable
from privacyfunnel.objectives import Objective
from privacyfunnel.parallel import Progress, tell
from privacyfunnel.solvers.base import Solution, Status
from privacyfunnel.solvers.effort import PROPOSALS
from privacyfunnel.solvers.large.proposals import COLD_SWEEPS, FEWEST_SWEEPS, PART, PENALTY
from privacyfunnel.solvers.moves import JointLayout, Labels, merge_light
from privacyfunnel.solvers.target import AnyPrice, Price, Target, ranked

HOT, COLD = 0.05, 0.0003  # first and last temperature, in units of the mean p(x)
SLOPES = 2.0 ** np.arange(-7, 7)  # prices of what is kept, in units of the mean slope
ROUNDS = 3  # of proposals for one demand
RUNS = 5  # that share the proposals: the first round has three


class MeasuredSearch:
    """Codes of a large alphabet for a price of views.

    Symbols are inserted one by one, the heaviest first, each where the price rises least; then they move
    and change places at random within the limits, at falling temperature. A step costs as much as its
    symbols have nonzeros, or as there are rows, whatever the number of clusters.
    """

    def __init__(
        self, layout: JointLayout, effort: str, max_seconds: float | None, rng: np.random.Generator
    ) -> None:
        assert layout.measured is not None
        self.layout, self.measured, self.rng = layout, layout.measured, rng
        proposals = PROPOSALS[effort] / RUNS
        self.sweeps = max(FEWEST_SWEEPS, int(proposals / (2 * layout.joint.n_x)))
        self.deadline = math.inf if max_seconds is None else time.monotonic() + max_seconds
        self.order = np.argsort(-layout.joint.masses, kind="stable")

    def ranked(self, found: Iterable[Labels], price: Price) -> list[Labels]:
        """Partitions, the best first; those beyond a limit last."""
        return ranked(found, price, lambda each: self.layout.amounts(Partition(each)))

    def insert(self, price: AnyPrice) -> Labels:
        """Every symbol where it costs least, in parts where they are very many."""
        from privacyfunnel._kernels.measured import insert_measured

        n = self.layout.joint.n_x
        columns, cells, views = self.measured.arrays
        weights, labels, first = self.measured.priced(price)[0], np.zeros(n, dtype=np.int64), 0
        n_parts = math.ceil(n / PART)
        for part in (self.order[k::n_parts] for k in range(n_parts)):
            k = insert_measured(columns, cells, self.measured.weights, part, views, weights, labels)
            labels[part] += first
            first += int(k)
        return labels

    def improve(
        self, labels: Labels, price: AnyPrice, rng: np.random.Generator | None = None
    ) -> Labels:
        """The labels after the sweeps, never worse within the limits."""
        from privacyfunnel._kernels.measured import proposals_measured

        sweeps = 0 if time.monotonic() > self.deadline else self.sweeps
        schedule = np.zeros((sweeps + COLD_SWEEPS, 2))
        scale = self.layout.joint.total / self.layout.joint.n_x
        schedule[:sweeps, 0] = np.geomspace(HOT, COLD, sweeps) * scale
        schedule[:, 1] = PENALTY
        columns, cells, views = self.measured.arrays
        room = min(self.layout.joint.n_x, 2 * int(labels.max()) + 2)
        better, value = proposals_measured(
            columns, cells, self.measured.weights, np.array(labels, dtype=np.int64), views,
            *self.measured.priced(price), schedule, self.layout.least, room, self.measured.tol,
            self.rng if rng is None else rng,
        )  # fmt: skip
        return better if np.isfinite(value) else labels


def solve_measured(
    layout: JointLayout,
    demand: Objective | Target,
    effort: str,
    max_seconds: float | None = None,
    progress: Progress | None = None,
    *,
    rng: np.random.Generator,
) -> Solution:
    """A code for one λ, or one that meets a target, by `MeasuredSearch`."""
    joint, search = layout.joint, MeasuredSearch(layout, effort, max_seconds, rng)
    objective = demand.objective if isinstance(demand, Target) else demand
    price = demand.price if isinstance(demand, Target) else Price(demand.weights)
    told, kept = objective.amounts(joint, Partition.identity(joint.n_x))
    mean, sign = (told / kept if kept > 0 else 1.0), objective.leakage_weight
    slopes = SLOPES * mean if isinstance(demand, Target) else [objective.lam]
    starts = [np.zeros(joint.n_x, dtype=np.int64)]
    if layout.least == 0:
        starts.append(np.arange(joint.n_x))
    for slope in slopes:
        weighed = Price((sign, -sign * slope))
        labels = search.insert(weighed)
        starts.append(merge_light(layout, labels, weighed) if layout.least > 0 else labels)
    best = search.ranked(starts, price)[0]
    if isinstance(demand, Target):  # the nearest on either side are worth a try too
        bounded = [demand.bounded(*layout.amounts(Partition(labels))) for labels in starts]
        order = np.argsort(np.abs(np.array(bounded) - demand.bits), kind="stable")
        tried = [best, *(starts[i] for i in order[:2])]
    else:
        tried = [best]
    for done in range(ROUNDS):
        better = [search.improve(labels, price) for labels in tried]
        best = search.ranked([best, *better], price)[0]
        tried = [best]
        tell(progress, done + 1, ROUNDS)
        if time.monotonic() > search.deadline:
            break
    if not np.isfinite(price.of(*layout.amounts(Partition(best)))):
        assert isinstance(demand, Target)
        most = max(demand.bounded(*layout.amounts(Partition(labels))) for labels in starts)
        raise TargetUnreachable(
            f"no release was found with {demand.share(joint, demand.bits):.4g} of what was asked for; "
            f"the nearest found has {demand.share(joint, most):.4g}."
        )
    late = time.monotonic() > search.deadline
    status = Status.OUT_OF_TIME if late else Status.CONVERGED
    return Solution.measured(joint, objective, Partition(best), status)
