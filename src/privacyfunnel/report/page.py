"""Page: a document of a release or an audit as one HTML file that opens offline and runs nothing."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import accumulate
from typing import Any

from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from privacyfunnel.codebook import Codebook
from privacyfunnel.codebook.values import decode
from privacyfunnel.codebook.words import FEW
from privacyfunnel.columns import KINDS, MISSING, show
from privacyfunnel.errors import HINTS, Hints
from privacyfunnel.report import (
    attacker_words,
    audit_words,
    holdout_words,
    receiver_words,
    usefulness_words,
    words,
)
from privacyfunnel.report.column_picture import ColumnPicture
from privacyfunnel.report.escape import EMPTY, visible
from privacyfunnel.report.numbers import listed, number, percent, several
from privacyfunnel.report.picture import Picture

Document = Mapping[str, Any]
MOST_GROUPS = 60  # of a column, on the page for receivers
ROOM = 220  # characters for the combinations that are shown of a symbol, and at least one of them
CELL = 70  # characters for the values in a cell
OPTION = re.compile(r"(?<!\S)--[a-z][a-z-]*")


def page(document: Document, hints: Hints = HINTS) -> str:
    """The page of a release, cures in the words of one table of hints.

    A document without sensitive figures makes a page without them.
    """
    title = "Release report" + (" (public)" if document["is_public"] else "")
    return _render("release.html", title, document, hints)


def receiver_page(document: Document, book: Codebook, files: Mapping[str, str]) -> str:
    """The page for those who receive a release: of its public document and codebook, and its files."""
    columns = [(c["name"], c["text"]) for c in receiver_words.released_columns(book, document)]
    symbols = [
        (symbol.label, percent(symbol.probability), *book.stands_for(symbol.label))
        for symbol in sorted(book.symbols, key=lambda symbol: -symbol.probability)
    ]
    return _render(
        "receiver.html", "About this release", document, book=book, files=files, columns=columns,
        symbols=symbols, MOST=MOST_GROUPS,
    )  # fmt: skip


def audit_page(document: Document) -> str:
    """The page of an audit."""
    return _render("audit.html", "Audit report", document)


def frontier_page(
    problem: str, figure: str, formulas: tuple[str, str], sentences: Sequence[str] = ()
) -> str:
    """The page of a frontier around an interactive figure, which is markup; what its axes measure."""
    title = "What a release keeps and what it gives away"
    shown: dict[str, Any] = {"formulas": formulas, "sentences": sentences}
    return _render("frontier.html", title, {}, problem=problem, figure=Markup(figure), **shown)


def templates(*own: BaseLoader, hints: Hints = HINTS) -> Environment:
    """Templates that escape all they are given, the report's behind some of one's ``own``."""
    found = Environment(
        loader=ChoiceLoader([*own, PackageLoader("privacyfunnel.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(
        percent=percent,
        number=number,
        several=several,
        listed=listed,
        quoted=lambda names: [f"“{name}”" for name in names],
        cut=_cut,
        caution_words=lambda caution: _with_whole_options(words.caution(caution, hints)),
        column_words=_column_words,
        picture=Picture.of,
        column_picture=ColumnPicture.of,
        some_members=some_members,
        some_values=some_values,
    )
    found.globals.update(
        words=words,
        attacker_words=attacker_words,
        audit_words=audit_words,
        holdout_words=holdout_words,
        receiver_words=receiver_words,
        usefulness=usefulness_words,
        EMPTY=EMPTY,
        MISSING=MISSING,
    )
    return found


def some_members(symbol: Mapping[str, Any]) -> list[str]:
    """Some of a symbol's combinations; none where what its columns stand for says it all."""
    n, several_columns = symbol["n_values"], len(symbol["stands_for"]) > 1
    if n is None or n == 1 or (n <= FEW and not several_columns):
        return []
    texts = [
        ", ".join(show(decode(part)) or EMPTY for part in member) for member in symbol["members"]
    ]
    return _that_fit(texts, ROOM, " · ")


def some_values(text: str) -> str:
    """Values in a cell, whole ones, as many as there is room for.

    >>> some_values("north | south"), some_values(" | ".join(["north"] * 20))[-11:]
    ('north | south', '| north | …')
    """
    values = text.split(" | ")
    found = _that_fit(values, CELL, " | ")
    shown = " | ".join(_cut(value, 2 * CELL) for value in found)
    return shown if len(found) == len(values) else f"{shown} | …"


def _that_fit(texts: list[str], room: int, between: str) -> list[str]:
    """The first of some texts, at least one, that together are no longer than the room for them."""
    ends = accumulate(len(text) + len(between) for text in texts)
    return texts[: max(1, sum(end <= room + len(between) for end in ends))]


def _render(name: str, title: str, document: Document, hints: Hints = HINTS, **values: Any) -> str:
    style = files("privacyfunnel.report").joinpath("style.css").read_text(encoding="utf-8")
    digest = b64encode(sha256(style.encode()).digest()).decode()
    shown = {"style": Markup(style), "style_digest": Markup(digest), **values}
    found = _environment() if hints is HINTS else templates(hints=hints)
    return found.get_template(name).render(title=title, document=document, **shown)


_environment = cache(templates)


def _shown(value: Any) -> Any:
    """Unseen characters in a value are spelled out, so that none can hide what it is."""
    return visible(value) if type(value) is str else value


def _with_whole_options(text: str) -> Markup:
    """A text whose options of the command do not break at their hyphens, each in a span of its own."""
    return Markup(OPTION.sub(r"<span>\g<0></span>", str(escape(visible(text)))))


def _cut(text: object, most: int) -> str:
    """A text of at most so many characters, cut between words where it has some.

    >>> _cut("a long story", 9), _cut("incomprehensible", 6)
    ('a long…', 'incom…')
    """
    shown = str(text)
    if len(shown) <= most:
        return shown
    whole_words = shown[:most].rpartition(" ")[0].rstrip(" ,;|·")
    return (whole_words or shown[: most - 1]) + "…"


def _column_words(column: Mapping[str, Any]) -> str:
    kind = KINDS.get(column["kind"], column["kind"])
    coarsened = f", {column['coarsened']}" if column.get("coarsened") else ""
    return f"{column['name']}: {kind}{coarsened}"
