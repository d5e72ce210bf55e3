"""Queue: tasks in processes of their own, a few at a time, the rest waiting; any can be stopped."""

from __future__ import annotations

import logging
import multiprocessing
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing import forkserver
from pathlib import Path
from threading import Condition, Event, Thread
from typing import TYPE_CHECKING, Any

import psutil

from privacyfunnel.errors import InvalidInput
from privacyfunnel.files import in_words
from privacyfunnel.studio.worker.process import MEMORY, perform

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

ACTIVE = ("queued", "running")
AT_ONCE = ("begin", "lay")  # take a part of a second, and somebody waits for them
DIED = (
    "The work ended before it was done; the machine may have run out of memory. Try fewer columns, "
    "or coarsen them into bins."
)
BUSY = "too many tasks of others wait already; try again in a while."
GUESTS_WAITING = 40  # tasks of visitors without the token that may wait, all together
MEMORY_SHARE = 0.5  # of the machine's memory that one task may take
LOOK = 0.25  # seconds between two looks at what a task takes

logger = logging.getLogger("uvicorn.error")


@dataclass(eq=False)
class Job:
    """One task: what is known about it so far. Its id cannot be guessed."""

    kind: str  # the name of its task
    arguments: Mapping[str, Any]
    parent: Path  # its private folder is in here
    is_trusted: bool = True  # asked for by who came with the token of the terminal
    id: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    state: str = "queued"  # then running; then done, failed or cancelled
    done: int = 0
    total: int = 0
    news: dict[str, Any] = field(default_factory=dict)  # what the task says while it runs
    result: Any = None
    error: str = ""
    process: BaseProcess | None = None
    started: float = field(default_factory=time.monotonic)
    answered: Event = field(default_factory=Event)  # it has said how it ended, or never will

    @property
    def folder(self) -> Path:
        """A private folder of its own."""
        return self.parent / self.id

    @property
    def seconds(self) -> float:
        """How long it has waited or run."""
        return time.monotonic() - self.started

    @property
    def is_quick(self) -> bool:
        """Whether it must not wait for searches."""
        return self.kind in AT_ONCE

    @property
    def is_active(self) -> bool:
        """Whether it still waits or runs."""
        return self.state in ACTIVE


@dataclass(eq=False)
class Helper:
    """A process that does jobs, one at a time, and our end of the pipe to it."""

    process: BaseProcess
    pipe: Connection

    def end(self) -> None:
        """Let it end, and wait until it is gone."""
        self.pipe.close()
        self.process.join()
        self.process.close()


class JobQueue:
    """Runs jobs, at most ``workers`` at once, first come, first served.

    Who came with the token never waits for who came without, and what is quick never for what is
    long: their jobs count apart. What is long has a process of its own, which then ends; what is quick
    is done by processes that stay, since to start one takes longer than the job. A thread watches over
    each running process; it only waits, so the server stays free.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._context = _context()
        self._changed = Condition()  # guards all below, and the states of the jobs
        self._waiting: list[Job] = []
        self._running: list[Job] = []
        self._idle: list[Helper] = []  # ready for what is quick
        self._most_memory = MEMORY_SHARE * psutil.virtual_memory().total

    def start(self, job: Job) -> Job:
        """Run a job now, or put it in the queue."""
        with self._changed:
            guests = sum(not waiting.is_trusted for waiting in self._waiting)
            if not job.is_trusted and guests >= GUESTS_WAITING:
                raise InvalidInput(BUSY)
            self._waiting.append(job)
            self._run_next()
        return job

    def cancel(self, job: Job) -> None:
        """Stop a job, whether it waits or runs; one that has ended stays as it is."""
        with self._changed:
            if not job.is_active:
                return
            job.state = "cancelled"
            if job in self._waiting:
                self._waiting.remove(job)
                job.answered.set()
            if job.process is not None:
                job.process.kill()

    def ahead(self, job: Job) -> int:
        """How many jobs wait before this one."""
        with self._changed:
            if job not in self._waiting:
                return 0
            before = self._waiting[: self._waiting.index(job)]
            return sum(other.is_trusted or not job.is_trusted for other in before)

    def close(self) -> None:
        """Stop all jobs and wait until their processes are gone."""
        with self._changed:
            for job in [*self._waiting, *self._running]:
                self.cancel(job)
            self._changed.wait_for(lambda: not self._running)
            idle, self._idle = self._idle, []
        for helper in idle:
            helper.end()

    def _run_next(self) -> None:
        """Start what may run now; the lock is held."""
        for job in sorted(self._waiting, key=lambda job: not job.is_trusted):
            beside = [
                other
                for other in self._running
                if other.is_quick == job.is_quick and (other.is_trusted or not job.is_trusted)
            ]
            if len(beside) < self._workers:
                self._waiting.remove(job)
                self._running.append(job)
                job.state, job.started = "running", time.monotonic()
                Thread(target=self._watch, args=(job,), name="studio-job", daemon=True).start()

    def _watch(self, job: Job) -> None:
        """From the start of a job's process to its end, in a thread of its own."""
        try:
            why = self._run(job)
        except OSError as error:
            why = f"No process could be started for this: {in_words(error)}."
        with self._changed:
            job.process = None
            if job.state == "running":  # it has not said how it ended
                job.state, job.error = "failed", why
            job.answered.set()
            self._running.remove(job)
            self._run_next()
            self._changed.notify_all()

    def _run(self, job: Job) -> str:
        """Have a process do a job; why it has ended, if it has not said so itself."""
        helper = self._helper(job)
        with self._changed:
            job.process = helper.process
            if job.state == "cancelled":
                helper.process.kill()
        why = self._listen(job, helper)
        with self._changed:
            job.process = None
            if job.is_quick and job.state in ("done", "failed"):  # ready for another one
                self._idle.append(helper)
                return why
        helper.end()
        return why

    def _helper(self, job: Job) -> Helper:
        """A process that waits for a job."""
        with self._changed:
            if job.is_quick and self._idle:
                return self._idle.pop()
        ours, theirs = self._context.Pipe()
        try:
            # Both kinds of context have Process, but their common base is not typed to have it.
            process: BaseProcess = self._context.Process(  # type: ignore[attr-defined]
                target=perform, args=(theirs,), daemon=True
            )
            process.start()  # may take a second, so without the lock that the server may wait for
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        return Helper(process, ours)

    def _listen(self, job: Job, helper: Helper) -> str:
        """Give the job to a process and note what it says until it is done, ends or takes too much."""
        try:
            helper.pipe.send((job.kind, dict(job.arguments), str(job.folder)))
        except OSError:
            return DIED
        while True:
            try:
                while not helper.pipe.poll(LOOK):
                    if _memory_of(helper.process) > self._most_memory:
                        helper.process.kill()
                        return MEMORY
                word, value = helper.pipe.recv()
            except (EOFError, OSError):
                return DIED
            with self._changed:
                if job.state != "running":
                    return DIED
                if word == "progress":
                    job.done, job.total = value
                elif word == "news":
                    job.news.update(value)
                elif word == "broken":
                    logger.error("A task of the studio has failed:\n%s", value)
                else:
                    job.state = word  # done or failed
                    job.result, job.error = (value, "") if word == "done" else (None, value)
                    job.answered.set()
                    return ""


def _memory_of(process: BaseProcess) -> int:
    """Bytes of memory that a process holds."""
    try:
        held: int = psutil.Process(process.pid).memory_info().rss
    except psutil.Error:  # it has just ended
        return 0
    return held


def _context() -> BaseContext:
    """Processes forked from a helper that has the library loaded, where the system can do that."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["privacyfunnel.studio.worker.warm"])
    forkserver.ensure_running()
    return context
