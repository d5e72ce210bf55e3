"""Pages: what the browser may read. Each needs the session of its cookie."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse

from privacyfunnel.errors import InvalidInput
from privacyfunnel.releases.files import FILES, TABLES
from privacyfunnel.report import words as report_words
from privacyfunnel.report.numbers import listed, percent, several
from privacyfunnel.solvers.target import Price
from privacyfunnel.solvers.target import chosen as taken
from privacyfunnel.studio import commands
from privacyfunnel.studio.forms import MEASURES, RECODINGS, SearchSettings, read_target
from privacyfunnel.studio.hints import in_words
from privacyfunnel.studio.routes.actions import open_source
from privacyfunnel.studio.routes.rendering import PAGES, page, progress_in_words
from privacyfunnel.studio.routes.requests import (
    STRANGER,
    has_token,
    known_session,
    redirect,
    session_of,
    studio_of,
    with_cookie,
)
from privacyfunnel.studio.sources import named_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from privacyfunnel.studio.sessions import Session

FILE_WORDS = {**dict.fromkeys(TABLES, "the table to publish"), **FILES}
HIERARCHY_WORDS = "a hierarchy that the command below reads"


async def data(request: Request) -> Response:
    """Step 1; opens a session for who has none."""
    studio = studio_of(request)
    session = known_session(request)
    if has_token(request):
        if session is None or not session.is_trusted:
            secret, session = studio.sessions.open(is_trusted=True)
            if studio.settings.table is not None:  # named in the terminal
                open_source(session, named_source(studio.settings.table))
            return with_cookie(request, redirect("/columns" if session.source else "/"), secret)
        return redirect("/")
    if session is not None:
        return page(request, session_of(request), "data")
    if not studio.settings.is_local:
        raise HTTPException(403, STRANGER)
    try:
        secret, session = studio.sessions.open(is_trusted=False)
    except InvalidInput as error:  # too many visitors
        raise HTTPException(503, in_words(error)) from None
    return with_cookie(request, page(request, session, "data"), secret)


async def columns(request: Request) -> Response:
    """Step 2: the columns, and what they would give away."""
    session = session_of(request)
    if session.source is None:
        return redirect("/")
    search, choices = session.search or SearchSettings(), session.inspected_choices()
    purpose = "useful" if choices is not None and choices.useful else "x"
    usual = SearchSettings()  # what else was asked for before may be changed in the same form
    allowed = [name for name in RECODINGS if usual.allows(recoding=name, purpose=purpose)]
    return page(
        request,
        session,
        "columns",
        search=search,
        allowed=allowed,
        recoding=search.recoding if search.recoding in allowed else allowed[-1],
        looked=session.done("look"),
        inspected=session.done("inspect"),
    )


async def tradeoff(request: Request) -> Response:
    """Step 3: the frontier and the choice."""
    session = session_of(request)
    if "search" not in session.jobs:
        return redirect("/columns")
    search, choices = session.search, session.inspected_choices()
    assert search is not None
    assert choices is not None
    can_cap = len(choices.sensitive) > 1 and search.allows(caps={choices.sensitive[0]: "1"})
    return page(
        request,
        session,
        "tradeoff",
        is_plain=search.request().is_plain,
        keeps=_keeps(search, choices.useful),
        tells=(
            "sensitive information given away"
            if search.measure == SearchSettings.measure
            else f"given away, by {MEASURES[search.measure][0]}"
        ),
        caps=choices.sensitive if can_cap else [],
    )


def _keeps(search: SearchSettings, useful: Sequence[str]) -> str:
    """What is kept, as the picture calls it."""
    if search.purpose == "both":
        return f"kept of the columns and what they say about {listed(useful)}"
    if search.purpose == "useful":
        return f"kept of what is said about {listed(useful)}"
    return (
        "public information kept" if search.recoding == "symbols" else "kept of the public columns"
    )


async def nearest(request: Request) -> Response:
    """Which of the points on the picture meets a target, before it is looked up exactly."""
    session, asked = session_of(request), request.query_params
    search, job = session.search, session.jobs.get("compare" if "soft" in asked else "search")
    if search is None or job is None:
        raise HTTPException(404, "There is no search.")
    try:
        ((quantity, share),) = read_target(asked, search.kept).items()
    except (InvalidInput, ValueError):  # half a number, or caps: nothing to tell
        return JSONResponse({"words": ""})
    price = Price.telling(share) if quantity == "leakage" else Price.keeping(share)
    points = job.news.get("soft" if "soft" in asked else "points", [])
    point = taken(points, price, lambda each: (each["leakage"], each["kept"]))
    alike = f" with at least {several(search.min_count, 'record')} alike"
    if point is None:
        none = f"No release found meets this{alike if search.min_count > 1 else ''}."
        return JSONResponse({"words": none})
    kept, told = percent(point["kept"]), percent(point["leakage"])
    noun = "symbol" if search.recoding == "symbols" else "combination"
    values = several(session.jobs["search"].news["n_values"], "value")
    released = several(point["n_symbols"], noun)
    words = f"Nearest point: keeps {kept}, gives away {told}, in {released} (now {values})."
    return JSONResponse({"words": words})


async def chosen(request: Request) -> Response:
    """Step 4: the chosen release, as a part of the page of step 3."""
    session = session_of(request)
    document = session.done("choose")
    if document is None or session.chosen is None:
        raise HTTPException(404, "No release is chosen.")
    return HTMLResponse(
        PAGES.get_template("chosen.html").render(document=document, **_described(document))
    )


async def release(request: Request) -> Response:
    """Step 5: the files, and how to make them again."""
    session = session_of(request)
    asked, source, choices = session.made, session.source, session.inspected_choices()
    if "release" not in session.jobs or asked is None or source is None or choices is None:
        return redirect("/tradeoff")
    document = session.done("release")
    command, no_command = commands.command_or_why(source, choices, asked)
    return page(
        request,
        session,
        "release",
        document=document,
        files=[
            (name, FILE_WORDS.get(name, HIERARCHY_WORDS), path.stat().st_size)
            for name, path in (_files(session).items() if document else ())
        ],
        first=commands.first(source),
        command=command,
        no_command=no_command,
        code=commands.python_code(source, choices, asked),
        **(_described(document) if document else {}),
    )


def _described(document: Mapping[str, Any]) -> dict[str, Any]:
    """The sentences and the groups or symbols of a release's document."""
    recoding = document["recoding"]
    return {
        "headline": report_words.what_is_released(document),
        "sentences": [
            *([("Kept", report_words.kept(document))] if recoding else []),
            ("Utility", report_words.utility(document)),
            ("Leakage", report_words.leakage(document)),
            ("Guessing", report_words.guessing(document)),
            *(
                [("As asked", line) for line in report_words.asked_for(document)]
                if document["asked_for"]
                else [("Limit", report_words.limit(document))]
            ),
            *([("This draw", report_words.drawn(document))] if document["drawn"] else []),
        ],
        "symbols": [*document["symbols"]["largest"], *document["symbols"]["smallest"]],
        "is_cut": bool(document["symbols"]["smallest"]),
    }


def _files(session: Session) -> dict[str, Path]:
    """The files of the release, and the hierarchies that its command reads, by name."""
    assert session.made is not None
    folder = session.jobs["release"].folder / "files"
    trees = [Path(file) for file in session.made.hierarchies.values()]
    return {name: folder / name for name in session.made.files} | {t.name: t for t in trees}


async def file(request: Request) -> Response:
    """Download one of the files of the session's release; no other file can be named."""
    session = session_of(request)
    name = request.path_params["name"]
    if session.done("release") is None:
        raise HTTPException(404, "There is no release yet.")
    path = _files(session).get(name)
    if path is None:
        raise HTTPException(404, "There is no such file.")
    return FileResponse(path, filename=name, media_type="application/octet-stream")


async def job(request: Request) -> Response:
    """How far a job is, and what it has found so far."""
    session = session_of(request)
    job_id = request.path_params["job_id"]
    found = session.job(job_id)
    if job_id in session.gone:  # asked for by a page that does not know yet
        return JSONResponse({"state": "dropped", "words": "", "news": {}, "error": ""})
    if found is None:
        return JSONResponse({"error": "There is no such task."}, status_code=404)
    told = ("state", "done", "total", "seconds", "news", "error")
    words = progress_in_words(session.queue, found)
    return JSONResponse({name: getattr(found, name) for name in told} | {"words": words})


async def refused(_: Request, error: Exception) -> Response:
    """A request that we do not serve, an address that leads nowhere, a visitor too many."""
    assert isinstance(error, HTTPException)
    return PlainTextResponse(f"{error.detail}\n", status_code=error.status_code)


async def broken(_: Request, error: Exception) -> Response:
    """A fault of ours; the terminal has the details."""
    text = "Something went wrong in the studio itself; the terminal that runs it has the details."
    return PlainTextResponse(f"{text}\n", status_code=500)
