"""Cautions: what a curator should know before trusting the figures or sending the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from privacyfunnel.codebook import Codebook
from privacyfunnel.codebook.output import ANY
from privacyfunnel.columns import KINDS, Bins, Roles
from privacyfunnel.joint import Joint
from privacyfunnel.metrics import Chance
from privacyfunnel.metrics.stakes import Stakes, chance_matters
from privacyfunnel.releases.request import ReleaseRequest
from privacyfunnel.report.holdout_words import beyond_chance
from privacyfunnel.report.numbers import bits, left_out, number, percent, several

NOTHING = 1e-3  # bits that nobody needs to be warned of
MORE_THAN_CHANCE = 0.02  # share of the columns that a release must keep beyond chance
NEARLY_ALL = 0.95  # where chance keeps so much, hardly anything was put together
SMALL_SYMBOL = 5  # records below which a released symbol may point at persons


@dataclass(frozen=True)
class Caution:
    """One warning: a short title, the text, and whether it may go into a public report.

    What to do about it is a hint of ``errors.HINTS`` with the fields of its words.
    """

    about: str
    text: str
    is_public: bool = True
    hint: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)


def about_table(
    stakes: Stakes, roles: Roles, identifiers: Sequence[str], *, is_coarse: bool = False
) -> list[Caution]:
    """Warnings that hold before anything is released.

    ``is_coarse``: how much of the public columns as they are is chance says little about the release.
    """
    found = [
        Caution(
            "identifier",
            f"The column {name!r} is different in nearly every row, so it can point at persons. Leave "
            "it out, or coarsen it with bins or rounding.",
        )
        for name in identifiers
    ]
    if roles.weight is not None:
        found.append(
            Caution(
                "weighted records",
                f"Records are weighted by the column {roles.weight!r}. All figures describe the "
                "weighted table, and how much of them is chance was not measured.",
            )
        )
    if stakes.few_records and not is_coarse:
        found.append(few_records(stakes))
    return found


def about_usefulness(book: Codebook, columns: Sequence[Mapping[str, Any]]) -> list[Caution]:
    """A warning where symbols tell no more of the single columns than symbols dealt at random would.

    ``columns`` have the share ``kept`` of each and that kept ``by_chance``. Groups that people can read
    carry their meaning in their labels, and are not warned of.
    """
    if book.columns:
        return []
    kept, chance = (
        sum(column[key] for column in columns) / len(columns) for key in ("kept", "by_chance")
    )
    if kept > chance + MORE_THAN_CHANCE or chance > NEARLY_ALL:
        return []
    return [
        Caution(
            "no more than chance",
            f"The symbols keep {percent(kept)} of the single columns, on average. Symbols of the same "
            f"sizes, dealt to the values at random, would keep {percent(chance)}: a receiver can do no "
            "more with these than with a lottery",
            is_public=not (book.soft or book.roles.is_shared),  # digits that would tell of S
            hint="readable",
        )
    ]


def about_groups(book: Codebook, request: ReleaseRequest) -> list[Caution]:
    """A warning for each column of categories whose groups were free to join values that are unlike.

    They are joined by what they tell about S alone where no order, tree or groups were named.
    """
    if book.recoding != "global":
        return []
    named = {*request.orders, *request.hierarchies, *request.groups}
    found = []
    for column, recoded in zip(book.roles.public, book.columns, strict=True):
        joined = [g for g in recoded.groups if len(g.members) > 1 and g.label != ANY]
        is_free = not KINDS[column.kind].is_ordered and not isinstance(column.rule, Bins)
        if is_free and joined and column.name not in named:
            widest = max(joined, key=lambda group: len(group.members))
            found.append(
                Caution(
                    "groups of unlike values",
                    f"No order of the values of {column.name!r} was named, so that they were put "
                    f"together by what they give away alone, unlike ones too: {widest.label!r} is one "
                    "group",
                    is_public=False,
                    hint="order",
                    fields={"column": column.name},
                )
            )
    return found


def about_release(
    book: Codebook,
    request: ReleaseRequest,
    n_dropped: int,
    chance: Chance | None,
    told: Joint,
    *,
    measured: Sequence[str] = (),
    held_out: Mapping[str, Any] | None = None,
) -> list[Caution]:
    """Warnings about one release, of which ``told`` is what its rule tells: S and X̂.

    ``measured``: the kept columns that the figures are of too; ``held_out``: how it did on records held
    out, if it was tried.
    """
    leakage = told.information
    found = [_kept(name, name in measured) for name in request.keep]
    small = [s for s in book.symbols if s.count is not None and s.count < SMALL_SYMBOL]
    if small and book.roles.weight is None:
        what = "combination" if book.columns else "symbol"
        found.append(
            Caution(
                f"small {'groups' if book.columns else 'symbols'}",
                f"{several(len(small), f'released {what}')} of {number(len(book.symbols))} "
                f"{'stands' if len(small) == 1 else 'stand'} for fewer than {SMALL_SYMBOL} "
                f"records. A rare {what} can point at a person.",
                hint="min-count",
                fields={"least": SMALL_SYMBOL},
            )
        )
    if request.is_by_hand:
        found.append(
            Caution(
                "the choice of the groups",
                "Groups that were moved by hand until they gave away little depend on the sensitive "
                "values: someone who knows every other record may learn something about a person's "
                "from where they end. Leakage does not measure this.",
                is_public=False,
            )
        )
    elif request.choose_on is None:
        found.append(
            Caution(
                "the choice of the code",
                "The search is no secret and for one table ends at one code. Someone who knows every "
                "other record, runs it again for each value that a person's sensitive columns may "
                "have, and compares with the codebook, can often tell which it is. Leakage does not "
                "measure this",
                is_public=False,
                hint="choose-on",
            )
        )
    if len(book.symbols) == 1:
        text = "Every record gets the same symbol: the release tells nothing."
        found.append(Caution("nothing is told", text))
    if book.soft and request.key is not None:
        found.append(
            Caution(
                "records that come back",
                "A record has the same draw wherever its key and the secret are the same, but a later "
                "search ends at another code, and under that the same draw can be another symbol. "
                "Two symbols of one record tell more than one",
                is_public=False,
                hint="apply",
            )
        )
    if n_dropped:
        found.append(_left_out(n_dropped, request.shuffle))
    if chance is not None and chance.mean_bits > leakage + NOTHING:
        found.append(_fitted(chance, leakage, held_out is not None))
    elif book.columns and chance is not None and chance_matters(chance, leakage, told.entropy_s):
        found.append(
            Caution(
                "chance",
                f"Of the {leakage:.3g} bits that the release gives away of these records, "
                f"{chance.mean_bits:.3g} are there as well with the sensitive values dealt to the "
                "records at random: so many combinations with so few records each show links that "
                "are none.",
                is_public=False,
            )
        )
    if held_out is not None and only_looks_better(held_out):
        found.append(_looks_better(held_out))
    return found


def only_looks_better(held_out: Mapping[str, Any]) -> bool:
    """Whether a local recoding gives away less than a global one of the records it was made from only."""
    other = held_out["global"]
    if other is None or other["own"]["leakage"] <= held_out["own"]["leakage"]:
        return False
    return beyond_chance(other["unseen"]) <= beyond_chance(held_out["unseen"])


def _looks_better(held_out: Mapping[str, Any]) -> Caution:
    own, other = held_out, held_out["global"]
    return Caution(
        "local recoding only looks better",
        f"Of the records it was made from it gives away {bits(own['own']['leakage_bits'])}, a global "
        f"recoding that keeps as much {bits(other['own']['leakage_bits'])}. Of records that neither has "
        f"seen it is {bits(beyond_chance(own['unseen']))} and {bits(beyond_chance(other['unseen']))}, "
        "without what chance shows.",
        is_public=False,
        hint="global",
    )


def _left_out(n_dropped: int, is_shuffled: bool) -> Caution:
    text = left_out(n_dropped)
    if is_shuffled:
        return Caution("records left out", text, is_public=False)
    text += " The rows are in the table's order, so that who knows some of them can tell which."
    return Caution("records left out", text, is_public=False, hint="shuffle")


def _kept(name: str, is_measured: bool) -> Caution:
    told = (
        "What is given away is measured of all that goes out, this column included."
        if is_measured
        else "It is different in nearly every row, so it is left out of the figures: whoever can look "
        "it up elsewhere knows whose row it is."
    )
    return Caution(
        "kept column is not protected",
        f"The column {name!r} is passed through as it is: nothing about it is protected. {told}",
    )


def few_records(stakes: Stakes) -> Caution:
    """What figures of few records are worth."""
    records = several(stakes.n_records or 0, "record")
    text = (
        f"{records} are few for {several(stakes.n_s, 'different sensitive value')} and "
        f"{several(stakes.n_x, 'public value')}. "
    )
    if stakes.chance is not None:
        by_chance, measured = bits(stakes.chance.mean_bits), bits(stakes.information)
        text += (
            "With the sensitive values shuffled among the records at random, the public columns still "
            f"seem to tell {by_chance} about them, "
        )
        if stakes.chance.mean_bits < stakes.information:
            text += f"out of the {measured} measured. "
        else:
            text += f"no less than the {measured} measured: all of it may be chance. "
    text += (
        f"Leakage here describes these {records}: what one learns of them who knows how often each "
        "value goes with which sensitive ones. It says little about people who are not in the table."
    )
    return Caution("few records", text, is_public=False)


def _fitted(chance: Chance, leakage: float, is_held_out: bool) -> Caution:
    told = round(leakage, 6)
    shown = "; this report shows how much." if is_held_out else "."
    return Caution(
        "fitted to these records",
        f"This release was chosen to look good on these very records: it gives away {told:.3g} "
        f"bits, less than the {chance.mean_bits:.3g} bits that the same coding gives away, on "
        "average, with the sensitive values dealt to the records at random. Applied to "
        f"other records it may give away more{shown}",
        is_public=False,
        hint="" if is_held_out else "holdout",
    )
