"""Settings: where the studio listens, whom it serves and how much it takes."""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import dataclass, field
from ipaddress import ip_address

from privacyfunnel.studio.upload_limits import MAX_UPLOAD, MEGABYTE

LOCAL = ("127.0.0.1", "localhost", "::1")


def cores() -> int:
    """How many tasks may run at once unless the user says otherwise."""
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Settings:
    """How one studio runs; the token is the secret part of the address that the terminal prints.

    Whoever has the token may name files of this machine, if the studio listens on this machine
    only. On any other address nothing is served without it, and no files can be named.

    >>> Settings(port=8000, token="t").address, Settings(host="0.0.0.0").is_local
    ('http://127.0.0.1:8000/?token=t', False)
    """

    host: str = "127.0.0.1"
    port: int = 0
    table: str | None = None
    max_upload: int = MAX_UPLOAD * MEGABYTE
    workers: int = field(default_factory=cores)
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the studio."""
        return self.host in LOCAL

    @property
    def address(self) -> str:
        """What to open in the browser."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/?token={self.token}"

    def serves(self, host_header: str) -> bool:
        """Whether a request was meant for us; a foreign name is a rebinding attack.

        >>> studio = Settings(port=8000)
        >>> [studio.serves(h) for h in ("localhost:8000", "127.0.0.1:8001", "evil.example:8000")]
        [True, False, False]
        """
        name, port = split_host(host_header)
        if port != self.port:
            return False
        if self.is_local:
            return name in LOCAL
        return name in (self.host, socket.gethostname(), *LOCAL) or _is_number(name)


def split_host(header: str) -> tuple[str, int]:
    """Name and port of a Host header; port 80 where it has none, -1 where it makes no sense.

    >>> split_host("[::1]:8000"), split_host("localhost"), split_host("a:b")
    (('::1', 8000), ('localhost', 80), ('a', -1))
    """
    name, colon, port = header.rpartition(":")
    if not colon or header.endswith("]"):
        name, port = header, "80"
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    is_port = port.isascii() and port.isdigit() and len(port) <= 5
    return name.lower(), int(port) if is_port else -1


def _is_number(name: str) -> bool:
    """Whether a host is an IP address, which no foreign name server can point elsewhere."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
