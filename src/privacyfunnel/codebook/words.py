"""Words: what a released symbol stands for, short enough for a table's cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from privacyfunnel.columns import KINDS, Column, show

FEW = 6  # so many values are listed, more are given as a range where they have an order


def stands_for(column: Column, symbols: Sequence[Any]) -> str:
    """The values of one column among a symbol's members: a set, or a range with its ends.

    >>> stands_for(Column("city", "text"), ["Rom", "Bonn", None])
    'Bonn | Rom | missing'
    >>> stands_for(Column("chol", "integer"), range(180, 290))
    '180 to 289'
    """
    ordered = sorted({s for s in symbols if s is not None}, key=column.raw)
    missing = ["missing"] if any(s is None for s in symbols) else []
    if len(ordered) > FEW and KINDS[column.kind].is_ordered:
        return " | ".join([f"{show(ordered[0])} to {show(ordered[-1])}", *missing])
    return " | ".join([*map(show, ordered), *missing])
