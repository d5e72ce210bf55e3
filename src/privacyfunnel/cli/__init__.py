"""The ``funnel`` command: parse, call the library, print. One file for each command."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from privacyfunnel import __version__
from privacyfunnel.cli import apply, audit, demo, frontier, inspect, release, reproduce, studio
from privacyfunnel.cli.hints import HINTS
from privacyfunnel.errors import FunnelError

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


def main() -> None:
    """Run the command: exit 0 done, 2 the user's mistake, 1 ours, 3 a limit broken, 130 interrupted."""
    try:
        app(standalone_mode=True)
    except FunnelError as error:
        from privacyfunnel.report.escape import visible

        print(f"funnel: {visible(' '.join(error.in_words(HINTS).split()))}", file=sys.stderr)
        raise SystemExit(2) from None
    except (KeyboardInterrupt, SystemError) as error:
        if not _is_interrupt(error):
            raise
        print("funnel: interrupted", file=sys.stderr)
        raise SystemExit(130) from None
    except SystemExit as end:
        if end.code == 130:  # typer has turned Ctrl-C into an exit of its own
            print("funnel: interrupted", file=sys.stderr)
        raise


def _is_interrupt(error: BaseException) -> bool:
    """Whether an error is Ctrl-C; within compiled code it comes as the cause of a SystemError."""
    causes = (error, error.__cause__, error.__context__)
    return any(isinstance(cause, KeyboardInterrupt) for cause in causes)
