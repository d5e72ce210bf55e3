"""Guard: stands before every request. Foreign hosts, foreign pages and guests without a token go."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from privacyfunnel.studio.settings import Settings

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Refuses what was not meant for us, and puts the security headers on every answer."""

    def __init__(self, app: ASGIApp, settings: Callable[[], Settings]) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        fault = self._fault(scope["method"], Headers(scope=scope))
        if fault:
            refusal = PlainTextResponse(f"{fault}\n", status_code=403)
            await refusal(scope, receive, with_headers)
        else:
            await self.app(scope, receive, with_headers)

    def _fault(self, method: str, headers: Headers) -> str | None:
        """What is wrong with a request, in words."""
        host = headers.get("host", "")
        if not self.settings().serves(host):
            return (
                "This studio does not answer to that host name. Open the address that the terminal "
                "has printed."
            )
        if method in ("GET", "HEAD"):
            return None
        # A browser names the page that a request comes from; another site's is refused.
        origin = headers.get("origin", "")
        if urlsplit(origin).netloc.lower() != host.lower():
            return "This request does not come from the studio's own page. Open the studio again."
        return None
