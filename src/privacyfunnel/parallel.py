"""Parallel: the same task many times, in processes or threads, with results in the tasks' order."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from numbers import Integral
from typing import Any

from privacyfunnel.errors import InvalidInput

Tick = Callable[[], None]
Progress = Callable[[int, int], None]  # done, total


def tell(progress: Progress | None, done: int, total: int) -> None:
    """Tell a progress bar how far a task is, if there is one."""
    if progress is not None:
        progress(done, total)


class Ticks:
    """Counts ticks and passes (done, total) on to a progress bar, if there is one.

    >>> tick = Ticks(2, lambda done, total: print(done, "of", total))
    >>> tick()
    1 of 2
    """

    def __init__(self, total: int, progress: Progress | None = None) -> None:
        self.done, self.total, self.progress = 0, total, progress

    def __call__(self) -> None:
        self.done += 1
        tell(self.progress, self.done, self.total)


def check_jobs(n_jobs: int) -> int:
    """A number of processes; -1 stands for one on each core."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise InvalidInput(
            f"n_jobs must not be {n_jobs!r}; 1 is one process, -1 one for each core."
        )
    return int(n_jobs)


def in_parallel(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    n_jobs: int = 1,
    tick: Tick | None = None,
    *,
    threads: bool = False,
) -> list[Any]:
    """``function(*task)`` for each task, in order; ``tick`` is called after each.

    >>> in_parallel(divmod, [(7, 2), (9, 4)])
    [(3, 1), (2, 1)]
    """
    results = []
    with closing(as_they_come(function, tasks, n_jobs, threads=threads)) as coming:
        for result in coming:
            results.append(result)
            if tick is not None:
                tick()
    return results


def as_they_come(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    n_jobs: int = 1,
    *,
    threads: bool = False,
) -> Generator[Any, None, None]:
    """``function(*task)`` for each task, in order, each as soon as it is there.

    ``threads`` are for tasks that spend their time in compiled code, which lets other threads run: a
    process has to import everything first, which takes it a second or more.

    Close it (``contextlib.closing``) where not all may be taken: the end of one that is forgotten ends
    the processes, which all calls share, and whoever uses them at that moment would wait for ever.
    """
    from multiprocessing import resource_tracker

    from joblib import Parallel, delayed
    from joblib.externals.loky.backend import resource_tracker as tracker_of_joblib

    prefer = "threads" if threads else None
    pool = Parallel(n_jobs=check_jobs(n_jobs), return_as="generator", prefer=prefer)
    if n_jobs != 1 and not threads:
        for tracker in (resource_tracker, tracker_of_joblib):
            tracker.ensure_running()  # its start lets interrupts through again, so it comes first
    running: Generator[Any, None, None] | None = None
    try:
        with _interrupts_wait():
            running = pool(delayed(function)(*task) for task in tasks)
        for result in running:  # noqa: UP028 ("yield from" would close it outside of what follows)
            yield result
    finally:
        if running is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that tasks were cancelled is what is wanted
                running.close()


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Hold Ctrl-C back for a moment.

    Processes that are started meanwhile never hear it: ours does, once it goes on, and ends them.
    """
    if not hasattr(signal, "pthread_sigmask"):  # not on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
