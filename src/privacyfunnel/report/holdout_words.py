"""Holdout words: how the method of a release does on records it has not seen, in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privacyfunnel.information import share
from privacyfunnel.report.attacker_words import NOT_AVAILABLE
from privacyfunnel.report.numbers import bits, number, percent, several

Document = Mapping[str, Any]
NEARER = (
    "The nearer the two columns, the more the release's own figures hold for other records. Fewer "
    "records show more by chance: compare what is given away with what chance alone would show."
)


def what_was_checked(document: Document) -> str:
    """What the check did, and that the release is another matter."""
    own, unseen = (document["held_out"][side] for side in ("own", "unseen"))
    return (
        f"A check of the method: the same search was made again with {number(own['n_records'])} of "
        f"the {several(own['n_records'] + unseen['n_records'], 'record')}, chosen by lot, and its "
        f"coding was applied to the {number(unseen['n_records'])} others, which it had not seen. The "
        "release itself is made from all records."
    )


def what_was_found(document: Document) -> str:
    """What the coding keeps and gives away on either side, and how many values it did not know."""
    own, unseen = (document["held_out"][side] for side in ("own", "unseen"))
    kept = "utility" if document["recoding"] is None else "kept"
    text = (
        f"On records that it has not seen, the coding keeps {percent(unseen[kept])} instead of "
        f"{percent(own[kept])} and gives away {percent(unseen['leakage'])} "
        f"({bits(unseen['leakage_bits'])}) instead of {percent(own['leakage'])} "
        f"({bits(own['leakage_bits'])})."
    )
    if unseen["chance_bits"] is not None and unseen["leakage_bits"] > 0:
        by_chance = min(unseen["chance_bits"], unseen["leakage_bits"])
        text += (
            f" Of these {bits(unseen['leakage_bits'])}, {bits(by_chance)} would appear by chance in "
            f"{several(unseen['n_records'], 'record')}."
        )
    return f"{text} {_suppressed(document)}"


def on_others(document: Document) -> str:
    """What a readable release gives away of other records, beside its figure on its own."""
    held = document["held_out"]
    found = f"On other records: {_beyond(held['unseen'], document)}"
    if held["global"] is not None:
        other = _beyond(held["global"]["unseen"], document)
        found += f", with a global recoding that keeps as much {other}"
    own, others = held["own"]["n_records"], held["unseen"]["n_records"]
    return (
        f"{found}. So much does a coding made from {several(own, 'record')} give away of the "
        f"{number(others)} others, beyond what chance alone shows."
    )


def _beyond(side: Mapping[str, Any], document: Document) -> str:
    more = beyond_chance(side)
    return f"{percent(share(more, document['measured']['entropy_s_bits']))} ({bits(more)})"


def beyond_chance(side: Mapping[str, Any]) -> float:
    """Bits given away less those that chance alone would show."""
    return float(side["leakage_bits"] - (side["chance_bits"] or 0.0))


def in_short(document: Document) -> str:
    """The check in one line for the terminal."""
    if document["recoding"] is not None:
        return on_others(document)
    own, unseen = (document["held_out"][side] for side in ("own", "unseen"))
    chance = unseen["chance_bits"]
    by_chance = "" if chance is None else f", by chance alone {bits(chance)}"
    return (
        f"Held out: a coding made from {several(own['n_records'], 'record')} keeps "
        f"{percent(unseen['utility'])} and gives away {percent(unseen['leakage'])} "
        f"({bits(unseen['leakage_bits'])}{by_chance}) on {number(unseen['n_records'])} others, of "
        f"which it did not know {number(unseen['n_suppressed'])}. The release itself is made from "
        "all records."
    )


def rows(document: Document) -> list[list[str]]:
    """A table of both sides; its first row are the titles."""
    held, other = document["held_out"], document["held_out"]["global"]
    sides = {"records it was made from": held["own"], "records not seen": held["unseen"]}
    if other is not None:
        sides |= {"global, made from": other["own"], "global, not seen": other["unseen"]}
    shown = [_figures(side) for side in sides.values()]
    return [["", *sides], *([name, *(side[name] for side in shown)] for name in shown[0])]


def _figures(side: Mapping[str, Any]) -> dict[str, str]:
    """What the table tells of one side, by the title of its row."""
    chance = NOT_AVAILABLE if side["chance_bits"] is None else bits(side["chance_bits"])
    bound = percent(side["bound"]["leakage"]) if side["bound"] else ""
    return {
        "records": number(side["n_records"]),
        "kept of each column, on average": percent(side["kept"]),
        "kept of the public columns' bits": percent(side["utility"]),
        "given away of the sensitive ones": percent(side["leakage"]),
        "the same in bits": bits(side["leakage_bits"]),
        "bits by chance alone": chance,
        "given away of new people, at most (95% confidence)": bound,
        "guesses right without the data": percent(side["guess_blind"]),
        "guesses right with the data": percent(side["guess_seeing"]),
        "suppressed, because unknown": number(side["n_suppressed"]),
    }


def _suppressed(document: Document) -> str:
    unseen = document["held_out"]["unseen"]
    n = unseen["n_suppressed"]
    if not n:
        return "It knew all of their values."
    part = percent(n / unseen["n_records"])
    which = "which is" if n == 1 else "which are"
    become = "one more symbol, “suppressed”" if document["recoding"] is None else "*"
    return f"It did not know the values of {several(n, 'record')} ({part}), {which} released as {become}."
