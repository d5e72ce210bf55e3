"""Stakes: what publishing the public columns as they are would give away, and what the limit says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privacyfunnel.information import share
from privacyfunnel.joint import Joint
from privacyfunnel.metrics import (
    Chance,
    best_guess,
    blind_guess,
    lone_records,
    shuffled,
    shuffled_by_person,
)
from privacyfunnel.persons import Persons

FEW_PER_VALUE = 5  # records per public value below which chance plays a large part
CHANCE_MATTERS = 0.25  # share of I(S;X) that may be chance before it is said
WORTH_TELLING = 0.02  # share of H(S) below which chance misleads nobody


@dataclass(frozen=True)
class Stakes:
    """Sizes, bits and guesses before anything is released; ``None`` where weights forbid a count."""

    n_records: int | None
    n_s: int
    n_x: int
    entropy_s: float
    entropy_x: float
    information: float
    guess_blind: float  # chance to guess S of one record right, knowing only how common each is
    guess_seeing: float  # the same, seeing X as it is
    alone: int | None  # records whose public values no other record has
    chance: Chance | None

    @property
    def given_away(self) -> float:
        """I(S;X)/H(S): the share of S that X as it is gives away."""
        return float(share(self.information, self.entropy_s))

    @property
    def free_utility(self) -> float:
        """(H(X) − I(S;X))/H(X): up to here the limit does not exclude a release without leakage."""
        return max(0.0, 1.0 - self.information / self.entropy_x) if self.entropy_x else 1.0

    @property
    def few_records(self) -> bool:
        """Whether chance makes up much of what S and X seem to share, and enough of it to matter."""
        if self.n_records is None:
            return False
        if self.chance is None:
            return self.n_records < FEW_PER_VALUE * self.n_x
        return chance_matters(self.chance, self.information, self.entropy_s)

    def to_json(self) -> dict[str, Any]:
        """The same with stable keys."""
        return {
            "records": self.n_records,
            "distinct_sensitive": self.n_s,
            "distinct_public": self.n_x,
            "records_alone": self.alone,
            "entropy_s_bits": self.entropy_s,
            "entropy_x_bits": self.entropy_x,
            "information_bits": self.information,
            "given_away": self.given_away,
            "free_utility": self.free_utility,
            "guess_blind": self.guess_blind,
            "guess_seeing": self.guess_seeing,
            "chance_bits": self.chance.mean_bits if self.chance else None,
            "chance_spread_bits": self.chance.spread_bits if self.chance else None,
            "chance_shuffles": self.chance.shuffles if self.chance else None,
            "few_records": self.few_records,
        }


def chance_matters(chance: Chance, information: float, entropy_s: float) -> bool:
    """Whether chance is much of so many bits about S, and enough of them to matter."""
    return chance.mean_bits > max(CHANCE_MATTERS * information, WORTH_TELLING * entropy_s)


def stakes(joint: Joint, *, persons: Persons | None = None, seed: int = 0) -> Stakes:
    """Measure what is at stake; with ``persons``, what chance shows is of them and not of rows.

    >>> found = stakes(Joint.from_counts([[3, 0], [1, 4]]))
    >>> found.guess_blind, found.guess_seeing
    (0.625, 0.875)
    """
    return Stakes(
        n_records=joint.n_records,
        n_s=joint.n_s,
        n_x=joint.n_x,
        entropy_s=joint.entropy_s,
        entropy_x=joint.entropy_x,
        information=joint.information,
        guess_blind=blind_guess(joint),
        guess_seeing=best_guess(joint),
        alone=None if joint.n_records is None else lone_records(joint),
        chance=(
            shuffled(joint, seed=seed)
            if persons is None
            else shuffled_by_person(joint, persons, seed=seed)
        ),
    )
