"""Attacks: classifiers learn on some records to guess a sensitive column and are tried on others.

    joint p(s,x) -> its records -> folds -> attackers -> accuracy and log-loss on records not learnt from

Unlike the best guess on the very records that were counted, this does not mistake chance for a leak.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.audits.attackers import ATTACKERS, PRIOR, Ints, surprise, with_unseen
from privacyfunnel.audits.features import Features, features, numbered, parts_of
from privacyfunnel.columns import Column
from privacyfunnel.errors import InvalidInput, from_extra
from privacyfunnel.information import Array
from privacyfunnel.joint import Joint
from privacyfunnel.parallel import Tick, in_parallel
from privacyfunnel.persons import Persons
from privacyfunnel.validation import check_rng, check_whole

MOST_RECORDS = 50_000  # beyond it the user says how many records the attackers get
POOLED = ", a person's rows together"
LEAST = 1e-12  # probability that is taken for none
MOST_VALUES = 100  # of a sensitive column that is guessed value by value


@dataclass(frozen=True)
class Attack:
    """How well one attacker guesses one sensitive column on records that it has not learnt from.

    ``log_loss_bits`` is the mean of −log₂ of the probability that it gave to the true value. The gains
    are against the attacker that sees nothing: more right guesses, fewer bits of surprise. All are None
    where ``note`` says why.
    """

    column: str
    attacker: str
    n_records: int = 0
    accuracy: float | None = None
    log_loss_bits: float | None = None
    accuracy_gain: float | None = None
    gain_bits: float | None = None
    gain_error_bits: float | None = None  # standard error of the gain, over the records
    note: str = ""


def attack(
    joint: Joint,
    sensitive: Sequence[Column],
    public: Sequence[Column],
    *,
    persons: Persons | None = None,
    folds: int = 5,
    records: int | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    tick: Tick | None = None,
) -> list[Attack]:
    """Let each attacker guess each sensitive column from the public ones, cross-validated.

    With ``persons`` nobody's rows are on both sides, and each attacker is also tried on all rows of a
    person together. ``records`` asks for that many records drawn at random instead of all. Seeded;
    does not depend on ``n_jobs``. ``tick`` is called after each fold of each attack.

    >>> joint = Joint.from_counts([[40, 10], [10, 40]], labels_s=["ill", "well"], labels_x=["a", "b"])
    >>> for found in attack(joint, [Column("health", "text")], [Column("ward", "text")], seed=1):
    ...     print(found.attacker, found.accuracy, round(found.gain_bits, 2))
    most frequent 0.38 0.0
    naive Bayes 0.8 0.26
    gradient boosting 0.8 0.26
    """
    why = cannot_attack(joint, records)
    if why:
        return [Attack(c.name, a, note=why) for c in sensitive for a in ATTACKERS]
    with from_extra("audit", "an attacker that learns"):
        import sklearn  # noqa: F401  # before the work begins, and in one line
    rng = check_rng(seed)
    s, x, who = _rows(joint, persons, records, rng)
    check_folds(folds, int(who.max()) + 1)
    fold = rng.permutation(np.arange(int(who.max()) + 1) % folds)[who]
    seen = features(joint, public)
    values = parts_of(joint.labels_s, len(sensitive))
    targets = {c.name: numbered(of) for c, of in zip(sensitive, values, strict=True)}
    notes = {name: _why_not(name, values[s], len(s)) for name, values in targets.items()}
    asked = [(name, attacker) for name in targets for attacker in ATTACKERS if not notes[name]]
    tasks = [
        (attacker, seen, x, targets[name][s], fold == i)
        for name, attacker in asked
        for i in range(folds)
    ]
    parts = iter(in_parallel(_try, tasks, n_jobs, tick, threads=True))
    given = {pair: [next(parts) for _ in range(folds)] for pair in asked}
    losses = {
        pair: np.concatenate([_losses(*part) for part in found]) for pair, found in given.items()
    }
    rows = [
        Attack(name, attacker, note=notes[name])
        if notes[name]
        else _against_prior(name, attacker, losses)
        for name in targets
        for attacker in ATTACKERS
    ]
    if persons is None:
        return rows
    whose = [who[fold == i] for i in range(folds)]
    pooled = {
        (name, attacker): np.concatenate(
            [_pooled(*parts) for parts in zip(found, given[name, PRIOR], whose, strict=True)]
        )
        for (name, attacker), found in given.items()
    }
    together = [
        replace(_against_prior(name, attacker, pooled), attacker=f"{attacker}{POOLED}")
        for name, attacker in asked
        if attacker != PRIOR
    ]
    return rows + together


def check_folds(folds: int, n_records: int) -> None:
    """Refuse a cross-validation that cannot be."""
    check_whole("folds", folds, 2)
    if n_records < folds:
        raise InvalidInput(
            f"folds must be at most the number of records ({n_records}), got {folds}.",
            hint="fewer-folds",
        )


def cannot_attack(joint: Joint, records: int | None = None) -> str:
    """Why no attacker can be tried; empty where one can."""
    if joint.n_records is None:
        return "weighted records cannot be split into those to learn from and those to guess"
    if records is None and joint.n_records > MOST_RECORDS:
        return (
            f"{joint.n_records:,} records are many to learn from; name a number of attack rows, "
            f"which are drawn at random, e.g. {MOST_RECORDS}"
        )
    return ""


def _rows(
    joint: Joint, persons: Persons | None, records: int | None, rng: np.random.Generator
) -> tuple[Ints, Ints, Ints]:
    """s, x and the owner of each row that the attackers get, all or some drawn without replacement.

    Without persons each row is its own, in the joint's order.
    """
    if persons is None:
        cells = joint.counts.tocoo()
        order = np.lexsort((cells.row, cells.col))
        times = np.rint(cells.data[order]).astype(np.int64)
        if records is not None:
            check_whole("attack rows", records, 2)
            if records < times.sum():
                times = rng.multivariate_hypergeometric(times, records, method="marginals")
        s, x = (np.repeat(part[order], times) for part in (cells.row, cells.col))
        return s, x, np.arange(len(s))
    chosen = np.ones(persons.n_persons, dtype=bool)
    if records is not None and records < persons.n.sum():  # whole persons, about so many rows
        share = records / float(persons.n.sum())
        chosen = rng.permutation(np.arange(persons.n_persons) < share * persons.n_persons)
    mine = chosen[persons.person]
    s, x, who = (
        np.repeat(part[mine], persons.n[mine]) for part in (persons.s, persons.x, persons.person)
    )
    return s, x, np.unique(who, return_inverse=True)[1]


def _losses(p: Array, true: Ints) -> Array:
    """For each row [right or not, bits of surprise]."""
    return np.column_stack([p.argmax(axis=1) == true, surprise(p, true)])


def _pooled(part: tuple[Array, Ints], prior: tuple[Array, Ints], who: Ints) -> Array:
    """The losses of each person, whose rows were seen together: p(s) Π p(s given row)/p(s).

    A person with several s is one for each of them.
    """
    p, true = part
    blind = np.maximum(prior[0], LEAST)
    told = np.log(np.maximum(p, LEAST)) - np.log(blind)
    persons, number = np.unique(who, return_inverse=True)
    sums = np.zeros((len(persons), p.shape[1]))
    np.add.at(sums, number, told)
    first = np.unique(np.stack([number, true]), axis=1)
    logs = np.log(blind[0]) + sums
    logs -= logs.max(axis=1, keepdims=True)
    whole = np.exp(logs)
    whole /= whole.sum(axis=1, keepdims=True)
    return _losses(whole[first[0]], first[1])


def _why_not(name: str, values: Ints, n_records: int) -> str:
    n = len(np.unique(values))
    if n < 2:
        return f"{name} has one value, so there is nothing to guess"
    if n > MOST_VALUES or 2 * n > n_records:
        return (
            f"{name} has {n:,} different values in {n_records:,} records, too many to learn; "
            "coarsen it with bins or rounding"
        )
    return ""


def _try(
    attacker: str, seen: Features, x: Ints, s: Ints, tested: NDArray[np.bool_]
) -> tuple[Array, Ints]:
    """Learn on the records outside of the fold; for those inside, p(s) of each value and the true one."""
    from threadpoolctl import threadpool_limits

    values, s = np.unique(s, return_inverse=True)
    known, learnt = np.unique(s[~tested], return_inverse=True)
    learn = ATTACKERS[attacker if len(known) > 1 else PRIOR]  # one value leaves nothing to learn
    # Folds run side by side, so that each has one thread; OpenMP's limit is that of this thread alone.
    with threadpool_limits(1, user_api="openmp"):
        given = learn(seen, x[~tested], learnt, x[tested])
    return with_unseen(given, known, len(values), np.bincount(learnt)), s[tested]


def _against_prior(name: str, attacker: str, losses: dict[tuple[str, str], Array]) -> Attack:
    mine, prior = losses[name, attacker], losses[name, PRIOR]  # the same records in the same order
    right, bits = mine.mean(axis=0)
    gains = prior[:, 1] - mine[:, 1]
    return Attack(
        name,
        attacker,
        len(mine),
        float(right),
        float(bits),
        float(right - prior[:, 0].mean()),
        float(gains.mean()),
        float(gains.std() / np.sqrt(len(gains))),
    )
