"""Searching: from what the parameters ask for to a code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from privacyfunnel.errors import InvalidInput
from privacyfunnel.frontiers.frontier import Frontier, marked, pareto
from privacyfunnel.frontiers.sweep import ends, frontier
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import PROBLEMS
from privacyfunnel.solvers import SOLVERS, make_solver, solve
from privacyfunnel.solvers.base import Solution
from privacyfunnel.solvers.best import LARGE, BestSearch
from privacyfunnel.solvers.fixed_size import solve_size
from privacyfunnel.solvers.starting import starts_at
from privacyfunnel.solvers.targets import greedy_paths
from privacyfunnel.validation import check_at_least, check_choice


def search(
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
    >>> search(joint, "funnel", {"utility": 0.5}).code.labels
    array([0, 0, 1, 1])
    """
    check_choice("method", method, list(SOLVERS))
    options = _options(method, effort, min_count)
    if "n_symbols" in target:
        found = _of_size(joint, target["n_symbols"], method, options, seed)
    elif method != "best":
        found = _by_method(joint, problem, target, method, options, seed)
    else:
        found = _best(joint, problem, target, BestSearch(**options), seed)
    return marked(joint, found)


def _options(method: str, effort: str, min_count: int) -> dict[str, Any]:
    """The settings that the method has; one that it lacks may only be left at its default."""
    known = [*getattr(SOLVERS[method], "__dataclass_fields__", {})]
    given = {"effort": effort, "min_count": min_count}
    usual = {"effort": "fast", "min_count": 1}
    return {k: v for k, v in given.items() if k in known or v != usual[k]}


def _best(
    joint: Joint, problem: str, target: Mapping[str, float], solver: BestSearch, seed: int
) -> Solution:
    """One λ by one search; a target by one search, or by the several of a frontier."""
    rng = np.random.default_rng(seed)
    if "lam" in target:
        return solver.solve(joint, PROBLEMS[problem](target["lam"]), rng=rng)
    bare = Frontier(
        joint, problem, "best", solver, seed, pareto(joint, problem, ends(joint, problem, solver))
    )
    if solver.effort != "fast" and joint.n_x <= LARGE[solver.effort]:
        return bare.at(**target)
    demand = bare.target(dict(target))
    starts = starts_at(joint, demand, greedy_paths(joint, problem), solver, rng)
    return solver.solve_at(joint, demand, starts=starts, rng=rng)


def _by_method(
    joint: Joint,
    problem: str,
    target: Mapping[str, float],
    method: str,
    options: dict[str, Any],
    seed: int,
) -> Solution:
    """Another method: for one λ as it is, for a target the best of its frontier."""
    if "lam" in target:
        return solve(joint, PROBLEMS[problem](target["lam"]), method, seed=seed, **options)
    return frontier(joint, problem, method, seed=seed, **options).at(**target)


def _of_size(
    joint: Joint, n_symbols: float, method: str, options: dict[str, Any], seed: int
) -> Solution:
    check_at_least("n_symbols", n_symbols, 1)
    if method == "best":
        rng = np.random.default_rng(seed)
        return solve_size(joint, int(n_symbols), BestSearch(**options), rng=rng)
    if method != "agglomerative":
        raise InvalidInput(f"n_symbols goes with 'best' or 'agglomerative', not with {method!r}.")
    solver = make_solver(method, n_symbols=min(int(n_symbols), joint.n_x), **options)
    objective = PROBLEMS["bottleneck"](0.0)
    return solver.solve(joint, objective, rng=np.random.default_rng(seed))
