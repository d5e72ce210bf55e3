"""Objectives: the price of a code and of a merge, for one λ. No search here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privacyfunnel.codes import Code, Partition
from privacyfunnel.errors import InvalidInput
from privacyfunnel.information import cells_information, entropy, mutual_information, plogp
from privacyfunnel.joint import Joint
from privacyfunnel.measures import INFORMATION, Measure, Shannon, make_measure
from privacyfunnel.validation import check_at_least, check_choice, check_lam


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


@dataclass(frozen=True, eq=False)
class View:
    """Something that a release tells about, V, and the measure of it; without one it is X itself.

    ``joint`` is p(v,x).
    """

    joint: Joint
    measure: Measure | None

    def amount(self, code: Code) -> float:
        """What a code tells: a sum over its clusters, see `Measure`; H(X̂) of X itself, if it is hard."""
        if self.measure is None:
            return utility(self.joint, code)
        return self.measure.told(self.joint.p_sx @ code.matrix)

    @property
    def at_rest(self) -> float:
        """The sum over clusters where all records are one symbol: the amount is counted from there."""
        return 0.0 if self.measure is None else self.measure.at_rest(self.joint.p_s)

    @property
    def most(self) -> float:
        """What X as it is tells."""
        if self.measure is None:
            return self.joint.entropy_x
        return self.measure.told(self.joint.p_sx)


Quantity = tuple[tuple[float, View], ...]  # a weighted sum of amounts

KEEPS = ("x", "useful", "both")


@dataclass(frozen=True)
class Objective:
    """α · (what X̂ tells about S) + β · (what X̂ keeps), to be minimised, and the price of merging.

    Up to a constant a partition's value is a sum over its clusters c, so that a merge is priced from the
    merged symbols alone; for Shannon's information about S and I(X;X̂) it is a sum of
    ``α Σ_s η(p(s,c)) − (α+β) η(p(c))``. ``measure`` is what is unwanted (wanted, for the bottleneck)
    of S, a `Measure` or its name; ``keep`` says what is kept: "x" I(X;X̂), "useful" what X̂ says about the
    joint's useful Y, I(Y;X̂), "both" the mean of their shares of what there is, in units of H(X).
    Beyond Shannon's I(S;X̂) and I(X;X̂), λ has no natural end and may be any number from 0 on.
    """

    lam: float
    measure: Measure = INFORMATION
    keep: str = "x"
    leakage_weight: ClassVar[float]
    problem: ClassVar[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", make_measure(self.measure))
        check_choice("keep", self.keep, KEEPS)
        if self.plain:
            object.__setattr__(self, "lam", check_lam(self.lam))
        else:
            check_at_least("lam", self.lam, 0.0)
            object.__setattr__(self, "lam", float(self.lam))
        if self.problem == "bottleneck" and self.keep != "x":
            raise InvalidInput("a bottleneck gives up I(X;X̂); keep= is for the funnel.")

    @property
    def plain(self) -> bool:
        """Whether it is the paper's: I(S;X̂) against I(X;X̂)."""
        return self.keep == "x" and isinstance(self.measure, Shannon)

    def at(self, lam: float) -> Self:
        """The same at another λ."""
        return replace(self, lam=min(1.0, max(0.0, lam)) if self.plain else max(0.0, lam))

    @property
    def weights(self) -> tuple[float, float]:
        """(α, β): the weights of what is told and of what is kept in the value."""
        return self.leakage_weight, -self.leakage_weight * self.lam

    def quantities(self, joint: Joint) -> tuple[Quantity, Quantity]:
        """What is told and what is kept, as sums of amounts."""
        hidden: Quantity = ((1.0, View(joint, self.measure)),)
        if self.keep == "x":
            return hidden, ((1.0, View(joint, None)),)
        if joint.useful is None:
            raise InvalidInput(f"keep {self.keep!r} needs a joint with a useful Y; pass useful=.")
        use = View(joint.useful, Shannon())
        if self.keep == "useful":
            return hidden, ((1.0, use),)
        scale = joint.entropy_x / use.most if use.most > 0 else 0.0
        return hidden, ((0.5, View(joint, None)), (0.5 * scale, use))

    def amounts(self, joint: Joint, code: Code) -> tuple[float, float]:
        """The amounts that a code tells and keeps, measured afresh."""
        told, kept = (
            sum(weight * view.amount(code) for weight, view in quantity)
            for quantity in self.quantities(joint)
        )
        return told, kept

    def mean_slope(self, joint: Joint) -> float:
        """What X itself tells for each unit that it keeps."""
        told, kept = self.amounts(joint, Partition.identity(joint.n_x))
        return told / kept if kept > 0 else 1.0

    def leakage(self, joint: Joint, code: Code) -> float:
        """What a code tells about S: the reading of the measure."""
        return self.measure(joint.p_sx @ code.matrix)

    def utility(self, joint: Joint, code: Code) -> float:
        """What a code keeps, in bits."""
        return self.amounts(joint, code)[1]

    def whole_leakage(self, joint: Joint) -> float:
        """The reading of a release that tells S itself: leakages are shares of it."""
        return self.measure.whole(joint.p_s)

    def whole_utility(self, joint: Joint) -> float:
        """What X itself keeps: H(X), or I(X;Y) where Y alone is kept; utilities are shares of it."""
        return sum(weight * view.most for weight, view in self.quantities(joint)[1])

    def value(self, joint: Joint, code: Code) -> float:
        """The objective of a code, measured afresh."""
        alpha, beta = self.weights
        told, kept = self.amounts(joint, code)
        return alpha * told + beta * kept

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
        if self.plain:
            return (alpha + beta) * self.f(joint, subset) - alpha * self.g(joint, subset)
        labels = np.arange(joint.n_x)
        members = _positions(subset)
        labels[members] = members[0] if members.size else 0
        return self.value(joint, Partition(labels)) - self.value(
            joint, Partition.identity(joint.n_x)
        )


class Funnel(Objective):
    """Privacy funnel: minimise L = I(S;X̂) − λ I(X;X̂), or another measure, or for another use.

    >>> Funnel(lam=0.8).weights
    (1.0, -0.8)
    >>> joint = Joint.from_counts([[3, 0], [1, 4]])
    >>> Funnel(lam=0.8, measure="guessing").leakage(joint, Partition.identity(2))
    0.25
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
        if not isinstance(beta, Real) or not beta >= 1.0:
            raise InvalidInput(
                f"beta must be a number from 1 on, got {beta!r}; below 1 no code gains anything."
            )
        return cls(1.0 / float(beta))


def _positions(subset: ArrayLike) -> NDArray[np.intp]:
    """Positions of a subset given as positions or as a mask."""
    given = np.asarray(subset)
    return np.flatnonzero(given) if given.dtype == bool else given.astype(np.intp)


PROBLEMS: dict[str, type[Objective]] = {"funnel": Funnel, "bottleneck": Bottleneck}
