"""Clusters as slots ``sums[s, slot]``, ``masses[slot]``, ``sizes[slot]``: what moves and blocks share.

Slots 0 .. n − 1 are in use, without holes. Sums are of the type of the weights: whole numbers where
they are whole.
"""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def shift(columns, x, mass, home, goal, sums, masses, sizes):
    """Move symbol x from one slot to another."""
    indptr, indices, data, _ = columns
    for cell in range(indptr[x], indptr[x + 1]):
        sums[indices[cell], home] -= data[cell]
        sums[indices[cell], goal] += data[cell]
    masses[home] -= mass
    masses[goal] += mass
    sizes[home] -= 1
    sizes[goal] += 1


@njit(cache=True, nogil=True)
def put(columns, x, mass, slot, sums, masses, sizes):
    """Add symbol x to a slot."""
    indptr, indices, data, _ = columns
    for cell in range(indptr[x], indptr[x + 1]):
        sums[indices[cell], slot] += data[cell]
    masses[slot] += mass
    sizes[slot] += 1


@njit(cache=True, nogil=True)
def close_slot(slot, last, labels, sums, masses, sizes):
    """Let the last slot take the place of one that has become empty."""
    for s in range(sums.shape[0]):
        sums[s, slot] = sums[s, last]
        sums[s, last] = 0
    masses[slot], sizes[slot] = masses[last], sizes[last]
    masses[last], sizes[last] = 0, 0
    if slot != last:
        for k in range(labels.size):
            if labels[k] == last:
                labels[k] = slot
