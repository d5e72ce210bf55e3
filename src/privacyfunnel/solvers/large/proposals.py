"""Proposals: targets of the funnel on large alphabets, by insertion and then random moves and swaps."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.codes import Code, Partition
from privacyfunnel.errors import TargetUnreachable
from privacyfunnel.information import Array
from privacyfunnel.objectives import leakage, utility
from privacyfunnel.parallel import Progress, Tick, Ticks
from privacyfunnel.solvers.base import Solution, Status
from privacyfunnel.solvers.effort import PROPOSALS
from privacyfunnel.solvers.large.blocks import filled_in_order
from privacyfunnel.solvers.moves import JointLayout, Labels
from privacyfunnel.solvers.target import MET, Price, Target, ranked, reaches, stays_within

HOT, COLD = 0.006, 0.0001  # first and last temperature, in units of the mean p(x)
PENALTY = 3.0  # what a bit below the target costs; no trade-off is steeper than one for one
COLD_SWEEPS = 10  # at the end, that only go down
FEWEST_SWEEPS = 30
STAGES = (0.05, 1.0)  # of the budget: where the first is as good as can be, the second is not run
CLOSE = 1e-5  # bits from the limit at which there is no more to gain
WHOLE = 10_000  # symbols up to which each is offered to every cluster
PART = 2_500  # symbols that share their clusters beyond that
HALVINGS = 9  # of the range of λ, or of utilities
HEAVIER = 1.2  # times, from one weight of first clusters to the next, where there is a least one
WEIGHTS = 25  # of such
PATIENCE = 2  # of them in a row that may be worse than one before
QUICK = 0.1  # share of the budget for each of these utilities


class ProposalSearch:
    """Codes of a large alphabet that keep so many bits and leak little.

    Symbols are inserted one by one, the heaviest first, each where I(S;X̂) − λ I(X;X̂) rises least;
    λ is halved in until the code keeps just enough. Then symbols move and change places at random
    within the constraint, at falling temperature. A step costs as much as its symbols have nonzeros,
    whatever the number of clusters.
    """

    def __init__(
        self, layout: JointLayout, effort: str, max_seconds: float | None, rng: np.random.Generator
    ) -> None:
        self.layout, self.rng = layout, rng
        self.sweeps = max(FEWEST_SWEEPS, int(PROPOSALS[effort] / (2 * layout.joint.n_x)))
        self.deadline = math.inf if max_seconds is None else time.monotonic() + max_seconds
        self.order = np.argsort(-layout.joint.masses, kind="stable")
        self.inserted: dict[float, Labels] = {}

    def utility(self, labels: Labels) -> float:
        return utility(self.layout.joint, Partition(labels))

    def leakage(self, labels: Labels) -> float:
        return leakage(self.layout.joint, Partition(labels))

    def is_heavy(self, code: Partition) -> bool:
        """Whether every cluster has the least count."""
        masses = np.bincount(code.labels, weights=self.layout.joint.masses)
        return bool(reaches(masses.min(), self.layout.least))

    def insert(self, lam: float) -> Labels:
        """Every symbol where it costs least at λ, in parts where they are very many."""
        from privacyfunnel._kernels.proposals import insert_in_order

        if lam in self.inserted:
            return self.inserted[lam]
        layout, n = self.layout, self.layout.joint.n_x
        labels, first = np.zeros(n, dtype=np.int64), 0
        n_parts = 1 if n <= WHOLE else math.ceil(n / PART)  # each with heavy and light symbols
        for part in (self.order[k::n_parts] for k in range(n_parts)):
            k = insert_in_order(
                layout.columns, layout.joint.masses, part, layout.table,
                layout.eta_weights((1.0, -lam)), labels,
            )  # fmt: skip
            labels[part] += first
            first += int(k)
        self.inserted[lam] = labels
        return labels

    def start(self, bits: float) -> Labels | None:
        """A code that keeps at least so many bits, and few more; None where there is none."""
        low, high = 0.0, 1.0
        best = np.arange(self.layout.joint.n_x)
        for _ in range(HALVINGS):
            lam = 0.5 * (low + high)
            labels = self.insert(lam)
            if reaches(self.utility(labels), bits):
                high, best = lam, labels
            else:
                low = lam
        return best if reaches(self.utility(best), bits, MET) else None

    def heavy_starts(self, bits: float) -> list[Labels]:
        """Groups as heavy as the least count and heavier, as far as they keep enough.

        First as many as can be, then neighbours in a random order.
        """
        masses, least = self.layout.joint.masses, self.layout.least
        order = self.rng.permutation(len(masses))
        tight = filled_in_order(covering_order(masses, least), masses, least)
        found = [tight] if reaches(self.utility(tight), bits) else list[Labels]()
        for factor in HEAVIER ** np.arange(WEIGHTS):
            labels = filled_in_order(order, masses, least * factor)
            if not reaches(self.utility(labels), bits):
                break
            if not found or labels.max() < found[-1].max():
                found.append(labels)
        return found

    def improve(self, labels: Labels, price: Price, share: float) -> Labels:
        """The labels after a share of the sweeps, never worse within the limit."""
        from privacyfunnel._kernels.proposals import anneal_by_proposals

        layout = self.layout
        sweeps = max(FEWEST_SWEEPS, int(share * self.sweeps))
        if time.monotonic() > self.deadline:
            sweeps = 0
        schedule = np.zeros((sweeps + COLD_SWEEPS, 2))
        scale = layout.joint.total / layout.joint.n_x
        schedule[:sweeps, 0] = np.geomspace(HOT, COLD, sweeps) * scale
        schedule[:, 1] = PENALTY
        better, value = anneal_by_proposals(
            *layout.moving(labels, price),
            schedule,
            layout.least,
            min(layout.joint.n_x, 2 * int(labels.max()) + 2),
            layout.tol,
            self.rng,
        )
        return better if np.isfinite(value) else labels

    def keeping(self, target: Target, share: float = 1.0) -> Labels | None:
        """A code of little leakage that keeps at least the target's utility."""
        if self.layout.least > 0:
            starts = self.heavy_starts(target.bits)
        else:
            start = self.start(target.bits)
            starts = [] if start is None else [start]
        first, last = (stage * share for stage in STAGES)
        best, worse = None, 0
        # Moves hardly change the number of heavy clusters: few are tried first, then more and more.
        for start in reversed(starts):
            before, better = best, self.improve(start, target.price, first)
            best = self.first([better] if before is None else [before, better], target)
            worse = worse + 1 if best is before else 0
            if worse == PATIENCE:
                break
            if self.leakage(best) <= target.floor(self.layout.joint) + CLOSE:
                return best
        return None if best is None else self.improve(best, target.price, last)

    def leaking(self, target: Target, starts: Iterable[Code], tick: Tick) -> Labels:
        """A code of much utility that leaks at most so many bits: utilities are halved in on it.

        To leak least at some utility knows no wall of single moves that all leak too much. The ``starts``
        say between which utilities to look.
        """
        joint = self.layout.joint
        met = [np.zeros(joint.n_x, dtype=np.int64)]
        low, high = 0.0, target.floor(joint) / target.price.weights[1]
        narrow = (high - low) / 2**HALVINGS
        known = [c.labels for c in starts if isinstance(c, Partition) and self.is_heavy(c)]
        for given in sorted(known, key=self.utility):
            if not stays_within(self.leakage(given), target.bits):
                high = min(high, self.utility(given))
                break
            low = self.utility(given)
            met.append(given)
        for _ in range(HALVINGS):
            if high - low <= narrow:
                tick()
                continue
            asked = Target("funnel", "utility", 0.5 * (low + high))
            labels = self.keeping(asked, QUICK)
            if labels is not None and stays_within(self.leakage(labels), target.bits):
                low = self.utility(labels)
                met.append(labels)
            else:
                high = asked.bits
            tick()
        return self.improve(self.first(met, target), target.price, 0.5)

    def first(self, met: list[Labels], target: Target) -> Labels:
        """Of labels that meet the target those to go on with."""
        return ranked(met, target.price, lambda each: self.layout.amounts(Partition(each)))[0]


def covering_order(masses: Array, least: float) -> NDArray[np.int64]:
    """An order in which neighbours make many groups that weigh ``least``, and little more.

    What weighs so much alone comes first; then the heaviest that is left, with the lightest ones until
    they weigh enough together, and so on.

    >>> covering_order(np.array([1.0, 4.0, 6.0, 1.0, 3.0, 2.0]), 5.0)
    array([2, 1, 3, 4, 0, 5])
    """
    falling = np.argsort(-masses, kind="stable")
    n_alone = int(np.count_nonzero(masses >= least))
    left, together, order = deque(falling[n_alone:].tolist()), 0.0, falling[:n_alone].tolist()
    while left:
        order.append(left.popleft() if together == 0.0 else left.pop())
        together += masses[order[-1]]
        together = 0.0 if together >= least else together
    return np.array(order, dtype=np.int64)


def solve_by_proposals(
    layout: JointLayout,
    target: Target,
    effort: str,
    max_seconds: float | None = None,
    progress: Progress | None = None,
    *,
    starts: Iterable[Code] = (),
    rng: np.random.Generator,
) -> Solution:
    """A code of the funnel that meets one target, by `ProposalSearch`."""
    search, tick = ProposalSearch(layout, effort, max_seconds, rng), Ticks(HALVINGS, progress)
    found = search.keeping(target) if target.is_floor else search.leaking(target, starts, tick)
    if found is None:
        rule = f" with every symbol of {layout.least:g} records" if layout.least > 0 else ""
        asked = target.bits / layout.joint.entropy_x
        raise TargetUnreachable(
            f"no release was found with a utility of at least {asked:.4g}{rule}."
        )
    late = time.monotonic() > search.deadline
    status = Status.OUT_OF_TIME if late else Status.CONVERGED
    return Solution.measured(layout.joint, target.objective, Partition(found), status)
