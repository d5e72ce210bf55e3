"""Commands: the command line and the Python code that make the same release again."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from privacyfunnel.cli.options import spell_asked
from privacyfunnel.columns import USUAL
from privacyfunnel.columns.spelling import spell_columns
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
    words += [f"--sensitive={spell_columns(choices.sensitive)}"]
    words += [f"--publish={spell_columns(choices.public)}"]
    if choices.useful:
        words += [f"--useful={spell_columns(choices.useful)}"]
    words += [f"--{name}={value!r}" for name, value in asked.target.items()]
    words += [f"--bins={word}" for word in choices.words("bins")]
    words += [f"--round={word}" for word in choices.words("round")]
    usual = replace(asked, recoding=None, balance=None)
    words += spell_asked(
        replace(
            _with_bare_names(asked),
            recoding=None if usual.kind == asked.kind else asked.kind,
            balance=asked.balance if "leakage" in asked.target else None,  # else it is usual
        )
    )
    words += [f"--person={choices.person}"] if choices.person else []
    words += [f"--missing={choices.missing}"] if choices.missing != USUAL else []
    words += ["--and-x"] if asked.purpose == "both" else []
    return " ".join(quoted(word) for word in [*words, "-o", FOLDER])


def _with_bare_names(asked: ReleaseRequest) -> ReleaseRequest:
    """The request as it is made beside its files: the studio has them in a folder of its own."""
    names = {name: Path(file).name for name, file in asked.hierarchies.items()}
    return replace(asked, hierarchies=names)


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
    given = _with_bare_names(asked).options()
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
