"""Target: one exact demand on what is kept or told, when it is met, and the solvers that meet it.

By how much a target may be missed is said here and nowhere else (a cover's and a distortion's budget, an
audit's limits and the rounding of a linear program are no targets and have their own); so is which of
some codes is taken (`rank`, by which every search for one orders what it has found, and `tie_break`), how
two are mixed, and what is proved of it. A compiled loop keeps the cheapest code that it meets, and is
handed these numbers. How codes are searched is the solver's: ``best.py`` for a hard code (small alphabets
``exhaustive.py``, binary S ``quantizer.py``, thousands of values ``large/``), ``soft/time_sharing.py`` by
lot, ``caps.py`` for many secrets, ``recodings/`` (``global_recoding.py``, ``local_recoding.py``,
``useful.py``) for a readable one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import mul
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.random import Generator

from privacyfunnel.codes import Code
from privacyfunnel.errors import TargetUnreachable
from privacyfunnel.information import share
from privacyfunnel.joint import Joint
from privacyfunnel.limits import PROVED, limit
from privacyfunnel.measures import INFORMATION, Measure
from privacyfunnel.objectives import PROBLEMS, Objective
from privacyfunnel.parallel import Progress
from privacyfunnel.solvers.base import Solution, Solver, Status

Found = TypeVar("Found")
Solved = TypeVar("Solved", bound=Solution)
Weights = tuple[float, ...]  # of amounts, as a rule of what is told and of what is kept
Limit = tuple[Weights, float]  # a weighted sum, and the most that it may be

MET = 1e-9  # bits, or share kept, by which what a search hands out may miss its target
OF_ALL = MET / 2  # the same where all codes are looked at: what is handed out is within `MET`
DIGITS = 12  # to which prices are compared
HAIR = 10.0**-DIGITS  # what rounding takes, within a search, from a sum that meets its target
SPARED_DIGITS = 6  # to which codes of one price are compared by how far they are from the limits
HALVINGS = 6  # of what may be kept, to come near a bound on what is told
SLIGHT = 10.0**-SPARED_DIGITS  # the weight of that beside the price, in a loop that lowers one sum


def floor_of(least: Any, off: float = HAIR) -> Any:
    """What a search may go down to where at least so much is asked for."""
    return least - off


def ceiling_of(most: Any, off: float = HAIR) -> Any:
    """What a search may go up to where no more than so much is asked for."""
    return most + off


def mixing_share(low: float, high: float, bits: float, *, is_floor: bool) -> float:
    """The share of the one of two codes that has more, where a release by lot is to have so many bits.

    All of it where both have the same; a hair more where rounding could miss a least that is asked for.

    >>> mixing_share(1.0, 3.0, 1.5, is_floor=False), mixing_share(1.0, 1.0, 1.0, is_floor=True)
    (0.25, 1.0)
    """
    if high - low < MET:
        return 1.0
    aimed = ceiling_of(bits) if is_floor else bits
    return float(min(1.0, max(0.0, (aimed - low) / (high - low))))


def reaches(value: Any, least: Any, off: float = HAIR) -> Any:
    """Whether at least so much is there, of a number or of each of an array.

    >>> reaches(0.1 * 3, 0.3), reaches(0.3 - 1e-10, 0.3), reaches(0.3 - 1e-10, 0.3, MET)
    (True, False, True)
    """
    return value >= floor_of(least, off)


def stays_within(value: Any, most: Any, off: float = HAIR) -> Any:
    """Whether no more than so much is there; the other side of `reaches`."""
    return value <= ceiling_of(most, off)


def gains(value: float, before: float, off: float = HAIR) -> bool:
    """Whether a price is lower than one before by more than rounding, or than it takes to matter.

    Where a target is met exactly, by lot, this alone decides between codes: none is farther from it.
    """
    return value < before - off


def hits(value: float, target: float, off: float = HAIR) -> bool:
    """Whether it is so much and neither more nor less."""
    return abs(value - target) <= off


class Told(Protocol):
    """A code that says what it tells and what it keeps."""

    @property
    def leakage(self) -> float: ...

    @property
    def kept(self) -> float: ...


@dataclass(frozen=True)
class Price:
    """What a search lowers: a weighted sum of amounts, within limits on other such sums.

    As a rule α · told + β · kept within one limit: I(S;X̂) and I(X;X̂) in bits, unless another measure or
    use is asked for.
    """

    weights: Weights
    limits: tuple[Limit, ...] = ()

    @classmethod
    def keeping(cls, least: float) -> Price:
        """To tell least of what keeps at least so much."""
        return cls((1.0, 0.0), (((0.0, -1.0), -least),))

    @classmethod
    def telling(cls, most: float) -> Price:
        """To keep most of what tells at most so much."""
        return cls((0.0, -1.0), (((1.0, 0.0), most),))

    @property
    def limit(self) -> Limit:
        """The one limit, as loops take it that know of one; without a bound where there is none."""
        return self.limits[0] if self.limits else ((0.0, 0.0), math.inf)

    def of(self, *amounts: float) -> float:
        """The price of a code of these amounts, infinite beyond a limit."""
        return rank(self, amounts)[0]


def rank(price: Price, amounts: Sequence[float]) -> tuple[float, float]:
    """What codes are taken by, the lowest first: the price, infinite beyond a limit; then `tie_break`.

    Of codes that are equal in both the one found first is taken.

    >>> rank(Price.keeping(0.5), (0.2, 0.6)), rank(Price.keeping(0.5), (0.1, 0.4))
    ((0.2, -0.6), (inf, -0.4))
    """
    return _ranking(price)(amounts)


def _ranking(price: Price) -> Callable[[Sequence[float]], tuple[float, float]]:
    """`rank` for many codes: what is the same for all is worked out once."""
    weights, tie, limits = price.weights, tie_break(price), price.limits

    def of(amounts: Sequence[float]) -> tuple[float, float]:
        spared = round(sum(map(mul, tie, amounts)), SPARED_DIGITS)
        for row, most in limits:
            if not stays_within(sum(map(mul, row, amounts)), most, MET):
                return math.inf, spared
        return round(float(sum(map(mul, weights, amounts))), DIGITS), spared

    return of


def tie_break(price: Price) -> Weights:
    """The weights of what decides between equals: the one farther from the limits is taken.

    >>> tie_break(Price.keeping(0.5))  # the one that keeps more
    (0.0, -1.0)
    """
    return tuple(map(sum, zip(*(row for row, _ in price.limits), strict=True)))


def among_equals(price: Price, lowest: float) -> Price:
    """What is lowered next where codes of the lowest price are looked for: `rank` in two steps."""
    return Price(tie_break(price), (*price.limits, (price.weights, lowest)))


def ranked(
    codes: Iterable[Found], price: Price, amounts: Callable[[Found], Sequence[float]]
) -> list[Found]:
    """Codes by `rank`: the one that is taken first, those beyond a limit last."""
    rank_of = _ranking(price)
    return sorted(codes, key=lambda code: rank_of(amounts(code)))


def chosen(
    codes: Iterable[Found], price: Price, amounts: Callable[[Found], Sequence[float]]
) -> Found | None:
    """Of codes the one that is taken; None where none is within the limits."""
    best = next(iter(ranked(codes, price, amounts)), None)
    return None if best is None or rank(price, amounts(best))[0] == math.inf else best


def told_and_kept(code: Told) -> tuple[float, float]:
    """The amounts of a readable code, where both are on the scale of its target."""
    return code.leakage, code.kept


class Halving:
    """Amounts to ask for, each halfway between one that is allowed and one that is not.

    Whoever asks says by `reached` what an allowed code has; else the amount counts as not allowed. So a
    bound on what is told is come near to: to tell least of what keeps so much knows no wall of single
    moves that all tell too much.

    >>> halving = Halving(0.0, 1.0, 4)
    >>> for asked in halving:
    ...     if asked < 0.3:
    ...         halving.reached(asked)
    >>> halving.low, halving.high
    (0.25, 0.3125)
    """

    def __init__(self, low: float, high: float, steps: int = HALVINGS) -> None:
        self.low, self.high, self.steps = low, high, steps
        self._reached: float | None = None

    def reached(self, amount: float) -> None:
        """A code with at least what is asked for is allowed, and has so much."""
        self._reached = amount

    def __iter__(self) -> Iterator[float]:
        for _ in range(self.steps):
            self._reached, asked = None, (self.low + self.high) / 2
            yield asked
            if self._reached is None:
                self.high = asked
            else:
                self.low = self._reached


@dataclass(frozen=True)
class Target:
    """One exact demand: I(X;X̂) or I(S;X̂) of so many bits, for the funnel or the bottleneck.

    Or so much of what another ``measure`` tells, or of what is kept for another use (``keep``), as
    amounts (see `Measure`).

    Funnel: least leakage at utility ≥ θ, or most utility at leakage ≤ δ. Bottleneck: most relevance
    at rate ≤ θ, or least rate at relevance ≥ δ. ``slope`` is about how many bits of I(S;X̂) go with
    one bit of I(X;X̂) there; it puts both on one scale where I(S;X̂) is bounded.
    """

    problem: str
    quantity: str  # "utility" bounds I(X;X̂), "leakage" bounds I(S;X̂)
    bits: float
    slope: float = 1.0
    measure: Measure = INFORMATION
    keep: str = "x"

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
            return Price((sign, 0.0), (((0.0, -sign), -sign * self.bits),))
        return Price((0.0, -sign * self.scale), (((sign, 0.0), sign * self.bits),))

    @property
    def scale(self) -> float:
        """What one unit that is kept counts where what is told is bounded."""
        return max(self.slope, 0.01) if self.objective.plain else max(self.slope, 1e-9)

    @property
    def objective(self) -> Objective:
        """The objective whose λ is the slope there."""
        return PROBLEMS[self.problem](0.0, self.measure, self.keep).at(self.slope)

    def bounded(self, leakage: Found, utility: Found) -> Found:
        """The one of the two informations, or arrays of them, that the target is about."""
        return utility if self.quantity == "utility" else leakage

    def share(self, joint: Joint, amount: float) -> float:
        """An amount of what the target bounds as a share of all there is."""
        if self.quantity == "utility":
            return float(share(amount, self.objective.whole_utility(joint)))
        reading = self.measure.reading(amount, joint.p_s)
        return float(share(reading, self.objective.whole_leakage(joint)))

    def unreached(
        self, joint: Joint, least: float, nearest: float | None = None, *, of_all: bool = False
    ) -> TargetUnreachable:
        """What is raised where no code, of those found or ``of_all``, has at least so much.

        ``least`` is the records that each symbol must have, ``nearest`` the amount that can be had.
        """
        name = "utility" if self.quantity == "utility" else "relevance"
        none, near = ("has", "nearest") if of_all else ("was found with", "nearest found")
        rule = f" with at least {least:g} records per symbol" if least > 1 else ""
        told = "" if nearest is None else f"; the {near} has {self.share(joint, nearest):.4g}"
        asked = f"{self.share(joint, self.bits):.4g}"
        return TargetUnreachable(f"no release {none} a {name} of at least {asked}{rule}{told}.")

    def floor(self, joint: Joint) -> float:
        """A price that no release can go below, from the limits; −∞ where none is known."""
        if self.quantity == "utility":
            reading = limit(joint, self.problem, self.bits, measure=self.measure, keep=self.keep)
            known = self.measure.amount(reading, joint.p_s)
            return -np.inf if np.isnan(reading) else self.sign * known
        if not self.objective.plain:
            whole = self.objective.whole_utility(joint)
            return -np.inf if self.problem == "bottleneck" else self.price.weights[1] * whole
        if self.problem == "bottleneck":
            return self.price.weights[1] * self.bits
        most = min(joint.entropy_x, self.bits + joint.entropy_x - joint.information)
        return self.price.weights[1] * most


@runtime_checkable
class TargetSolver(Solver, Protocol):
    """A method that meets exact targets: frontiers are drawn with it by target, and `at` asks it.

    ``for_one_target()``, if there is one, is the solver that `at` asks, which may take its time;
    ``refined(joint)`` is the solver, or None, that visits every target of a frontier again, from its
    neighbours; ``archive(joint, aim)`` are codes for all targets at once, which a frontier keeps for
    `at`; with ``prefers_lam(joint, problem)`` a frontier is drawn by λ unless targets are given.
    """

    def solve_at(
        self, joint: Joint, target: Target, *, starts: Sequence[Code] = (), rng: Generator
    ) -> Solution:
        """The best code found that meets the target; `TargetUnreachable` where none is."""
        ...


@runtime_checkable
class ManyTargetsSolver(TargetSolver, Protocol):
    """A method that finds the codes of many targets together faster than one by one."""

    def solve_many(
        self,
        joint: Joint,
        targets: Sequence[Target],
        *,
        n_jobs: int,
        seed: int,
        progress: Progress | None,
    ) -> list[Solution]:
        """The best code found for each target."""
        ...


def meet(
    target: Target,
    joint: Joint,
    solver: Solver,
    *,
    known: Iterable[Solution],
    starts: Sequence[Code],
    rng: Generator,
) -> Solution | None:
    """The best release for a target: of those known that meet it and the one that a search finds.

    None where none is known and the solver meets no targets; `TargetUnreachable` where it finds none.
    """
    search = None
    if isinstance(solver, TargetSolver) and joint.n_x > 1:
        longer = getattr(solver, "for_one_target", None)
        asked = solver if longer is None else longer()
        search = partial(asked.solve_at, joint, target, starts=starts, rng=rng)
    best = best_of(known, search, target.price)
    return None if best is None else _proved_for(target, joint, best)


def best_of(
    known: Iterable[Solved],
    search: Callable[[], Solved] | None,
    price: Price,
    amounts: Callable[[Solved], Sequence[float]] = lambda solution: solution.amounts,
) -> Solved | None:
    """Of the solutions known and the one that a search finds the one that is taken.

    Of equals it is one that the search has proved optimal: what is proved of a known one is so for
    another target. That the search finds none matters only where none is known.
    """
    best = cheapest(map(_unproved, known), price, amounts)
    if search is None:
        return best
    try:
        found = search()
    except TargetUnreachable:
        if best is None:
            raise
        return best
    return found if best is None else cheapest([best, found], price, amounts)


def cheapest(
    solutions: Iterable[Solved],
    price: Price,
    amounts: Callable[[Solved], Sequence[float]] = lambda solution: solution.amounts,
) -> Solved | None:
    """Of solutions that meet a target the best, of equals one that is known to be optimal."""
    proved_first = sorted(solutions, key=lambda solution: solution.status is not Status.OPTIMAL)
    return chosen(proved_first, price, amounts)


def _proved_for(target: Target, joint: Joint, solution: Solution) -> Solution:
    """The same solution, its status saying whether no release whatever meets the target better.

    A code that meets the limit at its own utility need not be the best for what was asked.
    """
    price = target.price.of(*solution.amounts)
    if price <= target.floor(joint) + PROVED:
        return replace(solution, status=Status.AT_LIMIT)
    return _unproved(solution) if solution.status is Status.AT_LIMIT else solution


def _unproved(solution: Solved) -> Solved:
    """The same solution without what is proved of it for another target, or for a λ."""
    proved = solution.status in (Status.OPTIMAL, Status.AT_LIMIT)
    return replace(solution, status=Status.CONVERGED) if proved else solution
