"""Which columns are alike: a random tree for nearness, keys for equality."""

from __future__ import annotations

import numpy as np
from numba import njit

TRIES = 10  # to find two columns that differ
DIGITS = 1e12  # p(s given x) that agree to so many parts are equal


@njit(cache=True, inline="always")
def _mixed(value):
    """A whole number with its bits mixed (the finaliser of Steele, Lea & Flood's SplitMix, 2014)."""
    value ^= value >> np.uint64(30)
    value *= np.uint64(0xBF58476D1CE4E5B9)
    value ^= value >> np.uint64(27)
    value *= np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@njit(cache=True)
def profile_keys(columns):
    """Two numbers of 64 bits for each column, equal where p(s given x) is, else all but surely not."""
    indptr, indices, data, _ = columns
    keys = np.zeros((indptr.size - 1, 2), dtype=np.uint64)
    for x in range(indptr.size - 1):
        mass = data[indptr[x] : indptr[x + 1]].sum()
        for cell in range(indptr[x], indptr[x + 1]):
            part = _mixed(np.uint64(np.rint(data[cell] / mass * DIGITS)))
            row = _mixed(np.uint64(indices[cell] + 1))
            keys[x, 0] += _mixed(part ^ row)
            keys[x, 1] += _mixed(part + row * np.uint64(3))
    return keys


@njit(cache=True)
def similarity_order(columns, size, rng):
    """Columns in an order in which similar ones are near: a random tree, leaf by leaf.

    A node of more than ``size`` columns is halved by which of two random members its columns are
    nearer to; columns are √p(s given c), so that distance is Hellinger's.
    """
    indptr, indices, data, n_rows = columns
    n = indptr.size - 1
    order, scores, direction = np.arange(n), np.empty(n), np.zeros(n_rows)
    stack = [(0, n)]
    while len(stack) > 0:
        low, high = stack.pop()
        if high - low <= size:
            continue
        for _ in range(TRIES):  # two that are equal tell nothing
            direction[:] = 0.0
            for sign in (1.0, -1.0):
                c = order[low + int(rng.random() * (high - low))]
                for cell in range(indptr[c], indptr[c + 1]):
                    direction[indices[cell]] += sign * data[cell]
            if np.any(direction != 0.0):
                break
        for k in range(low, high):
            scores[k] = 0.0
            for cell in range(indptr[order[k]], indptr[order[k] + 1]):
                scores[k] += data[cell] * direction[indices[cell]]
        middle = (low + high) // 2
        _select(scores, order, low, high, middle)
        stack.append((low, middle))
        stack.append((middle, high))
    return order


@njit(cache=True)
def _select(scores, order, low, high, middle):
    """Rearrange so that no score before ``middle`` exceeds one after it (Hoare's quickselect)."""
    left, right = low, high - 1
    while left < right:
        pivot = scores[(left + right) // 2]
        i, j = left, right
        while i <= j:
            while scores[i] < pivot:
                i += 1
            while scores[j] > pivot:
                j -= 1
            if i <= j:
                scores[i], scores[j] = scores[j], scores[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return
