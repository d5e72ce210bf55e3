"""The page: a report's document as one HTML file that opens offline and runs nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privacyfunnel.codebook.values import decode
from privacyfunnel.codebook.words import FEW
from privacyfunnel.columns import KINDS, show
from privacyfunnel.report import words
from privacyfunnel.report.checks_page import audit_part, held_out_part, public_part
from privacyfunnel.report.escape import safe
from privacyfunnel.report.figures import listed, number, percent
from privacyfunnel.report.picture import draw
from privacyfunnel.report.shell import shell

Document = Mapping[str, Any]
LONGEST = 160  # characters of a value list that are shown
EMPTY = "(empty text)"
MEMBERS = 10  # combinations that are shown of a symbol


def page(document: Document) -> str:
    """The whole page. A document without sensitive figures makes a page without them."""
    title = "Release report" + (" (public)" if document["is_public"] else "")
    return shell(title, _body(document, title))


def _body(document: Document, title: str) -> str:
    sections = [
        f"<h1>{title}</h1>",
        f'<p class="lead">{safe(words.what_was_asked(document))}</p>',
        _cards(document),
        _cautions(document["cautions"]),
        _section("What is released", _released(document)),
    ]
    if not document["is_public"]:
        sections += [
            _section("What is kept and what is given away", _scores(document)),
            _section("Where this release stands", _figure(document)),
            _section("What the release tells an attacker", audit_part(document)),
        ]
        if document["held_out"] is not None:
            sections.append(_section("On records that it has not seen", held_out_part(document)))
    else:
        sections.append(_section("The release as a table", public_part(document)))
    sections += [
        _section("What is kept of each column", _columns(document)),
        *_symbols(document),
        _section("How it was made", _made(document)),
    ]
    return "\n".join(sections)


def _section(title: str, body: str) -> str:
    return f"<h2>{title}</h2>\n{body}"


def _paragraphs(*texts: str) -> str:
    return "\n".join(f"<p>{safe(text)}</p>" for text in texts)


def _cards(document: Document) -> str:
    m = document["measured"]
    cards = [(percent(m["utility"]), "utility: share of the public columns' information kept")]
    if not document["is_public"]:
        g, whole = document["guessing"], document["stakes"]["given_away"]
        given = (
            f"leakage: share of the sensitive information given away ({percent(whole)} as it is)"
        )
        right = f"of guesses at the sensitive values are right ({percent(g['blind'])} without data)"
        cards += [(percent(m["leakage"]), given), (percent(g["released"]), right)]
    else:
        cards.append((number(document["release"]["symbols"]), "different symbols are released"))
    inside = "\n".join(
        f'<div class="card"><b>{safe(big)}</b><span>{safe(small)}</span></div>'
        for big, small in cards
    )
    return f'<div class="cards">\n{inside}\n</div>'


def _cautions(cautions: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(
        f'<div class="caution" role="note"><b>{safe(c["about"])}</b>{safe(words.caution(c))}</div>'
        for c in cautions
    )


def _released(document: Document) -> str:
    release = document["release"]
    names = [f"“{name}”" for name in release["columns"]]
    columns = f"the column{'s' if len(names) > 1 else ''} {listed(names)}"
    return _paragraphs(
        words.what_is_released(document),
        f"The file {release['file']} has one row for each record, in the table's order, with "
        f"{columns}. The file codebook.json says which values each symbol stands for.",
    )


def _scores(document: Document) -> str:
    lines = [
        ("Utility", words.utility(document), "More is more useful."),
        ("Leakage", words.leakage(document), "Less is safer; 0% tells nothing at all."),
        (
            "Guessing",
            words.guessing(document),
            "Safer the nearer it is to the figure without the data.",
        ),
        ("Limit", words.limit(document), "The smaller the distance, the less is left to gain."),
    ]
    if document["drawn"] is not None:
        near = "The nearer to what chance would show, the safer."
        lines.append(("This draw", words.drawn(document), near))
    return "\n".join(
        f'<p><b>{name}.</b> {safe(text)} <span class="safe">{safe(direction)}</span></p>'
        for name, text, direction in lines
    )


def _figure(document: Document) -> str:
    caption = (
        "To the right more is kept, further down less is given away. Blue: the best releases found; "
        "filled dots are proved optimal. Red: the limit that no release can beat."
    )
    return f"<figure>\n{draw(document)}\n<figcaption>{caption}</figcaption>\n</figure>"


def _columns(document: Document) -> str:
    rows = [_kept(column) for column in document["columns"]]
    shown = {c["name"] for c in document["columns"]}
    hidden = [c["name"] for c in document["asked"]["public"] if c["name"] not in shown]
    note = f"<p>Not shown, because also sensitive: {safe(listed(hidden))}.</p>" if hidden else ""
    intro = (
        "<p>How much of each column can be read off the released symbol. More is more useful; a "
        "column at 0% is hidden entirely.</p>"
    )
    head = (
        '<tr><th>column</th><th class="n">kept</th><th class="bar"></th>'
        '<th class="n">information</th></tr>'
    )
    body = "\n".join(rows)
    table = f"<table><thead>{head}</thead><tbody>\n{body}\n</tbody></table>" if rows else ""
    return f"{intro}\n{table}\n{note}"


def _kept(column: Mapping[str, Any]) -> str:
    share = percent(column["kept"])
    bar = f'<meter min="0" max="1" value="{min(1.0, column["kept"]):.4f}">{share}</meter>'
    return (
        f'<tr><td class="name">{safe(column["name"], 80)}</td><td class="n">{share}</td>'
        f'<td class="bar">{bar}</td>'
        f'<td class="n">{column["kept_bits"]:.2f} of {column["entropy_bits"]:.2f} bits</td></tr>'
    )


def _symbols(document: Document) -> list[str]:
    found = document["symbols"]
    intro = (
        "<p>A symbol stands for a set of combinations of values; the columns show which values "
        "occur in it, and below them are some of the combinations. codebook.json has them all.</p>\n"
    )
    if not found["smallest"]:
        return [_section("The released symbols", intro + _symbol_table(found["largest"]))]
    return [
        _section("The largest symbols", intro + _symbol_table(found["largest"])),
        _section("The smallest symbols", _symbol_table(found["smallest"])),
    ]


def _symbol_table(symbols: Sequence[Mapping[str, Any]]) -> str:
    columns = [entry["column"] for entry in symbols[0]["stands_for"]]
    titles = ["records", "share", "combinations"]
    head = "<th>symbol</th>" + "".join(f'<th class="n">{title}</th>' for title in titles)
    head += "".join(f"<th>{safe(name, 40)}</th>" for name in columns)
    body = "\n".join(_symbol(symbol) for symbol in symbols)
    return (
        f'<div class="scroll"><table class="wide"><thead><tr>{head}</tr></thead>\n'
        f"{body}\n</table></div>"
    )


def _symbol(symbol: Mapping[str, Any]) -> str:
    """A symbol's sizes and values, and a line with some of its members."""
    count = "" if symbol["count"] is None else number(symbol["count"])
    sizes = {
        "records": count,
        "share": percent(symbol["probability"]),
        "combinations": "" if symbol["n_values"] is None else number(symbol["n_values"]),
    }
    cells = [f'<td class="name"><b>{safe(symbol["label"])}</b></td>']
    cells += [f'<td class="n" data-of="{name}">{text}</td>' for name, text in sizes.items()]
    cells += [
        f'<td class="values" data-of="{safe(entry["column"], 40)}">'
        f"{safe(entry['values'] or EMPTY, LONGEST)}</td>"
        for entry in symbol["stands_for"]
    ]
    return f"<tbody><tr>{''.join(cells)}</tr>{_members(symbol, len(cells))}</tbody>"


def _members(symbol: Mapping[str, Any], width: int) -> str:
    """A line with some of the combinations, where the columns above do not say it all."""
    n, several = symbol["n_values"], len(symbol["stands_for"]) > 1
    if n is None or n == 1 or (n <= FEW and not several):
        return ""
    shown = [
        safe(", ".join(show(decode(part)) or EMPTY for part in member), LONGEST)
        for member in symbol["members"][:MEMBERS]
    ]
    more = f" and {number(n - len(shown))} more" if n > len(shown) else ""
    inside = " · ".join(shown) + more
    return f'<tr class="members"><td></td><td colspan="{width - 1}">{inside}</td></tr>'


def _made(document: Document) -> str:
    asked = document["asked"]
    lines = [
        ("Sensitive", [_column(c) for c in asked["sensitive"]]),
        ("Public", [_column(c) for c in asked["public"]]),
        ("Missing values", [_missing(asked["missing"])]),
        ("Weights", [f"the column {asked['weight']}" if asked["weight"] else "none"]),
        ("Made by", [document["tool"]]),
    ]
    rows = "\n".join(
        f"<tr><th>{name}</th><td>{'<br>'.join(safe(v, 300) for v in values)}</td></tr>"
        for name, values in lines
    )
    table = f'<table class="facts"><tbody>\n{rows}\n</tbody></table>'
    if document["is_public"]:
        return table
    command = safe(document["reproduce"]["command"])
    again = "<p>The same command with the same table makes the same release:</p>"
    return f"{table}\n{again}\n<pre>{command}</pre>"


def _column(column: Mapping[str, Any]) -> str:
    coarsened = f", {column['coarsened']}" if column.get("coarsened") else ""
    return f"{column['name']}: {KINDS.get(column['kind'], column['kind'])}{coarsened}"


def _missing(rule: str) -> str:
    return {
        "symbol": "a value of their own",
        "drop": "records that lack one are left out",
        "error": "not allowed; there are none",
    }[rule]
