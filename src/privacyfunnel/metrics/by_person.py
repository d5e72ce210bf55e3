"""By person: the measures of a joint whose rows belong to persons, each of whom is one."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from privacyfunnel.information import mutual_information, plogp
from privacyfunnel.joint import Joint
from privacyfunnel.metrics.chance import SHUFFLES, Chance
from privacyfunnel.metrics.estimates import Interval
from privacyfunnel.metrics.informed import TIE
from privacyfunnel.parallel import Tick, in_parallel
from privacyfunnel.persons import Ints, Persons
from privacyfunnel.validation import check_rng


def shuffled_by_person(
    joint: Joint,
    persons: Persons,
    *,
    seed: int = 0,
    shuffles: int = SHUFFLES,
    n_jobs: int = 1,
    tick: Tick | None = None,
) -> Chance | None:
    """I(S;X) with the s of the persons dealt to them anew; None where somebody has several.

    >>> joint = Joint.from_counts(10 * np.eye(2))
    >>> rows = Persons.of(range(2), [0, 1], [0, 1], [10, 10])  # ten rows each, but two persons
    >>> shuffled_by_person(joint, rows).mean_bits == joint.information
    True
    """
    if persons.own_s is None:
        return None
    tasks = [(joint, persons, rng) for rng in check_rng(seed).spawn(shuffles)]
    found = np.array(in_parallel(_dealt, tasks, n_jobs, tick, threads=True))
    return Chance.of(found, joint.information)


def _dealt(joint: Joint, persons: Persons, rng: np.random.Generator) -> float:
    assert persons.own_s is not None
    s = rng.permutation(persons.own_s)[persons.person]
    return _information(joint, s, persons, persons.n)


def bootstrap_by_person(
    joint: Joint,
    persons: Persons,
    *,
    resamples: int = 200,
    level: float = 0.95,
    seed: int = 0,
    n_jobs: int = 1,
    tick: Tick | None = None,
) -> Interval:
    """The basic bootstrap interval of I(S;X), persons drawn anew with all of their rows."""
    tasks = [(joint, persons, rng) for rng in check_rng(seed).spawn(resamples)]
    found = np.array(in_parallel(_resampled, tasks, n_jobs, tick, threads=True))
    return Interval.of(found, joint.information, level)


def _resampled(joint: Joint, persons: Persons, rng: np.random.Generator) -> float:
    drawn = np.bincount(
        rng.integers(0, persons.n_persons, persons.n_persons), minlength=persons.n_persons
    )
    return _information(joint, persons.s, persons, persons.n * drawn[persons.person])


def _information(joint: Joint, s: Ints, persons: Persons, n: Ints) -> float:
    """I(S;X) of rows n of each group, with another s."""
    counts = sp.coo_array((n.astype(float), (s, persons.x)), shape=joint.counts.shape)
    return mutual_information(sp.csr_array(counts) / float(n.sum()))


def informed_guess_by_person(joint: Joint, persons: Persons) -> float | None:
    """How often S is guessed right by one who knows that of all other persons; None if some have several.

    All rows of the person are put back under each s, and the guess is the one that makes I(S;X̂)
    least, or that is likeliest by the others' frequencies, whichever is right more often. With one row
    each it is `informed_guess`.

    >>> joint = Joint.from_counts([[10, 5], [10, 5]])
    >>> informed_guess_by_person(joint, Persons.of(range(4), [0, 0, 1, 1], [0, 1, 0, 1], [10, 5, 10, 5]))
    1.0
    """
    own = persons.own_s
    if own is None:
        return None
    n_sx = joint.counts.toarray()
    n_s = n_sx.sum(axis=1)
    order = np.argsort(persons.person, kind="stable")
    bounds = np.searchsorted(persons.person[order], np.arange(persons.n_persons + 1))
    right = np.zeros(2)
    for i, s in enumerate(own):
        mine = order[bounds[i] : bounds[i + 1]]
        x, place = np.unique(persons.x[mine], return_inverse=True)
        m = np.bincount(place, weights=persons.n[mine])
        others, totals = n_sx[:, x], n_s.copy()
        others[s] -= m
        totals[s] -= m.sum()
        balance = (plogp(others + m) - plogp(others)).sum(axis=1)
        balance = balance - (plogp(totals + m.sum()) - plogp(totals))
        chances = (others + 1.0) / (totals[:, None] + len(n_sx[0]))
        likely = -(np.log(chances) @ m) - np.log(totals + 1.0)
        if m.sum() == 1:  # one row: the most frequent s among the others, as of records
            likely = -others[:, 0]
        for k, price in enumerate((balance, likely)):
            best = np.flatnonzero(price <= price.min() + TIE)
            right[k] += (s in best) / len(best)
    return float(right.max() / persons.n_persons)
