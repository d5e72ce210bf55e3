"""Total variation: how far the distribution of V moves, on average, when X̂ is seen."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from privacyfunnel.information import Array, entropy
from privacyfunnel.measures.measure import TOTAL_VARIATION, Measure, cells_of, percent

HALVINGS = 60


class TotalVariation(Measure):
    """½ Σ_{v,c} |p(v,c) − p(v) p(c)|: the distance of t-closeness for categories, averaged.

    m(q) = ½ Σ_v |q_v − p(v) Σ_v q_v|. No test that sees X̂ tells the records of V from ones with V
    shuffled by more than this.

    >>> TotalVariation()(np.array([[0.5, 0.0], [0.0, 0.5]]))
    0.5
    """

    name = "total-variation"
    title = "total variation"
    unit = "share"
    kind = TOTAL_VARIATION

    def clusters(self, sums: Any, p_v: Array) -> Array:
        # Half the absolute differences are the positive ones, and those are where q_v > 0.
        q, rows, columns, n = cells_of(sums)
        masses = np.bincount(columns, weights=q, minlength=n)
        above = np.maximum(0.0, q - p_v[rows] * masses[columns])
        return np.asarray(np.bincount(columns, weights=above, minlength=n).astype(float))

    def least(self, bits: float, p_v: Array) -> float:
        """I(V;X̂) ≤ t log₂(|V| − 1) + h(t) for t ≤ 1 − 1/|V|, which rises in t (Zhang 2007)."""
        n = len(p_v)
        low, high = 0.0, 1.0 - 1.0 / n
        for _ in range(HALVINGS):
            t = (low + high) / 2.0
            most = (t * math.log2(n - 1) if n > 1 else 0.0) + entropy([t, 1.0 - t])
            low, high = (t, high) if most < bits else (low, t)
        return low

    def sentence(self, name: str, reading: float, p_v: Array) -> str:
        return (
            f"seeing a record of the release moves the odds of {name} by {percent(reading)} of the "
            "records on average"
        )
