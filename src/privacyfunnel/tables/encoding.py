"""Encoding: from the engine's groups to places in an ordered alphabet, with no loop over groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.columns import Column, clean, missing_last
from privacyfunnel.errors import InvalidInput

if TYPE_CHECKING:
    import pyarrow as pa

Places = tuple[NDArray[np.int64], list[Any]]  # each group's place in the symbols, and the symbols


def encode_column(column: Column, keys: pa.ChunkedArray) -> Places:
    """The groups of one column; its symbols are in rising order, missing last.

    >>> import pyarrow as pa
    >>> encode_column(Column("city", "text"), pa.chunked_array([["Rom", None, "Bonn", "Rom"]]))
    (array([1, 2, 0, 1]), ['Bonn', 'Rom', None])
    """
    import pyarrow as pa

    if pa.types.is_timestamp(keys.type):  # Python's datetime has no nanoseconds
        keys = keys.cast(pa.timestamp("us", tz=keys.type.tz), safe=False)
    if keys.num_chunks == 0:
        return np.zeros(0, dtype=np.int64), []
    if pa.types.is_dictionary(keys.type):
        keys = keys.cast(keys.type.value_type)
    encoded = keys.dictionary_encode(null_encoding="encode").chunks  # they share one dictionary
    try:
        values = [clean(value) for value in encoded[0].dictionary.to_pylist()]
    except (ValueError, OverflowError) as error:  # Python's dates end in 9999, texts are Unicode
        raise InvalidInput(
            f"column {column.name!r} has a value that cannot be read: {str(error).splitlines()[0]}; "
            "dates lie in the years 1 to 9999, text is UTF-8."
        ) from error
    ordered = sorted(set(values), key=missing_last)
    rank = {value: place for place, value in enumerate(ordered)}
    places = np.array([rank[value] for value in values], dtype=np.int64)
    indices = np.concatenate([np.from_dlpack(chunk.indices) for chunk in encoded])
    return places[indices], [column.symbol(value) for value in ordered]


def combine_columns(parts: Sequence[Places], kept: NDArray[np.bool_]) -> Places:
    """The symbols of several columns together, tuples in rising order; of one, its values.

    ``kept`` marks the groups that count; symbols of no such group are left out.

    >>> sex, city = (np.array([0, 1, 1]), ["f", "m"]), (np.array([1, 0, 0]), ["Bonn", "Rom"])
    >>> combine_columns([sex, city], np.array([True, True, True]))
    (array([0, 1, 1]), [('f', 'Rom'), ('m', 'Bonn')])
    """
    chosen = slice(None) if kept.all() else kept
    codes = np.zeros(int(kept.sum()), dtype=np.int64)
    rows = np.zeros((1, 0), dtype=np.int64)  # the place in each column of each combined symbol
    for places, symbols in parts:
        joined, codes = _distinct(codes * len(symbols) + places[chosen], len(rows) * len(symbols))
        rows = np.column_stack([rows[joined // len(symbols)], joined % len(symbols)])
    columns = [[symbols[i] for i in rows[:, j]] for j, (_, symbols) in enumerate(parts)]
    labels = columns[0] if len(parts) == 1 else list(zip(*columns, strict=True))
    return codes, labels


def _distinct(
    numbers: NDArray[np.int64], bound: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct numbers, rising, and where each number stands among them.

    Numbers lie below ``bound``; unless that is far more than there are, they need no sorting.
    """
    if bound > 8 * len(numbers) + 1_000_000:
        distinct, places = np.unique(numbers, return_inverse=True)
        return distinct, places
    seen = np.zeros(bound, dtype=bool)
    seen[numbers] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[numbers]
