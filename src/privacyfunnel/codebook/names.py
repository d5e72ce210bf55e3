"""Names: what the groups of a coarsened column are called, in the words of its rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from privacyfunnel.codebook.output import ANY
from privacyfunnel.codes import ColumnCode, Group, RecodedColumn
from privacyfunnel.columns import Bins, Calendar, Column, known
from privacyfunnel.recodings.cuts import interval_label
from privacyfunnel.recodings.groups import group_label
from privacyfunnel.recodings.hierarchy import run_label


def named(code: ColumnCode, columns: Sequence[Column]) -> ColumnCode:
    """The code with runs of bins named as one interval each, and first days as the periods they begin.

    >>> young = Group("under 18 or [18, 40)", ("under 18", "[18, 40)"))
    >>> old = Group("40 or more", ("40 or more",))
    >>> code = ColumnCode([RecodedColumn("age", (young, old))], [[0], [0], [1]])
    >>> named(code, [Column("age", "integer", Bins((18, 40)))]).released
    [('under 40',), ('40 or more',)]
    """
    pairs = zip(columns, code.columns, strict=True)
    return ColumnCode([_named(column, recoded) for column, recoded in pairs], code.cells)


def _named(column: Column, recoded: RecodedColumn) -> RecodedColumn:
    if isinstance(column.rule, Bins):
        groups = _in_intervals(column.rule, recoded.groups)
    elif isinstance(column.rule, Calendar):
        groups = [_in_periods(column.rule, group) for group in recoded.groups]
    else:
        return recoded
    # A hierarchy may call another group so.
    is_clear = len({group.label for group in groups}) == len(groups)
    return replace(recoded, groups=tuple(groups)) if is_clear else recoded


def _in_intervals(rule: Bins, groups: Sequence[Group]) -> list[Group]:
    """Groups of neighbouring bins named as one interval; names that a hierarchy gives stay.

    A bin between them that no record has is theirs too, as the name says.
    """
    seen = {rule.raw(name) for group in groups for name in known(group.members)}
    found = []
    for group in groups:
        names = known(group.members)
        bins = sorted(map(rule.raw, names))
        is_run = len(names) == len(group.members) > 0 and seen.isdisjoint(
            set(range(bins[0], bins[-1] + 1)) - set(bins)
        )
        if is_run and group.label in (run_label(names), group_label(names)):
            members = tuple(map(rule.label, range(bins[0], bins[-1] + 1)))
            group = Group(rule.span(bins[0], bins[-1]), members)
        found.append(group)
    return found


def _in_periods(rule: Calendar, group: Group) -> Group:
    """A group of first days named by the months, or the like, that it holds."""
    low, high = group.low, group.high
    is_ours = group.members and None not in group.members and group.label != ANY
    if not is_ours or group.label != interval_label(low, high, group.members, whole=False):
        return group
    if len(group.members) == 1:
        return replace(group, label=rule.period(group.members[0]))
    if any(end is not None and rule.index(end) != end for end in (low, high)):
        return group  # cut within a period, by hand
    if low is None:
        label = f"before {rule.period(high)}"
    elif high is None:
        label = f"{rule.period(low)} or later"
    else:
        label = f"{rule.period(low)} to {rule.period(rule.index(high - timedelta(days=1)))}"
    return replace(group, label=label)
