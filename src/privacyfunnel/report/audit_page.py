"""Audit page: an audit's document as one HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privacyfunnel.report import audit_words as words
from privacyfunnel.report.audit_sections import sections
from privacyfunnel.report.escape import safe
from privacyfunnel.report.figures import listed
from privacyfunnel.report.shell import shell


def audit_page(document: Mapping[str, Any]) -> str:
    """The whole page of an audit."""
    made = f"{document['tool']}, seed {document['settings']['seed']}"
    parts = [
        "<h1>Audit report</h1>",
        f'<p class="lead">What {safe(listed(document["public"]))} '
        f"{'tells' if len(document['public']) == 1 else 'tell'} about "
        f"{safe(listed(document['sensitive']))}.</p>",
        *_verdict(document),
        *(f"<p>{safe(line)}</p>" for line in words.headline(document)),
        *sections(document),
        f'<p class="safe">Made with {safe(made)}.</p>',
    ]
    return shell("Audit report", "\n".join(parts))


def _verdict(document: Mapping[str, Any]) -> list[str]:
    """Each limit that is broken as a warning; that all are kept as a plain line."""
    lines = [f"<b>{safe(line)}</b>" for line in words.verdict(document)]
    if (document.get("limits") or {}).get("broken"):
        return [f'<div class="caution" role="note">{line}</div>' for line in lines]
    return [f"<p>{line}</p>" for line in lines]
