"""Checkpoint: what a long sweep has found so far, one line of JSON each, so that it can go on."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from privacyfunnel.codes import Code, Partition
from privacyfunnel.errors import DataUnavailable, InvalidInput
from privacyfunnel.solvers.base import Status

FORMAT = "privacyfunnel-checkpoint-1"

Found = tuple[Code, Status]


@dataclass
class Checkpoint:
    """Finished tasks by name, appended to a file as they come; without a path, memory only.

    A line that was cut off when the sweep was killed, or damaged since, is skipped with a warning.
    """

    path: Path | None
    digest: str  # of everything that decides a sweep's result
    n_x: int  # symbols that each code must cover
    found: dict[str, Found] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.path is None:
            return
        try:
            if self.path.exists() and self.path.stat().st_size > 0:
                self._read(self.path)
            else:
                self._append({"format": FORMAT, "fingerprint": self.digest}, mode="w")
        except OSError as error:
            raise DataUnavailable(f"checkpoint {self.path}: {error.strerror or error}.") from None

    def _read(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8", errors="replace")
        header, *lines = text.split("\n")
        if _parse(header).get("format") != FORMAT:
            raise InvalidInput(f"{path} is not a checkpoint of this version; name another file.")
        if _parse(header).get("fingerprint") != self.digest:
            raise InvalidInput(
                f"{path} is the checkpoint of another table or of other settings; "
                "name another file or delete it."
            )
        for number, line in enumerate(lines, start=2):
            entry = _parse(line)
            try:
                code, status = Partition(entry["labels"]), Status[entry["status"]]
                if code.n_x != self.n_x:
                    raise ValueError("labels of another alphabet")
                self.found[str(entry["task"])] = (code, status)
            except (KeyError, TypeError, ValueError, OverflowError, MemoryError):
                if line:
                    warnings.warn(
                        f"{path}, line {number}: cut off or damaged, skipped.", stacklevel=4
                    )
        if not text.endswith("\n"):  # do not glue the next line to a cut-off one
            with path.open("a", encoding="utf-8") as file:
                file.write("\n")

    def is_optimal(self, task: str) -> bool:
        """Whether nothing better can be found for a task."""
        return task in self.found and self.found[task][1] is Status.OPTIMAL

    def add(self, task: str, code: Code, status: Status) -> None:
        """Note a finished task."""
        self.found[task] = (code, status)
        if self.path is not None:
            if not isinstance(code, Partition):
                raise InvalidInput(
                    "a checkpoint holds hard codes only; this method's are channels."
                )
            self._append({"task": task, "status": status.name, "labels": code.labels.tolist()})

    def _append(self, entry: dict[str, Any], mode: str = "a") -> None:
        assert self.path is not None
        with self.path.open(mode, encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def _parse(line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}
