"""Commands: the command line and the Python code that make the same release again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacyfunnel.cli.options import read_columns, read_groups
from privacyfunnel.columns import USUAL, show
from privacyfunnel.errors import InvalidInput
from privacyfunnel.releases.request import ReleaseRequest
from privacyfunnel.report.escape import visible
from privacyfunnel.studio.sources import DEMO, Source

if TYPE_CHECKING:
    from privacyfunnel.studio.forms import Choices

FOLDER = "release"
SAVE_DEMO = f'pf.datasets.load_demo().to_csv("{DEMO}", index=False)'


def command(source: Source, choices: Choices, asked: ReleaseRequest) -> str:
    """``funnel release ...``: every setting that is not the usual one is written out."""
    words = ["funnel", "release", source.name]
    words += [f"--sensitive={as_option(choices.sensitive)}"]
    words += [f"--publish={as_option(choices.public)}"]
    if choices.useful:
        words += [f"--useful={as_option(choices.useful)}"]
    words += [f"--{name}={value!r}" for name, value in asked.target.items()]
    words += [f"--cap={as_name(name)}={most}" for name, most in asked.caps.items()]
    words += [f"--bins={word}" for word in choices.words("bins")]
    words += [f"--round={word}" for word in choices.words("round")]
    words += [f"--hierarchy={name}={Path(file).name}" for name, file in asked.hierarchies.items()]
    words += [f"--order={name}={as_order(values)}" for name, values in asked.orders.items()]
    words += [f"--cuts={name}={','.join(map(show, cuts))}" for name, cuts in asked.cuts.items()]
    words += [f"--groups={name}={as_groups(lists)}" for name, lists in asked.groups.items()]
    words += [f"--importance={name}={weight:g}" for name, weight in asked.importance.items()]
    settings = {
        "balance": (asked.balance if "leakage" in asked.target else None, None),  # else it is usual
        "recoding": (asked.kind, replace(asked, recoding=None).kind),
        "measure": (asked.measure, ReleaseRequest.measure),
        "person": (choices.person, None),
        "missing": (choices.missing, USUAL),
        "effort": (asked.effort, ReleaseRequest.effort),
        "points": (asked.points, ReleaseRequest.points),
        "min-count": (asked.min_count, ReleaseRequest.min_count),
        "seed": (asked.seed, ReleaseRequest.seed),
        "numbers": (asked.numbers, ReleaseRequest.numbers),
        "format": (asked.form, ReleaseRequest.form),
    }
    words += [f"--{name}={value}" for name, (value, usual) in settings.items() if value != usual]
    flags = {
        "and-x": asked.purpose == "both",
        "soft": asked.soft,
        "expand": asked.expand,
        "public": asked.is_public,
    }
    words += [f"--{name}" for name, wanted in flags.items() if wanted]
    return " ".join(quoted(word) for word in [*words, "-o", FOLDER])


def quoted(word: str) -> str:
    """A word for a shell. Unseen characters are spelled out: a pasted escape could end the paste and
    type on as if it were the user, so none is ever copied.

    Bash, zsh and ksh read ``$'...'`` (since 2024 it is in POSIX); bytes are given in octal.

    >>> print(quoted("height"), quoted("it's"), quoted("x\\x1b[201~\\n"))
    height 'it'"'"'s' $'x\\033[201~\\012'
    """
    if visible(word) == word:
        return shlex.quote(word)
    spelled = (
        f"\\{character}" if character in "\\'"
        else character if visible(character) == character
        else "".join(f"\\{byte:03o}" for byte in character.encode(errors="surrogateescape"))
        for character in word
    )  # fmt: skip
    return f"$'{''.join(spelled)}'"


def as_option(names: Sequence[str]) -> str:
    """Column names as the command line takes them: by commas, a comma within a name doubled.

    >>> as_option(["age", "height, cm"])
    'age,height,, cm'
    """
    text = ",".join(name.replace(",", ",,") for name in names)
    if read_columns(text) != list(names):
        raise InvalidInput("a column name begins or ends with a blank or a comma")
    return text


def as_name(name: str) -> str:
    """A column's name before the mark = of an option."""
    if "=" in name:
        raise InvalidInput("a column name holds the mark = of an option")
    return name


def as_order(values: Sequence[str]) -> str:
    """An order as the command line takes it.

    >>> as_order(["S", "M", "L"])
    'S<M<L'
    """
    if any("<" in value for value in values):
        raise InvalidInput("a value holds the mark < of an order")
    return "<".join(values)


def as_groups(lists: Sequence[Sequence[Any]]) -> str:
    """Groups of values as the command line takes them: a bar between them, marks in a value doubled.

    >>> as_groups([["a", "b|c"], ["1"]]), as_groups([["01", "02"]])
    ('a,b||c|1', '01,02|')
    """
    texts = [[show(value) for value in members] for members in lists]
    text = "|".join(as_option(names).replace("|", "||") for names in texts)
    text = text if "|" in text else f"{text}|"  # or numbers would be taken for cuts
    names = [name for members in texts for name in members]
    if read_groups(text) != texts or len(set(names)) < len(names):
        raise InvalidInput("a value begins or ends with a blank or a mark, or is called missing")
    return text


def command_or_why(source: Source, choices: Choices, asked: ReleaseRequest) -> tuple[str, str]:
    """The command, or in words why there is none."""
    try:
        return command(source, choices, asked), ""
    except InvalidInput as error:
        return "", f"The command line cannot say this: {error}. Use the Python code."


def first(source: Source) -> str:
    """What to run first, where the table is not a file of the user's."""
    code = f"import privacyfunnel as pf; {SAVE_DEMO}"
    return f"python -c {quoted(code)}" if source.origin == "demo" else ""


def python_code(source: Source, choices: Choices, asked: ReleaseRequest) -> str:
    """The same as a Python script."""
    rules = choices.rules
    files = {name: Path(file).name for name, file in asked.hierarchies.items()}
    given = replace(asked, hierarchies=files).options()
    given |= {"useful": choices.useful} if choices.useful else {}
    given |= {"person": choices.person} if choices.person else {}
    words = [f"{name}={given[name]!r}" for name in given if name not in ("source", "command")]
    save_demo = f"{SAVE_DEMO}\n" if source.origin == "demo" else ""
    dates = "import datetime\n\n" if any("datetime.date" in word for word in words) else ""
    return (
        f"{dates}import privacyfunnel as pf\n\n"
        f"{save_demo}"
        f"rules = pf.ColumnRules(bins={dict(rules.bins)!r}, round={dict(rules.round)!r}, "
        f"missing={rules.missing!r})\n"
        f"pf.release({source.name!r}, {choices.sensitive!r}, {choices.public!r}, columns=rules, "
        f"out={FOLDER!r}, {', '.join(words)})\n"
    )
