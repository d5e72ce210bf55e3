"""Holdout: how the method that made a release does on records that it has not seen."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from privacyfunnel.audits import generalise_joint
from privacyfunnel.codebook import Codebook
from privacyfunnel.errors import TargetUnreachable
from privacyfunnel.parallel import Progress
from privacyfunnel.releases.search import find

if TYPE_CHECKING:
    from privacyfunnel.columns import Roles
    from privacyfunnel.joint import Joint
    from privacyfunnel.releases.request import ReleaseRequest


def on_unseen(
    made_from: Joint,
    put_aside: Joint,
    roles: Roles,
    request: ReleaseRequest,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Make a codebook from some records as it was asked for; measure it on these and on the others."""
    try:
        solution = find(made_from, request, jobs=jobs, progress=progress)
    except TargetUnreachable as error:
        raise TargetUnreachable(
            f"the holdout leaves {made_from.n_records:,} records to make a code from, and there {error}"
        ) from error
    book = Codebook.from_solution(
        made_from, solution, roles, target=request.target, seed=request.seed
    )
    return {
        "share": request.holdout,
        "symbols": len(book.symbols),
        "own": asdict(generalise_joint(made_from, book, seed=request.seed)),
        "unseen": asdict(generalise_joint(put_aside, book, seed=request.seed)),
    }
