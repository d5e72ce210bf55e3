"""Prices of merging whole clusters, and paths of such merges."""

from __future__ import annotations

import heapq

import numpy as np
from numba import njit

from privacyfunnel._kernels.eta import eta


@njit(cache=True)
def _pair_drop(sums, masses, i, j):
    """(f, g) of merging clusters i and j, from their summed vectors ``sums[cluster, s]``."""
    g = 0.0
    for s in range(sums.shape[1]):
        a, b = sums[i, s], sums[j, s]
        if a > 0.0 and b > 0.0:
            g += eta(a) + eta(b) - eta(a + b)
    a, b = masses[i], masses[j]
    return eta(a) + eta(b) - eta(a + b), g


@njit(cache=True)
def best_pair(sums, masses, weight_f, weight_g):
    """The pair whose merge changes the objective most: (change, i, j) of weight_f f + weight_g g."""
    best, best_i, best_j = np.inf, -1, -1
    for i in range(masses.size):
        for j in range(i + 1, masses.size):
            f, g = _pair_drop(sums, masses, i, j)
            change = weight_f * f + weight_g * g
            if change < best:
                best, best_i, best_j = change, i, j
    return best, best_i, best_j


@njit(cache=True)
def merge_path(sums, masses, price, keep, slack, n_symbols, stop_change):
    """Merge the cheapest pair again and again, from one heap of pair prices.

    ``sums`` and ``masses`` have room for the 2n − 1 clusters of a full path; merge k makes cluster
    n + k. ``price`` and ``keep`` are the weights of (f, g) in a pair's price and in what it takes
    from ``slack``; a pair that takes more than is left is never allowed again, since the slack only
    shrinks. A pair's price depends on its two clusters alone, so entries of dead clusters are
    simply skipped. Stops at ``n_symbols`` or when the cheapest pair costs ``stop_change`` or more.
    Returns the merges, their (f, g), and the slack that is left.
    """
    n = (masses.size + 1) // 2
    alive = np.zeros(masses.size, dtype=np.bool_)
    alive[:n] = True
    heap = [(0.0, np.int32(0), np.int32(0)) for _ in range(n * (n - 1) // 2)]
    entry = 0
    for i in range(n):
        for j in range(i + 1, n):
            f, g = _pair_drop(sums, masses, i, j)
            heap[entry] = (price[0] * f + price[1] * g, np.int32(i), np.int32(j))
            entry += 1
    heapq.heapify(heap)
    merges, drops = np.empty((n - 1, 2), dtype=np.int64), np.empty((n - 1, 2))
    n_merges = 0
    while len(heap) > 0 and n - n_merges > n_symbols:
        change, first, second = heapq.heappop(heap)
        i, j = np.int64(first), np.int64(second)  # else all below is compiled for both types
        if not (alive[i] and alive[j]):
            continue
        if change >= stop_change:
            break
        f, g = _pair_drop(sums, masses, i, j)
        cost = keep[0] * f + keep[1] * g
        if cost > slack:
            continue
        slack -= cost
        new = n + n_merges
        alive[i] = alive[j] = False
        for s in range(sums.shape[1]):
            sums[new, s] = sums[i, s] + sums[j, s]
        masses[new] = masses[i] + masses[j]
        for other in range(new):
            if alive[other]:
                other_f, other_g = _pair_drop(sums, masses, other, new)
                value = price[0] * other_f + price[1] * other_g
                heapq.heappush(heap, (value, np.int32(other), np.int32(new)))
        alive[new] = True
        merges[n_merges, 0], merges[n_merges, 1] = i, j
        drops[n_merges, 0], drops[n_merges, 1] = f, g
        n_merges += 1
    return merges[:n_merges], drops[:n_merges], slack


@njit(cache=True)
def final_clusters(n, merges):
    """What each of the n + len(merges) clusters of a path is part of at its end."""
    labels = np.empty(n + len(merges), dtype=np.int64)
    for cluster in range(labels.size):
        labels[cluster] = cluster
    for k in range(len(merges) - 1, -1, -1):  # a cluster's fate is that of what it became
        labels[merges[k, 0]] = labels[merges[k, 1]] = labels[n + k]
    return labels
