"""Recodings: codes that people can read. Every public column stays a column, coarsened."""

from __future__ import annotations

from typing import Any

from privacyfunnel import solvers
from privacyfunnel.errors import InvalidInput
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import Objective
from privacyfunnel.recodings.hierarchy import Hierarchy
from privacyfunnel.recodings.kept import column_utilities, kept
from privacyfunnel.recodings.recoding import RECODINGS, RecodedSolution, Recoding, RecodingSearch
from privacyfunnel.recodings.useful import UsefulSearch
from privacyfunnel.solvers import Solution
from privacyfunnel.validation import check_choice, check_kind, check_rng

__all__ = [
    "RECODINGS",
    "Hierarchy",
    "RecodedSolution",
    "Recoding",
    "RecodingSearch",
    "UsefulSearch",
    "column_utilities",
    "kept",
    "make_recoding",
    "solve",
]


def make_recoding(kind: str, **options: Any) -> Recoding:
    """The recoding of that kind with its settings."""
    settings = [name for name in Recoding.__dataclass_fields__ if name != "kind"]
    unknown = [name for name in options if name not in settings]
    if unknown:
        raise InvalidInput(
            f"recoding {kind!r} has no setting {unknown[0]!r}; it has: {', '.join(settings)}."
        )
    return Recoding(kind, **options)


def solve(
    joint: Joint,
    objective: Objective,
    method: str = "best",
    *,
    recoding: str = "symbols",
    seed: int = 0,
    **options: Any,
) -> Solution:
    """Search a code of low value for one objective.

    ``recoding`` "symbols" groups the values of X freely, by ``method``; "global" and "local" keep the
    public columns readable and minimise I(S;X̂) − λ · kept · H(X) (see `kept`), or the amount of another
    measure less the same. ``options`` are the settings of the method or of the `Recoding`.

    >>> from privacyfunnel.objectives import Funnel
    >>> joint = Joint.from_counts([[3, 0, 1, 2], [0, 3, 2, 1]], labels_x=[1, 2, 3, 4], columns=["age"])
    >>> solve(joint, Funnel(lam=0.3), method="exhaustive").code.labels
    array([0, 0, 1, 2])
    >>> solve(joint, Funnel(lam=0.3), recoding="global").code.released
    [('under 3',), ('3',), ('4',)]
    """
    check_kind("joint", joint, Joint, "Joint.from_counts(counts)")
    check_kind("objective", objective, Objective, "Funnel(lam=0.5)")
    check_choice("recoding", recoding, RECODINGS)
    if recoding == "symbols":
        return solvers.solve(joint, objective, method, seed=seed, **options)
    if method != "best":
        raise InvalidInput(
            f"recoding {recoding!r} has one search; method must be best, got {method!r}."
        )
    return make_recoding(recoding, **options).solve(joint, objective, rng=check_rng(seed))
