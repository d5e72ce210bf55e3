"""Audit: what a release as it was written gives away, and what its method does to unseen records."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from typing import Any

from privacyfunnel.audits import CATALOGUE, Audit, Trials, audit_joint, generalise_joint, hold_out
from privacyfunnel.audits.attacks import MOST_RECORDS, Attack, attack, cannot_attack
from privacyfunnel.audits.holdout import persons_held_out
from privacyfunnel.audits.meanings import without_infinity
from privacyfunnel.audits.receivers import Receivers, receive
from privacyfunnel.codebook import Codebook
from privacyfunnel.codes import Channel, joined
from privacyfunnel.columns import Column, Roles
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.joint import Joint
from privacyfunnel.metrics import Chance, Metrics, by_column, evaluate, shuffled
from privacyfunnel.metrics.chance import MOST_WORK
from privacyfunnel.parallel import Progress
from privacyfunnel.persons import Persons
from privacyfunnel.recodings import RecodedSolution
from privacyfunnel.releases.request import ReleaseRequest
from privacyfunnel.releases.search import find
from privacyfunnel.releases.written_file import Measured, with_kept
from privacyfunnel.report.numbers import several
from privacyfunnel.solvers.base import Solution

HALF = 0.5  # share of the records that a readable release is tried on unasked
LEAST_HALVED = 200  # records below which halves tell little
MOST_HALVED = 60_000  # combinations of S and X up to which a second search takes seconds
FEW_VALUES = 8  # of the sensitive columns in sum; their attackers take some seconds
QUICK_RECORDS = 20_000  # up to here the number of values decides how long attackers take
# Records to make a code from, others, and whose these are.
Aside = tuple[Joint, Joint, Persons | None]


@dataclass(frozen=True)
class ReleaseAudit:
    """The audit of the written file; where symbols were drawn by lot, also what their rule tells."""

    audit: Audit
    chance: Chance | None  # what the code tells with S shuffled among the records
    rule: Metrics | None
    why_no_attackers: str  # empty where attackers were tried

    def as_dict(self) -> dict[str, Any]:
        """The audit's document without its envelope; each measure has its ``rule``, if there is one."""
        found = self.audit.as_dict()
        for name in ("format", "version", "tool"):
            del found[name]
        found["measures"] = [
            row | without_infinity("rule", self._by_rule(row["key"])) for row in found["measures"]
        ]
        return found | {"why_no_attackers": self.why_no_attackers}

    def _by_rule(self, key: str) -> float | None:
        row, rule, chance = self.audit[key], self.rule, self.chance
        if rule is None or (row.value is None and CATALOGUE[key].about_s):
            return None
        if chance is not None:
            by_chance = {
                "chance": chance.mean_bits,
                "beyond_chance": max(0.0, rule.information - chance.mean_bits),
                "p_value": chance.p_value,
            }
            if key in by_chance:
                return by_chance[key]
        return getattr(rule, key, None)


def audit_release(
    joint: Joint,
    book: Codebook,
    measured: Measured,
    request: ReleaseRequest,
    *,
    others: Joint | None = None,
    persons: Persons | None = None,
    useful: Sequence[Column] = (),
    jobs: int = 1,
    progress: Progress | None = None,
) -> ReleaseAudit:
    """Audit p(s,x̂) as it was written by the codebook, kept columns included, beside p(s,x).

    ``others`` are the records that did not choose the code, if there are any, ``persons`` those that
    the rows of the table belong to, where a column says so. ``useful`` columns, of which the joint
    holds p(y,x), are guessed by classifiers as receivers would.
    """
    roles, own = book.roles, book.over(joint)
    as_it_is, code = joint, own
    if measured.beside is not None:  # what is kept goes out as well
        as_it_is, code = measured.beside, with_kept(measured.beside, joint, own)
    why = _why_no_attackers(joint, roles.sensitive, request.attackers)
    trials = Trials(
        attackers=not why,
        attack_rows=MOST_RECORDS if (joint.n_records or 0) > MOST_RECORDS else None,
        seed=request.seed,
        n_jobs=jobs,
        most_work=MOST_WORK,
    )
    found = audit_joint(
        (measured.joint, measured.public),
        roles.sensitive,
        original=(joint, roles.public),
        persons=measured.persons,
        persons_original=persons,
        new=_new_people(others, book, request),
        trials=trials,
        progress=progress,
    )
    soft = isinstance(code, Channel)
    told, pairs = receive(joined(joint, own), joint.labels_x, roles.public)
    uses: list[tuple[Attack, ...]] = [(), ()]
    if useful and joint.useful is not None and not why:
        seen = ((own.push(joint.useful), measured.public[:1]), (joint.useful, roles.public))
        uses = [tuple(attack(one, useful, columns, **trials.of_attacks)) for one, columns in seen]
    found = replace(found, receivers=Receivers(told, pairs, *uses))
    chance = None if soft else found.chance
    if chance is None and persons is None:
        chance = shuffled(
            as_it_is, code, seed=trials.seed, shuffles=trials.permutations, n_jobs=jobs
        )
    return ReleaseAudit(
        audit=replace(found, new=others is not None),
        chance=chance,
        rule=evaluate(as_it_is, code, sensitive=roles.sensitive) if soft else None,
        why_no_attackers=why,
    )


def records_aside(joint: Joint, persons: Persons | None, request: ReleaseRequest) -> Aside | None:
    """The records to make a code from, those put aside, and whose these are; None: it is not tried.

    Unless it was asked for, it is tried with half of the records where a readable release is made of a
    table that is searched in seconds.
    """
    share = request.holdout
    if share is None:
        few = joint.n_records is None or joint.n_records < LEAST_HALVED
        if few or request.kind == "symbols" or joint.counts.nnz > MOST_HALVED:
            return None
    part = HALF if share is None else share
    try:
        if persons is None:
            return *hold_out(joint, part, seed=request.seed), None
        parts = persons_held_out(joint, persons, part, seed=request.seed)
    except InvalidInput:
        if share is None:  # one of the halves would have nothing to tell
            return None
        raise
    (made_from, _), others = parts
    return made_from, *others


def on_unseen(
    aside: Aside,
    roles: Roles,
    request: ReleaseRequest,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> dict[str, Any] | None:
    """Make a codebook from some records as it was asked for; measure it on these and on the others.

    Beside a local recoding stands the global one that keeps as much. None where half of the records
    cannot meet the target and nobody asked.
    """
    made_from, put_aside, persons = aside

    def tried(request: ReleaseRequest, solution: Solution) -> dict[str, Any]:
        book = Codebook.from_solution(
            made_from, solution, roles, target=request.target, seed=request.seed
        )
        own = generalise_joint(made_from, book, seed=request.seed)
        unseen = generalise_joint(put_aside, book, persons=persons, seed=request.seed)
        return {
            "symbols": len(book.symbols),
            "own": asdict(replace(own, bound=None)),  # these records chose the code
            "unseen": asdict(unseen),
        }

    if request.kind != "symbols":
        request = replace(request, points=2)  # of the frontier only the target is needed
    try:
        solution = find(made_from, request, jobs=jobs, progress=progress)
    except TargetUnreachable as error:
        if request.holdout is None:
            return None
        raise TargetUnreachable(
            f"the holdout leaves {made_from.n_records:,} records to make a code from, and there {error}"
        ) from error
    found = tried(request, solution)
    found["share"] = HALF if request.holdout is None else request.holdout
    found["global"] = None
    if request.kind == "local" and isinstance(solution, RecodedSolution):
        other = replace(request, recoding="global", target={"kept": solution.kept}, fit=None)
        with suppress(TargetUnreachable):
            found["global"] = tried(other, find(made_from, other))
    return found


def _new_people(people: Joint | None, book: Codebook, request: ReleaseRequest) -> Joint | str:
    """S and what the rule releases of those who did not choose it, by lot on average; or why not."""
    if people is None:
        return "all records chose the code, so none can tell how it does on others"
    if request.keep:
        return "columns are kept beside it, which the records were not drawn with"
    return replace(book.over(people).push(people), n_records=people.n_records)


def _why_no_attackers(joint: Joint, sensitive: Sequence[Column], wanted: bool | None) -> str:
    """Why attackers are not tried: they cannot be, are not wanted, or nobody asked and it takes long."""
    why, n_records = cannot_attack(joint, MOST_RECORDS), joint.n_records or 0
    if not why and n_records < Trials.folds:
        why = f"{several(n_records, 'record')} are too few to learn from some and guess the others"
    if why or wanted:
        return why
    if wanted is False:
        return "they were not asked for"
    if find_spec("sklearn") is None:
        return "scikit-learn, which they learn with, is not installed"
    n_values = sum(alone.n_s for _, alone in by_column(joint, sensitive))
    if n_values * max(1.0, n_records / QUICK_RECORDS) <= FEW_VALUES:
        return ""
    return (
        f"with {n_values:,} different values in the sensitive columns and {n_records:,} records they "
        "take longer than some seconds; they are tried where they are asked for"
    )
