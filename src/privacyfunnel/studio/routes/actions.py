"""Actions: what the browser may ask for. Each starts a job, or says in words why not."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from privacyfunnel.errors import FunnelError, InvalidInput
from privacyfunnel.files import in_words as system_words
from privacyfunnel.studio import commands
from privacyfunnel.studio.drafts import History
from privacyfunnel.studio.forms import (
    SearchSettings,
    read_caps,
    read_choices,
    read_search,
    read_target,
)
from privacyfunnel.studio.hints import in_words
from privacyfunnel.studio.routes.requests import read_form, redirect, session_of, studio_of
from privacyfunnel.studio.sources import DEMO, Source, named_source, safe_name
from privacyfunnel.studio.upload_limits import GUESTS_UPLOADS, LEAST_FREE, too_large

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from privacyfunnel.studio.sessions import Session

Action = Callable[["Request", "Session"], Awaitable["Response"]]
Endpoint = Callable[["Request"], Awaitable["Response"]]


def _action(refuse: Callable[[Session, str], Response]) -> Callable[[Action], Endpoint]:
    """An action of a session; what is wrong with it is told by ``refuse``, in words."""

    def wrap(action: Action) -> Endpoint:
        @wraps(action)
        async def run(request: Request) -> Response:
            session = session_of(request)
            try:
                return await action(request, session)
            except FunnelError as error:
                return refuse(session, in_words(error))

        return run

    return wrap


def form_action(back: str) -> Callable[[Action], Endpoint]:
    """An action behind a form: what is wrong is shown on the page that it goes back to."""

    def refuse(session: Session, words: str) -> Response:
        session.notice = words
        return redirect(back)

    return _action(refuse)


# An action behind the page's script: what is wrong is sent back for it to show.
script_action = _action(lambda _, words: JSONResponse({"error": words}, status_code=400))


def open_source(session: Session, source: Source) -> None:
    """Begin with a table: all that was made from another is dropped."""
    session.make_folder()
    session.source, session.choices = source, None
    session.start("look", table=source.path, is_demo=source.origin == "demo")


@script_action
async def upload(request: Request, session: Session) -> Response:
    """Take a file as the body of a request, straight into the session's private folder."""
    most = studio_of(request).settings.max_upload
    name = safe_name(request.query_params.get("name", ""))
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > most:
        raise InvalidInput(too_large(most))
    session.clear()
    session.upload = request  # one that was going on before is given up
    target = session.make_folder() / name
    try:
        await _receive(request, target, session)
        if session.uploaded == 0:
            raise InvalidInput(f"the file {name} is empty; choose a file with rows.")
        open_source(session, Source(str(target), name, "upload"))
    except OSError as error:
        raise InvalidInput(f"cannot keep {name}: {system_words(error)}.") from error
    finally:
        if session.upload is request:
            session.upload = None
            if session.source is None:  # refused, or broken off by the browser
                target.unlink(missing_ok=True)
                session.uploaded = 0
    return JSONResponse({"go": "/columns"})


async def _receive(request: Request, target: Path, session: Session) -> None:
    """Write a body to a file, as long as there is room for it."""
    studio = studio_of(request)
    most = studio.settings.max_upload
    with target.open("xb") as file:
        async for part in request.stream():
            if session.upload is not request:
                raise InvalidInput("another upload was begun in its place.")
            session.uploaded += len(part)
            if session.uploaded > most:
                raise InvalidInput(too_large(most))
            if session.uploaded > studio.sessions.room_for(session, GUESTS_UPLOADS * most):
                raise InvalidInput("this studio holds too much of others already; try again later.")
            if shutil.disk_usage(target.parent).free < LEAST_FREE:
                raise InvalidInput(
                    "the disk of this machine is nearly full; make room on it first."
                )
            file.write(part)


@form_action(back="/")
async def path(request: Request, session: Session) -> Response:
    """Begin with a file of this machine, for who came with the token."""
    form = await read_form(request)
    if not (studio_of(request).settings.is_local and session.is_trusted):
        raise InvalidInput(
            "files of this machine can be named only by who opened the address with the token that "
            "the terminal has printed; upload the file instead."
        )
    open_source(session, named_source(form.get("path", "")))
    return redirect("/columns")


@form_action(back="/")
async def demo(_: Request, session: Session) -> Response:
    """Begin with the bundled table; the first look at it writes the file."""
    open_source(session, Source(str(session.folder / DEMO), DEMO, "demo"))
    return redirect("/columns")


@form_action(back="/columns")
async def columns(request: Request, session: Session) -> Response:
    """Take the choices about the columns and measure what is at stake."""
    form = await read_form(request)
    before = session.current_choices()
    if before is None or session.source is None:
        raise InvalidInput("choose a table first.")
    session.choices = read_choices(form, before)
    session.start("inspect", table=session.source.path, choices=session.choices.check())
    return redirect("/columns#stakes")


@form_action(back="/columns")
async def search(request: Request, session: Session) -> Response:
    """Search the frontier, and beside it the curves to compare with."""
    form = await read_form(request)
    choices = session.inspected_choices()
    if choices is None:
        raise InvalidInput("mark the columns first.")
    asked = read_search(form, choices.public, session.done("inspect")["values"], choices.useful)
    asked.request()  # what cannot be asked for is told before the search
    session.search, session.chosen, session.by_hand = _with_files(session, asked), None, History()
    inspected = session.jobs["inspect"].folder
    session.start("search", inspected=inspected, search=session.search)
    if session.search.compare and asked.request().is_plain:
        session.start("compare", inspected=inspected, search=session.search)
    return redirect("/tradeoff")


def _with_files(session: Session, search: SearchSettings) -> SearchSettings:
    """The settings with a file for each hierarchy that was typed or uploaded."""
    files = {}
    for i, (name, lines) in enumerate(search.trees.items(), start=1):
        path = session.make_folder() / f"hierarchy-{i}.csv"
        path.write_text(lines, encoding="utf-8")
        files[name] = str(path)
    return replace(search, hierarchies=files)


@script_action
async def choose(request: Request, session: Session) -> Response:
    """Look up the release that meets a target."""
    form = await read_form(request)
    soft = "soft" in form
    kind = "compare" if soft else "search"
    if session.source is None or session.search is None or kind not in session.jobs:
        raise InvalidInput(
            "this search is no longer there; another was begun, perhaps in another tab. Reload the page."
        )
    if session.done(kind) is None:
        raise InvalidInput("these releases are not there yet; wait until the search is done.")
    found = session.search
    sensitive = session.jobs["inspect"].arguments["choices"].sensitive
    caps = read_caps(form, sensitive, found.measure)
    target = read_target(form, found.kept)
    session.chosen = found.request(session.source.name, target, soft, caps)
    job = session.start(
        "choose",
        inspected=session.jobs["inspect"].folder,
        frontier=session.jobs[kind].folder,
        asked=session.chosen,
    )
    return JSONResponse({"job": job.id})


@form_action(back="/tradeoff")
async def release(request: Request, session: Session) -> Response:
    """Make the files of the chosen release, as the command line would."""
    form = await read_form(request)
    source, choices, asked = session.source, session.inspected_choices(), session.chosen
    if source is None or choices is None or asked is None or session.done("choose") is None:
        raise InvalidInput("choose a release first.")
    if "by_hand" in form:
        if session.by_hand.now is None:
            raise InvalidInput("lay the groups first.")
        asked = session.by_hand.now["draft"].request(asked)
    asked = replace(
        asked,
        form=form.get("format", asked.form),
        expand="expand" in form,
        is_public="is_public" in form,
        numbers=form.get("numbers", asked.numbers),
    )
    command, _ = commands.command_or_why(source, choices, asked)
    session.made = replace(asked, command=command)
    session.start(
        "release",
        table=source.path,
        choices=choices,
        frontier=session.jobs["compare" if asked.soft else "search"].folder,
        asked=session.made,
    )
    return redirect("/release")


@form_action(back="/")
async def reset(_: Request, session: Session) -> Response:
    """Forget the table and remove its files."""
    session.clear()
    return redirect("/")


@script_action
async def cancel(request: Request, session: Session) -> Response:
    """Stop a job of this session."""
    job = session.job(request.path_params["job_id"])
    if job is None:
        return JSONResponse({"error": "There is no such task."}, status_code=404)
    session.queue.cancel(job)
    return JSONResponse({"state": job.state})
