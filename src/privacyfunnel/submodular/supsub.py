"""SupSub: a modular upper bound on the first function (Iyer & Bilmes 2012, Algorithm 2)."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from privacyfunnel.submodular.functions import (
    Affine,
    Mask,
    SetFunction,
    SetResult,
    descend_by,
    upper_bounds,
)


def supsub(
    first: SetFunction, second: SetFunction, *, rng: Generator, starts: int = 4, tol: float = 1e-6
) -> SetResult:
    """Lower first(W) − second(W), both submodular: bound ``first``, then maximise second − bound.

    That inner maximum of a submodular function is hard; `double_greedy` (Buchbinder et al. 2012)
    and a climb from the current W by single elements approximate it, the better one is taken.

    >>> from privacyfunnel.submodular.functions import MergeEntropy, scaled
    >>> import scipy.sparse as sp
    >>> f = MergeEntropy(sp.csc_array([[1.0, 1.0, 2.0]]), total=4.0)
    >>> supsub(scaled(f, 1.0), scaled(f, 0.5), rng=np.random.default_rng(1)).value
    -0.75
    """

    def candidates(subset: Mask) -> list[Mask]:
        found = []
        for above in upper_bounds(first, subset):
            rest = Affine(second, 1.0, -above)
            found.append(climb(rest, subset))
            found.append(climb(rest, double_greedy(rest, rng.permutation(first.n))))
        return found

    return descend_by(candidates, first, second, rng=rng, starts=starts, tol=tol)


def double_greedy(function: SetFunction, order: NDArray[np.int64]) -> Mask:
    """A large value of a submodular function: decide the elements one by one, from both ends.

    Each element joins the growing set or leaves the shrinking one, whichever gains more.
    """
    low = np.zeros(function.n, dtype=bool)
    high = np.ones(function.n, dtype=bool)
    for j in order:
        if function.gains(low)[j] >= -function.gains(high)[j]:
            low[j] = True
        else:
            high[j] = False
    return low


def climb(function: SetFunction, subset: Mask) -> Mask:
    """Add or remove the element that raises the function most until none does."""
    subset = subset.copy()
    while True:
        gains = np.where(subset, -1.0, 1.0) * function.gains(subset)
        j = int(np.argmax(gains))
        if gains[j] <= 1e-12:
            return subset
        subset[j] = not subset[j]
