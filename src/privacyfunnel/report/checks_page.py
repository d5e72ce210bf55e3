"""Checks page: the parts of a release's report that audit it and try it on records it has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privacyfunnel.report import attacker_words, holdout_words
from privacyfunnel.report.audit_sections import measures, sections, table
from privacyfunnel.report.escape import safe
from privacyfunnel.report.figures import listed

Document = Mapping[str, Any]
HARD = {"value": "released", "original": "as it is"}
SOFT = {"rule": "by the rule", "value": "in this file", "original": "as it is"}


def audit_part(document: Document) -> str:
    """All measures of the release beside those of the columns as they are."""
    audit, soft = document["audit"], document["release"]["code"] == "channel"
    lines = [_what_is_compared(audit, soft), *attacker_words.attackers(audit)]
    texts = [f"<p>{safe(line)}</p>" for line in lines]
    return "\n".join([*texts, *sections(audit, SOFT if soft else HARD, "h3")])


def public_part(document: Document) -> str:
    """The measures of the file as a table, which say nothing about S."""
    audit = document["audit"]
    keys = [row["key"] for row in audit["measures"]]
    return measures(audit, keys, {"value": "released"})


def held_out_part(document: Document) -> str:
    """What the method does on records that it has not seen."""
    head, *body = holdout_words.rows(document)
    lines = [holdout_words.what_was_checked(document), holdout_words.what_was_found(document)]
    texts = [f"<p>{safe(line)}</p>" for line in lines]
    near = f'<p class="safe">{safe(holdout_words.NEARER)}</p>'
    return "\n".join([*texts, table(head, body, (1, 2), "figures"), near])


def _what_is_compared(audit: Document, soft: bool) -> str:
    original = f"“As it is”: {listed(audit['original'])}, were they published unchanged."
    if not soft:
        return f"“Released”: the symbols of the file that was written. {original}"
    return (
        "“By the rule”: what the rule by which symbols are drawn tells, on average over all draws. "
        "“In this file”: what the one draw that was written shows; the fewer records, the more of it "
        f"is accident. {original}"
    )
