"""Population: how much a rule gives away, at most, about people who are not in the table.

The records are drawn from a population, and the rule that releases x̂ was chosen without them. Then
their own I(S;X̂) is rarely far below the population's: most of its error is on the safe side, because
coincidences look like a link. How rarely, and how far, is a theorem (``docs/theory/population.md``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privacyfunnel.errors import InvalidInput
from privacyfunnel.information import Array, share
from privacyfunnel.joint import Joint

CONFIDENCE = 0.95
PARTS = (0.6, 0.2, 0.2)  # of the risk: the information's tail, the values' drift, their frequencies
STEPS = 60  # of a bisection


@dataclass(frozen=True)
class PopulationBound:
    """With probability ``confidence`` the rule gives away at most ``bits`` about a new person.

    ``leakage`` is the same as a share of H(S) of the records; ``n_people`` were not seen by whoever
    chose the rule, and ``measured_bits`` is what they themselves show.
    """

    bits: float
    leakage: float
    measured_bits: float
    n_people: int
    confidence: float


def population_bound(
    joint: Joint,
    *,
    n_people: int | None = None,
    values: tuple[int, int] | None = None,
    confidence: float = CONFIDENCE,
) -> PopulationBound:
    """An upper bound of I(S;X̂) in the population that the joint's people were drawn from.

    With Î of these n people, in nats, and the risk 1 − confidence in three parts, δ₁ to δ₃,

        I ≤ M + 2gc + 2√(g²c² + gcM + gC),    M = Î + d,    g = ln(1/δ₁)/n.

    d bounds how far the frequencies of the values of S can have drifted, D(p̂_s‖p_s) (Agrawal 2020),
    at δ₂; c = B²/2(e⁻ᴮ − 1 + B) with B = ln 1/p of the rarest value of S, at δ₃. The rarest ones may be
    priced apart, by C, where that is better. S and X̂ may change places, so the one with fewer values
    takes the place of S. A code by lot needs no draws: p̂(s,x̂) by its probabilities will do.

    ``n_people`` are the independent ones, where they are not the joint's records; ``values`` how many
    values S and X̂ can have, if more than these people show.

    >>> few = population_bound(Joint.from_counts([[60, 40], [40, 60]]))
    >>> many = population_bound(Joint.from_counts([[6000, 4000], [4000, 6000]]))
    >>> few.measured_bits == many.measured_bits
    True
    >>> round(few.measured_bits, 3), round(few.bits, 2), round(many.bits, 3)
    (0.029, 0.25, 0.036)
    """
    if not 0.0 < confidence < 1.0:
        raise InvalidInput(f"confidence must lie between 0 and 1, got {confidence:g}.")
    n = joint.n_records if n_people is None else n_people
    if n is None:
        raise InvalidInput("a bound for new people needs people that can be counted, not weights.")
    p, k = _smaller_side(joint, values)
    risks = [part * (1.0 - confidence) for part in PARTS]
    told = joint.information * math.log(2) + _drift(n, k, risks[1])
    g = math.log(1.0 / risks[0]) / n
    bits = min(_largest(told, g, p, n, risks[2]) / math.log(2), math.log2(k))
    return PopulationBound(
        bits=bits,
        leakage=min(1.0, share(bits, joint.entropy_s)),
        measured_bits=joint.information,
        n_people=n,
        confidence=confidence,
    )


def _smaller_side(joint: Joint, values: tuple[int, int] | None) -> tuple[Array, int]:
    """The frequencies of the values of S or of X̂, whichever are fewer; those not seen are 0."""
    sizes = [
        max(n, known) for n, known in zip((joint.n_s, joint.n_x), values or (1, 1), strict=True)
    ]
    p = joint.p_s if sizes[0] <= sizes[1] else joint.p_x
    k = min(sizes)
    return np.concatenate([p, np.zeros(k - len(p))]), k


def _drift(n: int, k: int, risk: float) -> float:
    """What D(p̂‖p) of n draws from k values exceeds with probability ``risk`` at most, in nats.

    P(n D ≥ t) ≤ e⁻ᵗ (e t/(k−1))ᵏ⁻¹ for t > k − 1 (Agrawal 2020); for two values also 2e⁻ᵗ.

    >>> _drift(1000, 1, 0.01), round(_drift(1000, 2, 0.01), 5), round(_drift(1000, 50, 0.01), 5)
    (0.0, 0.0053, 0.07342)
    """
    if k == 1:
        return 0.0
    if k == 2:
        return math.log(2.0 / risk) / n
    m, goal = k - 1, math.log(1.0 / risk)
    low, high = float(m), 2.0 * m + 4.0 * goal  # there the exponent is beyond the goal
    for _ in range(STEPS):
        t = (low + high) / 2
        low, high = (low, t) if t - m - m * math.log(t / m) > goal else (t, high)
    return high / n


def _largest(told: float, g: float, p: Array, n: int, risk: float) -> float:
    """The bound in nats, the rarest values priced apart as far as that lowers it."""
    low, high = _frequencies(p, n, risk)
    order = np.argsort(low)
    # A value of probability q adds at most q ln²(1/q)/2, which rises up to q = e⁻².
    q = np.minimum(high[order], math.exp(-2.0))
    apart = np.concatenate([[0.0], np.cumsum(q * np.log(q) ** 2 / 2)])
    found = math.inf
    for rarest, extra in zip(low[order], apart[:-1], strict=True):
        if rarest > 0.0:
            b = -math.log(rarest)
            c = max(1.0, b * b / (2.0 * (math.exp(-b) - 1.0 + b))) if b > 1e-6 else 1.0
            root = math.sqrt((g * c) ** 2 + g * c * told + g * float(extra))
            found = min(found, told + 2.0 * g * c + 2.0 * root)
    return found


def _frequencies(p: Array, n: int, risk: float) -> tuple[Array, Array]:
    """Where the true frequencies lie, all at once: n · kl(p̂, p) ≤ ln(2k/risk) (Chernoff)."""
    most = math.log(2.0 * len(p) / risk) / n
    ends = []
    for side in (0.0, 1.0):
        near, far = p.copy(), np.full(len(p), side)
        for _ in range(STEPS):
            middle = (near + far) / 2
            inside = _binary_divergence(p, middle) <= most
            near, far = np.where(inside, middle, near), np.where(inside, far, middle)
        ends.append(far)  # on the careful side
    return ends[0], ends[1]


def _binary_divergence(p: Array, q: Array) -> Array:
    """D(p‖q) of coins, in nats."""
    with np.errstate(divide="ignore", invalid="ignore"):
        heads = np.where(p > 0, p * np.log(p / q), 0.0)
        tails = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0.0)
    return np.asarray(heads + tails)
