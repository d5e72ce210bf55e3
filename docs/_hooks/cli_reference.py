"""The page cli.md, made from the ``funnel`` command itself when the site is built."""

from __future__ import annotations

from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer import Context
from typer.main import get_command

from privacyfunnel.cli.app import app

PAGE = "cli.md"
OPENING = """# Command line

Made from the command itself: what `funnel COMMAND --help` says. Every command shows its progress on a
terminal and is quiet in a pipe. Results that are there already are not replaced without `--force`, and a
command that fails leaves nothing half-written behind.

| exit | meaning |
|---|---|
| 0 | done |
| 1 | our fault: please report it |
| 2 | a mistake in the request; one line says which |
| 3 | `audit`: a limit is broken; `verify`: something is not as it was told |
| 130 | interrupted with Ctrl-C |
"""


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the page to the site."""
    files.append(File.generated(config, PAGE, content=reference()))


def reference() -> str:
    """The whole page: a section for each command, a table for each panel of its options."""
    root: Any = get_command(app)
    parts = [OPENING, "## funnel", root.help, _table("Option", root.params)]
    for name, command in root.commands.items():
        asked = [param for param in command.get_params(Context(command)) if param.name != "help"]
        parts += [f"## funnel {name}", command.help, _usage(name, asked)]
        for title, params in _panels(asked).items():
            parts.append(_table(title, params))
    return "\n\n".join(parts) + "\n"


def _is_option(param: Any) -> bool:
    return bool(param.opts[0].startswith("-"))


def _usage(name: str, params: list[Any]) -> str:
    """The command with all that it must be given."""
    words = ["funnel", name]
    for param in params:
        word = param.name.upper()
        if not _is_option(param):
            words.append(word if param.required else f"[{word}]")
        elif param.required:
            words.append(f"{min(param.opts, key=len)} {word}")
    return f"```text\n{' '.join(words)} [OPTIONS]\n```"


def _panels(params: list[Any]) -> dict[str, list[Any]]:
    """Parameters by the title of the table that they belong to, in the order of the help."""
    panels: dict[str, list[Any]] = {}
    for param in params:
        title = (param.rich_help_panel or "Option") if _is_option(param) else "Argument"
        panels.setdefault(title, []).append(param)
    return panels


def _table(title: str, params: list[Any]) -> str:
    rows = [f"| {title} | | Default |", "|---|---|---|"]
    for param in params:
        names = [param.name.upper()] if not _is_option(param) else param.opts + param.secondary_opts
        shown = " ".join(f"`{name}`" for name in names)
        rows.append(f"| {shown} | {_cell(param.help or '')} | {_default(param)} |")
    return "\n".join(rows)


def _default(param: Any) -> str:
    """What holds where the option is not given, in a word."""
    if param.required:
        return "*required*"
    if getattr(param, "is_flag", False):
        switch = param.opts if param.default else param.secondary_opts
        return f"`{switch[0]}`" if switch and param.default is not None else ""
    return "" if param.default is None else f"`{param.default}`"


def _cell(text: str) -> str:
    """Text within a table: on one line, with no sign that Markdown would take for its own."""
    flat = " ".join(text.split())
    return flat.replace("|", "\\|").replace("[", "\\[").replace("<", "&lt;").replace("*", "\\*")
