"""``funnel studio``: the same job in a local web page."""

from __future__ import annotations

from math import isfinite
from typing import Annotated

import typer

from privacyfunnel.cli.terminal import say
from privacyfunnel.errors import InvalidInput, from_extra
from privacyfunnel.studio.settings import Settings, cores
from privacyfunnel.studio.upload_limits import MAX_UPLOAD, MEGABYTE


def studio(
    table: Annotated[
        str | None, typer.Argument(help="A table to begin with; else choose one on the page.")
    ] = None,
    port: Annotated[
        int, typer.Option(help="Port to listen on; 0 takes any free one.")
    ] = Settings.port,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open the page.")
    ] = True,
    host: Annotated[
        str, typer.Option(help="Address to listen on; any other than this machine needs a token.")
    ] = Settings.host,
    max_upload: Annotated[
        float, typer.Option(help="Largest table that can be uploaded, in megabytes.")
    ] = MAX_UPLOAD,
    jobs: Annotated[
        int | None, typer.Option(help="Tasks that run at once; the number of cores if not given.")
    ] = None,
) -> None:
    """Choose data, columns and a release on a page in the browser; Ctrl-C ends it.

    Nothing leaves this machine. Uploaded tables are removed at the end.
    """
    for name, value, least in (("port", port, 0), ("max-upload", max_upload, 0), ("jobs", jobs, 1)):
        if value is not None and value < least:
            raise InvalidInput(f"--{name} must be {least} or more, got {value:g}.")
    if not isfinite(max_upload):
        raise InvalidInput(f"--max-upload must be a number of megabytes, got {max_upload}.")
    if port > 65535:
        raise InvalidInput(f"--port must be 65535 or less, got {port}.")
    with from_extra("studio", "the studio"):
        from privacyfunnel.studio.server import serve
        from privacyfunnel.studio.sources import named_source
        from privacyfunnel.tables.engines import is_address
        from privacyfunnel.tables.paths import find_files
    settings = Settings(host, port, table, int(max_upload * MEGABYTE), jobs or cores())
    if table is not None:
        if not settings.is_local:
            raise InvalidInput(
                f"a table of this machine is not shown on {host}; leave it out and upload it."
            )
        path = named_source(table).path
        if not is_address(path):
            find_files(path)  # that it is not there is said at once, not only on the page
    serve(settings, lambda at: say(f"The studio is at {at}\nPress Ctrl-C to end it."), browser)
