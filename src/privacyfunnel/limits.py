"""What no release can beat, hard or soft, and how far a code is from it."""

from __future__ import annotations

from privacyfunnel.codes import Code
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import leakage, utility
from privacyfunnel.validation import check_choice


def least_leakage(joint: Joint, utility: float) -> float:
    """The funnel's limit: no release of I(X;X̂) = ``utility`` bits leaks less than this.

    I(S;X) − I(S;X̂) = I(S;X given X̂) ≤ H(X given X̂), hence
    I(S;X̂) ≥ max(0, I(S;X) + I(X;X̂) − H(X)); equality iff X is a function of (S, X̂).

    >>> joint = Joint.from_counts([[1, 0], [0, 1]])
    >>> least_leakage(joint, utility=0.25)
    0.25
    """
    return max(0.0, joint.information + utility - joint.entropy_x)


def most_relevance(joint: Joint, rate: float) -> float:
    """The bottleneck's limit: I(S;X̂) ≤ min(I(X;X̂), I(S;X)), by data processing.

    >>> joint = Joint.from_counts([[3, 1], [1, 3]])
    >>> most_relevance(joint, rate=1.0) == joint.information
    True
    """
    return min(rate, joint.information)


def limit(joint: Joint, problem: str, utility: float) -> float:
    """The limit of I(S;X̂) at I(X;X̂) = ``utility`` bits: a floor (funnel) or a ceiling (bottleneck)."""
    check_choice("problem", problem, ["funnel", "bottleneck"])
    bound = least_leakage if problem == "funnel" else most_relevance
    return bound(joint, utility)


def gap(joint: Joint, code: Code, problem: str = "funnel") -> float:
    """Bits between a code's I(S;X̂) and the limit at its I(X;X̂); 0 proves the code optimal.

    >>> joint = Joint.from_counts([[1, 0], [0, 1]])
    >>> from privacyfunnel.codes import Partition
    >>> gap(joint, Partition.trivial(2))
    0.0
    """
    return max(0.0, abs(leakage(joint, code) - limit(joint, problem, utility(joint, code))))
