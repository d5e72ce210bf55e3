"""Words: the library's sentences without the options of the command line, which the page has not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from privacyfunnel.report.figures import several

if TYPE_CHECKING:
    from privacyfunnel.studio.jobs import Job

ON_THE_PAGE = {
    r"--min-count (\d+)": r"at least \1 records per symbol (under Columns)",
    r" with min_count=(\d+)": r" with at least \1 records per symbol",
    r"utility >= ([\d.]+)": r"a utility of at least \1",
    r"leakage <= ([\d.]+)": r"a leakage of at most \1",
    r"--bins or --round": "bins or rounding",
    r" \(--missing drop\)": "",
    r"use --missing symbol or --missing drop": "choose another answer for missing values",
    r" \(--keep\)": "",
    r"; raise --memory": "; use a smaller table",
    r"; --holdout 0.3 shows how much": "",
}
DOING = {
    "look": "Reading the table",
    "inspect": "Measuring what is at stake",
    "search": "Searching releases",
    "compare": "Comparing with releases by lot",
    "choose": "Looking up this release",
    "release": "Making the release",
}


def on_the_page(text: str) -> str:
    """A sentence in the words of the page.

    >>> on_the_page("A rare symbol can point at a person; --min-count 5 forbids it.")
    'A rare symbol can point at a person; at least 5 records per symbol (under Columns) forbids it.'
    """
    for option, words in ON_THE_PAGE.items():
        text = re.sub(option, words, text)
    return text


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
