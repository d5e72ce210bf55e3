"""The ``funnel`` command: parse, call the library, print."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from privacyfunnel import __version__
from privacyfunnel.errors import FunnelError

app = typer.Typer(
    name="funnel",
    help="Publish data without giving away what is sensitive.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"funnel {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Publish data without giving away what is sensitive."""


def main() -> None:
    """Run the command: exit 0 done, 2 the user's mistake, 1 ours, 130 interrupted."""
    try:
        app()
    except FunnelError as error:
        print(f"funnel: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print("funnel: interrupted", file=sys.stderr)
        raise SystemExit(130) from None
