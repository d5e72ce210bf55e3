"""Pairwise merging: the baselines of the field and greedy merging on L, all on one merge path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from privacyfunnel.codes import Partition
from privacyfunnel.errors import InvalidInput
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import Bottleneck, Objective
from privacyfunnel.solvers.base import FLAT, Solution, Status
from privacyfunnel.solvers.merge_path import greedy_path, merge_path
from privacyfunnel.solvers.target import stays_within
from privacyfunnel.validation import check_at_least, check_whole


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

    @classmethod
    def swept(cls, joint: Joint, problem: str, shares: Sequence[float]) -> list[PairwiseMerge]:
        """Thresholds at these shares of H(X) (funnel) or I(S;X) (bottleneck)."""
        most = joint.entropy_x if problem == "funnel" else joint.information
        return [cls(theta=share * most) for share in shares]

    def solve(
        self, joint: Joint, objective: Objective, *, start: Partition | None = None, rng: Generator
    ) -> Solution:
        """Run from the whole alphabet; neither a start nor chance plays a part."""
        assert self.theta is not None
        funnel = objective.problem == "funnel"
        highest = joint.entropy_x if funnel else joint.information
        if not stays_within(self.theta, highest):
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
            check_whole("n_symbols", self.n_symbols, 1)

    def solve(
        self, joint: Joint, objective: Objective, *, start: Partition | None = None, rng: Generator
    ) -> Solution:
        """Run from the whole alphabet; neither a start nor chance plays a part."""
        if self.n_symbols is not None:
            path = merge_path(joint, (-1.0, 0.0), n_symbols=self.n_symbols)
            return path.solution(objective, Status.N_SYMBOLS)
        path = merge_path(joint, (-1.0, 0.0))
        alpha, beta = objective.weights
        cut = int(np.argmin(alpha * path.told + beta * path.kept))
        return path.solution(objective, Status.CONVERGED, cut)

    def solve_size(self, joint: Joint, n_symbols: int, *, rng: Generator) -> Solution:
        """The path cut at ``n_symbols`` clusters."""
        sized = AgglomerativeBottleneck(min(n_symbols, joint.n_x))
        return sized.solve(joint, Bottleneck(0.0), rng=rng)


@dataclass(frozen=True)
class GreedyMerge:
    """Merge the pair that lowers the objective itself most, until no pair does."""

    any_measure = True

    def solve(
        self, joint: Joint, objective: Objective, *, start: Partition | None = None, rng: Generator
    ) -> Solution:
        """Run from the whole alphabet; neither a start nor chance plays a part."""
        path = greedy_path(joint, objective, stop_change=-FLAT)
        return path.solution(objective, Status.CONVERGED)
