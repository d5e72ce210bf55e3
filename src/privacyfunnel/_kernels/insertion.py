"""Insertion: symbols put one by one where they cost least, a code in one pass over a large alphabet."""

from __future__ import annotations

import numpy as np
from numba import njit

from privacyfunnel._kernels.clusters import put
from privacyfunnel._kernels.eta import eta_of


@njit(cache=True, nogil=True)
def insert_in_order(columns, weights, order, table, price, most, labels):
    """Put each symbol of ``order`` into the cluster where it raises ``price · (G, F)`` least.

    A cluster of its own is one of the places, while there are fewer than ``most``. Writes the
    ``labels`` and returns the number of clusters.
    """
    indptr, indices, data, n_rows = columns
    sums, masses = np.zeros((n_rows, most + 1)), np.zeros(most + 1)
    sizes, rise, n_clusters = np.zeros(most + 1, dtype=np.int64), np.empty(most + 1), 0
    for x in order:
        n_slots = min(n_clusters + 1, most)
        for c in range(n_slots):
            after = eta_of(masses[c] + weights[x], table)
            rise[c] = price[1] * (after - eta_of(masses[c], table))
        for cell in range(indptr[x], indptr[x + 1]):
            row, weight = sums[indices[cell]], data[cell]
            for c in range(n_slots):
                rise[c] += price[0] * (eta_of(row[c] + weight, table) - eta_of(row[c], table))
        goal = 0
        for c in range(1, n_slots):
            if rise[c] < rise[goal]:
                goal = c
        labels[x] = goal
        n_clusters = max(n_clusters, goal + 1)
        put(columns, x, weights[x], goal, sums, masses, sizes)
    return n_clusters
