"""The best intervals of an ordered alphabet for a binary S, by dynamic programming.

``sums[j, s]`` is the weight of the first j symbols in the order of p(s given x), so that the interval
[i, j) has the summed vector ``sums[j] − sums[i]``. It costs w(i,j) = U(i,j) − λ η(m), with m its mass
and U(i,j) = η(m) − Σ_s η(q_s) = m H(S given the interval).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from privacyfunnel._kernels.eta import eta

LOG2_E = 1.0 / np.log(2.0)


@njit(cache=True)
def _cost(sums, i, j, lam):
    """w(i,j) = U(i,j) − λ η(m); at λ = 0 it is U(i,j)."""
    one, other = sums[j, 0] - sums[i, 0], sums[j, 1] - sums[i, 1]
    return (1.0 - lam) * eta(one + other) - eta(one) - eta(other)


@njit(cache=True)
def _scan(sums, lam, best, i, end, j, found):
    """The cheaper of ``found`` (cost, cut) and the last cuts i, ..., end − 1 before j."""
    cost, cut = found
    while i < end:
        value = best[i] + _cost(sums, i, j, lam)
        if value < cost:
            cost, cut = value, i
        i += 1
    return cost, cut


@njit(cache=True)
def best_intervals(sums, lam, block):
    """The starts of the last interval of the best partition of each prefix, for one λ.

    U satisfies the quadrangle inequality and −λ η(m) the opposite one, so that the best cuts need not
    be monotone; but for all cuts i in [a, b] and ends j ≤ d,

        U(i,j) ≥ U(i,d) + U(a,j) − U(a,d)        and, η being convex with m(i,j) ≥ m(b,j),
        −λ η(m(i,j)) ≥ −λ η(m(i,d)) + λ (m(i,d) − m(i,j)) η'(m(b,j)),

    which bounds a whole block of cuts from its best at d. Blocks that cannot win are skipped: about
    n^1.5 prices instead of n²/2.
    """
    n = sums.shape[0] - 1
    masses = sums[:, 0] + sums[:, 1]
    best, cuts = np.zeros(n + 1), np.zeros(n + 1, dtype=np.int64)
    at_last, bounds = np.empty(n // block + 1), np.empty(n // block + 1)
    for first in range(0, n, block):
        last, n_blocks = min(first + block, n), first // block
        for t in range(n_blocks):
            a = t * block
            found = _scan(sums, lam, best, a, a + block, last, (np.inf, 0))
            at_last[t] = found[0] - _cost(sums, a, last, 0.0)
        for j in range(first + 1, last + 1):
            found = _scan(sums, lam, best, first, j, j, (np.inf, 0))
            nearest, lowest = -1, found[0]
            for t in range(n_blocks):
                a, left = t * block, masses[j] - masses[(t + 1) * block - 1]
                slope = lam * (math.log2(left) + LOG2_E) if left > 0.0 else -np.inf
                slack = (masses[last] - masses[j]) * slope if j < last else 0.0
                bounds[t] = at_last[t] + _cost(sums, a, j, 0.0) + slack
                if bounds[t] < lowest:
                    nearest, lowest = t, bounds[t]
            if nearest >= 0:
                a = nearest * block
                found = _scan(sums, lam, best, a, a + block, j, found)
                for t in range(n_blocks):
                    if bounds[t] < found[0] and t != nearest:
                        a = t * block
                        found = _scan(sums, lam, best, a, a + block, j, found)
            best[j], cuts[j] = found
    return cuts


@njit(cache=True)
def best_of_size(sums, n_intervals):
    """The starts ``[k, j]`` of the last of k + 1 intervals of the first j symbols, at λ = 0.

    By the quadrangle inequality the best start rises with j: the middle column first, then both halves
    within what it leaves, n log n prices for each number of intervals.
    """
    n = sums.shape[0] - 1
    cuts = np.zeros((n_intervals, n + 1), dtype=np.int32)
    best, following = np.empty(n + 1), np.empty(n + 1)
    best[0] = np.inf
    for j in range(1, n + 1):
        best[j] = _cost(sums, 0, j, 0.0)
    stack = np.empty((128, 4), dtype=np.int64)
    for k in range(1, n_intervals):
        following[: k + 1] = np.inf
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = k + 1, n, k, n - 1
        depth = 1
        while depth > 0:
            depth -= 1
            low, high, least, most = stack[depth]
            if low > high:
                continue
            j = (low + high) // 2
            cost, cut = _scan(sums, 0.0, best, least, min(j, most + 1), j, (np.inf, least))
            following[j], cuts[k, j] = cost, cut
            stack[depth, 0], stack[depth, 1] = low, j - 1
            stack[depth, 2], stack[depth, 3] = least, cut
            stack[depth + 1, 0], stack[depth + 1, 1] = j + 1, high
            stack[depth + 1, 2], stack[depth + 1, 3] = cut, most
            depth += 2
        best, following = following, best
    return cuts
