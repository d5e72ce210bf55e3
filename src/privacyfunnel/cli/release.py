"""``funnel release``: from a table to a file that can be published, with its codebook and report.

Each option is a field of ``releases/request.py``, where its meaning, its default and its check are; here
is a parameter of the same name, with its help. By that name it is handed on; only what must be read
first, a list of columns or a file say, is named once more.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from privacyfunnel.cli.options import (
    RECODING,
    AndX,
    Balance,
    BinsOption,
    Caps,
    Cuts,
    Effort,
    Expand,
    Fit,
    Force,
    GroupsOption,
    Hierarchies,
    Importance,
    InputFormat,
    Jobs,
    Keep,
    Key,
    MeasureOption,
    Memory,
    MinCount,
    MinDiversity,
    Missing,
    Orders,
    Output,
    Person,
    Public,
    RoundCuts,
    RoundOption,
    Secret,
    Seed,
    Sensitive,
    Shuffle,
    Suppress,
    Table,
    Useful,
    Weight,
    named_table,
    read_caps,
    read_columns,
    read_purpose,
    read_recoding,
    read_target,
)
from privacyfunnel.cli.progress import progress_bars
from privacyfunnel.cli.terminal import say
from privacyfunnel.releases.files import FILES
from privacyfunnel.releases.request import ReleaseRequest


def release(
    table: Table,
    sensitive: Sensitive,
    public: Public,
    output: Output,
    kept: Annotated[
        float | None, typer.Option(help="Share of each column to keep, on average, 0 to 1.")
    ] = None,
    leakage: Annotated[
        float | None,
        typer.Option(help="Share of the sensitive information to give at most, 0 to 1."),
    ] = None,
    utility: Annotated[
        float | None,
        typer.Option(help="Symbols: share of the public information to keep at least, 0 to 1."),
    ] = None,
    lam: Annotated[
        float | None, typer.Option(help="Bits given away that a bit kept is worth, 0 to 1.")
    ] = None,
    useful: Useful = None,
    and_x: AndX = False,
    measure: MeasureOption = ReleaseRequest.measure,
    cap: Caps = None,
    recoding: Annotated[
        str | None,
        typer.Option(
            help="global: each column coarsened alike for all records; local: each record as little as "
            "needed; symbols: any grouping, one column (the default of --utility and --lam).",
            rich_help_panel=RECODING,
        ),
    ] = ReleaseRequest.recoding,
    hierarchy: Hierarchies = None,
    order: Orders = None,
    cuts: Cuts = None,
    groups: GroupsOption = None,
    importance: Importance = None,
    balance: Balance = ReleaseRequest.balance,
    round_cuts: RoundCuts = ReleaseRequest.round_cuts,
    fit: Fit = ReleaseRequest.fit,
    suppress: Suppress = ReleaseRequest.suppress,
    numbers: Annotated[
        str,
        typer.Option(
            help="Intervals of numbers as label (25-34), bounds (two columns) or mean.",
            rich_help_panel=RECODING,
        ),
    ] = ReleaseRequest.numbers,
    soft: Annotated[
        bool,
        typer.Option("--soft", help="Draw each record's symbol by lot: gives away far less."),
    ] = ReleaseRequest.soft,
    min_count: MinCount = ReleaseRequest.min_count,
    min_diversity: MinDiversity = ReleaseRequest.min_diversity,
    effort: Effort = ReleaseRequest.effort,
    points: Annotated[
        int, typer.Option(help="Points of the frontier in the report.")
    ] = ReleaseRequest.points,
    bins: BinsOption = None,
    round_to: RoundOption = None,
    missing: Missing = "symbol",
    weight: Weight = None,
    person: Person = None,
    memory: Memory = None,
    input_format: InputFormat = None,
    expand: Expand = ReleaseRequest.expand,
    keep: Keep = None,
    key: Key = ReleaseRequest.key,
    secret: Secret = None,
    shuffle: Shuffle = ReleaseRequest.shuffle,
    form: Annotated[str, typer.Option("--format", help="parquet or csv.")] = ReleaseRequest.form,
    holdout: Annotated[
        float | None,
        typer.Option(
            help="A share, e.g. 0.3: check the method on as many records that it has not seen. The "
            "release is made from all records all the same."
        ),
    ] = ReleaseRequest.holdout,
    choose_on: Annotated[
        float | None,
        typer.Option(
            help="A share, e.g. 0.5: choose the code on as many records, drawn in secret, against one "
            "who knows all other records and runs the search again."
        ),
    ] = ReleaseRequest.choose_on,
    max_population_leakage: Annotated[
        float | None,
        typer.Option(
            help="With --choose-on: release only if no more than this share is given away, with 95% "
            "confidence, of people who are not in the table.",
            rich_help_panel="Limits (exit code 3 when one is broken)",
        ),
    ] = ReleaseRequest.max_population_leakage,
    attackers: Annotated[
        bool | None,
        typer.Option(
            "--attackers/--no-attackers",
            help="Train attackers on the release; by default where it takes seconds.",
        ),
    ] = ReleaseRequest.attackers,
    is_public: Annotated[
        bool, typer.Option("--public", help="Codebook and report without any figure about S.")
    ] = ReleaseRequest.is_public,
    jobs: Jobs = 2,
    seed: Seed = ReleaseRequest.seed,
    force: Force = False,
) -> None:
    """Publish columns coarsened so that they give away little about the sensitive ones.

    Writes release.parquet (or .csv), codebook.json, report.html and report.json, and for receivers
    README.html, datapackage.json and croissant.json; all or none.
    """
    given = locals()
    target: dict[str, Any] = read_target(
        not (groups or cuts or cap), kept=kept, leakage=leakage, utility=utility, lam=lam
    )
    from privacyfunnel.codebook import read_secret
    from privacyfunnel.columns import ColumnRules
    from privacyfunnel.releases.release import release as make_release
    from privacyfunnel.releases.written_file import NotAsMeasured

    named = {field.name: given.get(field.name) for field in fields(ReleaseRequest)}
    options = {name: value for name, value in named.items() if value not in (None, [])}  # not given
    options |= {
        "purpose": read_purpose(useful, and_x),
        "caps": read_caps(cap),
        **read_recoding(hierarchy, order, cuts, importance, groups),
        "keep": read_columns(keep) if keep else (),
        "secret": None if secret is None else read_secret(secret),
        "command": shlex.join(["funnel", *sys.argv[1:]]),
    }
    try:
        with progress_bars() as stages:
            made = make_release(
                named_table(table, input_format, memory),
                read_columns(sensitive),
                read_columns(public),
                out=output,
                source=table,
                columns=ColumnRules.parse(bins or (), round_to or (), missing),
                weight=weight,
                person=person,
                memory=memory,
                n_jobs=jobs,
                force=force,
                stages=stages,
                useful=read_columns(useful) if useful else (),
                **options,
                **target,
            )
    except NotAsMeasured as error:
        say(f"funnel: {error}", err=True)
        raise typer.Exit(1) from None
    _print_summary(made.document, output)


def _print_summary(document: Mapping[str, Any], folder: Path) -> None:
    """What was kept, what is given away, how far from the limit; kept columns are named loudly."""
    from privacyfunnel.report import summary
    from privacyfunnel.report.numbers import listed

    for line in summary(document):
        say(line)
    abouts = list(dict.fromkeys(caution["about"] for caution in document["cautions"]))
    if abouts:
        say(f"Warnings, explained in the report: {listed(abouts)}.")
    names = [document["release"]["file"], *FILES]
    say(f"Written to {folder}: {listed(names)}.")
    for name in document["asked"]["keep"]:
        say(
            f"funnel: warning: the column {name!r} is passed through as it is and not protected.",
            err=True,
        )
