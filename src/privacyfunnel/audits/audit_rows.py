"""Audit rows: what an audit measures of a joint, each with its number or why there is none."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from privacyfunnel.audits.meanings import CATALOGUE, Measure
from privacyfunnel.audits.trials import Trials
from privacyfunnel.columns import Column
from privacyfunnel.joint import Joint
from privacyfunnel.metrics import (
    Chance,
    ColumnMetrics,
    Metrics,
    best_guess,
    bootstrap,
    bootstrap_by_person,
    by_column,
    given_away,
    informed_guess_by_person,
    miller_madow,
    population_bound,
    records_per_pair,
    shrinkage,
    shuffled,
    shuffled_by_person,
)
from privacyfunnel.metrics.estimates import ENOUGH_PER_PAIR
from privacyfunnel.parallel import Tick
from privacyfunnel.persons import Persons
from privacyfunnel.tables.summary import is_nearly_unique

WEIGHTED = "records are weighted, so they are not counted"
FITTED = "the published columns were fitted to these records; it takes others to say so"
SEVERAL = "somebody has rows with different sensitive values"
DEPENDENT = "rows of one person are not independent, which this estimate needs"
SURELY_FITTED = 0.95  # a p-value above it: hardly any shuffle shows as little
MEASURED = (
    "leakage", "information", "entropy_s", "entropy_s_after", "guess_blind", "guess_seeing",
    "guess_worst", "guess_informed", "maximal_leakage", "lift", "log_lift", "k", "unique",
    "l_diversity", "t_closeness",
)  # fmt: skip


@dataclass(frozen=True)
class AuditedColumn:
    """One sensitive column: its measures, and what chance alone would show of it, if it was tried."""

    metrics: ColumnMetrics
    chance: Chance | None

    @property
    def name(self) -> str:
        """The column's name."""
        return self.metrics.name

    def as_dict(self) -> dict[str, Any]:
        """The same with stable keys."""
        chance = self.chance
        return asdict(self.metrics) | {
            "chance_bits": chance.mean_bits if chance else None,
            "p_value": chance.p_value if chance else None,
        }


def by_person(
    joint: Joint, persons: Persons | None, sensitive: Sequence[Column], trials: Trials
) -> Iterator[Measure]:
    """What one learns who sees all rows of a person; nothing where no column says whose they are."""
    if persons is None:
        return
    why, pooled = "; ".join(too_fine(joint, sensitive).values()), persons.pooled(joint.n_s)
    yield Measure("person_leakage", None if why else given_away(pooled), why)
    chance = None
    if not why and trials.permutations:
        chance = shuffled(
            pooled, seed=trials.seed, n_jobs=trials.n_jobs, most_work=trials.most_work
        )
    no_chance = why or (
        "" if chance else "they cannot be dealt to persons who have several of them"
    )
    share = chance.mean_bits / pooled.entropy_s if chance and pooled.entropy_s else None
    yield Measure("person_chance", share, "" if share is not None else no_chance)
    yield Measure("person_guess", None if why else best_guess(pooled), why)


def counted_by_person(metrics: Metrics, joint: Joint, persons: Persons | None) -> Metrics:
    """The measures whose unit is a record, with persons in its place."""
    if persons is None:
        return metrics
    sizes = persons.distinct(joint.n_x)
    alone = np.unique(persons.person[(sizes == 1)[persons.x]])
    return replace(
        metrics,
        k=int(sizes.min()),
        unique=len(alone) / persons.n_persons,
        guess_informed=informed_guess_by_person(joint, persons),
    )


def measured(
    joint: Joint, sensitive: Sequence[Column], metrics: Metrics, original: Metrics | None = None
) -> Iterator[Measure]:
    """What these records show, exactly."""
    why = "; ".join(too_fine(joint, sensitive).values())
    for key in MEASURED:
        value = getattr(metrics, key)
        note = ""
        if why and CATALOGUE[key].about_s:
            value, note = None, why
        elif value is None:
            note = WEIGHTED if key in ("k", "unique") else _why_no_t(metrics)
            if key == "guess_informed":
                note = WEIGHTED if metrics.k is None else SEVERAL
        elif math.isinf(value):
            note = "some published values rule a sensitive value out"
        yield Measure(key, value, note, getattr(original, key, None) if not why else None)


def estimated(
    joint: Joint,
    sensitive: Sequence[Column],
    trials: Trials,
    chance: Chance | None,
    new: Joint | str | None,
    persons: Persons | None,
    tick: Tick,
) -> Iterator[Measure]:
    """How much of it is chance, and what it would be in the population."""
    why = "; ".join(too_fine(joint, sensitive).values())
    why = why or (WEIGHTED if joint.n_records is None else "")
    several = SEVERAL if persons is not None and persons.own_s is None else ""
    yield from _by_chance(joint, trials, chance, why or several)
    if persons is not None:
        yield Measure("shrinkage", None, why or DEPENDENT)
        yield Measure("miller_madow", None, why or DEPENDENT)
    else:
        yield Measure("shrinkage", None if why else shrinkage(joint), why)
        if not why and records_per_pair(joint) < ENOUGH_PER_PAIR:
            why = (
                f"{records_per_pair(joint):.1f} records for each combination that occurs are too few "
                f"for this estimate, which needs {ENOUGH_PER_PAIR}"
            )
        yield Measure("miller_madow", None if why else miller_madow(joint), why)
    why = why or ("" if trials.bootstraps else "no resamples were asked for")
    if not why and persons is None and joint.counts.nnz > trials.most_work:
        why = f"more than {trials.most_work:,} combinations are too many to resample; coarsen"
    found = None
    if not why:
        draw = bootstrap if persons is None else partial(bootstrap_by_person, persons=persons)
        found = draw(
            joint, resamples=trials.bootstraps, seed=trials.seed, n_jobs=trials.n_jobs, tick=tick
        )
    yield Measure("interval_low", found.low_bits if found else None, why)
    yield Measure("interval_high", found.high_bits if found else None, why)
    yield from _of_new_people(joint, sensitive, chance, new, persons)


def _of_new_people(
    joint: Joint,
    sensitive: Sequence[Column],
    chance: Chance | None,
    new: Joint | str | None,
    persons: Persons | None,
) -> Iterator[Measure]:
    """What is given away of people who are not in the table, at most; of persons, by one row of each."""
    why = new if isinstance(new, str) else "; ".join(too_fine(joint, sensitive).values())
    people = joint if new is None or isinstance(new, str) else new
    if not why and people.n_records is None:
        why = WEIGHTED
    if not why and new is None and chance is not None and is_fitted(joint, chance):
        why = FITTED
    n_people = people.n_records
    if persons is not None and new is None:
        people, n_people = persons.even(joint), persons.n_persons
    bound = None
    if not why:
        bound = population_bound(people, n_people=n_people, values=(joint.n_s, joint.n_x))
    yield Measure("population_leakage", bound.leakage if bound else None, why)
    yield Measure("population_bits", bound.bits if bound else None, why)
    if persons is not None:
        pooled, together = persons.pooled(joint.n_s), None
        if not why and new is not None:
            why = "all rows of those who did not choose the code are not known together"
        if not why:
            together = population_bound(pooled, n_people=persons.n_persons)
        yield Measure("person_population", together.leakage if together else None, why)


def is_fitted(joint: Joint, chance: Chance) -> bool:
    """Whether the published columns tell less than chance would: they were chosen on these records."""
    return joint.information < chance.mean_bits and chance.p_value > SURELY_FITTED


def _by_chance(joint: Joint, trials: Trials, chance: Chance | None, why: str) -> Iterator[Measure]:
    why = why or ("" if trials.permutations else "no shuffles were asked for")
    if not why and chance is None:
        why = (
            f"more than {trials.most_work:,} records and combinations are too many to shuffle; "
            "coarsen"
        )
    found = None if why else chance
    beyond = max(0.0, joint.information - found.mean_bits) if found else None
    yield Measure("chance", found.mean_bits if found else None, why)
    yield Measure("beyond_chance", beyond, why)
    yield Measure("p_value", found.p_value if found else None, why)


def tried(
    joint: Joint,
    sensitive: Sequence[Column],
    trials: Trials,
    tick: Tick,
    persons: Persons | None = None,
) -> Chance | None:
    """What chance alone shows; None where it cannot or shall not be tried."""
    if not trials.permutations or too_fine(joint, sensitive):
        return None
    deal = (
        partial(shuffled, most_work=trials.most_work)
        if persons is None
        else partial(shuffled_by_person, persons=persons)
    )
    return deal(
        joint, seed=trials.seed, shuffles=trials.permutations, n_jobs=trials.n_jobs, tick=tick
    )


def each_column(
    joint: Joint,
    sensitive: Sequence[Column],
    metrics: Metrics,
    trials: Trials,
    chance: Chance | None,
    persons: Persons | None,
    tick: Tick,
) -> Iterator[AuditedColumn]:
    """Each sensitive column that can be counted, alone.

    A link that drowns among many combinations of all columns can show in one of them.
    """
    fine, single = too_fine(joint, sensitive), len(sensitive) == 1
    for found, (column, alone) in zip(metrics.columns, by_column(joint, sensitive), strict=True):
        if column.name not in fine:
            own = chance
            if not single:  # what chance shows of one column by person is not told
                own = None if persons is not None else tried(alone, [column], trials, tick)
            yield AuditedColumn(found, own if alone.n_s > 1 else None)


def too_fine(joint: Joint, sensitive: Sequence[Column]) -> dict[str, str]:
    """The sensitive columns that differ in nearly every record, and what to do about each.

    >>> too_fine(Joint.from_counts(np.eye(20)), [Column("weight", "number")])["weight"][:44]
    'weight is different in nearly every record ('
    """
    records = int(joint.counts.nnz if joint.n_records is None else joint.n_records)
    return {
        column.name: f"{column.name} is different in nearly every record ({alone.n_s:,} values in "
        f"{records:,}), so that counts say nothing; coarsen it with bins or rounding"
        for column, alone in by_column(joint, sensitive)
        if is_nearly_unique(alone.n_s, records)
    }


def _why_no_t(metrics: Metrics) -> str:
    return "; ".join(
        f"{c.name}: {c.why_no_t}" for c in metrics.columns if c.why_no_t and c.n_values > 1
    )
