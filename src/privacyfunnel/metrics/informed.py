"""Informed: what one learns who knows the S of all records but one, and why the release is as it is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from privacyfunnel.errors import InvalidInput
from privacyfunnel.information import Array, plogp
from privacyfunnel.joint import Joint

CELLS = 2_000_000  # of counts[s, x] that are held at once
TIE = 1e-9

Price = Callable[[Array, Array], Array]  # of one more record: of (n(s,x) before, n(s) before)


def informed_guess(joint: Joint) -> float:
    """How often S is guessed right by one who knows every other record's S and sees all of X.

    A release that was searched for least I(S;X̂) has counts that are balanced to the last record,
    so what is missing from the balance is the record that is not known. Of a record of x̂ the guess
    is the s that makes I(S;X̂) least,

        argmin_s  η(n(s,x̂) + 1) − η(n(s,x̂)) − η(n(s) + 1) + η(n(s)),    η(t) = t log₂ t,

    with n counted without the record. Where nothing was balanced, the most frequent s of the
    others of that x̂ is the better guess; the figure is of whichever is right more often. Candidates
    of the same price are drawn from.

    >>> balanced = Joint.from_counts([[10, 5], [10, 5]])
    >>> informed_guess(balanced), informed_guess(Joint.from_counts([[10, 0], [0, 5]]))
    (1.0, 1.0)
    """
    if joint.n_records is None:
        raise InvalidInput("weighted records cannot be left out one by one.")
    return max(_right(joint, _balancing), _right(joint, _frequent))


def _balancing(n_sx: Array, n_s: Array) -> Array:
    """What one more record adds to N I(S;X), but for terms that are the same for every s."""
    return (plogp(n_sx + 1) - plogp(n_sx)) - (plogp(n_s + 1) - plogp(n_s))


def _frequent(n_sx: Array, n_s: Array) -> Array:
    return -n_sx


def _right(joint: Joint, price: Price) -> float:
    """The share of records whose own s has the least price once the record is left out."""
    n_s = joint.counts.sum(axis=1).reshape(-1, 1)
    right, step = 0.0, max(1, CELLS // joint.n_s)
    for start in range(0, joint.n_x, step):
        n_sx = joint.counts[:, start : start + step].toarray()
        s, x = np.nonzero(n_sx)  # who is left out: a record of this s and x
        own = price(n_sx[s, x] - 1, n_s[s, 0] - 1)
        other = price(n_sx, n_s)
        rest = _least_of_others(other)[s, x]
        share = (own < rest - TIE).astype(float)
        tied = np.flatnonzero(np.abs(own - rest) <= TIE)
        same = np.abs(other[:, x[tied]] - own[tied]) <= TIE
        same[s[tied], np.arange(len(tied))] = True  # the record's own s is one of them
        share[tied] = 1 / same.sum(axis=0)
        right += float(n_sx[s, x] @ share)
    return right / joint.total


def _least_of_others(prices: Array) -> Array:
    """For each cell the least price in its column, the cell itself left out."""
    if len(prices) == 1:
        return np.full_like(prices, np.inf)
    low = np.partition(prices, 1, axis=0)[:2]
    is_least = np.arange(len(prices))[:, None] == prices.argmin(axis=0)
    return np.asarray(np.where(is_least, low[1], low[0]))
