"""Guard: stands before every request. Foreign hosts and foreign pages are turned away."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, PlainTextResponse

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

FOREIGN_HOST = (
    "This studio does not answer to that host name. Open the address that the terminal has printed."
)
FOREIGN_PAGE = "This request does not come from the studio's own page. Open the studio again."
NO_ORIGIN = "The Origin of this request makes no sense."
# Followed from another site, a link comes without our cookie. Loaded again by a page of our own it
# comes with it, so that a foreign page cannot make the browser forget its session.
AGAIN = '<!DOCTYPE html><title>Studio</title><meta http-equiv="refresh" content="0">\n'


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

        answer = self._instead(scope["method"], Headers(scope=scope)) or self.app
        try:
            await answer(scope, receive, with_headers)
        except ClientDisconnect:  # it has hung up in the middle of what it sent
            return

    def _instead(self, method: str, headers: Headers) -> ASGIApp | None:
        """What to answer in the studio's place; None where the request is for it."""
        host = headers.get("host", "")
        if not self.settings().serves(host):
            return PlainTextResponse(f"{FOREIGN_HOST}\n", status_code=403)
        # A browser says where a request comes from; other programs may not, but have no cookie.
        is_foreign = headers.get("sec-fetch-site", "") in ("cross-site", "same-site")
        if method in ("GET", "HEAD"):
            if is_foreign and headers.get("sec-fetch-mode") == "navigate":
                return HTMLResponse(AGAIN)
        else:
            try:
                origin = urlsplit(headers.get("origin", "")).netloc.lower()
            except ValueError:  # as of "http://[::1"
                return PlainTextResponse(f"{NO_ORIGIN}\n", status_code=400)
            is_foreign = is_foreign or origin != host.lower()
        return PlainTextResponse(f"{FOREIGN_PAGE}\n", status_code=403) if is_foreign else None
