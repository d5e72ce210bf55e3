"""Scores: what a fitted code keeps and gives away on rows that it may never have seen."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privacyfunnel.information import Array, entropy, mutual_information, share

Ints = NDArray[np.int64]


def explained(counts: Array, s: Ints, xhat: Ints, weights: Array) -> float:
    """The share of S that the fitted p(s given x̂) explains on some rows.

    Σ_i w_i log₂ (q(s_i given x̂_i) / p(s_i)) / Σ_i w_i log₂ (1 / p(s_i)), where p(s) and
    q(s given x̂) = (n(s,x̂) + p(s)) / (n(x̂) + 1) come from ``counts[s, xhat]`` of the fitted rows. On
    those it is close to I(S;X̂)/H(S); on others it is what a guesser gains in log-loss who knows
    only the fitted rows, below 0 if they mislead. Rows without a symbol (−1) tell nothing, rows of
    an s that was never seen are left out.

    >>> told = explained(np.array([[999.0, 1], [1, 999]]), np.array([0, 1]), np.array([0, 1]), np.ones(2))
    >>> round(told, 2)
    1.0
    """
    p_s = counts.sum(axis=1) / counts.sum()
    gain = np.log2((counts + p_s[:, None]) / (counts.sum(axis=0) + 1.0)) - np.log2(p_s)[:, None]
    gain = np.column_stack([gain, np.zeros(len(p_s))])  # place −1 is the last column
    seen = s >= 0
    told = float(np.dot(weights[seen], gain[s[seen], xhat[seen]]))
    return float(share(told, float(-np.dot(weights[seen], np.log2(p_s)[s[seen]]))))


def kept(x: Ints, xhat: Ints, weights: Array) -> float:
    """I(X;X̂)/H(X) of some rows, as they are counted.

    >>> kept(np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]), np.ones(4))
    0.5
    """
    symbols = np.unique(xhat, return_inverse=True)[1]
    p_xxhat = sp.coo_array((weights / weights.sum(), (x, symbols))).tocsc()
    whole = entropy(np.asarray(p_xxhat.sum(axis=1)).ravel())
    return float(share(mutual_information(p_xxhat), whole))
