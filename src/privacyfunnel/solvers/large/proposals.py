"""Proposals: targets of the funnel on large alphabets, by insertion and then random moves and swaps."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.codes import Code, Partition
from privacyfunnel.information import Array
from privacyfunnel.objectives import leakage, utility
from privacyfunnel.parallel import Tick, Ticks
from privacyfunnel.solvers.base import Solution
from privacyfunnel.solvers.large.blocks import LargeRun, filled_in_order
from privacyfunnel.solvers.moves import JointLayout, Labels
from privacyfunnel.solvers.target import (
    MET,
    Halving,
    Price,
    Target,
    ranked,
    reaches,
    stays_within,
)

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


class InsertionSearch:
    """Codes of a large alphabet: symbols are inserted, then moved at random.

    They are inserted one by one, the heaviest first, each where the price rises least; then they move and
    change places at random within the limits, at falling temperature. A step costs as much as its
    symbols have nonzeros, or as there are rows, whatever the number of clusters.
    """

    warmth: ClassVar[tuple[float, float]]  # first and last, in units of the mean p(x)
    runs: ClassVar[int] = 1  # that share the proposals

    def __init__(self, layout: JointLayout, run: LargeRun, rng: np.random.Generator) -> None:
        self.layout, self.run, self.rng = layout, run, rng
        proposals = run.proposals / self.runs
        self.sweeps = max(FEWEST_SWEEPS, int(proposals / (2 * layout.joint.n_x)))
        self.order = np.argsort(-layout.joint.masses, kind="stable")

    def first(self, found: Iterable[Labels], price: Price) -> Labels:
        """Of some labels those that are taken."""
        return ranked(found, price, lambda each: self.layout.amounts(Partition(each)))[0]

    def in_parts(self, size: int, insert: Callable[[Labels, Labels], int]) -> Labels:
        """Labels that ``insert`` has written for parts of so many symbols, each with clusters of its own.

        It is given the symbols, heavy and light ones in each part, and where to write; it returns the
        number of clusters.
        """
        labels, first = np.zeros(len(self.order), dtype=np.int64), 0
        n_parts = math.ceil(len(self.order) / size)
        for part in (self.order[k::n_parts] for k in range(n_parts)):
            n_clusters = int(insert(part, labels))
            labels[part] += first
            first += n_clusters
        return labels

    def schedule(self, sweeps: int) -> Array:
        """The temperature and the penalty of each sweep, ``[sweep, 2]``; of cold ones alone when late."""
        sweeps = 0 if self.run.is_late else sweeps
        schedule = np.zeros((sweeps + COLD_SWEEPS, 2))
        scale = self.layout.joint.total / self.layout.joint.n_x
        schedule[:sweeps, 0] = np.geomspace(*self.warmth, sweeps) * scale
        schedule[:, 1] = PENALTY
        return schedule

    def room(self, labels: Labels) -> int:
        """The most clusters that moves may make of these."""
        return min(self.layout.joint.n_x, 2 * int(labels.max()) + 2)


class ProposalSearch(InsertionSearch):
    """Codes that keep so many bits and leak little.

    Symbols are inserted where I(S;X̂) − λ I(X;X̂) rises least; λ is halved in until the code keeps just
    enough.
    """

    warmth = 0.006, 0.0001

    def __init__(self, layout: JointLayout, run: LargeRun, rng: np.random.Generator) -> None:
        super().__init__(layout, run, rng)
        self.inserted: dict[float, Labels] = {}

    def utility(self, labels: Labels) -> float:
        return utility(self.layout.joint, Partition(labels))

    def leakage(self, labels: Labels) -> float:
        return leakage(self.layout.joint, Partition(labels))

    def insert(self, lam: float) -> Labels:
        """Every symbol where it costs least at λ, in parts where they are very many."""
        from privacyfunnel._kernels.proposals import insert_in_order

        layout, n = self.layout, self.layout.joint.n_x

        def insert(part: Labels, labels: Labels) -> int:
            price = layout.eta_weights((1.0, -lam))
            given = layout.columns, layout.joint.masses, part, layout.table, price
            return int(insert_in_order(*given, labels))

        if lam not in self.inserted:
            self.inserted[lam] = self.in_parts(n if n <= WHOLE else PART, insert)
        return self.inserted[lam]

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

        layout, given = self.layout, self.layout.moving(labels, price)
        schedule = self.schedule(max(FEWEST_SWEEPS, int(share * self.sweeps)))
        better, value = anneal_by_proposals(
            *given, schedule, layout.least, self.room(labels), layout.tol, self.rng
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
            best = self.first([better] if before is None else [before, better], target.price)
            worse = worse + 1 if best is before else 0
            if worse == PATIENCE:
                break
            if self.leakage(best) <= target.floor(self.layout.joint) + CLOSE:
                return best
        return None if best is None else self.improve(best, target.price, last)

    def leaking(self, target: Target, starts: Iterable[Code], tick: Tick) -> Labels:
        """A code of much utility that leaks at most so many bits: utilities are halved in on it.

        The ``starts`` say between which to look.
        """
        joint = self.layout.joint
        met = [np.zeros(joint.n_x, dtype=np.int64)]
        low, high = 0.0, target.floor(joint) / target.price.weights[1]
        narrow = (high - low) / 2**HALVINGS
        hard = [code.labels for code in starts if isinstance(code, Partition)]
        for given in sorted(filter(self.layout.is_heavy, hard), key=self.utility):
            if not stays_within(self.leakage(given), target.bits):
                high = min(high, self.utility(given))
                break
            low = self.utility(given)
            met.append(given)
        halving = Halving(low, high, HALVINGS)
        for bits in halving:
            if halving.high - halving.low > narrow:
                labels = self.keeping(Target("funnel", "utility", bits), QUICK)
                if labels is not None and stays_within(self.leakage(labels), target.bits):
                    halving.reached(self.utility(labels))
                    met.append(labels)
            tick()
        return self.improve(self.first(met, target.price), target.price, 0.5)


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
    run: LargeRun,
    *,
    starts: Iterable[Code],
    rng: np.random.Generator,
) -> Solution:
    """A code of the funnel that meets one target, by `ProposalSearch`."""
    search, tick = ProposalSearch(layout, run, rng), Ticks(HALVINGS, run.progress)
    found = search.keeping(target) if target.is_floor else search.leaking(target, starts, tick)
    if found is None:
        raise target.unreached(layout.joint, layout.least)
    return Solution.measured(layout.joint, target.objective, Partition(found), run.status)
