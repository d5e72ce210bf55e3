"""The ``funnel`` command: parse, call the library, print. One file for each command.

Little is imported before :func:`main` runs, so that even an early Ctrl-C ends in one line.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

INTERRUPTED = 130
AGAIN = 0.05  # seconds after which an interrupt that was lost is sent once more


def main() -> None:
    """The whole life of the process: exit 0 done, 2 the user's mistake, 1 ours, 3 a limit broken, 130."""
    sys.unraisablehook = _unraisable
    try:
        code = run()
    except KeyboardInterrupt:  # once more, while the first was dealt with
        code = INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said; what is left is to end
    raise SystemExit(code)


def run() -> int:
    """Run the command of ``sys.argv``; its exit code."""
    try:
        return _run()
    except BaseException as error:  # compiled code hands on Ctrl-C as the cause of another error
        if not _is_interrupt(error):
            raise
        print("funnel: interrupted", file=sys.stderr)
        return INTERRUPTED


def _run() -> int:
    from privacyfunnel.cli.app import app
    from privacyfunnel.cli.hints import HINTS
    from privacyfunnel.cli.terminal import say
    from privacyfunnel.errors import FunnelError

    try:
        app(standalone_mode=True)
    except FunnelError as error:
        say(f"funnel: {' '.join(error.in_words(HINTS).split())}", err=True)
        return 2
    except SystemExit as end:
        if end.code == INTERRUPTED:  # typer has turned Ctrl-C into an exit of its own
            raise KeyboardInterrupt from end
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _is_interrupt(error: BaseException) -> bool:
    causes = (error, error.__cause__, error.__context__)
    return any(isinstance(cause, KeyboardInterrupt) for cause in causes)


def _unraisable(unraisable: Any) -> None:
    """Ctrl-C where nothing can be raised, e.g. while an object is removed, comes once more."""
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        threading.Timer(AGAIN, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(unraisable)
