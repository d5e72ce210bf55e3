"""Unseen rows: what a codebook keeps and gives away on rows that it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from privacyfunnel.codes import joined
from privacyfunnel.information import mutual_information, share
from privacyfunnel.joint import Joint
from privacyfunnel.metrics import (
    PopulationBound,
    best_guess,
    blind_guess,
    given_away,
    population_bound,
    shuffled,
)
from privacyfunnel.recodings import column_utilities

if TYPE_CHECKING:
    from privacyfunnel.codebook import Codebook
    from privacyfunnel.persons import Persons


@dataclass(frozen=True)
class Generalisation:
    """Utility and leakage of a codebook on new rows, in bits and as shares of these rows' own entropies.

    Rows whose value the codebook does not know are released as one more symbol, "suppressed".
    ``chance_bits`` is the leakage with S shuffled among the rows; None where rows are weighted or
    too many to shuffle.
    """

    n_records: int | None
    n_suppressed: float  # rows, or their weight
    kept: float  # mean of I(X_i;X̂_i)/H(X_i) over the public columns
    utility: float
    utility_bits: float
    leakage: float
    leakage_bits: float
    chance_bits: float | None
    guess_blind: float
    guess_seeing: float
    bound: PopulationBound | None  # of new people; None where rows are weighted


def generalise(
    table: Any, book: Codebook, *, memory: str | None = None, seed: int = 0
) -> Generalisation:
    """Measure a codebook on the rows of a table that it was not made from.

    The table holds the sensitive and the public columns under the codebook's names.

    >>> import pandas as pd, privacyfunnel as pf
    >>> from privacyfunnel.tables import count
    >>> old = pd.DataFrame({"ill": [0, 0, 1, 1], "city": ["Bonn", "Rom", "Rom", "Pisa"]})
    >>> counted = count(old, "ill", "city")
    >>> solution = pf.solve(counted.joint(), pf.Funnel(0.4), method="exhaustive")
    >>> book = pf.Codebook.from_solution(counted.joint(), solution, counted.roles)
    >>> new = pd.DataFrame({"ill": [0, 1, 1, 0], "city": ["Bonn", "Rom", "Bonn", "Oslo"]})
    >>> found = generalise(new, book)
    >>> found.n_suppressed, found.utility, found.leakage
    (1.0, 1.0, 0.5)
    """
    from privacyfunnel.tables import count_roles, open_table
    from privacyfunnel.tables.join import match_roles

    opened, roles = match_roles(open_table(table, memory=memory), book.roles)
    return generalise_joint(count_roles(opened, roles).joint(), book, seed=seed)


def generalise_joint(
    joint: Joint, book: Codebook, *, persons: Persons | None = None, seed: int = 0
) -> Generalisation:
    """The same from rows that were counted already, under the codebook's own columns and rules."""
    code = book.over(joint)
    released = code.push(joint)
    utility = mutual_information(joined(joint, code))
    chance = shuffled(joint, code, seed=seed) if book.soft else shuffled(released, seed=seed)
    people, bounded = joint.n_records, released
    if persons is not None:  # one of the rows of each
        people, bounded = persons.n_persons, code.push(persons.even(joint))
    return Generalisation(
        n_records=joint.n_records,
        n_suppressed=float(joint.masses @ book.uncovered(joint)),
        kept=fmean(column_utilities(joint, code).values()),
        utility=min(1.0, share(utility, joint.entropy_x)),
        utility_bits=utility,
        leakage=given_away(released),
        leakage_bits=released.information,
        chance_bits=None if chance is None else chance.mean_bits,
        guess_blind=blind_guess(released),
        guess_seeing=best_guess(released),
        bound=None if people is None else population_bound(bounded, n_people=people),
    )
