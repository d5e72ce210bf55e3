"""Target: one exact demand on I(X;X̂) or I(S;X̂), and the price that a search for it lowers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privacyfunnel.joint import Joint
from privacyfunnel.limits import limit
from privacyfunnel.objectives import PROBLEMS, Objective

MET = 1e-9  # bits by which a target may be missed


@dataclass(frozen=True)
class Price:
    """What a search lowers: α I(S;X̂) + β I(X;X̂), within a limit on another such sum (in bits)."""

    weights: tuple[float, float]
    limit: tuple[float, float] = (0.0, 0.0)
    bound: float = np.inf

    def of(self, leakage: float, utility: float) -> float:
        """The price of a code with these informations, infinite beyond the limit."""
        if self.limit[0] * leakage + self.limit[1] * utility > self.bound + MET:
            return np.inf
        return self.weights[0] * leakage + self.weights[1] * utility


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
    def is_floor(self) -> bool:
        """Whether at least so many bits are asked for, not at most."""
        return (self.problem == "funnel") == (self.quantity == "utility")

    @property
    def price(self) -> Price:
        """What to lower within which limit."""
        sign = self.sign
        if self.quantity == "utility":
            return Price((sign, 0.0), (0.0, -sign), -sign * self.bits)
        return Price((0.0, -sign * max(self.slope, 0.01)), (sign, 0.0), sign * self.bits)

    @property
    def objective(self) -> Objective:
        """The objective whose λ is the slope there."""
        return PROBLEMS[self.problem](min(1.0, max(0.0, self.slope)))

    def bounded(self, leakage: float, utility: float) -> float:
        """The one of the two informations that the target is about."""
        return utility if self.quantity == "utility" else leakage

    def floor(self, joint: Joint) -> float:
        """A price that no release can go below, from the limits."""
        if self.quantity == "utility":
            return self.sign * limit(joint, self.problem, self.bits)
        if self.problem == "bottleneck":
            return self.price.weights[1] * self.bits
        most = min(joint.entropy_x, self.bits + joint.entropy_x - joint.information)
        return self.price.weights[1] * most
