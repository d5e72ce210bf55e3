"""``funnel audit``: what published columns say about the sensitive ones; a gate for pipelines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privacyfunnel.cli import options
from privacyfunnel.cli.progress import progress_bar
from privacyfunnel.cli.terminal import BROKEN, say
from privacyfunnel.columns.spelling import read_columns
from privacyfunnel.errors import InvalidInput
from privacyfunnel.files import check_target, write_text

if TYPE_CHECKING:
    from rich.console import Console

FORMATS = (".json", ".html")


def _limit(meaning: str) -> Any:
    return typer.Option(help=meaning, rich_help_panel=options.LIMITS)


def audit(
    table: options.Table,
    sensitive: options.Sensitive,
    public: Annotated[
        list[str],
        typer.Option(
            "-x", "--publish", help="Published columns, separated by commas; may be repeated."
        ),
    ],
    *,
    original: Annotated[
        str | None, typer.Option(help="Columns that the published ones stand for, to compare with.")
    ] = None,
    useful: Annotated[
        list[str] | None,
        typer.Option(
            "-y", "--useful", help="Columns that receivers want to guess from the published."
        ),
    ] = None,
    measure: Annotated[str, options.asked("measure")] = "shannon",
    output: Annotated[
        list[Path] | None,
        typer.Option("-o", "--output", help="A .json or .html file; may be repeated."),
    ] = None,
    as_json: options.AsJson = False,
    max_leakage: Annotated[
        float | None, _limit("Most of the sensitive information given away.")
    ] = None,
    max_guess: Annotated[float | None, _limit("Most probability of a right guess.")] = None,
    min_k: Annotated[int | None, _limit("Least k-anonymity.")] = None,
    min_l: Annotated[int | None, _limit("Least l-diversity.")] = None,
    max_t: Annotated[float | None, _limit("Most t-closeness.")] = None,
    max_population_leakage: Annotated[
        float | None,
        _limit("Most given away of people who are not in the table, with 95% confidence."),
    ] = None,
    permutations: Annotated[
        int, typer.Option(help="Shuffles that show what is chance; 0 for none.")
    ] = 200,
    bootstraps: Annotated[
        int, typer.Option(help="Resamples for the 95% interval; 0 for none.")
    ] = 200,
    attackers: Annotated[
        bool, typer.Option("--attackers/--no-attackers", help="Whether to train attackers.")
    ] = True,
    folds: Annotated[int, typer.Option(help="Parts of the attackers' cross-validation.")] = 5,
    attack_rows: Annotated[
        int | None, typer.Option(help="Records drawn for the attackers; all if not given.")
    ] = None,
    counting: options.CountingPersons,
    new: Annotated[
        str | None,
        typer.Option(
            help="Column that marks with true or 1 the records that the published columns were not "
            "chosen on: they tell what is given away of people who are not in the table."
        ),
    ] = None,
    all_new: Annotated[
        bool,
        typer.Option("--all-new", help="The published columns were chosen on none of the records."),
    ] = False,
    opening: options.Opening,
    jobs: options.Jobs = 2,
    seed: options.Seed = 0,
    force: options.Force = False,
) -> None:
    """What published columns, of this or any other tool, tell about the sensitive ones.

    The table holds both. A limit that is broken ends with exit code 3, for use in a pipeline.
    """
    from privacyfunnel.audits import Limits, Trials, broken
    from privacyfunnel.audits import audit as run

    limits = Limits(max_leakage, max_guess, min_k, min_l, max_t, max_population_leakage)
    if new is not None and all_new:
        raise InvalidInput("--new and --all-new say different things; leave one out.")
    trials = Trials(permutations, bootstraps, attackers, folds, attack_rows, seed, jobs)
    counted = counting.arguments()  # which refuses what cannot be read, before the work
    outputs = output or []
    _check_outputs(outputs, force)
    with progress_bar("Auditing") as progress:
        found = run(
            opening.open(table),
            read_columns(sensitive),
            read_columns(public),
            original=read_columns(original or ()),
            useful=read_columns(useful or ()),
            measure=measure,
            new=new or all_new,
            **counted,
            trials=trials,
            progress=progress,
        )
    failed = broken(found, limits)
    document = {
        **found.as_dict(),
        "table": table,
        "limits": {"asked": limits.asked, "broken": failed},
    }
    _write(document, outputs, force)
    _print(document, as_json)
    for sentence in failed:
        say(f"funnel: limit broken: {sentence}.", err=True)
    if failed:
        raise typer.Exit(BROKEN)


def _check_outputs(paths: Sequence[Path], force: bool) -> None:
    """Refuse what cannot be written before the work, which may take long."""
    for path in paths:
        if path.suffix.lower() not in FORMATS:
            raise InvalidInput(f"an audit is written as .json or .html, not as {path.name!r}.")
        check_target(path, force)
    resolved = [path.resolve() for path in paths]
    twice = [path for path, place in zip(paths, resolved, strict=True) if resolved.count(place) > 1]
    if twice:
        raise InvalidInput(f"{twice[0]} is named twice; write each report to a file of its own.")


def _write(document: Mapping[str, Any], paths: Sequence[Path], force: bool) -> None:
    from privacyfunnel.report.page import audit_page

    for path in paths:
        if path.suffix.lower() == ".json":
            text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        else:
            text = audit_page(document)
        write_text(path, text, force)


def _print(document: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(document, indent=1, allow_nan=False))  # all of it in ASCII
        return
    from rich.console import Console

    from privacyfunnel.report import attacker_words
    from privacyfunnel.report import audit_words as words
    from privacyfunnel.report import usefulness_words as usefulness
    from privacyfunnel.report.escape import visible

    console = Console(highlight=False, markup=False)
    for line in words.headline(document):
        console.print(visible(line), soft_wrap=not console.is_terminal)
    for section, keys in words.SECTIONS.items():
        _print_table(console, section, words.measures(document, keys))
        for line in words.missing(document, keys):
            console.print(visible(line), soft_wrap=not console.is_terminal)
    attackers = "Attackers on records not learnt from (± is twice the standard error)"
    for title, table in (
        ("Each sensitive column", [words.COLUMNS, *words.column_rows(document)]),
        (attackers, [attacker_words.TITLES, *attacker_words.attacker_rows(document)]),
        ("What a receiver can tell", [usefulness.COLUMNS, *usefulness.column_rows(document)]),
        ("Links that are left", [usefulness.PAIRS, *usefulness.pair_rows(document)]),
        ("What a receiver can guess", [usefulness.USES, *usefulness.use_rows(document)]),
    ):
        _print_table(console, title, table)
    if not document["limits"]["broken"]:  # those go to stderr
        for line in words.verdict(document):
            console.print(line)


def _print_table(console: Console, title: str, table: Sequence[Sequence[str]]) -> None:
    """The rows of a table below its titles; none where there are no rows."""
    from rich import box
    from rich.table import Table as Drawn
    from rich.text import Text

    from privacyfunnel.report.escape import visible

    head, *rows = table
    if not rows:
        return
    console.print(f"\n{title}")
    drawn = Drawn(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in head:
        drawn.add_column(Text(name))
    for row in rows:
        drawn.add_row(*(Text(visible(text)) for text in row))
    console.print(drawn)
