"""Audit sections: an audit's tables as HTML, for a page of its own and for a release's report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privacyfunnel.report import attacker_words
from privacyfunnel.report import audit_words as words
from privacyfunnel.report.escape import safe
from privacyfunnel.report.figures import number, several

Document = Mapping[str, Any]
ATTACKERS = (
    "Each attacker learns on a part of the records to guess a sensitive column and is tried on the "
    "rest. More right guesses than the most frequent value gives, and bits gained above 0, are what a "
    "real attacker wins; ± is twice the standard error. Less is safer; below 0 the attacker fooled "
    "itself."
)
EACH_COLUMN = (
    "Each column alone: the share and the bits that are given away, the bits that chance alone would "
    "show, how often chance reaches the data (p), the best guess without and with the data, l-diversity "
    "and t-closeness."
)


def sections(
    document: Document, titles: Mapping[str, str] = words.PUBLISHED, heading: str = "h2"
) -> list[str]:
    """All tables of an audit, each under a heading; ``titles`` names the figures of a measure."""

    def section(title: str, *parts: str) -> str:
        return "\n".join([f"<{heading}>{title}</{heading}>", *parts])

    found = [
        section(title, measures(document, keys, titles)) for title, keys in words.SECTIONS.items()
    ]
    if document["columns"]:
        columns = table(words.COLUMNS, words.column_rows(document), range(1, 9), "figures")
        of_what = f", {titles['value']}" if "rule" in titles else ""
        title = f"Each sensitive column{of_what}"
        found.append(section(title, f"<p>{EACH_COLUMN}</p>", columns))
    attacks = attacker_words.attacker_rows(document)
    if attacks:
        tried = table(attacker_words.TITLES, attacks, (3, 4, 5), "figures")
        found.append(section("Attackers", f"<p>{ATTACKERS}{_drawn(document)}</p>", tried))
    return found


def _drawn(document: Document) -> str:
    """How many records the attackers got, where it is not all of them."""
    got = max(attack["n_records"] for attack in document["attackers"])
    if got == document["records"]:
        return ""
    return f" They got {several(got, 'record')} of {number(document['records'])}, drawn at random."


def measures(
    document: Document, keys: Sequence[str], titles: Mapping[str, str] = words.PUBLISHED
) -> str:
    """A table of some measures, and why others of them are not available."""
    rows = words.measure_rows(document, keys, titles)
    head = words.measure_titles(document, keys, titles)
    found = table(head, rows, range(1, len(head) - 1), "measures") if rows else ""
    why = (f'<p class="safe">{safe(line)}</p>' for line in words.missing(document, keys))
    return "\n".join([found, *why])


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int], kind: str = ""
) -> str:
    """A table of texts; the columns at the places ``numbers`` are set as figures."""
    kind = f' class="{kind}"' if kind else ""

    def cell(tag: str, i: int, text: str) -> str:
        # On a narrow screen, where the head is hidden, a figure shows the title of its column.
        of = f' class="n" data-of="{safe(head[i])}"' if i in numbers else ""
        return f"<{tag}{of}>{safe(text)}</{tag}>"

    def line(tag: str, row: Sequence[str]) -> str:
        return f"<tr>{''.join(cell(tag, i, text) for i, text in enumerate(row))}</tr>"

    body = "\n".join(line("td", row) for row in rows)
    return (
        f'<div class="scroll"><table{kind}><thead>{line("th", head)}</thead>'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )
