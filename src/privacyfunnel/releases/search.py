"""Search: the frontier of a table, and the release on it that meets the request."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from privacyfunnel.codes import ColumnCode
from privacyfunnel.columns import Bins, Column, show
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.frontiers.frontier import Frontier, pareto
from privacyfunnel.frontiers.sweep import LARGE
from privacyfunnel.frontiers.sweep import frontier as sweep
from privacyfunnel.information import Array
from privacyfunnel.joint import Joint
from privacyfunnel.measures import INFORMATION, make_measure
from privacyfunnel.metrics import by_column
from privacyfunnel.objectives import Funnel
from privacyfunnel.parallel import Progress
from privacyfunnel.persons import Persons
from privacyfunnel.recodings import RecodedSolution, kept, make_recoding, solve
from privacyfunnel.recodings.recoding import SUPPRESS
from privacyfunnel.releases.cells import CellRule
from privacyfunnel.releases.request import BALANCE, ReleaseRequest
from privacyfunnel.solvers import make_solver
from privacyfunnel.solvers.base import Solution, Status, in_bits
from privacyfunnel.solvers.caps import solve_capped
from privacyfunnel.solvers.effort import LOCAL_MOVES, REFINE, check_effort
from privacyfunnel.solvers.target import MET, reaches, stays_within

if TYPE_CHECKING:
    from privacyfunnel.tables import Counts

FACTORS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0)  # of the least count, until cells keep the rule
# Whose leakage is lowered. A local recoding has thousands of combinations and fits the chance of few
# records; what it gives away of others is least where it is not let (benchmarks/recoding.py). By another
# measure the records' own: what is borrowed smooths, say, the best guess until no code seems to help it.
FIT = {"global": "records", "local": "population"}
TRACE = 1e-3  # records that a value of X counts for which none of the drawn ones has


@dataclass(frozen=True)
class Found:
    """A frontier, the release on it that was asked for, and the records that did not choose it."""

    frontier: Frontier
    solution: Solution
    others: Joint | None = None  # None where all records chose it


def search(
    joint: Joint,
    request: ReleaseRequest,
    *,
    frontier: Frontier | None = None,
    rule: CellRule | None = None,
    persons: Persons | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Found:
    """The frontier, where it is not there already, and the release that meets the target.

    ``rule`` is what each released combination must have, by default what the request says of the
    joint's own records; ``persons`` are drawn whole where some records choose the code.
    """
    rule = rule or cell_rule(joint, request)
    if request.choose_on is not None:
        if frontier is not None:
            raise InvalidInput("a frontier of all records cannot choose on some; leave one out.")
        drawn, others, plain = _drawn(joint, request, persons)
        found = search(drawn, plain, rule=rule, jobs=jobs, progress=progress)
        solutions = tuple(_measured(joint, s, request.importance) for s in found.frontier)
        return Found(
            replace(found.frontier, joint=joint, solutions=solutions),
            _measured(joint, found.solution, request.importance),
            others,
        )
    if frontier is not None:
        _check_frontier(joint, request, frontier)
    try:
        if rule is not None:
            return _within(joint, request, rule, frontier=frontier, jobs=jobs, progress=progress)
        return _searched(joint, request, frontier, jobs, progress)
    except TargetUnreachable as error:
        if error.hint or request.min_count <= 1:
            raise
        raise TargetUnreachable(error.fact, hint="least-count") from error


def _drawn(
    joint: Joint, request: ReleaseRequest, persons: Persons | None = None
) -> tuple[Joint, Joint, ReleaseRequest]:
    """Records drawn in secret to choose the code on, the others, and what is asked of the drawn."""
    assert request.choose_on is not None
    seed = secrets.randbits(128)
    drawn, others = drawn_records(joint, request.choose_on, persons=persons, seed=seed)
    return drawn, others, replace(request, choose_on=None, max_population_leakage=None)


def _searched(
    joint: Joint,
    request: ReleaseRequest,
    frontier: Frontier | None,
    jobs: int,
    progress: Progress | None,
) -> Found:
    """The frontier and the release by the search alone."""
    alone, shown = _alone(joint, request), request
    if request.is_by_hand:  # beside what the search would find
        shown = replace(request, groups={}, cuts={}, target={"leakage": 1.0})
    every = frontier or frontier_of(joint, shown, jobs=jobs, progress=progress)
    return Found(every, alone or every.at(**request.target))


def _alone(joint: Joint, request: ReleaseRequest) -> Solution | None:
    """The release where no frontier is needed to find it; None where it is one of a frontier's.

    Groups made by hand are taken as they are, within caps the most is kept.
    """
    if request.is_by_hand:
        lack = [c.name for c in joint.public if c.name not in {*request.groups, *request.cuts}]
        if lack:
            raise InvalidInput(
                f"there is no target, and no groups or cuts of the column {lack[0]!r}.",
                hint="target",
            )
        recoding = make_recoding(request.kind, **recoding_settings(joint, request))
        return recoding.on(joint, make_measure(request.measure)).finest()
    if request.caps:
        return solve_capped(
            joint,
            request.caps,
            keep=request.purpose,
            utility=request.target.get("utility"),
            effort=request.effort,
            min_count=max(1, request.min_count),
            seed=request.seed,
        )
    return _at_lam(joint, request) if "lam" in request.target else None


def cell_rule(
    joint: Joint,
    request: ReleaseRequest,
    people: Array | None = None,
    sensitive: Sequence[Column] = (),
) -> CellRule | None:
    """The rule for released combinations, where the search itself does not keep it; else None.

    ``people[x]`` are those behind each value where they are not the records that the joint counts.
    """
    own = people is None and joint.n_records is not None
    searched = own and not request.soft and request.choose_on is None
    if request.min_diversity <= 1 and (request.min_count <= 1 or searched):
        return None
    if people is None:
        people = joint.masses
    columns = sensitive or (Column("S", "text"),)
    for column, alone in by_column(joint, columns):
        if alone.n_s < request.min_diversity:
            raise InvalidInput(
                f"column {column.name!r} has {alone.n_s} different values; no combination can go with "
                f"{request.min_diversity} of them."
            )
    return CellRule(people, float(request.min_count), request.min_diversity, columns)


def searched_instead(
    joint: Joint, request: ReleaseRequest, rule: CellRule, factor: float = FACTORS[0]
) -> ReleaseRequest:
    """What is searched where a rule is applied to the codes found: without it, and for readable codes
    with cells of so many times its people."""
    free = replace(request, min_count=1, min_diversity=1)
    if request.kind == "symbols":
        return free
    weight = joint.total / max(1e-12, float(rule.people.sum()))  # of a person
    least = math.ceil(factor * weight * max(rule.least, float(rule.diversity)))
    return replace(free, min_count=max(1, least))


def rule_of(counts: Counts, joint: Joint, request: ReleaseRequest) -> CellRule | None:
    """The rule for released combinations of a table, of persons where a column says whose row it is."""
    own = counts.roles.weight is None and counts.persons is None
    people = None if own else counts.people_of(joint)
    return cell_rule(joint, request, people, counts.roles.sensitive)


def _within(
    joint: Joint,
    request: ReleaseRequest,
    rule: CellRule,
    *,
    frontier: Frontier | None,
    jobs: int,
    progress: Progress | None,
) -> Found:
    """A release that keeps the rule and the target: more is asked for until enough is left of it.

    Symbols are asked for more utility; the cells of readable codes to be larger, so that fewer of them
    are suppressed.
    """
    readable = request.kind != "symbols"
    free, known = searched_instead(joint, request, rule), frontier
    nearest: Solution | None = None
    for factor in FACTORS:
        if readable:
            free = searched_instead(joint, request, rule, factor)
        try:
            found = _searched(joint, free, known, jobs, progress)
        except TargetUnreachable:
            if nearest is None:
                raise
            break
        known = None if readable else found.frontier
        nearest = _ruled(joint, found.solution, rule, request)
        by_utility = "utility" in request.target
        goal = found.frontier.target(dict(request.target)).bits if by_utility else 0.0
        if _meets(nearest, request, goal):
            solutions = [_ruled(joint, s, rule, request) for s in found.frontier]
            every = replace(found.frontier, solutions=pareto(joint, "funnel", solutions))
            return Found(every, nearest)
        if not readable:
            lost = request.target["utility"] * (1 - nearest.utility / goal)
            free = replace(free, target={"utility": min(1.0, free.target["utility"] + 1.1 * lost)})
    assert nearest is not None
    told = f"keeps {nearest.utility / joint.entropy_x:.4g}"
    if isinstance(nearest, RecodedSolution):
        told = f"keeps {nearest.kept:.4g} and suppresses {nearest.suppressed:.4g} of the records"
        if request.kind == "global":
            told += f", of which {_most_suppressed(request):g} may be"
    raise TargetUnreachable(
        f"no release was found that keeps so much and leaves enough people, and sensitive values, in "
        f"each combination; the nearest {told}.",
        hint="least-count",
    )


def _ruled(joint: Joint, solution: Solution, rule: CellRule, request: ReleaseRequest) -> Solution:
    """The solution with the rule applied to its code, measured again."""
    code = rule.applied(joint, solution.code)
    if code is solution.code:
        return solution
    found = _measured(joint, replace(solution, code=code), request.importance)
    if isinstance(found, RecodedSolution) and isinstance(code, ColumnCode):
        return replace(found, suppressed=float(joint.p_x[code.suppressed].sum()))
    return found


def _meets(solution: Solution, request: ReleaseRequest, goal: float) -> bool:
    """Whether enough is left; what is put together never gives away more."""
    most = _most_suppressed(request) if request.kind == "global" else 1.0
    if isinstance(solution, RecodedSolution) and not stays_within(solution.suppressed, most, MET):
        return False
    if "kept" in request.target and isinstance(solution, RecodedSolution):
        return bool(reaches(solution.kept, request.target["kept"], MET))
    return bool(reaches(solution.utility, goal, MET))


def _most_suppressed(request: ReleaseRequest) -> float:
    """The share of the records that global recoding may suppress."""
    return SUPPRESS if request.suppress is None else request.suppress


def frontier_in_bits(found: Frontier) -> Frontier:
    """The same frontier, its codes measured by I(S;X̂) and I(X;X̂), those left out that others beat."""
    if found.aim.plain:
        return found
    solutions = pareto(found.joint, found.problem, [in_bits(found.joint, s) for s in found])
    return replace(found, solutions=solutions, measure=INFORMATION, keep="x")


def drawn_records(
    joint: Joint, share: float, *, persons: Persons | None = None, seed: int
) -> tuple[Joint, Joint]:
    """Some of the records, drawn without replacement, and the others.

    Of ``persons`` all rows or none are drawn; the others are one row of each who was not. Whoever knows
    all records but one and runs the search again does not know which were drawn. Every x needs a
    symbol: one that was not drawn gets a trace of weight, spread as p(s) is, and tells nothing.

    >>> from privacyfunnel.joint import Joint
    >>> drawn, others = drawn_records(Joint.from_counts([[9, 3], [4, 8]]), 0.5, seed=1)
    >>> drawn.total, others.n_records
    (12.0, 12)
    """
    if joint.n_records is None:
        raise InvalidInput("weighted records cannot be drawn from; leave the share or the weight.")
    cells = joint.counts.tocoo()
    times = np.rint(cells.data).astype(np.int64)
    rng = np.random.default_rng(seed)
    if persons is not None:
        counts, others = _drawn_persons(joint, persons, share, rng)
        n_drawn = float(counts.sum())
    else:
        n_drawn = min(max(1, round(share * joint.n_records)), joint.n_records - 1)
        part = rng.multivariate_hypergeometric(times, n_drawn, method="marginals").astype(float)
        rest = sp.coo_array((times - part, (cells.row, cells.col)), shape=cells.shape)
        others = Joint.from_counts(rest, joint.labels_s, joint.labels_x, joint.columns)
        counts = sp.coo_array((part, (cells.row, cells.col)), shape=cells.shape).tocsc()
    absent = counts.sum(axis=0) == 0
    p_s = counts.sum(axis=1) / n_drawn
    traces = sp.csc_array(TRACE * p_s[:, None]) @ sp.csc_array(absent[None, :].astype(float))
    counts = counts + traces
    return Joint.from_counts(counts, joint.labels_s, joint.labels_x, joint.columns), others


def _drawn_persons(
    joint: Joint, persons: Persons, share: float, rng: np.random.Generator
) -> tuple[sp.csc_array, Joint]:
    """The counts of the rows of some persons, and the joint of one row of each of the others."""
    n_drawn = min(max(1, round(share * persons.n_persons)), persons.n_persons - 1)
    drawn = rng.permutation(np.arange(persons.n_persons) < n_drawn)
    mine = drawn[persons.person]
    rows = (persons.n[mine].astype(float), (persons.s[mine], persons.x[mine]))
    counts = sp.csc_array(sp.coo_array(rows, shape=joint.counts.shape))
    others, who = persons.chosen(joint, ~drawn)
    return counts, replace(who.even(others), n_records=who.n_persons, columns=joint.columns)


def find(
    joint: Joint,
    request: ReleaseRequest,
    *,
    rule: CellRule | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Solution:
    """The same release without the frontier, where it is not needed to find it."""
    rule = rule or cell_rule(joint, request)
    if request.choose_on is not None:
        drawn, _, plain = _drawn(joint, request)
        chosen = find(drawn, plain, rule=rule, jobs=jobs, progress=progress)
        return _measured(joint, chosen, request.importance)
    if rule is not None and "lam" in request.target:
        free = replace(request, min_count=1, min_diversity=1)
        return _ruled(joint, _at_lam(joint, free), rule, request)
    alone = _alone(joint, request) if rule is None else None
    return alone or search(joint, request, rule=rule, jobs=jobs, progress=progress).solution


def _measured(joint: Joint, solution: Solution, importance: Mapping[str, float]) -> Solution:
    """A code that some records chose, measured on all of them."""
    code, aim = solution.code, solution.objective
    if not isinstance(solution, RecodedSolution) or not isinstance(code, ColumnCode):
        return Solution.measured(joint, aim, code, Status.CONVERGED)
    found = RecodedSolution.measured(joint, aim, code, Status.CONVERGED)
    share = kept(joint, code, importance)
    suppressed = solution.suppressed and float(joint.p_x[code.suppressed].sum())
    return replace(found, kept=share, kept_bits=share * joint.entropy_x, suppressed=suppressed)


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
    joint: Joint,
    request: ReleaseRequest,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    checkpoint: Path | None = None,
) -> Frontier:
    """The frontier of releases of the kind that a request asks for.

    A ``checkpoint`` is a file that the codes of symbols are written to as they are found.
    """
    shared: dict[str, Any] = {
        "n_points": request.points,
        "seed": request.seed,
        "progress": progress,
        "n_jobs": jobs,
    }
    if request.kind != "symbols":
        settings = recoding_settings(joint, request)
        return sweep(joint, recoding=request.kind, measure=request.measure, **shared, **settings)
    method, effort = _method(request), request.effort
    if joint.n_x > LARGE and request.is_plain and not request.soft:
        # The release is searched for by itself; wide gaps of the picture beside it are filled by merging.
        effort, shared["n_points"] = REFINE[effort], math.ceil(request.points / 2)
    found = sweep(
        joint,
        method=method,
        effort=effort,
        measure=request.measure,
        keep=request.purpose,
        checkpoint=checkpoint,
        **shared,
        **_options(request),
    )
    return replace(found, solver=make_solver(method, effort=request.effort, **_options(request)))


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
    return {} if request.soft else {"min_count": max(1, request.min_count)}


def recoding_settings(
    joint: Joint, request: ReleaseRequest, kind: str | None = None
) -> dict[str, Any]:
    """The settings of the readable recoding that is asked for, or of another kind."""
    kind = kind or request.kind
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
        "min_count": max(1, request.min_count),
    }
    if kind == "global":
        usual = BALANCE if "kept" in request.target else 0.0
        options["balance"] = usual if request.balance is None else request.balance
    if request.suppress is not None:
        options["suppress"] = request.suppress
    if request.round_cuts:
        options["rounding"] = "force"
    check_effort(request.effort)
    usual_fit = FIT[request.kind] if request.measure == "shannon" else "records"
    options["fit"] = request.fit or usual_fit
    return options if kind == "global" else options | {"moves": LOCAL_MOVES[request.effort]}
