"""Terminal: lines of text, without characters that a terminal would obey instead of showing."""

from __future__ import annotations

from collections.abc import Iterable

import typer

BROKEN = 3  # the exit code where a limit that was asked for is not kept


def say(line: str, *, err: bool = False) -> None:
    """Print a text; control characters in its lines are spelled out.

    A column's name may hold an escape that moves the cursor, sets the title or pastes a command.

    >>> say("named \\x1b]0;owned\\x07")
    named \\x1b]0;owned\\x07
    """
    from privacyfunnel.report.escape import visible

    typer.echo("\n".join(visible(part) for part in line.split("\n")), err=err)


def warn_of_kept(names: Iterable[str]) -> None:
    """Name loudly the columns that nothing was done to."""
    for name in names:
        words = f"the column {name!r} is passed through as it is and not protected."
        say(f"funnel: warning: {words}", err=True)
