"""Requests: from a request to its session and its form."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse

from privacyfunnel.errors import InvalidInput
from privacyfunnel.studio.upload_limits import MOST_FORM

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from privacyfunnel.studio.sessions import Session
    from privacyfunnel.studio.studio import Studio

STRANGER = (
    "This studio is open only to those who have its address with the token. Open the address that "
    "the terminal has printed."
)
FORGOTTEN = "This studio has forgotten you, or is a new one. Open its first page."


def studio_of(request: Request) -> Studio:
    """The studio that a request came to."""
    studio: Studio = request.state.studio
    return studio


def has_token(request: Request) -> bool:
    """Whether the address holds the token; a wrong one is refused."""
    given = request.query_params.get("token")
    if given is None:
        return False
    if not hmac.compare_digest(given.encode(), studio_of(request).settings.token.encode()):
        raise HTTPException(403, STRANGER)
    return True


def session_of(request: Request) -> Session:
    """The session of a request that must have one."""
    studio, session = studio_of(request), known_session(request)
    if session is not None and (session.is_trusted or studio.settings.is_local):
        return session
    if not studio.settings.is_local:
        raise HTTPException(403, STRANGER)
    if "text/html" in request.headers.get("accept", ""):  # e.g. a page of a studio that has ended
        raise HTTPException(303, headers={"Location": "/"})
    raise HTTPException(403, FORGOTTEN)


def known_session(request: Request) -> Session | None:
    """The session of a request, if it has one."""
    studio = studio_of(request)
    session = studio.sessions.find(request.cookies.get(studio.cookie))
    request.state.is_trusted = session is not None and session.is_trusted  # for the connection
    return session


def with_cookie(request: Request, response: Response, secret: str) -> Response:
    """Give a new session's secret to the browser, for our own pages only."""
    cookie = studio_of(request).cookie
    response.set_cookie(cookie, secret, httponly=True, samesite="strict", path="/")
    return response


def redirect(where: str) -> Response:
    """On to another page after a form."""
    return RedirectResponse(where, status_code=303)


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form of our own pages."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_FORM:
            raise InvalidInput("this form is too long; use a table with fewer columns.")
    try:
        return dict(parse_qsl(body.decode("ascii"), keep_blank_values=True, strict_parsing=False))
    except ValueError:
        raise InvalidInput("this form cannot be read; reload the page.") from None
