"""Exhaustive: the best of all partitions, for small alphabets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from privacyfunnel.codes import Code, Partition
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.information import Array, plogp
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import Bottleneck, Objective, Quantity
from privacyfunnel.solvers.base import Solution, Status
from privacyfunnel.solvers.target import OF_ALL, Price, Target, among_equals, ceiling_of
from privacyfunnel.submodular.functions import subset_sums
from privacyfunnel.validation import check_records, check_whole

SMALL = 12  # symbols up to which a search for one of many codes looks at all of them
MAX_N_X = 16
MAX_N_X_TARGET = 13


@dataclass(frozen=True)
class ExhaustiveSearch:
    """The optimum over all partitions: |X| ≤ 16 for one λ, |X| ≤ 13 for an exact target.

    The objective is a sum over clusters, so the best partition of a set is a cluster and the best
    partition of the rest: 3ⁿ/2 steps instead of the Bell number of partitions. Within a constraint
    all partitions are considered, by branch and bound. No released symbol covers fewer than
    ``min_count`` records.
    """

    min_count: int = 1

    any_measure = True

    def __post_init__(self) -> None:
        check_whole("min_count", self.min_count, 1)

    def solve(
        self, joint: Joint, objective: Objective, *, start: Partition | None = None, rng: Generator
    ) -> Solution:
        """Look at everything; neither a start nor chance plays a part."""
        from privacyfunnel._kernels.partitions import best_partition

        self._check(joint, MAX_N_X)
        labels = best_partition(self._costs(joint, objective, objective.weights), joint.n_x)
        return Solution.measured(joint, objective, Partition(labels), Status.OPTIMAL)

    def solve_at(
        self, joint: Joint, target: Target, *, starts: Sequence[Code] = (), rng: Generator
    ) -> Solution:
        """The best of all partitions that meet the target."""
        self._check(joint, MAX_N_X_TARGET)
        quantities = target.objective.quantities(joint)
        labels = best_of_all(joint, quantities, target.price, self.min_count)
        if labels is None:
            raise self._unreachable(joint, target)
        return Solution.measured(joint, target.objective, Partition(labels), Status.OPTIMAL)

    def solve_size(self, joint: Joint, n_symbols: int, *, rng: Generator) -> Solution:
        """The most relevant of all partitions of at most ``n_symbols`` clusters."""
        from privacyfunnel._kernels.partitions import best_within

        self._check(joint, MAX_N_X_TARGET)
        objective = Bottleneck(0.0)
        labels, _ = best_within(
            self._costs(joint, objective, objective.weights),
            np.ones((1, 2**joint.n_x)),  # each cluster is one
            np.array([float(n_symbols)]),
            joint.n_x,
        )
        return Solution.measured(joint, objective, Partition(labels), Status.OPTIMAL)

    def _check(self, joint: Joint, most: int) -> None:
        check_records(self.min_count, joint.n_records)
        if joint.n_x > most:
            raise InvalidInput(
                f"method 'exhaustive' takes at most {most} public symbols here, got {joint.n_x}; "
                "use method 'best'."
            )

    def _costs(self, joint: Joint, objective: Objective, weights: tuple[float, ...]) -> Array:
        return cluster_costs(joint, objective.quantities(joint), weights, self.min_count)

    def _unreachable(self, joint: Joint, target: Target) -> TargetUnreachable:
        """What is raised when no code meets a target that asks for at least so much."""
        from privacyfunnel._kernels.partitions import best_partition

        weights = (0.0, -1.0) if target.quantity == "utility" else (-1.0, 0.0)
        labels = best_partition(self._costs(joint, target.objective, weights), joint.n_x)
        most = target.bounded(*target.objective.amounts(joint, Partition(labels)))
        return target.unreached(joint, self.min_count, most, of_all=True)


def best_of_all(
    joint: Joint, quantities: Sequence[Quantity], price: Price, min_count: int
) -> NDArray[np.int64] | None:
    """Of all partitions the one that is taken; None where none is within the limits."""
    from privacyfunnel._kernels.partitions import best_within

    def best(price: Price, most: Array) -> tuple[NDArray[np.int64], float]:
        rows = price.weights, *(row for row, _ in price.limits)
        own, *taken = (cluster_costs(joint, quantities, row, min_count) for row in rows)
        labels, lowest = best_within(own, np.array(taken), most, joint.n_x)
        return np.asarray(labels), float(lowest)

    # Costs of clusters are counted from nothing, amounts from where all records are one symbol.
    rest = [sum(share * view.at_rest for share, view in quantity) for quantity in quantities]
    bounds = [bound + sum(map(mul, row, rest)) for row, bound in price.limits]
    most = ceiling_of(np.array(bounds), OF_ALL)
    _, lowest = best(price, most)
    if not np.isfinite(lowest):
        return None
    return best(among_equals(price, lowest), np.append(most, ceiling_of(lowest)))[0]


def cluster_costs(
    joint: Joint, quantities: Sequence[Quantity], weights: Sequence[float], min_count: int
) -> Array:
    """A weighted sum of quantities up to a constant, as a cost of each possible cluster.

    One that covers fewer than ``min_count`` records costs more than any other.
    """
    masses = subset_sums(joint.p_x)
    cost = np.zeros(len(masses))
    for weight, quantity in zip(weights, quantities, strict=True):
        for share, view in quantity if weight != 0.0 else ():
            if view.measure is None:
                cost -= weight * share * plogp(masses)
            else:
                rows = np.array([subset_sums(row) for row in view.joint.p_sx.toarray()])
                cost += weight * share * view.measure.clusters(rows, view.joint.p_s)
    light = masses * joint.total < min_count - 0.5
    return np.where(light, np.inf, cost) if min_count > 1 else cost
