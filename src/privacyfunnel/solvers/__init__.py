"""Solvers: one file each, found by name in `SOLVERS`; `solve` is the front door."""

from __future__ import annotations

from typing import Any

from privacyfunnel.errors import InvalidInput
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import Objective
from privacyfunnel.solvers.base import Solution, Solver, Status
from privacyfunnel.solvers.best import BestSearch
from privacyfunnel.solvers.exhaustive import ExhaustiveSearch
from privacyfunnel.solvers.iac_mdsf import IacMdsf
from privacyfunnel.solvers.moves import MoveSearch
from privacyfunnel.solvers.pairwise import AgglomerativeBottleneck, GreedyMerge, PairwiseMerge
from privacyfunnel.solvers.quantizer import OptimalQuantizer
from privacyfunnel.solvers.soft.bottleneck import DeterministicAnnealing
from privacyfunnel.solvers.soft.funnel import SoftFunnel
from privacyfunnel.validation import check_choice, check_rng

__all__ = ["SOFT", "SOLVERS", "Solution", "Solver", "Status", "make_solver", "solve"]

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
SOFT = {"funnel": "soft", "bottleneck": "annealing"}  # the methods whose codes are channels


def make_solver(method: str, **options: Any) -> Solver:
    """The solver of that name with its settings.

    >>> make_solver("iac-mdsf", starts=2)
    IacMdsf(mdsf='ssp', starts=2, runs=3, paper=False)
    """
    check_choice("method", method, list(SOLVERS))
    settings = list(getattr(SOLVERS[method], "__dataclass_fields__", {}))
    unknown = [name for name in options if name not in settings]
    if unknown:
        known = ", ".join(settings) or "none"
        raise InvalidInput(f"method {method!r} has no setting {unknown[0]!r}; it has: {known}.")
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
    return make_solver(method, **options).solve(joint, objective, rng=check_rng(seed))
