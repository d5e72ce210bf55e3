"""Preview: a release as its report will describe it, before any file is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from privacyfunnel.audits import Trials
from privacyfunnel.codebook import Codebook
from privacyfunnel.information import share
from privacyfunnel.measures import make_measure
from privacyfunnel.metrics import shuffled
from privacyfunnel.metrics.random_grouping import kept_by_chance
from privacyfunnel.metrics.stakes import stakes
from privacyfunnel.objectives import Funnel
from privacyfunnel.recodings import RecodedSolution
from privacyfunnel.releases.document import column_words, measured_of, outline
from privacyfunnel.solvers.base import in_bits

if TYPE_CHECKING:
    from privacyfunnel.joint import Joint
    from privacyfunnel.releases.request import ReleaseRequest
    from privacyfunnel.solvers.base import Solution
    from privacyfunnel.tables import Counts


def preview(
    asked: ReleaseRequest,
    joint: Joint,
    solution: Solution,
    counts: Counts,
    identifiers: Sequence[str],
) -> dict[str, Any]:
    """A release under the keys of a report's document, and its place in the picture."""
    roles = counts.roles
    plain = in_bits(joint, solution)
    book = Codebook.from_solution(joint, plain, roles, target=asked.target, seed=asked.seed)
    rule = solution.code.push(joint)
    chance = shuffled(joint, solution.code, seed=asked.seed, shuffles=Trials.permutations)
    # As in the report, whose seed the user has chosen.
    at_stake = stakes(joint, persons=counts.persons, seed=asked.seed)
    told = outline(
        asked,
        at_stake,
        book,
        joint,
        solution,
        rule,
        kept_by_chance(joint, book.over(joint), seed=asked.seed),
        useful=[column.name for column in counts.useful],
        identifiers=identifiers,
        n_dropped=counts.n_dropped,
        chance=chance,
    )
    aim = Funnel(0.0, make_measure(asked.measure), asked.purpose)  # as the picture has its axes
    return {
        "place": {
            "kept": (
                solution.kept
                if isinstance(solution, RecodedSolution)
                else share(aim.utility(joint, solution.code), aim.whole_utility(joint))
            ),
            "leakage": share(aim.leakage(joint, solution.code), aim.whole_leakage(joint)),
        },
        "asked": {
            "sensitive": [column_words(column) for column in roles.sensitive],
            "public": [column_words(column) for column in roles.public],
        },
        "records": {
            "released": counts.n_rows - counts.n_dropped,
            "persons": counts.persons and counts.persons.n_persons,
        },
        "measured": measured_of(joint, plain.utility, plain.leakage),
        "drawn": None,  # nothing has been drawn yet
        **told,
        "release": told["release"] | {"kept_measured": []},
    }
