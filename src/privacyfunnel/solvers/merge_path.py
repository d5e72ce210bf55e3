"""Merge paths: pairs of clusters merged one by one, from one heap of prices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from privacyfunnel.codes import Partition
from privacyfunnel.errors import InvalidInput
from privacyfunnel.information import Array
from privacyfunnel.joint import Joint, csc_columns, digest, eta_table
from privacyfunnel.objectives import Objective
from privacyfunnel.solvers.base import Solution, Status, Step
from privacyfunnel.solvers.large.similarity import cluster_sums, order_by_similarity
from privacyfunnel.solvers.measured_layout import MeasuredLayout
from privacyfunnel.solvers.target import Price, Target, Weights, ceiling_of, reaches

EXACT = 6000  # symbols up to which every pair is priced
ENOUGH = 500  # clusters left at which a path on candidate lists goes on with every pair
LEAF = 8  # candidates on a cluster's list from each of two random orders
WHOLE = 2000  # symbols up to which an alphabet is worth paths down to one cluster
PATH_LAMS = np.array([0.5, 0.8, 0.95])  # of greedy paths whose cuts are starts
PATH_SLOPES = np.array([0.5, 1.0, 2.0])  # the same by other measures, in units of the mean slope
KNOWN_PATHS = 4  # joints whose greedy paths are remembered
MOST_STEPS = 10_000  # of a path that are told in a history
FRUITFUL = 0.01  # share of the clusters that a round must merge for another to follow


@dataclass(frozen=True, eq=False)
class MergePath:
    """The merges of a pairwise run, in order: computed once, cut anywhere.

    ``merges[k]`` holds the two clusters that become cluster n_x + k; ``told`` and ``kept`` are I(S;X̂) and
    I(X;X̂) in bits, or what else is priced, before the first merge and after each.
    """

    joint: Joint
    merges: NDArray[np.int64]
    told: Array
    kept: Array

    def cut(self, n_merges: int | None = None) -> Partition:
        """The partition after the first ``n_merges`` merges, or after all."""
        from privacyfunnel._kernels.merges import final_clusters

        n = self.joint.n_x
        return Partition(final_clusters(n, self.merges[:n_merges])[:n])

    def cut_at(self, target: Target) -> Partition:
        """The partition at the merge next to the target that still meets it."""
        values = target.bounded(self.told, self.kept)  # both fall with each merge
        above = int(np.count_nonzero(reaches(values, target.bits)))
        position = above - 1 if target.is_floor else above
        return self.cut(int(np.clip(position, 0, len(self.merges))))

    def solution(
        self, objective: Objective, status: Status, n_merges: int | None = None
    ) -> Solution:
        """The end of the path (or its cut) as a solution, with the way there as its history."""
        n_merges = len(self.merges) if n_merges is None else n_merges
        alpha, beta = objective.weights
        listed = np.linspace(0, n_merges, min(n_merges, MOST_STEPS) + 1).round().astype(int)
        history = tuple(
            Step(
                float(alpha * self.told[k] + beta * self.kept[k]), self.joint.n_x - k, 2 if k else 0
            )
            for k in np.unique(listed).tolist()
        )
        return Solution.measured(self.joint, objective, self.cut(n_merges), status, history)


def greedy_path(joint: Joint, objective: Objective, *, stop_change: float = np.inf) -> MergePath:
    """Merge the pair that lowers the objective most, whatever it measures."""
    if objective.plain:
        return merge_path(joint, objective.weights, stop_change=stop_change)
    if joint.n_x > EXACT:
        raise InvalidInput(
            f"merging pairs by another measure takes at most {EXACT} symbols, got {joint.n_x}; use "
            "method 'best'."
        )
    layout = MeasuredLayout(joint, objective.quantities(joint))
    alone, price = Partition.identity(joint.n_x), Price(objective.weights)
    merges, changes = layout.merge_path(alone, price, stop_change)
    told, kept = (changes @ layout.shares.T / joint.total).T
    return _path(joint, merges, objective.amounts(joint, alone), (told, kept))


def _path(
    joint: Joint, merges: NDArray[np.int64], start: Iterable[float], changes: Iterable[Array]
) -> MergePath:
    """A path from what X itself tells and keeps, and by how much each merge changes that."""
    told, kept = (
        first + np.concatenate([[0.0], np.cumsum(each)])
        for first, each in zip(start, changes, strict=True)
    )
    return MergePath(joint, merges, told, kept)


def merge_path(
    joint: Joint,
    weights: Weights,
    *,
    keep: Weights = (0.0, 0.0),
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
    else:
        merges, drops = _on_lists(joint, weights[0] <= 0.0, *rules)
    drop_f, drop_g = drops.T / joint.total
    start = joint.information, joint.entropy_x
    return _path(joint, merges, start, (drop_f - drop_g, drop_f))


def merged_clusters(joint: Joint, code: Partition, weights: Weights, **rules: Any) -> Partition:
    """A code whose clusters are merged to the end of their `merge_path`."""
    path = merge_path(code.push(joint), weights, **rules)
    return Partition(path.cut().labels[code.labels])


def _all_pairs(counts: Any, *rules: Any) -> tuple[NDArray[np.int64], Array, float]:
    """The merges of the clusters whose counts these are, every pair priced.

    With (f, g) of each merge in units of the counts, and what is left of the slack.
    """
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
) -> tuple[NDArray[np.int64], Array]:
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
            return merges, drops


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
        while len(_greedy_paths) >= KNOWN_PATHS:
            _greedy_paths.pop(next(iter(_greedy_paths)), None)
        lams = PATH_LAMS if objective.plain else PATH_SLOPES * objective.mean_slope(joint)
        _greedy_paths[key] = [greedy_path(joint, objective.at(lam)) for lam in lams]
    return [path.cut_at(target) for path in _greedy_paths[key]]
