"""Merging on candidate lists: for alphabets whose pairs are too many to be priced."""

from __future__ import annotations

import heapq

import numpy as np
from numba import njit

from privacyfunnel._kernels.eta import eta


@njit(cache=True)
def _root(parents, c):
    """The cluster that c has become part of."""
    while parents[c] != c:
        parents[c] = parents[parents[c]]
        c = parents[c]
    return c


@njit(cache=True)
def _sparse_drop(lists, a, b):
    """(f, g) of merging clusters a and b, from their sorted lists of rows.

    ``lists`` are the rows and weights of all, where each one's start, their sizes and their masses.
    """
    rows, weights, starts, sizes, masses = lists
    g, i, j = 0.0, starts[a], starts[b]
    end_i, end_j = i + sizes[a], j + sizes[b]
    while i < end_i and j < end_j:
        if rows[i] == rows[j]:
            u, v = weights[i], weights[j]
            g += eta(u) + eta(v) - eta(u + v)
            i += 1
            j += 1
        elif rows[i] < rows[j]:
            i += 1
        else:
            j += 1
    u, v = masses[a], masses[b]
    return eta(u) + eta(v) - eta(u + v), g


@njit(cache=True)
def _join_lists(lists, a, b, end):
    """Write the sum of two lists at ``end``, make it a's, and give back the new end."""
    rows, weights, starts, sizes, _ = lists
    i, j = starts[a], starts[b]
    end_i, end_j, first = i + sizes[a], j + sizes[b], end
    while i < end_i or j < end_j:
        if j == end_j or (i < end_i and rows[i] < rows[j]):
            rows[end], weights[end] = rows[i], weights[i]
            i += 1
        elif i == end_i or rows[j] < rows[i]:
            rows[end], weights[end] = rows[j], weights[j]
            j += 1
        else:
            rows[end], weights[end] = rows[i], weights[i] + weights[j]
            i += 1
            j += 1
        end += 1
    starts[a], sizes[a] = first, end - first
    return end


@njit(cache=True)
def _compact(lists, parents):
    """Move the lists of living clusters to the front; they never hold more than the nonzeros."""
    rows, weights, starts, sizes, _ = lists
    alive = np.flatnonzero(parents == np.arange(parents.size))
    order, end = alive[np.argsort(starts[alive])], 0
    for c in order:
        for k in range(sizes[c]):
            rows[end + k], weights[end + k] = rows[starts[c] + k], weights[starts[c] + k]
        starts[c] = end
        end += sizes[c]
    return end


@njit(cache=True)
def merge_path_on_lists(columns, masses, near, price, keep, slack, n_symbols, stop_change):
    """Merge the cheapest pair of those on the lists ``near[cluster, :]``, as `merge_path` does of all.

    A merged cluster inherits the cheapest entries of both lists. Returns the merges, numbered as by
    `merge_path`, their (f, g), and the slack that is left.
    """
    n = masses.size
    room = 2 * columns[1].size + columns[3]
    rows, weights = np.empty(room, dtype=np.int64), np.empty(room)
    end = columns[1].size
    rows[:end], weights[:end] = columns[1], columns[2]
    starts, sizes = columns[0][:-1].copy(), np.diff(columns[0])
    masses, near = masses.copy(), near.copy()
    lists = rows, weights, starts, sizes, masses
    parents, names, versions = np.arange(n), np.arange(n), np.zeros(n, dtype=np.int64)
    merges, drops = np.empty((n - 1, 2), dtype=np.int64), np.empty((n - 1, 2))
    costs, found = np.empty(2 * near.shape[1]), np.empty(2 * near.shape[1], dtype=np.int64)
    heap = [(0.0, 0, 0, 0, 0) for _ in range(0)]
    for a in range(n):
        _offer(lists, parents, near, a, near[a][:0], price, costs, found, versions, heap)
    heapq.heapify(heap)
    n_merges = 0
    while len(heap) > 0 and n - n_merges > n_symbols:
        change, a, b, version_a, version_b = heapq.heappop(heap)
        if parents[a] != a or versions[a] != version_a:
            continue
        if parents[b] != b or versions[b] != version_b:
            _offer(lists, parents, near, a, near[a][:0], price, costs, found, versions, heap)
            continue
        if change >= stop_change:
            break
        f, g = _sparse_drop(lists, a, b)
        if keep[0] * f + keep[1] * g > slack:
            continue
        slack -= keep[0] * f + keep[1] * g
        merges[n_merges, 0], merges[n_merges, 1] = names[a], names[b]
        drops[n_merges, 0], drops[n_merges, 1] = f, g
        if end + sizes[a] + sizes[b] > room:
            end = _compact(lists, parents)
        end = _join_lists(lists, a, b, end)
        masses[a] += masses[b]
        parents[b], names[a] = a, n + n_merges
        versions[a] += 1
        n_merges += 1
        _offer(lists, parents, near, a, near[b], price, costs, found, versions, heap)
    return merges[:n_merges], drops[:n_merges], slack


@njit(cache=True)
def _offer(lists, parents, near, a, more, price, costs, found, versions, heap):
    """Price what is left on a's list and one more, keep the cheapest and push the very cheapest."""
    n = 0
    for source in (near[a], more):
        for entry in source:
            b = _root(parents, entry)
            known = b == a
            for k in range(n):
                known = known or found[k] == b
            if not known:
                f, g = _sparse_drop(lists, a, b)
                found[n], costs[n] = b, price[0] * f + price[1] * g
                n += 1
    order = np.argsort(costs[:n])
    for k in range(near.shape[1]):
        near[a, k] = found[order[k]] if k < n else a
    if n > 0:
        b = found[order[0]]
        heapq.heappush(heap, (costs[order[0]], a, b, versions[a], versions[b]))
