"""ModMod: modular bounds on both sides, O(n) a step (Iyer & Bilmes 2012, Algorithm 3)."""

from __future__ import annotations

from numpy.random import Generator

from privacyfunnel.submodular.functions import (
    Mask,
    SetFunction,
    SetResult,
    descend_by,
    lower_bound,
    order_from,
    upper_bounds,
)


def modmod(
    first: SetFunction, second: SetFunction, *, rng: Generator, starts: int = 12, tol: float = 1e-6
) -> SetResult:
    """Lower first(W) − second(W), both submodular, by minimising modular upper bounds.

    ``first`` is bounded from above by each of its two modular bounds at the current W, ``second``
    from below along a random order that starts with W; the elements of negative price make the
    next W. The start is a random subset, since at ∅ no bound of f or g shows a gain.

    >>> from privacyfunnel.submodular.functions import MergeEntropy, scaled
    >>> import numpy as np, scipy.sparse as sp
    >>> f = MergeEntropy(sp.csc_array([[1.0, 1.0, 2.0]]), total=4.0)
    >>> modmod(scaled(f, 1.0), scaled(f, 0.5), rng=np.random.default_rng(1)).value
    -0.75
    """

    def candidates(subset: Mask) -> list[Mask]:
        below = lower_bound(second, order_from(subset, rng))
        return [above - below < 0 for above in upper_bounds(first, subset)]

    return descend_by(candidates, first, second, rng=rng, starts=starts, tol=tol)
