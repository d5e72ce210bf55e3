"""Frontier words: what some releases of a frontier keep and tell, by what was asked for, in sentences."""

from __future__ import annotations

import numpy as np

from privacyfunnel.frontiers.frontier import Frontier
from privacyfunnel.information import share
from privacyfunnel.measures import Shannon
from privacyfunnel.report.numbers import listed, percent
from privacyfunnel.solvers.target import Price, chosen

SHARES = (0.25, 0.5, 0.75, 1.0)  # of what there is to keep, at which a release is told of
KEPT = {
    "x": "the columns",
    "useful": "what the columns say about {use}",
    "both": "the columns and what they say about {use}",
}


def hidden(frontier: Frontier) -> str:
    """The sensitive columns by name, else the letter."""
    return listed(frontier.joint.sensitive) if frontier.joint.sensitive else "S"


def kept(frontier: Frontier) -> str:
    """What is kept, in words."""
    useful = frontier.joint.useful
    names = useful.sensitive if useful is not None else ()
    return KEPT[frontier.keep].format(use=listed(names) if names else "the use")


def axis_words(frontier: Frontier) -> tuple[str, str]:
    """What is kept and what is told, shares of what there is: formulas of Shannon's, else words."""
    formulas = {"x": "I(X;X̂)/H(X)", "useful": "I(Y;X̂)/I(Y;X)", "both": "of X and of its use"}
    if isinstance(frontier.measure, Shannon):
        return formulas[frontier.keep], "I(S;X̂)/H(S)"
    return formulas[frontier.keep], f"{frontier.measure.title} of {hidden(frontier)}"


def sentences(frontier: Frontier) -> list[str]:
    """Some releases by the measure and the use that were asked for; none for the paper's own.

    >>> from privacyfunnel.frontiers.sweep import frontier
    >>> from privacyfunnel.joint import Joint
    >>> joint = Joint.from_counts([[3, 1], [1, 3]], sensitive=["sex"])
    >>> for line in sentences(frontier(joint, measure="guessing", n_points=2)):
    ...     print(line)
    100% of the columns: the best guess of sex is right in 75.0% of cases, 50.0% without the data.
    """
    aim, joint = frontier.aim, frontier.joint
    if aim.plain:
        return []
    shares = share(frontier.points[:, 0], aim.whole_utility(joint))
    points = list(zip([s.leakage for s in frontier], shares.tolist(), strict=True))
    shown = [chosen(points, Price.keeping(least), lambda point: point) for least in SHARES]
    lines = [
        f"{percent(point[1])} of {kept(frontier)}: "
        f"{aim.measure.sentence(hidden(frontier), point[0], joint.p_s)}."
        for point in dict.fromkeys(shown)
        if point is not None
    ]
    if np.isnan(frontier.limits([0.0])).any():
        lines.append(f"No limit is proved for {aim.measure.title}.")
    return lines
