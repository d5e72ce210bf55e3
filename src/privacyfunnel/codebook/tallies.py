"""Tallies: how many records stand behind what is released, value by value, about X alone.

With them a receiver computes means and tables without bias: a group of ages is not its middle, but
so many people of each age.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.codebook.output import ANY
from privacyfunnel.columns import known
from privacyfunnel.errors import InvalidInput, UnknownSymbol

if TYPE_CHECKING:
    from privacyfunnel.codebook.codebook import Codebook
    from privacyfunnel.codes import Group, RecodedColumn
    from privacyfunnel.joint import Joint


@dataclass(frozen=True)
class Tally:
    """How many records are released as a group, and how many of them have each value that is told."""

    count: float
    values: tuple[tuple[Any, float], ...] = ()


@dataclass(frozen=True)
class Decoded:
    """What a label stands for: so many records, each value with its share of them.

    A share is None where it is not told; ``untold`` is the share of all such values together.
    """

    count: float
    values: tuple[tuple[Any, float | None], ...]
    untold: float = 0.0
    mean_told: float | None = None  # of a group of numbers, to seven digits

    @property
    def mean(self) -> float | None:
        """The mean of the values; where they are not all told the one of the group, if that is."""
        shares = dict(self.values)
        told = {v: shares[v] for v in known(shares)}
        if self.untold or not all(
            p is not None and type(v) in (int, float) for v, p in told.items()
        ):
            return self.mean_told
        total = sum(p or 0.0 for p in told.values())
        return sum(v * (p or 0.0) for v, p in told.items()) / total if total else None


def told(counts: Sequence[float], least: float) -> list[bool]:
    """Which of several counts, whose sum everyone knows, may be told so that none below ``least`` is.

    One that is hidden alone would be known by subtraction, so at least two are, and ``least`` records.

    >>> told([9, 2, 7, 8], 3), told([9, 7, 8], 3)
    ([True, False, False, True], [True, True, True])
    """
    shown = [True] * len(counts)
    hidden, total = 0, 0.0
    for j in sorted(range(len(counts)), key=lambda j: counts[j]):
        if counts[j] >= least and (not hidden or (hidden >= 2 and total >= least)):
            break
        shown[j], hidden, total = False, hidden + 1, total + counts[j]
    return shown


def tally_columns(
    joint: Joint, cells: NDArray[np.int64], columns: Sequence[RecodedColumn]
) -> tuple[tuple[Tally, ...], ...]:
    """For each group of each column the records with each value; ``cells[x, column]`` are groups."""
    found = []
    for i, (column, recoded) in enumerate(zip(joint.public, columns, strict=True)):
        table = np.zeros((len(recoded.groups), len(column.values)))
        np.add.at(table, (cells[:, i], column.codes), joint.masses)
        pairs = zip(recoded.groups, table, strict=True)
        found.append(tuple(_tally(group, row, column.values) for group, row in pairs))
    return tuple(found)


def _tally(group: Group, row: NDArray[np.float64], values: Sequence[Any]) -> Tally:
    """The records of one group with each value, in the order in which the group names its values."""
    place = {value: m for m, value in enumerate(group.members)}
    told = [(values[v], tidy(float(row[v]))) for v in np.flatnonzero(row).tolist()]
    told.sort(key=lambda pair: place.get(pair[0], len(place)))
    return Tally(tidy(float(row.sum())), tuple(told))


def public_tallies(book: Codebook) -> tuple[tuple[Tally, ...], ...]:
    """The tallies of a readable codebook that may be published.

    Values of a column that is also sensitive are not told, nor, where a least count is promised, those
    behind ``*`` and counts below it. Where the mean of a group is known, the counts that are hidden
    could be solved for, so that then all of them are.
    """
    secret = {column.name for column in book.roles.sensitive}
    return tuple(
        tuple(
            Tally(tally.count)
            if column.name in secret or (group.label == ANY and book.min_count > 1)
            else _public(tally, book.min_count, has_mean=mean is not None)
            for tally, group, mean in zip(tallies, column.groups, means, strict=True)
        )
        for tallies, column, means in zip(book.tallies, book.columns, book.means, strict=True)
    )


def _public(tally: Tally, least: int, has_mean: bool) -> Tally:
    shown = told([count for _, count in tally.values], least)
    if has_mean and not all(shown):
        return Tally(tally.count)
    pairs = zip(tally.values, shown, strict=True)
    return Tally(tally.count, tuple(pair for pair, ok in pairs if ok))


def public_counts(book: Codebook) -> tuple[float | None, ...]:
    """The records of each value of a release of symbols, None where they may not be told."""
    if not book.counts or book.roles.is_shared:
        return ()
    shown: list[float | None] = [None] * len(book.values)
    place = {value: i for i, value in enumerate(book.values)}
    for members in book.members:
        counts = [book.counts[place[value]] or 0.0 for value in members]
        for value, count, ok in zip(members, counts, told(counts, book.min_count), strict=True):
            shown[place[value]] = count if ok else None
    return tuple(shown)


def decode(book: Codebook, label: str, column: str | None = None) -> Decoded:
    """What a label stands for, with shares: see :meth:`Codebook.decode`."""
    names = [c.name for c in book.roles.public]
    if column is not None and column not in names:
        raise InvalidInput(f"the codebook has no column {column!r}; it has {', '.join(names)}.")
    if book.columns:
        if column is None and len(names) > 1:
            raise InvalidInput(f"say which column {label!r} is a label of: {', '.join(names)}.")
        return _decode_group(book, label, names.index(column or names[0]))
    if label not in book.labels:
        raise UnknownSymbol(f"the codebook has no symbol {label!r}.")
    if book.soft and book.is_public:
        raise InvalidInput(
            "the public codebook of a release by lot does not tell how likely values are; it says "
            "what is typical of a symbol."
        )
    found = _decode_symbol(book, book.labels.index(label))
    return found if column is None else _one_column(found, names.index(column))


def _decode_group(book: Codebook, label: str, i: int) -> Decoded:
    labels = [group.label for group in book.columns[i].groups]
    if label not in labels:
        raise UnknownSymbol(f"column {book.columns[i].name!r} has no label {label!r}.")
    g = labels.index(label)
    tally = book.tallies[i][g] if book.tallies else Tally(0.0)
    shares: dict[Any, float | None] = dict.fromkeys(book.columns[i].groups[g].members)
    shares |= {value: count / tally.count for value, count in tally.values}
    return replace(_with_untold(tally.count, shares), mean_told=book.means[i][g])


def _decode_symbol(book: Codebook, j: int) -> Decoded:
    counts = book.counts or (None,) * len(book.values)
    weights = {
        value: None if count is None else count * p
        for value, row, count in zip(book.values, book.rows, counts, strict=True)
        for k, p in row
        if k == j
    }
    total = book.symbols[j].count
    if total is None:  # drawn by lot: what is to be expected
        total = sum(w or 0.0 for w in weights.values())
    shares = {v: None if w is None or not total else w / total for v, w in weights.items()}
    return _with_untold(total, shares)


def _with_untold(count: float, shares: dict[Any, float | None]) -> Decoded:
    known = sum(share for share in shares.values() if share is not None)
    hidden = None in shares.values() or not shares or known < 1 - 1e-9
    return Decoded(count, tuple(shares.items()), max(0.0, 1.0 - known) if hidden else 0.0)


def _one_column(found: Decoded, i: int) -> Decoded:
    """The shares of one column's values; a value of which a part is not told has no share."""
    sums: dict[Any, float | None] = {}
    for value, share in found.values:
        part = value[i]
        before = sums.get(part, 0.0)
        sums[part] = None if share is None or before is None else before + share
    return _with_untold(found.count, sums)


def tidy(weight: float) -> float:
    """A sum of whole counts as the whole number it is."""
    return int(weight) if weight.is_integer() else weight
