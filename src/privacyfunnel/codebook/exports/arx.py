"""ARX: the groups of each column as a hierarchy file, which releases can be made along again.

A line for each value: the value, then the groups that hold it, narrow ones first, then ``*``.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from privacyfunnel.codebook.exports.listing import csv_text
from privacyfunnel.codebook.output import ANY
from privacyfunnel.codebook.recoded import holds, is_interval
from privacyfunnel.columns import show
from privacyfunnel.errors import InvalidInput

if TYPE_CHECKING:
    from privacyfunnel.codebook.codebook import Codebook

MOST_VALUES = 100_000  # that are listed of a range of whole numbers


def to_arx(book: Codebook) -> dict[str, str]:
    """The text of a hierarchy file for each public column, by the file's name.

    Missing values have no line, as in ARX's own files. Of an interval the values are listed that the
    codebook knows, and all whole numbers where it has both ends.
    """
    if not book.columns:
        raise InvalidInput(
            "a release of symbols has no groups of single columns; ARX's files are for global and local "
            "recodings."
        )
    files: dict[str, str] = {}
    for i, column in enumerate(book.columns):
        name = re.sub(r"[^\w.-]+", "_", column.name).strip("._")[:80] or "column"
        if f"{name}.csv".casefold() in map(str.casefold, files):
            name = f"{name}_{i}"
        files[f"{name}.csv"] = _hierarchy(book, i)
    return files


def _hierarchy(book: Codebook, i: int) -> str:
    groups = [group for group in book.columns[i].groups if group.label != ANY]
    chains = {v: [g.label for g in groups if holds(g, v)] for v in _values(book, i)}
    size = Counter(label for labels in chains.values() for label in labels)
    if not chains:
        raise InvalidInput(
            f"the codebook knows no value of column {book.columns[i].name!r} to list."
        )
    depth = max(map(len, chains.values()))
    lines = []
    for value, labels in chains.items():
        shown = show(value)
        if shown != shown.strip() or len(shown.splitlines()) > 1 or not shown:
            raise InvalidInput(
                f"column {book.columns[i].name!r} has the value {value!r}, which a hierarchy file "
                "cannot hold."
            )
        narrow_first = sorted(labels, key=lambda label: size[label])
        lines.append([*[shown] * (1 + depth - len(labels)), *narrow_first, ANY])
    return csv_text(lines, ";")


def _values(book: Codebook, i: int) -> list[Any]:
    column = book.roles.public[i]
    known: set[Any] = {value[i] for value in book.values}
    for group in book.columns[i].groups:
        known.update(group.members)
        if is_interval(group) and column.kind == "integer" and column.rule is None:
            low, high = group.low, group.high
            if low is not None and high is not None and high - low <= MOST_VALUES:
                known.update(n for n in range(int(low) - 1, int(high) + 1) if holds(group, n))
    if book.tallies:
        known.update(value for tally in book.tallies[i] for value, _ in tally.values)
    known.discard(None)
    return sorted(known, key=column.rank)
