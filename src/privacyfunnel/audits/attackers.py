"""Attackers: how each turns what it has learnt into probabilities of the sensitive values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.audits.features import Features
from privacyfunnel.information import Array

Ints = NDArray[np.int64]

MOST_ROUNDS = 50  # of gradient boosting
KEPT_BACK = 5  # one in so many records decides where boosting stops
PRIOR = "most frequent"  # sees nothing; the others are measured against it


def most_frequent(seen: Features, learn: Ints, s: Ints, test: Ints) -> Array:
    """p(s) as it was among the records learnt from, whatever x is."""
    counts = np.bincount(s)
    return np.tile(counts / counts.sum(), (len(test), 1))


def naive_bayes(seen: Features, learn: Ints, s: Ints, test: Ints) -> Array:
    """p(s given x) ∝ p(s) Π_columns p(value given s), each value a category, one added to each count."""
    from sklearn.naive_bayes import CategoricalNB

    model = CategoricalNB(min_categories=seen.codes.max(axis=0) + 1).fit(seen.codes[learn], s)
    return np.asarray(model.predict_proba(seen.codes[test]))


def gradient_boosting(seen: Features, learn: Ints, s: Ints, test: Ints) -> Array:
    """Small trees, one round after the other; numbers are split by size, other columns by category.

    It stops at the round that served best on a fifth of the records kept back for this; where none
    beats what is most frequent, that is its guess: an attacker that knows when it has learnt nothing.
    """
    rounds = _best_round(seen, learn, s)
    if rounds == 0:
        return most_frequent(seen, learn, s, test)
    return np.asarray(_boosted(seen, learn, s, rounds).predict_proba(seen.values[test]))


def _best_round(seen: Features, learn: Ints, s: Ints) -> int:
    """How many rounds lose least on records kept back; 0 where the prior loses less."""
    back = np.random.default_rng(0).permutation(np.arange(len(s)) % KEPT_BACK == 0)
    known, places = np.unique(s[~back], return_inverse=True)
    if len(known) < 2 or not back.any():
        return 0
    model = _boosted(seen, learn[~back], places, MOST_ROUNDS)
    stages = [
        most_frequent(seen, learn[~back], places, learn[back]),
        *model.staged_predict_proba(seen.values[learn[back]]),
    ]
    counts, n_values = np.bincount(places), int(s.max()) + 1
    losses = [surprise(with_unseen(p, known, n_values, counts), s[back]).mean() for p in stages]
    return int(np.argmin(losses))


def _boosted(seen: Features, learn: Ints, s: Ints, rounds: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=rounds,
        max_leaf_nodes=15,
        categorical_features=seen.is_category,
        early_stopping=False,
        random_state=0,
    )
    return model.fit(seen.values[learn], s)


def with_unseen(p: Array, known: Ints, n_values: int, counts: Ints) -> Array:
    """Probabilities of all values: those never met while learning share (values met once)/(N + 1).

    Good's estimate of the chance to meet a new value; without it one new value costs infinitely much.

    >>> with_unseen(np.array([[0.75, 0.25]]), np.array([0, 2]), 3, np.array([3, 1]))
    array([[0.6, 0.2, 0.2]])
    """
    new = n_values - len(known)
    share = np.count_nonzero(counts == 1) / (counts.sum() + 1) if new else 0.0
    every = np.full((len(p), n_values), share / max(1, new))
    every[:, known] = (1 - share) * p
    return every


def surprise(p: Array, true: Ints) -> Array:
    """−log₂ of the probability that was given to each true value, in bits.

    >>> surprise(np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([0, 0])).tolist()
    [1.0, 2.0]
    """
    given = p[np.arange(len(true)), true]
    return np.asarray(-np.log2(np.maximum(given, np.finfo(float).eps)))


ATTACKERS: dict[str, Callable[[Features, Ints, Ints, Ints], Array]] = {
    PRIOR: most_frequent,
    "naive Bayes": naive_bayes,
    "gradient boosting": gradient_boosting,
}
