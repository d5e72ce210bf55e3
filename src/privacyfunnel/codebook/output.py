"""Output: which columns a release has, and what stands in them for each group."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from privacyfunnel.columns import KINDS, Bins, Column
from privacyfunnel.errors import InvalidInput

if TYPE_CHECKING:
    from privacyfunnel.codebook.codebook import Codebook

RELEASED = "released"  # the column of released symbols
SUPPRESSED = "suppressed"  # what a value is released as that the codebook does not cover
NUMBERS = ("label", "bounds", "mean")  # how groups of numbers are written
ANY = "*"  # the label of a group that holds every value


def output_names(columns: Sequence[Column], numbers: str | None) -> list[str]:
    """The columns of a release; ``numbers`` is None where symbols are released."""
    if numbers is None:
        return [RELEASED]
    return [name for column in columns for name in recoded_names(column, numbers)]


def check_distinct(names: Sequence[str]) -> None:
    """Refuse two columns of one name; few readers tell Age and age apart."""
    folded = [name.casefold() for name in names]
    twins = [name for name in names if folded.count(name.casefold()) > 1]
    if twins:
        raise InvalidInput(f"the output would have two columns named {twins[0]!r}; keep fewer.")


def recoded_names(column: Column, numbers: str | None) -> list[str]:
    """The columns in place of a recoded one: itself, and with bounds two more where it has an order."""
    if numbers == "bounds" and has_bounds(column):
        return [column.name, f"{column.name}_low", f"{column.name}_high"]
    return [column.name]


def has_bounds(column: Column) -> bool:
    """Whether groups of a column can be told by numbers or dates, its values not being bins."""
    return KINDS[column.kind].is_ordered and not isinstance(column.rule, Bins)


def has_mean(column: Column) -> bool:
    """Whether groups of a column can be written as their mean."""
    return KINDS[column.kind].is_numeric and has_bounds(column)


def check_means(book: Codebook) -> None:
    """Means tell the groups of each column apart: what is written says no less than the labels.

    Infinite and missing values have none, and nested groups may share one.
    """
    for i, column in enumerate(book.roles.public):
        known: dict[float | None, str] = {}
        for group, mean in zip(book.columns[i].groups, book.means[i], strict=True):
            other = known.setdefault(mean, group.label)
            if other != group.label and has_mean(column):
                what = "have no mean" if mean is None else f"have the same mean, {mean:g},"
                raise InvalidInput(
                    f"the groups {reprlib.repr(other)} and {reprlib.repr(group.label)} of column "
                    f"{column.name!r} {what} and cannot be told apart by it; numbers can be written "
                    "as label or bounds."
                )


def shown_groups(book: Codebook, i: int, numbers: str | None) -> list[tuple[str, list[Any]]]:
    """For each of `recoded_names` its kind, and what stands there for column i's groups, then ``*``."""
    groups, column = book.columns[i].groups, book.roles.public[i]
    if numbers == "mean" and has_mean(column):
        return [("number", [*book.means[i], None])]
    found: list[tuple[str, list[Any]]] = [("text", [*(group.label for group in groups), ANY])]
    if numbers == "bounds" and has_bounds(column):
        kind = "number" if KINDS[column.kind].is_numeric else column.kind
        single = [group.members[0] if len(group.members) == 1 else None for group in groups]
        for name in ("low", "high"):
            pairs = zip(groups, single, strict=True)
            ends = [getattr(group, name) if alone is None else alone for group, alone in pairs]
            shown = [float(end) if isinstance(end, int) else end for end in ends]
            found.append((kind, [*shown, None]))
    return found
