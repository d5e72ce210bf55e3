"""``funnel release``: from a table to a file that can be published, with its codebook and report."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from privacyfunnel.cli.options import (
    BinsOption,
    Effort,
    Expand,
    Force,
    Jobs,
    Keep,
    Key,
    Memory,
    MinCount,
    Missing,
    Output,
    Public,
    RoundOption,
    Seed,
    Sensitive,
    Table,
    Weight,
    read_columns,
    read_target,
)
from privacyfunnel.cli.progress import progress_bars


def release(
    table: Table,
    sensitive: Sensitive,
    public: Public,
    output: Output,
    utility: Annotated[
        float | None, typer.Option(help="Share of the public information to keep at least, 0 to 1.")
    ] = None,
    leakage: Annotated[
        float | None,
        typer.Option(help="Share of the sensitive information to give at most, 0 to 1."),
    ] = None,
    lam: Annotated[
        float | None, typer.Option(help="Bits given away that a bit kept is worth, 0 to 1.")
    ] = None,
    soft: Annotated[
        bool,
        typer.Option("--soft", help="Draw each record's symbol by lot: gives away far less."),
    ] = False,
    min_count: MinCount = 1,
    effort: Effort = "normal",
    points: Annotated[int, typer.Option(help="Points of the frontier in the report.")] = 20,
    bins: BinsOption = None,
    round_to: RoundOption = None,
    missing: Missing = "symbol",
    weight: Weight = None,
    memory: Memory = None,
    expand: Expand = False,
    keep: Keep = None,
    key: Key = None,
    form: Annotated[str, typer.Option("--format", help="parquet or csv.")] = "parquet",
    holdout: Annotated[
        float | None,
        typer.Option(
            help="A share, e.g. 0.3: check the method on as many records that it has not seen. The "
            "release is made from all records all the same."
        ),
    ] = None,
    attackers: Annotated[
        bool | None,
        typer.Option(
            "--attackers/--no-attackers",
            help="Train attackers on the release; by default where it takes seconds.",
        ),
    ] = None,
    is_public: Annotated[
        bool, typer.Option("--public", help="Codebook and report without any figure about S.")
    ] = False,
    jobs: Jobs = 2,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Publish columns coarsened so that they give away little about the sensitive ones.

    Writes release.parquet (or .csv), codebook.json, report.html and report.json, all or none.
    """
    target = read_target(utility=utility, leakage=leakage, lam=lam)
    from privacyfunnel.columns import ColumnRules
    from privacyfunnel.releases import Asked, NotAsMeasured, make_release
    from privacyfunnel.releases.release import check_output
    from privacyfunnel.tables import count, open_table

    rules = ColumnRules.parse(bins or (), round_to or (), missing)
    asked = Asked(
        table=table,
        target=target,
        soft=soft,
        min_count=min_count,
        effort=effort,
        points=points,
        seed=seed,
        expand=expand,
        keep=read_columns(keep) if keep else (),
        key=key,
        form=form,
        is_public=is_public,
        command=shlex.join(["funnel", *sys.argv[1:]]),
        attackers=attackers,
        holdout=holdout,
    )
    opened = open_table(table, memory=memory)
    check_output(opened, output, form, force)
    counts = count(
        opened, read_columns(sensitive), read_columns(public), columns=rules, weight=weight
    )
    try:
        with progress_bars() as stages:
            document = make_release(
                opened, counts, output, asked, jobs=jobs, force=force, stages=stages
            )
    except NotAsMeasured as error:
        typer.echo(f"funnel: {error}", err=True)
        raise typer.Exit(1) from None
    _print_summary(document, output)


def _print_summary(document: Mapping[str, Any], folder: Path) -> None:
    """What was kept, what is given away, how far from the limit; kept columns are named loudly."""
    from privacyfunnel.report import summary
    from privacyfunnel.report.escape import visible
    from privacyfunnel.report.figures import listed

    for line in summary(document):
        typer.echo(visible(line))
    abouts = list(dict.fromkeys(caution["about"] for caution in document["cautions"]))
    if abouts:
        typer.echo(f"Warnings, explained in the report: {listed(abouts)}.")
    names = [document["release"]["file"], "codebook.json", "report.html", "report.json"]
    typer.echo(f"Written to {folder}: {listed(names)}.")
    for name in document["asked"]["keep"]:
        typer.echo(
            f"funnel: warning: the column {name!r} is passed through as it is and not protected.",
            err=True,
        )
