"""``funnel reproduce``: the paper's figures, ours beside theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privacyfunnel.cli import options
from privacyfunnel.cli.progress import progress_bar
from privacyfunnel.cli.terminal import say
from privacyfunnel.errors import from_extra
from privacyfunnel.folders import check_folder


def reproduce(
    output: options.Output,
    data: Annotated[
        Path | None,
        typer.Option(
            help="UCI's hungarian.data, or a csv with age,sex,chol; fetched if not given."
        ),
    ] = None,
    figure: Annotated[
        list[str] | None, typer.Option(help="Only this figure, e.g. fig3; may be repeated.")
    ] = None,
    jobs: options.Jobs = 2,
    seed: options.Seed = 0,
    force: options.Force = False,
) -> None:
    """Reproduce the figures of Ding & Sadeghi (2019), with a verdict on each claim."""
    from privacyfunnel import datasets

    with from_extra("plots", "a figure"):
        from privacyfunnel.reproduce import reproduce as run

    check_folder(output, ["summary.md"], force)
    table = datasets.fetch_hungarian() if data is None else datasets.read_hungarian(data)
    with progress_bar("Reproducing") as progress:
        claims = run(table, output, figure, seed=seed, n_jobs=jobs, progress=progress)
    say(f"{len(claims)} claims looked at; see {output / 'summary.md'}")
