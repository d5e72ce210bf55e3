"""Connections: how many the server holds, and how long a client may keep it waiting."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

if sys.platform != "win32":
    import resource

if TYPE_CHECKING:
    from asyncio import Transport

FOR_HEADERS = 10.0  # seconds until the head of a request must be there
FOR_BODY = 30.0  # seconds that a body may take, and more for each byte that has come
SLOWEST = 10_000.0  # bytes a second
MOST = 256  # connections at once
AT_ONCE = 4  # that are taken in before any is let go
QUEUED = 1024  # that may wait to be taken in


def most_connections() -> int:
    """As many connections as take a quarter of the open files that the system allows."""
    if sys.platform == "win32":
        return MOST
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if allowed == resource.RLIM_INFINITY else max(16, min(MOST, allowed // 4))


class PatientConnection(H11Protocol):
    """A connection that waits for its client, but not for ever.

    A request that never ends holds a connection, of which a process has only so many. So each has its
    time; and where all are taken, the one that has waited longest for its client makes room for the
    next, rather than the next being turned away. One who came with the token is not sent away.
    """

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """As uvicorn; then make room, if this is one too many."""
        self._since, self._received = self.loop.time(), 0
        super().connection_made(transport)
        ours = [one for one in self.connections if isinstance(one, PatientConnection)]
        held = [one for one in ours if not one.transport.is_closing()]
        if len(held) > most_connections():
            waiting = [one for one in held if one.waits and not one.is_trusted]
            min(waiting, key=lambda one: one._since, default=self).transport.abort()

    def data_received(self, data: bytes) -> None:
        """As uvicorn; note when a request begins and how much of it has come."""
        before = self.cycle
        self._received += len(data)
        super().data_received(data)
        if self.cycle is not before:
            self._since, self._received = self.loop.time(), len(data)

    def on_response_complete(self) -> None:
        """As uvicorn; from now on the next request is waited for."""
        self._since, self._received = self.loop.time(), 0
        super().on_response_complete()

    @property
    def is_trusted(self) -> bool:
        """Whether its last request came with the cookie of the token."""
        state: dict[str, Any] = self.scope["state"] if self.scope else {}
        return bool(state.get("is_trusted"))

    @property
    def waits(self) -> bool:
        """Whether it is the client's turn: to send a head or a body, or to take an answer."""
        return self._waits_for_head or self._waits_for_body or bool(self.flow.write_paused)

    @property
    def _waits_for_head(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    @property
    def _waits_for_body(self) -> bool:
        return self.cycle is not None and self.cycle.more_body

    def drop_if_late(self) -> None:
        """Hang up on a client that has had its time."""
        spent = self.loop.time() - self._since
        if self._waits_for_head:
            is_late = spent > FOR_HEADERS
        else:
            is_late = self._waits_for_body and spent > FOR_BODY + self._received / SLOWEST
        if is_late:
            self.transport.abort()
