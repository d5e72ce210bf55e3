"""Search: from the target that the parameters name to a code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from privacyfunnel.codebook.names import named
from privacyfunnel.codes import ColumnCode
from privacyfunnel.columns import Bins
from privacyfunnel.errors import InvalidInput
from privacyfunnel.estimators.alphabet import Alphabet
from privacyfunnel.frontiers.frontier import Frontier, pareto
from privacyfunnel.frontiers.sweep import ends, frontier
from privacyfunnel.joint import Joint
from privacyfunnel.measures import make_measure
from privacyfunnel.objectives import PROBLEMS, Funnel
from privacyfunnel.recodings import RecodedSolution, UsefulSearch, make_recoding
from privacyfunnel.solvers import SOLVERS, check_measure, check_problem, make_solver, settings_of
from privacyfunnel.solvers.base import SizeSolver, Solution
from privacyfunnel.solvers.effort import LOCAL_MOVES, check_effort
from privacyfunnel.solvers.target import TargetSolver
from privacyfunnel.validation import check_share


def search_target(
    joint: Joint,
    problem: str,
    target: Mapping[str, float],
    *,
    method: str = "best",
    effort: str = "fast",
    min_count: int = 1,
    seed: int = 0,
    measure: str = "shannon",
    keep: str = "x",
) -> Solution:
    """The code for one target: lam, n_symbols, or a share that `Frontier.at` knows.

    >>> joint = Joint.from_counts([[3, 0, 1, 2], [0, 3, 2, 1]])
    >>> search_target(joint, "funnel", {"utility": 0.5}).code.labels
    array([0, 0, 1, 1])
    """
    check_problem(method, problem)
    aim = PROBLEMS[problem](0.0, make_measure(measure), keep)
    check_measure(method, aim)
    known, usual = settings_of(method), {"effort": "fast", "min_count": 1}
    given: dict[str, Any] = {"effort": effort, "min_count": min_count}
    # A setting that the method lacks may only be left at its default.
    options = {name: v for name, v in given.items() if name in known or v != usual[name]}
    rng, solver = np.random.default_rng(seed), make_solver(method, **options)
    if "lam" in target:
        return solver.solve(joint, replace(aim, lam=target["lam"]), rng=rng)
    if "n_symbols" in target:
        if not isinstance(solver, SizeSolver):
            able = [repr(name) for name, kind in SOLVERS.items() if issubclass(kind, SizeSolver)]
            raise InvalidInput(f"n_symbols goes with {' or '.join(able)}, not with {method!r}.")
        return solver.solve_size(joint, int(target["n_symbols"]), rng=rng)
    if isinstance(solver, TargetSolver):
        points = pareto(joint, problem, ends(joint, aim, solver))
        sought = Frontier(
            joint, problem, method, solver, seed, points, measure=aim.measure, keep=keep
        )
    else:
        sought = frontier(joint, problem, method, measure=measure, keep=keep, seed=seed, **options)
    return sought.at(**target)


def search_recoding(
    joint: Joint,
    alphabet: Alphabet,
    kind: str,
    target: Mapping[str, float],
    *,
    effort: str,
    min_count: int,
    settings: Mapping[str, Any],
    seed: int,
    measure: str,
) -> RecodedSolution:
    """The readable code for one target: kept, leakage (a share of what S itself would tell) or lam.

    Binned columns keep the order of their bins; a run of them is named as one interval.
    """
    check_effort(effort)
    for name, value in target.items():
        if name != "lam":
            check_share(name, value)
    orders = {
        column.name: list(column.rule.places)
        for column in alphabet.columns
        if isinstance(column.rule, Bins)
    }
    options = {name: dict(given) for name, given in settings.items() if given}
    shaped = {name for what, given in options.items() if what != "importance" for name in given}
    both = sorted(shaped & orders.keys())
    if both:
        raise InvalidInput(f"{both[0]!r} is binned and has a recoding of its own; leave one out.")
    options["orders"] = {**orders, **options.get("orders", {})}
    recoding = make_recoding(kind, min_count=min_count, moves=LOCAL_MOVES[effort], **options)
    rng = np.random.default_rng(seed)
    search = recoding.on(joint, make_measure(measure))
    if joint.useful is not None:
        if "lam" in target:
            raise InvalidInput("keep='y' with a recoding takes utility= or leakage=, not lam=.")
        found = UsefulSearch(search, rng).at(**target)
    elif "lam" in target:
        found = search.best(Funnel(target["lam"], search.measure), rng)
    elif "leakage" in target:
        found = search.at(rng, leakage=search.told(target["leakage"]))
    else:
        found = search.at(rng, kept=target["kept"])
    assert isinstance(found.code, ColumnCode)
    return replace(found, code=named(found.code, alphabet.columns))
