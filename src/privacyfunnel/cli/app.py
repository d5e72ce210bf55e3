"""App: the commands of ``funnel`` under their names."""

from __future__ import annotations

from typing import Annotated

import typer

from privacyfunnel import __version__
from privacyfunnel.cli import options
from privacyfunnel.cli.apply import apply
from privacyfunnel.cli.audit import audit
from privacyfunnel.cli.demo import demo
from privacyfunnel.cli.export import export
from privacyfunnel.cli.frontier import frontier
from privacyfunnel.cli.inspect import inspect
from privacyfunnel.cli.release import release
from privacyfunnel.cli.reproduce import reproduce
from privacyfunnel.cli.studio import studio
from privacyfunnel.cli.verify import verify

app = typer.Typer(
    name="funnel",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (demo, inspect, frontier, release, apply, export, verify, audit, reproduce, studio):
    app.command(command.__name__, cls=options.NamesTables)(options.spread(command))


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
