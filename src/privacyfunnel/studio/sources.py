"""Sources: the table that a session works on: uploaded, named by its path, or the demo."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from privacyfunnel.errors import InvalidInput
from privacyfunnel.tables.engines import ENDINGS, is_address

DEMO = "demo.csv"


@dataclass(frozen=True)
class Source:
    """A table: where the studio reads it, what the user calls it, and where it comes from."""

    path: str
    name: str  # in commands and reports; a path stays as the user named it
    origin: str  # upload, path or demo


def safe_name(name: str) -> str:
    """A harmless file name that ends as the uploaded one did; refuses formats that we cannot read.

    >>> safe_name("../../etc/patients 2024.csv"), safe_name("-rf;$(x).tsv.gz")
    ('patients 2024.csv', 'rf_x_.tsv.gz')
    """
    base = re.split(r"[/\\]", name)[-1]
    packed = ".gz" if base.lower().endswith(".gz") else ""
    stem, dot, ending = base[: len(base) - len(packed)].rpartition(".")
    if not dot or f".{ending.lower()}" not in ENDINGS:
        shown = base[-60:] or "a file without a name"
        raise InvalidInput(
            f"cannot read {shown!r}: the name of a table must end in {', '.join(ENDINGS)}; "
            "save it as csv, for example."
        )
    clean = re.sub(r"[^\w .-]+", "_", stem).lstrip(".-_ ")[:80] or "table"
    return f"{clean}.{ending}{packed}"


def named_source(text: str) -> Source:
    """The table that a user names by its path on this machine."""
    text = text.strip()
    if not text or "\0" in text:
        raise InvalidInput("name a file, for example /home/me/patients.csv.")
    path = text if is_address(text) else str(Path(text).expanduser().absolute())
    return Source(path, path, "path")
