"""Words: what a job does, as a person would say it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privacyfunnel.report.figures import several

if TYPE_CHECKING:
    from privacyfunnel.studio.jobs import Job

DOING = {
    "look": "Reading the table",
    "inspect": "Measuring what is at stake",
    "search": "Searching releases",
    "compare": "Comparing with releases by lot",
    "choose": "Looking up this release",
    "release": "Making the release",
}


def progress_in_words(job: Job, ahead: int) -> str:
    """What a job does right now, as a person would say it."""
    doing = job.told.get("stage", DOING[job.kind]) if job.is_active else DOING[job.kind]
    if job.state == "queued":
        return f"Waiting for {several(ahead, 'other task')} to end." if ahead else "Starting."
    if job.state == "running":
        return f"{doing}: {job.done} of {job.total}." if job.total else f"{doing}."
    if job.state == "cancelled":
        return f"{doing}: cancelled."
    return f"{doing}: {'done' if job.state == 'done' else 'not possible'}."
