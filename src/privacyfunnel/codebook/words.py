"""Words: what a released symbol stands for, short enough for a table's cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from privacyfunnel.columns import KINDS, Column, known_places, quantiles_of_counts

FEW = 6  # so many values are listed, more are given as a range where they have an order


def stands_for(column: Column, symbols: Sequence[Any]) -> str:
    """The values of one column among a symbol's members: a set, or a range with its ends.

    >>> stands_for(Column("city", "text"), ["Rom", "Bonn", None])
    'Bonn | Rom | missing'
    >>> stands_for(Column("chol", "integer"), range(180, 290))
    '180 to 289'
    """
    ordered = sorted(set(symbols), key=column.rank)
    words, n_known = [column.shown(symbol) for symbol in ordered], len(known_places(ordered))
    if n_known > FEW and KINDS[column.kind].is_ordered:
        words[:n_known] = [f"{words[0]} to {words[n_known - 1]}"]
    return " | ".join(words)


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
    ordered = sorted(sums, key=column.rank)
    known = ordered[: len(known_places(ordered))]
    if KINDS[column.kind].is_ordered and sum(sums[s] for s in known) > total / 2:
        [middle] = quantiles_of_counts(known, [sums[s] for s in known], [0.5])
        return f"around {column.shown(middle)}"
    commonest = max(ordered, key=lambda symbol: sums[symbol])
    return f"{'mostly' if 2 * sums[commonest] >= total else 'often'} {column.shown(commonest)}"
