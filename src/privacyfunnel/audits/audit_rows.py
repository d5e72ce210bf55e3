"""Audit rows: what an audit measures of a joint, each with its number or why there is none."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
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
    evaluate,
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


@dataclass(frozen=True, eq=False)
class Subject:
    """What is audited: a joint, the columns of its S, whose its rows are, and how hard it is tried."""

    joint: Joint
    sensitive: Sequence[Column]
    trials: Trials
    persons: Persons | None
    tick: Tick

    @cached_property
    def each(self) -> list[tuple[Column, Joint]]:
        """Each sensitive column alone with X."""
        return by_column(self.joint, self.sensitive)

    @cached_property
    def fine(self) -> dict[str, str]:
        """The sensitive columns that differ in nearly every record, and what to do about each.

        >>> joint, columns = Joint.from_counts(np.eye(20)), [Column("kg", "number")]
        >>> Subject(joint, columns, Trials(), None, print).fine["kg"][:40]
        'kg is different in nearly every record ('
        """
        joint = self.joint
        records = int(joint.counts.nnz if joint.n_records is None else joint.n_records)
        return {
            column.name: f"{column.name} is different in nearly every record ({alone.n_s:,} values in "
            f"{records:,}), so that counts say nothing; coarsen it with bins or rounding"
            for column, alone in self.each
            if is_nearly_unique(alone.n_s, records)
        }

    @property
    def too_fine(self) -> str:
        """Why nothing can be said of S; empty where something can."""
        return "; ".join(self.fine.values())


def measures_of(joint: Joint, sensitive: Sequence[Column], persons: Persons | None) -> Metrics:
    """All measures of a joint; those whose unit is a record with persons in its place."""
    metrics = evaluate(joint, sensitive=sensitive)
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


def measured(subject: Subject, metrics: Metrics, original: Metrics | None) -> Iterator[Measure]:
    """What these records show, exactly."""
    why = subject.too_fine
    for key in MEASURED:
        value = getattr(metrics, key)
        note = ""
        if why and CATALOGUE[key].about_s:
            value, note = None, why
        elif value is None and key == "t_closeness":
            lacking = (c for c in metrics.columns if c.why_no_t and c.n_values > 1)
            note = "; ".join(f"{c.name}: {c.why_no_t}" for c in lacking)
        elif value is None:
            note = WEIGHTED if metrics.k is None else SEVERAL
        elif math.isinf(value):
            note = "some published values rule a sensitive value out"
        yield Measure(key, value, note, getattr(original, key, None) if not why else None)


def by_person(subject: Subject) -> Iterator[Measure]:
    """What one learns who sees all rows of a person; nothing where no column says whose they are."""
    if subject.persons is None:
        return
    why, trials = subject.too_fine, subject.trials
    pooled, chance = subject.persons.pooled(subject.joint.n_s), None
    yield Measure("person_leakage", None if why else given_away(pooled), why)
    if not why and trials.permutations:
        chance = shuffled(pooled, most_work=trials.most_work, **trials.of_draws)
    share = chance.mean_bits / pooled.entropy_s if chance and pooled.entropy_s else None
    no_chance = "" if chance else "they cannot be dealt to persons who have several of them"
    yield Measure("person_chance", share, why or no_chance)
    yield Measure("person_guess", None if why else best_guess(pooled), why)


def estimated(
    subject: Subject, chance: Chance | None, new: Joint | str | None
) -> Iterator[Measure]:
    """How much of it is chance, and what it would be in the population."""
    joint, trials, persons = subject.joint, subject.trials, subject.persons
    why = subject.too_fine or (WEIGHTED if joint.n_records is None else "")
    several = SEVERAL if persons is not None and persons.own_s is None else ""
    yield from _by_chance(joint, trials, chance, why or several)
    few = why or (DEPENDENT if persons is not None else "")
    yield Measure("shrinkage", None if few else shrinkage(joint), few)
    if not few and records_per_pair(joint) < ENOUGH_PER_PAIR:
        why = few = (
            f"{records_per_pair(joint):.1f} records for each combination that occurs are too few "
            f"for this estimate, which needs {ENOUGH_PER_PAIR}"
        )
    yield Measure("miller_madow", None if few else miller_madow(joint), few)
    why = why or ("" if trials.bootstraps else "no resamples were asked for")
    if not why and persons is None and joint.counts.nnz > trials.most_work:
        why = f"more than {trials.most_work:,} combinations are too many to resample; coarsen"
    found = None
    if not why:
        draw = bootstrap if persons is None else partial(bootstrap_by_person, persons=persons)
        found = draw(joint, resamples=trials.bootstraps, tick=subject.tick, **trials.of_draws)
    yield Measure("interval_low", found.low_bits if found else None, why)
    yield Measure("interval_high", found.high_bits if found else None, why)
    yield from _of_new_people(subject, chance, new)


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


def _of_new_people(
    subject: Subject, chance: Chance | None, new: Joint | str | None
) -> Iterator[Measure]:
    """What is given away of people who are not in the table, at most; of persons, by one row of each."""
    joint, persons = subject.joint, subject.persons
    why = new if isinstance(new, str) else subject.too_fine
    people = new if isinstance(new, Joint) else joint
    if not why and people.n_records is None:
        why = WEIGHTED
    if not why and new is None and chance is not None:  # fitted: they tell less than chance would
        less = joint.information < chance.mean_bits and chance.p_value > SURELY_FITTED
        why = FITTED if less else ""
    n_people = people.n_records
    if persons is not None and new is None:
        people, n_people = persons.even(joint), persons.n_persons
    bound = None
    if not why:
        bound = population_bound(people, n_people=n_people, values=(joint.n_s, joint.n_x))
    yield Measure("population_leakage", bound.leakage if bound else None, why)
    yield Measure("population_bits", bound.bits if bound else None, why)
    if persons is not None:
        together = None
        if not why and new is not None:
            why = "all rows of those who did not choose the code are not known together"
        if not why:
            together = population_bound(persons.pooled(joint.n_s), n_people=persons.n_persons)
        yield Measure("person_population", together.leakage if together else None, why)


def tried(subject: Subject) -> Chance | None:
    """What chance alone shows; None where it cannot or shall not be tried."""
    trials = subject.trials
    if not trials.permutations or subject.fine:
        return None
    how = {"shuffles": trials.permutations, "tick": subject.tick, **trials.of_draws}
    if subject.persons is None:
        return shuffled(subject.joint, most_work=trials.most_work, **how)
    return shuffled_by_person(subject.joint, subject.persons, **how)


def each_column(
    subject: Subject, metrics: Metrics, chance: Chance | None
) -> Iterator[AuditedColumn]:
    """Each sensitive column that can be counted, alone.

    A link that drowns among many combinations of all columns can show in one of them.
    """
    for found, (column, alone) in zip(metrics.columns, subject.each, strict=True):
        if column.name not in subject.fine:
            own = chance
            if len(subject.sensitive) > 1:  # what chance shows of one column by person is not told
                one = replace(subject, joint=alone, sensitive=[column])
                own = tried(one) if subject.persons is None else None
            yield AuditedColumn(found, own if alone.n_s > 1 else None)
