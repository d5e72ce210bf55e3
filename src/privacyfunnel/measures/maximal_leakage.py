"""Maximal leakage: the worst case over everything that depends on V."""

from __future__ import annotations

import math
from typing import Any

from privacyfunnel.information import Array
from privacyfunnel.measures.measure import MAXIMAL_LEAKAGE, Measure, cells_of, largest


class MaximalLeakage(Measure):
    """log₂ Σ_c max_v p(c given v), in bits: Sibson's information of order infinity (Issa et al. 2020).

    m(q) = max_v q_v / p(v). By at most this many doublings does X̂ raise the chance to guess anything
    that depends on V, whatever it is and however V is distributed.

    >>> import numpy as np
    >>> MaximalLeakage()(np.array([[0.25, 0.0], [0.0, 0.75]]))
    1.0
    """

    name = "maximal-leakage"
    title = "maximal leakage"
    unit = "bits"
    kind = MAXIMAL_LEAKAGE

    def clusters(self, sums: Any, p_v: Array) -> Array:
        q, rows, columns, n = cells_of(sums)
        return largest(q / p_v[rows], columns, n)

    def at_rest(self, p_v: Array) -> float:
        return 1.0

    def reading(self, amount: float, p_v: Array) -> float:
        return max(0.0, math.log2(1.0 + amount))

    def amount(self, reading: float, p_v: Array) -> float:
        return float(2.0**reading - 1.0)

    def least(self, bits: float, p_v: Array) -> float:
        """Sibson's information rises with its order, and that of order 1 is Shannon's."""
        return bits

    def sentence(self, name: str, reading: float, p_v: Array) -> str:
        return (
            f"whatever depends on {name} is guessed right at most {2.0**reading:.3g} times as often as "
            "without the data"
        )
