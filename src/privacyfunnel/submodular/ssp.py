"""SubM-SuperM: the submodular–supermodular procedure (Narasimhan & Bilmes 2005)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

import numpy as np
from numpy.random import Generator

from privacyfunnel.information import Array, plogp
from privacyfunnel.submodular.functions import (
    Affine,
    MergeEntropy,
    SetFunction,
    SetResult,
    best_run,
    lower_bound,
    order_from,
)
from privacyfunnel.submodular.minnorm import min_norm_point
from privacyfunnel.submodular.threshold import is_concave, threshold

PATIENCE = 3  # orders in a row that may gain nothing before a start is given up


def ssp(
    first: Affine,
    second: SetFunction,
    *,
    rng: Generator,
    starts: int = 12,
    minimise: Callable[[Affine], SetResult] | None = None,
    tol: float = 1e-6,
) -> SetResult:
    """Lower first(W) − second(W), both submodular, step by step; the best of several starts.

    Replace ``second`` by its modular lower bound along a random order that starts with the current
    W, minimise the submodular rest exactly, repeat. An order that gains no more than ``tol`` ends
    a lone start, three in a row end one of three or more. ``minimise`` is the exact minimiser
    inside: the closed form where it applies, else the min-norm point. The bottleneck's difference
    is concave as a whole, and without ``minimise`` is lowered by `threshold`.

    >>> from privacyfunnel.submodular.functions import MergeEntropy, scaled
    >>> import scipy.sparse as sp
    >>> f = MergeEntropy(sp.csc_array([[1.0, 1.0, 2.0]]), total=4.0)
    >>> ssp(scaled(f, 1.0), scaled(f, 0.5), rng=np.random.default_rng(0)).subset
    array([ True,  True,  True])
    """
    if minimise is None and has_closed_form(first) and _is_plain(first) and _is_plain(second):
        return _in_closed_form(first, second, rng, starts, tol)
    if minimise is None and isinstance(second, Affine) and is_concave(first, second):
        return threshold(first, second, rng=rng, starts=starts)
    if minimise is None:
        minimise = best_prefix if has_closed_form(first) else min_norm_point
    patience = min(PATIENCE, starts)

    def descend() -> SetResult:
        best, steps, left = SetResult(np.zeros(first.n, dtype=bool), 0.0, 0), 0, patience
        while left > 0:
            bound = lower_bound(second, order_from(best.subset, rng))
            found = minimise(Affine(first.inner, first.scale, first.shift - bound))
            steps += found.steps
            value = first(found.subset) - second(found.subset)
            left -= 1
            if value < best.value - tol:
                best, left = SetResult(found.subset, value, steps), patience
        return SetResult(best.subset, best.value, steps)

    return best_run(descend() for _ in range(starts))


def _is_plain(function: SetFunction) -> TypeGuard[Affine]:
    """A multiple of f or g and nothing else."""
    return (
        isinstance(function, Affine)
        and isinstance(function.inner, MergeEntropy)
        and not function.shift.any()
    )


def _in_closed_form(
    first: Affine, second: Affine, rng: Generator, starts: int, tol: float
) -> SetResult:
    """The same for the funnel's own f and g, compiled as a whole."""
    from privacyfunnel._kernels.sets import ssp_in_closed_form, workspace_for

    f, g = first.inner, second.inner
    assert isinstance(f, MergeEntropy)
    assert isinstance(g, MergeEntropy)
    columns, masses = g.exact_columns, f.exact_columns[2]  # one row without zeros: its data
    scales, room = (first.scale / f.total, second.scale / g.total), workspace_for(columns, masses)
    subset, value, steps = ssp_in_closed_form(
        columns, masses, g.table, scales, starts, min(PATIENCE, starts), tol, room, rng
    )
    return SetResult(subset, float(value), int(steps))


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
