"""Quantizer: the optimal hard bottleneck for a binary S, by intervals in the order of p(s given x)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from privacyfunnel.codes import Partition
from privacyfunnel.errors import InvalidInput
from privacyfunnel.information import Array
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import Bottleneck, Objective
from privacyfunnel.solvers.base import FLAT, Solution, Status
from privacyfunnel.solvers.equal_profiles import equal_profiles
from privacyfunnel.solvers.target import MET, Target, hits, reaches, stays_within


@dataclass(frozen=True)
class OptimalQuantizer:
    """The best of all partitions for the bottleneck, where S has at most two values; any |X|.

    The price of a cluster is concave in its summed vector, so some optimal clusters are separated by
    hyperplanes in p(s given x) (Burshtein, Della Pietra, Kanevsky & Nádas 1992; Chou 1991). With two
    values of S these are intervals in the order of p(s given x), among which dynamic programming finds
    the best (Kurkoski & Yagi 2014). The funnel's price is convex and has no such order.

    >>> joint = Joint.from_counts([[9, 1, 5, 8], [1, 9, 5, 2]])
    >>> solution = OptimalQuantizer().solve(joint, Bottleneck(0.1), rng=np.random.default_rng(0))
    >>> solution.code.labels, solution.status.name
    (array([0, 1, 2, 0]), 'OPTIMAL')
    """

    problems: ClassVar[tuple[str, ...]] = ("bottleneck",)

    def solve(
        self, joint: Joint, objective: Objective, *, start: Partition | None = None, rng: Generator
    ) -> Solution:
        """Look at all intervals; neither a start nor chance plays a part."""
        if not quantizable(joint, objective.problem):
            raise InvalidInput(
                "method 'quantizer' is for the bottleneck with two sensitive values, got "
                f"the {objective.problem} with {joint.n_s}; use method 'best'."
            )
        code = _Order(joint).best(objective.lam)
        return Solution.measured(joint, objective, code, Status.OPTIMAL)

    def solve_size(self, joint: Joint, n_symbols: int, *, rng: Generator) -> Solution:
        """The most relevant of all codes of at most ``n_symbols`` symbols."""
        return quantize(joint, n_symbols)


def quantizable(joint: Joint, problem: str) -> bool:
    """Whether intervals of p(s given x) are proved to hold the optimum."""
    return problem == "bottleneck" and joint.n_s <= 2


def quantize(joint: Joint, n_symbols: int) -> Solution:
    """The most relevant of all codes of at most ``n_symbols`` symbols, for a binary S.

    Its intervals have costs of the quadrangle inequality, so that n log n prices for each symbol do
    (Iwata & Ozawa 2014).

    >>> joint = Joint.from_counts([[9, 8, 1, 0, 4], [1, 2, 9, 8, 6]])
    >>> quantize(joint, 2).code.labels
    array([0, 0, 1, 1, 1])
    """
    code = _Order(joint).of_size(n_symbols)
    return Solution.measured(joint, Bottleneck(0.0), code, Status.OPTIMAL)


def supporting(joint: Joint, target: Target) -> list[Solution]:
    """The codes next to a target on the concave hull of all hard codes, for a binary S.

    Each is optimal for some λ, and no hard code has more relevance at its rate. Between two of them no
    code lies above their chord; codes below it, which may be no intervals, are not ruled out. One code
    is returned where it meets the target exactly, and so is proved optimal for it.

    >>> joint = Joint.from_counts([[9, 1, 5, 8], [1, 9, 5, 2]])
    >>> [s.n_symbols for s in supporting(joint, Target("bottleneck", "utility", 1.2))]
    [2, 3]
    """
    order = _Order(joint)

    def solution(lam: float, code: Partition) -> Solution:
        return Solution.measured(joint, Bottleneck(lam), code, Status.OPTIMAL)

    def bounded(found: Solution) -> float:
        return target.bounded(found.leakage, found.utility)

    low = solution(1.0, Partition.trivial(joint.n_x))
    high = solution(0.0, order.groups)
    while True:
        for found in (low, high):
            if hits(bounded(found), target.bits, MET):
                return [found]
        if not reaches(bounded(high), target.bits):
            return [high]
        # The slope of their chord: the λ at which only a code above the chord beats both.
        lam = (high.leakage - low.leakage) / (high.utility - low.utility)
        middle = solution(lam, order.best(lam))
        if middle.value >= lam * low.utility - low.leakage - FLAT:
            return [low, high]
        low, high = (middle, high) if stays_within(bounded(middle), target.bits) else (low, middle)


class _Order:
    """Groups of equal p(s given x) in the order of p(s given x)."""

    def __init__(self, joint: Joint) -> None:
        self.groups = equal_profiles(joint)
        weights = np.zeros((self.groups.n_symbols, 2))
        weights[:, : joint.n_s] = (joint.counts @ self.groups.matrix).toarray().T
        self.order = np.argsort(weights[:, 0] / weights.sum(axis=1), kind="stable")
        # Shares, so that the objective is in bits; sums of whole counts are exact before.
        sums = np.cumsum(weights[self.order], axis=0) / joint.total
        self.sums: Array = np.vstack([np.zeros(2), sums])

    def best(self, lam: float) -> Partition:
        """The best intervals for one λ."""
        from privacyfunnel._kernels.quantizer import best_intervals

        cuts = best_intervals(self.sums, float(lam), max(2, math.isqrt(len(self.order))))
        starts, end = [], len(self.order)
        while end > 0:
            end = int(cuts[end])
            starts.append(end)
        return self.partition(starts)

    def of_size(self, n_symbols: int) -> Partition:
        """The best ``n_symbols`` intervals, or all groups where they are no more."""
        from privacyfunnel._kernels.quantizer import best_of_size

        end = len(self.order)
        if n_symbols >= end:
            return self.groups
        cuts, starts = best_of_size(self.sums, n_symbols), list[int]()
        for row in cuts[::-1]:
            end = int(row[end])
            starts.append(end)
        return self.partition(starts)

    def partition(self, starts: list[int]) -> Partition:
        """The code of the intervals that begin there."""
        begins = np.zeros(len(self.order), dtype=np.int64)
        begins[starts] = 1
        labels = np.empty_like(begins)
        labels[self.order] = np.cumsum(begins)
        return Partition(labels[self.groups.labels])
