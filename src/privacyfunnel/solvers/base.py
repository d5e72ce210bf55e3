"""What every solver takes and gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol, Self, runtime_checkable

from numpy.random import Generator

from privacyfunnel.codes import Code, Partition
from privacyfunnel.joint import Joint
from privacyfunnel.measures import Shannon
from privacyfunnel.measures.measure import percent
from privacyfunnel.notebook import card, in_short
from privacyfunnel.objectives import PROBLEMS, Objective, leakage, utility

FLAT = 1e-10  # a change of the objective, in bits, that counts as none
KEPT = {"x": "I(X;X̂)", "useful": "I(Y;X̂)", "both": "kept of X and of its use"}


class Status(Enum):
    """Why a solver stopped; the text says what to do about it."""

    CONVERGED = "No further move lowers the objective."
    OPTIMAL = "No hard code does better: all were considered."
    OPTIMAL_RECODING = "No recoding of this kind does better: all were considered."
    AT_LIMIT = "Proved optimal: it meets the limit that no release can beat."
    THRESHOLD = "No further merge keeps the threshold."
    N_SYMBOLS = "Merged down to the number of symbols asked for."
    MAX_ITER = "Stopped at max_iter; raise it, or loosen tol."
    OUT_OF_TIME = "Stopped at max_seconds: the best found so far."
    UNLUCKY_START = (
        "The one start found no merge, but a pair would lower the objective; drop paper=True."
    )


@dataclass(frozen=True)
class Step:
    """One iteration of a solver: where it stands after it and what it took."""

    value: float
    n_symbols: int
    merged: int = 0  # |W|, the symbols merged in this iteration
    inner_steps: int = 0  # steps of the minimiser inside, or candidates looked at


@dataclass(frozen=True)
class Solution:
    """A code and what it costs, measured from the code itself.

    ``leakage`` is I(S;X̂) and ``utility`` I(X;X̂), in bits, or the reading of the measure and what is
    kept for the use that the objective names; ``value`` is the objective, always minimised.
    ``history`` starts with the untouched alphabet.
    """

    code: Code
    objective: Objective
    leakage: float
    utility: float
    status: Status
    history: tuple[Step, ...] = ()
    amount: float | None = None  # what is told, where the leakage is another reading of it

    @property
    def amounts(self) -> tuple[float, float]:
        """What is told and what is kept, as the sums over clusters that a price weighs."""
        return self.leakage if self.amount is None else self.amount, self.utility

    @property
    def value(self) -> float:
        """α · told + β · kept: L for the funnel, −L for the bottleneck."""
        alpha, beta = self.objective.weights
        told, kept = self.amounts
        return alpha * told + beta * kept

    @property
    def n_symbols(self) -> int:
        """Number of released symbols."""
        return self.code.n_symbols

    def _repr_html_(self) -> str:
        measure = self.objective.measure
        told = "I(S;X̂)" if isinstance(measure, Shannon) else f"{measure.title} of S"
        reading = f"{self.leakage:.4f} {measure.unit}".rstrip()
        if measure.unit == "share":
            reading = percent(self.leakage)
        facts = {
            "released symbols": f"{self.n_symbols:,}",
            told: reading,
            KEPT[self.objective.keep]: f"{self.utility:.4f} bits",
            "value": f"{self.value:.4f}",
        }
        columns = getattr(self.code, "columns", ())
        rows = [(c.name, len(c.groups), in_short(g.label for g in c.groups)) for c in columns]
        return card(self.status.value, facts, ("column", "groups", "released as"), rows)

    @classmethod
    def measured(
        cls,
        joint: Joint,
        objective: Objective,
        code: Code,
        status: Status,
        history: tuple[Step, ...] = (),
    ) -> Self:
        """A solution whose leakage and utility are measured afresh."""
        told, kept = objective.amounts(joint, code)
        leakage = objective.measure.reading(told, joint.p_s)
        amount = None if leakage == told else told
        return cls(code, objective, leakage, kept, status, history, amount)


def in_bits(joint: Joint, solution: Solution) -> Solution:
    """The same code, its figures I(S;X̂) and I(X;X̂) whatever it was searched by."""
    if solution.objective.plain:
        return solution
    make = PROBLEMS[solution.objective.problem]
    return replace(
        solution,
        objective=make(min(1.0, solution.objective.lam)),
        leakage=leakage(joint, solution.code),
        utility=utility(joint, solution.code),
        amount=None,
    )


class Solver(Protocol):
    """Settings only: a run leaves no trace on the solver.

    What a method can do beyond one λ it says by what it has: `TargetSolver`, `ManyTargetsSolver`,
    `SizeSolver`, `SweptSolver`. ``problems`` names what it is for, where that is not both;
    ``any_measure`` is true where it searches more than I(S;X̂) against I(X;X̂); the fields of the dataclass
    are the settings that it takes, and no others are.
    """

    def solve(
        self, joint: Joint, objective: Objective, *, start: Partition | None = None, rng: Generator
    ) -> Solution:
        """Search a code of low value, from ``start`` where the solver can use one."""
        ...


@runtime_checkable
class SizeSolver(Solver, Protocol):
    """A method that finds the most relevant code of a given number of symbols."""

    def solve_size(self, joint: Joint, n_symbols: int, *, rng: Generator) -> Solution:
        """The code found of most I(S;X̂) with at most ``n_symbols`` symbols."""
        ...


@runtime_checkable
class SweptSolver(Solver, Protocol):
    """A method that λ plays no part in: it says what a frontier sweeps instead."""

    @classmethod
    def swept(cls, joint: Joint, problem: str, shares: Sequence[float]) -> list[Self]:
        """A solver for each share in [0, 1] of what there is to keep."""
        ...
