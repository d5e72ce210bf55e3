"""Sweep: many targets or many λ at once, in processes, resumable, to one frontier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from privacyfunnel import __version__
from privacyfunnel.codes import Code, Partition
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.frontiers.checkpoint import Checkpoint
from privacyfunnel.frontiers.frontier import Frontier, pareto, slopes
from privacyfunnel.frontiers.readable_frontier import readable_frontier
from privacyfunnel.joint import Joint, digest
from privacyfunnel.measures import Measure, make_measure
from privacyfunnel.objectives import PROBLEMS, Objective
from privacyfunnel.parallel import Progress, as_they_come, check_jobs, tell
from privacyfunnel.recodings import RECODINGS
from privacyfunnel.solvers import SOLVERS, check_measure, check_problem, check_settings, make_solver
from privacyfunnel.solvers.base import Solution, Solver, Status, SweptSolver
from privacyfunnel.solvers.merge_path import ENOUGH, MergePath, merge_path
from privacyfunnel.solvers.pareto_set import pareto_set
from privacyfunnel.solvers.target import (
    MET,
    ManyTargetsSolver,
    Target,
    TargetSolver,
    cheapest,
    reaches,
)
from privacyfunnel.solvers.tradeoff import slope_at
from privacyfunnel.validation import check_choice, check_kind, check_seed, check_share, check_whole

POINTS = {"many": 20, "target": 40, "lam": 101}  # of a sweep, unless asked for
LARGE = 1000  # symbols beyond which there are half as many targets, each in a thread
WIDE = 0.05  # of H(X): gaps of a frontier of a large alphabet that are filled by merging
FEW = 16  # symbols from which on the heaviest are merged first then


@dataclass(frozen=True)
class Task:
    """One point of a sweep: who solves what, from where, and the numbers that seed its chance."""

    key: tuple[int, ...]
    solver: Solver
    demand: Objective | Target
    starts: tuple[Code, ...] = ()

    @property
    def name(self) -> str:
        """The task in a checkpoint."""
        return " ".join(map(str, self.key))

    def run(self, joint: Joint, seed: int) -> tuple[Code, Status] | None:
        """The code found, or None where the target cannot be met."""
        rng = np.random.default_rng([seed, *self.key])
        try:
            if isinstance(self.demand, Target):
                assert isinstance(self.solver, TargetSolver)
                found = self.solver.solve_at(joint, self.demand, starts=self.starts, rng=rng)
            else:
                found = self.solver.solve(joint, self.demand, rng=rng)
        except TargetUnreachable:
            return None
        return found.code, found.status


def frontier(
    joint: Joint,
    problem: str = "funnel",
    method: str = "best",
    *,
    recoding: str = "symbols",
    measure: str | Measure = "shannon",
    keep: str = "x",
    n_points: int | Literal["all"] | None = None,
    targets: Sequence[float] | None = None,
    lams: Sequence[float] | None = None,
    n_jobs: int = 1,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Frontier:
    """The trade-off between utility and leakage, from nothing released to everything.

    A method that meets targets ("best", "soft", "annealing") solves the constrained problem at
    ``targets``, shares of H(X) to keep (default ``n_points`` of them, evenly spaced); "best" once more
    from its neighbours' codes, and with ``n_points="all"`` the result is every undominated code that a
    local search passes through from there (`pareto_set`). Other methods sweep ``lams`` (default 101
    from 0 to 1), "pairwise" its thresholds. ``options`` are the method's settings, such as ``effort``
    and ``min_count``. With
    ``recoding`` "global" or "local" every public column stays a column, ``targets`` are shares to keep
    of the columns and ``options`` the settings of the `Recoding`. ``measure`` is how what S gives away is
    measured, ``keep`` what is kept: "x", the joint's "useful" Y, or "both" (see `Funnel`). The result
    depends on ``seed`` but not on ``n_jobs``. With ``checkpoint`` a killed sweep goes on where it was.

    >>> joint = Joint.from_counts([[3, 0, 1, 2], [0, 3, 2, 1]])
    >>> points = frontier(joint, n_points=4).to_frame()
    >>> bool((points.leakage >= points.limit - 1e-12).all())
    True
    """
    check_kind("joint", joint, Joint, "Joint.from_counts(counts)")
    check_problem(method, problem)
    aim = PROBLEMS[problem](0.0, make_measure(measure), keep)
    aim.quantities(joint)  # a use must be named to be kept
    check_measure(method, aim)
    check_seed(seed)
    check_jobs(n_jobs)
    check_choice("recoding", recoding, RECODINGS)
    everything = n_points == "all"
    if everything and (recoding != "symbols" or method != "best" or lams is not None):
        raise InvalidInput("n_points 'all' goes with method 'best' and symbols, and without lams=.")
    if everything and not aim.plain:
        raise InvalidInput("n_points 'all' goes with Shannon's information about S and X alone.")
    if isinstance(n_points, str):
        if not everything:
            raise InvalidInput(f"n_points must be a number or 'all', got {n_points!r}.")
        n_points = None
    if n_points is not None:
        check_whole("n_points", n_points, 1)
    for name, listed in (("targets", targets), ("lams", lams)):
        if listed is not None and (np.ndim(listed) != 1 or len(listed) == 0):
            raise InvalidInput(f"{name} must be a list of at least one number, got {listed!r}.")
    if recoding != "symbols":
        if keep != "x":
            raise InvalidInput(f"recoding {recoding!r} keeps the columns; a use goes with symbols.")
        if problem != "funnel" or method != "best" or lams is not None or checkpoint is not None:
            raise InvalidInput(
                f"recoding {recoding!r} takes targets= of the funnel's best search, "
                "neither lams= nor checkpoint=."
            )
        return readable_frontier(
            joint,
            recoding,
            n_points=n_points or POINTS["many"],
            targets=targets,
            n_jobs=n_jobs,
            seed=seed,
            progress=progress,
            options=options,
            measure=aim.measure,
        )
    check_settings(method, options)
    kind = SOLVERS[method]
    if issubclass(kind, SweptSolver) and lams is None and not options:
        shares = np.linspace(0, 1, n_points or POINTS["lam"]).tolist()
        swept = kind.swept(joint, problem, shares)
        first = [Task((0, k), one, PROBLEMS[problem](0.0)) for k, one in enumerate(swept)]
    else:
        solver = make_solver(method, **options)
        if targets is not None and (lams is not None or not isinstance(solver, TargetSolver)):
            wrong = "lams= is given too" if lams is not None else f"{method!r} sweeps λ"
            raise InvalidInput(
                f"targets= goes with a method that meets targets and without lams=; {wrong}."
            )
        if isinstance(solver, ManyTargetsSolver):
            if lams is not None or checkpoint is not None:
                raise InvalidInput(
                    f"method {method!r} takes targets=, neither lams= nor checkpoint=."
                )
            demands = _demands(joint, aim, n_points or POINTS["many"], targets)
            found = solver.solve_many(joint, demands, n_jobs=n_jobs, seed=seed, progress=progress)
            kept = pareto(joint, problem, found + ends(joint, aim, solver))
            return Frontier(joint, problem, method, solver, seed, _with_slopes(kept, aim))
        by_lam = lams is not None or not isinstance(solver, TargetSolver)
        prefers_lam = getattr(solver, "prefers_lam", None)
        if not by_lam and targets is None and prefers_lam and prefers_lam(joint, problem):
            by_lam, n_points = True, n_points or 21
        if by_lam:
            given = _lams(joint, aim, n_points or POINTS["lam"]) if lams is None else lams
            first = [Task((0, k), solver, replace(aim, lam=lam)) for k, lam in enumerate(given)]
        else:
            usual = POINTS["target"] if joint.n_x <= LARGE else POINTS["target"] // 2
            demands = _demands(joint, aim, n_points or usual, targets)
            first = [Task((1, k), solver, demand) for k, demand in enumerate(demands)]
    settings = [(task.key, task.solver, task.demand) for task in first]
    decisive = digest(joint, __version__, (problem, method, seed, settings))
    store = Checkpoint(None if checkpoint is None else Path(checkpoint), decisive, joint.n_x)
    refine = getattr(first[0].solver, "refined", None)
    by_target = isinstance(first[0].demand, Target) and joint.n_x > 1
    again = refine(joint) if refine is not None and by_target else None
    total = len(first) * (1 if again is None else 2)
    found = _run(joint, first, seed, n_jobs, store, progress, (0, total))
    if again is not None and found:
        open_ones = [task for task in first if not store.is_optimal(task.name)]
        second = _second_round(open_ones, found, again, aim)
        done = total - len(second)
        found += _run(joint, second, seed, n_jobs, store, progress, (done, total))
    solver = first[0].solver
    if aim.plain and by_target and refine is not None and again is None:
        found += _between(joint, problem, found + ends(joint, aim, solver))
    if everything:
        least = float(options.get("min_count", 1))
        known = [s.code for s in found if isinstance(s.code, Partition)]
        codes = pareto_set(joint, problem, known, least=least if least > 1.0 else 0.0)
        found += [Solution.measured(joint, aim, code, Status.CONVERGED) for code in codes]
    passed, archive = list[Solution](), getattr(solver, "archive", None)
    if by_target and not everything and archive is not None:
        codes = archive(joint, aim)
        passed = [Solution.measured(joint, aim, code, Status.CONVERGED) for code in codes]
        demands = [task.demand for task in first if isinstance(task.demand, Target)]
        found += filter(None, (cheapest(passed, demand.price) for demand in demands))
    kept = pareto(joint, problem, found + ends(joint, aim, solver))
    if isinstance(first[0].demand, Target) or isinstance(solver, SweptSolver):
        kept = _with_slopes(kept, aim)
    return Frontier(
        joint, problem, method, solver, seed, kept,
        measure=aim.measure, keep=aim.keep, archive=tuple(passed),
    )  # fmt: skip


def ends(joint: Joint, aim: Objective, solver: Solver) -> list[Solution]:
    """Nothing told and, where the rules allow it, everything: the ends of every frontier."""
    codes = [Partition.trivial(joint.n_x), Partition.identity(joint.n_x)]
    least = getattr(solver, "min_count", 1)
    if least > 1 and joint.p_x.min() * joint.total < least - 0.5:
        codes.pop()
    lams = (0.0, 1.0) if aim.problem == "funnel" else (1.0, 0.0)
    return [
        Solution.measured(joint, aim.at(lam), code, Status.CONVERGED)
        for code, lam in zip(codes, lams, strict=False)
    ]


def _demands(
    joint: Joint, aim: Objective, n_points: int, targets: Sequence[float] | None
) -> list[Target]:
    """Targets at the shares of what there is to keep that are given, else at evenly spaced ones."""
    given = np.linspace(0, 1, n_points + 2)[1:-1] if targets is None else targets
    shares = [check_share("a target", share) for share in given]
    whole, slope = aim.whole_utility(joint), 1.0 if aim.plain else aim.mean_slope(joint)
    return [
        Target(aim.problem, "utility", share * whole, slope, aim.measure, aim.keep)
        for share in shares
    ]


def _lams(joint: Joint, aim: Objective, n: int) -> list[float]:
    """From nothing kept to everything: evenly up to 1, or around the mean slope of other measures."""
    if aim.plain or n < 2:
        return [float(lam) for lam in np.linspace(0, 1, n)]
    return [0.0, *(aim.mean_slope(joint) * 2.0 ** np.linspace(-6, 6, n - 1)).tolist()]


def _second_round(
    first: list[Task], found: list[Solution], solver: Solver, aim: Objective
) -> list[Task]:
    """Each target again, from the codes that all have found."""
    starts = tuple(s.code for s in found)
    demands = [task.demand for task in first if isinstance(task.demand, Target)]
    lams = slopes(found, aim, [demand.bits for demand in demands])
    return [
        Task((2, task.key[1]), solver, replace(demand, slope=lam), starts)
        for task, demand, lam in zip(first, demands, lams, strict=True)
    ]


def _between(joint: Joint, problem: str, solutions: Sequence[Solution]) -> list[Solution]:
    """Codes for the wide gaps of a frontier: the one above a gap with pairs of symbols merged.

    A merge tells less about S and about X. Where a search stops at a leakage too small to matter, one
    code has as a rule more utility and less leakage than all others, and nothing is left below it. So
    gaps are filled from above: what fills one may beat what was below it.
    """
    made, filled, wide = list[Solution](), set[float](), WIDE * joint.entropy_x
    while True:
        kept = pareto(joint, problem, [*solutions, *made])
        gaps = [
            (low, high)
            for low, high in pairwise(kept)
            if high.utility > low.utility + wide and high.utility not in filled
        ]
        if not gaps:
            return made
        low, high = gaps[-1]
        filled.add(high.utility)
        made += _merged_down(joint, low, high, wide)


def _merged_down(joint: Joint, low: Solution, high: Solution, step: float) -> list[Solution]:
    """Codes of utilities between two, a step or less apart, merged from the upper one."""
    code, problem = high.code, high.objective.problem
    if not isinstance(code, Partition):
        return []
    ends_of_gap = np.array([[s.utility, s.leakage] for s in (low, high)])
    weights = PROBLEMS[problem](slope_at(ends_of_gap, problem, low.utility)).weights
    # The last few are merged heaviest first: a few light symbols have any small utility.
    made, paths = list[Solution](), list[tuple[Partition, MergePath]]()
    for price, n_symbols in ((weights, FEW), ((0.0, 1.0), 1)):
        path = merge_path(code.push(joint), price, n_symbols=n_symbols, exact=ENOUGH)
        paths.append((code, path))
        code = Partition(path.cut().labels[code.labels])
    n_steps = math.ceil((high.utility - low.utility) / step)
    for bits in np.linspace(low.utility, high.utility, n_steps + 1)[1:-1]:
        code, path = next(p for p in paths[::-1] if reaches(p[1].kept[0], bits, MET))
        cut = path.cut_at(Target(problem, "utility", float(bits)))
        merged = Partition(cut.labels[code.labels])
        made.append(Solution.measured(joint, high.objective, merged, Status.CONVERGED))
    return made


def _run(
    joint: Joint,
    tasks: Sequence[Task],
    seed: int,
    n_jobs: int,
    store: Checkpoint,
    progress: Progress | None,
    done_of: tuple[int, int],
) -> list[Solution]:
    """Solve the tasks that are not in the store, in processes; solutions in the tasks' order."""
    waiting = [task for task in tasks if task.name not in store.found]
    done, total = done_of[0] + len(tasks) - len(waiting), done_of[1]
    tell(progress, done, total)
    runs = [(task, joint, seed) for task in waiting]
    with closing(as_they_come(Task.run, runs, n_jobs, threads=joint.n_x > LARGE)) as results:
        for task, result in zip(waiting, results, strict=True):
            if result is not None:
                store.add(task.name, *result)
            done += 1
            tell(progress, done, total)
    solutions = []
    for task in tasks:
        if task.name in store.found:
            code, status = store.found[task.name]
            demand = task.demand
            objective = demand.objective.at(0.0) if isinstance(demand, Target) else demand
            solutions.append(Solution.measured(joint, objective, code, status))
    return solutions


def _with_slopes(solutions: Sequence[Solution], aim: Objective) -> tuple[Solution, ...]:
    """Solutions of a target sweep with the λ at which the hull supports their utility."""
    lams = slopes(solutions, aim, [s.utility for s in solutions])
    return tuple(replace(s, objective=aim.at(lam)) for s, lam in zip(solutions, lams, strict=True))
