"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from datetime import date, datetime
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from privacyfunnel.columns import MISSING
from privacyfunnel.errors import InvalidInput
from privacyfunnel.releases.request import TARGETS, ReleaseRequest

PURPOSE = "What is hidden, what is kept"
RECODING = "Readable releases"
LIMITS = "Limits (exit code 3 when one is broken)"
PANELS = {"purpose": PURPOSE, "readable": RECODING, "limits": LIMITS, None: None}

FIELDS = {field.name: field for field in fields(ReleaseRequest) if "meaning" in field.metadata}
KINDS = get_type_hints(ReleaseRequest)


def asked(name: str) -> Any:
    """The option of a field of a request: its name, its help and the panel that it stands in."""
    told = FIELDS[name].metadata
    option = (told["name"] or name).replace("_", "-")
    both = f"/--no-{option}" if KINDS[name] == bool | None else ""
    return typer.Option(
        f"--{option}{both}", help=told["meaning"], rich_help_panel=PANELS[told["topic"]]
    )


def _policies() -> str:
    """What can be done about missing values; what is released as a value is said to be one."""
    *others, last = (
        f"{name} ({policy.choice})" if policy.is_symbol else name
        for name, policy in MISSING.items()
    )
    return f"{', '.join(others)} or {last}"


def _readable(option: str, meaning: str) -> Any:
    return typer.Option(option, help=meaning, rich_help_panel=RECODING)


def takes_a_request(command: Callable[..., None]) -> Callable[..., None]:
    """A command that takes, beside its own parameters, the targets and fields of a request by name."""
    *own, _ = signature(command, eval_str=True).parameters.values()
    needed = [parameter for parameter in own if parameter.default is Parameter.empty]
    targets = {
        name: (None, Annotated[float | None, typer.Option(help=meaning)])
        for name, meaning in TARGETS.items()
    }
    settings = {
        name: (field.default, Annotated[KINDS[name], asked(name)]) for name, field in FIELDS.items()
    }
    request = [
        Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=kind)
        for name, (default, kind) in (targets | settings).items()
    ]
    command.__signature__ = Signature([*needed, *request, *own[len(needed) :]])  # type: ignore[attr-defined]
    return command


Table = Annotated[
    str, typer.Argument(help="A csv, tsv, parquet or json lines file, or duckdb://FILE#TABLE.")
]
InputFormat = Annotated[
    str | None,
    typer.Option(help="csv, tsv, parquet or json (lines), where the file's name does not tell."),
]
Sensitive = Annotated[
    list[str],
    typer.Option(
        "-s", "--sensitive", help="Sensitive columns, separated by commas; may be repeated."
    ),
]
Public = Annotated[
    list[str],
    typer.Option(
        "-x", "--publish", help="Columns to publish, separated by commas; may be repeated."
    ),
]
Output = Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")]
Seed = Annotated[int, asked("seed")]
Jobs = Annotated[int, typer.Option(help="Processes to use; the result does not depend on it.")]
Force = Annotated[bool, typer.Option("--force", help="Replace results that are there already.")]
BinsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--bins",
        help="chol=10 (quantiles) or age=0,18,40,65 (edges); dates too; may be repeated.",
    ),
]
RoundOption = Annotated[
    list[str] | None,
    typer.Option("--round", help="chol=10: to multiples of 10; born=month: or day, quarter, year."),
]
Missing = Annotated[str, typer.Option(help=f"Missing values: {_policies()}.")]
Weight = Annotated[str | None, typer.Option(help="Column that weighs the records.")]
Person = Annotated[
    str | None, typer.Option(help="Column that says whose row it is, where people have several.")
]
Memory = Annotated[str | None, typer.Option(help="Most memory for the table, e.g. 2GB; spills.")]
Expand = Annotated[bool, asked("expand")]
Shuffle = Annotated[bool, asked("shuffle")]
Key = Annotated[str | None, asked("key")]
Keep = Annotated[
    str | None,
    typer.Option(help="Columns to pass through as they are, NOT protected, separated by commas."),
]
Secret = Annotated[
    Path | None,
    typer.Option(
        help="File with the secret of the draws, made if it is not there. Keep it apart from the table: "
        "with it and --key a record keeps its draw, and with one codebook (funnel apply) its symbol."
    ),
]
Useful = Annotated[
    list[str] | None,
    typer.Option(
        "-y",
        "--useful",
        help="Columns that the release is for: what X says about them is kept. They are not published.",
        rich_help_panel=PURPOSE,
    ),
]
AndX = Annotated[
    bool,
    typer.Option(
        "--and-x",
        help="With -y: keep the published columns themselves as well, half and half.",
        rich_help_panel=PURPOSE,
    ),
]
MeasureOption = Annotated[str, asked("measure")]
Caps = Annotated[
    list[str] | None,
    typer.Option(
        "--cap",
        help="sex=0.01 or race=guessing:0.02: the most to give away of one sensitive column, as a "
        "share; every cap is met and the most is kept. May be repeated.",
        rich_help_panel=PURPOSE,
    ),
]
Hierarchies = Annotated[
    list[str] | None,
    _readable(
        "--hierarchy",
        "education=FILE: the column's tree, a line for each value: value;level 1;...;*.",
    ),
]
Orders = Annotated[
    list[str] | None,
    _readable("--order", "education='Preschool<1st-4th<...': the column's values, first to last."),
]
Cuts = Annotated[
    list[str] | None,
    _readable("--cuts", "age=18,25,65: the only places where a column may be cut."),
]
GroupsOption = Annotated[
    list[str] | None,
    _readable(
        "--groups",
        "Exactly these groups: job='nurse,doctor|clerk,cook' (other values stay), age=18,65.",
    ),
]
Importance = Annotated[
    list[str] | None,
    _readable("--importance", "age=2: what is kept of age counts twice; may be repeated."),
]


def named_table(table: str, input_format: str | None, memory: str | None) -> Any:
    """The table as it was named; opened already where its format was."""
    if input_format is None:
        return table
    from privacyfunnel.tables import open_table

    return open_table(table, memory=memory, input_format=input_format)


def read_purpose(useful: list[str] | None, and_x: bool) -> str:
    """What is kept: X, its use, or both."""
    if and_x and not useful:
        raise InvalidInput("--and-x goes with -y, the columns that the release is for.")
    return "both" if and_x else "useful" if useful else "x"


def read_caps(words: list[str] | None) -> dict[str, str]:
    """The cap of each column, as text.

    >>> read_caps(["sex=0.01", "race=guessing:0.02"])
    {'sex': '0.01', 'race': 'guessing:0.02'}
    """
    return _named("--cap", words, str)


def read_columns(text: str | list[str]) -> list[str]:
    """Column names from a list with commas, or several; a doubled comma stands for one within a name.

    >>> read_columns("age, sex")
    ['age', 'sex']
    >>> read_columns("name,,first,sex")
    ['name,first', 'sex']
    """
    if isinstance(text, list):
        return [name for part in text for name in read_columns(part)]
    parts = text.replace(",,", "\0").split(",")
    names = [part.replace("\0", ",").strip() for part in parts]
    if not all(names):
        raise InvalidInput(f"column names are missing in {text!r}.")
    return names


def read_recoding(
    hierarchies: list[str] | None,
    orders: list[str] | None,
    cuts: list[str] | None,
    importance: list[str] | None,
    groups: list[str] | None = None,
) -> dict[str, Any]:
    """The settings of a readable recoding, as the library takes them.

    >>> read_recoding(None, ["size=S<M<L"], ["age=18,65"], ["age=2"])
    {'orders': {'size': ['S', 'M', 'L']}, 'cuts': {'age': [18.0, 65.0]}, 'importance': {'age': 2.0}}
    """
    words = (hierarchies, orders, cuts, groups, importance)
    found = {
        name: _named(option, given, read)
        for (name, (option, read)), given in zip(READABLE.items(), words, strict=True)
    }
    return {name: given for name, given in found.items() if given}


def _read_cuts(text: str) -> list[Any]:
    return [_cut(part) for part in text.split(",")]


def read_groups(text: str) -> list[Any]:
    """The points between groups of numbers or dates, else lists of values; marks are doubled to be meant.

    >>> read_groups("18,65"), read_groups("a,b|c,,d")
    ([18.0, 65.0], [['a', 'b'], ['c,d']])
    """
    try:
        return _read_cuts(text)
    except ValueError:
        parts = text.replace("||", "\0").removesuffix("|").split("|")
        return [read_columns(part.replace("\0", "|")) for part in parts]


# Settings of a readable recoding by the library's names: their options, and how their words are read.
READABLE: dict[str, tuple[str, Callable[[str], Any]]] = {
    "hierarchies": ("--hierarchy", str),
    "orders": ("--order", lambda text: text.split("<")),
    "cuts": ("--cuts", _read_cuts),
    "groups": ("--groups", read_groups),
    "importance": ("--importance", float),
}


def _named(option: str, words: list[str] | None, read: Callable[[str], Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for word in words or ():
        name, equals, text = word.partition("=")
        try:
            value = read(text)
        except ValueError:
            value = None
        if not (equals and name and text) or value is None:
            raise InvalidInput(f"{option} takes COLUMN=VALUE, got {word!r}.")
        if name in found:
            raise InvalidInput(f"{option} names {name!r} twice; give it once.")
        found[name] = value
    return found


def _cut(text: str) -> float | date | datetime:
    """A number, a date or a time."""
    try:
        return float(text)
    except ValueError:
        stamp = text.strip()
        return datetime.fromisoformat(stamp) if len(stamp) > 10 else date.fromisoformat(stamp)


def read_target(is_needed: bool = True, **given: float | None) -> dict[str, float]:
    """The one target among those that a release can have.

    >>> read_target(utility=0.4, leakage=None)
    {'utility': 0.4}
    """
    target = {name: value for name, value in given.items() if value is not None}
    options = [f"--{name}" for name in given]
    if not (target or is_needed):
        return {}
    if len(target) != 1:
        got = " and ".join(f"--{name}" for name in target) or "none"
        raise InvalidInput(
            f"give exactly one of {', '.join(options[:-1])} or {options[-1]}; got {got}."
        )
    ((name, value),) = target.items()
    if not 0.0 <= value <= 1.0:
        raise InvalidInput(f"--{name} must lie in [0, 1], got {value:g}.")
    return target
