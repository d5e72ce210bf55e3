"""By hand: what groups that a person lays keep and give away, at once, from counts in memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from privacyfunnel.codes import ColumnCode
from privacyfunnel.columns import KINDS, Column, known, show
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.frontiers.readable_frontier import readable_frontier
from privacyfunnel.information import entropy, share
from privacyfunnel.recodings import RecodedSolution
from privacyfunnel.recodings.fixed import Fixed
from privacyfunnel.recodings.hierarchy import Tree
from privacyfunnel.releases.recoded import value_bars
from privacyfunnel.releases.search import recoding_settings
from privacyfunnel.solvers.target import floor_of, reaches
from privacyfunnel.studio.drafts import APART, NEW, SHOWN, Change, Draft

if TYPE_CHECKING:
    from privacyfunnel.frontiers.readable_frontier import ReadableFrontier
    from privacyfunnel.joint import Joint, PublicColumn
    from privacyfunnel.parallel import Progress
    from privacyfunnel.recodings.global_recoding import GlobalSearch
    from privacyfunnel.releases.request import ReleaseRequest

MOST_CUTS = 1000


@dataclass(frozen=True, eq=False)
class BareTable:
    """The counts of a table without its labels, and how its columns are named: small, quick to load."""

    search: GlobalSearch  # measures
    columns: tuple[Column, ...]
    orders: tuple[Sequence[int] | None, ...]
    trees: tuple[Tree | None, ...]
    whole: float  # all there is to give away
    as_it_is: float  # the share of it that the columns give away as they are

    @classmethod
    def of(cls, found: ReadableFrontier, columns: Sequence[Column]) -> BareTable:
        """From the frontier of global recodings."""
        search = found.search.columns
        orders = [getattr(shape, "order", None) for shape in search.shapes]
        trees = [shape if isinstance(shape, Tree) else None for shape in search.shapes]
        ordered = [column.rule is None and KINDS[column.kind].is_ordered for column in columns]
        bare = replace(search, joint=found.joint.without_labels(), marginals=None, seen={})
        _ = bare.weights, bare.rates, bare.joint.p_x, bare.joint.information  # once for all changes
        whole = bare.measure.whole(bare.joint.p_s)
        return cls(
            bare,
            tuple(columns),
            tuple(
                None if tree is not None or dense or order is None else order.tolist()
                for order, tree, dense in zip(orders, trees, ordered, strict=True)
            ),
            tuple(trees),
            whole,
            share(bare.measure(bare.joint.p_sx), whole),
        )

    @property
    def joint(self) -> Joint:
        """The counts."""
        return self.search.joint

    def fixed(self, draft: Draft) -> list[Fixed]:
        """Each column's groups, named."""
        return [
            Fixed.of(column.name, column.values, draft.groups[column.name], order=order, tree=tree)
            for column, order, tree in zip(self.joint.public, self.orders, self.trees, strict=True)
        ]


def draft_of(solution: RecodedSolution, table: BareTable) -> Draft:
    """The groups of a global recoding as a draft, nothing of it held."""
    code = solution.code
    assert isinstance(code, ColumnCode)
    groups: dict[str, Sequence[Any]] = {}
    for i, column in enumerate(table.joint.public):
        groups_of = code.columns[i].groups
        # A * beside others is that of suppressed records, not a group of the column.
        own = [group for group in groups_of if group.label != "*" or len(groups_of) == 1]
        if _has_points(table, i):
            cuts = sorted(group.low for group in own if group.low is not None)
            groups[column.name] = cuts or [column.values[0]]
        else:
            known = set(column.values)
            lists = [[value for value in group.members if value in known] for group in own]
            groups[column.name] = _together(column, lists)
    return Draft(groups)


def _together(column: PublicColumn, lists: Sequence[list[Any]]) -> list[list[Any]]:
    """The groups of more than one value; where there are none, that is said by one value alone."""
    return [members for members in lists if len(members) > 1] or [[column.values[0]]]


def _has_points(table: BareTable, i: int) -> bool:
    """Whether a column is cut at points: numbers and dates that have neither bins nor a tree."""
    column = table.columns[i]
    plain = column.rule is None and table.orders[i] is None and table.trees[i] is None
    return plain and KINDS[column.kind].is_ordered


def changed(table: BareTable, draft: Draft, change: Change) -> Draft:
    """The draft after a change; the column is held from then on."""
    if change.column >= len(table.columns):
        raise InvalidInput("there is no such column; reload the page.")
    name = table.columns[change.column].name
    if change.what == "hold":
        return replace(draft, held=draft.held ^ {name})
    if change.what == "shift":
        new: Sequence[Any] = _shifted(table, draft, change)
    elif not _has_points(table, change.column):
        raise InvalidInput(f"the column {name!r} has no order; move its values between groups.")
    else:
        new = _cut(table, list(draft.groups[name]), change)
    return Draft({**draft.groups, name: new}, draft.held | {name})


def _cut(table: BareTable, cuts: list[Any], change: Change) -> list[Any]:
    """The cuts of a column of numbers or dates after a change; one at the least value is none."""
    column = table.joint.public[change.column]
    kind = table.columns[change.column].kind
    values = known(column.values)
    cuts = [cut for cut in cuts if cut > values[0]]
    if change.what in ("move", "remove"):
        if change.cut >= len(cuts):
            raise InvalidInput("this cut is no longer there; reload the page.")
        cuts.pop(change.cut)
    if change.what == "every":
        cuts = _multiples(values, kind, change.at)
    if change.what in ("add", "move"):
        point = _point(change.at, kind)
        if not values[0] < point <= values[-1]:
            raise InvalidInput(
                f"a cut at {show(point)} has nothing on one side: the values go from "
                f"{show(values[0])} to {show(values[-1])}."
            )
        cuts.append(point)
    return sorted(set(cuts)) or [values[0]]


def _point(text: str, kind: str) -> Any:
    """A place to cut at, as the kind of column needs it."""
    try:
        if KINDS[kind].is_numeric:
            number = float(text)
            if not math.isfinite(number):
                raise ValueError
            return math.ceil(number) if kind == "integer" else number
        return datetime.fromisoformat(text) if kind == "datetime" else date.fromisoformat(text)
    except ValueError:
        wanted = "a number" if KINDS[kind].is_numeric else "a date such as 1980-01-31"
        raise InvalidInput(f"a cut needs {wanted}, got {text[:20]!r}.") from None


def _multiples(known: Sequence[Any], kind: str, text: str) -> list[Any]:
    """Cuts at the multiples of a step; of dates the step is in years."""
    try:
        step = float(text)
    except ValueError:
        step = 0.0
    if not (math.isfinite(step) and step > 0):
        raise InvalidInput(f"the step between cuts needs a number above 0, got {text[:20]!r}.")
    dated = KINDS[kind].is_dated
    if (dated or kind == "integer") and (step != int(step)):
        raise InvalidInput(f"the step between cuts must be a whole number here, got {text[:20]!r}.")
    low, high = (known[0].year, known[-1].year) if dated else (known[0], known[-1])
    n = math.floor(high / step) - math.floor(low / step)
    if n > MOST_CUTS:
        raise InvalidInput(f"that would be {n:,} cuts; take a larger step.")
    points = [(math.floor(low / step) + k) * step for k in range(1, n + 1)]
    if dated:
        make = datetime if kind == "datetime" else date
        return [make(int(year), 1, 1) for year in points]
    found = [int(p) if kind == "integer" else round(p, 12) for p in points]
    return [point for point in found if low < point <= high]


def _shifted(table: BareTable, draft: Draft, change: Change) -> list[list[Any]]:
    """The lists of a column of categories with some values in another group."""
    column = table.joint.public[change.column]
    labels = table.fixed(draft)[change.column].labels
    if _has_points(table, change.column):
        raise InvalidInput(f"the column {column.name!r} is cut at points; add or move cuts.")
    moved = [v for v in change.values if v < len(column.values)]
    place = {show(value): v for v, value in enumerate(column.values)}
    for word in filter(None, (part.strip() for part in change.named.split(","))):
        if word not in place:
            raise InvalidInput(f"no record of {column.name!r} has the value {word[:40]!r}.")
        moved.append(place[word])
    if not moved:
        raise InvalidInput("mark the values that are to be moved first.")
    new = labels.copy()
    if change.to == APART:
        new[moved] = len(new) + np.array(moved)
    elif change.to == NEW:
        new[moved] = len(new)
    else:
        groups = list(dict.fromkeys(labels.tolist()))
        if not change.to.isdigit() or int(change.to) >= len(groups):
            raise InvalidInput("this group is no longer there; reload the page.")
        new[moved] = groups[int(change.to)]
    together = (np.flatnonzero(new == label) for label in np.unique(new))
    return _together(column, [[column.values[v] for v in members] for members in together])


def laid(table: BareTable, draft: Draft) -> dict[str, Any]:
    """A draft measured, and each of its columns as the page draws it."""
    search, joint = table.search, table.joint
    shapes = table.fixed(draft)
    labels = [shape.labels for shape in shapes]
    found = search.measured(labels)
    cells, _ = search.released(labels)
    masses = np.bincount(cells, weights=joint.p_x)
    return {
        "draft": draft,
        "kept": found.kept,
        "leakage": share(search.measure.reading(found.leakage, joint.p_s), table.whole),
        "as_it_is": table.as_it_is,
        "suppressed": found.suppressed,
        "most_suppressed": search.suppress,
        "is_allowed": search.may_suppress(found.suppressed),
        "smallest": _records(joint, float(masses[masses > 0].min())),
        "n_symbols": int(np.count_nonzero(masses)),
        "columns": [
            _column(table, draft, i, shape, search.weights[i] / joint.total)
            for i, shape in enumerate(shapes)
        ],
    }


def _records(joint: Joint, p: float) -> int | None:
    return None if joint.n_records is None else round(p * joint.n_records)


def _column(table: BareTable, draft: Draft, i: int, shape: Fixed, shares: Any) -> dict[str, Any]:
    """One column: its bars, its cuts or its groups with the values that can be marked."""
    column = table.joint.public[i]
    group, _ = pd.factorize(shape.labels)  # numbered as they come
    sums = np.bincount(group, weights=shares)
    points = _has_points(table, i)
    whole = entropy(shares)
    shown = set() if points else set(np.argsort(-shares, kind="stable")[:SHOWN].tolist())
    members = [np.flatnonzero(group == k).tolist() for k in range(len(sums))]
    return {
        "name": column.name,
        "kind": table.columns[i].kind,
        "has_points": points,
        "is_held": column.name in draft.held,
        "distinct": len(column.values),
        "kept": share(entropy(sums), whole),
        "cuts": [show(c) for c in draft.groups[column.name] if points and c > column.values[0]],
        "ends": [show(known(column.values)[end]) for end in (0, -1)] if points else None,
        "groups": [
            {
                "label": shape.groups[own[0]].label,
                "share": mass,
                "records": _records(table.joint, mass),
                "values": [
                    (v, show(column.values[v]), float(shares[v])) for v in own if v in shown
                ],
                "distinct": len(own),
            }
            for own, mass in zip(members, sums.tolist(), strict=True)
        ],
        "bars": value_bars(column.values, shares, group, points or table.orders[i] is not None),
    }


def improved(
    joint: Joint, table: BareTable, draft: Draft, like: ReleaseRequest, progress: Progress
) -> Draft:
    """The columns that are not held, searched anew: as much kept as now, and less given away."""
    free = [column.name for column in table.columns if column.name not in draft.held]
    if not free:
        raise InvalidInput("every column is held; let go of one first.")
    now = table.search.measured([shape.labels for shape in table.fixed(draft)])
    options = recoding_settings(joint, like)
    options["groups"] = {name: draft.groups[name] for name in draft.held}
    options["balance"] = 0.0  # how the columns are to share what is kept is in the curator's hands
    found = readable_frontier(
        joint,
        "global",
        n_points=1,
        targets=[now.kept * k / 4 for k in range(5)],
        n_jobs=1,
        seed=like.seed,
        measure=table.search.measure,
        progress=progress,
        options=options,
    )
    try:
        best = found.at(kept=min(1.0, max(0.0, floor_of(now.kept))))
    except TargetUnreachable:
        return draft
    assert isinstance(best, RecodedSolution)
    if reaches(best.leakage, table.search.measure.reading(now.leakage, joint.p_s)):
        return draft
    return replace(draft_of(best, table), held=draft.held)
