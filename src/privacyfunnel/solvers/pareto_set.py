"""Pareto set: every undominated hard code that a local search from known ones passes through."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from privacyfunnel.codes import Partition
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import PROBLEMS, leakage, utility
from privacyfunnel.solvers.merge_path import merge_path
from privacyfunnel.solvers.moves import JointLayout, Labels

SAME = 1e-9  # bits by which codes must differ to be two
PATHS = 41  # greedy merge paths, for as many λ, whose codes are starts
MOST_PATHS = 600  # symbols up to which they are run
MOST_PRICES = 1.5e8  # cells that may be looked at, from the paths and again from known codes
MOST_CODES = 20_000  # of the set, beyond which it only becomes denser
FEW = 8  # symbols up to which all partitions are considered, at most 4,140


class ParetoSet:
    """Codes none of which another beats, in the plane where less is wanted of one, more of the other.

    The bottleneck wants little rate and much relevance, the funnel the opposite of both.
    """

    def __init__(self, problem: str) -> None:
        self.sign = -PROBLEMS[problem].leakage_weight
        self.cost: list[float] = []  # rising, and with it the worth
        self.worth: list[float] = []
        self.codes: list[Partition] = []

    def holds(self, cost: float, worth: float) -> bool:
        """Whether a code of the set is as good as this, or is this one."""
        i = bisect_right(self.cost, cost + SAME)
        return i > 0 and self.worth[i - 1] >= worth - SAME

    def add(self, bits: float, told: float, code: Partition) -> bool:
        """One more, in the place of those that it beats, unless the set holds it; whether it was new."""
        cost, worth = self.sign * bits, self.sign * told
        if self.holds(cost, worth):
            return False
        first = last = bisect_left(self.cost, cost - SAME)
        while last < len(self.cost) and self.worth[last] <= worth + SAME:
            last += 1
        self.cost[first:last], self.worth[first:last] = [cost], [worth]
        self.codes[first:last] = [code]
        return True

    def still_has(self, bits: float, code: Partition) -> bool:
        """Whether a code that was added has not been beaten since."""
        i = bisect_left(self.cost, self.sign * bits - SAME)
        return i < len(self.codes) and self.codes[i] is code


def pareto_set(
    joint: Joint,
    problem: str,
    codes: Sequence[Partition],
    *,
    least: float = 0.0,
    most: int = MOST_CODES,
) -> list[Partition]:
    """The undominated codes found from greedy merge paths, then from some codes that are known.

    Pareto local search (Paquete, Chiarandini & Stützle 2004): every single move and every merge of two
    clusters of each code of the set is priced, and those that no code of the set beats join it, until
    all have been visited, 1.5·10⁸ cells looked at or ``most`` codes found: a funnel may have tens of
    thousands. No symbol weighs less than ``least``. Chance plays no part. Known codes come second: they
    would beat from the start what leads to others. Of few symbols all codes are considered instead.

    >>> joint = Joint.from_counts([[3, 0, 1, 2], [0, 3, 2, 1]])
    >>> [code.n_symbols for code in pareto_set(joint, "bottleneck", [])]
    [1, 2, 2, 3, 4]
    """
    from privacyfunnel._kernels.neighbours import neighbours

    layout, found = JointLayout(joint, least), ParetoSet(problem)

    def search_from(starts: Iterable[Partition]) -> None:
        waiting = deque[tuple[float, Partition]]()

        def offer(bits: float, told: float, code: Partition) -> None:
            if found.add(bits, told, code):
                waiting.append((bits, code))

        for code in starts:
            offer(utility(joint, code), leakage(joint, code), code)
        left = MOST_PRICES
        while waiting and left > 0.0 and len(found.codes) < most:
            bits_of, code = waiting.popleft()
            if not found.still_has(bits_of, code):
                continue
            labels, k = np.array(code.labels), code.n_symbols
            left -= (joint.counts.nnz + joint.n_s * k) * k
            places, etas = neighbours(layout.columns, labels, k, layout.table, least)
            told, bits = layout.informations(etas[:, 0], etas[:, 1])
            costs, worths = found.sign * bits, found.sign * told
            beside = np.searchsorted(np.array(found.cost), costs + SAME, "right") - 1
            best = np.where(beside >= 0, np.array(found.worth)[np.maximum(beside, 0)], -np.inf)
            new = np.flatnonzero(worths > best + SAME)
            for i in new[np.argsort(costs[new], kind="stable")]:
                if not found.holds(costs[i], worths[i]):
                    offer(float(bits[i]), float(told[i]), _stepped(labels, places[i]))

    if joint.n_x <= FEW:
        for code in _partitions(joint.n_x):
            if np.bincount(code.labels, weights=joint.masses).min() > least - 0.5:
                found.add(utility(joint, code), leakage(joint, code), code)
    else:
        search_from([Partition.trivial(joint.n_x), *_greedy(joint, found.sign, least)])
        search_from(codes)
    return sorted(found.codes, key=lambda code: utility(joint, code))


def _partitions(n: int) -> Iterator[Partition]:
    """All partitions of n symbols: each joins one of the clusters before it, or begins another.

    >>> len(list(_partitions(4)))
    15
    """
    every = [[0]]
    for _ in range(n - 1):
        every = [[*labels, k] for labels in every for k in range(max(labels) + 2)]
    return map(Partition, every)


def _greedy(joint: Joint, sign: float, least: float) -> Iterator[Partition]:
    """Every code of the greedy merge paths of some λ, where they cost little and keep the rule."""
    if least == 0.0 and joint.n_x <= MOST_PATHS:
        for lam in np.linspace(0.0, 1.0, PATHS):
            path = merge_path(joint, (-sign, sign * float(lam)))
            yield from (path.cut(k) for k in range(len(path.merges) + 1))


def _stepped(labels: Labels, place: Labels) -> Partition:
    """The code after one move, or after one merge."""
    new, (x, cluster) = labels.copy(), place
    if x >= 0:
        new[x] = cluster
    else:
        new[new == cluster] = -1 - x
    return Partition(new)
