"""Listing: a codebook as one csv, a line for each value of each group or symbol, with its records."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from privacyfunnel.codebook.values import encode

if TYPE_CHECKING:
    from privacyfunnel.codebook.codebook import Codebook

COLUMNS = ("column", "released", "low", "high", "value", "is_missing", "records", "share")


def to_csv(book: Codebook) -> str:
    """The text of the file.

    Of a readable codebook each line is a value of a column in a group, or a group whose values are told
    by bounds alone; of symbols it is a combination of values, a column for each.
    """
    return csv_text(_groups(book) if book.columns else _symbols(book))


def csv_text(lines: Iterable[Sequence[Any]], delimiter: str = ",") -> str:
    """Lines of cells as the text of a csv."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(lines)
    return text.getvalue()


def _symbols(book: Codebook) -> Iterator[Sequence[Any]]:
    names = [column.name for column in book.roles.public]
    yield ["released", *names, "records", "share"]
    for label in book.labels:
        found = book.decode(label)
        for value, share in found.values:
            yield [label, *map(_cell, value), *_counted(found.count, share)]


def _groups(book: Codebook) -> Iterator[Sequence[Any]]:
    yield COLUMNS
    for column in book.columns:
        for group in column.groups:
            found = book.decode(group.label, column.name)
            of = [column.name, group.label, _cell(group.low), _cell(group.high)]
            # A value that is not told has no records where all of the group's are told, or it has none.
            rest = 0.0 if book.tallies and found.count * found.untold < 1e-6 else None
            for value, share in found.values:
                counted = _counted(found.count, rest if share is None else share)
                yield [*of, _cell(value), int(value is None), *counted]
            if not found.values:
                yield [*of, "", 0, *_counted(found.count, 1.0)]


def _counted(count: float, share: float | None) -> list[Any]:
    if share is None:
        return ["", ""]
    records = count * share
    return [round(records) if abs(records - round(records)) < 1e-6 else records, share]


def _cell(value: Any) -> Any:
    shown = encode(value)
    return next(iter(shown.values())) if isinstance(shown, dict) else "" if shown is None else shown
