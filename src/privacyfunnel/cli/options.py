"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from privacyfunnel.columns import MISSING, USUAL, ColumnRules
from privacyfunnel.columns.spelling import read_by_column, spell_by_column
from privacyfunnel.errors import InvalidInput
from privacyfunnel.releases.request import ASKED, TARGETS, ReleaseRequest

if TYPE_CHECKING:
    from privacyfunnel.tables import Table as OpenTable

PROBLEMS = {"pf": "funnel", "ib": "bottleneck"}  # the library's names, which may be given as well
PURPOSE = "What is hidden, what is kept"
RECODING = "Readable releases"
LIMITS = "Limits (exit code 3 when one is broken)"
PANELS = {"purpose": PURPOSE, "readable": RECODING, "limits": LIMITS, None: None}

KINDS = get_type_hints(ReleaseRequest)
DEFAULTS = {field.name: field.default for field in fields(ReleaseRequest)}


def asked(name: str) -> Any:
    """The option of a field of a request: its name, its help and the panel that it stands in."""
    told = ASKED[name]
    off = KINDS[name] == bool | None or DEFAULTS[name] is True  # then it can be switched off
    both = f"/--no-{option_of(name)[2:]}" if off else ""
    return typer.Option(
        f"{option_of(name)}{both}", help=told.meaning, rich_help_panel=PANELS[told.topic]
    )


def option_of(name: str) -> str:
    """What the option of a field is called.

    >>> option_of("min_count"), option_of("caps")
    ('--min-count', '--cap')
    """
    return f"--{(ASKED[name].name or name).replace('_', '-')}"


def _policies() -> str:
    """What can be done about missing values; what is released as a value is said to be one."""
    *others, last = (
        f"{name} ({policy.choice})" if policy.is_symbol else name
        for name, policy in MISSING.items()
    )
    return f"{', '.join(others)} or {last}"


def takes_a_request(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command takes these targets and fields of a request as options, in its last parameter.

    They come after what must be given. What is typed in words comes as words, which `read_asked` reads.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        *own, _ = signature(command, eval_str=True).parameters.values()
        needed = [parameter for parameter in own if parameter.kind is not Parameter.KEYWORD_ONLY]
        every = [*needed, *map(_parameter, names), *own[len(needed) :]]
        command.__signature__ = Signature(every)  # type: ignore[attr-defined]
        return command

    return decorate


def _parameter(name: str) -> Parameter:
    """A target, or a field of a request, as typer takes it."""
    default: Any = None
    kind: Any = list[str] | None
    if name in TARGETS:
        kind, option = float | None, typer.Option(help=TARGETS[name])
    else:
        option = asked(name)
        if not ASKED[name].read:
            default, kind = DEFAULTS[name], KINDS[name]
    annotation = Annotated[kind, option]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


class NamesTables(TyperCommand):
    """A command whose help names what stands in tables of the library, which others need not import."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options, for which is asked once this is the command that was typed."""
        params: list[Any] = super().get_params(ctx)
        for param in params:
            for name, words in LATE.items():
                if name in (param.help or ""):
                    param.help = param.help.replace(name, words())
        return params


def _addresses() -> str:
    from privacyfunnel.tables.engines import ADDRESSES

    return ADDRESSES


def _files() -> str:
    from privacyfunnel.tables.engines import FILES

    return FILES


def _methods() -> str:
    """All methods, those for one problem with its name."""
    from privacyfunnel.solvers import SOLVERS

    only: dict[Any, str] = {(name,): f" ({short})" for short, name in PROBLEMS.items()}
    return ", ".join(m + only.get(getattr(kind, "problems", ()), "") for m, kind in SOLVERS.items())


LATE = {"{addresses}": _addresses, "{files}": _files, "{methods}": _methods}  # words of helps


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """A command as typer takes it: a class of options is an option for each field, in its place.

    >>> def look(table: Table, *, opening: Opening) -> None: ...
    >>> list(signature(spread(look)).parameters)
    ['table', 'memory', 'input_format']
    """
    kinds: dict[str, Any] = {}
    every: list[Parameter] = []
    for parameter in signature(command, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation):
            kinds[parameter.name] = parameter.annotation
            options = signature(kinds[parameter.name], eval_str=True).parameters.values()
            every += [option.replace(kind=Parameter.KEYWORD_ONLY) for option in options]
        else:
            every.append(parameter)

    @wraps(command)
    def run(**given: Any) -> None:
        for name, kind in kinds.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        command(**given)

    run.__signature__ = Signature(every)  # type: ignore[attr-defined]
    return run


def read_asked(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request, those that were typed as words read; without those not typed.

    >>> read_asked({"orders": ["size=S<M<L"], "cuts": ["age=18,65"], "keep": ["id"], "caps": None})
    {'orders': {'size': ['S', 'M', 'L']}, 'cuts': {'age': [18.0, 65.0]}, 'keep': ['id']}
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        told = ASKED[name]
        if told.read is None:
            found[name] = value
        elif value and told.is_by_column:
            found[name] = read_by_column(option_of(name), value, told.read)
        elif value:
            found[name] = told.read(value)
    return found


def spell_asked(request: ReleaseRequest) -> list[str]:
    """The options that ask for the fields of a request that are not as by default.

    >>> spell_asked(ReleaseRequest({"kept": 0.5}, cuts={"age": [18, 65]}, round_cuts=True))
    ['--cuts=age=18,65', '--round-cuts']
    """
    words: list[str] = []
    for name, value in request.options().items():
        if name not in ASKED:
            continue
        told, option = ASKED[name], option_of(name)
        if told.is_by_column:
            named = [spell_by_column(n, told.spell(v)) for n, v in value.items()]
            words += [f"{option}={word}" for word in named]
        elif isinstance(value, bool):
            words.append(option if value else f"--no-{option[2:]}")
        else:
            words.append(f"{option}={told.spell(value)}")
    return words


Table = Annotated[
    str,
    typer.Argument(help="A file of {files}, or {addresses}."),
]
CodebookFile = Annotated[Path, typer.Argument(help="The codebook.json of a release.")]
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
Jobs = Annotated[int, typer.Option(help="Processes or threads; the result does not depend on it.")]
Force = Annotated[bool, typer.Option("--force", help="Replace results that are there already.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Memory = Annotated[str | None, typer.Option(help="Most memory for the table, e.g. 2GB; spills.")]
Key = Annotated[str | None, asked("key")]
Keep = Annotated[list[str] | None, asked("keep")]
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


@dataclass(frozen=True)
class Opening:
    """How a table is opened."""

    memory: Memory = None
    input_format: Annotated[
        str | None,
        typer.Option(help="Which of {files} it is, where the file's name does not tell."),
    ] = None

    def open(self, table: str) -> OpenTable:
        """Open it."""
        from privacyfunnel.tables import open_table

        return open_table(table, **vars(self))


@dataclass(frozen=True)
class Counting:
    """How the records of a table are counted."""

    bins: Annotated[
        list[str] | None,
        typer.Option(
            help="chol=10 (quantiles) or age=0,18,40,65 (edges); dates too; may be repeated."
        ),
    ] = None
    round_to: Annotated[
        list[str] | None,
        typer.Option(
            "--round", help="chol=10: to multiples of 10; born=month: or day, quarter, year."
        ),
    ] = None
    missing: Annotated[str, typer.Option(help=f"Missing values: {_policies()}.")] = USUAL
    weight: Annotated[str | None, typer.Option(help="Column that weighs the records.")] = None

    def arguments(self) -> dict[str, Any]:
        """As the library takes it: the rules for the columns, and the rest by its names."""
        given = dict(vars(self))
        bins, round_to, missing = (given.pop(name) for name in ("bins", "round_to", "missing"))
        return {"columns": ColumnRules.parse(bins or (), round_to or (), missing), **given}


@dataclass(frozen=True)
class CountingPersons(Counting):
    """How they are counted where one person may have several."""

    person: Annotated[
        str | None,
        typer.Option(help="Column that says whose row it is, where people have several."),
    ] = None


def read_purpose(useful: list[str] | None, and_x: bool) -> str:
    """What is kept: X, its use, or both."""
    if and_x and not useful:
        raise InvalidInput("--and-x goes with -y, the columns that the release is for.")
    return "both" if and_x else "useful" if useful else "x"


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
    return target
