"""The ``funnel`` command: parse, call the library, print. One file for each command."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from privacyfunnel import __version__
from privacyfunnel.cli import demo, frontier, reproduce
from privacyfunnel.errors import FunnelError

app = typer.Typer(
    name="funnel",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.command("frontier")(frontier.frontier)
app.command("reproduce")(reproduce.reproduce)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"funnel {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print and exit."),
    ] = False,
) -> None:
    """Publish data without giving away what is sensitive."""


def main() -> None:
    """Run the command: exit 0 done, 2 the user's mistake, 1 ours, 130 interrupted."""
    try:
        app(standalone_mode=True)
    except FunnelError as error:
        print(f"funnel: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print("funnel: interrupted", file=sys.stderr)
        raise SystemExit(130) from None
