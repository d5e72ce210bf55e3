"""Recoded: what a readable release keeps of each column, and what each column gives away about S."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.codes import ColumnCode, Partition
from privacyfunnel.columns import show
from privacyfunnel.errors import FunnelError
from privacyfunnel.frontiers.frontier import Frontier
from privacyfunnel.frontiers.sweep import frontier as sweep
from privacyfunnel.information import Array, share
from privacyfunnel.joint import Joint, PublicColumn
from privacyfunnel.recodings import RECODINGS, column_utilities
from privacyfunnel.recodings.cuts import is_ordered
from privacyfunnel.releases.request import ReleaseRequest
from privacyfunnel.releases.search import recoding_settings
from privacyfunnel.solvers.base import in_bits

MOST_BARS = 90  # of a column's picture; more values are put together
COMPARED = 20_000  # values of X up to which the other recodings are searched for the report
COMPARED_POINTS = (7, 4)  # of a rough curve; fewer where X has many values
MANY_VALUES = 4_000
COMPARED_MOVES = 1_000_000  # of local recoding, for a rough curve


def recoded_columns(joint: Joint, code: ColumnCode, *, is_local: bool) -> list[dict[str, Any]]:
    """For each column its groups and its values, what is kept, and what it tells about S.

    ``alone`` is I(S;X̂_i)/H(S); ``added`` is what the column tells beyond all the others,
    (I(S;X̂) − I(S;X̂ without i))/H(S).

    >>> import privacyfunnel as pf
    >>> joint = pf.Joint.from_counts([[3, 0, 1, 2], [0, 3, 2, 1]], labels_x=[1, 2, 3, 4], columns=["age"])
    >>> code = pf.solve(joint, pf.Funnel(0.3), recoding="global").code
    >>> found = recoded_columns(joint, code, is_local=False)[0]
    >>> [(group["label"], group["records"]) for group in found["groups"]]
    [('under 3', 6), ('3', 3), ('4', 3)]
    """
    utilities = column_utilities(joint, code)
    whole = _information(joint, code.cells)
    found = []
    for i, (column, recoded) in enumerate(zip(joint.public, code.columns, strict=True)):
        groups = np.bincount(code.cells[:, i], weights=joint.p_x, minlength=len(recoded.groups))
        rest = _information(joint, np.delete(code.cells, i, axis=1))
        order = is_ordered(column.values)
        found.append(
            {
                "name": column.name,
                "distinct": len(column.values),
                "is_ordered": order,
                "kept": utilities[column.name],
                "alone": share(_information(joint, code.cells[:, [i]]), joint.entropy_s),
                "added": share(max(0.0, whole - rest), joint.entropy_s),
                "groups": [
                    {
                        "label": group.label,
                        "share": float(p),
                        "records": None if joint.n_records is None else round(p * joint.n_records),
                    }
                    for group, p in zip(recoded.groups, groups, strict=True)
                    if p > 0
                ],
                "bars": None if is_local else _bars(joint, column, code.cells[:, i], order),
            }
        )
    return found


def _information(joint: Joint, cells: NDArray[np.int64]) -> float:
    """I(S; the columns of cells) in bits."""
    if cells.shape[1] == 0:
        return 0.0
    labels = np.unique(cells, axis=0, return_inverse=True)[1].ravel()
    return Partition(labels).push(joint).information


def _bars(
    joint: Joint, column: PublicColumn, groups: NDArray[np.int64], is_ordered: bool
) -> list[dict[str, Any]]:
    """The bars of a released column, each value with its group."""
    p = np.bincount(column.codes, weights=joint.p_x, minlength=len(column.values)).astype(float)
    # A suppressed record is * in every column, so a value may have two groups: its own is the first.
    pairs, inverse = np.unique(column.codes * (groups.max() + 1) + groups, return_inverse=True)
    value, group = np.divmod(pairs, groups.max() + 1)
    rising = np.lexsort((-group, np.bincount(inverse, weights=joint.p_x)))
    of_value = np.zeros(len(column.values), dtype=np.int64)
    of_value[value[rising]] = group[rising]  # the last one stays
    return value_bars(column.values, p, of_value, is_ordered)


def value_bars(
    values: Sequence[Any], p: Array, group: NDArray[np.int64], is_ordered: bool
) -> list[dict[str, Any]]:
    """A column's values with their shares and groups; neighbours together where there are many.

    Values without an order stand by their groups, the most frequent first.

    >>> value_bars(("a", "b", "c"), np.array([0.2, 0.5, 0.3]), np.array([0, 1, 0]), False)[0]
    {'label': 'c', 'share': 0.3, 'group': 0, 'values': 1}
    """
    order = range(len(p)) if is_ordered else np.lexsort((-p, group))[:MOST_BARS]
    bars: list[dict[str, Any]] = []
    wide = -(-len(p) // MOST_BARS) if is_ordered else 1
    for v in order:
        if bars and bars[-1]["values"] < wide and bars[-1]["group"] == int(group[v]):
            bars[-1]["share"] += float(p[v])
            bars[-1]["values"] += 1
        else:
            label = show(values[v])
            bars.append({"label": label, "share": float(p[v]), "group": int(group[v]), "values": 1})
    return bars


def compare_recodings(
    joint: Joint, frontier: Frontier, request: ReleaseRequest
) -> dict[str, list[dict[str, float]]]:
    """Leakage over the mean share kept of the columns, for every recoding: the price of being readable.

    The release's own frontier is there; the others are searched roughly, where X is small enough.
    """
    found = {request.kind: _points(joint, frontier)}
    for kind in RECODINGS:
        if kind not in found and joint.n_x <= COMPARED:
            found[kind] = rough_frontier(joint, kind, request)
    return {kind: points for kind, points in found.items() if points}


def rough_frontier(joint: Joint, kind: str, request: ReleaseRequest) -> list[dict[str, float]]:
    """The points of a recoding other than the one that was asked for, searched roughly.

    There are none where, for example, no code of this kind has so many records in each group.
    """
    options: dict[str, Any] = {"effort": "fast", "min_count": max(1, request.min_count)}
    if kind != "symbols":
        options = recoding_settings(joint, request, kind)
    if kind == "local":  # which takes no cuts and no groups
        options |= {"moves": COMPARED_MOVES, "cuts": {}, "groups": {}}
    try:
        points = COMPARED_POINTS[joint.n_x > MANY_VALUES]
        other = sweep(joint, recoding=kind, n_points=points, seed=request.seed, **options)
    except FunnelError:
        return []
    return _points(joint, other)


def _points(joint: Joint, frontier: Frontier) -> list[dict[str, float]]:
    points = [
        {
            "kept": float(np.mean(list(column_utilities(joint, solution.code).values()))),
            "leakage": share(in_bits(joint, solution).leakage, joint.entropy_s),
        }
        for solution in frontier
    ]
    return sorted(points, key=lambda point: point["kept"])
