"""Chromium for tests: where it is, why not, and what every page must hold to on any screen."""

from __future__ import annotations

import shutil

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
try:
    from playwright.sync_api import expect, sync_playwright
except ModuleNotFoundError:
    expect = sync_playwright = None
NEEDED = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.skipif(sync_playwright is None, reason="playwright is not installed"),
]
PATIENCE = 180_000  # milliseconds; a studio's first page comes while others compile
SCREENS = [("light", 1280), ("dark", 390), ("light", 390), ("dark", 1280)]
PAPER = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 30)"}
# Texts that are cut off: by a box that hides what does not fit, with none of it to be scrolled to.
CLIPPED = """[...document.querySelectorAll("body *")].filter((e) => {
    const style = getComputedStyle(e);
    const hides = style.overflowX === "hidden" && !e.closest("svg, .js-plotly-plot, select");
    return hides && e.scrollWidth > e.clientWidth + 1;
}).map((e) => e.outerHTML.slice(0, 120))"""


def soon(page, script: str) -> bool:
    """Whether a script finds true on the page within ten seconds: it may still be on its way there."""
    for _ in range(100):
        if page.evaluate(script):
            return True
        page.wait_for_timeout(100)
    return False


def fits(page) -> bool:
    root = "document.documentElement"
    return soon(page, f"{root}.scrollWidth <= {root}.clientWidth")


def fits_every_screen(page) -> bool:
    """Whether nothing sticks out or is cut off, wide and on a phone, in the colours of the system."""
    before = page.viewport_size
    for scheme, width in SCREENS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        assert fits(page), f"{page.url} at {width} px"
        assert page.evaluate(CLIPPED) == []
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == PAPER[scheme]
    page.set_viewport_size(before)
    return True
