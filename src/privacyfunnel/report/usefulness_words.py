"""Usefulness words: what receivers can do with a release, as tables and in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privacyfunnel.audits.attackers import PRIOR
from privacyfunnel.report.numbers import bits, listed, percent

Document = Mapping[str, Any]
COLUMNS = ("column", "can be told", "mean error", "error without the data")
PAIRS = ("columns", "link", "of it left")
USES = ("column", "classifier", "sees", "right", "bits gained")


def in_short(document: Document) -> list[str]:
    """What a receiver can tell of the original columns, and guess of a column that was named."""
    lines = []
    told = [f"{percent(c['kept'])} of {c['name']}" for c in _found(document, "columns")]
    if told:
        lines.append(f"A receiver can tell {listed(told)}.")
    uses = _found(document, "uses")
    for name in dict.fromkeys(use["column"] for use in uses):
        tried = [use for use in uses if use["column"] == name and not use["note"]]
        right = {
            sees: percent(max(use["accuracy"] for use in tried if use["sees"] == sees))
            for sees in {use["sees"] for use in tried}
        }
        if "published" in right:
            text = f"A classifier guesses {name} right in {right['published']} of cases"
            if "original" in right:
                text += f", {right['original']} from the original columns"
            lines.append(f"{text}.")
    return lines


def _found(document: Document, what: str) -> list[Mapping[str, Any]]:
    """What was found out for receivers, where that was asked for."""
    found: dict[str, list[Mapping[str, Any]]] = document.get("receivers") or {}
    return found.get(what, [])


def column_rows(document: Document) -> list[list[str]]:
    """A table of the original columns, under the titles of ``COLUMNS``."""
    return [
        [c["name"], percent(c["kept"]), _number(c["error"]), _number(c["error_blind"])]
        for c in _found(document, "columns")
    ]


def pair_rows(document: Document) -> list[list[str]]:
    """A table of pairs of columns, under the titles of ``PAIRS``."""
    return [
        [f"{p['first']} and {p['second']}", bits(p["bits"]), percent(p["kept"])]
        for p in _found(document, "pairs")
    ]


def use_rows(document: Document) -> list[list[str]]:
    """A table of classifiers of a column that was named, under the titles of ``USES``."""
    rows = [
        (
            use["column"],
            use["attacker"],
            use["sees"] if use["attacker"] != PRIOR else "nothing",
            percent(use["accuracy"]),
            bits(use["gain_bits"]),
        )
        for use in _found(document, "uses")
        if not use["note"]
    ]
    return list(map(list, dict.fromkeys(rows)))  # one that sees nothing is there once for each view


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
