"""Merge paths: pairs of clusters merged one by one, from one heap of prices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from privacyfunnel.codes import Partition
from privacyfunnel.errors import InvalidInput
from privacyfunnel.information import Array
from privacyfunnel.joint import Joint, csc_columns, digest, eta_table
from privacyfunnel.objectives import PROBLEMS, Objective
from privacyfunnel.solvers.base import Solution, Status, Step
from privacyfunnel.solvers.large.similarity import cluster_sums, order_by_similarity
from privacyfunnel.solvers.measured_layout import MeasuredLayout
from privacyfunnel.solvers.target import Price, Target, ceiling_of, reaches

EXACT = 6000  # symbols up to which every pair is priced
ENOUGH = 500  # clusters left at which a path on candidate lists goes on with every pair
LEAF = 8  # candidates on a cluster's list from each of two random orders
WHOLE = 2000  # symbols up to which an alphabet is worth paths down to one cluster
PATH_LAMS = (0.5, 0.8, 0.95)  # of greedy paths whose cuts are starts
PATH_SLOPES = (0.5, 1.0, 2.0)  # the same by other measures, in units of the mean slope
KNOWN_PATHS = 4  # joints whose greedy paths are remembered
MOST_STEPS = 10_000  # of a path that are told in a history
FRUITFUL = 0.01  # share of the clusters that a round must merge for another to follow


@dataclass(frozen=True, eq=False)
class MergePath:
    """The merges of a pairwise run, in order: computed once, cut anywhere.

    ``merges[k]`` holds the two clusters that become cluster n_x + k; ``drops[k]`` is (f, g) of that
    merge in units of the counts.
    """

    joint: Joint
    merges: NDArray[np.int64]
    drops: Array

    def cut(self, n_merges: int) -> Partition:
        """The partition after the first ``n_merges`` merges."""
        from privacyfunnel._kernels.merges import final_clusters

        n = self.joint.n_x
        return Partition(final_clusters(n, self.merges[:n_merges])[:n])

    def cut_at(self, target: Target) -> Partition:
        """The partition at the merge next to the target that still meets it."""
        leakage, utility = self.informations  # both fall with each merge
        values = utility if target.quantity == "utility" else leakage
        above = int(np.count_nonzero(reaches(values, target.bits)))
        position = above - 1 if target.is_floor else above
        return self.cut(int(np.clip(position, 0, len(self.merges))))

    @cached_property
    def informations(self) -> tuple[Array, Array]:
        """(I(S;X̂), I(X;X̂)) in bits before the first merge and after each; or what else is priced."""
        drop_f, drop_g = self.drops.T / self.joint.total
        leakage = self.joint.information + np.concatenate([[0.0], np.cumsum(drop_f - drop_g)])
        utility = self.joint.entropy_x + np.concatenate([[0.0], np.cumsum(drop_f)])
        return leakage, utility

    def solution(
        self, objective: Objective, status: Status, n_merges: int | None = None
    ) -> Solution:
        """The end of the path (or its cut) as a solution, with the way there as its history."""
        n_merges = len(self.merges) if n_merges is None else n_merges
        alpha, beta = objective.weights
        leakage, utility = self.informations
        told = np.linspace(0, n_merges, min(n_merges, MOST_STEPS) + 1).round().astype(int)
        history = tuple(
            Step(float(alpha * leakage[k] + beta * utility[k]), self.joint.n_x - k, 2 if k else 0)
            for k in np.unique(told).tolist()
        )
        return Solution.measured(self.joint, objective, self.cut(n_merges), status, history)


@dataclass(frozen=True, eq=False)
class MeasuredPath(MergePath):
    """The same for any measure or use; ``drops`` are the changes of what is told and kept."""

    objective: Objective

    @cached_property
    def informations(self) -> tuple[Array, Array]:
        start = self.objective.amounts(self.joint, Partition.identity(self.joint.n_x))
        told, kept = (
            first + np.concatenate([[0.0], np.cumsum(changes)])
            for first, changes in zip(start, self.drops.T, strict=True)
        )
        return told, kept


def measured_path(
    joint: Joint, objective: Objective, *, stop_change: float = np.inf
) -> MeasuredPath:
    """Merge the pair that lowers the objective most, every pair priced, whatever it measures."""
    if joint.n_x > EXACT:
        raise InvalidInput(
            f"merging pairs by another measure takes at most {EXACT} symbols, got {joint.n_x}; use "
            "method 'best'."
        )
    layout = MeasuredLayout(joint, objective.quantities(joint))
    alone, price = Partition.identity(joint.n_x), Price(objective.weights)
    merges, changes = layout.merge_path(alone, price, stop_change)
    return MeasuredPath(joint, merges, changes @ layout.shares.T / joint.total, objective)


def merge_path(
    joint: Joint,
    weights: tuple[float, float],
    *,
    keep: tuple[float, float] = (0.0, 0.0),
    threshold: float = -np.inf,
    n_symbols: int = 1,
    stop_change: float = np.inf,
    exact: int = EXACT,
) -> MergePath:
    """Merge the pair that lowers α I(S;X̂) + β I(X;X̂) most, as long as it is allowed.

    ``weights`` are (α, β); ``keep`` are the weights of a second such sum that must stay at or above
    ``threshold``. Ends at ``n_symbols`` or when the best change is ``stop_change`` or more. Beyond
    ``exact`` symbols the pairs are too many, and each cluster looks for its mate on a short list:
    the path is then approximate, and time and memory grow with the nonzeros.
    """
    slack = keep[0] * joint.information + keep[1] * joint.entropy_x - threshold
    alpha, beta = map(float, weights)  # the loop is compiled for floats alone
    kept_s, kept_x = map(float, keep)
    rules = (
        (alpha + beta, -alpha),
        (-kept_s - kept_x, kept_s),
        ceiling_of(slack) * joint.total,
        n_symbols,
        stop_change * joint.total,
    )
    if joint.n_x <= exact:
        merges, drops, _ = _all_pairs(joint.counts, *rules)
        return MergePath(joint, merges, drops)
    return _on_lists(joint, weights[0] <= 0.0, *rules)


def merged_clusters(
    joint: Joint, code: Partition, weights: tuple[float, float], **rules: Any
) -> Partition:
    """A code whose clusters are merged to the end of their `merge_path`."""
    path = merge_path(code.push(joint), weights, **rules)
    return Partition(path.cut(len(path.merges)).labels[code.labels])


def _all_pairs(counts: Any, *rules: Any) -> tuple[NDArray[np.int64], Array, float]:
    """The merges of the clusters whose counts these are, every pair priced."""
    from privacyfunnel._kernels import merges

    n_s, n = counts.shape
    sums = np.zeros((2 * n - 1, n_s))
    sums[:n] = counts.toarray().T
    found: tuple[NDArray[np.int64], Array, float] = merges.merge_path(
        sums, sums.sum(axis=1), eta_table(counts), *rules
    )
    return found


def _on_lists(
    joint: Joint,
    alike: bool,
    price: tuple[float, float],
    keep: tuple[float, float],
    slack: float,
    n_symbols: int,
    stop_change: float,
) -> MergePath:
    """The same with prices of few pairs only, in rounds of fresh lists; memory as the nonzeros."""
    from privacyfunnel._kernels.merges import final_clusters
    from privacyfunnel._kernels.sparse_merges import merge_path_on_lists

    rng = np.random.default_rng(0)  # lists are chosen by lot, always the same one
    n, labels, names = joint.n_x, np.arange(joint.n_x), np.arange(joint.n_x)
    merges, drops = np.empty((0, 2), dtype=np.int64), np.empty((0, 2))
    while True:
        sums = cluster_sums(joint.counts, labels)
        k = sums.shape[1]
        # Lists wear out: after half of the clusters they are made anew.
        most = n_symbols if k <= ENOUGH else max(n_symbols, k // 2)
        rules = (price, keep, slack, most, stop_change)
        if k <= ENOUGH:
            new, drop, slack = _all_pairs(sums, *rules)
        else:
            lists, masses = _candidates(sums, alike, rng), np.asarray(sums.sum(axis=0))
            new, drop, slack = merge_path_on_lists(csc_columns(sums), masses, lists, *rules)
        # In a round clusters count from 0 and new ones from k; on the path, new ones from n.
        names = np.concatenate([names, n + len(merges) + np.arange(len(new))])
        merges, drops = np.concatenate([merges, names[new]]), np.concatenate([drops, drop])
        left = np.setdiff1d(np.arange(len(names)), new)
        labels = np.searchsorted(left, final_clusters(k, new)[labels])
        names = names[left]
        if k <= ENOUGH or len(left) <= n_symbols or len(new) < FRUITFUL * k:
            return MergePath(joint, merges, drops)


def _candidates(sums: Any, alike: bool, rng: Generator) -> NDArray[np.int64]:
    """For each cluster some others, ``[cluster, :]``: similar ones by two random trees, or any."""
    k, parts = sums.shape[1], []
    for _ in range(2):
        order = order_by_similarity(sums, LEAF, rng) if alike else rng.permutation(k)
        part = np.empty((k, LEAF), dtype=np.int64)
        part[order] = order[(np.arange(k)[:, None] + 1 + np.arange(LEAF)) % k]
        parts.append(part)
    return np.hstack(parts)


_greedy_paths: dict[str, Sequence[MergePath]] = {}


def greedy_cuts(joint: Joint, target: Target) -> list[Partition]:
    """Greedy merge paths of a few λ, cut at the target: good starts; none where X is large.

    The paths serve all targets of a joint and are remembered.
    """
    if joint.n_x > WHOLE:
        return []
    objective = target.objective
    key = digest(joint, target.problem, objective.measure, objective.keep)
    if key not in _greedy_paths:
        sign = PROBLEMS[target.problem].leakage_weight
        while len(_greedy_paths) >= KNOWN_PATHS:
            _greedy_paths.pop(next(iter(_greedy_paths)), None)
        if objective.plain:
            paths = [merge_path(joint, (sign, -sign * lam)) for lam in PATH_LAMS]
        else:
            told, kept = objective.amounts(joint, Partition.identity(joint.n_x))
            mean = told / kept if kept > 0 else 1.0
            paths = [measured_path(joint, objective.at(k * mean)) for k in PATH_SLOPES]
        _greedy_paths[key] = paths
    return [path.cut_at(target) for path in _greedy_paths[key]]
