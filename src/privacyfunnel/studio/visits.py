"""Visits: from a request to its session, and from a session to a page."""

from __future__ import annotations

import hmac
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse

from privacyfunnel.errors import InvalidInput
from privacyfunnel.report.escape import visible
from privacyfunnel.report.figures import number, percent, several
from privacyfunnel.report.words import caution as caution_words
from privacyfunnel.studio.hints import HINTS
from privacyfunnel.studio.words import progress_in_words

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from privacyfunnel.studio.app import Studio
    from privacyfunnel.studio.sessions import Session

MOST_FORM = 1_000_000  # bytes of a form; a thousand columns need a tenth of it
STRANGER = (
    "This studio is open only to those who have its address with the token. Open the address that "
    "the terminal has printed."
)
FORGOTTEN = "This studio has forgotten you, or is a new one. Open its first page."


class Exact(str):
    """A text to show character by character, for copying."""

    __slots__ = ()


def _shown(value: Any) -> Any:
    """Unseen characters in a value are spelled out, so that none can hide what it is."""
    return visible(value) if type(value) is str else value


PAGES = Environment(
    loader=PackageLoader("privacyfunnel.studio"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=_shown,
    trim_blocks=True,
    lstrip_blocks=True,
)
PAGES.filters.update(
    percent=percent,
    number=number,
    several=several,
    caution_words=partial(caution_words, hints=HINTS),
    exact=Exact,
)


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
    studio, session = studio_of(request), known(request)
    if session is not None and (session.is_trusted or studio.settings.is_local):
        return session
    if not studio.settings.is_local:
        raise HTTPException(403, STRANGER)
    if "text/html" in request.headers.get("accept", ""):  # e.g. a page of a studio that has ended
        raise HTTPException(303, headers={"Location": "/"})
    raise HTTPException(403, FORGOTTEN)


def known(request: Request) -> Session | None:
    """The session of a request, if it has one."""
    studio = studio_of(request)
    return studio.sessions.find(request.cookies.get(studio.cookie))


def with_cookie(request: Request, response: Response, secret: str) -> Response:
    """Give a new session's secret to the browser, for our own pages only."""
    cookie = studio_of(request).cookie
    response.set_cookie(cookie, secret, httponly=True, samesite="strict", path="/")
    return response


def page(request: Request, session: Session, step: str, **values: Any) -> Response:
    """A page of the studio; a notice is shown once."""
    studio = studio_of(request)
    notice, session.notice = session.notice, ""

    def progress(job: Any) -> str:
        return progress_in_words(job, studio.jobs.ahead(job))

    text = PAGES.get_template(f"{step}.html").render(
        step=step,
        session=session,
        settings=studio.settings,
        notice=notice,
        progress=progress,
        reachable=_reachable(session),
        **values,
    )
    return HTMLResponse(text)


def go(where: str) -> Response:
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


def _reachable(session: Session) -> list[str]:
    """The steps that there is something to show for."""
    steps = {
        "data": True,
        "columns": session.source is not None,
        "tradeoff": "search" in session.work,
        "release": "release" in session.work,
    }
    return [step for step, is_there in steps.items() if is_there]
