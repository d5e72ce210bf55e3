"""What every solver takes and gives back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np

from privacyfunnel import objectives
from privacyfunnel.codes import Code, Partition
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import Objective

FLAT = 1e-10  # a change of the objective, in bits, that counts as none


class Status(Enum):
    """Why a solver stopped; the text says what to do about it."""

    CONVERGED = "No further move lowers the objective."
    OPTIMAL = "No hard code does better: all were considered."
    OPTIMAL_RECODING = "No recoding of this kind does better: all were considered."
    AT_LIMIT = "Proved optimal: it meets the limit that no release can beat."
    THRESHOLD = "No further merge keeps the threshold."
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

    ``leakage`` is I(S;X̂) and ``utility`` I(X;X̂), in bits; ``value`` is the objective, always
    minimised. ``history`` starts with the untouched alphabet.
    """

    code: Code
    objective: Objective
    leakage: float
    utility: float
    status: Status
    history: tuple[Step, ...] = ()

    @property
    def value(self) -> float:
        """α I(S;X̂) + β I(X;X̂): L for the funnel, −L for the bottleneck."""
        alpha, beta = self.objective.weights
        return alpha * self.leakage + beta * self.utility

    @property
    def n_symbols(self) -> int:
        """Number of released symbols."""
        return self.code.n_symbols

    @classmethod
    def measured(
        cls,
        joint: Joint,
        objective: Objective,
        code: Code,
        status: Status,
        history: tuple[Step, ...] = (),
    ) -> Solution:
        """A solution whose leakage and utility are measured afresh."""
        leakage, utility = objectives.leakage(joint, code), objectives.utility(joint, code)
        return cls(code, objective, leakage, utility, status, history)


class Solver(Protocol):
    """Settings only: a run leaves no trace on the solver."""

    def solve(
        self,
        joint: Joint,
        objective: Objective,
        *,
        start: Partition | None = None,
        rng: np.random.Generator,
    ) -> Solution:
        """Search a code of low value, from ``start`` where the solver can use one."""
        ...
