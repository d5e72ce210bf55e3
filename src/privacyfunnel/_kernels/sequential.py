"""The sequential bottleneck: as many clusters as asked for, of most I(S;X̂), by moves and new clusters.

I(S;X̂) is (G − F)/N up to a constant, with G and F as in `_kernels.moves`; here the η of every sum is
kept beside it, so that a move is priced with one η for each nonzero and cluster.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from privacyfunnel._kernels.clusters import put
from privacyfunnel._kernels.eta import eta_of
from privacyfunnel._kernels.moves import cheapest, masses_of

MOST_SWEEPS = 100  # of one descent, which as a rule ends after ten
FEW_SWEEPS = 4  # after a new cluster, before it is given up unless a sweep's gains are promising


@njit(cache=True, nogil=True)
def _fill(columns, weights, labels, table, sums, etas, masses, etas_f, sizes):
    """Sums of all clusters and their η; returns G − F."""
    sums[:], masses[:], sizes[:] = 0.0, 0.0, 0
    for x in range(labels.size):
        put(columns, x, weights[x], labels[x], sums, masses, sizes)
    total = 0.0
    for c in range(masses.size):
        etas_f[c] = eta_of(masses[c], table)
        total -= etas_f[c]
        for s in range(columns[3]):
            etas[s, c] = eta_of(sums[s, c], table)
            total += etas[s, c]
    return total


@njit(cache=True, nogil=True)
def _put(columns, x, mass, c, table, sums, etas, masses, etas_f):
    """Add symbol x to cluster c; a negative ``mass`` takes it out."""
    indptr, indices, data, _ = columns
    sign = 1.0 if mass > 0.0 else -1.0
    masses[c] += mass
    etas_f[c] = eta_of(masses[c], table)
    for cell in range(indptr[x], indptr[x + 1]):
        s = indices[cell]
        sums[s, c] += sign * data[cell]
        etas[s, c] = eta_of(sums[s, c], table)


@njit(cache=True, nogil=True)
def _sweep(
    columns, weights, labels, table, sums, etas, masses, etas_f, sizes, order, cost, tol, rng
):
    """Every symbol in random order to the cluster that loses least; returns what is gained.

    No cluster is emptied.
    """
    indptr, indices, data, _ = columns
    gained = 0.0
    for i in range(order.size - 1, 0, -1):
        j = int(rng.random() * (i + 1))
        order[i], order[j] = order[j], order[i]
    for x in order:
        home, mass = labels[x], weights[x]
        if sizes[home] == 1:
            continue
        _put(columns, x, -mass, home, table, sums, etas, masses, etas_f)
        for c in range(masses.size):
            cost[c] = eta_of(masses[c] + mass, table) - etas_f[c]
        for cell in range(indptr[x], indptr[x + 1]):
            s, weight = indices[cell], data[cell]
            for c in range(masses.size):
                cost[c] -= eta_of(sums[s, c] + weight, table) - etas[s, c]
        goal = cheapest(cost, masses.size, home, tol)
        if goal != home:
            gained += cost[home] - cost[goal]
            labels[x] = goal
            sizes[home] -= 1
            sizes[goal] += 1
        _put(columns, x, mass, goal, table, sums, etas, masses, etas_f)
    return gained


@njit(cache=True, nogil=True)
def most_relevant_of(columns, table, starts, n_clusters, n_swaps, tol, rng):
    """The labels found of most I(S;X̂) in ``n_clusters`` clusters, none of them empty.

    Each row of ``starts`` is swept until no symbol moves. Then ``n_swaps`` times a cluster of the best
    labels joins another, a random symbol becomes a cluster in its place, and symbols are swept again,
    as long as that may become better than the best.
    """
    n, k = starts.shape[1], n_clusters
    weights = masses_of(columns)
    sums, etas = np.zeros((columns[3], k)), np.zeros((columns[3], k))
    masses, etas_f, cost = np.zeros(k), np.zeros(k), np.zeros(k)
    sizes, order = np.zeros(k, dtype=np.int64), np.arange(n)
    labels, best, highest = np.zeros(n, dtype=np.int64), starts[0].copy(), -np.inf
    for run in range(starts.shape[0] + n_swaps):
        if run < starts.shape[0]:
            for x in range(n):
                labels[x] = starts[run, x]
        else:
            gone, other, seed = int(rng.random() * k), int(rng.random() * k), int(rng.random() * n)
            if gone == other or best[seed] == gone:
                continue
            for x in range(n):
                labels[x] = other if best[x] == gone else best[x]
            labels[seed] = gone
        value = _fill(columns, weights, labels, table, sums, etas, masses, etas_f, sizes)
        if sizes.min() == 0:  # the symbol was a cluster already
            continue
        for sweep in range(MOST_SWEEPS):
            gained = _sweep(
                columns, weights, labels, table, sums, etas, masses, etas_f, sizes, order, cost,
                tol, rng,
            )  # fmt: skip
            value += gained
            hopeless = run >= starts.shape[0] and sweep >= FEW_SWEEPS and value + gained < highest
            if gained == 0.0 or hopeless:
                break
            if table.size == 0:  # sums of fractions drift
                value = _fill(columns, weights, labels, table, sums, etas, masses, etas_f, sizes)
        if value > highest + tol:
            highest = value
            for x in range(n):
                best[x] = labels[x]
    return best
