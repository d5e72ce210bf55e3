"""Progress bars on a terminal; nothing in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from privacyfunnel.parallel import Progress


@contextmanager
def progress_bar(what: str) -> Iterator[Progress | None]:
    """A callback (done, total) that draws a bar on stderr, or None where stderr is no terminal."""
    with progress_bars() as stages:
        yield stages(what)


@contextmanager
def progress_bars() -> Iterator[Callable[[str], Progress | None]]:
    """A function that draws one more bar, by its name, each time it is called."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    from privacyfunnel._kernels.cache_place import is_filled

    console = Console(stderr=True)
    if not is_filled():
        console.print("The searches are compiled for this computer now, once: up to a minute.")
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=console, transient=True) as bars:

        def stage(what: str) -> Progress:
            task = bars.add_task(what, total=None)
            return lambda done, total: bars.update(task, completed=done, total=total)

        yield stage
