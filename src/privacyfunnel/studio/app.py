"""App: which address leads where."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.responses import FileResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from privacyfunnel.studio.guard import Guard
from privacyfunnel.studio.routes import actions, by_hand, pages

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from privacyfunnel.studio.studio import Studio

CACHED = {"Cache-Control": "max-age=3600"}


def make_app(studio: Studio) -> Guard:
    """The web application of a studio."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[dict[str, Any]]:
        yield {"studio": studio}
        studio.close()

    static = files("privacyfunnel.studio").joinpath("static")
    app = Starlette(
        routes=[
            Route("/", pages.data),
            Route("/columns", pages.columns),
            Route("/tradeoff", pages.tradeoff),
            Route("/nearest", pages.nearest),
            Route("/chosen", pages.chosen),
            Route("/hand", by_hand.hand),
            Route("/release", pages.release),
            Route("/jobs/{job_id}", pages.job),
            Route("/files/{name}", pages.file),
            Route("/upload", actions.upload, methods=["POST"]),
            Route("/path", actions.path, methods=["POST"]),
            Route("/demo", actions.demo, methods=["POST"]),
            Route("/columns", actions.columns, methods=["POST"]),
            Route("/search", actions.search, methods=["POST"]),
            Route("/choose", actions.choose, methods=["POST"]),
            Route("/hand", by_hand.change, methods=["POST"]),
            Route("/release", actions.release, methods=["POST"]),
            Route("/reset", actions.reset, methods=["POST"]),
            Route("/jobs/{job_id}/cancel", actions.cancel, methods=["POST"]),
            Route("/static/plotly.min.js", _plotly),
            Route("/static/report.css", _style),
            Mount("/static", StaticFiles(directory=str(static))),
        ],
        exception_handlers={**dict.fromkeys((403, 404, 503), pages.refused), 500: pages.broken},
        lifespan=lifespan,
    )
    # Around the whole, so that even the answer to a fault of ours has the security headers.
    return Guard(app, settings=lambda: studio.settings)


async def _plotly(_: Request) -> Response:
    """The drawing library, as it was installed with the package."""
    script = files("plotly").joinpath("package_data", "plotly.min.js")
    return FileResponse(str(script), media_type="text/javascript", headers=CACHED)


async def _style(_: Request) -> Response:
    """The style of the reports, which the studio's own builds on."""
    sheet = files("privacyfunnel.report").joinpath("style.css")
    return FileResponse(str(sheet), media_type="text/css", headers=CACHED)
