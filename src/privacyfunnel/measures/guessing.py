"""Guessing: how much oftener the best guess of V is right for one who sees X̂."""

from __future__ import annotations

from typing import Any

import numpy as np

from privacyfunnel.information import Array, entropy
from privacyfunnel.measures.measure import GUESSING, Measure, cells_of, largest, percent


class Guessing(Measure):
    """Σ_c max_v p(v,c) − max_v p(v): the share of records that seeing X̂ lets one guess right besides.

    m(q) = max_v q_v. The sum is how often the best guess is right (Bayes); its logarithm over that of
    the blind guess is the min-entropy leakage (Smith 2009).

    >>> Guessing()(np.array([[0.5, 0.0], [0.0, 0.5]]))
    0.5
    """

    name = "guessing"
    title = "guessing gain"
    unit = "share"
    kind = GUESSING

    def clusters(self, sums: Any, p_v: Array) -> Array:
        q, _, columns, n = cells_of(sums)
        return largest(q, columns, n)

    def least(self, bits: float, p_v: Array) -> float:
        """1 − P ≤ H(V given X̂)/2 for the Bayes guess P (Hellman & Raviv 1970)."""
        return max(0.0, 1.0 - (entropy(p_v) - bits) / 2.0 - float(np.max(p_v)))

    def sentence(self, name: str, reading: float, p_v: Array) -> str:
        blind = float(np.max(p_v))
        return (
            f"the best guess of {name} is right in {percent(blind + reading)} of cases, "
            f"{percent(blind)} without the data"
        )
