"""Words: what a released symbol stands for, short enough for a table's cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from privacyfunnel.columns import KINDS, Column, quantiles_of_counts, show

FEW = 6  # so many values are listed, more are given as a range where they have an order


def stands_for(column: Column, symbols: Sequence[Any]) -> str:
    """The values of one column among a symbol's members: a set, or a range with its ends.

    >>> stands_for(Column("city", "text"), ["Rom", "Bonn", None])
    'Bonn | Rom | missing'
    >>> stands_for(Column("chol", "integer"), range(180, 290))
    '180 to 289'
    """
    ordered = sorted({s for s in symbols if s is not None}, key=column.raw)
    missing = [show(None)] if any(s is None for s in symbols) else []
    if len(ordered) > FEW and KINDS[column.kind].is_ordered:
        return " | ".join([f"{column.shown(ordered[0])} to {column.shown(ordered[-1])}", *missing])
    return " | ".join([*map(column.shown, ordered), *missing])


def typical(column: Column, symbols: Sequence[Any], weights: Sequence[float]) -> str:
    """What is typical of weighted values: the commonest, or where they have an order the middle one.

    >>> typical(Column("city", "text"), ["Rom", "Bonn", None], [0.5, 0.3, 0.1])
    'mostly Rom'
    >>> typical(Column("age", "integer"), [20, 40, 60], [0.1, 0.2, 0.1])
    'around 40'
    """
    sums: dict[Any, float] = {}
    for symbol, weight in zip(symbols, weights, strict=True):
        sums[symbol] = sums.get(symbol, 0.0) + weight
    total = sum(sums.values())
    known = sorted((s for s in sums if s is not None), key=column.raw)
    if KINDS[column.kind].is_ordered and sum(sums[s] for s in known) > total / 2:
        [middle] = quantiles_of_counts(known, [sums[s] for s in known], [0.5])
        return f"around {column.shown(middle)}"
    ordered = sorted(sums, key=column.rank)
    commonest = max(ordered, key=lambda symbol: sums[symbol])
    return f"{'mostly' if 2 * sums[commonest] >= total else 'often'} {column.shown(commonest)}"
