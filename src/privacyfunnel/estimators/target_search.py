"""Target search: from the target that the parameters name to a code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from privacyfunnel.errors import InvalidInput
from privacyfunnel.frontiers.frontier import Frontier, marked, pareto
from privacyfunnel.frontiers.sweep import ends, frontier
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import PROBLEMS
from privacyfunnel.solvers import SOLVERS, check_problem, make_solver, settings_of
from privacyfunnel.solvers.base import SizeSolver, Solution, TargetSolver
from privacyfunnel.validation import check_at_least


def search_target(
    joint: Joint,
    problem: str,
    target: Mapping[str, float],
    *,
    method: str = "best",
    effort: str = "fast",
    min_count: int = 1,
    seed: int = 0,
) -> Solution:
    """The code for one target: lam, n_symbols, or a share that `Frontier.at` knows.

    >>> joint = Joint.from_counts([[3, 0, 1, 2], [0, 3, 2, 1]])
    >>> search_target(joint, "funnel", {"utility": 0.5}).code.labels
    array([0, 0, 1, 1])
    """
    check_problem(method, problem)
    known, usual = settings_of(method), {"effort": "fast", "min_count": 1}
    given: dict[str, Any] = {"effort": effort, "min_count": min_count}
    # A setting that the method lacks may only be left at its default.
    options = {name: v for name, v in given.items() if name in known or v != usual[name]}
    rng = np.random.default_rng(seed)
    if "lam" in target:
        solver = make_solver(method, **options)
        found = solver.solve(joint, PROBLEMS[problem](target["lam"]), rng=rng)
    elif "n_symbols" in target:
        check_at_least("n_symbols", target["n_symbols"], 1)
        solver = make_solver(method, **options)
        if not isinstance(solver, SizeSolver):
            able = [repr(name) for name, kind in SOLVERS.items() if issubclass(kind, SizeSolver)]
            raise InvalidInput(f"n_symbols goes with {' or '.join(able)}, not with {method!r}.")
        found = solver.solve_size(joint, int(target["n_symbols"]), rng=rng)
    elif issubclass(SOLVERS[method], TargetSolver):
        solver = make_solver(method, **options)
        points = pareto(joint, problem, ends(joint, PROBLEMS[problem](0.0), solver))
        found = Frontier(joint, problem, method, solver, seed, points).at(**target)
    else:
        found = frontier(joint, problem, method, seed=seed, **options).at(**target)
    return marked(joint, found)
