"""η(t) = t log₂ t, computed or read from a table."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True)
def eta(t):
    """η(t), with η(0) = 0; rounding may leave a sum a hair below zero."""
    return t * math.log2(t) if t > 0.0 else 0.0


@njit(cache=True)
def eta_of(t, table):
    """η(t) from ``table`` = η(0), η(1), ... where the weights are whole; computed if it is empty."""
    if table.size > 0:
        return table[np.uint64(np.int64(t))]  # unsigned: no check for one counted from the end
    return eta(t)
