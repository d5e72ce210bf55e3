"""Closed form: a concave function of one modular sum, plus a modular one, in O(n log n)."""

from __future__ import annotations

import numpy as np

from privacyfunnel.information import Array, plogp
from privacyfunnel.submodular.functions import Affine, MergeEntropy, SetResult


def has_closed_form(function: Affine) -> bool:
    """Whether `best_prefix` applies: one row, so that only p(W) enters."""
    inner = function.inner
    return isinstance(inner, MergeEntropy) and inner.weights.shape[0] == 1


def best_prefix(function: Affine) -> SetResult:
    """The exact minimiser of scale · f(W) + shift(W), f the paper's f.

    Written c(W) − scale · η(p(W)) with c modular, it is concave in the one sum p(W). Some slope t of
    its tangent makes {i : c_i + t p_i < 0} a minimiser, so the best W is a prefix of the symbols
    sorted by c_i / p_i.

    >>> import scipy.sparse as sp
    >>> f = MergeEntropy(sp.csc_array([[1.0, 1.0, 2.0]]), total=4.0)
    >>> best_prefix(Affine(f, 1.0, np.array([0.0, 0.0, 1.1]))).subset
    array([ True,  True, False])
    """
    f = function.inner
    assert isinstance(f, MergeEntropy)
    p: Array = f.weights.toarray()[0] / f.total
    c = function.scale * plogp(p) + function.shift
    order = np.argsort(c / p, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(p[order])])
    values = np.concatenate([[0.0], np.cumsum(c[order])]) - function.scale * plogp(sums)
    size = int(np.argmin(values))
    subset = np.zeros(function.n, dtype=bool)
    subset[order[:size]] = True
    return SetResult(subset, float(values[size]), 1, 0.0)
