"""Preview: a release as its report will describe it, before any file is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from privacyfunnel.audits import Trials
from privacyfunnel.codebook import Codebook
from privacyfunnel.codes import ColumnCode
from privacyfunnel.information import share
from privacyfunnel.measures import make_measure
from privacyfunnel.metrics import shuffled
from privacyfunnel.metrics.random_grouping import kept_by_chance
from privacyfunnel.metrics.stakes import stakes
from privacyfunnel.objectives import Funnel
from privacyfunnel.recodings import RecodedSolution
from privacyfunnel.releases.cautions import (
    about_groups,
    about_release,
    about_table,
    about_usefulness,
)
from privacyfunnel.releases.document import (
    asked_for,
    column_words,
    columns_kept,
    guesses,
    measured_of,
    symbols_of,
)
from privacyfunnel.releases.recoded import describe_code
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
    code = book.over(joint)
    by_chance = kept_by_chance(joint, code, seed=asked.seed)
    columns = columns_kept(joint, book, by_chance)
    cautions = [
        *about_usefulness(book, columns),
        *about_groups(book, asked),
        *about_table(at_stake, roles, identifiers, is_coarse=bool(book.columns)),
        *about_release(book, asked, counts.n_dropped, chance, rule),
    ]
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
        "release": {
            "code": "channel" if book.soft else "partition",
            "symbols": len(book.symbols),
            "public_values": len(book.values),
            "kept_measured": [],
        },
        "measured": measured_of(joint, plain.utility, plain.leakage),
        "guessing": guesses(at_stake, rule),
        "asked_for": asked_for(asked, joint, solution, [c.name for c in counts.useful]),
        "drawn": None,  # nothing has been drawn yet
        "stakes": at_stake.to_json(),
        "columns": columns,
        "symbols": symbols_of(book),
        "recoding": (
            describe_code(joint, solution, code, asked)
            if isinstance(solution, RecodedSolution) and isinstance(code, ColumnCode)
            else None
        ),
        "cautions": [asdict(caution) for caution in cautions],
    }
