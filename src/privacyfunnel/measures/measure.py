"""Measure: what a released X̂ tells about some V, as a sum over the released symbols."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from privacyfunnel.information import Array

# The numbers by which compiled loops know a measure.
SHANNON, GUESSING, CHI_SQUARE, TOTAL_VARIATION, ARIMOTO, MAXIMAL_LEAKAGE = range(6)


@dataclass(frozen=True)
class Measure(ABC):
    """A measure of what X̂ says about V: a reading of the amount Σ_c m(q_c) − m(p).

    q_c is the vector p(v,c) of a released symbol c and p that of all records. m is convex and homogeneous
    of degree one, hence m(a + b) ≤ m(a) + m(b): the amount is at least 0, it is 0 where nothing is told,
    and merging two symbols never raises it. A search lowers the amount: a move changes it by what it
    changes in the touched clusters. People read the ``reading``, a rising function of it.
    """

    name: ClassVar[str]
    title: ClassVar[str]  # what a page calls it
    unit: ClassVar[str]  # of its readings: "bits", "share" of the guesses, or "" for a bare number
    kind: ClassVar[int]

    @property
    def order(self) -> float:
        """The parameter of a family of measures; 1 for those that have none."""
        return 1.0

    @property
    def spelled(self) -> str:
        """The name by which `make_measure` finds it again."""
        return self.name

    @abstractmethod
    def clusters(self, sums: Any, p_v: Array) -> Array:
        """m(q_c) of each column of ``sums[v, c]``, an array or a scipy.sparse one; p(v) is ``p_v``."""

    def reading(self, amount: float, p_v: Array) -> float:
        """The figure for people that goes with an amount."""
        return amount

    def amount(self, reading: float, p_v: Array) -> float:
        """The amount that goes with a reading."""
        return reading

    def told(self, p_vc: Any) -> float:
        """The amount that a joint distribution ``[v, c]`` tells: Σ_c m(q_c) − m(p); never negative."""
        p_v = np.asarray(p_vc.sum(axis=1)).ravel()
        return max(0.0, float(self.clusters(p_vc, p_v).sum() - self.at_rest(p_v)))

    def at_rest(self, p_v: Array) -> float:
        """m(p): the sum where all records are one symbol, which tells nothing."""
        return float(self.clusters(p_v[:, None], p_v)[0])

    def __call__(self, p_vc: Any) -> float:
        """The reading of a joint distribution ``[v, c]``."""
        return self.reading(self.told(p_vc), np.asarray(p_vc.sum(axis=1)).ravel())

    def whole(self, p_v: Array) -> float:
        """The reading where V itself is released: the most that there is to tell."""
        return self(np.diag(p_v))

    def least(self, bits: float, p_v: Array) -> float | None:
        """The least reading of a release that tells at least so many bits of Shannon's information.

        None where no such bound is proved.
        """
        return None

    def sentence(self, name: str, reading: float, p_v: Array) -> str:
        """One sentence for a reader who is no information theorist."""
        return f"the {self.title} about {name} is {reading:.3g}"


def cells_of(sums: Any) -> tuple[Array, Any, Any, int]:
    """The nonzero cells of ``sums[v, c]``: weights, rows, columns, and the number of columns."""
    cells = sums.tocoo() if sp.issparse(sums) else sp.coo_array(np.asarray(sums, dtype=float))
    return cells.data, cells.row, cells.col, int(cells.shape[1])


def largest(values: Array, columns: Any, n: int) -> Array:
    """The largest value of each column, 0 where it has none."""
    found = np.zeros(n)
    np.maximum.at(found, columns, values)
    return found


def percent(share: float) -> str:
    """A share in percent, with as many digits as tell it from nothing and from everything.

    >>> percent(0.5214), percent(0.00042), percent(0.0)
    ('52.1%', '0.042%', '0%')
    """
    if share <= 0.0:
        return "0%"
    return f"{100 * share:.1f}%" if share >= 0.01 else f"{100 * share:.2g}%"
