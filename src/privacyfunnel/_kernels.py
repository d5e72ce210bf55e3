"""Compiled loops: contiguous arrays in, arrays or scalars out.

Weights come as the three arrays of a CSC matrix ``[row, symbol]``: ``indptr``, ``indices``, ``data``.
Each loop has a slow, obvious twin in ``tests/reference.py``.
"""

from __future__ import annotations

import heapq
import math

import numpy as np
from numba import njit


@njit(cache=True, inline="always")
def _eta(t):
    """η(t) = t log₂ t; rounding may leave a sum a hair below zero."""
    return t * math.log2(t) if t > 0.0 else 0.0


@njit(cache=True)
def chain_gains(indptr, indices, data, n_rows, order):
    """Gain of each symbol when the symbols are added in ``order``.

    The set function is F(W) = Σ_rows [Σ_{i∈W} η(w_i) − η(w_W)]; result[k] belongs to order[k].
    """
    sums = np.zeros(n_rows)
    gains = np.zeros(order.size)
    for k in range(order.size):
        x = order[k]
        gain = 0.0
        for cell in range(indptr[x], indptr[x + 1]):
            row, weight = indices[cell], data[cell]
            gain += _eta(weight) + _eta(sums[row]) - _eta(sums[row] + weight)
            sums[row] += weight
        gains[k] = gain
    return gains


@njit(cache=True)
def set_gains(indptr, indices, data, n_rows, mask):
    """F(W ∪ x) − F(W \\ x) of every symbol x, for the set W of ``mask`` and F of `chain_gains`."""
    n = indptr.size - 1
    sums = np.zeros(n_rows)
    for x in range(n):
        if mask[x]:
            for cell in range(indptr[x], indptr[x + 1]):
                sums[indices[cell]] += data[cell]
    gains = np.zeros(n)
    for x in range(n):
        for cell in range(indptr[x], indptr[x + 1]):
            row, weight = indices[cell], data[cell]
            without = sums[row] - weight if mask[x] else sums[row]
            gains[x] += _eta(weight) + _eta(without) - _eta(without + weight)
    return gains


@njit(cache=True, inline="always")
def _pair_drop(sums, masses, i, j):
    """(f, g) of merging clusters i and j, from their summed vectors ``sums[cluster, s]``."""
    g = 0.0
    for s in range(sums.shape[1]):
        a, b = sums[i, s], sums[j, s]
        if a > 0.0 and b > 0.0:
            g += _eta(a) + _eta(b) - _eta(a + b)
    a, b = masses[i], masses[j]
    return _eta(a) + _eta(b) - _eta(a + b), g


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
    merges = np.empty((n - 1, 2), dtype=np.int32)
    n_merges = 0
    while len(heap) > 0 and n - n_merges > n_symbols:
        change, i, j = heapq.heappop(heap)
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
                f, g = _pair_drop(sums, masses, other, new)
                value = price[0] * f + price[1] * g
                heapq.heappush(heap, (value, np.int32(other), np.int32(new)))
        alive[new] = True
        merges[n_merges, 0], merges[n_merges, 1] = i, j
        n_merges += 1
    return merges[:n_merges]


@njit(cache=True)
def best_partition(cluster_cost, n):
    """The partition of n elements with the least Σ cost(cluster), by dynamic programming.

    ``cluster_cost[mask]`` prices the cluster whose members are the bits of ``mask``. The cluster
    that holds the lowest remaining element is any of its subsets: 3ⁿ/2 steps in all.
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
            value = cluster_cost[cluster] + best[mask ^ cluster]
            if value < best[mask]:
                best[mask], choice[mask] = value, cluster
            if subset == 0:
                break
            subset = (subset - 1) & rest
    labels = np.zeros(n, dtype=np.int64)
    mask, label = size - 1, 0
    while mask:
        for i in range(n):
            if choice[mask] >> i & 1:
                labels[i] = label
        mask ^= choice[mask]
        label += 1
    return labels


@njit(cache=True, inline="always")
def _eta_of(t, table):
    """η(t), read from a table of η(0), η(1), ... where the weights are whole."""
    if table.size > 0:
        return table[int(t)]
    return t * math.log2(t) if t > 0.0 else 0.0


@njit(cache=True)
def _shift(indptr, indices, data, sums, masses, x, slot, sign):
    """Add symbol x to a cluster (sign 1) or take it out (sign −1)."""
    for cell in range(indptr[x], indptr[x + 1]):
        sums[indices[cell], slot] += sign * data[cell]
        masses[slot] += sign * data[cell]


@njit(cache=True)
def anneal(
    indptr,
    indices,
    data,
    n_rows,
    labels,
    table,
    weights,
    bound,
    temperatures,
    penalties,
    least,
    fixed,
    rng,
):
    """Move single symbols between clusters; heat bath at each temperature, descent at zero."""
    n = labels.size
    price_g, price_f, limit_g, limit_f = weights
    sums = np.zeros((n_rows, n + 1))
    masses = np.zeros(n + 1)
    n_clusters = 0
    mass_x = np.zeros(n)
    for x in range(n):
        _shift(indptr, indices, data, sums, masses, x, labels[x], 1.0)
        n_clusters = max(n_clusters, labels[x] + 1)
        for cell in range(indptr[x], indptr[x + 1]):
            mass_x[x] += data[cell]
    eta_g = 0.0
    eta_f = 0.0
    for c in range(n_clusters):
        eta_f += _eta_of(masses[c], table)
        for s in range(n_rows):
            eta_g += _eta_of(sums[s, c], table)
    change_g = np.zeros(n + 1)
    change_f = np.zeros(n + 1)
    cost = np.zeros(n + 1)
    best_labels = labels.copy()
    best_value = np.inf
    if limit_g * eta_g + limit_f * eta_f <= bound:
        best_value = price_g * eta_g + price_f * eta_f
    for sweep in range(temperatures.size):
        temperature = temperatures[sweep]
        penalty = penalties[sweep]
        for _ in range(n):
            x = int(rng.random() * n)
            home = labels[x]
            w = mass_x[x]
            # take x out
            out_g = 0.0
            for cell in range(indptr[x], indptr[x + 1]):
                s = indices[cell]
                out_g += _eta_of(sums[s, home] - data[cell], table) - _eta_of(sums[s, home], table)
            out_f = _eta_of(masses[home] - w, table) - _eta_of(masses[home], table)
            alone = masses[home] - w <= 0.0
            if fixed and alone:
                continue
            last = n_clusters if alone or fixed else n_clusters + 1
            if least > 0.0 and (not alone) and masses[home] - w < least:
                continue
            if least > w and not alone:
                last = n_clusters
            for c in range(last):
                change_f[c] = out_f + _eta_of(masses[c] + w, table) - _eta_of(masses[c], table)
                change_g[c] = out_g
            for cell in range(indptr[x], indptr[x + 1]):
                s = indices[cell]
                for c in range(last):
                    change_g[c] += _eta_of(sums[s, c] + data[cell], table) - _eta_of(
                        sums[s, c], table
                    )
            change_g[home] = 0.0
            change_f[home] = 0.0
            now = max(0.0, limit_g * eta_g + limit_f * eta_f - bound)
            lowest = np.inf
            best = home
            for c in range(last):
                after = limit_g * (eta_g + change_g[c]) + limit_f * (eta_f + change_f[c]) - bound
                cost[c] = (
                    price_g * change_g[c]
                    + price_f * change_f[c]
                    + penalty * (max(0.0, after) - now)
                )
                if cost[c] < lowest:
                    lowest = cost[c]
                    best = c
            if temperature > 0.0:
                weight = 0.0
                for c in range(last):
                    cost[c] = math.exp((lowest - cost[c]) / temperature)
                    weight += cost[c]
                draw = rng.random() * weight
                best = home
                for c in range(last):
                    draw -= cost[c]
                    if draw <= 0.0:
                        best = c
                        break
            elif cost[home] <= lowest + 1e-12:
                best = home
            if best == home:
                continue
            _shift(indptr, indices, data, sums, masses, x, home, -1.0)
            _shift(indptr, indices, data, sums, masses, x, best, 1.0)
            labels[x] = best
            eta_g += change_g[best]
            eta_f += change_f[best]
            if best == n_clusters:
                n_clusters += 1
            if alone:
                n_clusters -= 1
                masses[home] = masses[n_clusters]
                masses[n_clusters] = 0.0
                for s in range(n_rows):
                    sums[s, home] = sums[s, n_clusters]
                    sums[s, n_clusters] = 0.0
                for y in range(n):
                    if labels[y] == n_clusters:
                        labels[y] = home
            value = price_g * eta_g + price_f * eta_f
            if value < best_value - 1e-9 and limit_g * eta_g + limit_f * eta_f <= bound:
                best_value = value
                best_labels[:] = labels
    return best_labels, best_value
