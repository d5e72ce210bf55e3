"""Audit page: an audit's document as one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privacyfunnel.report import audit_words as words
from privacyfunnel.report.escape import safe
from privacyfunnel.report.figures import listed
from privacyfunnel.report.shell import shell

Document = Mapping[str, Any]
ATTACKERS = (
    "Each attacker learns on a part of the records to guess a sensitive column and is tried on the "
    "rest. More right guesses than the most frequent value gives, and bits gained above 0, are what a "
    "real attacker wins; ± is twice the standard error. Less is safer; below 0 the attacker fooled "
    "itself."
)


def audit_page(document: Document) -> str:
    """The whole page of an audit."""
    sections = [
        "<h1>Audit report</h1>",
        f'<p class="lead">What {safe(listed(document["public"]))} '
        f"tell about {safe(listed(document['sensitive']))}.</p>",
        *(_caution(line) for line in words.verdict(document)),
        *(f"<p>{safe(line)}</p>" for line in words.headline(document)),
        *(
            f"<h2>{title}</h2>\n{_measures(document, keys)}"
            for title, keys in words.SECTIONS.items()
        ),
    ]
    if document["columns"]:
        columns = _table(words.COLUMNS, words.column_rows(document), range(1, 9))
        sections.append(f"<h2>Each sensitive column</h2>\n{columns}")
    attacks = words.attacker_rows(document)
    if attacks:
        table = _table(words.ATTACKERS, attacks, (3, 4, 5))
        sections.append(f"<h2>Attackers</h2>\n<p>{ATTACKERS}</p>\n{table}")
    made = f"{document['tool']}, seed {document['settings']['seed']}"
    sections.append(f'<p class="safe">Made with {safe(made)}.</p>')
    return shell("Audit report", "\n".join(sections))


def _caution(line: str) -> str:
    return f'<div class="caution" role="note"><b>{safe(line)}</b></div>'


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> str:
    def cells(tag: str, row: Sequence[str]) -> str:
        return "".join(
            f'<{tag} class="n">{safe(text)}</{tag}>'
            if i in numbers
            else f"<{tag}>{safe(text)}</{tag}>"
            for i, text in enumerate(row)
        )

    body = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return (
        f'<div class="scroll"><table><thead><tr>{cells("th", head)}</tr></thead>'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _measures(document: Document, keys: Sequence[str]) -> str:
    rows, titles = words.measure_rows(document, keys), words.measure_titles(document)
    table = _table(titles, rows, range(1, len(titles) - 1)) if rows else ""
    why = (f'<p class="safe">{safe(line)}</p>' for line in words.missing(document, keys))
    return "\n".join([table, *why])
