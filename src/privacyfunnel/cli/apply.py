"""``funnel apply``: the coding of a codebook on new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privacyfunnel.cli import options
from privacyfunnel.cli.terminal import say, warn_of_kept
from privacyfunnel.columns.spelling import read_columns


def apply(
    codebook: options.CodebookFile,
    table: options.Table,
    output: Annotated[Path, typer.Option("-o", "--output", help="A .parquet or .csv file.")],
    *,
    unseen: Annotated[
        str, typer.Option(help="Values that the codebook does not know: error or suppress.")
    ] = "error",
    expand: Annotated[bool, options.asked("expand")] = False,
    keep: options.Keep = None,
    key: options.Key = None,
    numbers: Annotated[str, options.asked("numbers")] = "label",
    shuffle: Annotated[bool, options.asked("shuffle")] = False,
    opening: options.Opening,
    force: options.Force = False,
) -> None:
    """Release new rows by the same coding."""
    from privacyfunnel.codebook import Codebook
    from privacyfunnel.report.numbers import several
    from privacyfunnel.tables import write_release

    book = Codebook.load(codebook)
    kept = read_columns(keep or ())
    done = write_release(
        opening.open(table),
        book,
        output,
        expand=expand,
        keep=kept,
        unseen=unseen,
        key=key,
        numbers=numbers,
        shuffle=shuffle,
        force=force,
    )
    why = "with values that the codebook does not know"
    if book.min_count > 1:
        why += f", or alike with fewer than {book.min_count} rows"
    notes = [
        f"{several(n, 'row')} {words}"
        for n, words in (
            (done.n_suppressed, f"suppressed, {why}"),
            (done.n_dropped, "left out for a missing value"),
        )
        if n
    ]
    tail = f" ({'; '.join(notes)})" if notes else ""
    say(f"{several(done.n_released, 'row')} written to {output}{tail}.")
    if done.n_dropped and not shuffle:
        say(
            "funnel: warning: beside the table, the order of the rows tells which were left out; "
            "--shuffle mixes them.",
            err=True,
        )
    warn_of_kept(kept)
