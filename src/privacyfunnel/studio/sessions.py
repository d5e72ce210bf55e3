"""Sessions: one visitor's table, choices and jobs, behind a cookie that cannot be guessed."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacyfunnel.cli.demo import ROLES
from privacyfunnel.errors import InvalidInput
from privacyfunnel.studio.drafts import History
from privacyfunnel.studio.forms import Choices, SearchSettings, guess, with_roles
from privacyfunnel.studio.sources import Source
from privacyfunnel.studio.worker.queue import Job, JobQueue

if TYPE_CHECKING:
    from privacyfunnel.releases.request import ReleaseRequest

# Each kind of job makes those after it out of date when it starts anew.
BY_HAND = ("begin", "lay", "improve")
OF_A_SEARCH = ("compare", "choose", *BY_HAND, "release")
FOLLOWERS: dict[str, tuple[str, ...]] = {
    "look": ("inspect", "search", *OF_A_SEARCH),
    "inspect": ("search", *OF_A_SEARCH),
    "search": OF_A_SEARCH,
    **dict.fromkeys(BY_HAND, BY_HAND),
}
MOST_GONE = 1000  # jobs that were dropped and are still known to have been
MOST = 100  # sessions that are remembered, of those with the token and of those without it
UNSEEN = 3600.0  # seconds after which a session with a table may make room for another


@dataclass(eq=False)
class Session:
    """What one visitor has done so far. ``is_trusted``: came with the token of the terminal."""

    folder: Path
    queue: JobQueue
    is_trusted: bool = False
    source: Source | None = None
    choices: Choices | None = None
    search: SearchSettings | None = None
    chosen: ReleaseRequest | None = None
    by_hand: History = field(default_factory=History)
    made: ReleaseRequest | None = None
    notice: str = ""  # an error to show once
    jobs: dict[str, Job] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)  # jobs that another took the place of
    uploaded: int = 0  # bytes
    upload: object = None  # the one that is going on
    seen: float = field(default_factory=time.monotonic)

    def start(self, kind: str, **arguments: Any) -> Job:
        """Start a job of a kind; the last of that kind, and what followed from it, is dropped."""
        for old in (kind, *FOLLOWERS.get(kind, ())):
            self.drop(old)
        job = self.queue.start(Job(kind, arguments, self.folder, self.is_trusted))
        self.jobs[kind] = job
        return job

    def drop(self, kind: str) -> None:
        """Stop and forget a job."""
        job = self.jobs.pop(kind, None)
        if job is not None:
            self.gone = [*self.gone, job.id][-MOST_GONE:]
            self.queue.cancel(job)
            shutil.rmtree(job.folder, ignore_errors=True)

    def done(self, kind: str) -> Any:
        """The result of a job, or None while there is none."""
        job = self.jobs.get(kind)
        return job.result if job is not None and job.state == "done" else None

    def current_choices(self) -> Choices | None:
        """What the user has said about the columns, or our guess until then."""
        looked = self.done("look")
        if self.choices is None and looked is not None and self.source is not None:
            self.choices = guess(looked["columns"])
            if self.source.origin == "demo":
                self.choices = with_roles(self.choices, **ROLES)
        return self.choices

    def inspected_choices(self) -> Choices | None:
        """The choices that the search and all after it are about, whatever was filled in since."""
        if self.done("inspect") is None:
            return None
        choices: Choices = self.jobs["inspect"].arguments["choices"]
        return choices

    def job(self, job_id: str) -> Job | None:
        """A job of this session; those of others do not exist for it."""
        return next((job for job in self.jobs.values() if job.id == job_id), None)

    def make_folder(self) -> Path:
        """The session's private folder."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        return self.folder

    def clear(self) -> None:
        """Forget the table and everything made from it."""
        for kind in list(self.jobs):
            self.drop(kind)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.source = self.choices = self.search = self.chosen = self.made = None
        self.by_hand = History()
        self.uploaded = 0


class Sessions:
    """All sessions by the secret of their cookie."""

    def __init__(self, folder: Path, queue: JobQueue) -> None:
        self._folder, self._queue = folder, queue
        self._known: dict[str, Session] = {}

    def __iter__(self) -> Iterator[Session]:
        return iter(self._known.values())

    def find(self, secret: str | None) -> Session | None:
        """The session of a cookie."""
        session = self._known.pop(secret, None) if secret else None
        if session is not None and secret:
            self._known[secret] = session  # now the last seen
            session.seen = time.monotonic()
        return session

    def open(self, is_trusted: bool) -> tuple[str, Session]:
        """A new session and the secret of its cookie.

        Where there are too many, one of the same kind goes: without a table, or not seen for long.
        Visitors without the token never push out one who has it, or one who is at work.
        """
        alike = {k: held for k, held in self._known.items() if held.is_trusted == is_trusted}
        if len(alike) >= MOST:
            idle = [k for k, held in alike.items() if held.source is None]
            old = [k for k, held in alike.items() if time.monotonic() - held.seen > UNSEEN]
            if not (idle or old or is_trusted):
                raise InvalidInput("too many visitors are at work here; try again in a while.")
            self._known.pop([*idle, *old, *alike][0]).clear()
        secret = secrets.token_urlsafe(32)
        session = Session(self._folder / secrets.token_hex(8), self._queue, is_trusted)
        self._known[secret] = session
        return secret, session

    def room_for(self, session: Session, total: int) -> int:
        """Bytes that a session may still upload, where all without the token share a total."""
        if session.is_trusted:
            return total
        others = (held for held in self if not held.is_trusted and held is not session)
        return total - sum(held.uploaded for held in others)
