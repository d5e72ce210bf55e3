"""Process: what happens inside a process that does jobs, around their tasks."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Iterator, Mapping
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Thread
from typing import Any

from privacyfunnel.errors import FunnelError
from privacyfunnel.studio.hints import in_words

OURS = (
    "Something went wrong in the studio itself ({name}). The terminal that runs it has the details; "
    "please report them."
)
MEMORY = (
    "This machine has too little memory for that. Try fewer columns, or coarsen them into bins."
)


def perform(pipe: Connection) -> None:
    """Run one task after the other in this process, until the server closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    Thread(target=_end_with_the_server, daemon=True).start()
    try:
        while True:
            for answer in _answers(pipe, *pipe.recv()):
                pipe.send(answer)
    except (EOFError, OSError):  # no more tasks, or the server is gone
        pipe.close()


def _answers(
    pipe: Connection, kind: str, arguments: Mapping[str, Any], folder: str
) -> Iterator[tuple[str, Any]]:
    """The result of a task, or in words why there is none."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    try:
        # Heavy: only here, never in the server.
        from privacyfunnel.studio.worker.tasks import TASKS, Reporter

        yield "done", TASKS[kind](Reporter(pipe), place, **arguments)
    except FunnelError as error:
        yield "failed", in_words(error)
    except MemoryError:
        yield "failed", MEMORY
    except Exception as error:
        yield "broken", traceback.format_exc()
        yield "failed", OURS.format(name=type(error).__name__)


def _end_with_the_server() -> None:
    """End this process when the server is gone, even where it was killed and could not say so."""
    server = parent_process()
    if server is not None:
        wait([server.sentinel])
        os._exit(1)
