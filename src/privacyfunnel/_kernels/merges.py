"""Prices of merging whole clusters, and paths of such merges."""

from __future__ import annotations

import numpy as np
from numba import njit

from privacyfunnel._kernels.eta import eta, eta_of


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
def _partner(clusters, alive, table, price, keep, slack, row, nonzeros):
    """The cheapest cluster older than ``row`` to merge it with, and the price; ∞ where none is allowed.

    ``clusters`` are sums, masses and the η of both. ``nonzeros`` is room for a list.
    """
    sums, masses, etas, etas_f = clusters
    n_nonzeros = 0
    for s in range(sums.shape[1]):
        if sums[row, s] > 0.0:
            nonzeros[n_nonzeros] = s
            n_nonzeros += 1
    cheapest, partner = np.inf, -1
    for other in range(row):
        if not alive[other]:
            continue
        g = 0.0
        for k in range(n_nonzeros):
            s = nonzeros[k]
            if sums[other, s] > 0.0:
                g += etas[other, s] + etas[row, s] - eta_of(sums[other, s] + sums[row, s], table)
        f = etas_f[other] + etas_f[row] - eta_of(masses[other] + masses[row], table)
        change = price[0] * f + price[1] * g
        if change < cheapest and keep[0] * f + keep[1] * g <= slack:
            cheapest, partner = change, other
    return cheapest, partner


@njit(cache=True)
def _with_etas(sums, masses, table, n):
    """Clusters as `_partner` wants them: sums, masses, and the η of both for the first n."""
    etas, etas_f = np.empty(sums.shape), np.empty(masses.size)
    for i in range(n):
        etas_f[i] = eta_of(masses[i], table)
        for s in range(sums.shape[1]):
            etas[i, s] = eta_of(sums[i, s], table)
    return sums, masses, etas, etas_f


@njit(cache=True)
def best_pair(sums, masses, weight_f, weight_g):
    """The pair whose merge changes the objective most: (change, i, j) of weight_f f + weight_g g."""
    n, table = masses.size, np.zeros(0)
    clusters, alive = _with_etas(sums, masses, table, n), np.ones(n, dtype=np.bool_)
    price, keep = (weight_f, weight_g), (0.0, 0.0)
    nonzeros = np.empty(sums.shape[1], dtype=np.int64)
    best, best_i, best_j = np.inf, -1, -1
    for j in range(1, n):
        change, i = _partner(clusters, alive, table, price, keep, np.inf, j, nonzeros)
        if change < best:
            best, best_i, best_j = change, i, j
    return best, best_i, best_j


@njit(cache=True)
def merge_path(sums, masses, table, price, keep, slack, n_symbols, stop_change):
    """Merge the cheapest pair again and again; each cluster knows its cheapest partner.

    ``sums`` and ``masses`` have room for the 2n − 1 clusters of a full path; merge k makes cluster
    n + k. ``price`` and ``keep`` are the weights of (f, g) in a pair's price and in what it takes
    from ``slack``; a pair that takes more than is left is never allowed again, since the slack only
    shrinks. Stops at ``n_symbols`` or when the cheapest pair costs ``stop_change`` or more.
    Returns the merges, their (f, g), and the slack that is left.

    A pair's price depends on its two clusters alone, and a pair is known to the younger of the two. So
    a merge prices the pairs of the new cluster, and what other clusters know remains right, or, where
    their partner is gone or not allowed any more, too low: they look again when their turn comes.
    """
    n = (masses.size + 1) // 2
    alive = np.zeros(masses.size, dtype=np.bool_)
    alive[:n] = True
    clusters, nonzeros = _with_etas(sums, masses, table, n), np.empty(sums.shape[1], dtype=np.int64)
    etas, etas_f = clusters[2], clusters[3]
    prices, partners = np.full(masses.size, np.inf), np.full(masses.size, -1)
    for row in range(1, n):
        prices[row], partners[row] = _partner(
            clusters, alive, table, price, keep, slack, row, nonzeros
        )
    rows, n_rows = np.arange(n), n  # the clusters that are alive, in the order of their age
    merges, drops = np.empty((n - 1, 2), dtype=np.int64), np.empty((n - 1, 2))
    n_merges = 0
    while n - n_merges > n_symbols:
        j = rows[0]
        for k in range(1, n_rows):  # of equal prices the oldest pair
            row = rows[k]
            if prices[row] < prices[j] or (
                prices[row] == prices[j] and partners[row] < partners[j]
            ):
                j = row
        i = partners[j]
        if prices[j] == np.inf or prices[j] >= stop_change:
            break
        f, g = _pair_drop(sums, masses, i, j)
        cost = keep[0] * f + keep[1] * g
        if not alive[i] or cost > slack:
            prices[j], partners[j] = _partner(
                clusters, alive, table, price, keep, slack, j, nonzeros
            )
            continue
        slack -= cost
        new = n + n_merges
        alive[i] = alive[j] = False
        for s in range(sums.shape[1]):
            sums[new, s] = sums[i, s] + sums[j, s]
            etas[new, s] = eta_of(sums[new, s], table)
        masses[new] = masses[i] + masses[j]
        etas_f[new] = eta_of(masses[new], table)
        prices[new], partners[new] = _partner(
            clusters, alive, table, price, keep, slack, new, nonzeros
        )
        alive[new] = True
        kept = 0
        for k in range(n_rows):
            if alive[rows[k]]:
                rows[kept] = rows[k]
                kept += 1
        rows[kept] = new
        n_rows = kept + 1
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
