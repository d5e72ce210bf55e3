"""Queue: tasks in processes of their own, a few at a time, the rest in a queue; any can be stopped."""

from __future__ import annotations

import multiprocessing
import secrets
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import forkserver
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from privacyfunnel.files import in_words
from privacyfunnel.studio.worker.process import perform

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

ACTIVE = ("queued", "running")
DIED = (
    "The work ended before it was done; the machine may have run out of memory. Try fewer columns, "
    "or coarsen them into bins."
)


@dataclass(eq=False)
class Job:
    """One task: what is known about it so far. Its id cannot be guessed."""

    kind: str  # the name of its task
    arguments: Mapping[str, Any]
    parent: Path  # its private folder is in here
    id: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    state: str = "queued"  # then running; then done, failed or cancelled
    done: int = 0
    total: int = 0
    news: dict[str, Any] = field(default_factory=dict)  # what the task says while it runs
    result: Any = None
    error: str = ""
    process: BaseProcess | None = None
    future: Future[None] | None = None

    @property
    def folder(self) -> Path:
        """A private folder of its own."""
        return self.parent / self.id

    @property
    def is_active(self) -> bool:
        """Whether it still waits or runs."""
        return self.state in ACTIVE


class JobQueue:
    """Runs jobs, at most ``workers`` at once, first come, first served.

    A thread watches over each running process; it only waits, so the server stays free.
    """

    def __init__(self, workers: int) -> None:
        self._watchers = ThreadPoolExecutor(workers, thread_name_prefix="studio-job")
        self._context = _context()
        self._lock = Lock()
        self._queue: list[Job] = []

    def start(self, job: Job) -> Job:
        """Put a job in the queue."""
        with self._lock:
            self._queue.append(job)
        job.future = self._watchers.submit(self._watch, job)
        return job

    def cancel(self, job: Job) -> None:
        """Stop a job, whether it waits or runs; one that has ended stays as it is."""
        with self._lock:
            if not job.is_active:
                return
            job.state = "cancelled"
            if job in self._queue:
                self._queue.remove(job)
            if job.process is not None:
                job.process.kill()

    def ahead(self, job: Job) -> int:
        """How many jobs wait before this one."""
        with self._lock:
            return self._queue.index(job) if job in self._queue else 0

    def close(self, jobs: list[Job]) -> None:
        """Stop all jobs and wait until their processes are gone."""
        for job in jobs:
            self.cancel(job)
        self._watchers.shutdown(wait=True, cancel_futures=True)

    def _watch(self, job: Job) -> None:
        """From the queue to the end of a job's process, in a thread of its own."""
        with self._lock:
            if job.state != "queued":
                return
            self._queue.remove(job)
            job.state = "running"
        receiver, sender = self._context.Pipe(duplex=False)
        try:
            process = self._start(job, sender)
        except OSError as error:
            receiver.close()
            self._end(job, f"No process could be started for this: {in_words(error)}.")
            return
        finally:
            sender.close()
        with receiver:
            self._listen(job, receiver)
        process.join()
        self._end(job, DIED)
        process.close()

    def _start(self, job: Job, sender: Any) -> BaseProcess:
        arguments = (sender, job.kind, dict(job.arguments), str(job.folder))
        # Both kinds of context have Process, but their common base is not typed to have it.
        process: BaseProcess = self._context.Process(  # type: ignore[attr-defined]
            target=perform, args=arguments, daemon=True
        )
        process.start()  # may take a second, so without the lock that the server may wait for
        with self._lock:
            job.process = process
            if job.state == "cancelled":
                process.kill()
        return process

    def _end(self, job: Job, why: str) -> None:
        """The process is gone: a job that has not said how it ended has failed."""
        with self._lock:
            job.process = None
            if job.state == "running":
                job.state, job.error = "failed", why

    def _listen(self, job: Job, receiver: Any) -> None:
        """Note what the process says until it ends."""
        while True:
            try:
                word, value = receiver.recv()
            except (EOFError, OSError):
                return
            with self._lock:
                if job.state != "running":
                    return
                if word == "progress":
                    job.done, job.total = value
                elif word == "news":
                    job.news.update(value)
                elif word == "done":
                    job.state, job.result = "done", value
                else:
                    job.state, job.error = "failed", value


def _context() -> BaseContext:
    """Processes forked from a helper that has the library loaded, where the system can do that."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["privacyfunnel.studio.worker.warm"])
    forkserver.ensure_running()
    return context
