"""Attacker words: what attackers that an audit tried have gained, in sentences and as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privacyfunnel.audits.attackers import PRIOR
from privacyfunnel.report.numbers import bits, listed, one_in, percent

Document = Mapping[str, Any]
NOT_AVAILABLE = "not available"
NOTHING = 1e-9  # bits
SURE = 0.95  # share of right guesses that leaves no doubt
DOUBT = 0.1  # of the wrong guesses without the data, that may be left then
TITLES = ("column", "attacker", "sees", "right", "more than blind", "bits gained")
WHO = (
    "Three kinds of people may want to know the sensitive values. One knows only the release, and how "
    "often each released value goes with which sensitive ones: leakage and guesses are about them. One "
    "has learnt on other records and tries it on these: the attackers below are about them. One knows "
    "the sensitive values of every other record, and how the release was made, and subtracts: “guess "
    "knowing all others” is about them."
)


def who_knows_all_others(
    guess: float | None, blind: float, s: str, whom: str = "record"
) -> list[str]:
    """What one learns who knows every other record or person, beside a blind guess."""
    if guess is None:
        return []
    words = (
        f"One who knows {s} of every other {whom}, and how the release was made, is right with "
        f"probability {one_in(guess)}"
    )
    if guess <= blind:
        words += ", no more often than without the data"
    elif guess > SURE and 1.0 - guess <= DOUBT * (1.0 - blind):
        words += f": the release is balanced to the last {whom}, and what is missing is that one"
    return [f"{words}."]


def attackers(document: Document) -> list[str]:
    """What attackers gain about each column, or why none was tried, if that is known."""
    why = document.get("why_no_attackers")
    if why:
        return [f"Attackers that learn on some records and guess the others were not tried: {why}."]
    attacked = dict.fromkeys(attack["column"] for attack in document["attackers"])
    return [_in_words(document, name) for name in attacked]


def _in_words(document: Document, column: str) -> str:
    """What the best of the attackers gains on records that it has not learnt from."""
    found = _tried(document, column, "published")
    if found[0]["note"]:
        return f"Attackers that guess {column}: {NOT_AVAILABLE}; {found[0]['note']}."
    prior = next(attack for attack in found if attack["attacker"] == PRIOR)
    best = max(found, key=lambda a: a["gain_bits"])
    blind = percent(prior["accuracy"])
    if not _gains(best):
        text = (
            f"Attackers that learnt on other records gain nothing about {column} that can be told "
            f"from chance; without the data {blind} of their guesses are right."
        )
    else:
        text = (
            f"An attacker that learnt on other records ({best['attacker']}) guesses {column} right in "
            f"{percent(best['accuracy'])} of cases, {blind} without the data, and gains "
            f"{bits(best['gain_bits'])}."
        )
    return text + _from_original(document, column, "" if _gains(best) else " either")


def _from_original(document: Document, column: str, either: str) -> str:
    """What the best attacker gains from the original columns, where they were tried as well."""
    found = _tried(document, column, "original")
    if not found or found[0]["note"]:
        return ""
    best = max(found, key=lambda a: a["gain_bits"])
    columns = listed(document["original"])
    if not _gains(best):
        return f" From {columns} attackers gain nothing{either}."
    return (
        f" From {columns} it would be {percent(best['accuracy'])} and {bits(best['gain_bits'])} "
        f"({best['attacker']})."
    )


def _tried(document: Document, column: str, sees: str) -> list[Mapping[str, Any]]:
    """The attacks on a column by those who see the published or the original columns."""
    return [a for a in document["attackers"] if a["column"] == column and a["sees"] == sees]


def _gains(attack: Mapping[str, Any]) -> bool:
    """Whether an attacker's gain can be told from chance."""
    return bool(attack["gain_bits"] > max(NOTHING, 2 * attack["gain_error_bits"]))


def attacker_rows(document: Document) -> list[list[str]]:
    """A table of all attacks that could be tried, under the titles of ``TITLES``.

    What an attacker gains from the published and from the original columns stands together; the one
    that sees neither stands there once.
    """
    tried = [
        attack
        for attack in document["attackers"]
        if not attack["note"] and (attack["attacker"] != PRIOR or attack["sees"] == "published")
    ]
    order = list(dict.fromkeys((a["column"], a["attacker"]) for a in tried))
    tried.sort(key=lambda attack: order.index((attack["column"], attack["attacker"])))
    return [_attack(document, attack) for attack in tried]


def _attack(document: Document, attack: Mapping[str, Any]) -> list[str]:
    blind = attack["attacker"] == PRIOR
    columns = listed(document["public" if attack["sees"] == "published" else "original"])
    error = f" ± {2 * attack['gain_error_bits']:.3f}"
    return [
        attack["column"],
        attack["attacker"],
        "nothing" if blind else columns,
        percent(attack["accuracy"]),
        "" if blind else f"{signed(100 * attack['accuracy_gain'], 1)} points",
        "" if blind else signed(attack["gain_bits"], 3) + error,
    ]


def signed(value: float, digits: int) -> str:
    """A gain or a loss; what rounds to nothing has no sign.

    >>> signed(0.25, 1), signed(-0.0004, 3), signed(-0.06, 2)
    ('+0.2', '0.000', '-0.06')
    """
    rounded = round(value, digits)
    return f"{rounded:+.{digits}f}" if rounded else f"{0:.{digits}f}"
