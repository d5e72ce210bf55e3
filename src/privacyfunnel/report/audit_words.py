"""Audit words: an audit's document in plain sentences and figures, for the terminal and the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privacyfunnel.report.attacker_words import NOT_AVAILABLE, NOTHING, attackers
from privacyfunnel.report.numbers import bits, listed, number, one_in, percent, several

Document = Mapping[str, Any]
FITTED = 0.95  # a p-value above it: hardly any shuffle shows as little
PUBLISHED = {"value": "published", "original": "original"}  # titles of a measure's figures
SECTIONS = {
    "What the published columns give away": (
        "leakage", "information", "entropy_s", "entropy_s_after", "guess_blind", "guess_seeing",
        "guess_worst", "guess_informed", "maximal_leakage", "lift", "log_lift",
    ),
    "The published columns as a table": ("k", "unique", "l_diversity", "t_closeness"),
    "How much of it is chance": (
        "chance", "beyond_chance", "p_value", "shrinkage", "miller_madow", "interval_low",
        "interval_high",
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


def meaning(row: Mapping[str, Any]) -> str:
    """What a measure means and which direction is safe."""
    safer = {"less": " Less is safer.", "more": " More is safer."}.get(row["safer"], "")
    return f"{row['meaning']}{safer}"


def missing(document: Document, keys: Sequence[str]) -> list[str]:
    """Which of some measures are not available, and why: one sentence for each reason."""
    reasons: dict[str, list[str]] = {}
    for row in (of(document, key) for key in keys):
        if row["value"] is None and not row["infinite"]:
            reasons.setdefault(row["note"], []).append(row["name"])
    return [f"Not available ({listed(names)}): {note}." for note, names in reasons.items()]


def headline(document: Document) -> list[str]:
    """The audit in a few sentences."""
    s, x = listed(document["sensitive"]), listed(document["public"])
    left_out = document["left_out"]
    lines = [
        "Weighted records."
        if document["records"] is None
        else f"{several(document['records'], 'record')}."
        + (f" {several(left_out, 'record')} with a missing value left out." if left_out else "")
    ]
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
    linked = [c for c in document["columns"] if (c["p_value"] or 1.0) < 0.05]
    lines += [
        f"Chance alone does not explain what they tell about {c['name']} (p = {c['p_value']:.3f})."
        for c in linked
    ]
    blind, seeing = (of(document, f"guess_{key}")["value"] for key in ("blind", "seeing"))
    lines.append(
        f"The best guess of {s} is right with probability {one_in(blind)}, without the data, and "
        f"{one_in(seeing)}, for one who sees {x} and knows how often it goes with what."
    )
    informed = of(document, "guess_informed")["value"]
    if informed is not None:
        lines.append(
            f"One who knows {s} of every other record, and how the release was made, is right with "
            f"probability {one_in(informed)}."
        )
    return lines + attackers(document)


def _beside_chance(told: float, chance: float, p_value: float, s: str) -> str:
    """How much of what is told is chance; less than chance shows only where it was searched for."""
    if told < chance and p_value > FITTED:
        return (
            f"That is less than the {bits(chance)} that show with {s} shuffled among the records "
            f"(p = {p_value:.3f}): it was fitted to these records, and may tell more of others."
        )
    return (
        f"Of these {bits(told)}, {bits(min(chance, told))} would appear by chance: with {s} "
        f"shuffled among the records {bits(chance)} show."
    )


def measure_rows(
    document: Document, keys: Sequence[str], titles: Mapping[str, str] = PUBLISHED
) -> list[list[str]]:
    """A table of some measures that are available, under the titles of :func:`measure_titles`."""
    fields = _shown(document, keys, titles)
    return [
        [row["name"], *(_cell(row, field) for field in fields), meaning(row)]
        for row in (of(document, key) for key in keys)
        if row["value"] is not None or row["infinite"]
    ]


def measure_titles(
    document: Document, keys: Sequence[str], titles: Mapping[str, str] = PUBLISHED
) -> list[str]:
    """Titles of :func:`measure_rows`; a column that would be empty has none."""
    fields = _shown(document, keys, titles)
    return ["measure", *(titles[field] for field in fields), "what it means"]


def _shown(document: Document, keys: Sequence[str], titles: Mapping[str, str]) -> list[str]:
    """The figures of a measure, of those with a title, that one of some measures has."""
    rows = [of(document, key) for key in keys]
    return [name for name in titles if any(_has(row, name) for row in rows)]


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
