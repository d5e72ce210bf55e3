"""Reporter: how a task tells the page how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from privacyfunnel.parallel import Progress


@dataclass(frozen=True)
class Reporter:
    """How a task reports to the page while it runs."""

    pipe: Connection

    def progress(self, done: int, total: int) -> None:
        """How far it is."""
        self.pipe.send(("progress", (done, total)))

    def stage(self, name: str) -> Progress:
        """A new part of the work begins; how far it is."""
        self.show(stage=name)
        self.progress(0, 0)
        return self.progress

    def show(self, **news: Any) -> None:
        """Something to show already."""
        self.pipe.send(("news", news))
