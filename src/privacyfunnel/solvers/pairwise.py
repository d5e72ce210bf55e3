"""Pairwise merging: the baselines of the field and greedy merging on L, all on one heap of prices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.codes import Partition
from privacyfunnel.errors import InvalidInput
from privacyfunnel.information import Array, plogp
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import Objective
from privacyfunnel.solvers.base import FLAT, Solution, Status, Step
from privacyfunnel.validation import check_at_least


@dataclass(frozen=True, eq=False)
class MergePath:
    """The merges of a pairwise run, in order: computed once, cut anywhere.

    ``merges[k]`` holds the two clusters that become cluster n_x + k.
    """

    joint: Joint
    merges: NDArray[np.int32]

    def cut(self, n_merges: int) -> Partition:
        """The partition after the first ``n_merges`` merges."""
        n = self.joint.n_x
        labels = np.arange(n + n_merges)
        for k in range(n_merges - 1, -1, -1):  # a cluster's fate is that of what it became
            labels[self.merges[k]] = labels[n + k]
        return Partition(labels[:n])

    @cached_property
    def informations(self) -> tuple[Array, Array]:
        """(I(S;X̂), I(X;X̂)) in bits before the first merge and after each."""
        joint, n = self.joint, self.joint.n_x
        sums = np.zeros((n + len(self.merges), joint.n_s))
        sums[:n] = joint.counts.toarray().T
        for k, (i, j) in enumerate(self.merges):
            sums[n + k] = sums[i] + sums[j]
        f, g = plogp(sums.sum(axis=1)), plogp(sums).sum(axis=1)  # η summed over each cluster
        i, j = self.merges[:, 0], self.merges[:, 1]
        drop_f = (f[i] + f[j] - f[n:]) / joint.total
        drop_g = (g[i] + g[j] - g[n:]) / joint.total
        leakage = joint.information + np.concatenate([[0.0], np.cumsum(drop_f - drop_g)])
        utility = joint.entropy_x + np.concatenate([[0.0], np.cumsum(drop_f)])
        return leakage, utility

    def solution(
        self, objective: Objective, status: Status, n_merges: int | None = None
    ) -> Solution:
        """The end of the path (or its cut) as a solution, with the way there as its history."""
        n_merges = len(self.merges) if n_merges is None else n_merges
        alpha, beta = objective.weights
        leakage, utility = self.informations
        sizes = self.joint.n_x - np.arange(n_merges + 1)
        history = tuple(
            Step(float(alpha * leakage[k] + beta * utility[k]), int(size), 2 if k else 0)
            for k, size in enumerate(sizes)
        )
        return Solution.measured(self.joint, objective, self.cut(n_merges), status, history)


def merge_path(
    joint: Joint,
    weights: tuple[float, float],
    *,
    keep: tuple[float, float] = (0.0, 0.0),
    threshold: float = -np.inf,
    n_symbols: int = 1,
    stop_change: float = np.inf,
) -> MergePath:
    """Merge the pair that lowers α I(S;X̂) + β I(X;X̂) most, as long as it is allowed.

    ``weights`` are (α, β); ``keep`` are the weights of a second such sum that must stay at or above
    ``threshold``. Ends at ``n_symbols`` or when the best change is ``stop_change`` or more.
    """
    from privacyfunnel import _kernels

    sums = np.zeros((2 * joint.n_x - 1, joint.n_s))
    sums[: joint.n_x] = joint.counts.toarray().T
    slack = keep[0] * joint.information + keep[1] * joint.entropy_x - threshold
    merges = _kernels.merge_path(
        sums,
        sums.sum(axis=1),
        (weights[0] + weights[1], -weights[0]),
        (-keep[0] - keep[1], keep[0]),
        # A hair of room, so that a merge that keeps exactly the threshold is allowed.
        (slack + 1e-12) * joint.total,
        n_symbols,
        stop_change * joint.total,
    )
    return MergePath(joint, merges)


@dataclass(frozen=True)
class PairwiseMerge:
    """The threshold algorithms of Makhdoumi, Salamatian, Fawaz & Médard (2014).

    Funnel (their Algorithm 1): merge the pair that leaves the least I(S;X̂) among those that keep
    I(X;X̂) ≥ θ. Bottleneck (Algorithm 2): the pair that leaves the least I(X;X̂) among those that
    keep I(S;X̂) ≥ θ. ``theta`` is in bits. λ plays no part in the search.
    """

    theta: float | None = None

    def __post_init__(self) -> None:
        if self.theta is None:
            raise InvalidInput("method 'pairwise' needs theta=, the threshold to keep, in bits.")
        check_at_least("theta", self.theta, 0.0)

    def solve(
        self,
        joint: Joint,
        objective: Objective,
        *,
        start: Partition | None = None,
        rng: np.random.Generator,
    ) -> Solution:
        """Run from the whole alphabet; neither a start nor chance plays a part."""
        assert self.theta is not None
        funnel = objective.problem == "funnel"
        highest = joint.entropy_x if funnel else joint.information
        if self.theta > highest + 1e-12:
            what = "H(X)" if funnel else "I(S;X)"
            raise InvalidInput(
                f"theta must be at most {what} = {highest:.6f} bits, got {self.theta}."
            )
        weights, keep = ((1.0, 0.0), (0.0, 1.0)) if funnel else ((0.0, 1.0), (1.0, 0.0))
        path = merge_path(joint, weights, keep=keep, threshold=self.theta)
        return path.solution(objective, Status.THRESHOLD)


@dataclass(frozen=True)
class AgglomerativeBottleneck:
    """Agglomerative IB (Slonim & Tishby 1999): merge the pair that loses the least I(S;X̂).

    Runs down to ``n_symbols`` clusters; without it, the cut of the path with the lowest objective
    is returned.
    """

    n_symbols: int | None = None

    def __post_init__(self) -> None:
        if self.n_symbols is not None:
            check_at_least("n_symbols", self.n_symbols, 1)

    def solve(
        self,
        joint: Joint,
        objective: Objective,
        *,
        start: Partition | None = None,
        rng: np.random.Generator,
    ) -> Solution:
        """Run from the whole alphabet; neither a start nor chance plays a part."""
        path = merge_path(joint, (-1.0, 0.0), n_symbols=self.n_symbols or 1)
        if self.n_symbols is not None:
            return path.solution(objective, Status.THRESHOLD)
        leakage, utility = path.informations
        alpha, beta = objective.weights
        cut = int(np.argmin(alpha * leakage + beta * utility))
        return path.solution(objective, Status.CONVERGED, cut)


@dataclass(frozen=True)
class GreedyMerge:
    """Merge the pair that lowers the objective itself most, until no pair does."""

    def solve(
        self,
        joint: Joint,
        objective: Objective,
        *,
        start: Partition | None = None,
        rng: np.random.Generator,
    ) -> Solution:
        """Run from the whole alphabet; neither a start nor chance plays a part."""
        path = merge_path(joint, objective.weights, stop_change=-FLAT)
        return path.solution(objective, Status.CONVERGED)
