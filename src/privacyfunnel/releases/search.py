"""Search: the frontier of a table, and the release on it that meets the request."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from privacyfunnel.codes import ColumnCode
from privacyfunnel.columns import Bins, Column, show
from privacyfunnel.errors import InvalidInput
from privacyfunnel.frontiers.frontier import pareto
from privacyfunnel.frontiers.sweep import frontier as sweep
from privacyfunnel.joint import Joint
from privacyfunnel.measures import INFORMATION, make_measure
from privacyfunnel.objectives import Funnel
from privacyfunnel.parallel import Progress
from privacyfunnel.recodings import RecodedSolution, kept, make_recoding, solve
from privacyfunnel.solvers.base import Solution, Status
from privacyfunnel.solvers.caps import solve_capped
from privacyfunnel.solvers.effort import LOCAL_MOVES, check_effort

if TYPE_CHECKING:
    from privacyfunnel.frontiers.frontier import Frontier
    from privacyfunnel.releases.request import ReleaseRequest

TRACE = 1e-3  # records that a value of X counts for which none of the drawn ones has


def search(
    joint: Joint,
    request: ReleaseRequest,
    *,
    frontier: Frontier | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> tuple[Frontier, Solution]:
    """The frontier, where it is not there already, and the release that meets the target."""
    if request.choose_on is not None:
        if frontier is not None:
            raise InvalidInput("a frontier of all records cannot choose on some; leave one out.")
        drawn = drawn_records(joint, request.choose_on, seed=secrets.randbits(128))
        found, solution = search(
            drawn, replace(request, choose_on=None), jobs=jobs, progress=progress
        )
        solutions = tuple(_measured(joint, s, request.importance) for s in found)
        return replace(found, joint=joint, solutions=solutions), _measured(
            joint, solution, request.importance
        )
    if frontier is not None:
        _check_frontier(joint, request, frontier)
    if request.is_by_hand:  # beside what the search would find
        solution = by_hand(joint, request)
        free = replace(request, groups={}, cuts={}, target={"leakage": 1.0})
        return frontier or frontier_of(joint, free, jobs=jobs, progress=progress), solution
    found = frontier or frontier_of(joint, request, jobs=jobs, progress=progress)
    if request.caps:
        return found, within_caps(joint, request)
    return found, _at_lam(joint, request) if "lam" in request.target else found.at(**request.target)


def within_caps(joint: Joint, request: ReleaseRequest) -> Solution:
    """The release that keeps most within all caps."""
    return solve_capped(
        joint,
        request.caps,
        keep=request.purpose,
        utility=request.target.get("utility"),
        effort=request.effort,
        min_count=request.min_count,
        seed=request.seed,
    )


def in_bits(joint: Joint, solution: Solution) -> Solution:
    """The same code, measured by I(S;X̂) and I(X;X̂), whatever it was searched by."""
    if solution.objective.plain:
        return solution
    return Solution.measured(
        joint, Funnel(min(1.0, solution.objective.lam)), solution.code, Status.CONVERGED
    )


def frontier_in_bits(found: Frontier) -> Frontier:
    """The same frontier, its codes measured by I(S;X̂) and I(X;X̂), those left out that others beat."""
    if found.aim.plain:
        return found
    solutions = pareto(found.joint, found.problem, [in_bits(found.joint, s) for s in found])
    return replace(found, solutions=solutions, measure=INFORMATION, keep="x")


def by_hand(joint: Joint, request: ReleaseRequest) -> Solution:
    """The release whose groups were all given; nothing is searched."""
    lack = [c.name for c in joint.public if c.name not in {*request.groups, *request.cuts}]
    if lack:
        raise InvalidInput(
            f"there is no target, and no groups or cuts of the column {lack[0]!r}.", hint="target"
        )
    return make_recoding(request.kind, **recoding_settings(joint, request)).on(joint).finest()


def drawn_records(joint: Joint, share: float, *, seed: int) -> Joint:
    """Some of the records, drawn without replacement; a value of X that none has is told nothing about.

        Whoever knows all records but one and runs the search again does not know which were drawn. Every
        x needs a symbol: one that was not drawn gets a trace of weight, spread as p(s) is.

        >>> from privacyfunnel.frontiers.frontier import pareto
    from privacyfunnel.joint import Joint
    from privacyfunnel.measures import INFORMATION, make_measure
        >>> drawn_records(Joint.from_counts([[9, 3], [4, 8]]), 0.5, seed=1).counts.toarray().sum()
        np.float64(12.0)
    """
    if joint.n_records is None:
        raise InvalidInput("weighted records cannot be drawn from; leave the share or the weight.")
    cells = joint.counts.tocoo()
    times = np.rint(cells.data).astype(np.int64)
    rng = np.random.default_rng(seed)
    n_drawn = max(1, round(share * joint.n_records))
    part = rng.multivariate_hypergeometric(times, n_drawn, method="marginals").astype(float)
    counts = sp.coo_array((part, (cells.row, cells.col)), shape=cells.shape).tocsc()
    absent = np.flatnonzero(counts.sum(axis=0) == 0)
    p_s = counts.sum(axis=1) / n_drawn
    if len(absent):
        rows = np.repeat(np.flatnonzero(p_s), len(absent))
        columns = np.tile(absent, np.count_nonzero(p_s))
        traces = (TRACE * p_s[rows], (rows, columns))
        counts = counts + sp.coo_array(traces, shape=cells.shape)
    return Joint.from_counts(counts[p_s > 0], labels_x=joint.labels_x, columns=joint.columns)


def find(
    joint: Joint, request: ReleaseRequest, *, jobs: int = 1, progress: Progress | None = None
) -> Solution:
    """The same release without the frontier, where it is not needed to find it."""
    if request.choose_on is not None:
        drawn = drawn_records(joint, request.choose_on, seed=secrets.randbits(128))
        chosen = find(drawn, replace(request, choose_on=None), jobs=jobs, progress=progress)
        return _measured(joint, chosen, request.importance)
    if "lam" in request.target:
        return _at_lam(joint, request)
    if request.is_by_hand:
        return by_hand(joint, request)
    if request.caps:
        return within_caps(joint, request)
    return search(joint, request, jobs=jobs, progress=progress)[1]


def _measured(joint: Joint, solution: Solution, importance: Mapping[str, float]) -> Solution:
    """A code that some records chose, measured on all of them."""
    plain = Solution.measured(joint, solution.objective, solution.code, Status.CONVERGED)
    if not isinstance(solution, RecodedSolution) or not isinstance(solution.code, ColumnCode):
        return plain
    share = kept(joint, solution.code, importance)
    return RecodedSolution(
        plain.code,
        plain.objective,
        plain.leakage,
        plain.utility,
        plain.status,
        kept=share,
        kept_bits=share * joint.entropy_x,
        suppressed=solution.suppressed and float(joint.p_x[solution.code.suppressed].sum()),
    )


def _check_frontier(joint: Joint, request: ReleaseRequest, frontier: Frontier) -> None:
    """Refuse a frontier of other records, or of other codes than the request asks for."""
    own, given = joint.counts, frontier.joint.counts
    same = own.shape == given.shape and joint.labels_x == frontier.joint.labels_x
    if not same or abs(own - given).sum() > 0:
        raise InvalidInput("the frontier is not of these columns of this table; search it again.")
    wanted = _method(request) if request.kind == "symbols" else request.kind
    asked = Funnel(0.0, make_measure(request.measure), request.purpose)
    if frontier.problem != "funnel" or frontier.method != wanted or frontier.aim != asked:
        raise InvalidInput(
            f"a frontier of {frontier.problem} by {frontier.method} has no release that was asked for."
        )


def bins_in_order(request: ReleaseRequest, columns: Sequence[Column]) -> ReleaseRequest:
    """The request with the order of the bins of coarsened columns: neighbours may be put together.

    >>> from privacyfunnel.columns import Bins, Column
    >>> from privacyfunnel.releases.request import ReleaseRequest
    >>> age = Column("age", "integer", Bins((18, 65)))
    >>> dict(bins_in_order(ReleaseRequest({"kept": 0.5}), [age]).orders)
    {'age': ['under 18', '[18, 65)', '65 or more']}
    """
    if request.kind == "symbols":
        return request
    named = {*request.orders, *request.hierarchies}
    bins = {
        column.name: list(column.rule.places)
        for column in columns
        if isinstance(column.rule, Bins) and column.name not in named
    }
    return replace(request, orders={**request.orders, **bins})


def frontier_of(
    joint: Joint, request: ReleaseRequest, *, jobs: int = 1, progress: Progress | None = None
) -> Frontier:
    """The frontier of releases of the kind that a request asks for."""
    shared: dict[str, Any] = {
        "n_points": request.points,
        "seed": request.seed,
        "progress": progress,
        "n_jobs": jobs,
    }
    if request.kind != "symbols":
        return sweep(joint, recoding=request.kind, **shared, **recoding_settings(joint, request))
    return sweep(
        joint,
        method=_method(request),
        effort=request.effort,
        measure=request.measure,
        keep=request.purpose,
        **shared,
        **_options(request),
    )


def _at_lam(joint: Joint, request: ReleaseRequest) -> Solution:
    objective = Funnel(request.target["lam"], make_measure(request.measure), request.purpose)
    if request.kind != "symbols":
        options = recoding_settings(joint, request)
        return solve(joint, objective, recoding=request.kind, seed=request.seed, **options)
    options = _options(request) if request.soft else {**_options(request), "effort": request.effort}
    return solve(joint, objective, _method(request), seed=request.seed, **options)


def _method(request: ReleaseRequest) -> str:
    return "soft" if request.soft else "best"


def _options(request: ReleaseRequest) -> dict[str, Any]:
    return {} if request.soft else {"min_count": request.min_count}


def recoding_settings(joint: Joint, request: ReleaseRequest) -> dict[str, Any]:
    """The settings of a readable recoding."""
    named = {column.name: column for column in joint.public}
    orders = {}
    for name, texts in request.orders.items():
        values = {show(v): v for v in named[name].values} if name in named else {}
        orders[name] = [values.get(text, text) for text in texts]
    options: dict[str, Any] = {
        "hierarchies": request.hierarchies,
        "orders": orders,
        "cuts": request.cuts,
        "groups": request.groups,
        "importance": request.importance,
        "min_count": request.min_count,
    }
    if request.suppress is not None:
        options["suppress"] = request.suppress
    check_effort(request.effort)
    return options if request.kind == "global" else options | {"moves": LOCAL_MOVES[request.effort]}
