"""χ²-information: the mean squared change of the odds of V by seeing X̂."""

from __future__ import annotations

from typing import Any

import numpy as np

from privacyfunnel.information import Array
from privacyfunnel.measures.measure import CHI_SQUARE, Measure, cells_of


class ChiSquare(Measure):
    """χ²(V;X̂) = Σ_{v,c} p(v,c)² / (p(v) p(c)) − 1; Pearson's statistic is N times it.

    m(q) = Σ_v q_v² / (p(v) Σ_v q_v). It bounds every correlation of a function of V with one of X̂.

    >>> ChiSquare()(np.array([[0.5, 0.0], [0.0, 0.5]]))
    1.0
    """

    name = "chi-square"
    title = "χ²-information"
    unit = ""
    kind = CHI_SQUARE

    def clusters(self, sums: Any, p_v: Array) -> Array:
        q, rows, columns, n = cells_of(sums)
        masses = np.bincount(columns, weights=q, minlength=n)
        squares = np.bincount(columns, weights=q * (q / p_v[rows]), minlength=n)
        return np.asarray(squares / np.where(masses > 0, masses, 1.0))

    def least(self, bits: float, p_v: Array) -> float:
        """I(V;X̂) ≤ log₂(1 + χ²(V;X̂)), by Jensen's inequality."""
        return float(2.0**bits - 1.0)

    def sentence(self, name: str, reading: float, p_v: Array) -> str:
        return (
            f"the χ²-information about {name} is {reading:.3g}: no score made from the release and none "
            f"made from {name} correlate by more than {min(1.0, reading**0.5):.3g}"
        )
