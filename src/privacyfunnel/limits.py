"""What no release can beat, hard or soft, and how far a code is from it."""

from __future__ import annotations

import math

from privacyfunnel.codes import Code
from privacyfunnel.joint import Joint
from privacyfunnel.measures import Measure, make_measure
from privacyfunnel.objectives import PROBLEMS
from privacyfunnel.validation import check_choice

PROVED = 1e-9  # bits from the limit that count as none


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


def limit(
    joint: Joint,
    problem: str,
    utility: float,
    *,
    measure: str | Measure = "shannon",
    keep: str = "x",
) -> float:
    """What no release of that utility beats: a floor of the leakage (funnel), a ceiling (bottleneck).

    Another measure has the floor that its own bound from below by Shannon's information makes of the
    funnel's (see `Measure.least`); NaN where none is proved. A release that keeps I(Y;X̂) bits of a
    use keeps at least as many of X. The ceiling of any measure is what X itself tells.

    >>> joint = Joint.from_counts([[1, 0], [0, 1]])
    >>> limit(joint, "funnel", 0.5), limit(joint, "funnel", 1.0, measure="guessing")
    (0.5, 0.5)
    >>> limit(joint, "funnel", 0.5, measure="arimoto")
    nan
    """
    check_choice("problem", problem, PROBLEMS)
    objective = PROBLEMS[problem](0.0, make_measure(measure), keep)
    if problem == "bottleneck":
        if objective.plain:
            return most_relevance(joint, utility)
        return objective.measure(joint.p_sx)
    # Half of what is kept of both is of X, and the other half is no more than H(X)/2.
    of_x = 2.0 * utility - joint.entropy_x if keep == "both" else utility
    least = objective.measure.least(least_leakage(joint, of_x), joint.p_s)
    return math.nan if least is None else least


def gap(
    joint: Joint,
    code: Code,
    problem: str = "funnel",
    *,
    measure: str | Measure = "shannon",
    keep: str = "x",
) -> float:
    """What is between a code's leakage and the limit at its utility; 0 proves the code optimal.

    In bits, or as the measure reads; infinite where no limit is proved.

    >>> joint = Joint.from_counts([[1, 0], [0, 1]])
    >>> from privacyfunnel.codes import Partition
    >>> gap(joint, Partition.trivial(2))
    0.0
    """
    objective = PROBLEMS[problem](0.0, make_measure(measure), keep)
    bound = limit(joint, problem, objective.utility(joint, code), measure=measure, keep=keep)
    return math.inf if math.isnan(bound) else max(0.0, abs(objective.leakage(joint, code) - bound))
