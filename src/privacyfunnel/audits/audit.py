"""Audit: everything that published columns say about the sensitive ones, measured and tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from privacyfunnel import __version__
from privacyfunnel.audits.attacks import Attack, attack, cannot_attack, check_folds
from privacyfunnel.audits.audit_rows import (
    AuditedColumn,
    Subject,
    by_person,
    each_column,
    estimated,
    measured,
    measures_of,
    tried,
)
from privacyfunnel.audits.meanings import Measure
from privacyfunnel.audits.readings import Reading, readings
from privacyfunnel.audits.receivers import Receivers, receive
from privacyfunnel.audits.trials import Trials
from privacyfunnel.columns import Column, ColumnRules
from privacyfunnel.errors import InvalidInput
from privacyfunnel.joint import Joint
from privacyfunnel.measures import INFORMATION, make_measure
from privacyfunnel.measures import Measure as ToldBy
from privacyfunnel.metrics import Chance
from privacyfunnel.notebook import card
from privacyfunnel.parallel import Progress, Ticks
from privacyfunnel.persons import Persons

if TYPE_CHECKING:
    from privacyfunnel.tables import Counts

FORMAT = "privacyfunnel audit"
VERSION = 1

Counted = tuple[Joint, Sequence[Column]]  # a joint and the public columns that it was counted over


@dataclass(frozen=True)
class Audit:
    """What was found; build one with :func:`audit`.

    ``rows`` holds the measures of the whole, ``columns`` those of each sensitive column, ``attacks``
    what attackers gain from the published columns and ``attacks_original`` from the original ones.
    """

    sensitive: tuple[Column, ...]
    public: tuple[Column, ...]
    original: tuple[Column, ...]
    n_records: int | None
    n_dropped: int
    trials: Trials
    rows: tuple[Measure, ...]
    columns: tuple[AuditedColumn, ...]
    attacks: tuple[Attack, ...]
    attacks_original: tuple[Attack, ...]
    chance: Chance | None  # of all sensitive columns together; the rows show its figures
    n_persons: int | None = None  # where a column says whose rows they are
    new: str | bool = False  # the records that were said not to have chosen the published columns
    receivers: Receivers | None = None  # what can be done with the published columns
    readings: tuple[Reading, ...] = ()  # by the measure that was asked for, beside Shannon's

    def __getitem__(self, key: str) -> Measure:
        rows = {row.key: row for row in self.rows}
        if key not in rows:
            raise InvalidInput(f"this audit has no measure {key!r}; it has {', '.join(rows)}.")
        return rows[key]

    def _repr_html_(self) -> str:
        public, sensitive = (", ".join(c.name for c in cs) for cs in (self.public, self.sensitive))
        facts = {
            "published": public,
            "sensitive": sensitive,
            "records": self.n_records or "weighted",
        }
        rows = [
            (row.name, f"{row.value:.4g}", row.meaning.unit)
            for row in self.rows
            if row.value is not None
        ]
        return card("Audit", facts, ("measure", "value", "unit"), rows)

    def as_dict(self) -> dict[str, Any]:
        """Everything under stable keys, ready for JSON."""
        names = {"sensitive": self.sensitive, "public": self.public, "original": self.original}
        attacks = (("published", self.attacks), ("original", self.attacks_original))
        settings = asdict(self.trials)
        del settings["n_jobs"], settings["most_work"]  # no figure depends on them
        return {
            "format": FORMAT,
            "version": VERSION,
            "tool": f"privacyfunnel {__version__}",
            **{role: [column.name for column in columns] for role, columns in names.items()},
            "records": self.n_records,
            "persons": self.n_persons,
            "left_out": self.n_dropped,
            "new": self.new,
            "settings": settings,
            "readings": [asdict(reading) for reading in self.readings],
            "measures": [row.as_dict() for row in self.rows],
            "columns": [column.as_dict() for column in self.columns],
            "attackers": [{"sees": sees} | asdict(a) for sees, found in attacks for a in found],
            "receivers": None if self.receivers is None else self.receivers.as_dict(),
        }


def audit(
    table: Any,
    sensitive: str | Sequence[str],
    public: str | Sequence[str],
    *,
    original: str | Sequence[str] | None = None,
    useful: str | Sequence[str] | None = None,
    measure: str | ToldBy = "shannon",
    columns: ColumnRules | None = None,
    weight: str | None = None,
    person: str | None = None,
    new: str | bool = False,
    memory: str | None = None,
    trials: Trials | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Audit the published columns of a table that also holds the sensitive ones.

    ``original`` names columns that the published ones stand for, to compare with: then it is measured,
    too, how well receivers can tell these. ``useful`` names columns that receivers want to know about,
    which classifiers learn to guess. ``measure`` is how what is told shall be said, beside all else: see
    `privacyfunnel.measures`. ``columns`` says how values are coarsened before they are counted;
    ``trials`` how often and by whom to be tried.
    ``new`` names a column that marks, with true or 1, the records that the published columns were not
    chosen on, which show what is given away of people outside of the table; True says that they all
    are. ``person`` names a column that says whose row it is: k, chance, intervals and attackers are then
    of persons, and all rows of one are also seen together.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"ill": [0, 0, 1, 1] * 9, "ward": ["a", "a", "b", "a"] * 9})
    >>> found = audit(table, "ill", "ward")
    >>> found["k"].value, found["guess_seeing"].value, found["k"].meaning.safer
    (9, 0.75, 'more')
    """
    from privacyfunnel.tables import count, open_table

    told_by = make_measure(measure)
    opened, rules = open_table(table, memory=memory), columns or ColumnRules()
    s, x, was, use = (
        [role] if isinstance(role, str) else list(role)
        for role in (sensitive, public, original or (), useful or ())
    )
    # A rule for no column at all is left to the first count, which says what is wrong with it.
    unknown = set(rules.names) - {*s, *x, *was, *use}

    def counted(told: list[str], seen: list[str], **options: Any) -> Counts:
        names = {*told, *seen, *unknown}
        bins = {name: rule for name, rule in rules.bins.items() if name in names}
        steps = {name: rule for name, rule in rules.round.items() if name in names}
        only = ColumnRules(bins, steps, rules.missing)
        return count(opened, told, seen, columns=only, weight=weight, constant=True, **options)

    counts = counted(s, x, person=person)
    if person is not None and isinstance(new, str):
        raise InvalidInput("new records are not told by person; say that all are new, or leave it.")
    before = counted(s, was, person=person) if was else None
    done = audit_joint(
        (counts.joint(), counts.roles.public),
        counts.roles.sensitive,
        original=(before.joint(), before.roles.public) if before else None,
        persons=counts.persons,
        persons_original=before.persons if before else None,
        new=_new_people(counted, s, x, new) if isinstance(new, str) else None,
        measure=told_by,
        trials=trials,
        progress=progress,
    )
    receivers = _receivers(counted, x, was, use, done.trials)
    return replace(done, n_dropped=counts.n_dropped, new=new, receivers=receivers)


def _receivers(
    counted: Callable[..., Counts],
    public: list[str],
    original: list[str],
    useful: list[str],
    trials: Trials,
) -> Receivers | None:
    """How well the original and the useful columns can be told from the published ones."""

    def guessed(seen: list[str]) -> tuple[Attack, ...]:
        use = counted(useful, seen)
        roles = use.roles.sensitive, use.roles.public
        return tuple(attack(use.joint(), *roles, **trials.of_attacks))

    if not original and not useful:
        return None
    found = Receivers()
    if original:
        both = counted(original, public)
        joint = both.joint()
        told, pairs = receive(joint.p_sx, joint.labels_s, both.roles.sensitive)
        found = replace(found, columns=told, pairs=pairs)
    if useful and trials.attackers:
        own = guessed(original) if original else ()
        found = replace(found, uses=guessed(public), uses_original=own)
    return found


def audit_joint(
    published: Counted,
    sensitive: Sequence[Column],
    *,
    original: Counted | None = None,
    persons: Persons | None = None,
    persons_original: Persons | None = None,
    new: Joint | str | None = None,
    measure: ToldBy = INFORMATION,
    trials: Trials | None = None,
    progress: Progress | None = None,
) -> Audit:
    """The same from joints that were counted already, e.g. p(s,x̂) and p(s,x) of a release.

    ``persons`` say whose the rows of the published joint are. ``new`` is the joint of the records that
    the published columns were not chosen on, or says why there are none; None takes them all for such.
    """
    trials = trials or Trials()
    joint, public = published
    if joint.n_s < 2:
        raise InvalidInput(
            "the sensitive columns have one distinct value: there is nothing to protect."
        )
    if trials.attackers and not cannot_attack(joint, trials.attack_rows):
        check_folds(
            trials.folds, min(joint.n_records or 0, trials.attack_rows or joint.n_records or 0)
        )
    tick = Ticks(trials.count(len(sensitive), 2 if original else 1), progress)
    subject = Subject(joint, sensitive, trials, persons, tick)
    metrics = measures_of(joint, sensitive, persons)
    before = measures_of(original[0], sensitive, persons_original) if original else None
    chance = tried(subject)
    pairs = [(*published, persons)]
    if original:
        pairs.append((*original, persons_original))
    attacks = [
        tuple(attack(one, sensitive, seen, persons=whose, tick=tick, **trials.of_attacks))
        for one, seen, whose in (pairs if trials.attackers else [])
    ]
    told = readings(subject, measure, original[0] if original else None)
    return Audit(
        sensitive=tuple(sensitive),
        public=tuple(public),
        original=tuple(original[1]) if original else (),
        n_records=joint.n_records,
        n_dropped=0,
        trials=trials,
        rows=(
            *measured(subject, metrics, before),
            *by_person(subject),
            *estimated(subject, chance, new),
        ),
        columns=tuple(each_column(subject, metrics, chance)),
        attacks=attacks[0] if attacks else (),
        attacks_original=attacks[1] if len(attacks) > 1 else (),
        chance=chance,
        n_persons=None if persons is None else persons.n_persons,
        readings=() if measure == INFORMATION else tuple(told),
    )


def _new_people(
    counted: Callable[..., Counts], sensitive: list[str], public: list[str], mark: str
) -> Joint:
    """The joint of the records that a column marks."""
    if mark in (*sensitive, *public):
        raise InvalidInput(f"the column {mark!r} is audited, so it cannot mark the new records.")
    found = counted(sensitive, [*public, mark]).joint()
    marks = [label[-1] for label in found.labels_x]
    if not set(marks) <= {True, False}:
        raise InvalidInput(
            f"the column {mark!r} must hold true and false, or 1 and 0, to mark the new records."
        )
    labels = [label[:-1] if len(public) > 1 else label[0] for label in found.labels_x]
    chosen = np.flatnonzero(marks)
    if not len(chosen):
        raise InvalidInput(f"the column {mark!r} marks no record as new.")
    people = Joint.from_counts(found.counts[:, chosen], found.labels_s, [labels[x] for x in chosen])
    # Whole weights are no count of people.
    return people if found.n_records is not None else replace(people, n_records=None)
