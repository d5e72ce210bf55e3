"""Meanings: each measure of an audit in words: its name, its unit, a sentence, the safe direction."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Meaning:
    """What a measure says; ``safer`` is "less", "more" or, where it is a yardstick only, empty."""

    name: str
    unit: str  # share, bits, count, distance or p
    text: str
    safer: str = ""
    about_s: bool = True  # whether it describes S, and not only how the rows look


@dataclass(frozen=True)
class Measure:
    """One row of an audit. ``value`` is None where ``note`` says why it is not available.

    ``original`` is the same measure of the columns that the published ones stand for, if given.
    """

    key: str
    value: float | None
    note: str = ""
    original: float | None = None

    @property
    def meaning(self) -> Meaning:
        """What it says, in words."""
        return CATALOGUE[self.key]

    @property
    def name(self) -> str:
        """Its name for people."""
        return self.meaning.name

    def as_dict(self) -> dict[str, Any]:
        """With stable keys and without infinities, which JSON does not know."""
        return {
            "key": self.key,
            "name": self.name,
            **without_infinity("value", self.value),
            "unit": self.meaning.unit,
            **without_infinity("original", self.original),
            "meaning": self.meaning.text,
            "safer": self.meaning.safer,
            "note": self.note,
        }


def without_infinity(name: str, value: float | None) -> dict[str, Any]:
    """A figure under its name; an infinite one is null and marked, because JSON has no infinity.

    >>> without_infinity("rule", math.inf), without_infinity("value", 2.0)
    ({'rule': None, 'rule_infinite': True}, {'value': 2.0, 'infinite': False})
    """
    infinite = value is not None and math.isinf(value)
    mark = "infinite" if name == "value" else f"{name}_infinite"
    return {name: None if infinite else value, mark: infinite}


CATALOGUE = {
    "leakage": Meaning(
        "Share given away",
        "share",
        "Of all there is to know about the sensitive columns, the share that the published columns "
        "tell.",
        "less",
    ),
    "information": Meaning(
        "Bits given away",
        "bits",
        "The same in bits (mutual information): every bit halves the choice of likely values.",
        "less",
    ),
    "entropy_s": Meaning(
        "Doubt before",
        "bits",
        "Bits of doubt about a record's sensitive values before anything is seen.",
    ),
    "entropy_s_after": Meaning(
        "Doubt after",
        "bits",
        "Bits of doubt that are left to one who sees the record's published values.",
        "more",
    ),
    "guess_blind": Meaning(
        "Blind guess",
        "share",
        "How often the best guess of a record's sensitive values is right without the data.",
    ),
    "guess_seeing": Meaning(
        "Guess with the data",
        "share",
        "How often it is right for one who sees a record's published values and knows how often each "
        "goes with which sensitive values; at best it is no better than the blind guess.",
        "less",
    ),
    "guess_worst": Meaning(
        "Surest guess", "share", "The same for the record that is given away most.", "less"
    ),
    "guess_informed": Meaning(
        "Guess knowing all others",
        "share",
        "How often it is right for one who knows the sensitive values of every other record, and how "
        "the release was made: what is missing from its balance is the record that is not known.",
        "less",
    ),
    "maximal_leakage": Meaning(
        "Maximal leakage",
        "bits",
        "Whatever about the sensitive columns an attacker wants to guess, the data double the "
        "chance at most so many times.",
        "less",
    ),
    "lift": Meaning(
        "Largest lift",
        "bits",
        "How many times seeing the data doubles the probability of some sensitive value.",
        "less",
    ),
    "log_lift": Meaning(
        "Largest log-lift",
        "bits",
        "The same for doubling or halving; infinite where the data rule a sensitive value out.",
        "less",
    ),
    "k": Meaning(
        "k-anonymity",
        "count",
        "The least number of records, or of persons where a column says whose they are, that share the "
        "same published values.",
        "more",
        about_s=False,
    ),
    "unique": Meaning(
        "Unique records",
        "share",
        "The share of records, or of persons, whose published values no other has.",
        "less",
        about_s=False,
    ),
    "l_diversity": Meaning(
        "l-diversity",
        "count",
        "Among records with the same published values, the least number of different values of a "
        "sensitive column; 1 gives it away.",
        "more",
    ),
    "t_closeness": Meaning(
        "t-closeness",
        "distance",
        "How far a sensitive column among records with the same published values is from the "
        "whole table, at worst, from 0 to 1.",
        "less",
    ),
    "person_leakage": Meaning(
        "Share given away, by person",
        "share",
        "The same for one who sees all that is published of a person, row by row, and knows how often "
        "each such set of rows goes with what; every person counts once.",
        "less",
    ),
    "person_chance": Meaning(
        "The same by chance",
        "share",
        "What that would be with the sensitive values dealt to the persons at random: sets of rows "
        "are so many that most occur once.",
    ),
    "person_guess": Meaning(
        "Guess by person",
        "share",
        "How often the best guess is right for one who sees all of a person's rows.",
        "less",
    ),
    "chance": Meaning(
        "Bits by chance",
        "bits",
        "Bits that the published columns seem to tell when the sensitive values are shuffled "
        "among the records: what coincidence alone shows.",
    ),
    "beyond_chance": Meaning(
        "Bits beyond chance",
        "bits",
        "Bits given away less those by chance. With few records it says too little: look at each "
        "column and at the attackers as well.",
        "less",
    ),
    "p_value": Meaning(
        "p-value",
        "p",
        "How often a shuffle shows as much as the data; below 0.05 the link is hardly chance.",
    ),
    "shrinkage": Meaning(
        "Shrinkage estimate",
        "bits",
        "The bits in the population by James–Stein shrinkage, which is cautious with few records.",
        "less",
    ),
    "miller_madow": Meaning(
        "Miller–Madow estimate",
        "bits",
        "The bits in the population, corrected for the number of combinations.",
        "less",
    ),
    "interval_low": Meaning(
        "95% interval from",
        "bits",
        "The lower end of where the bits in the population lie, by the bootstrap.",
        "less",
    ),
    "interval_high": Meaning("95% interval to", "bits", "The upper end of it.", "less"),
    "population_leakage": Meaning(
        "New people, at most",
        "share",
        "With 95% confidence no more than this share is given away of people who are not in the "
        "table but like those in it, if the published columns were not chosen on the records that "
        "this was measured on.",
        "less",
    ),
    "population_bits": Meaning("New people, at most, bits", "bits", "The same in bits.", "less"),
    "person_population": Meaning(
        "New people by all their rows, at most",
        "share",
        "The same for one who sees all rows of such a person together.",
        "less",
    ),
}
