"""Nearest: where a row goes that was never seen, by the fitted rows that are most like it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from privacyfunnel.codes import Partition
from privacyfunnel.columns.missing import AWAY
from privacyfunnel.estimators.alphabet import Alphabet, Value
from privacyfunnel.information import Array

CELLS = 2_000_000  # distances that are held at once
TIE = 1e-9
FAR = 1e150  # stands for infinity, so that differences stay finite


def distances(ranks: Array, codes: Array, new: slice, known: slice) -> Array:
    """Gower's distance ``[new, known]``: differences of ranks, and 1 for each code that differs."""
    new_ranks, known_ranks = ranks[new], ranks[known]
    total = np.zeros((len(new_ranks), len(known_ranks)))
    if codes.shape[1]:
        total += cdist(codes[new], codes[known], "hamming") * codes.shape[1]
    holes = np.isnan(new_ranks).any(axis=0) | np.isnan(known_ranks).any(axis=0)
    if not holes.all():
        total += cdist(new_ranks[:, ~holes], known_ranks[:, ~holes], "cityblock")
    for column in np.flatnonzero(holes):
        a, b = new_ranks[:, column, None], known_ranks[:, column]
        away = AWAY * (np.isnan(a) != np.isnan(b))
        total += np.where(np.isnan(a) | np.isnan(b), away, np.abs(a - b))
    return total


def nearest_places(
    alphabet: Alphabet,
    known: Sequence[Value],
    weights: Array,
    released: NDArray[np.int64],
    news: Sequence[Value],
) -> NDArray[np.int64]:
    """The place of the known value that stands for each new one.

    The distance is Gower's (1971), Σ_columns d: in an ordered column d is the difference of ranks
    among the known values (between two, in proportion) over the largest such, elsewhere 0 or 1;
    missing is `AWAY` from all but itself. The nearest known values vote by weight for what they are
    ``released`` as, and the heaviest one of the winner is taken: a value unlike all others goes
    where most records go.

    >>> from privacyfunnel.columns import Column
    >>> known, released = [(20,), (30,), (60,)], np.array([0, 0, 1])
    >>> ages = Alphabet((Column("age", "integer"),), (True,))
    >>> nearest_places(ages, known, np.ones(3), released, [(33,), (99,)])
    array([1, 2])
    """
    n = len(known)
    ranks, codes = _as_numbers(alphabet, [*known, *news], n)
    votes_of, found = Partition(released), []
    step = max(1, CELLS // n)
    for start in range(n, len(ranks), step):
        distance = distances(ranks, codes, slice(start, start + step), slice(n))
        votes = (distance <= distance.min(axis=1, keepdims=True) + TIE) * weights
        winner = (votes @ votes_of.matrix).argmax(axis=1)
        found.append((votes * (votes_of.labels == winner[:, None])).argmax(axis=1))
    return np.concatenate(found)


def _as_numbers(alphabet: Alphabet, every: Sequence[Value], n_known: int) -> tuple[Array, Array]:
    """Values, the known ones first, as ``[value, column]``: ranks where ordered, else codes."""
    ranks: list[Array] = [np.zeros((len(every), 0))]
    codes: list[Array] = [np.zeros((len(every), 0))]
    for i, (column, ordered) in enumerate(zip(alphabet.columns, alphabet.ordered, strict=True)):
        values = [value[i] for value in every]
        if ordered:
            number = {value: column.number(value) for value in set(values)}
            numbers = np.clip([number[value] for value in values], -FAR, FAR)
            ranks.append(_ranks(numbers, n_known)[:, None])
        else:
            place = {value: float(place) for place, value in enumerate(dict.fromkeys(values))}
            codes.append(np.array([[place[value]] for value in values]))
    return np.hstack(ranks), np.hstack(codes)


def _ranks(numbers: Array, n_known: int) -> Array:
    """Ranks among the distinct known numbers, the first ones, from 0 to 1."""
    every = np.unique(numbers[:n_known][~np.isnan(numbers[:n_known])])
    if len(every) == 0:  # all known ones are missing, so every other value is at 1 from them
        return np.where(np.isnan(numbers), np.nan, 0.0)
    return np.interp(numbers, every, np.arange(len(every)) / max(1, len(every) - 1))
