"""Readings: what the published columns tell by the measure that was asked for, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from privacyfunnel.audits.audit_rows import Subject
from privacyfunnel.information import share
from privacyfunnel.joint import Joint
from privacyfunnel.measures import Measure
from privacyfunnel.metrics import by_column, shuffled


@dataclass(frozen=True)
class Reading:
    """What is told of some sensitive columns: the figure, its share of all there is, a sentence.

    ``chance`` is the sentence for S shuffled among the records, ``original`` that for the columns which
    the published ones stand for; None where there is none.
    """

    name: str
    measure: str
    title: str
    reading: float
    share: float
    sentence: str
    chance: str | None
    original: str | None


def readings(
    subject: Subject, measure: Measure, original: Joint | None = None
) -> Iterator[Reading]:
    """All sensitive columns together, and each alone where they are several and can be counted.

    Chance deals S out to records, so that it is told where a record is a person.
    """
    sensitive, trials = subject.sensitive, subject.trials
    before: list[Joint | None] = [None] * len(sensitive)
    if original is not None:
        before = [alone for _, alone in by_column(original, sensitive)]
    seen = []
    if not subject.fine:
        seen = [(" and ".join(c.name for c in sensitive), subject.joint, original)]
    if len(sensitive) > 1:
        seen += [
            (column.name, alone, was)
            for (column, alone), was in zip(subject.each, before, strict=True)
            if column.name not in subject.fine
        ]
    for name, here, was in seen:
        told = measure(here.p_sx)
        chance = None
        if subject.persons is None and trials.permutations:
            chance = shuffled(here, measure=measure, most_work=trials.most_work, **trials.of_draws)
        yield Reading(
            name,
            measure.spelled,
            measure.title,
            told,
            float(share(told, measure.whole(here.p_s))),
            measure.sentence(name, told, here.p_s),
            None if chance is None else measure.sentence(name, chance.mean_bits, here.p_s),
            None if was is None else measure.sentence(name, measure(was.p_sx), was.p_s),
        )
