"""SubM-SuperM: the submodular–supermodular procedure (Narasimhan & Bilmes 2005)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from privacyfunnel.submodular.functions import (
    Affine,
    SetFunction,
    SetResult,
    lower_bound,
    order_from,
)
from privacyfunnel.submodular.minnorm import min_norm_point
from privacyfunnel.submodular.prefix import best_prefix, has_closed_form


def ssp(
    first: Affine,
    second: SetFunction,
    *,
    rng: np.random.Generator,
    minimise: Callable[[Affine], SetResult] | None = None,
    tol: float = 1e-6,
    max_iter: int = 100,
) -> SetResult:
    """Lower first(W) − second(W), both submodular, step by step.

    Replace ``second`` by its modular lower bound along a random order that starts with the current W,
    minimise the submodular rest exactly, repeat while it falls by more than ``tol``. ``minimise``
    is the exact minimiser inside: the closed form where it applies, else the min-norm point.

    >>> from privacyfunnel.submodular.functions import MergeEntropy, scaled
    >>> import scipy.sparse as sp
    >>> f = MergeEntropy(sp.csc_array([[1.0, 1.0, 2.0]]), total=4.0)
    >>> ssp(scaled(f, 1.0), scaled(f, 0.5), rng=np.random.default_rng(0)).subset
    array([ True,  True,  True])
    """
    if minimise is None:
        minimise = best_prefix if has_closed_form(first) else min_norm_point
    best = SetResult(np.zeros(first.n, dtype=bool), 0.0, 0)
    steps = 0
    for _ in range(max_iter):
        bound = lower_bound(second, order_from(best.subset, rng))
        found = minimise(Affine(first.inner, first.scale, first.shift - bound))
        steps += found.steps
        value = first(found.subset) - second(found.subset)
        if value >= best.value - tol:
            break
        best = SetResult(found.subset, value, steps)
    return SetResult(best.subset, best.value, steps)
