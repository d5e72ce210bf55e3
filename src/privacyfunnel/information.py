"""Entropy and its relatives: arrays in, bits out.

>>> entropy([0.5, 0.25, 0.25])
1.5

Every entropy and information that is told of a table or a code is one of these. Searches compare what a
cluster adds: prices, in ``measures/``, ``objectives.py`` and ``solvers/``, compiled in ``_kernels/``; the
steps of a search (`Solution.history`) add these up. Tests hold them to the sums here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def plogp(t: ArrayLike) -> Array:
    """The convex η(t) = t log₂ t, elementwise, with η(0) = 0.

    >>> plogp([0.0, 0.5, 1.0, 2.0])
    array([ 0. , -0.5,  0. ,  2. ])
    """
    t = np.asarray(t, dtype=float)
    safe = np.where(t > 0, t, 1.0)
    return np.asarray(t * np.log2(safe))


def entropy(p: ArrayLike) -> float:
    """Shannon entropy H = −Σ p log₂ p of a distribution.

    >>> entropy([0.25] * 4)
    2.0
    """
    return max(0.0, float(-plogp(p).sum()))


def kl(p: ArrayLike, q: ArrayLike) -> float:
    """Kullback–Leibler divergence Σ p log₂(p/q); infinite where p > 0 = q.

    >>> kl([0.5, 0.5], [0.5, 0.5]), kl([1.0, 0.0], [0.0, 1.0])
    (0.0, inf)
    """
    p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    support = p > 0
    if np.any(q[support] == 0):
        return float("inf")
    return float(np.sum(p[support] * np.log2(p[support] / q[support])))


def mutual_information(p_xy: Any) -> float:
    """Mutual information I(X;Y) = Σ p(x,y) log₂ p(x,y) / (p(x) p(y)).

    ``p_xy`` is a joint distribution ``[x, y]``, a dense array or a scipy.sparse one;
    only its nonzero cells are touched. Never negative.

    >>> mutual_information([[0.5, 0.0], [0.0, 0.5]])
    1.0
    >>> mutual_information([[0.25, 0.25], [0.25, 0.25]])
    0.0
    """
    if hasattr(p_xy, "tocoo"):
        cells = p_xy.tocoo()
        return cells_information(cells.data, cells.row, cells.col)
    dense = np.asarray(p_xy, dtype=float)
    rows, columns = np.nonzero(dense)
    return cells_information(dense[rows, columns], rows, columns)


def cells_information(p: Array, rows: NDArray[Any], columns: NDArray[Any]) -> float:
    """Mutual information of the joint distribution with probability ``p[i]`` in the cell
    ``rows[i], columns[i]`` and none elsewhere; no cell may come twice.

    >>> cells_information(np.array([0.5, 0.5]), np.array([0, 1]), np.array([0, 1]))
    1.0
    """
    positive = p > 0
    p, rows, columns = p[positive], rows[positive], columns[positive]
    return max(0.0, float(np.dot(p, log_lifts(p, rows, columns))))


def log_lifts(p: Array, rows: NDArray[Any], columns: NDArray[Any]) -> Array:
    """log₂ p(x,y) / (p(x) p(y)) of cells, all above 0, as for `cells_information`.

    >>> log_lifts(np.array([0.5, 0.5]), np.array([0, 1]), np.array([0, 1]))
    array([1., 1.])
    """
    p_x, p_y = np.bincount(rows, weights=p), np.bincount(columns, weights=p)
    # The log of each, not of the ratio: p_x * p_y may underflow.
    return np.asarray(np.log2(p) - np.log2(p_x[rows]) - np.log2(p_y[columns]))


def share(bits: Any, whole: float) -> Any:
    """Bits, one figure or an array, as a share of an entropy; 0 where there is none to share.

    >>> share(1.0, 4.0), share(0.0, 0.0)
    (0.25, 0.0)
    """
    return bits / whole if whole > 0 else 0.0 * bits
