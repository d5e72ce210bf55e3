"""Thresholding: the bottleneck's merges, a concave function of one summed vector, step by step."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from privacyfunnel.information import Array, plogp
from privacyfunnel.submodular.functions import Affine, MergeEntropy, SetResult, best_run

MAX_PASSES = 50


def is_concave(first: Affine, second: Affine) -> bool:
    """Whether `threshold` applies: many rows less one row of their sums, the first weighing more."""
    f, g = second.inner, first.inner
    return (
        isinstance(f, MergeEntropy)
        and isinstance(g, MergeEntropy)
        and f.weights.shape[0] == 1
        and not (first.shift.any() or second.shift.any())
        and first.scale / g.total >= second.scale / f.total
    )


def threshold(first: Affine, second: Affine, *, rng: Generator, starts: int = 12) -> SetResult:
    """Lower a g(W) − b f(W), a ≥ b ≥ 0, from several random W; the best of all.

    Up to a modular part it is −a Σ_s η(p_{s,W}) + b η(p_W), concave in the summed vector p_W (Burshtein
    et al. 1992). So its tangent at the present W lies above it, and the W that minimises the tangent,
    {i : c_i + ∇·p_i < 0}, is no worse: the analogue of a step of k-means. A pass takes time as there
    are nonzeros.

    >>> import scipy.sparse as sp
    >>> g = MergeEntropy(sp.csc_array([[3.0, 3.0, 0.0], [0.0, 1.0, 4.0]]), total=11.0)
    >>> f = MergeEntropy(sp.csc_array([[3.0, 4.0, 4.0]]), total=11.0)
    >>> first, second = Affine(g, 1.0, np.zeros(3)), Affine(f, 0.5, np.zeros(3))
    >>> threshold(first, second, rng=np.random.default_rng(0)).subset
    array([ True,  True, False])
    """
    g, f = first.inner, second.inner
    assert isinstance(g, MergeEntropy)
    assert isinstance(f, MergeEntropy)
    a, b = first.scale / g.total, second.scale / f.total
    rows, masses = g.weights, f.weights.toarray()[0]
    modular = a * np.add.reduceat(plogp(rows.data), rows.indptr[:-1]) - b * plogp(masses)
    by_symbol = rows.T.tocsr()

    def value(subset: Array, sums: Array) -> float:
        return float(modular[subset].sum() - a * plogp(sums).sum() + b * plogp(sums.sum()))

    def descend() -> SetResult:
        seed = int(rng.integers(len(masses)))
        nearest = by_symbol @ (rows[:, [seed]].toarray().ravel() > 0)
        subset = (rng.random(len(masses)) < rng.random()) & (nearest > 0)
        subset[seed] = True
        best, best_value = np.zeros(len(masses), dtype=bool), 0.0
        for step in range(MAX_PASSES):
            sums = np.asarray(rows[:, subset].sum(axis=1)).ravel()
            price = value(subset, sums)
            if price >= best_value - 1e-12 and step > 0:
                break
            if price < best_value:
                best, best_value = subset, price
            # What W has none of has a tangent without bound: no symbol that brings it in can join.
            slope = np.where(sums > 0.0, -a * np.log2(np.maximum(sums, 1e-300)), np.inf)
            constant = (b - a) / np.log(2.0) + b * np.log2(sums.sum())
            slopes = np.where(np.isfinite(slope), slope, 0.0) + constant
            outside = by_symbol @ (sums <= 0.0).astype(float) > 0.0
            subset = (modular + by_symbol @ slopes < 0.0) & ~outside
            if not subset.any():
                break
        return SetResult(best, best_value, step + 1)

    return best_run(descend() for _ in range(starts))
