"""Exact minimisation over all 2ⁿ subsets, for small n and for tests."""

from __future__ import annotations

import numpy as np

from privacyfunnel.errors import InvalidInput
from privacyfunnel.submodular.functions import SetFunction, SetResult

MAX_N = 20


def exhaustive(first: SetFunction, second: SetFunction) -> SetResult:
    """The minimiser of first(W) − second(W), any set functions, n ≤ 20.

    >>> from privacyfunnel.submodular.functions import Affine, MergeEntropy, scaled
    >>> import scipy.sparse as sp
    >>> f = MergeEntropy(sp.csc_array([[1.0, 1.0, 2.0]]), total=4.0)
    >>> exhaustive(scaled(f, 1.0), scaled(f, 0.0)).subset
    array([ True,  True,  True])
    """
    n = first.n
    if n > MAX_N:
        raise InvalidInput(f"exhaustive search takes at most {MAX_N} elements, got {n}; use ssp.")
    values = first.values() - second.values()
    best = int(np.argmin(values))
    return SetResult((best >> np.arange(n) & 1).astype(bool), float(values[best]), len(values), 0.0)
