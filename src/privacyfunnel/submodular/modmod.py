"""ModMod: modular bounds on both sides, O(n) a step (Iyer & Bilmes 2012, Algorithm 3)."""

from __future__ import annotations

import numpy as np

from privacyfunnel.submodular.functions import (
    SetFunction,
    SetResult,
    best_run,
    lower_bound,
    order_from,
    upper_bounds,
)


def modmod(
    first: SetFunction,
    second: SetFunction,
    *,
    rng: np.random.Generator,
    starts: int = 12,
    tol: float = 1e-6,
) -> SetResult:
    """Lower first(W) − second(W), both submodular, by minimising modular upper bounds.

    ``first`` is bounded from above by each of its two modular bounds at the current W, ``second``
    from below along a random order that starts with W; the elements of negative price make the
    next W. The start is a random subset, since at ∅ no bound of f or g shows a gain.

    >>> from privacyfunnel.submodular.functions import MergeEntropy, scaled
    >>> import scipy.sparse as sp
    >>> f = MergeEntropy(sp.csc_array([[1.0, 1.0, 2.0]]), total=4.0)
    >>> modmod(scaled(f, 1.0), scaled(f, 0.5), rng=np.random.default_rng(1)).value
    -0.75
    """

    def descend() -> SetResult:
        subset = rng.random(first.n) < rng.random()
        best = SetResult(subset, first(subset) - second(subset), 0)
        while True:
            below = lower_bound(second, order_from(best.subset, rng))
            candidates = [above - below < 0 for above in upper_bounds(first, best.subset)]
            values = [first(w) - second(w) for w in candidates]
            better = int(np.argmin(values))
            if values[better] >= best.value - tol:
                return best
            best = SetResult(candidates[better], values[better], best.steps + 1)

    return best_run(descend() for _ in range(starts))
