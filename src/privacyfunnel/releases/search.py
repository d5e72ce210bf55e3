"""Searching: the frontier of a table, and the release on it that meets what was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from privacyfunnel.parallel import Progress

if TYPE_CHECKING:
    from privacyfunnel.frontiers.frontier import Frontier
    from privacyfunnel.joint import Joint
    from privacyfunnel.releases.document import Asked
    from privacyfunnel.solvers.base import Solution


def search(
    joint: Joint, asked: Asked, *, jobs: int = 1, progress: Progress | None = None
) -> tuple[Frontier, Solution]:
    """The frontier, and the release that meets the target."""
    found = _frontier(joint, asked, jobs, progress)
    return found, _at_lam(joint, asked) if "lam" in asked.target else found.at(**asked.target)


def find(
    joint: Joint, asked: Asked, *, jobs: int = 1, progress: Progress | None = None
) -> Solution:
    """The same release without the frontier, where it is not needed to find it."""
    if "lam" in asked.target:
        return _at_lam(joint, asked)
    return search(joint, asked, jobs=jobs, progress=progress)[1]


def _frontier(joint: Joint, asked: Asked, jobs: int, progress: Progress | None) -> Frontier:
    import privacyfunnel as pf

    return pf.frontier(
        joint,
        method=_method(asked),
        n_points=asked.points,
        n_jobs=jobs,
        seed=asked.seed,
        progress=progress,
        effort=asked.effort,
        **_options(asked),
    )


def _at_lam(joint: Joint, asked: Asked) -> Solution:
    import privacyfunnel as pf

    options = _options(asked) if asked.soft else {**_options(asked), "effort": asked.effort}
    objective = pf.Funnel(asked.target["lam"])
    return pf.solve(joint, objective, _method(asked), seed=asked.seed, **options)


def _method(asked: Asked) -> str:
    return "soft" if asked.soft else "best"


def _options(asked: Asked) -> dict[str, Any]:
    return {} if asked.soft else {"min_count": asked.min_count}
