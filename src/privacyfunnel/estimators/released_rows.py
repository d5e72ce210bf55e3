"""Released rows: the symbol of every row, looked up by distinct rows and not one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.codebook import Codebook
from privacyfunnel.codebook.draws import RANGE, pick_afresh, thresholds
from privacyfunnel.errors import UnknownSymbol
from privacyfunnel.estimators.alphabet import Alphabet, Value
from privacyfunnel.estimators.nearest import nearest_places
from privacyfunnel.information import Array

SUPPRESSED = -1  # the place that a row without a symbol gets
Places = NDArray[np.int64]


def places_of(
    book: Codebook,
    alphabet: Alphabet,
    weights: Array,
    rows: tuple[Places, list[Value]],
    handle_unknown: str,
) -> Places:
    """For each row its place in the codebook's values; −1 for an unknown one under "suppress".

    ``rows`` are places and distinct values, ``weights`` those of the codebook's values.
    """
    codes, values = rows
    places = book.places(values)
    unknown = np.flatnonzero(places < 0)
    if len(unknown) and handle_unknown == "error":
        raise unknown_rows(book, rows, unknown)
    if len(unknown) and handle_unknown == "nearest":
        released = np.array([max(row, key=lambda cell: cell[1])[0] for row in book.rows])
        news = [values[i] for i in unknown]
        places[unknown] = nearest_places(alphabet, book.values, weights, released, news)
    return places[codes]


def unknown_rows(
    book: Codebook, rows: tuple[Places, list[Value]], unknown: Places
) -> UnknownSymbol:
    """The error that names the most frequent of the values that are not known."""
    codes, values = rows
    counts = np.bincount(codes, minlength=len(values))[unknown]
    what = book.unknown(values[unknown[counts.argmax()]], int(counts.sum()), len(unknown))
    return UnknownSymbol(
        f'{what}; use handle_unknown="nearest" or "suppress", or fit on more rows.'
    )


def released_as(book: Codebook, places: Places, rng: np.random.Generator) -> Places:
    """For each row the place of its released symbol in the codebook's labels; soft codes draw it."""
    widest = max(len(row) for row in book.rows)
    symbols: Places = np.full((len(book.rows) + 1, widest), SUPPRESSED)  # last row: place −1
    for i, row in enumerate(book.rows):
        symbols[i, : len(row)] = [j for j, _ in row]
    if not book.soft:
        return np.asarray(symbols[places, 0])
    ends = np.full((len(book.rows) + 1, widest), RANGE)
    for i, row in enumerate(book.rows):
        ends[i, : len(row)] = thresholds([p for _, p in row])
    return np.asarray(symbols[places, pick_afresh(ends[places], rng)])
