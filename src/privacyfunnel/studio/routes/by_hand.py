"""By hand: the page on which the groups of a release are laid, and what it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from privacyfunnel.errors import InvalidInput
from privacyfunnel.studio.drafts import SHOWN, read_change
from privacyfunnel.studio.routes.actions import form_action
from privacyfunnel.studio.routes.rendering import page
from privacyfunnel.studio.routes.requests import read_form, redirect, session_of
from privacyfunnel.studio.sessions import BY_HAND, Session

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

PATIENCE = 0.9  # seconds that an answer may take before the page says that it waits


async def hand(request: Request) -> Response:
    """The groups of each column as they are laid now."""
    session = session_of(request)
    _take(session)
    now = session.by_hand.now
    waits = next((session.jobs[kind] for kind in BY_HAND if kind in session.jobs), None)
    if session.search is None or (now is None and waits is None):
        return redirect("/tradeoff")
    return page(request, session, "hand", now=now, waits=waits, SHOWN=SHOWN)


@form_action(back="/hand")
async def change(request: Request, session: Session) -> Response:
    """Change the groups; what that keeps and gives away is there when the page comes back."""
    form = await read_form(request)
    what, search = form.get("do", ""), session.search
    if search is None or session.done("search") is None or session.done("choose") is None:
        raise InvalidInput("choose a release first.")
    if search.recoding != "global":
        raise InvalidInput("groups are laid by hand where all records have the same ones (global).")
    searched, now = session.jobs["search"].folder, session.by_hand.now
    if what == "undo":
        session.by_hand.undo()
        return redirect("/hand")
    if what == "begin":
        session.by_hand.steps.clear()
        job = session.start("begin", searched=searched, chosen=session.jobs["choose"].folder)
    elif now is None:
        raise InvalidInput("choose a release first.")
    elif what == "improve":
        job = session.start(
            "improve",
            inspected=session.jobs["inspect"].folder,
            searched=searched,
            draft=now["draft"],
            search=search,
        )
    else:
        job = session.start("lay", searched=searched, draft=now["draft"], change=read_change(form))
    await run_in_threadpool(job.answered.wait, PATIENCE if job.is_quick else 0.0)
    if request.headers.get("sec-fetch-mode") == "cors":  # the script, which takes it as it is
        return await hand(request)
    _take(session)
    column = form.get("column", "")
    return redirect(f"/hand#column-{column}" if column.isdigit() else "/hand")


def _take(session: Session) -> None:
    """Note what a task has laid; why it could not is said once."""
    for kind in BY_HAND:
        job = session.jobs.get(kind)
        if job is None or job.is_active:
            continue
        if job.state == "done" and job.result is not None:
            before = session.by_hand.now
            if kind == "improve" and before and before["draft"] == job.result["draft"]:
                session.notice = "No better groups were found for the columns that are not held."
            else:
                session.by_hand.add(job.result)
        elif job.error:
            session.notice = job.error
        session.drop(kind)
