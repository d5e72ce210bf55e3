"""Objectives: the price of a code and of a merge, for one λ. No search here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privacyfunnel.codes import Code, Partition
from privacyfunnel.information import cells_information, entropy, mutual_information, plogp
from privacyfunnel.joint import Joint
from privacyfunnel.validation import check_lam


def leakage(joint: Joint, code: Code) -> float:
    """I(S;X̂) in bits, measured from the code.

    >>> joint = Joint.from_counts([[1, 0], [0, 1]])
    >>> leakage(joint, Partition.identity(2)), leakage(joint, Partition.trivial(2))
    (1.0, 0.0)
    """
    return mutual_information(joint.p_sx @ code.matrix)


def utility(joint: Joint, code: Code) -> float:
    """I(X;X̂) in bits, measured from the code; for a partition it is H(X̂)."""
    if isinstance(code, Partition):
        return entropy(np.bincount(code.labels, weights=joint.p_x))
    p_x = joint.p_x[code.rows]
    return cells_information(code.matrix.data * p_x, code.rows, code.matrix.indices)


@dataclass(frozen=True)
class Objective:
    """α I(S;X̂) + β I(X;X̂), to be minimised, and the price of merging symbols.

    Up to a constant a partition's value is a sum over its clusters c of
    ``α Σ_s η(p(s,c)) − (α+β) η(p(c))``: a merge is priced from the merged symbols alone.
    """

    lam: float
    leakage_weight: ClassVar[float]
    problem: ClassVar[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "lam", check_lam(self.lam))

    @property
    def weights(self) -> tuple[float, float]:
        """(α, β): the weights of I(S;X̂) and I(X;X̂) in the value."""
        return self.leakage_weight, -self.leakage_weight * self.lam

    def value(self, joint: Joint, code: Code) -> float:
        """The objective of a code, measured afresh."""
        alpha, beta = self.weights
        return alpha * leakage(joint, code) + beta * utility(joint, code)

    def f(self, joint: Joint, subset: ArrayLike) -> float:
        """f(W) = Σ_{i∈W} η(p_i) − η(p_W): minus the utility lost by merging W."""
        p_x = joint.p_x[_positions(subset)]
        return float(plogp(p_x).sum() - plogp(p_x.sum()))

    def g(self, joint: Joint, subset: ArrayLike) -> float:
        """g(W) = Σ_s [Σ_{i∈W} η(p_{s,i}) − η(p_{s,W})]."""
        p_sx = joint.p_sx[:, _positions(subset)]
        return float(plogp(p_sx.data).sum() - plogp(np.asarray(p_sx.sum(axis=1))).sum())

    def merge_change(self, joint: Joint, subset: ArrayLike) -> float:
        """Change of the value when the symbols W of ``joint`` are merged (Theorem 1).

        (1−λ) f(W) − g(W) for the funnel and its negative for the bottleneck (Ding & Sadeghi 2019).
        ``subset`` holds positions or is a mask.

        >>> joint = Joint.from_counts([[2, 0, 1], [0, 2, 1]])
        >>> merged = Partition([0, 0, 1])
        >>> change = Funnel(0.5).value(joint, merged) - Funnel(0.5).value(joint, Partition([0, 1, 2]))
        >>> bool(np.isclose(change, Funnel(0.5).merge_change(joint, [0, 1])))
        True
        """
        alpha, beta = self.weights
        return (alpha + beta) * self.f(joint, subset) - alpha * self.g(joint, subset)


class Funnel(Objective):
    """Privacy funnel: minimise L = I(S;X̂) − λ I(X;X̂).

    >>> Funnel(lam=0.8).weights
    (1.0, -0.8)
    """

    leakage_weight = 1.0
    problem = "funnel"


class Bottleneck(Objective):
    """Information bottleneck: minimise −L = λ I(X;X̂) − I(S;X̂); Tishby's β is 1/λ.

    >>> Bottleneck(lam=0.8).weights
    (-1.0, 0.8)
    """

    leakage_weight = -1.0
    problem = "bottleneck"

    @classmethod
    def from_beta(cls, beta: float) -> Bottleneck:
        """From the multiplier of I(X;X̂) − β I(S;X̂) (Tishby, Pereira & Bialek 2000).

        >>> Bottleneck.from_beta(4.0).lam
        0.25
        """
        return cls(1.0 / beta)


def _positions(subset: ArrayLike) -> NDArray[np.intp]:
    """Positions of a subset given as positions or as a mask."""
    given = np.asarray(subset)
    return np.flatnonzero(given) if given.dtype == bool else given.astype(np.intp)


PROBLEMS: dict[str, type[Objective]] = {"funnel": Funnel, "bottleneck": Bottleneck}
