"""Similarity: clusters of a large alphabet in an order that puts like beside like."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privacyfunnel.joint import csc_columns


def cluster_sums(counts: sp.csc_array, labels: NDArray[np.int64]) -> sp.csc_array:
    """The counts of each cluster, ``[s, cluster]``, without anything dense in between."""
    n = labels.size
    place = sp.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, int(labels.max()) + 1))
    sums = sp.csc_array(counts @ place)
    sums.sort_indices()
    return sums


def order_by_similarity(
    sums: sp.csc_array, size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Columns in an order that puts those of similar p(s given c) together.

    >>> sums = sp.csc_array(np.tile([[9.0, 0.0], [0.0, 9.0]], 100))
    >>> order = order_by_similarity(sums, 64, np.random.default_rng(0))
    >>> len(set(order[:64] % 2))
    1
    """
    from privacyfunnel._kernels.profiles import similarity_order

    masses = np.asarray(sums.sum(axis=0))
    roots = np.sqrt(sums.data / np.repeat(masses, np.diff(sums.indptr)))
    indptr, indices, _, n_rows = csc_columns(sums)
    order: NDArray[np.int64] = similarity_order((indptr, indices, roots, n_rows), size, rng)
    return order
