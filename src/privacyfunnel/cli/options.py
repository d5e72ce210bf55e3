"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privacyfunnel.errors import DataUnavailable, InvalidInput

Table = Annotated[
    str, typer.Argument(help="A csv, tsv, parquet or json lines file, or duckdb://FILE#TABLE.")
]
Sensitive = Annotated[
    str, typer.Option("-s", "--sensitive", help="Sensitive columns, separated by commas.")
]
Public = Annotated[
    str, typer.Option("-x", "--public", help="Columns to publish, separated by commas.")
]
Output = Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")]
Seed = Annotated[int, typer.Option(help="Seed of all random choices.")]
Jobs = Annotated[int, typer.Option(help="Processes to use; the result does not depend on it.")]
Force = Annotated[bool, typer.Option("--force", help="Replace results that are there already.")]
Effort = Annotated[str, typer.Option(help="How long to search: fast, normal or thorough.")]
MinCount = Annotated[
    int, typer.Option(help="Least number of records that every released symbol covers.")
]

PROBLEM_NAMES = {
    "pf": "funnel",
    "ib": "bottleneck",
    "funnel": "funnel",
    "bottleneck": "bottleneck",
}


def read_problem(name: str) -> str:
    """The library's name of a problem."""
    if name not in PROBLEM_NAMES:
        raise InvalidInput(f"--problem must be pf or ib, got {name!r}.")
    return PROBLEM_NAMES[name]


def read_columns(text: str) -> list[str]:
    """Column names from a list with commas; a doubled comma stands for one within a name.

    >>> read_columns("age, sex")
    ['age', 'sex']
    >>> read_columns("name,,first,sex")
    ['name,first', 'sex']
    """
    parts = text.replace(",,", "\0").split(",")
    names = [part.replace("\0", ",").strip() for part in parts]
    if not all(names):
        raise InvalidInput(f"column names are missing in {text!r}.")
    return names


def make_folder(path: Path, files: list[str], force: bool) -> Path:
    """The folder for results, made if need be; refused if it holds one of them already."""
    present = [name for name in files if (path / name).exists()]
    if present and not force:
        raise InvalidInput(f"{path / present[0]} exists; use --force to replace it.")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataUnavailable(f"cannot make the folder {path}: {error.strerror}.") from None
    return path
