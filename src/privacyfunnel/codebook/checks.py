"""Checks: what must hold for a codebook, in this order where it is read from a file (check_file):

    text (no_twins, no_constant) -> envelope -> form (schema.json: fields and their types)
    -> fit, of what only a file can get wrong -> each value as it is read (values.decode)
    -> content (check_book: which numbers, how many, what belongs together)

The envelope says that it is a codebook, of a version that is known, unchanged since it was written. A
codebook that was just made is checked for its content too. ``releases/written_file.py`` checks no
codebook: it counts the written release again; ``releases/verification.py`` is ``funnel verify``.
"""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import new
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from privacyfunnel.codebook.output import has_bounds
from privacyfunnel.codebook.recoded import holds
from privacyfunnel.codebook.schema import Check, compiled, need, refusal
from privacyfunnel.columns import KINDS, MISSING, UNITS, Bins, Calendar, Column, show
from privacyfunnel.errors import InvalidInput
from privacyfunnel.recodings.recoding import READABLE

if TYPE_CHECKING:
    from privacyfunnel.codebook.codebook import Codebook

FORMAT = "privacyfunnel codebook"
VERSION = 1
HASH = "sha256"  # by which a file says that it is as it was written


def schema() -> dict[str, Any]:
    """The JSON schema of the file; what this software has in tables and constants is filled in.

    >>> schema()["title"]
    'privacyfunnel codebook'
    """
    text = files("privacyfunnel.codebook").joinpath("schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    column = found["$defs"]["column"]["properties"]
    fields = found["properties"]
    fields["format"], fields["version"] = {"const": FORMAT}, {"const": VERSION}
    fields["missing"]["enum"], fields["recoding"]["enum"] = list(MISSING), list(READABLE)
    fields["checksum"]["pattern"] = f"^{HASH}:[0-9a-f]{{{2 * new(HASH).digest_size}}}$"
    column["kind"] = {"enum": list(KINDS)}
    column["round"]["anyOf"][1] = {"enum": list(UNITS)}
    found["$defs"]["value"]["anyOf"][1]["properties"] = {
        name: {"type": "string"} for name, kind in KINDS.items() if kind.from_text is not None
    }
    return found


@cache
def _form() -> Check:
    return compiled(schema())


def no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a field that occurs twice in a file's text."""
    need(len(dict(pairs)) == len(pairs), "a field occurs twice")
    return dict(pairs)


def no_constant(word: str) -> Any:
    """Refuse NaN and the like, which a file's text has no other word for."""
    raise refusal(f"{word} is not a number")


def checksum(document: Mapping[str, Any]) -> str:
    """A fingerprint of all fields but itself, whatever the spacing and the order of fields."""
    rest = {key: value for key, value in document.items() if key != "checksum"}
    return f"{HASH}:" + new(HASH, json.dumps(rest, sort_keys=True).encode()).hexdigest()


def check_file(document: Any) -> None:
    """Refuse what is no codebook's document, is of a later version, was changed by hand, or cannot be.

    >>> check_file({"format": FORMAT, "version": 0})
    Traceback (most recent call last):
    ...
    privacyfunnel.errors.InvalidInput: not a valid codebook: the version is 0.
    """
    json.dumps(document, ensure_ascii=False).encode()  # refuses text that is no Unicode
    need(isinstance(document, dict), "not a JSON object")
    need(document.get("format") == FORMAT, f"the format is not named {FORMAT!r}")
    version = document.get("version")
    need(type(version) is int and version >= 1, f"the version is {reprlib.repr(version)}")
    if version > VERSION:
        raise InvalidInput(
            f"the codebook is of version {reprlib.repr(version)}, made by "
            f"{reprlib.repr(document.get('tool'))}; this "
            f"software reads up to version {VERSION}: upgrade privacyfunnel."
        )
    need(
        document.get("checksum") == checksum(document),
        "its checksum does not match, so it was edited by hand or damaged; make it again",
    )
    _form()(document, "the document")
    _check_fit(document)


def _check_fit(document: Mapping[str, Any]) -> None:
    """Fields that only some codebooks have are there, or not, all together."""
    readable = document["code"] == "columns"
    for name in ("recoding", "columns"):
        need((name in document) == readable, f"it has {name!r} that it must not have, or lacks it")
    has_rows = document["code"] == "channel" and not document["is_public"]
    need(("rows" in document) == has_rows, "it has rows that it must not have, or lacks them")
    for column in (*document["sensitive"], *document["public"]):
        need("bins" not in column or "round" not in column, "a column has two rules")
    for symbol in document["symbols"]:
        counts, members = (symbol.get(name, ()) for name in ("counts", "members"))
        need(len(counts) in (0, len(members)), f"{symbol['label']!r} has not one count per member")
    counted: set[bool] = set()
    for name, groups in ((c["name"], c["groups"]) for c in document.get("columns", ())):
        labels = {group["label"] for group in groups}
        need(len(labels) == len(groups), f"two groups of column {name!r} have one label")
        have = {"count" in group for group in groups}
        need(len(have) == 1, f"some groups of column {name!r} have no count")
        counted |= have
    need(len(counted) <= 1, "some of its columns have no counts")


def check_book(book: Codebook) -> None:
    """Every value is covered once, by symbols that exist, with probabilities that sum to 1."""
    roles = book.roles
    need(roles.missing in MISSING, f"missing is {roles.missing!r}")
    for column in roles.sensitive:
        need(column.kind in KINDS, f"column {column.name!r} has the unknown kind {column.kind!r}")
    labels = [symbol.label for symbol in book.symbols]
    need(bool(labels), "it has no symbols")
    need(all(labels) and len(set(labels)) == len(labels), "its labels are not distinct")
    chances = [symbol.probability for symbol in book.symbols]
    need(all(0 <= p <= 1 for p in chances), "a symbol has a probability outside 0 to 1")
    total = math.fsum(chances)
    need(abs(total - 1) < 1e-9, f"the probabilities of its symbols sum to {total:.9g}, not 1")
    need(book.min_count >= 1, f"the least count is {book.min_count}")
    need(len(book.values) == len(book.rows), "its values and rows differ in number")
    check_values(roles.public, book.values, book.counts)
    if book.soft:
        told = all(len(s.stands_for or ()) == len(roles.public) for s in book.symbols)
        need(told, "a symbol of a soft code does not say what it stands for in each column")
    if book.columns:
        _check_columns(book)
    if book.is_public and (book.soft or book.columns):
        what = "a channel" if book.soft else "the combinations of a table"
        need(not book.rows, f"a public codebook must not hold {what}")
    else:
        _check_rows(book, labels)
    _check_counts(book)
    known = MISSING[roles.missing].is_symbol or all(None not in value for value in book.values)
    need(known, "missing values are no symbol, but one is covered")
    need(book.soft or book.salt is None, "a hard code has no salt")
    need(not book.soft or book.is_public or bool(book.salt), "a soft code needs a salt")


def _check_counts(book: Codebook) -> None:
    """Counts are of values that a group or symbol holds, and no more in sum than it has."""
    counts = [*book.counts, *(symbol.count for symbol in book.symbols)]
    need(all(n is None or _is_count(n) for n in counts), "a count is no number of records")
    need(len(book.tallies) in (0, len(book.columns)), "its columns and their counts differ")
    if book.counts and not book.soft:
        sums = [0.0] * len(book.symbols)
        for row, n in zip(book.rows, book.counts, strict=True):
            sums[row[0][0]] += n or 0.0
        for symbol, n in zip(book.symbols, sums, strict=True):
            fits = _at_most(n, symbol.count or 0.0)
            need(fits, f"{symbol.label!r} has fewer records than its values")
    for i, tallies in enumerate(book.tallies):
        column, groups = book.roles.public[i], book.columns[i].groups
        need(len(tallies) == len(groups), f"the groups of {column.name!r} lack counts")
        for group, tally in zip(groups, tallies, strict=True):
            values = [value for value, _ in tally.values]
            need(all(_fits(column, v) for v in values), f"{group.label!r} has a strange value")
            inside = len(set(values)) == len(values) and all(holds(group, v) for v in values)
            need(inside, f"{group.label!r} has counts of values that it does not hold, or twice")
            numbers = [tally.count, *(n for _, n in tally.values)]
            need(all(map(_is_count, numbers)), "a count is no number of records")
            need(_at_most(sum(numbers[1:]), tally.count), f"{group.label!r} has too few records")


def _is_count(n: Any) -> bool:
    return type(n) in (int, float) and math.isfinite(n) and n >= 0


def _at_most(n: float, most: float) -> bool:
    return n <= most * (1 + 1e-9)


def _check_columns(book: Codebook) -> None:
    """Groups of the public columns, of values and bounds of their kinds, and symbols made of them."""
    need(not book.soft, "a soft code has no groups")
    need(book.recoding in READABLE, f"the recoding is {book.recoding!r}")
    names = [column.name for column in book.roles.public]
    need([column.name for column in book.columns] == names, "its columns are not the public ones")
    for column, recoded in zip(book.roles.public, book.columns, strict=True):
        for group in recoded.groups:
            fits = all(_fits(column, value) for value in group.members)
            need(fits, f"a group of column {column.name!r} has a value of another kind")
            bounds = [b for b in (group.low, group.high) if b is not None]
            fits = not bounds or (has_bounds(column) and _are_cuts(column, bounds))
            need(fits, f"the bounds of a group of column {column.name!r} are of another kind")
            need(len(bounds) < 2 or bounds[0] < bounds[1], f"{group.label!r} ends before it begins")
    cells = [symbol.cells for symbol in book.symbols]
    need(None not in cells and len(set(cells)) == len(cells), "two symbols have the same groups")


def check_values(
    columns: Sequence[Column],
    values: Sequence[tuple[Any, ...]],
    counts: Sequence[float | None],
) -> None:
    """Every value, of parts of the right kinds, comes once; either all have a count or none has."""
    need(bool(columns), "it names no public column")
    for column in columns:
        need(column.kind in KINDS, f"column {column.name!r} has the unknown kind {column.kind!r}")
        need(_suits(column), f"the rule of column {column.name!r} does not suit {column.kind}")
    seen: set[tuple[Any, ...]] = set()
    n = len(columns)
    for value in values:
        need(len(value) == n, f"a value has {len(value)} parts for {n} columns")
        for column, part in zip(columns, value, strict=True):
            need(_fits(column, part), f"{part!r} is no value of column {column.name!r}")
        need(value not in seen, f"the value {', '.join(map(show, value))} is covered twice")
        seen.add(value)
    need(len(counts) in (0, len(values)), "its values and their counts differ in number")


def _suits(column: Column) -> bool:
    """Whether a column's rule is one for its kind."""
    kind = KINDS[column.kind]
    if isinstance(column.rule, Bins):
        return kind.is_ordered and _are_cuts(column, column.rule.edges)
    if isinstance(column.rule, Calendar):
        return kind.is_dated
    return column.rule is None or kind.is_numeric


def _are_cuts(column: Column, values: Sequence[Any]) -> bool:
    """Whether a column can be cut at these values; whole numbers may be at 2.5."""
    of = "number" if KINDS[column.kind].is_numeric else column.kind
    return all(_is_plain(of, value) for value in values)


def _is_plain(kind: str, value: Any) -> bool:
    """Whether a value is one of its kind, as an engine could hold it."""
    if type(value) not in KINDS[kind].types or value != value:
        return False
    return not isinstance(value, int) or -(2**63) <= value < 2**63


def _fits(column: Column, value: Any) -> bool:
    if value is None:
        return True
    if isinstance(column.rule, Bins):
        return value in column.rule.places
    if isinstance(column.rule, Calendar):
        return _is_plain(column.kind, value) and bool(column.rule.index(value) == value)
    if column.rule is not None:
        return type(value) in (int, float) and column.rule.label(column.rule.raw(value)) == value
    return _is_plain(column.kind, value)


def _check_rows(book: Codebook, labels: list[str]) -> None:
    reached = set()
    for value, row in zip(book.values, book.rows, strict=True):
        words = ", ".join(map(show, value))
        need(bool(row), f"the value {words} is released as nothing")
        need(book.soft or len(row) == 1, f"the value {words} is covered twice")
        need(all(0 <= j < len(labels) for j, _ in row), f"the value {words} has an unknown symbol")
        need(len({j for j, _ in row}) == len(row), f"the value {words} names a symbol twice")
        need(all(0 < p <= 1 for _, p in row), f"the value {words} has a probability outside 0 to 1")
        total = math.fsum(p for _, p in row)
        need(abs(total - 1) <= 1e-12, f"the probabilities of the value {words} sum to {total:.9g}")
        reached |= {j for j, _ in row}
    need(len(reached) == len(labels), "a symbol stands for no value")
