"""All partitions of a small alphabet: the best of one price, and the best within a limit.

``cost[mask]`` prices the cluster whose members are the bits of ``mask``; infinite where there may be no
such cluster. In a partition, the cluster of the lowest element that is left is any of its subsets.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def least_costs(cost, n):
    """For each set of elements the least Σ cost(cluster) of its partitions, and a cluster of that one.

    By dynamic programming: 3ⁿ/2 steps.
    """
    size = 1 << n
    best = np.full(size, np.inf)
    choice = np.zeros(size, dtype=np.int64)
    best[0] = 0.0
    for mask in range(1, size):
        lowest = mask & -mask
        rest = mask ^ lowest
        subset = rest
        while True:
            cluster = subset | lowest
            value = cost[cluster] + best[mask ^ cluster]
            if value < best[mask]:
                best[mask], choice[mask] = value, cluster
            if subset == 0:
                break
            subset = (subset - 1) & rest
    return best, choice


@njit(cache=True)
def best_partition(cost, n):
    """The partition of n elements with the least Σ cost(cluster)."""
    _, choice = least_costs(cost, n)
    labels = np.zeros(n, dtype=np.int64)
    mask, label = (1 << n) - 1, 0
    while mask:
        for i in range(n):
            if choice[mask] >> i & 1:
                labels[i] = label
        mask ^= choice[mask]
        label += 1
    return labels


@njit(cache=True)
def best_within(cost, taken, bounds, n):
    """The least Σ cost(cluster) among all partitions with Σ taken[k, cluster] ≤ bounds[k] for every k.

    Returns labels and cost. Branch and bound: a part of a partition is given up when even the cheapest
    way to go on is no cheaper than the best found, or the most sparing one beyond a bound. The cost is
    infinite where no partition is within all bounds.
    """
    cheapest, _ = least_costs(cost, n)
    n_bounds = bounds.size
    sparing = np.zeros(taken.shape)
    for k in range(n_bounds):
        sparing[k] = least_costs(taken[k], n)[0]
    clusters, rests = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    costs, spent = np.zeros(n + 1), np.zeros((n + 1, n_bounds))
    best, n_best, kept = np.inf, 0, np.zeros(n, dtype=np.int64)
    depth, left = 0, (1 << n) - 1
    clusters[0], rests[0] = left, left & (left - 1)  # the rest: all but the lowest element
    while depth >= 0:
        cluster = clusters[depth]
        after = (rests[depth] | (cluster & -cluster)) ^ cluster
        costs[depth + 1] = costs[depth] + cost[cluster]
        hopeful = costs[depth + 1] + cheapest[after] < best
        for k in range(n_bounds):
            spent[depth + 1, k] = spent[depth, k] + taken[k, cluster]
            hopeful = hopeful and spent[depth + 1, k] + sparing[k, after] <= bounds[k]
        if hopeful:
            if after != 0:
                depth += 1
                clusters[depth], rests[depth] = after, after & (after - 1)
                continue
            best, n_best = costs[depth + 1], depth + 1
            for k in range(n_best):
                kept[k] = clusters[k]
        while depth >= 0:  # the next subset of the deepest rest that has one, from the largest down
            lowest = clusters[depth] & -clusters[depth]
            subset = clusters[depth] ^ lowest
            if subset != 0:
                clusters[depth] = ((subset - 1) & rests[depth]) | lowest
                break
            depth -= 1
    labels = np.zeros(n, dtype=np.int64)
    for k in range(n_best):
        for i in range(n):
            if kept[k] >> i & 1:
                labels[i] = k
    return labels, best
