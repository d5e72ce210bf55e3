"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privacyfunnel.errors import InvalidInput

Table = Annotated[
    str, typer.Argument(help="A csv, tsv, parquet or json lines file, or duckdb://FILE#TABLE.")
]
Sensitive = Annotated[
    str, typer.Option("-s", "--sensitive", help="Sensitive columns, separated by commas.")
]
Public = Annotated[
    str, typer.Option("-x", "--publish", help="Columns to publish, separated by commas.")
]
Output = Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")]
Seed = Annotated[int, typer.Option(help="Seed of all random choices.")]
Jobs = Annotated[int, typer.Option(help="Processes to use; the result does not depend on it.")]
Force = Annotated[bool, typer.Option("--force", help="Replace results that are there already.")]
Effort = Annotated[str, typer.Option(help="How long to search: fast, normal or thorough.")]
MinCount = Annotated[
    int, typer.Option(help="Least number of records that every released symbol covers.")
]
BinsOption = Annotated[
    list[str] | None,
    typer.Option("--bins", help="chol=10 (quantiles) or age=0,18,40,65 (edges); may be repeated."),
]
RoundOption = Annotated[
    list[str] | None, typer.Option("--round", help="chol=10: to multiples of 10; may be repeated.")
]
Missing = Annotated[
    str, typer.Option(help="Missing values: symbol (a value of their own), drop or error.")
]
Weight = Annotated[str | None, typer.Option(help="Column that weighs the records.")]
Memory = Annotated[str | None, typer.Option(help="Most memory for the table, e.g. 2GB; spills.")]
Expand = Annotated[
    bool, typer.Option("--expand", help="Add, per public column, what the symbol stands for.")
]
Keep = Annotated[
    str | None,
    typer.Option(help="Columns to pass through as they are, NOT protected, separated by commas."),
]
Key = Annotated[
    str | None, typer.Option(help="Column that names the row; random releases draw by it.")
]

Shuffle = Annotated[
    bool,
    typer.Option(
        "--shuffle", help="Write the rows in a random order, which tells nothing of the table."
    ),
]
Secret = Annotated[
    Path | None,
    typer.Option(
        help="File with the secret of the draws, made if it is not there. Keep it apart from the table: "
        "with it and --key a record keeps its draw in every release."
    ),
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


def read_target(**given: float | None) -> dict[str, float]:
    """The one target among those that a release can have.

    >>> read_target(utility=0.4, leakage=None)
    {'utility': 0.4}
    """
    target = {name: value for name, value in given.items() if value is not None}
    options = [f"--{name}" for name in given]
    if len(target) != 1:
        got = " and ".join(f"--{name}" for name in target) or "none"
        raise InvalidInput(
            f"give exactly one of {', '.join(options[:-1])} or {options[-1]}; got {got}."
        )
    ((name, value),) = target.items()
    if not 0.0 <= value <= 1.0:
        raise InvalidInput(f"--{name} must lie in [0, 1], got {value:g}.")
    return target
