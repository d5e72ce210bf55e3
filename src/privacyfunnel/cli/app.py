"""App: the commands of ``funnel`` under their names."""

from __future__ import annotations

from typing import Annotated

import typer

from privacyfunnel import __version__
from privacyfunnel.cli import (
    apply,
    audit,
    demo,
    export,
    frontier,
    inspect,
    release,
    reproduce,
    studio,
    verify,
)

app = typer.Typer(
    name="funnel",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.command("inspect")(inspect.inspect)
app.command("frontier")(frontier.frontier)
app.command("release")(release.release)
app.command("apply")(apply.apply)
app.command("export")(export.export)
app.command("verify")(verify.verify)
app.command("audit")(audit.audit)
app.command("reproduce")(reproduce.reproduce)
app.command("studio")(studio.studio)


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
