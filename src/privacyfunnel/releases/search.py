"""Search: the frontier of a table, and the release on it that meets the request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from privacyfunnel.errors import InvalidInput
from privacyfunnel.frontiers.sweep import frontier as sweep
from privacyfunnel.objectives import Funnel
from privacyfunnel.parallel import Progress
from privacyfunnel.solvers import solve

if TYPE_CHECKING:
    from privacyfunnel.frontiers.frontier import Frontier
    from privacyfunnel.joint import Joint
    from privacyfunnel.releases.request import ReleaseRequest
    from privacyfunnel.solvers.base import Solution


def search(
    joint: Joint,
    request: ReleaseRequest,
    *,
    frontier: Frontier | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> tuple[Frontier, Solution]:
    """The frontier, where it is not there already, and the release that meets the target."""
    if frontier is not None:
        _check_frontier(joint, request, frontier)
    found = frontier or _frontier(joint, request, jobs, progress)
    return found, _at_lam(joint, request) if "lam" in request.target else found.at(**request.target)


def find(
    joint: Joint, request: ReleaseRequest, *, jobs: int = 1, progress: Progress | None = None
) -> Solution:
    """The same release without the frontier, where it is not needed to find it."""
    if "lam" in request.target:
        return _at_lam(joint, request)
    return search(joint, request, jobs=jobs, progress=progress)[1]


def _check_frontier(joint: Joint, request: ReleaseRequest, frontier: Frontier) -> None:
    """Refuse a frontier of other records, or of other codes than the request asks for."""
    own, given = joint.counts, frontier.joint.counts
    same = own.shape == given.shape and joint.labels_x == frontier.joint.labels_x
    if not same or abs(own - given).sum() > 0:
        raise InvalidInput("the frontier is not of these columns of this table; search it again.")
    if frontier.problem != "funnel" or (frontier.method == "soft") != request.soft:
        raise InvalidInput(
            f"a frontier of {frontier.problem} by {frontier.method} has no release that was asked for."
        )


def _frontier(
    joint: Joint, request: ReleaseRequest, jobs: int, progress: Progress | None
) -> Frontier:
    return sweep(
        joint,
        method=_method(request),
        n_points=request.points,
        n_jobs=jobs,
        seed=request.seed,
        progress=progress,
        effort=request.effort,
        **_options(request),
    )


def _at_lam(joint: Joint, request: ReleaseRequest) -> Solution:
    options = _options(request) if request.soft else {**_options(request), "effort": request.effort}
    objective = Funnel(request.target["lam"])
    return solve(joint, objective, _method(request), seed=request.seed, **options)


def _method(request: ReleaseRequest) -> str:
    return "soft" if request.soft else "best"


def _options(request: ReleaseRequest) -> dict[str, Any]:
    return {} if request.soft else {"min_count": request.min_count}
