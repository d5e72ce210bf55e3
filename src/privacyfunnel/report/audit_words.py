"""Audit words: an audit's document in plain sentences and figures, for the terminal and the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privacyfunnel.report.figures import bits, listed, number, one_in, percent, several

Document = Mapping[str, Any]
NOT_AVAILABLE = "not available"
NOTHING = 1e-9  # bits
ATTACKERS = ("column", "attacker", "sees", "right", "more than blind", "bits gained")
SECTIONS = {
    "What the published columns give away": (
        "leakage", "information", "entropy_s", "entropy_s_after", "guess_blind", "guess_seeing",
        "guess_worst", "maximal_leakage", "lift", "log_lift",
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
        lines.append(
            f"Of these {bits(told['value'])}, {bits(min(chance, told['value']))} would appear by "
            f"chance: they show with {s} shuffled among the records."
        )
    linked = [c for c in document["columns"] if (c["p_value"] or 1.0) < 0.05]
    lines += [
        f"Chance alone does not explain what they tell about {c['name']} (p = {c['p_value']:.3f})."
        for c in linked
    ]
    blind, seeing = (of(document, f"guess_{key}")["value"] for key in ("blind", "seeing"))
    lines.append(
        f"The best guess of {s} is right with probability {one_in(blind)}, without the data, and "
        f"{one_in(seeing)}, for one who sees {x} and knows all other records."
    )
    return lines + [attackers_in_words(document, name) for name in _attacked(document)]


def attackers_in_words(document: Document, column: str) -> str:
    """What the best of the attackers gains on records that it has not learnt from."""
    found = [a for a in document["attackers"] if a["column"] == column and a["sees"] == "published"]
    if found[0]["note"]:
        return f"Attackers that guess {column}: {NOT_AVAILABLE}. {_sentence(found[0]['note'])}"
    prior, best = found[0], max(found, key=lambda a: a["gain_bits"])
    blind = percent(prior["accuracy"])
    if best["gain_bits"] <= max(NOTHING, 2 * best["gain_error_bits"]):
        return (
            f"Attackers that learnt on other records gain nothing about {column} that can be told "
            f"from chance; without the data {blind} of their guesses are right."
        )
    return (
        f"An attacker that learnt on other records ({best['attacker']}) guesses {column} right in "
        f"{percent(best['accuracy'])} of cases, {blind} without the data, and gains "
        f"{bits(best['gain_bits'])}."
    )


def attacker_rows(document: Document) -> list[list[str]]:
    """A table of all attacks that could be tried, under the titles of ``ATTACKERS``."""
    return [
        [
            a["column"],
            a["attacker"],
            a["sees"],
            percent(a["accuracy"]),
            f"{100 * a['accuracy_gain']:+.1f} points",
            f"{a['gain_bits']:+.3f} ± {2 * a['gain_error_bits']:.3f}",
        ]
        for a in document["attackers"]
        if not a["note"]
    ]


def measure_rows(document: Document, keys: Sequence[str]) -> list[list[str]]:
    """A table of some measures that are available, under the titles of :func:`measure_titles`."""
    rows = []
    for row in (of(document, key) for key in keys):
        if row["value"] is not None or row["infinite"]:
            value = figure(row["value"], row["unit"], row["infinite"])
            before = row["original"]
            original = "" if before is None else figure(before, row["unit"])
            compared = [original] if document["original"] else []
            rows.append([row["name"], value, *compared, meaning(row)])
    return rows


def measure_titles(document: Document) -> list[str]:
    """Titles of :func:`measure_rows`; the original columns have one where they were given."""
    return [
        "measure",
        "published",
        *(["original"] if document["original"] else []),
        "what it means",
    ]


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


def _attacked(document: Document) -> Sequence[str]:
    return list(dict.fromkeys(a["column"] for a in document["attackers"]))


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:] + "."
