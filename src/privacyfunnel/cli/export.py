"""``funnel export``: the coding of a codebook for those who do not have this software."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from privacyfunnel.cli import options
from privacyfunnel.cli.terminal import say
from privacyfunnel.columns.spelling import read_columns
from privacyfunnel.errors import InvalidInput
from privacyfunnel.files import write_text

FORMS = ("sql", "dbt", "arx", "csv")


def export(
    codebook: options.CodebookFile,
    to: Annotated[
        str,
        typer.Option(
            help="sql (one statement), dbt (a project), arx (hierarchy files) or csv (a list)."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="A file for sql and csv, a folder for dbt and arx."),
    ],
    dialect: Annotated[
        str,
        typer.Option(
            help="SQL of duckdb, sqlite, postgres, spark, bigquery or snowflake; for sql and dbt."
        ),
    ] = "duckdb",
    table: Annotated[
        str, typer.Option(help="The table that the SQL reads, e.g. patients or schema.patients.")
    ] = "table",
    keep: options.Keep = None,
    key: options.Key = None,
    numbers: Annotated[
        str,
        typer.Option(help="Groups of numbers as label (25-34), bounds (two columns more) or mean."),
    ] = "label",
    unseen: Annotated[
        str,
        typer.Option(
            help="Values that the codebook does not know: suppress, or null; SQL cannot end in an error."
        ),
    ] = "suppress",
    has_sensitive: Annotated[
        bool,
        typer.Option(
            "--has-sensitive",
            help="The table has the sensitive columns: with missing values dropped, theirs count too.",
        ),
    ] = False,
    force: options.Force = False,
) -> None:
    """The same coding for a warehouse or another tool, without this software."""
    from privacyfunnel.codebook import Codebook
    from privacyfunnel.report.numbers import listed

    if to not in FORMS:
        raise InvalidInput(f"--to must be one of {', '.join(FORMS)}, got {to!r}.")
    book = Codebook.load(codebook)
    asked: dict[str, Any] = {
        "keep": read_columns(keep or ()),
        "numbers": numbers,
        "unseen": unseen,
        "key": key,
        "has_sensitive": has_sensitive,
    }
    private = not book.is_public
    if to == "sql":
        text = book.to_sql(dialect, table=table.split("."), **asked)
        write_text(output, text, force, is_private=private)
        say(f"SQL for {dialect} written to {output}.")
        return
    if to == "csv":
        write_text(output, book.to_csv(), force, is_private=private)
        say(f"{len(book.symbols):,} symbols written to {output}.")
        return
    files = book.to_dbt(dialect, table=table, **asked) if to == "dbt" else book.to_arx()
    _write_folder(output, files, private)
    say(f"Written to {output}: {listed(list(files))}.")
    if to == "dbt":
        say(f"Run: dbt build --project-dir {output} --vars '{{funnel_table: YOUR_TABLE}}'")


def _write_folder(folder: Path, files: dict[str, str], is_private: bool) -> None:
    """All files or none, in a folder of their own; a private codebook's for their owner only."""
    from privacyfunnel.folders import together

    if folder.exists():
        raise InvalidInput(f"{folder} exists; name a folder that does not.")
    with together(folder, ()) as work:
        for name, text in files.items():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            write_text(work / name, text, is_private=is_private)
