"""Measures: the rows of an audit from a joint, each with its number or why there is none."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np  # noqa: F401 (used in an example)

from privacyfunnel.audits.meanings import CATALOGUE, Measure
from privacyfunnel.audits.trials import Trials
from privacyfunnel.columns import Column
from privacyfunnel.joint import Joint
from privacyfunnel.metrics import (
    Chance,
    ColumnMetrics,
    Metrics,
    bootstrap,
    by_column,
    miller_madow,
    records_per_pair,
    shrinkage,
    shuffled,
)
from privacyfunnel.metrics.estimates import ENOUGH_PER_PAIR
from privacyfunnel.parallel import Tick
from privacyfunnel.tables.summary import is_nearly_unique

WEIGHTED = "records are weighted, so they are not counted"
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
            note = WEIGHTED if key in ("k", "unique", "guess_informed") else _why_no_t(metrics)
        elif math.isinf(value):
            note = "some published values rule a sensitive value out"
        yield Measure(key, value, note, getattr(original, key, None) if not why else None)


def estimated(
    joint: Joint, sensitive: Sequence[Column], trials: Trials, chance: Chance | None, tick: Tick
) -> Iterator[Measure]:
    """How much of it is chance, and what it would be in the population."""
    why = "; ".join(too_fine(joint, sensitive).values())
    why = why or (WEIGHTED if joint.n_records is None else "")
    yield from _by_chance(joint, trials, chance, why)
    yield Measure("shrinkage", None if why else shrinkage(joint), why)
    if not why and records_per_pair(joint) < ENOUGH_PER_PAIR:
        why = (
            f"{records_per_pair(joint):.1f} records for each combination that occurs are too few "
            f"for this estimate, which needs {ENOUGH_PER_PAIR}"
        )
    yield Measure("miller_madow", None if why else miller_madow(joint), why)
    why = why or ("" if trials.bootstraps else "no resamples were asked for")
    if not why and joint.counts.nnz > trials.most_work:
        why = f"more than {trials.most_work:,} combinations are too many to resample; coarsen"
    found = None
    if not why:
        found = bootstrap(
            joint, resamples=trials.bootstraps, seed=trials.seed, n_jobs=trials.n_jobs, tick=tick
        )
    yield Measure("interval_low", found.low_bits if found else None, why)
    yield Measure("interval_high", found.high_bits if found else None, why)


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


def tried(joint: Joint, sensitive: Sequence[Column], trials: Trials, tick: Tick) -> Chance | None:
    """What chance alone shows; None where it cannot or shall not be tried."""
    if not trials.permutations or too_fine(joint, sensitive):
        return None
    return shuffled(
        joint,
        seed=trials.seed,
        shuffles=trials.permutations,
        most_work=trials.most_work,
        n_jobs=trials.n_jobs,
        tick=tick,
    )


def each_column(
    joint: Joint,
    sensitive: Sequence[Column],
    metrics: Metrics,
    trials: Trials,
    chance: Chance | None,
    tick: Tick,
) -> Iterator[AuditedColumn]:
    """Each sensitive column that can be counted, alone.

    A link that drowns among many combinations of all columns can show in one of them.
    """
    fine, single = too_fine(joint, sensitive), len(sensitive) == 1
    for found, (column, alone) in zip(metrics.columns, by_column(joint, sensitive), strict=True):
        if column.name not in fine:
            own = chance if single else tried(alone, [column], trials, tick)
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
