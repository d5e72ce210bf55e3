"""``funnel release``: from a table to a file that can be published, with its codebook and report.

A field of ``releases/request.py`` with its meaning is an option here, and handed on by its name; written
out are only options that are no such field.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from privacyfunnel.cli import options
from privacyfunnel.cli.hints import HINTS
from privacyfunnel.cli.progress import progress_bars
from privacyfunnel.cli.terminal import say, warn_of_kept
from privacyfunnel.columns.spelling import read_columns
from privacyfunnel.releases.files import FILES
from privacyfunnel.releases.request import ASKED, INSTEAD, TARGETS


@options.takes_a_request(*TARGETS, *ASKED)  # a new option is a field of releases/request.py
def release(
    table: options.Table,
    sensitive: options.Sensitive,
    public: options.Public,
    output: options.Output,
    *,
    useful: options.Useful = None,
    and_x: options.AndX = False,
    counting: options.CountingPersons,
    opening: options.Opening,
    secret: options.Secret = None,
    jobs: options.Jobs = 2,
    force: options.Force = False,
    **asked: Any,
) -> None:
    """Publish columns coarsened so that they give away little about the sensitive ones.

    Writes release.parquet (or .csv), codebook.json, report.html and report.json, and for receivers
    README.html, datapackage.json and croissant.json; all or none.
    """
    targets = {name: asked.pop(name) for name in TARGETS}
    request = options.read_asked(asked)
    request |= options.read_target(not request.keys() & set(INSTEAD), **targets)
    from privacyfunnel.codebook import read_secret
    from privacyfunnel.releases.release import release as make_release
    from privacyfunnel.releases.written_file import NotAsMeasured

    request |= {
        "purpose": options.read_purpose(useful, and_x),
        "secret": None if secret is None else read_secret(secret),
        "command": shlex.join(["funnel", *sys.argv[1:]]),
    }
    try:
        with progress_bars() as stages:
            made = make_release(
                opening.open(table),
                read_columns(sensitive),
                read_columns(public),
                out=output,
                source=table,
                n_jobs=jobs,
                force=force,
                stages=stages,
                hints=HINTS,
                useful=read_columns(useful or ()),
                **counting.arguments(),
                **request,
            )
    except NotAsMeasured as error:
        say(f"funnel: {error}", err=True)
        raise typer.Exit(1) from None
    _print_summary(made.document, output)


def _print_summary(document: Mapping[str, Any], folder: Path) -> None:
    """What was kept, what is given away, how far from the limit; kept columns are named loudly."""
    from privacyfunnel.report.numbers import listed
    from privacyfunnel.report.words import summary

    for line in summary(document):
        say(line)
    abouts = list(dict.fromkeys(caution["about"] for caution in document["cautions"]))
    if abouts:
        say(f"Warnings, explained in the report: {listed(abouts)}.")
    names = [document["release"]["file"], *FILES]
    say(f"Written to {folder}: {listed(names)}.")
    warn_of_kept(document["asked"]["keep"])
