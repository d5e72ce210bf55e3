"""Inspection: what is at stake, in plain sentences for the terminal and the studio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privacyfunnel.report.numbers import bits, listed, number, one_in, percent

if TYPE_CHECKING:
    from privacyfunnel.columns import Roles
    from privacyfunnel.metrics.stakes import Stakes


def sizes(roles: Roles, found: Stakes) -> list[str]:
    """How much there is in the two groups of columns."""
    s, x = _names(roles)
    return [
        f"Sensitive ({s}): {number(found.n_s)} different values, {bits(found.entropy_s)}.",
        f"Public ({x}): {number(found.n_x)} different values, {bits(found.entropy_x)}.",
    ]


def in_words(roles: Roles, found: Stakes) -> list[str]:
    """What an attacker could tell if the public columns were published as they are.

    >>> from privacyfunnel import Joint
    >>> from privacyfunnel.columns import Column, Roles
    >>> from privacyfunnel.metrics.stakes import stakes
    >>> roles = Roles((Column("sick", "boolean"),), (Column("city", "text"),))
    >>> print(in_words(roles, stakes(Joint.from_counts([[3, 0], [1, 4]])))[1])
    Without the data, the best guess of sick for one record is right with probability 62.5%; with
    it, 87.5%.
    >>> print(in_words(roles, stakes(Joint.from_counts([[999, 0], [1000, 1]])))[2])
    1 of 2,000 records has public values that no other record has.
    """
    s, x = _names(roles)
    plain = "they are" if len(roles.public) > 1 else "it is"
    sentences = [
        f"Published as {plain}, {x} would give away {bits(found.information)} about {s}: "
        f"{percent(found.given_away)} of what there is to know. Less is safer.",
        f"Without the data, the best guess of {s} for one record is right with probability "
        f"{one_in(found.guess_blind)}; with it, {one_in(found.guess_seeing)}.",
    ]
    if found.alone and found.n_records:
        sentences.append(
            f"{number(found.alone)} of {number(found.n_records)} records "
            f"{'has' if found.alone == 1 else 'have'} public values that no other record has."
        )
    if found.free_utility > 1e-9:
        limit = (
            f"The limit: a release that keeps more than {percent(found.free_utility)} of the "
            f"information in {x} must give away something about {s}."
        )
    else:
        limit = f"The limit: whatever a release keeps of {x} gives away as much about {s}."
    return [*sentences, limit]


def _names(roles: Roles) -> tuple[str, str]:
    return (
        listed([column.name for column in roles.sensitive]),
        listed([column.name for column in roles.public]),
    )
