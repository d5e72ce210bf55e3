"""The report's document: every number of a release under stable keys, ready for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from privacyfunnel import __version__
from privacyfunnel.audits.features import gathered, numbered, parts_of
from privacyfunnel.codebook.codebook import COARSE, Codebook
from privacyfunnel.codebook.values import encode
from privacyfunnel.codes import ColumnCode, joined
from privacyfunnel.columns import Column
from privacyfunnel.frontiers.frontier import Frontier
from privacyfunnel.information import entropy, mutual_information, share
from privacyfunnel.joint import Joint
from privacyfunnel.limits import PROVED, least_leakage, limit
from privacyfunnel.metrics import Chance, best_guess
from privacyfunnel.metrics.random_grouping import KeptByChance, kept_by_chance
from privacyfunnel.metrics.stakes import Stakes
from privacyfunnel.objectives import utility
from privacyfunnel.recodings import RecodedSolution
from privacyfunnel.releases.audit import ReleaseAudit
from privacyfunnel.releases.cautions import (
    about_groups,
    about_release,
    about_table,
    about_usefulness,
)
from privacyfunnel.releases.recoded import compare_recodings, recoded_columns
from privacyfunnel.releases.request import ASKED, ReleaseRequest
from privacyfunnel.releases.written_file import Measured, with_kept
from privacyfunnel.solvers.base import Solution
from privacyfunnel.solvers.caps import Cap
from privacyfunnel.tables import Released

FORMAT = "privacyfunnel report"
VERSION = 1
SHOWN = 8  # symbols shown from either end of the sizes
SHARES = ("utility", "utility_by_chance", "kept", "by_chance")  # of which digits may tell too much
PUBLIC_MEASURES = ("k", "unique")  # of the audit, those that do not describe S


def describe(
    request: ReleaseRequest,
    stakes: Stakes,
    book: Codebook,
    released: Released,
    measured: Measured,
    frontier: Frontier,
    audit: ReleaseAudit,
    solution: Solution,
    *,
    useful: Sequence[str],
    held_out: Mapping[str, Any] | None,
    identifiers: Sequence[str],
) -> dict[str, Any]:
    """The whole document of a release; :func:`without_sensitive` makes it fit to publish."""
    joint = frontier.joint
    code = book.over(joint)
    rule = code.push(joint)  # S and X̂ as the rule joins them; for a hard code the file's own
    alone = rule.information
    if measured.beside is not None:  # what is kept goes out as well
        rule = with_kept(measured.beside, joint, code).push(measured.beside)
    by_chance = kept_by_chance(joint, code, seed=request.seed)
    told = outline(
        request,
        stakes,
        book,
        joint,
        solution,
        rule,
        by_chance,
        useful=useful,
        identifiers=identifiers,
        n_dropped=released.n_dropped,
        chance=audit.chance,
        measured=measured.kept,
        held_out=held_out,
    )
    if told["recoding"] is not None:
        told["recoding"]["frontiers"] = compare_recodings(joint, frontier, request)
    return {
        "format": FORMAT,
        "version": VERSION,
        "tool": f"privacyfunnel {__version__}",
        "is_public": False,
        "asked": _asked(request, book),
        "reproduce": {"table": request.source, "command": request.command},
        "records": {
            "in_table": released.n_rows,
            "left_out": released.n_dropped,
            "released": released.n_released,
            "persons": measured.persons and measured.persons.n_persons,
        },
        "release": {
            "file": released.path.name,
            "columns": list(measured.columns),
            "kept_measured": list(measured.kept),
            "numbers": request.numbers,
            **told.pop("release"),
        },
        "measured": {
            **measured_of(joint, utility(joint, code), rule.information),
            "leakage_without_kept": share(alone, joint.entropy_s),
            "utility_by_chance": by_chance.whole,
        },
        **told,
        "drawn": _drawn(measured, audit.audit.chance) if book.soft else None,
        "chance": None if audit.chance is None else asdict(audit.chance),
        "frontier": frontier.to_frame().assign(proved_optimal=frontier.proved).to_dict("records"),
        "audit": audit.as_dict(),
        "held_out": held_out,
    }


def outline(
    request: ReleaseRequest,
    stakes: Stakes,
    book: Codebook,
    joint: Joint,
    solution: Solution,
    rule: Joint,
    by_chance: KeptByChance,
    *,
    useful: Sequence[str],
    identifiers: Sequence[str],
    n_dropped: int,
    chance: Chance | None,
    measured: Sequence[str] = (),
    held_out: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What can be said of a release before its rows are written, under the keys of its document.

    ``rule`` is p(s,x̂) as the rule joins them; ``measured`` and ``held_out`` are of the written one.
    """
    code, columns = book.over(joint), columns_kept(joint, book, by_chance)
    recoding = None
    if isinstance(solution, RecodedSolution) and isinstance(code, ColumnCode):
        recoding = {
            "kind": request.kind,
            "kept": solution.kept,
            "importance": dict(request.importance),
            "suppressed": solution.suppressed,
            "columns": recoded_columns(joint, code, is_local=request.kind == "local"),
        }
    cautions = [
        *about_usefulness(book, columns),
        *about_groups(book, request),
        *about_table(stakes, book.roles, identifiers, is_coarse=bool(book.columns)),
        *about_release(
            book, request, n_dropped, chance, rule, measured=measured, held_out=held_out
        ),
    ]
    return {
        "release": {
            "code": "channel" if book.soft else "partition",
            "symbols": len(book.symbols),
            "public_values": len(book.values),
        },
        "guessing": guesses(stakes, rule),
        "asked_for": asked_for(request, joint, solution, useful),
        "stakes": stakes.to_json(),
        "columns": columns,
        "symbols": symbols_of(book),
        "recoding": recoding,
        "cautions": [asdict(caution) for caution in cautions],
    }


def without_sensitive(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document without any statistic about S, without the seed and without the command.

    Only what is named here goes through, so that a new field stays private until someone decides. Where
    S and X share a column, or a code by lot hides S, what is kept is told in whole percents: more
    digits could be solved for the entropy of the one and for the probabilities of the other.
    """
    asked, recoding = document["asked"], document["recoding"]
    secret = {column["name"] for column in asked["sensitive"]}
    kept = ("public", "missing", "weight", "min_count", "expand", "keep", "shuffle", "choose_on")
    is_by_lot = document["release"]["code"] == "channel"
    is_coarse = is_by_lot or bool(secret & {c["name"] for c in document["columns"]})
    shown, kept_of = ["utility", "utility_by_chance"], ["name", "distinct", "kept", "by_chance"]
    if not is_coarse:
        shown += ["utility_bits", "entropy_x_bits"]
        kept_of += ["entropy_bits", "kept_bits"]

    def told(figures: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
        coarse = SHARES if is_coarse else ()
        return {k: round(figures[k], COARSE) if k in coarse else figures[k] for k in names}

    def told_of(columns: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
        return [told(column, names) for column in columns if column["name"] not in secret]

    return {
        **{key: document[key] for key in ("format", "version", "tool")},
        "is_public": True,
        "asked": {
            "target": {k: v for k, v in asked["target"].items() if k in ("utility", "kept", "lam")},
            "sensitive": [{k: c[k] for k in ("name", "kind")} for c in asked["sensitive"]],
            **{key: asked[key] for key in kept},
        },
        "records": {"released": document["records"]["released"]},
        "release": document["release"],
        "measured": told(document["measured"], shown),
        "columns": told_of(document["columns"], kept_of),
        "symbols": _symbols_by_lot(document["symbols"]) if is_by_lot else document["symbols"],
        "recoding": recoding
        and {
            **told(recoding, ("kind", "kept", "importance", "suppressed")),
            "columns": told_of(recoding["columns"], ("name", "kept", "groups")),
        },
        "audit": {"measures": _public_measures(document["audit"]["measures"])},
        "cautions": [c for c in document["cautions"] if c["is_public"]],
    }


def _symbols_by_lot(shown: Mapping[str, Any]) -> dict[str, Any]:
    """The symbols of a soft code without the values that each may stand for, which tell of S."""
    less: dict[str, Any] = {"members": [], "n_values": None}
    return {
        part: [{**s, **less, "probability": round(s["probability"], COARSE)} for s in symbols]
        for part, symbols in shown.items()
    }


def _public_measures(measures: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the file looks like as a table, which everyone who has it can count."""
    kept = ("key", "name", "value", "infinite", "unit", "meaning", "safer", "note")
    return [{k: row[k] for k in kept} for row in measures if row["key"] in PUBLIC_MEASURES]


def _asked(request: ReleaseRequest, book: Codebook) -> dict[str, Any]:
    """What was asked for, by the request's names; what is asked of single columns the recoding tells."""
    return {
        "target": dict(request.target),
        "caps": {name: str(most) for name, most in request.caps.items()},
        "sensitive": [column_words(column) for column in book.roles.sensitive],
        "public": [column_words(column) for column in book.roles.public],
        "missing": book.roles.missing,
        "weight": book.roles.weight,
        **{name: _plain(getattr(request, name)) for name in ASKED if not ASKED[name].is_by_column},
    }


def _plain(value: Any) -> Any:
    """A value as JSON gives it back."""
    return list(value) if isinstance(value, tuple) else value


def asked_for(
    request: ReleaseRequest, joint: Joint, solution: Solution, useful: Sequence[str]
) -> dict[str, Any] | None:
    """What the release was searched by: its measure and use, and each cap with what is told.

    None where it was I(S;X̂) and X.
    """
    if request.is_plain:
        return None
    aim, code = solution.objective, solution.code
    hidden, told = " and ".join(joint.sensitive), aim.leakage(joint, code)
    bound = limit(joint, "funnel", solution.utility, measure=aim.measure, keep=aim.keep)
    caps = []
    for cap in (Cap.read(name, given) for name, given in request.caps.items()):
        alone = joint.secret(cap.name)
        reading = cap.measure(alone.p_sx @ code.matrix)
        caps.append(
            {
                "column": cap.name,
                "measure": cap.measure.spelled,
                "most": cap.most,
                "told": share(reading, cap.measure.whole(alone.p_s)),
                "sentence": cap.measure.sentence(cap.name, reading, alone.p_s),
            }
        )
    return {
        "measure": aim.measure.spelled,
        "title": aim.measure.title,
        "told": share(told, aim.whole_leakage(joint)),
        "reading": told,
        "limit": None if np.isnan(bound) else share(bound, aim.whole_leakage(joint)),
        "sentence": aim.measure.sentence(hidden, told, joint.p_s),
        "purpose": aim.keep,
        "useful": list(useful),
        "kept": share(solution.utility, aim.whole_utility(joint)),
        "kept_bits": solution.utility,
        "caps": caps,
    }


def column_words(column: Column) -> dict[str, Any]:
    """A column with its kind and how it was coarsened, in words."""
    coarsened = None if column.rule is None else column.rule.told
    return {"name": column.name, "kind": column.kind, "coarsened": coarsened}


def measured_of(joint: Joint, utility_bits: float, leakage_bits: float) -> dict[str, Any]:
    """Utility, leakage, limit and gap of a release, in bits and as shares."""
    floor = least_leakage(joint, utility_bits)
    gap = max(0.0, leakage_bits - floor)
    entropy_s, entropy_x = joint.entropy_s, joint.entropy_x
    return {
        "utility": share(utility_bits, entropy_x),
        "utility_bits": utility_bits,
        "leakage": share(leakage_bits, entropy_s),
        "leakage_bits": leakage_bits,
        "entropy_x_bits": entropy_x,
        "entropy_s_bits": entropy_s,
        "limit": share(floor, entropy_s),
        "limit_bits": floor,
        "gap": share(gap, entropy_s),
        "gap_bits": gap,
        "proved_optimal": gap <= PROVED,
    }


def guesses(stakes: Stakes, rule: Joint) -> dict[str, float]:
    """How often the best guess is right that sees nothing, X, and X̂."""
    return {
        "blind": stakes.guess_blind,
        "as_it_is": stakes.guess_seeing,
        "released": best_guess(rule),
    }


def _drawn(measured: Measured, chance: Chance | None) -> dict[str, Any]:
    """What the file of one draw shows, and how much of it chance alone would."""
    return {
        "utility": share(measured.utility_bits, measured.entropy_x_bits),
        "utility_bits": measured.utility_bits,
        "leakage": share(measured.joint.information, measured.joint.entropy_s),
        "leakage_bits": measured.joint.information,
        "guess": best_guess(measured.joint),
        "chance": None if chance is None else asdict(chance),
    }


def symbols_of(book: Codebook) -> dict[str, Any]:
    """The symbols by falling size; where they are many, those from either end."""
    order = sorted(range(len(book.symbols)), key=lambda j: -book.symbols[j].probability)
    cut = len(order) if len(order) <= 2 * SHOWN else SHOWN
    return {
        "largest": [_symbol(book, j) for j in order[:cut]],
        "smallest": [_symbol(book, j) for j in order[cut:][-SHOWN:]],
    }


def _symbol(book: Codebook, j: int) -> dict[str, Any]:
    symbol, members = book.symbols[j], book.members[j]
    words = book.stands_for(symbol.label)
    return {
        "label": symbol.label,
        "probability": symbol.probability,
        "count": symbol.count,
        "n_values": len(members),
        "stands_for": [
            {"column": column.name, "values": text}
            for column, text in zip(book.roles.public, words, strict=True)
        ],
        "members": [[encode(part) for part in member] for member in members[:20]],
    }


def columns_kept(
    joint: Joint, book: Codebook, by_chance: KeptByChance | None = None
) -> list[dict[str, Any]]:
    """For each public column I(column;X̂) and H(column): how much of it is kept, here and by chance."""
    p_xxhat = joined(joint, book.over(joint))
    found: list[dict[str, Any]] = []
    parts = parts_of(joint.labels_x, len(book.roles.public))
    for i, (column, values) in enumerate(zip(book.roles.public, parts, strict=True)):
        p = gathered(numbered(values), p_xxhat)
        whole = entropy(np.asarray(p.sum(axis=1)).ravel())
        kept = mutual_information(p)
        found.append(
            {
                "name": column.name,
                "distinct": p.shape[0],
                "entropy_bits": whole,
                "kept_bits": kept,
                "kept": kept / whole if whole else 1.0,
                **({} if by_chance is None else {"by_chance": by_chance.columns[i]}),
            }
        )
    return found
