"""``funnel verify``: the files and figures of a release, compared and measured again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privacyfunnel.cli import options
from privacyfunnel.cli.terminal import BROKEN, say


def verify(
    folder: Annotated[Path, typer.Argument(help="The folder of a release.")],
    table: Annotated[
        str | None,
        typer.Argument(help="The table that it was made from; without it less can be measured."),
    ] = None,
    memory: options.Memory = None,
) -> None:
    """Compare the files of a release with their fingerprints and measure its figures again.

    What is not as it was told is named, and ends with exit code 3.
    """
    from privacyfunnel.releases.verification import verify as run
    from privacyfunnel.report.numbers import listed, several

    done = run(folder, table, memory=memory)
    for finding in done.findings:
        say(f"funnel: {finding}", err=True)
    files, figures = several(done.n_files, "file"), several(done.n_figures, "figure")
    say(f"Compared {files} and {figures}.")
    if done.not_measured:
        say(f"Not measured again: {listed(done.not_measured)}.")
    if not done.is_good:
        raise typer.Exit(BROKEN)
    say("All is as it was told.")
