"""Targets: one exact demand on utility or leakage, and merge paths cut where they meet it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from privacyfunnel.codes import Partition
from privacyfunnel.joint import Joint
from privacyfunnel.limits import limit
from privacyfunnel.objectives import PROBLEMS
from privacyfunnel.solvers.merge_path import MergePath, merge_path
from privacyfunnel.solvers.moves import Price

PATH_LAMS = (0.5, 0.8, 0.95)  # greedy merge paths whose cuts are starts
MOST_SYMBOLS = 2000  # of an alphabet that is worth the paths; a larger one is searched in blocks


@dataclass(frozen=True)
class Target:
    """One exact demand: I(X;X̂) or I(S;X̂) of so many bits, for the funnel or the bottleneck.

    Funnel: least leakage at utility ≥ θ, or most utility at leakage ≤ δ. Bottleneck: most relevance
    at rate ≤ θ, or least rate at relevance ≥ δ. ``slope`` is about how many bits of I(S;X̂) go with
    one bit of I(X;X̂) there; it puts both on one scale where I(S;X̂) is bounded.
    """

    problem: str
    quantity: str  # "utility" bounds I(X;X̂), "leakage" bounds I(S;X̂)
    bits: float
    slope: float = 1.0

    @property
    def sign(self) -> float:
        """1 where I(S;X̂) is unwanted, −1 where it is wanted."""
        return PROBLEMS[self.problem].leakage_weight

    @property
    def price(self) -> Price:
        """What to lower within which limit."""
        sign = self.sign
        if self.quantity == "utility":
            return Price((sign, 0.0), (0.0, -sign), -sign * self.bits)
        return Price((0.0, -sign * max(self.slope, 0.01)), (sign, 0.0), sign * self.bits)

    def floor(self, joint: Joint) -> float:
        """A price that no release can go below, from the limits."""
        if self.quantity == "utility":
            return self.sign * limit(joint, self.problem, self.bits)
        if self.problem == "bottleneck":
            return self.price.weights[1] * self.bits
        most = min(joint.entropy_x, self.bits + joint.entropy_x - joint.information)
        return self.price.weights[1] * most


def greedy_paths(joint: Joint, problem: str) -> list[MergePath]:
    """Greedy merge paths for a few λ, down to one cluster; their cuts are good starts."""
    if joint.n_x > MOST_SYMBOLS:
        return []
    sign = PROBLEMS[problem].leakage_weight
    return [merge_path(joint, (sign, -sign * lam)) for lam in PATH_LAMS]


def cuts_at(paths: Iterable[MergePath], target: Target) -> list[Partition]:
    """Each path cut at the merge next to the target that still meets it."""
    cuts = []
    for path in paths:
        leakage, utility = path.informations  # both fall with each merge
        values = utility if target.quantity == "utility" else leakage
        above = int(np.count_nonzero(values >= target.bits - 1e-12))
        at_least = (target.problem == "funnel") == (target.quantity == "utility")
        position = above - 1 if at_least else above
        cuts.append(path.cut(int(np.clip(position, 0, len(path.merges)))))
    return cuts
