"""The ``funnel`` command: parse, call the library, print. One file for each command.

Little is imported before :func:`main` runs, so that even an early Ctrl-C ends in one line.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from typing import Any, NoReturn

INTERRUPTED = 130
AGAIN = 0.05  # seconds after which an interrupt that was lost is sent once more

_heard = threading.Event()  # Ctrl-C was pressed: what goes wrong from then on is its doing


def main() -> None:
    """The whole life of the process: exit 0 done, 2 the user's mistake, 1 ours, 3 a limit broken, 130."""
    sys.unraisablehook, sys.excepthook = _unraisable, _uncaught
    signal.signal(signal.SIGINT, _interrupt)
    try:
        code = run()
    except KeyboardInterrupt:  # once more, while the first was dealt with
        code = INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said; what is left is to end
    _end(code)


def _end(code: int) -> NoReturn:
    """Leave at once: taking the compiled code apart, here and in the workers, would take seconds."""
    workers = sys.modules.get("joblib.externals.loky.reusable_executor")
    if workers is not None and workers._executor is not None:
        workers._executor.shutdown(kill_workers=True)
    atexit._run_exitfuncs()  # temporary folders go
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # whoever read it has gone
        code = code or 1
    os._exit(code)


def run() -> int:
    """Run the command of ``sys.argv``; its exit code."""
    try:
        return _run()
    except BaseException as error:  # compiled code and broken imports turn Ctrl-C into other errors
        if not (_heard.is_set() or isinstance(error, KeyboardInterrupt)):
            raise
        print("funnel: interrupted", file=sys.stderr)
        return INTERRUPTED


def _run() -> int:
    from privacyfunnel.cli.app import app
    from privacyfunnel.cli.hints import HINTS
    from privacyfunnel.cli.terminal import BROKEN, say
    from privacyfunnel.errors import FunnelError, LimitBroken

    try:
        app(standalone_mode=True)
    except FunnelError as error:
        say(f"funnel: {' '.join(error.in_words(HINTS).split())}", err=True)
        return BROKEN if isinstance(error, LimitBroken) else 2
    except SystemExit as end:
        if end.code == INTERRUPTED:  # typer has turned Ctrl-C into an exit of its own
            raise KeyboardInterrupt from end
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _interrupt(*_: Any) -> None:
    _heard.set()
    raise KeyboardInterrupt


def _again() -> None:
    """Ctrl-C where nothing can be raised, e.g. while an object is removed, comes once more."""
    threading.Timer(AGAIN, os.kill, (os.getpid(), signal.SIGINT)).start()


def _unraisable(unraisable: Any) -> None:
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        _again()
    elif not _heard.is_set():
        sys.__unraisablehook__(unraisable)


def _uncaught(kind: Any, error: BaseException, trace: Any) -> None:
    """Some compiled modules print an error and go on."""
    if isinstance(error, KeyboardInterrupt):
        _again()
    elif not _heard.is_set():
        sys.__excepthook__(kind, error, trace)
