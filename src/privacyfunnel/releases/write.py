"""Write: the codebook and the report beside the released table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacyfunnel.releases.document import without_sensitive
from privacyfunnel.releases.request import CODEBOOK, DOCUMENT, PAGE
from privacyfunnel.report.page import page

if TYPE_CHECKING:
    from privacyfunnel.codebook import Codebook


def write_report(
    folder: Path, book: Codebook, document: Mapping[str, Any], *, is_public: bool
) -> None:
    """Codebook, page and document; with ``is_public`` without any statistic about S."""
    shown = without_sensitive(document) if is_public else document
    (book.public() if is_public else book).save(folder / CODEBOOK)
    (folder / PAGE).write_text(page(shown), encoding="utf-8", newline="\n")
    text = json.dumps(shown, indent=1, ensure_ascii=False, allow_nan=False)
    (folder / DOCUMENT).write_text(text + "\n", encoding="utf-8", newline="\n")
