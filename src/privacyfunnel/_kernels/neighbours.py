"""All neighbours of a code: every single move and every merge of two clusters, priced."""

from __future__ import annotations

import numpy as np
from numba import njit

from privacyfunnel._kernels.clusters import put
from privacyfunnel._kernels.eta import eta_of
from privacyfunnel._kernels.moves import masses_of


@njit(cache=True, nogil=True)
def neighbours(columns, labels, n_clusters, table, least):
    """(x, cluster, G, F) of each move of x, also to a cluster of its own, and (a, b, G, F) of each merge.

    Moves first; a merge is told by ``-1 − a`` in place of x. Neighbours with a cluster lighter than
    ``least`` are left out.
    """
    indptr, indices, data, n_rows = columns
    n = labels.size
    sums, masses = np.zeros((n_rows, n_clusters + 1)), np.zeros(n_clusters + 1)
    sizes, weights = np.zeros(n_clusters + 1, dtype=np.int64), masses_of(columns)
    for x in range(n):
        put(columns, x, weights[x], labels[x], sums, masses, sizes)
    held = np.zeros((n_rows, n_clusters + 1))
    total_g, total_f = 0.0, 0.0
    for c in range(n_clusters):
        total_f += eta_of(masses[c], table)
        for s in range(n_rows):
            held[s, c] = eta_of(sums[s, c], table)
            total_g += held[s, c]
    most = n * n_clusters + n_clusters * (n_clusters - 1) // 2
    places, values = np.empty((most, 2), dtype=np.int64), np.empty((most, 2))
    k = 0
    for x in range(n):
        home, mass = labels[x], weights[x]
        if sizes[home] > 1 and masses[home] - mass < least:
            continue
        away_g = 0.0
        for cell in range(indptr[x], indptr[x + 1]):
            s = indices[cell]
            away_g += eta_of(sums[s, home] - data[cell], table) - held[s, home]
        away_f = eta_of(masses[home] - mass, table) - eta_of(masses[home], table)
        for c in range(n_clusters + 1):
            alone = c == n_clusters and (sizes[home] == 1 or mass < least)
            if c == home or alone:
                continue
            g = total_g + away_g
            for cell in range(indptr[x], indptr[x + 1]):
                s = indices[cell]
                g += eta_of(sums[s, c] + data[cell], table) - held[s, c]
            f = total_f + away_f + eta_of(masses[c] + mass, table) - eta_of(masses[c], table)
            places[k, 0], places[k, 1], values[k, 0], values[k, 1] = x, c, g, f
            k += 1
    for a in range(n_clusters):
        for b in range(a + 1, n_clusters):
            g = total_g
            for s in range(n_rows):
                g += eta_of(sums[s, a] + sums[s, b], table) - held[s, a] - held[s, b]
            f = total_f + eta_of(masses[a] + masses[b], table)
            f -= eta_of(masses[a], table) + eta_of(masses[b], table)
            places[k, 0], places[k, 1], values[k, 0], values[k, 1] = -1 - a, b, g, f
            k += 1
    return places[:k], values[:k]
