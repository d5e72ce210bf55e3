"""Compiled loops for the soft bottleneck: the self-consistent equations and the search for splits.

``profile`` is p(s given x) as in `_kernels.soft`. Logs are natural.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from privacyfunnel._kernels.soft import GONE, LOG_TINY, TINY, gather, logs_of

NEGLIGIBLE = 1e-15  # a p(s given x) lost in rounding: it forbids nothing


@njit(cache=True)
def _touched(profile, centroid, log_centroid, where, count, powers):
    """Of the first ``count`` x in ``where`` those whose every s the centroid allows, moved to the front.

    Returns how many, with Σ_s p(s given x) log centroid(s) of each in ``powers``. What a centroid
    forbids it forbids for good, so that the list of one step is the place to look in the next.
    """
    indptr, indices, data, _ = profile
    logs_of(centroid, log_centroid)
    kept = 0
    for i in range(count):
        x = where[i]
        pull = 0.0
        for cell in range(indptr[x], indptr[x + 1]):
            s = indices[cell]
            if log_centroid[s] == LOG_TINY and data[cell] > NEGLIGIBLE:
                pull = -np.inf
                break
            pull += data[cell] * log_centroid[s]
        if pull > -np.inf:
            where[kept], powers[kept] = x, pull
            kept += 1
    return kept


@njit(cache=True)
def _responsibilities(profile, masses, centroids, beta, where, weights, counts, log_z):
    """p(x̂ given x) ∝ p(x̂) exp(β Σ_s p(s given x) log p(s given x̂)), as lists of the x of each x̂.

    Fills ``log_z[x]`` with the logarithms of the sums that normalise them.
    """
    n = log_z.size
    top, total = np.full(n, -np.inf), np.zeros(n)
    log_centroid = np.empty(centroids.shape[1])
    for y in range(masses.size):
        counts[y] = _touched(profile, centroids[y], log_centroid, where[y], counts[y], weights[y])
        log_mass = math.log(max(masses[y], TINY))
        for i in range(counts[y]):
            weights[y, i] = log_mass + beta * weights[y, i]
            top[where[y, i]] = max(top[where[y, i]], weights[y, i])
    for y in range(masses.size):
        for i in range(counts[y]):
            power = weights[y, i] - top[where[y, i]]
            weights[y, i] = math.exp(power) if power > GONE else 0.0
            total[where[y, i]] += weights[y, i]
    for x in range(n):  # no centroid may be left for an x too rare to matter
        log_z[x] = top[x] + math.log(total[x]) if total[x] > 0.0 else 0.0
    for y in range(masses.size):
        for i in range(counts[y]):
            weights[y, i] /= total[where[y, i]]


@njit(cache=True)
def self_consistent(profile, p, masses, centroids, beta, max_iter, tol):
    """The self-consistent equations of the bottleneck, iterated (Tishby, Pereira & Bialek 2000).

    ``masses`` = p(x̂) and ``centroids[xhat, s]`` = p(s given x̂) are updated in place. Returns
    p(x̂ given x) ``[xhat, x]``, log z of each x, and whether a step gained less than ``tol`` nats
    of the free energy −Σ_x p(x) log z(x), which never rises.
    """
    k, n = masses.size, p.size
    where, weights = np.empty((k, n), dtype=np.int64), np.zeros((k, n))
    for y in range(k):
        for x in range(n):
            where[y, x] = x
    counts, log_z, row = np.full(k, n), np.zeros(n), np.zeros(n)
    energy, converged = np.inf, False
    for _ in range(max_iter):
        _responsibilities(profile, masses, centroids, beta, where, weights, counts, log_z)
        new = 0.0
        for x in range(n):
            new -= p[x] * log_z[x]
        converged = energy - new < tol
        energy = new
        for y in range(k):
            for i in range(counts[y]):
                row[i] = weights[y, i] * p[where[y, i]]
            masses[y] = gather(profile, where[y], row, counts[y], centroids[y])
            centroids[y] /= max(masses[y], TINY)
        if converged:
            break
    channel = np.zeros((k, n))
    for y in range(k):
        for i in range(counts[y]):
            channel[y, where[y, i]] = weights[y, i]
    return channel, log_z, converged


@njit(cache=True)
def climb(profile, log_weights, centroids, beta, max_iter, tol):
    """Mean shift of each centroid r towards higher Σ_x exp(log_weights[x] + β Σ_s p(s given x) log r(s)).

    ``centroids[start, s]`` are moved in place, until a step gains less than a share ``tol``; returns
    the sums they reach.
    """
    n, n_s = log_weights.size, centroids.shape[1]
    values, log_centroid = np.zeros(len(centroids)), np.empty(n_s)
    where, row = np.zeros(n, dtype=np.int64), np.zeros(n)
    for start in range(len(centroids)):
        for x in range(n):
            where[x] = x
        count = n
        for _ in range(max_iter):
            count = _touched(profile, centroids[start], log_centroid, where, count, row)
            for i in range(count):
                row[i] = math.exp(log_weights[where[i]] + beta * row[i])
            value = gather(profile, where, row, count, centroids[start])
            if value <= 0.0:
                break
            centroids[start] /= value
            gain, values[start] = value - values[start], value
            if gain < tol * value:
                break
    return values


@njit(cache=True)
def first_alike(rows, tol):
    """For each row the position of the first one at most ``tol`` (Euclidean) away from it."""
    first = np.arange(len(rows))
    for i in range(len(rows)):
        for j in range(i):
            apart = 0.0
            for k in range(rows.shape[1]):
                apart += (rows[i, k] - rows[j, k]) ** 2
                if apart > tol * tol:  # as a rule after a few coordinates
                    break
            if apart <= tol * tol:
                first[i] = j
                break
    return first
