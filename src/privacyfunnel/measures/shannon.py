"""Shannon: mutual information, in bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from privacyfunnel.information import Array, entropy, mutual_information, plogp, share
from privacyfunnel.measures.measure import SHANNON, Measure, cells_of, percent


class Shannon(Measure):
    """I(V;X̂), in bits: m(q) = Σ_v η(q_v) − η(Σ_v q_v), η(t) = t log₂ t.

    >>> Shannon()(np.array([[0.5, 0.0], [0.0, 0.5]]))
    1.0
    """

    name = "shannon"
    title = "information"
    unit = "bits"
    kind = SHANNON

    def clusters(self, sums: Any, p_v: Array) -> Array:
        q, _, columns, n = cells_of(sums)
        masses = np.bincount(columns, weights=q, minlength=n)
        return np.asarray(np.bincount(columns, weights=plogp(q), minlength=n) - plogp(masses))

    def told(self, p_vc: Any) -> float:
        return mutual_information(p_vc)  # the same, without differences of large sums

    def whole(self, p_v: Array) -> float:
        return entropy(p_v)

    def least(self, bits: float, p_v: Array) -> float:
        return bits

    def sentence(self, name: str, reading: float, p_v: Array) -> str:
        part = percent(share(reading, entropy(p_v)))
        return f"{part} of what there is to know about {name} is given away ({reading:.3g} bits)"
