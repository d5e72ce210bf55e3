"""Growing frontier: what a running sweep has found so far, read from its checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from privacyfunnel.codes import Partition
from privacyfunnel.information import share
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import Objective
from privacyfunnel.solvers.tradeoff import undominated


class GrowingFrontier:
    """Reads the new lines of a checkpoint and measures their codes; the best are kept.

    >>> import tempfile
    >>> from privacyfunnel.objectives import Funnel
    >>> path = Path(tempfile.mkdtemp()) / "checkpoint.jsonl"
    >>> growing = GrowingFrontier(Joint.from_counts([[1, 0], [0, 1]]), path, Funnel(0.0))
    >>> _ = path.write_text('{"task": "a", "labels": [0, 1]}\\n{"task": "b", "la')
    >>> growing.read()
    [{'kept': 1.0, 'leakage': 1.0, 'n_symbols': 2}]
    """

    def __init__(self, joint: Joint, path: Path, aim: Objective) -> None:
        self.joint, self.path, self.aim = joint, path, aim
        self._place = 0
        self._found: list[dict[str, Any]] = []

    def read(self) -> list[dict[str, Any]]:
        """All points so far that no other beats, by rising utility."""
        if not self.path.exists():
            return []
        with self.path.open("rb") as file:
            file.seek(self._place)
            for line in file:
                if not line.endswith(b"\n"):  # still being written
                    break
                self._place += len(line)
                self._add(json.loads(line))
        if self._found:
            places = np.array([(point["kept"], point["leakage"]) for point in self._found])
            self._found = [self._found[i] for i in undominated(places, "funnel")]
        return self._found

    def _add(self, entry: dict[str, Any]) -> None:
        if "labels" not in entry:  # the first line names the sweep
            return
        code, joint, aim = Partition(entry["labels"]), self.joint, self.aim
        self._found.append(
            {
                "kept": share(aim.utility(joint, code), aim.whole_utility(joint)),
                "leakage": share(aim.leakage(joint, code), aim.whole_leakage(joint)),
                "n_symbols": code.n_symbols,
            }
        )
