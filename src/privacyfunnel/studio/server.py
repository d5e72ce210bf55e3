"""Server: listens, opens the browser and ends cleanly."""

from __future__ import annotations

import logging
import signal
import socket
import sys
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Thread
from traceback import format_exception
from typing import TYPE_CHECKING

import uvicorn

from privacyfunnel.errors import DataUnavailable
from privacyfunnel.files import in_words
from privacyfunnel.report.escape import visible
from privacyfunnel.studio.app import make_app
from privacyfunnel.studio.connections import AT_ONCE, QUEUED, PatientConnection
from privacyfunnel.studio.studio import Studio

if TYPE_CHECKING:
    from privacyfunnel.studio.settings import Settings


class Server(uvicorn.Server):
    """A web server that says when it is ready, and hangs up on who keeps it waiting."""

    def __init__(self, config: uvicorn.Config, when_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._when_ready = when_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn, then call back."""
        await super().startup(sockets)
        for listener in sockets or []:
            listener.listen(QUEUED)  # apart from how many are taken in at once
        self._when_ready()

    async def on_tick(self, counter: int) -> bool:
        """As uvicorn, ten times a second."""
        for connection in list(self.server_state.connections):
            if isinstance(connection, PatientConnection):
                connection.drop_if_late()
        return await super().on_tick(counter)


class LogLimit(logging.Filter):
    """Lets so many lines an hour through, and no character that a terminal would obey.

    >>> limit = LogLimit(most=2)
    >>> record = logging.makeLogRecord({"msg": "bad %s", "args": ("\\x1b[2J",)})
    >>> limit.filter(record) and print(record.getMessage())
    bad \\x1b[2J
    >>> limit.filter(record), limit.filter(record)
    (True, False)
    """

    def __init__(self, most: int = 100) -> None:
        super().__init__()
        self._most, self._lines, self._hour = most, 0, time.monotonic()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write a line, made harmless."""
        if time.monotonic() - self._hour > 3600:
            self._lines, self._hour = 0, time.monotonic()
        self._lines += 1
        record.msg, record.args = _harmless(record.getMessage()), ()
        if record.exc_info:
            record.exc_text = _harmless("".join(format_exception(*record.exc_info)))
        if self._lines == self._most:
            record.msg += " (More of this hour is left out.)"
        return self._lines <= self._most


def _harmless(text: str) -> str:
    return "\n".join(visible(line) for line in text.split("\n"))


def listen(settings: Settings) -> socket.socket:
    """A socket at the wanted address; port 0 takes any free one."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        raise DataUnavailable(
            f"cannot listen on {settings.host}:{settings.port}: {in_words(error)}; "
            "name another --port."
        ) from error
    return listener


def make_server(studio: Studio, listener: socket.socket, when_ready: Callable[[], None]) -> Server:
    """The server of a studio, for a socket that listens already."""
    studio.settings = replace(studio.settings, port=listener.getsockname()[1])
    config = uvicorn.Config(
        make_app(studio),
        http=PatientConnection,
        backlog=AT_ONCE,
        log_level="warning",
        lifespan="on",
        ws="none",
        server_header=False,
        proxy_headers=False,  # a client must not say who it is
        timeout_graceful_shutdown=3,
    )
    logger = logging.getLogger("uvicorn.error")
    if not any(isinstance(known, LogLimit) for known in logger.filters):
        logger.addFilter(LogLimit())
    return Server(config, when_ready)


def serve(settings: Settings, say: Callable[[str], None], open_browser: bool) -> None:
    """Run a studio until Ctrl-C, or until it is told to end; its files go in any case."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    if hasattr(signal, "SIGHUP"):  # the terminal was closed
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    with listen(settings) as listener:
        studio = Studio(settings)

        def ready() -> None:
            say(studio.settings.address)
            if open_browser:
                webbrowser.open(studio.settings.address)

        try:
            make_server(studio, listener, ready).run([listener])
        finally:
            studio.close()


@contextmanager
def running(settings: Settings) -> Iterator[Studio]:
    """A studio that runs in a thread while the block lasts, for tests, scripts and notebooks."""
    with listen(settings) as listener:
        studio, ready = Studio(settings), Event()
        server = make_server(studio, listener, ready.set)
        thread = Thread(target=server.run, args=([listener],), name="studio")
        thread.start()
        try:
            if not ready.wait(30):
                raise RuntimeError("the studio did not start within 30 seconds.")
            yield studio
        finally:
            server.should_exit = True
            thread.join()
            studio.close()
