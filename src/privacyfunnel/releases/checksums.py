"""Checksums: a fingerprint of every file of a release, in a file that vouches for itself too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from privacyfunnel.codebook.checks import checksum

FORMAT, VERSION = "privacyfunnel checksums", 1
BLOCK = 1 << 20


def checksums(folder: Path, names: Sequence[str]) -> str:
    """The text of the file that tells the fingerprints of these files of a folder."""
    return _text({name: fingerprint(folder / name) for name in names})


def fingerprint(path: Path) -> str:
    """A file's fingerprint; of a folder of parts, as clusters write, that of all of them in order.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = place.write_bytes(b"hello")
    >>> fingerprint(place)[:15]
    'sha256:2cf24dba'
    """
    found = sha256()
    for part in sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]:
        with part.open("rb") as file:
            while block := file.read(BLOCK):
                found.update(block)
    return f"sha256:{found.hexdigest()}"


def read_checksums(path: Path) -> dict[str, str] | None:
    """The fingerprints by name; None where a byte of the file is not as it was written."""
    try:
        text = path.read_bytes().decode("utf-8")
        files = json.loads(text)["files"]
        whole = all(isinstance(v, str) for v in files.values()) and text == _text(files)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return dict(files) if whole else None


def _text(files: dict[str, str]) -> str:
    document: dict[str, Any] = {"format": FORMAT, "version": VERSION, "files": files}
    document["checksum"] = checksum(document)
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
