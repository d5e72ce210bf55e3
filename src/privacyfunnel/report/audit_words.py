"""Audit words: an audit's document in plain sentences and figures, for the terminal and the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privacyfunnel.audits.audit_rows import SURELY_FITTED
from privacyfunnel.report import usefulness_words
from privacyfunnel.report.attacker_words import (
    NOT_AVAILABLE,
    NOTHING,
    attackers,
    who_knows_all_others,
)
from privacyfunnel.report.numbers import bits, left_out, listed, number, one_in, percent, several

Document = Mapping[str, Any]
SAFER = {"less": " Less is safer.", "more": " More is safer.", "": ""}
PUBLISHED = {"value": "published", "original": "original"}  # titles of a measure's figures
SECTIONS = {
    "What the published columns give away": (
        "leakage", "information", "entropy_s", "entropy_s_after", "guess_blind", "guess_seeing",
        "guess_worst", "guess_informed", "maximal_leakage", "lift", "log_lift",
    ),
    "A person's rows together": ("person_leakage", "person_chance", "person_guess"),
    "The published columns as a table": ("k", "unique", "l_diversity", "t_closeness"),
    "How much of it is chance": (
        "chance", "beyond_chance", "p_value", "shrinkage", "miller_madow", "interval_low",
        "interval_high",
    ),
    "People who are not in the table": (
        "population_leakage", "population_bits", "person_population",
    ),
}  # fmt: skip


def figure(value: float | None, unit: str, infinite: bool = False) -> str:
    """A value as people read it.

    >>> figure(0.062, "share"), figure(5, "count"), figure(None, "bits"), figure(None, "bits", True)
    ('6.2%', '5', 'not available', 'infinite')
    """
    if infinite:
        return "infinite"
    if value is None:
        return NOT_AVAILABLE
    shown = {"share": percent, "bits": bits, "count": number}
    return shown[unit](value) if unit in shown else f"{value:.3f}"


def of(document: Document, key: str) -> Mapping[str, Any]:
    """One measure of the document."""
    return next(row for row in document["measures"] if row["key"] == key)


def by_person(document: Document, s: str) -> list[str]:
    """What one learns who sees all rows of a person."""
    rows = rows_of(document, ("person_leakage", "person_chance", "person_guess"))
    if not rows or rows[0]["value"] is None:
        return []
    told, chance, guess = (row["value"] for row in rows)
    beside = "" if chance is None else f", {percent(chance)} by chance"
    return [
        f"Whoever sees all rows of a person together, and knows how often such rows go with what, learns "
        f"{percent(told)} of {s}{beside}, and guesses right in {percent(guess)} of cases."
    ]


def by_measure(document: Document) -> list[str]:
    """What is told by the measure that was asked for, one sentence for each of the sensitive columns."""
    lines = []
    for one in document.get("readings", ()):
        line = f"By {one['title']}: {one['sentence']}."
        if one["original"] is not None:
            line += f" With the original columns: {one['original']}."
        if one["chance"] is not None:
            line += f" With {one['name']} shuffled among the records: {one['chance']}."
        lines.append(line)
    return lines


def rows_of(document: Document, keys: Sequence[str]) -> list[Mapping[str, Any]]:
    """Those of some measures that the document has."""
    there = {row["key"]: row for row in document["measures"]}
    return [there[key] for key in keys if key in there]


def missing(document: Document, keys: Sequence[str]) -> list[str]:
    """Which of some measures are not available, and why: one sentence for each reason."""
    reasons: dict[str, list[str]] = {}
    for row in rows_of(document, keys):
        if not _has(row, "value"):
            reasons.setdefault(row["note"], []).append(f"“{row['name']}”")
    return [f"Not available ({listed(names)}): {note}." for note, names in reasons.items()]


def headline(document: Document) -> list[str]:
    """The audit in a few sentences."""
    s, x = listed(document["sensitive"]), listed(document["public"])
    n_persons, n_left_out = document.get("persons"), document["left_out"]
    whose = "" if n_persons is None else f" of {several(n_persons, 'person')}"
    without = f" {left_out(n_left_out)}" if n_left_out else ""
    records = "Weighted records."
    if document["records"] is not None:
        records = f"{several(document['records'], 'record')}{whose}.{without}"
    lines = [records, *by_measure(document)]
    told, leakage = of(document, "information"), of(document, "leakage")
    if leakage["value"] is None:
        return [*lines, f"What {x} give away about {s} is not available: {leakage['note']}."]
    lines.append(
        f"Whoever sees {x} learns {bits(told['value'])} about {s}, {percent(leakage['value'])} of "
        f"the {bits(of(document, 'entropy_s')['value'])} there are."
    )
    chance = of(document, "chance")["value"]
    if chance is not None and told["value"] > NOTHING:
        lines.append(_beside_chance(told["value"], chance, of(document, "p_value")["value"], s))
    lines += [
        f"Chance alone does not explain what they tell about {c['name']} (p = {c['p_value']:.3f})."
        for c in document["columns"]
        if (c["p_value"] or 1.0) < 0.05
    ]
    lines += by_person(document, s) + _of_new_people(document)
    blind, seeing = (of(document, f"guess_{key}")["value"] for key in ("blind", "seeing"))
    lines.append(
        f"Without the data, the best guess of {s} is right with probability {one_in(blind)}; for one "
        f"who sees {x} and knows how often it goes with what, {one_in(seeing)}."
    )
    informed = of(document, "guess_informed")["value"]
    return [
        *lines,
        *who_knows_all_others(informed, blind, s, whom(n_persons)),
        *attackers(document),
        *usefulness_words.in_short(document),
    ]


def whom(n_persons: int | None) -> str:
    """What is counted one by one."""
    return "record" if n_persons is None else "person"


def _of_new_people(document: Document) -> list[str]:
    """What is given away of people outside of the table, where that can be said."""
    most, new = of(document, "population_leakage")["value"], document["new"]
    if most is None:
        return []
    if_new = "" if new else ", provided that what is published was not chosen on these very records"
    return [
        f"Of people like them who are not in the table it gives away at most {percent(most)}, with "
        f"95% confidence{if_new}."
    ]


def _beside_chance(told: float, chance: float, p_value: float, s: str) -> str:
    """How much of what is told is chance; less than chance shows only where it was searched for."""
    if told < chance and p_value <= SURELY_FITTED:
        return f"Chance alone shows as much: {bits(chance)} with {s} shuffled among the records."
    if told < chance:
        return (
            f"That is less than the {bits(chance)} that show with {s} shuffled among the records "
            f"(p = {p_value:.3f}): it was fitted to these records, and may tell more of others."
        )
    return (
        f"Of these {bits(told)}, {bits(chance)} would appear by chance: as many show with {s} "
        "shuffled among the records."
    )


def measures(
    document: Document, keys: Sequence[str], titles: Mapping[str, str] = PUBLISHED
) -> list[list[str]]:
    """A table of some measures that are available; its first row are the titles.

    Of the figures with a title those are shown that one of the measures has.
    """
    rows = rows_of(document, keys)
    fields = [name for name in titles if any(_has(row, name) for row in rows)]
    return [
        ["measure", *(titles[field] for field in fields), "what it means"],
        *(
            [
                row["name"],
                *(_cell(row, field) for field in fields),
                row["meaning"] + SAFER[row["safer"]],
            ]
            for row in rows
            if _has(row, "value")
        ),
    ]


def _cell(row: Mapping[str, Any], name: str) -> str:
    return figure(row[name], row["unit"], _infinite(row, name)) if _has(row, name) else ""


def _has(row: Mapping[str, Any], name: str) -> bool:
    return row.get(name) is not None or _infinite(row, name)


def _infinite(row: Mapping[str, Any], name: str) -> bool:
    return bool(row.get("infinite" if name == "value" else f"{name}_infinite"))


COLUMNS = ("column", "given away", "bits", "by chance", "p", "blind guess", "guess", "l", "t")


def column_rows(document: Document) -> list[list[str]]:
    """A table of the sensitive columns one by one, under the titles of ``COLUMNS``."""
    return [
        [
            column["name"],
            percent(column["leakage"]),
            f"{column['information_bits']:.2f}",
            "" if column["chance_bits"] is None else f"{column['chance_bits']:.2f}",
            "" if column["p_value"] is None else f"{column['p_value']:.3f}",
            percent(column["guess_blind"]),
            percent(column["guess_seeing"]),
            str(column["l_diversity"]),
            figure(column["t_closeness"], "distance"),
        ]
        for column in document["columns"]
    ]


def verdict(document: Document) -> list[str]:
    """Whether the limits that were asked for are kept, one sentence each."""
    limits = document.get("limits") or {"asked": {}, "broken": []}
    if not limits["asked"]:
        return []
    if not limits["broken"]:
        n = len(limits["asked"])
        return ["The limit is kept." if n == 1 else f"All {n} limits are kept."]
    return [f"Limit broken: {words}." for words in limits["broken"]]
