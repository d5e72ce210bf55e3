"""Sessions: one visitor's table, answers and jobs, behind a cookie that cannot be guessed."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacyfunnel.studio.answers import Answers, Search, guess, with_roles
from privacyfunnel.studio.jobs import Job, Jobs
from privacyfunnel.studio.sources import DEMO_ROLES, Source

if TYPE_CHECKING:
    from privacyfunnel.releases import Asked

# Each kind of job makes those after it out of date when it starts anew.
FOLLOWERS = {
    "look": ("inspect", "search", "compare", "choose", "release"),
    "inspect": ("search", "compare", "choose", "release"),
    "search": ("compare", "choose", "release"),
    "compare": (),
    "choose": (),
    "release": (),
}
MOST = 500  # sessions that are remembered; then one without a table goes, not seen for longest


@dataclass(eq=False)
class Session:
    """What one visitor has done so far. ``is_trusted``: came with the token of the terminal."""

    folder: Path
    jobs: Jobs
    is_trusted: bool = False
    source: Source | None = None
    answers: Answers | None = None
    search: Search | None = None
    chosen: Asked | None = None
    made: Asked | None = None
    notice: str = ""  # an error to show once
    work: dict[str, Job] = field(default_factory=dict)

    def start(self, kind: str, **arguments: Any) -> Job:
        """Start a job of a kind; the last of that kind, and what followed from it, is dropped."""
        for old in (kind, *FOLLOWERS[kind]):
            self.drop(old)
        job = Job(kind, arguments, self.folder)
        self.work[kind] = job
        return self.jobs.start(job)

    def drop(self, kind: str) -> None:
        """Stop and forget a job."""
        job = self.work.pop(kind, None)
        if job is not None:
            self.jobs.cancel(job)
            shutil.rmtree(job.folder, ignore_errors=True)

    def done(self, kind: str) -> Any:
        """The result of a job, or None while there is none."""
        job = self.work.get(kind)
        return job.result if job is not None and job.state == "done" else None

    def current_answers(self) -> Answers | None:
        """What the user has said about the columns, or our guess until then."""
        looked = self.done("look")
        if self.answers is None and looked is not None and self.source is not None:
            self.answers = guess(looked["columns"])
            if self.source.origin == "demo":
                self.answers = with_roles(self.answers, *DEMO_ROLES)
        return self.answers

    def inspected_answers(self) -> Answers | None:
        """The answers that the search and all after it are about, whatever was filled in since."""
        if self.done("inspect") is None:
            return None
        answers: Answers = self.work["inspect"].arguments["answers"]
        return answers

    def job(self, job_id: str) -> Job | None:
        """A job of this session; those of others do not exist for it."""
        return next((job for job in self.work.values() if job.id == job_id), None)

    def make_folder(self) -> Path:
        """The session's private folder."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        return self.folder

    def clear(self) -> None:
        """Forget the table and everything made from it."""
        for kind in list(self.work):
            self.drop(kind)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.source = self.answers = self.search = self.chosen = self.made = None


class Sessions:
    """All sessions by the secret of their cookie."""

    def __init__(self, folder: Path, jobs: Jobs) -> None:
        self._folder, self._jobs = folder, jobs
        self._known: dict[str, Session] = {}

    def __iter__(self) -> Iterator[Session]:
        return iter(self._known.values())

    def find(self, secret: str | None) -> Session | None:
        """The session of a cookie."""
        session = self._known.pop(secret, None) if secret else None
        if session is not None and secret:
            self._known[secret] = session  # now the last seen
        return session

    def open(self, is_trusted: bool) -> tuple[str, Session]:
        """A new session and the secret of its cookie."""
        while len(self._known) >= MOST:
            idle = (secret for secret, session in self._known.items() if session.source is None)
            self._known.pop(next(idle, next(iter(self._known)))).clear()
        secret = secrets.token_urlsafe(32)
        session = Session(self._folder / secrets.token_hex(8), self._jobs, is_trusted)
        self._known[secret] = session
        return secret, session
