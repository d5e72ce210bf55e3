"""Rendering: from a session and its jobs to a page, with nothing in it that a browser would run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from jinja2 import PackageLoader
from starlette.responses import HTMLResponse

from privacyfunnel.columns import KINDS
from privacyfunnel.report.numbers import left_out, several
from privacyfunnel.report.page import templates
from privacyfunnel.studio import forms
from privacyfunnel.studio.hints import HINTS
from privacyfunnel.studio.routes.requests import studio_of
from privacyfunnel.studio.upload_limits import in_megabytes, too_large
from privacyfunnel.tables import engines

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from privacyfunnel.studio.sessions import Session
    from privacyfunnel.studio.worker.queue import Job, JobQueue

DOING = {
    "look": "Reading the table",
    "inspect": "Measuring what is at stake",
    "search": "Searching releases",
    "compare": "Comparing with other kinds of releases",
    "choose": "Looking up this release",
    "begin": "Laying out the groups",
    "lay": "Measuring these groups",
    "improve": "Searching the columns that are not held",
    "release": "Making the release",
}


class Exact(str):
    """A text to show character by character, for copying."""

    __slots__ = ()


def in_bytes(size: int) -> str:
    """The size of a file as people read it.

    >>> [in_bytes(n) for n in (1, 999, 20_500, 2_731_217)]
    ['1 byte', '999 bytes', '20.5 kB', '2.73 MB']
    """
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return several(size, "byte")


PAGES = templates(PackageLoader("privacyfunnel.studio"), hints=HINTS)
PAGES.filters.update(exact=Exact, in_bytes=in_bytes, left_out=left_out)
PAGES.globals.update(KINDS=KINDS, engines=engines, in_megabytes=in_megabytes)
PAGES.globals.update(forms=forms, too_large=too_large)


def page(request: Request, session: Session, step: str, **values: Any) -> Response:
    """A page of the studio; a notice is shown once."""
    studio = studio_of(request)
    notice, session.notice = session.notice, ""
    text = PAGES.get_template(f"{step}.html").render(
        step=step,
        session=session,
        settings=studio.settings,
        notice=notice,
        progress=partial(progress_in_words, studio.queue),
        **values,
    )
    return HTMLResponse(text)


def progress_in_words(queue: JobQueue, job: Job) -> str:
    """What a job does right now, as a person would say it."""
    doing = job.news.get("stage", DOING[job.kind]) if job.is_active else DOING[job.kind]
    if job.state == "queued":
        ahead = queue.ahead(job)
        return f"Waiting for {several(ahead, 'other task')} to end." if ahead else "Starting."
    if job.state == "running":
        if job.total and job.done >= job.total:
            return f"{doing}: the last part."
        return f"{doing}: {job.done} of {job.total}." if job.total else f"{doing}."
    if job.state == "cancelled":
        return f"{doing}: cancelled."
    return f"{doing}: {'done' if job.state == 'done' else 'not possible'}."
