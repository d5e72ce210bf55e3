"""Exhaustive: the best of all partitions, for small alphabets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privacyfunnel.codes import Partition
from privacyfunnel.errors import InvalidInput
from privacyfunnel.information import plogp
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import Objective
from privacyfunnel.solvers.base import Solution, Status
from privacyfunnel.submodular.functions import subset_sums

MAX_N_X = 16


@dataclass(frozen=True)
class ExhaustiveSearch:
    """The optimum over all partitions, by dynamic programming over subsets; |X| ≤ 16.

    The objective is a sum over clusters, so the best partition of a set is a cluster and the best
    partition of the rest: 3ⁿ/2 steps instead of the Bell number of partitions.
    """

    def solve(
        self,
        joint: Joint,
        objective: Objective,
        *,
        start: Partition | None = None,
        rng: np.random.Generator,
    ) -> Solution:
        """Look at everything; neither a start nor chance plays a part."""
        from privacyfunnel._kernels import best_partition

        if joint.n_x > MAX_N_X:
            raise InvalidInput(
                f"method 'exhaustive' takes at most {MAX_N_X} public symbols, got {joint.n_x}; "
                "use method 'best'."
            )
        alpha, beta = objective.weights
        cost = -(alpha + beta) * plogp(subset_sums(joint.p_x))
        for row in joint.p_sx.toarray():
            cost += alpha * plogp(subset_sums(row))
        labels = best_partition(cost, joint.n_x)
        return Solution.measured(joint, objective, Partition(labels), Status.OPTIMAL)
