"""Evaluation: every measure of one joint at once, together and for each sensitive column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privacyfunnel.codes import Code
from privacyfunnel.columns import KINDS, Column, known_places
from privacyfunnel.joint import Joint
from privacyfunnel.metrics.anonymity import k_anonymity, l_diversity, t_closeness, unique_share
from privacyfunnel.metrics.informed import informed_guess
from privacyfunnel.metrics.leaks import (
    best_guess,
    blind_guess,
    entropy_after,
    given_away,
    largest_lift,
    largest_log_lift,
    maximal_leakage,
    surest_guess,
)


@dataclass(frozen=True)
class ColumnMetrics:
    """What X gives away about one sensitive column; ``t`` is None where ``why_no_t`` says why."""

    name: str
    n_values: int
    entropy_bits: float
    information_bits: float
    leakage: float
    guess_blind: float
    guess_seeing: float
    l_diversity: int
    t_closeness: float | None
    why_no_t: str = ""


@dataclass(frozen=True)
class Metrics:
    """All measures of a joint; ``k``, ``unique``, ``guess_informed`` only of counted records."""

    entropy_s: float
    entropy_s_after: float
    information: float
    leakage: float
    guess_blind: float
    guess_seeing: float
    guess_worst: float
    guess_informed: float | None
    maximal_leakage: float
    lift: float
    log_lift: float
    k: int | None
    unique: float | None
    columns: tuple[ColumnMetrics, ...]

    @property
    def l_diversity(self) -> int:
        """The least over the sensitive columns."""
        return min(column.l_diversity for column in self.columns)

    @property
    def t_closeness(self) -> float | None:
        """The largest over the sensitive columns that vary; None where one of them has none."""
        found = [c.t_closeness for c in self.columns if c.n_values > 1]
        known = [t for t in found if t is not None]
        return max(known) if known and len(known) == len(found) else None


def evaluate(
    joint: Joint, code: Code | None = None, *, sensitive: Sequence[Column] | None = None
) -> Metrics:
    """Measure what X, or X̂ under a code, tells about S.

    ``sensitive`` names the columns that S consists of, as they were counted; without it S is one
    column whose values have no order.

    >>> found = evaluate(Joint.from_counts([[3, 0], [1, 4]]))
    >>> found.guess_blind, found.guess_seeing, found.k, found.l_diversity
    (0.625, 0.875, 4, 1)
    """
    columns = sensitive or (Column("S", "text"),)
    if code is not None:
        joint = code.push(joint)
    counted = joint.n_records is not None
    return Metrics(
        entropy_s=joint.entropy_s,
        entropy_s_after=entropy_after(joint),
        information=joint.information,
        leakage=given_away(joint),
        guess_blind=blind_guess(joint),
        guess_seeing=best_guess(joint),
        guess_worst=surest_guess(joint),
        guess_informed=informed_guess(joint) if counted else None,
        maximal_leakage=maximal_leakage(joint),
        lift=largest_lift(joint),
        log_lift=largest_log_lift(joint),
        k=k_anonymity(joint) if counted else None,
        unique=unique_share(joint) if counted else None,
        columns=tuple(_of_column(column, one) for column, one in by_column(joint, columns)),
    )


def by_column(joint: Joint, columns: Sequence[Column]) -> list[tuple[Column, Joint]]:
    """The joint of each sensitive column alone with X, its values in rising order, missing last.

    >>> joint = Joint.from_counts([[1, 0], [0, 1], [0, 2]], [(40, "f"), (40, "m"), (61, "m")])
    >>> for column, alone in by_column(joint, [Column("age", "integer"), Column("sex", "text")]):
    ...     print(column.name, alone.labels_s, alone.counts.toarray().tolist())
    age (40, 61) [[1.0, 1.0], [0.0, 2.0]]
    sex ('f', 'm') [[1.0, 0.0], [0.0, 3.0]]
    """
    if len(columns) == 1:
        return [(columns[0], joint)]
    found = []
    for i, column in enumerate(columns):
        behind = [label[i] for label in joint.labels_s]
        values = sorted(set(behind), key=column.rank)
        place = {value: k for k, value in enumerate(values)}
        found.append((column, joint.with_s([place[value] for value in behind], values)))
    return found


def _of_column(column: Column, joint: Joint) -> ColumnMetrics:
    ordered = KINDS[column.kind].is_ordered
    why = ""
    if joint.n_s < 2:
        why = "it has one value"
    elif ordered and len(known_places(joint.labels_s)) < joint.n_s:
        why = "its values have an order, in which missing has no place; leave out records that lack one"
    return ColumnMetrics(
        name=column.name,
        n_values=joint.n_s,
        entropy_bits=joint.entropy_s,
        information_bits=joint.information,
        leakage=given_away(joint),
        guess_blind=blind_guess(joint),
        guess_seeing=best_guess(joint),
        l_diversity=l_diversity(joint),
        t_closeness=None if why else t_closeness(joint, ordered=ordered),
        why_no_t=why,
    )
