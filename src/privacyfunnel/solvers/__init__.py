"""Solvers: one file each, found by name in `SOLVERS`; `solve` is the front door."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from privacyfunnel.errors import InvalidInput
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import PROBLEMS, Objective
from privacyfunnel.solvers.base import Solution, Solver, Status
from privacyfunnel.solvers.best import BestSearch
from privacyfunnel.solvers.exhaustive import ExhaustiveSearch
from privacyfunnel.solvers.iac_mdsf import IacMdsf
from privacyfunnel.solvers.moves import MoveSearch
from privacyfunnel.solvers.pairwise import AgglomerativeBottleneck, GreedyMerge, PairwiseMerge
from privacyfunnel.solvers.quantizer import OptimalQuantizer
from privacyfunnel.solvers.soft.bottleneck import DeterministicAnnealing
from privacyfunnel.solvers.soft.funnel import SoftFunnel
from privacyfunnel.solvers.target import TargetSolver
from privacyfunnel.validation import check_choice, check_rng

__all__ = [
    "SOLVERS",
    "Solution",
    "Solver",
    "Status",
    "check_measure",
    "check_problem",
    "check_settings",
    "make_solver",
    "settings_of",
    "solve",
]

SOLVERS: dict[str, type[Solver]] = {
    "best": BestSearch,
    "iac-mdsf": IacMdsf,
    "pairwise": PairwiseMerge,
    "agglomerative": AgglomerativeBottleneck,
    "greedy": GreedyMerge,
    "moves": MoveSearch,
    "exhaustive": ExhaustiveSearch,
    "quantizer": OptimalQuantizer,
    "soft": SoftFunnel,
    "annealing": DeterministicAnnealing,
}


def settings_of(method: str) -> list[str]:
    """The settings that a method declares: the fields of its dataclass.

    >>> settings_of("agglomerative")
    ['n_symbols']
    """
    check_choice("method", method, list(SOLVERS))
    return list(getattr(SOLVERS[method], "__dataclass_fields__", {}))


def check_settings(method: str, given: Iterable[str]) -> None:
    """The method takes all these settings; none is dropped silently."""
    known = settings_of(method)
    for name in given:
        if name not in known:
            takes = ", ".join(known) or "none"
            raise InvalidInput(f"method {method!r} has no setting {name!r}; it has: {takes}.")


def check_problem(method: str, problem: str) -> None:
    """The method is for this problem."""
    check_choice("problem", problem, list(PROBLEMS))
    check_choice("method", method, list(SOLVERS))
    if problem not in _problems(method):
        # Its counterpart: for the other problem alone, and as able to meet targets.
        able = issubclass(SOLVERS[method], TargetSolver)
        others = [
            name
            for name, kind in SOLVERS.items()
            if _problems(name) == (problem,) and issubclass(kind, TargetSolver) == able
        ]
        raise InvalidInput(
            f"method {method!r} is not for the {problem}; use {[*others, 'best'][0]!r}."
        )


def check_measure(method: str, objective: Objective) -> None:
    """The method can search what the objective measures."""
    if not objective.plain and not getattr(SOLVERS[method], "any_measure", False):
        able = [name for name, kind in SOLVERS.items() if getattr(kind, "any_measure", False)]
        asked = objective.measure.spelled if objective.keep == "x" else f"keep={objective.keep}"
        raise InvalidInput(
            f"method {method!r} is for Shannon's information about S and X alone, not for {asked}; "
            f"use {', '.join(able[:-1])} or {able[-1]}."
        )


def _problems(method: str) -> tuple[str, ...]:
    return tuple(getattr(SOLVERS[method], "problems", PROBLEMS))


def make_solver(method: str, **options: Any) -> Solver:
    """The solver of that name with its settings.

    >>> make_solver("iac-mdsf", starts=2)
    IacMdsf(mdsf='ssp', starts=2, runs=3, paper=False, utility=None)
    """
    check_settings(method, options)
    return SOLVERS[method](**options)


def solve(
    joint: Joint, objective: Objective, method: str = "best", *, seed: int = 0, **options: Any
) -> Solution:
    """Search a code of low value for one objective.

    >>> from privacyfunnel.objectives import Funnel
    >>> joint = Joint.from_counts([[3, 0, 1, 2], [0, 3, 2, 1]])
    >>> solution = solve(joint, Funnel(lam=0.3), method="exhaustive")
    >>> solution.code.labels
    array([0, 0, 1, 2])
    """
    check_problem(method, objective.problem)
    check_measure(method, objective)
    return make_solver(method, **options).solve(joint, objective, rng=check_rng(seed))
