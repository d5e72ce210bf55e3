"""Studio: everything that one running studio holds."""

from __future__ import annotations

import multiprocessing.util
from pathlib import Path
from typing import TYPE_CHECKING

from privacyfunnel.studio.private_folder import PrivateFolder
from privacyfunnel.studio.sessions import Sessions
from privacyfunnel.studio.worker.queue import JobQueue

if TYPE_CHECKING:
    from privacyfunnel.studio.settings import Settings


class Studio:
    """Everything that one running studio holds; its folder goes when it closes."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings  # its port is known once the server listens
        self._folder = PrivateFolder()
        self.folder = self._folder.path
        self.queue = JobQueue(settings.workers)
        self._folder.goes_with(Path(multiprocessing.util.get_temp_dir()))  # the queue's own
        self.sessions = Sessions(self.folder, self.queue)

    @property
    def cookie(self) -> str:
        """The name of the cookie; by port, as two studios may share one browser."""
        return f"funnel-studio-{self.settings.port}"

    def close(self) -> None:
        """Stop all work and remove all files."""
        self.queue.close()
        self._folder.close()
