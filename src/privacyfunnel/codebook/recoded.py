"""Recoded rows: what the groups of a readable codebook make of values, those never seen included."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.codebook.output import ANY
from privacyfunnel.codes import ColumnCode, Group, RecodedColumn
from privacyfunnel.columns import known

if TYPE_CHECKING:
    from privacyfunnel.codebook.codebook import Codebook
    from privacyfunnel.joint import Joint

UNSEEN = -1  # in the place of a group: the codebook does not know the value
Ints = NDArray[np.int64]


def holds(group: Group, value: Any) -> bool:
    """Whether a value belongs to a group: by name, by lying between its bounds, or because all do.

    >>> holds(Group("20-29", (), 20, 30), 24.5), holds(Group("a or b", ("a", "b")), "c")
    (True, False)
    """
    if group.label == ANY or value in group.members:
        return True
    if value is None or not is_interval(group):
        return False
    return (group.low is None or group.low <= value) and (group.high is None or value < group.high)


def is_interval(group: Group) -> bool:
    """Whether a group is told by its bounds."""
    return group.low is not None or group.high is not None


def groups_in_use(code: ColumnCode) -> tuple[tuple[RecodedColumn, ...], Ints]:
    """The columns of a code with the groups in use, and each x's positions among them."""
    columns, cells = [], []
    for i, column in enumerate(code.columns):
        used, places = np.unique(code.cells[:, i], return_inverse=True)
        columns.append(RecodedColumn(column.name, tuple(_as_kept(column.groups[g]) for g in used)))
        cells.append(places)
    return tuple(columns), np.column_stack(cells)


def _as_kept(group: Group) -> Group:
    """A group as codebooks hold it: told by its bounds, where it has some, as an engine can hold them."""
    members = () if is_interval(group) or group.label == ANY else group.members
    low, high = (
        float(bound) if isinstance(bound, int) and abs(bound) >= 2**63 else bound
        for bound in (group.low, group.high)
    )
    return Group(group.label, members, low, high)


def is_global(code: ColumnCode, joint: Joint) -> bool:
    """Whether a value is released the same in all records, but for those that are suppressed."""
    kept = np.flatnonzero(~code.suppressed)
    for i, column in enumerate(joint.public):
        pairs = np.unique(np.column_stack([column.codes[kept], code.cells[kept, i]]), axis=0)
        if len(np.unique(pairs[:, 0])) < len(pairs):
            return False
    return True


def mean_of_groups(
    joint: Joint, cells: Ints, n_groups: Sequence[int], shown: NDArray[np.bool_]
) -> tuple[tuple[float | None, ...], ...]:
    """For each column of numbers the mean of what its groups stand for, about X alone; else None.

    Only values that are ``shown`` are in it: what was suppressed is not told by a mean either.
    """
    found: list[tuple[float | None, ...]] = []
    for i, column in enumerate(joint.public):
        known = np.array([type(v) in (int, float) for v in column.values])
        if not all(ok or v is None for ok, v in zip(known, column.values, strict=True)):
            found.append((None,) * n_groups[i])
            continue
        numbers = np.array([v if ok else 0.0 for ok, v in zip(known, column.values, strict=True)])
        rows = np.flatnonzero(known[column.codes] & shown)  # what is not told may be infinite, too
        groups, weights = cells[rows, i], joint.p_x[rows]
        total = np.bincount(groups, weights, n_groups[i])
        sums = np.bincount(groups, weights * numbers[column.codes[rows]], n_groups[i])
        means = np.divide(sums, total, out=np.full(n_groups[i], np.nan), where=total > 0)
        found.append(tuple(float(f"{m:.7g}") if np.isfinite(m) else None for m in means))
    return tuple(found)


def recode(book: Codebook, values: Sequence[Sequence[Any]], places: Ints) -> Ints:
    """The groups that rows are released as: positions in the codebook's columns, shape ``[row, column]``.

    ``values[i]`` are distinct values of column i and ``places[row, i]`` which of them a row has. A value
    that its column does not know is UNSEEN there; a combination that a local recoding does not know
    climbs to the narrowest released one that holds it, else all of it is UNSEEN.
    """
    inside = [_inside(column, values[i]) for i, column in enumerate(book.columns)]
    released = book.cells
    if book.recoding == "global":
        cells = np.column_stack(
            [_narrowest(column, inside[i])[places[:, i]] for i, column in enumerate(book.columns)]
        )
    else:
        cells = np.full(places.shape, UNSEEN, dtype=np.int64)
    known = np.full(len(places), UNSEEN)
    if book.values:
        parts = ([of[p] for p in places[:, i].tolist()] for i, of in enumerate(values))
        known = book.places(list(zip(*parts, strict=True)))
        cells[known >= 0] = released[book.symbol_of[known[known >= 0]]]
    if book.recoding == "local":
        order = narrow_first(book)
        for row in np.flatnonzero(known < 0):
            fits = np.ones(len(order), dtype=bool)
            for i in range(places.shape[1]):
                fits &= inside[i][released[order, i], places[row, i]]
            if fits.any():
                cells[row] = released[order[np.argmax(fits)]]
    elif book.min_count > 1:  # a combination that was suppressed, or never seen, stays hidden
        shown = {tuple(cell) for cell in released.tolist()}
        stars = stars_of(book)
        for row in np.flatnonzero(known < 0):
            if (cells[row] >= 0).all() and tuple(cells[row].tolist()) not in shown:
                cells[row] = stars
    return cells


def recode_values(book: Codebook, values: Sequence[tuple[Any, ...]]) -> Ints:
    """`recode` for values of the public columns, shape ``[value, column]``."""
    parts = [list(dict.fromkeys(part)) for part in zip(*values, strict=True)]
    place = [{value: v for v, value in enumerate(part)} for part in parts]
    places = [[of[part] for of, part in zip(place, value, strict=True)] for value in values]
    return recode(book, parts, np.array(places, dtype=np.int64))


def narrow_first(book: Codebook) -> Ints:
    """The symbols of a readable codebook, those first that leave the least open.

    A group of column i leaves open log(records in it and in the groups within it), which sums over the
    columns, as in `recodings.kept`. The table that is coded has no say: a row's groups are its own.
    """
    sizes = np.zeros(len(book.symbols))
    for i, column in enumerate(book.columns):
        tallies = book.tallies[i] if book.tallies else ()
        own = np.array([tally.count for tally in tallies] or [1.0] * len(column.groups))
        held = [
            sum(own[h] for h, inner in enumerate(column.groups) if is_within(inner, group))
            for group in column.groups
        ]
        bits = np.log2(np.maximum(held, 1.0))
        sizes += bits[book.cells[:, i]]
    return np.argsort(np.round(sizes, 9), kind="stable")


def is_within(inner: Group, outer: Group) -> bool:
    """Whether a group holds only values that another one holds too."""
    if outer.label == ANY or inner == outer:
        return True
    if inner.label == ANY:
        return False
    if not is_interval(inner):
        return all(holds(outer, value) for value in inner.members)
    if not is_interval(outer):  # of two groups of a tree that meet, the one that reaches further
        held = [holds(inner, value) for value in known(outer.members)]
        return any(held) and not all(held)
    return (outer.low is None or (inner.low is not None and outer.low <= inner.low)) and (
        outer.high is None or (inner.high is not None and inner.high <= outer.high)
    )


def starred(book: Codebook, cells: Ints) -> Ints:
    """The groups with ``*`` for what is UNSEEN, in a local recoding in all columns of such a row."""
    unseen = cells < 0
    if book.recoding == "local":
        unseen |= unseen.any(axis=1, keepdims=True)
    return np.where(unseen, np.array(stars_of(book)), cells)


def as_code(book: Codebook, cells: Ints) -> ColumnCode:
    """The code that releases each x as the groups that `recode` found for it."""
    full = starred(book, cells)
    columns = [
        column
        if full[:, i].max() < len(column.groups)
        else RecodedColumn(column.name, (*column.groups, Group(ANY, ())))
        for i, column in enumerate(book.columns)
    ]
    return ColumnCode(columns, full)


def stars_of(book: Codebook) -> list[int]:
    """The position of ``*`` in each column: its own, or one after the last."""
    found = []
    for column in book.columns:
        labels = [group.label for group in column.groups]
        found.append(labels.index(ANY) if ANY in labels else len(labels))
    return found


def star_last(column: RecodedColumn) -> list[int]:
    """The positions of a column's groups in the order in which they are asked for a value."""
    return sorted(range(len(column.groups)), key=lambda g: column.groups[g].label == ANY)


def _inside(column: RecodedColumn, values: Sequence[Any]) -> NDArray[np.bool_]:
    """Which of the values each group holds, shape ``[group, value]``: `holds` for many at once."""
    place = {value: v for v, value in enumerate(values)}
    rising = sorted(known(values))
    order = np.array([place[value] for value in rising], dtype=np.int64)
    found = np.zeros((len(column.groups), len(values)), dtype=bool)
    for g, group in enumerate(column.groups):
        found[g, [place[value] for value in group.members if value in place]] = True
        if group.label == ANY:
            found[g] = True
        elif is_interval(group):
            low = 0 if group.low is None else bisect_left(rising, group.low)
            high = len(rising) if group.high is None else bisect_left(rising, group.high)
            found[g, order[low:high]] = True
    return found


def _narrowest(column: RecodedColumn, inside: NDArray[np.bool_]) -> Ints:
    """For each value the first group that holds it, ``*`` last; UNSEEN where none does."""
    order = star_last(column)
    ordered = inside[order]
    first = np.array(order)[ordered.argmax(axis=0)]
    return np.where(ordered.any(axis=0), first, UNSEEN)
