"""Code blocks of Markdown pages: found, and run as a reader would run them.

Python blocks run in order in one namespace. In a console block each line that begins with ``$`` is a
command; what stands below it is what it must print. A text block right below a Python block is what
that must print. ``<!-- not run: reason -->`` above a block says why it cannot be run.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).parents[2]
SHOWN = {"text", "json", "yaml", "toml", "bibtex"}  # languages that are there to be read
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(r"^```(?P<language>[\w-]*).*?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"<!-- not run: (?P<reason>.*?) -->\s*$", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A code block, the words before it that count, and where it is."""

    language: str
    body: str
    reason: str | None  # why it is not run
    follows: bool  # whether only blank lines part it from the block before
    line: int


def blocks_of(text: str) -> Iterator[Block]:
    """The code blocks of a page.

    >>> [(b.language, b.reason) for b in blocks_of("<!-- not run: no -->\\n```python\\nx\\n```\\n")]
    [('python', 'no')]
    """
    end = 0
    for found in FENCE.finditer(text):
        before = text[end : found.start()]
        mark = MARK.search(before)
        yield Block(
            found["language"],
            found["body"],
            mark["reason"] if mark else None,
            end > 0 and not before.strip(),
            text.count("\n", 0, found.start()) + 1,
        )
        end = found.end()


def run_page(page: Path) -> None:
    """Run all blocks of a page in the current folder."""
    names: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    for block in blocks_of(page.read_text(encoding="utf-8")):
        where = f"{page.relative_to(ROOT)}:{block.line}"
        if block.reason:
            continue
        if block.language == "python":
            with _captured() as output:
                exec(compile("\n" * block.line + block.body, where, "exec"), names)
            printed = output.getvalue()
        elif block.language == "console":
            _run_console(block.body, where)
        elif block.language == "text" and block.follows and printed:
            _compare(block.body, printed, where)
        else:
            assert block.language in SHOWN, f"{where}: what is a block of {block.language!r}?"


def commands_of(body: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the output that stands below it."""
    joined = body.replace("\\\n", " ")
    for part in re.split(r"^\$ ", joined, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def _run_console(body: str, where: str) -> None:
    """Run a block's commands; each must succeed unless ``echo $?`` asks for its exit code."""
    commands = list(commands_of(body))
    assert commands, f"{where}: a console block without a command"
    code = 0
    for k, (command, expected) in enumerate(commands):
        name, *arguments = shlex.split(command, comments=True)
        if name == "echo" and arguments == ["$?"]:
            printed = f"{code}\n"
        elif name == "funnel":
            code, printed = run_funnel(arguments)
            is_asked = commands[k + 1 :] and commands[k + 1][0] == "echo $?"
            assert code == 0 or is_asked, f"{where}: {command} ended with {code}:\n{printed}"
        else:
            assert name in CHECKED, f"{where}: {command} cannot be run here; say why above it"
            CHECKED[name](arguments)
            printed = ""
        if expected.strip():
            _compare(expected, printed, f"{where}: {command}")


def run_funnel(arguments: list[str]) -> tuple[int, str]:
    """The exit code of ``funnel`` and what it prints, on either stream."""
    from privacyfunnel.cli import run

    with mock.patch.object(sys, "argv", ["funnel", *arguments]), _captured() as printed:
        return run(), printed.getvalue()


@contextlib.contextmanager
def _captured() -> Iterator[io.StringIO]:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        yield output


def _compare(expected: str, printed: str, where: str) -> None:
    is_same = doctest.OutputChecker().check_output(expected, printed, FLAGS)
    assert is_same, f"{where}: the page says\n{expected}\nbut it prints\n{printed}"


def _check_install(arguments: list[str]) -> None:
    """Extras of ``pip install 'privacyfunnel[...]'`` are those of the package."""
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for argument in arguments:
        for extra in filter(None, re.sub(r"^[^\[]*\[?|\]$", "", argument).split(",")):
            assert extra in known["optional-dependencies"], f"no extra {extra!r}"


def _check_target(arguments: list[str]) -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(arguments) <= set(targets), f"the Makefile has no {arguments}"


def _check_script(arguments: list[str]) -> None:
    assert (ROOT / arguments[0]).is_file(), f"no script {arguments[0]}"


# Commands that are not run but looked up: what they name must exist.
CHECKED: dict[str, Callable[[list[str]], None]] = {
    "pip": _check_install,
    "make": _check_target,
    "python": _check_script,
}
