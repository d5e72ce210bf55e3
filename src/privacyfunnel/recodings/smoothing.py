"""Smoothing: what S is expected to be given x, from records that share some of its columns.

Few records have the same x, and a fine code that is chosen to leak little on them fits their chance. A
search for a population lowers the leakage of a smoothed joint instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.information import Array
from privacyfunnel.joint import Joint

WEIGHTS = (1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0)  # records' worth of what is borrowed
SUBSETS = 64  # combinations of columns that are looked at; of more columns, pairs only


def smoothed(joint: Joint, rng: np.random.Generator) -> Joint:
    """The joint with each p(s given x) shrunk towards what fewer of its columns say; p(x) stays.

    p(s given x_A) = (n(s,x_A) + κ mean_i p(s given x_{A without i})) / (n(x_A) + κ) for growing sets A of
    columns, from p(s) for none. Of `WEIGHTS` the κ that foretells half of the records best
    from the others.

    >>> labels = [(a, b) for a in "pq" for b in "uv"]
    >>> joint = Joint.from_counts([[4, 1, 3, 0], [1, 4, 1, 4]], labels_x=labels, columns=["a", "b"])
    >>> smooth = smoothed(joint, np.random.default_rng(0))
    >>> bool(np.allclose(smooth.p_x, joint.p_x)), smooth.information < joint.information
    (True, True)
    """
    counts = joint.counts.toarray().T
    codes = [column.codes for column in joint.public]
    groups = _subsets(codes)
    half = rng.binomial(np.rint(counts).astype(np.int64), 0.5).astype(float)
    scores = [
        float(((counts - half) * np.log(np.maximum(_shrunk(half, groups, weight), 1e-300))).sum())
        for weight in WEIGHTS
    ]
    # Twice the records deserve the same weight of what is borrowed: κ is in records, not in shares.
    given_x = _shrunk(counts, groups, WEIGHTS[int(np.argmax(scores))])
    weights = given_x * counts.sum(axis=1, keepdims=True)
    return Joint.from_counts(weights.T, joint.labels_s, joint.labels_x, joint.columns)


def _subsets(
    codes: Sequence[NDArray[np.int64]],
) -> dict[tuple[int, ...], NDArray[np.int64]]:
    """For sets of columns, smaller ones first, the number of each x's values in them."""
    n = len(codes)
    sizes = range(1, n + 1) if 2**n <= SUBSETS else (1, 2, n)
    found = {}
    for size in sizes:
        for chosen in combinations(range(n), size):
            rows = np.stack([codes[i] for i in chosen])
            found[chosen] = np.unique(rows, axis=1, return_inverse=True)[1].ravel()
    return found


def _shrunk(
    counts: Array, groups: dict[tuple[int, ...], NDArray[np.int64]], weight: float
) -> Array:
    """p(s given x), shape ``[x, s]``."""
    total = counts.sum(axis=0)
    known: dict[tuple[int, ...], Array] = {(): np.tile(total / total.sum(), (len(counts), 1))}
    for chosen, places in groups.items():
        below = [one for one in known if set(one) < set(chosen)]
        largest = max(len(one) for one in below)
        prior = np.mean([known[one] for one in below if len(one) == largest], axis=0)
        sums = np.zeros((places.max() + 1, counts.shape[1]))
        np.add.at(sums, places, counts)
        here = sums[places]
        known[chosen] = (here + weight * prior) / (here.sum(axis=1, keepdims=True) + weight)
    return known[max(groups, key=len)]
