"""Sweep: many targets or many λ at once, in processes, resumable, to one frontier."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from privacyfunnel.codes import Code, Partition
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.frontiers.checkpoint import Checkpoint, fingerprint
from privacyfunnel.frontiers.frontier import Frontier, nearest_codes, pareto, slope_at
from privacyfunnel.frontiers.readable import readable_frontier
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import PROBLEMS, Objective
from privacyfunnel.parallel import Progress, check_jobs
from privacyfunnel.recodings import RECODINGS
from privacyfunnel.solvers import SOFT, SOLVERS, make_solver
from privacyfunnel.solvers.base import Solution, Solver, Status
from privacyfunnel.solvers.best import LARGE, BestSearch
from privacyfunnel.solvers.soft.bottleneck_frontier import annealing_frontier
from privacyfunnel.solvers.soft.funnel_frontier import soft_frontier
from privacyfunnel.solvers.targets import Target, cuts_at, greedy_paths
from privacyfunnel.validation import check_at_least, check_choice, check_rng

REFINE = {"fast": "fast", "normal": "fast", "thorough": "normal"}  # effort of the second round


@dataclass(frozen=True)
class Task:
    """One point of a sweep: who solves what, from where; the name decides its random numbers."""

    name: str
    solver: Solver
    demand: Objective | Target
    starts: tuple[Partition, ...] = ()

    def run(self, joint: Joint, seed: int) -> tuple[Partition, Status] | None:
        """The code found, or None where the target cannot be met."""
        rng = np.random.default_rng([seed, *self.name.encode()])
        try:
            if isinstance(self.demand, Target):
                assert isinstance(self.solver, BestSearch)
                found = self.solver.solve_at(joint, self.demand, starts=self.starts, rng=rng)
            else:
                found = self.solver.solve(joint, self.demand, rng=rng)
        except TargetUnreachable:
            return None
        assert isinstance(found.code, Partition)
        return found.code, found.status


def frontier(
    joint: Joint,
    problem: str = "funnel",
    method: str = "best",
    *,
    recoding: str = "symbols",
    n_points: int | None = None,
    targets: Sequence[float] | None = None,
    lams: Sequence[float] | None = None,
    n_jobs: int = 1,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Frontier:
    """The trade-off between utility and leakage, from nothing released to everything.

    ``method`` "best" solves the constrained problem at ``targets``, shares of H(X) to keep (default
    ``n_points`` = 40 of them, evenly spaced), and then once more from its neighbours' codes. Other
    methods sweep ``lams`` (default 101 from 0 to 1), "pairwise" its thresholds; "soft" and
    "annealing" take ``targets`` too (default 20), and start from hard codes. ``options``
    are the method's settings, such as ``effort`` and ``min_count``. With ``recoding`` "global" or "local"
    every public column stays a column, ``targets`` are shares to keep (default 20) and ``options`` the
    settings of the `Recoding`. The result depends on ``seed``
    but not on ``n_jobs``. With ``checkpoint`` a killed sweep goes on where it was.

    >>> joint = Joint.from_counts([[3, 0, 1, 2], [0, 3, 2, 1]])
    >>> points = frontier(joint, n_points=4).to_frame()
    >>> bool((points.leakage >= points.limit - 1e-12).all())
    True
    """
    check_choice("problem", problem, list(PROBLEMS))
    check_choice("method", method, list(SOLVERS))
    check_rng(seed)
    check_jobs(n_jobs)
    check_choice("recoding", recoding, RECODINGS)
    if recoding != "symbols":
        if problem != "funnel" or method != "best" or lams is not None or checkpoint is not None:
            raise InvalidInput(
                f"recoding {recoding!r} takes targets= of the funnel's best search, "
                "neither lams= nor checkpoint=."
            )
        return readable_frontier(
            joint,
            recoding,
            n_points=n_points or 20,
            targets=targets,
            seed=seed,
            progress=progress,
            options=options,
        )
    if method in SOFT.values():
        if lams is not None or checkpoint is not None:
            raise InvalidInput(f"method {method!r} takes targets=, neither lams= nor checkpoint=.")
        shares = target_shares(n_points or 20, targets)
        return _soft(joint, problem, method, shares, n_jobs, seed, progress, options)
    first = _first_round(joint, problem, method, n_points, targets, lams, options)
    settings = [(task.name, task.solver, task.demand) for task in first]
    path = None if checkpoint is None else Path(checkpoint)
    store = Checkpoint(path, fingerprint(joint, problem, method, seed, settings))
    refined = isinstance(first[0].demand, Target) and joint.n_x > 1
    total = len(first) * (2 if refined else 1)
    found = _run(joint, first, seed, n_jobs, store, progress, (0, total))
    if refined:
        second = _second_round(first, found, str(options.get("effort", "normal")))
        found += _run(joint, second, seed, n_jobs, store, progress, (len(first), total))
    solver = first[0].solver
    kept = pareto(joint, problem, found + ends(joint, problem, solver))
    if lams is None and method in ("best", "pairwise"):
        kept = _with_slopes(kept, problem)
    return Frontier(joint, problem, method, solver, seed, kept)


def ends(joint: Joint, problem: str, solver: Solver) -> list[Solution]:
    """Nothing told and, where the rules allow it, everything: the ends of every frontier."""
    make = PROBLEMS[problem]
    codes = [(Partition.trivial(joint.n_x), 0.0), (Partition.identity(joint.n_x), 1.0)]
    if getattr(solver, "min_count", 1) > 1:
        codes.pop()
    return [
        Solution.measured(
            joint, make(lam if problem == "funnel" else 1.0 - lam), code, Status.CONVERGED
        )
        for code, lam in codes
    ]


def target_shares(n_points: int, targets: Sequence[float] | None) -> list[float]:
    """Shares of H(X) to aim at: those given, else evenly spaced ones."""
    check_at_least("n_points", n_points, 1)
    shares = np.linspace(0, 1, n_points + 2)[1:-1].tolist() if targets is None else list(targets)
    if not shares or not all(0.0 <= share <= 1.0 for share in shares):
        raise InvalidInput("targets must be shares of H(X) to keep, at least one, in [0, 1].")
    return [float(share) for share in shares]


def _soft(
    joint: Joint,
    problem: str,
    method: str,
    shares: Sequence[float],
    n_jobs: int,
    seed: int,
    progress: Progress | None,
    options: dict[str, Any],
) -> Frontier:
    """The frontier of soft codes, never worse than the hard one it starts from."""
    if SOFT[problem] != method:
        raise InvalidInput(f"method {method!r} is not for the {problem}; use {SOFT[problem]!r}.")
    unknown = [name for name in options if name not in ("effort", "n_symbols")]
    if unknown:
        raise InvalidInput(f"a soft frontier has no setting {unknown[0]!r}; effort and n_symbols.")
    bits = [share * joint.entropy_x for share in shares]
    settings: dict[str, Any] = {"seed": seed, "progress": progress, **options}
    if problem == "funnel":
        hard = frontier(joint, problem, targets=shares, n_jobs=n_jobs, seed=seed, effort="fast")
        codes: list[Code] = [s.code for s in hard]
        channels = soft_frontier(joint, bits, hard=codes, n_jobs=n_jobs, **settings)
    else:
        # Cooling finds better codes than the hard search does, in a tenth of its time.
        paths, demands = greedy_paths(joint, problem), [Target(problem, "utility", b) for b in bits]
        codes = [code for demand in demands for code in cuts_at(paths, demand)]
        channels = annealing_frontier(joint, bits, hard=codes, **settings)
    objective = PROBLEMS[problem](0.0)
    found = [Solution.measured(joint, objective, code, Status.CONVERGED) for code in channels]
    solver = make_solver(method, **{k: v for k, v in options.items() if k == "n_symbols"})
    kept = _with_slopes(pareto(joint, problem, found + ends(joint, problem, solver)), problem)
    return Frontier(joint, problem, method, solver, seed, kept)


def _first_round(
    joint: Joint,
    problem: str,
    method: str,
    n_points: int | None,
    targets: Sequence[float] | None,
    lams: Sequence[float] | None,
    options: dict[str, Any],
) -> list[Task]:
    """The tasks of a sweep: by target, by threshold or by λ, as the method can."""
    if n_points is not None:
        check_at_least("n_points", n_points, 1)
    by_target = method == "best" and lams is None
    if targets is not None and not by_target:
        raise InvalidInput("targets= goes with method 'best' and without lams=.")
    if by_target:
        solver = make_solver(method, **options)
        assert isinstance(solver, BestSearch)
        if targets is not None or joint.n_x <= LARGE[solver.effort]:
            return _by_target(joint, problem, solver, target_shares(n_points or 40, targets))
        # A search in blocks is for one λ, and takes many of them to meet a target.
    usual = 101 if method != "best" else 21
    grid = np.linspace(0, 1, n_points or usual) if lams is None else np.asarray(lams, dtype=float)
    if method == "pairwise" and lams is None and "theta" not in options:
        most = joint.entropy_x if problem == "funnel" else joint.information
        solvers = [make_solver(method, **options, theta=float(share) * most) for share in grid]
        return [Task(f"{solver}", solver, PROBLEMS[problem](0.0)) for solver in solvers]
    if len(grid) == 0:
        raise InvalidInput("lams must hold at least one λ.")
    solver = make_solver(method, **options)
    return [Task(f"lam {lam!r}", solver, PROBLEMS[problem](lam)) for lam in map(float, grid)]


def _by_target(
    joint: Joint, problem: str, solver: BestSearch, shares: Sequence[float]
) -> list[Task]:
    """A task for each share of H(X) to keep, from cuts of the greedy paths."""
    paths = greedy_paths(joint, problem)
    demands = [Target(problem, "utility", share * joint.entropy_x) for share in shares]
    return [
        Task(f"target {demand.bits!r}", solver, demand, tuple(cuts_at(paths, demand)))
        for demand in demands
    ]


def _second_round(first: list[Task], found: list[Solution], effort: str) -> list[Task]:
    """Each target again, from the codes that its neighbours have found."""
    points = np.array([(s.utility, s.leakage) for s in found])
    tasks = []
    for task in first:
        if isinstance(task.demand, Target) and isinstance(task.solver, BestSearch) and len(found):
            demand = task.demand
            slope = slope_at(points, demand.problem, demand.bits)
            starts = tuple(nearest_codes(found, demand))
            solver = replace(task.solver, effort=REFINE[effort])
            tasks.append(Task(f"again {task.name}", solver, replace(demand, slope=slope), starts))
    return tasks


def _run(
    joint: Joint,
    tasks: Iterable[Task],
    seed: int,
    n_jobs: int,
    store: Checkpoint,
    progress: Progress | None,
    done_of: tuple[int, int],
) -> list[Solution]:
    """Solve the tasks that are not in the store, in processes; solutions in the tasks' order."""
    from joblib import Parallel, delayed

    tasks = list(tasks)
    waiting = [task for task in tasks if task.name not in store.found]
    done, total = done_of[0] + len(tasks) - len(waiting), done_of[1]
    if progress is not None:
        progress(done, total)
    pool = Parallel(n_jobs=n_jobs, return_as="generator")
    results = pool(delayed(task.run)(joint, seed) for task in waiting)
    for task, result in zip(waiting, results, strict=True):
        if result is not None:
            store.add(task.name, *result)
        done += 1
        if progress is not None:
            progress(done, total)
    solutions = []
    for task in tasks:
        if task.name in store.found:
            code, status = store.found[task.name]
            demand = task.demand
            objective = PROBLEMS[demand.problem](0.0) if isinstance(demand, Target) else demand
            solutions.append(Solution.measured(joint, objective, code, status))
    return solutions


def _with_slopes(solutions: Sequence[Solution], problem: str) -> tuple[Solution, ...]:
    """Solutions of a target sweep with the λ at which the hull supports their utility."""
    points = np.array([(s.utility, s.leakage) for s in solutions])
    lams = [slope_at(points, problem, s.utility) for s in solutions]
    make = PROBLEMS[problem]
    return tuple(replace(s, objective=make(lam)) for s, lam in zip(solutions, lams, strict=True))
