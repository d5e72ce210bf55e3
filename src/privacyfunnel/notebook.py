"""Notebook: how objects show themselves there, in its own colours, and a bar for long work."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from privacyfunnel.parallel import Progress

MOST_ROWS = 12  # of a table; what is left out is counted
LINE = "color-mix(in srgb, currentColor 25%, transparent)"  # seen on light and on dark ground
CELL = f"padding: 0.15em 0.8em; text-align: left; border-bottom: 1px solid {LINE};"


def card(
    title: str,
    facts: Mapping[str, Any],
    header: Sequence[str] = (),
    rows: Iterable[Sequence[Any]] = (),
) -> str:
    """A title, facts under their names and, where there is one, a table; all of it escaped.

    >>> "<i>" in card("Joint", {"records": "<i>"})
    False
    """
    told = " · ".join(f"{escape(name)} <b>{escape(str(fact))}</b>" for name, fact in facts.items())
    lines = list(rows)
    table = ""
    if lines:
        heads = "".join(f'<th style="{CELL}">{escape(name)}</th>' for name in header)
        body = ""
        for line in lines[:MOST_ROWS]:
            cells = (f'<td style="{CELL}">{escape(str(cell))}</td>' for cell in line)
            body += f"<tr>{''.join(cells)}</tr>"
        table = (
            '<table style="border-collapse: collapse; margin: 0.4em 0 0; color: inherit;">'
            f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
        )
        if len(lines) > MOST_ROWS:
            table += f"<div>and {len(lines) - MOST_ROWS:,} more</div>"
    return (
        '<div style="color: inherit; font-variant-numeric: tabular-nums;">'
        f"<div><strong>{escape(title)}</strong></div><div>{told}</div>{table}</div>"
    )


def in_short(labels: Iterable[str], most: int = 5) -> str:
    """The first of many labels, and how many more there are.

    >>> in_short("abcdefg")
    'a, b, c, d, e and 2 more'
    """
    given = list(labels)
    more = f" and {len(given) - most} more" if len(given) > most else ""
    return ", ".join(given[:most]) + more


def progress_bar(what: str) -> Progress:
    """A bar under the running cell, to be passed as ``progress=`` to whatever takes long.

    It is drawn anew four times a second at most. Outside of a notebook IPython prints a line each time.
    """
    import IPython.display

    page: Any = IPython.display

    def drawn(done: int, total: int) -> Any:
        bar = f'<progress value="{done}" max="{total}"></progress>'
        return page.HTML(f"{escape(what)} {bar} {done:,} of {total:,}")

    handle, last = page.display(drawn(0, 1), display_id=True), 0.0

    def progress(done: int, total: int) -> None:
        nonlocal last
        if done >= total or time.monotonic() - last > 0.25:
            last = time.monotonic()
            handle.update(drawn(done, total))

    return progress
