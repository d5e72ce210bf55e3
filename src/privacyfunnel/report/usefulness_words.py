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
    found = document.get("receivers")
    if not found:
        return []
    lines = []
    if found["columns"]:
        told = [f"{percent(c['kept'])} of {c['name']}" for c in found["columns"]]
        lines.append(f"A receiver can tell {listed(told)}.")
    for name in dict.fromkeys(use["column"] for use in found["uses"]):
        best = {
            sees: max(
                (
                    u
                    for u in found["uses"]
                    if u["column"] == name and u["sees"] == sees and not u["note"]
                ),
                key=lambda use: use["accuracy"],
                default=None,
            )
            for sees in ("published", "original")
        }
        if best["published"] is not None:
            right = percent(best["published"]["accuracy"])
            text = f"A classifier guesses {name} right in {right} of cases"
            if best["original"] is not None:
                text += f", {percent(best['original']['accuracy'])} from the original columns"
            lines.append(f"{text}.")
    return lines


def column_rows(document: Document) -> list[list[str]]:
    """A table of the original columns, under the titles of ``COLUMNS``."""
    return [
        [c["name"], percent(c["kept"]), _number(c["error"]), _number(c["error_blind"])]
        for c in (document.get("receivers") or {"columns": []})["columns"]
    ]


def pair_rows(document: Document) -> list[list[str]]:
    """A table of pairs of columns, under the titles of ``PAIRS``."""
    return [
        [f"{p['first']} and {p['second']}", bits(p["bits"]), percent(p["kept"])]
        for p in (document.get("receivers") or {"pairs": []})["pairs"]
    ]


def use_rows(document: Document) -> list[list[str]]:
    """A table of classifiers of a column that was named, under the titles of ``USES``."""
    return [
        [
            use["column"],
            use["attacker"],
            use["sees"] if use["attacker"] != PRIOR else "nothing",
            percent(use["accuracy"]),
            bits(use["gain_bits"]),
        ]
        for use in (document.get("receivers") or {"uses": []})["uses"]
        if not use["note"]
    ]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
