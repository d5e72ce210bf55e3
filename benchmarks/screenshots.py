"""The studio's pictures for the README: the demo's trade-off, light and dark, in a real browser.

Writes docs/images/studio-light.png and studio-dark.png; with --all also every step, on a desk and on a
phone, into out/screenshots, to look at after a change of the pages.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from privacyfunnel.studio.server import running
from privacyfunnel.studio.settings import Settings

HOUSE = Path(__file__).parents[1]
SIZES = {"desk": {"width": 1280, "height": 1000}, "phone": {"width": 390, "height": 800}}
PATIENCE = 300_000  # milliseconds for the longest search


def walk(page: Page, address: str, name: str, folder: Path | None) -> None:
    """From the demo to its files; with a folder, a picture of each step on the way."""

    def shoot(step: str) -> None:
        if folder is not None:
            page.screenshot(path=folder / f"{name}-{step}.png", full_page=True)

    page.goto(address)
    shoot("1-data")
    page.get_by_role("button", name="Open the demo").click()
    page.get_by_role("button", name="What would this give away?").click()
    page.locator("#search").wait_for()
    shoot("2-columns")
    page.get_by_role("button", name="Search", exact=True).click()
    page.locator("#choose").wait_for(timeout=PATIENCE)
    page.locator("#compare-state").wait_for(state="hidden", timeout=PATIENCE)
    page.get_by_role("button", name="Show this release").click()
    page.locator("#make").wait_for()
    page.evaluate("window.scrollTo(0, 0)")


def finish(page: Page, name: str, folder: Path) -> None:
    """The steps after the choice."""

    def shoot(step: str) -> None:
        page.evaluate("window.scrollTo(0, 0)")
        page.screenshot(path=folder / f"{name}-{step}.png", full_page=True)
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        if wide > 0:
            print(f"{name}-{step}: {wide} px wider than the window")

    shoot("3-tradeoff")
    page.get_by_role("button", name="Change the groups by hand").click()
    page.locator("#every-1").fill("40")
    page.locator("#every-button-1").click()
    page.locator(".follow[data-step='2']").wait_for(timeout=PATIENCE)
    shoot("4-by-hand")
    page.get_by_role("button", name="Make the files").click()
    page.locator(".files").wait_for(timeout=PATIENCE)
    shoot("5-release")


def pictures(browser: Browser, address: str, every: bool) -> None:
    """The README's two pictures, and all others if wanted."""
    images, others = HOUSE / "docs" / "images", HOUSE / "out" / "screenshots"
    images.mkdir(parents=True, exist_ok=True)
    others.mkdir(parents=True, exist_ok=True)
    for size, viewport in SIZES.items() if every else [("desk", SIZES["desk"])]:
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport=viewport, color_scheme=scheme)  # type: ignore[arg-type]
            page, name = context.new_page(), f"{size}-{scheme}"
            walk(page, address, name, others if every else None)
            if size == "desk":
                page.screenshot(path=images / f"studio-{scheme}.png")
                print(f"wrote {images / f'studio-{scheme}.png'}")
            if every:
                finish(page, name, others)
            context.close()


def main() -> None:
    """Run a studio and take its pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="every step, on a desk and on a phone")
    every = parser.parse_args().all
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("Chromium is not installed; these pictures need it.")
    with running(Settings()) as studio, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        pictures(browser, studio.settings.address, every)
        browser.close()


if __name__ == "__main__":
    main()
