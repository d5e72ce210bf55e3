"""Words for receivers: what a release holds and what can be computed from it, without a figure about S.

A receiver's page and its machine-readable twins are made from the public codebook and the public
document, whatever folder they stand in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privacyfunnel.codebook import Codebook
from privacyfunnel.codebook.output import ANY, has_bounds, has_mean, recoded_names
from privacyfunnel.codebook.recoded import is_interval
from privacyfunnel.codebook.tallies import Tally
from privacyfunnel.codes import Group
from privacyfunnel.columns import KINDS, MISSING, Column, known, show
from privacyfunnel.report.escape import EMPTY
from privacyfunnel.report.numbers import listed, number, percent, several
from privacyfunnel.report.words import in_groups, leaving_aside

Document = Mapping[str, Any]
FEW = 12  # values of a group that are listed with their records


def released_columns(book: Codebook, document: Document) -> list[dict[str, Any]]:
    """Each column of the released file: its name, its kind and what stands in it."""
    keep = document["asked"]["keep"]
    if not book.columns:
        names = document["release"]["columns"]
        rest = [name for name in names[1:] if name not in keep]
        found = [_column(names[0], symbol_words(book))]
        found += [_column(n, f"What the symbol stands for in {n}, in words.") for n in rest]
    else:
        numbers = document["release"]["numbers"]
        found = [entry for i in range(len(book.columns)) for entry in _recoded(book, i, numbers)]
    kept = "As it was in the original table; nothing was done to it."
    return [*found, *(_column(name, kept, "") for name in keep)]


def _column(name: str, text: str, kind: str = "text") -> dict[str, Any]:
    return {"name": name, "kind": kind, "text": text}


def _recoded(book: Codebook, i: int, numbers: str) -> list[dict[str, Any]]:
    column = book.roles.public[i]
    groups = in_groups([group.label for group in book.columns[i].groups], book.recoding)
    if numbers == "mean" and has_mean(column):
        text = f"In {groups}: the mean of the records that share a group, in place of each value."
        return [_column(column.name, text, "number")]
    text = f"In {groups}; the label of the group stands in place of the value."
    found = [_column(column.name, text)]
    if numbers == "bounds" and has_bounds(column):
        kind = "number" if KINDS[column.kind].is_numeric else column.kind
        low, high = recoded_names(column, numbers)[1:]
        found.append(_column(low, f"The least value of the group of {column.name}.", kind))
        found.append(_column(high, f"What the group of {column.name} ends before.", kind))
    return found


def symbol_words(book: Codebook) -> str:
    """What a symbol is."""
    columns = listed([column.name for column in book.roles.public])
    if book.soft:
        lot = f"A symbol drawn by lot for the values of {columns}"
        return f"{lot}; the codebook says what is typical of each."
    return f"A symbol for a set of combinations of {columns}; the codebook lists them."


def group_rows(book: Codebook, i: int) -> list[tuple[str, str, str, str]]:
    """The groups of a column: label, what it holds, records, share of all records."""
    total = sum(tally.count for tally in book.tallies[i]) if book.tallies else 0.0
    rows = []
    for g, group in enumerate(book.columns[i].groups):
        tally = book.tallies[i][g] if book.tallies else None
        count = "" if tally is None else number(tally.count)
        share = "" if tally is None or not total else percent(tally.count / total)
        rows.append((group.label, group_words(group, tally, book.roles.public[i]), count, share))
    return rows


def group_words(group: Group, tally: Tally | None, column: Column) -> str:
    """What a group holds, in words: its bounds or values, with the records of each where they are few."""
    if tally is not None and tally.values and len(tally.values) <= FEW:
        told = [f"{column.shown(value) or EMPTY}: {number(n)}" for value, n in tally.values]
        hidden = tally.count - sum(n for _, n in tally.values)
        return "; ".join([*told, *([f"others: {number(hidden)}"] if hidden > 1e-9 else [])])
    if group.label == ANY:
        return "any value"
    parts = []
    if is_interval(group):
        low = "" if group.low is None else f"from {column.shown(group.low)}"
        high = "" if group.high is None else f"below {column.shown(group.high)}"
        parts.append(f"{low} {high}".strip())
    if group.members:
        named = [column.shown(value) or EMPTY for value in known(group.members)]
        more = f" and {len(named) - FEW} more" if len(named) > FEW else ""
        parts += [", ".join(named[:FEW]) + more] if named else []
        parts += [show(None)] if len(named) < len(group.members) else []
    return "; ".join(parts)


def what_was_done(book: Codebook, document: Document) -> list[str]:
    """What became of the records, in sentences."""
    n = several(document["records"]["released"], "record")
    columns = listed([column.name for column in book.roles.public])
    if book.recoding == "global":
        how = f"Each of {columns} was put into groups, the same for all records."
    elif book.recoding == "local":
        how = (
            f"Each of {columns} was made coarser record by record, as little as was needed: a value may "
            "be exact in one record and a wide group in another."
        )
    elif book.soft:
        how = f"Each record's values of {columns} were replaced by a symbol drawn by lot."
    else:
        how = (
            f"The combinations of {columns} were put into {several(len(book.symbols), 'set')}, and each "
            "record shows the symbol of its set."
        )
    found = [f"{n}. {how}"]
    coarsened = [f"{c.name} {c.rule.told}" for c in book.roles.public if c.rule is not None]
    if coarsened:
        found.append(f"Values were made coarser first: {'; '.join(coarsened)}.")
    if book.min_count > 1:
        what = "combination" if book.columns else "symbol"
        whom = f"records{leaving_aside(document)}"
        found.append(f"No {what} is shared by fewer than {book.min_count} {whom}.")
    suppressed = (document["recoding"] or {}).get("suppressed")
    if suppressed:
        found.append(
            f"{percent(suppressed)} of the records would have been rarer than that and show {ANY} "
            "in all columns."
        )
    found.append(MISSING[book.roles.missing].told)
    if book.roles.weight is not None:
        found.append(f"Counts are sums of the weights in the column {book.roles.weight}.")
    found.append(f"Made with {document['tool']}.")
    return found


def can_compute(book: Codebook) -> list[str]:
    """What can be computed from the release, and how."""
    if book.soft:
        return ["How often each symbol occurs, and what is typical of it (codebook.json)."]
    if not book.columns:
        text = "How often each symbol occurs, and which combinations of values it may stand for."
        if book.counts:
            text += (
                " The codebook has the records of each combination, so that tables and means of "
                "the public columns come out as in the original: each symbol counts as its members do."
            )
        return [text]
    found = [
        "How often each group occurs, alone or together with groups of other columns: count rows.",
    ]
    hidden = _starred(book)
    if any(tally.values for tallies in book.tallies for tally in tallies):
        over = f" over the records that do not show {ANY}" if any(hidden.values()) else ""
        found.append(
            "How often a single value occurs in a column: the codebook has the records of values in "
            f"each group, and sums over groups are exact{over}."
        )
    named = [c.name for c, means in zip(book.columns, book.means, strict=True) if any(means)]
    if named:
        starred = [f"{several(hidden[name], 'record')} in {name}" for name in named if hidden[name]]
        exact = "Over all records it is exact"
        if starred:
            exact = (
                f"It is exact over the records that do not show {ANY}, of which nothing is told "
                f"({listed(starred)})"
            )
        found.append(
            f"The mean of {listed(named)}: weigh the mean of each group (codebook.json) by its "
            f"records. {exact}; by another column it is as exact as the groups are fine."
        )
    return found


def _starred(book: Codebook) -> dict[str, float]:
    """The records of each column that show ``*`` and of whose values the codebook tells nothing."""
    found = {column.name: 0.0 for column in book.columns}
    if not book.tallies:
        return found
    for column, tallies, means in zip(book.columns, book.tallies, book.means, strict=True):
        for group, tally, mean in zip(column.groups, tallies, means, strict=True):
            if group.label == ANY and not tally.values and mean is None:
                found[column.name] += tally.count
    return found


def cannot_compute(book: Codebook) -> list[str]:
    """What the release cannot tell."""
    if not book.columns:
        return [
            "Anything about one record's values: a symbol says which set they are in, no more.",
            "Links between the symbol and columns that are not in this file.",
        ]
    found = [
        "Differences within a group: two records of one group look the same, whatever they were.",
        "Relations between columns that are finer than the groups: tables of single values assume "
        "that values within groups go together at random.",
    ]
    if book.recoding == "local":
        found.append("Counts of fine groups alone: the same value also stands in wider groups.")
    return found


def cite(document: Document, book: Codebook) -> str:
    """How to name the release, by its figures and the codebook's version."""
    columns = listed([column.name for column in book.roles.public])
    return (
        f"“{columns}”, released with {document['tool']} "
        f"({several(document['records']['released'], 'record')}, recoding: {book.recoding}). Add "
        "who made it, the year and where it is found."
    )
