"""Pictures of the studio and of what it writes, in a real browser.

Writes docs/images/studio-light.png and studio-dark.png, the demo's trade-off; with --all also every step,
light and dark, on a desk and on a phone, into out/screenshots, to look at after a change of the pages;
then it prints for how long nothing on the screen moved while the studio was at work.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from playwright.sync_api import Page, sync_playwright

import privacyfunnel as pf
from privacyfunnel.plots import interactive_html
from privacyfunnel.studio.server import running
from privacyfunnel.studio.settings import Settings

HOUSE = Path(__file__).parents[1]
IMAGES, OTHERS = HOUSE / "docs" / "images", HOUSE / "out" / "screenshots"
SIZES = {"desk": {"width": 1280, "height": 1000}, "phone": {"width": 390, "height": 800}}
SCHEMES = ("light", "dark")
PATIENCE = 300_000  # milliseconds for the longest search
# From when to when a box in sight says that something goes on, in seconds; kept over reloads.
WAITS = """{
    let begun = false;
    const isInSight = ({ top, bottom }) => bottom > 0 && top < innerHeight;
    setInterval(() => {
        const boxes = [...document.querySelectorAll(".wait:not([hidden]):not(.ended)")];
        const waits = boxes.some((box) => isInSight(box.getBoundingClientRect()));
        const now = Date.now() / 1000;
        const known = JSON.parse(sessionStorage.waits || "[]");
        if (waits && begun) known.at(-1)[1] = now;
        else if (waits) known.push([now, now]);
        begun = waits;
        sessionStorage.waits = JSON.stringify(known);
    }, 50);
}"""


class Eye:
    """Looks at the screen, as a person does, while something goes on."""

    def __init__(self, page: Page) -> None:
        self.page, self.last, self.moves = page, "", [0.0]
        self.session = page.context.new_cdp_session(page)
        self.session.on("Page.screencastFrame", self.look)
        settings = {"format": "jpeg", "everyNthFrame": 6, "maxWidth": 640}
        self.session.send("Page.startScreencast", settings)

    def look(self, frame: dict[str, Any]) -> None:
        """Note when what is seen has changed."""
        if frame["data"] != self.last:
            self.last = frame["data"]
            self.moves.append(frame["metadata"]["timestamp"])
        self.session.send("Page.screencastFrameAck", {"sessionId": frame["sessionId"]})

    def tell(self) -> None:
        """Print for how long nothing moved, at most, while the page said that something goes on."""
        waits = json.loads(self.page.evaluate("sessionStorage.waits || '[]'"))
        still = [
            min(after, end) - max(before, begin)
            for begin, end in waits
            for before, after in pairwise([*self.moves, time.time()])
        ]
        long = sum(end - begin for begin, end in waits)
        print(f"{long:.0f} s of waiting: something moved at least every {max(still):.2f} s")


class Camera:
    """Takes a page on every screen, in every colour, and tells where it does not fit."""

    def __init__(self, page: Page, every: bool) -> None:
        self.page, self.every, self.n, self.eye = page, every, 0, Eye(page)

    def shoot(self, step: str) -> None:
        """All pictures of one step."""
        self.n += 1
        for size, viewport in SIZES.items() if self.every else ():
            for scheme in SCHEMES:
                self.set(size, scheme)
                name = f"{self.n:02d}-{step}-{size}-{scheme}.png"
                self.page.screenshot(path=OTHERS / name, full_page=True)
                wide = self.page.evaluate("document.documentElement.scrollWidth")
                if wide > viewport["width"]:
                    print(f"{name}: {wide - viewport['width']} px wider than the window")
        self.set("desk", "light")

    def set(self, size: str, scheme: str) -> None:
        """Another screen."""
        self.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        self.page.set_viewport_size(SIZES[size])  # type: ignore[arg-type]
        self.page.evaluate("window.scrollTo(0, 0)")
        self.page.wait_for_timeout(400)  # the drawing follows the size


def ask(page: Page, marks: list[str], **settings: str) -> None:
    """From the columns to the search."""
    page.locator("#columns").wait_for()
    for mark in marks:
        page.check(f"[name={mark}]")
    page.get_by_role("button", name="What would this give away?").click()
    page.locator("#search").wait_for()
    page.locator("#more summary").click()
    for name, value in settings.items():
        page.select_option(f"#{name}", value)


def searched(page: Page, camera: Camera | None = None) -> None:
    """Search, and wait for all curves."""
    page.get_by_role("button", name="Search", exact=True).click()
    if camera:
        page.locator("#search-state .clock", has_text="s)").wait_for()
        camera.shoot("waiting")
    page.locator("#choose").wait_for(timeout=PATIENCE)
    page.locator("#compare-state").wait_for(state="hidden", timeout=PATIENCE)


def made(page: Page, folder: Path, camera: Camera, step: str) -> None:
    """Make the files, and open those that people read."""
    page.get_by_role("button", name="Make the files").click()
    page.locator(".files").wait_for(timeout=PATIENCE)
    camera.shoot(f"{step}-release")
    camera.eye.tell()
    for name in ("report.html", "README.html"):
        with page.expect_download() as taken:
            page.get_by_role("link", name=name).click()
        taken.value.save_as(folder / name)
    for name in ("report.html", "README.html"):
        page.goto((folder / name).as_uri())
        camera.shoot(f"{step}-{name.removesuffix('.html')}")


def demo(page: Page, address: str, camera: Camera, folder: Path) -> None:
    """The demo's readable release, changed by hand; on the way the README's two pictures."""
    page.goto(address)
    camera.shoot("data")
    page.get_by_role("button", name="Open the demo").click()
    ask(page, [])
    camera.shoot("columns")
    searched(page)
    page.get_by_role("button", name="Show this release").click()
    page.locator("#make").wait_for(timeout=PATIENCE)
    for scheme in SCHEMES:
        camera.set("desk", scheme)
        page.screenshot(path=IMAGES / f"studio-{scheme}.png")
        print(f"wrote {IMAGES / f'studio-{scheme}.png'}")
    if not camera.every:
        return
    camera.shoot("tradeoff")
    page.get_by_role("button", name="Change the groups by hand").click()
    page.locator("#add-1").fill("180")
    page.locator("#add-button-1").click()
    page.locator(".follow[data-step='2']").wait_for(timeout=PATIENCE)
    camera.shoot("by-hand")
    made(page, folder, camera, "demo")


def shapes(page: Page, address: str, camera: Camera, folder: Path) -> None:
    """Orders, hierarchies, importance and dates; local recoding, then symbols beside releases by lot."""
    n, rng = 900, np.random.default_rng(2)
    table = pd.DataFrame(
        {"ill": rng.integers(0, 2, n), "size": rng.choice(["S", "M", "L", "XL"], n)}
    )
    table["city"] = rng.choice(["Bonn", "Castrop-Rauxel", "Pisa", "Rome"], n)
    table["seen"] = pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.integers(0, 1200, n), "D")
    table.to_csv(folder / "visits.csv", index=False)
    opened(page, address, folder / "visits.csv")
    page.select_option("[name=treat-3]", "round")
    page.fill("[name=how-3]", "quarter")
    ask(page, ["sensitive-0", "public-1", "public-2", "public-3"])
    page.locator("#importance summary").click()
    page.locator("#shapes summary").click()
    page.check("#shape-0-order")
    page.locator("ol.order li", has_text="S").first.drag_to(page.locator("ol.order li").first)
    page.check("#shape-1-tree")
    page.fill("#tree-1", "Bonn;Germany;*\nCastrop-Rauxel;Germany;*\nPisa;Italy;*\nRome;Italy;*\n")
    page.check("[name=recoding][value=local]")
    camera.shoot("shapes")
    searched(page, camera)
    page.get_by_role("button", name="Show this release").click()
    page.locator("#make").wait_for(timeout=PATIENCE)
    camera.shoot("local")
    page.get_by_role("link", name="Change the columns or the search").click()
    page.check("[name=recoding][value=symbols]")
    searched(page)
    page.locator("#points summary").click()
    camera.shoot("symbols")
    camera.eye.tell()


def texts(page: Page, address: str, camera: Camera, folder: Path) -> None:
    """Symbols of a table with a text column, for a use, by another measure."""
    n, rng = 600, np.random.default_rng(0)
    wealth = rng.normal(size=n)
    table = pd.DataFrame({"salary": wealth + rng.normal(size=n) > 1, "sex": rng.integers(1, 3, n)})
    table["age"] = np.clip(40 + 12 * wealth + rng.normal(0, 9, n), 17, 90).astype(int) // 20 * 20
    table["note"] = [f"seen in room {i % 7} of the ward by doctor {i % 3}" for i in range(n)]
    table["ill"] = (wealth + rng.normal(size=n) > 0.5).astype(int)
    table.to_csv(folder / "notes.csv", index=False)
    opened(page, address, folder / "notes.csv")
    page.locator("details.more summary").first.click()
    page.check("#has_use")
    marks = ["sensitive-0", "sensitive-1", "public-2", "public-3", "useful-4"]
    ask(page, marks, measure="guessing")
    camera.shoot("use")
    searched(page)
    page.check("[name=by][value=caps]")
    page.fill("#cap-0", "10")
    page.fill("#cap-1", "5")
    page.get_by_role("button", name="Show this release").click()
    page.locator("#make").wait_for(timeout=PATIENCE)
    camera.shoot("caps")
    made(page, folder, camera, "use")


def wide(page: Page, address: str, camera: Camera, folder: Path) -> None:
    """Fifty-three columns."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({f"measure_{i:02d}": rng.integers(0, 9, 60) for i in range(52)})
    table["seen_at"] = pd.date_range("2024-01-01", periods=60, freq="7h").astype(str)
    table.to_csv(folder / "wide.csv", index=False)
    opened(page, address, folder / "wide.csv")
    page.locator("#columns").wait_for()
    camera.shoot("wide")


def opened(page: Page, address: str, path: Path) -> None:
    """A studio with another table."""
    page.goto(address)
    page.set_input_files("#file", path)
    page.get_by_role("button", name="Upload").click()
    page.locator("#columns").wait_for()


def frontier(page: Page, camera: Camera, folder: Path) -> None:
    """The page that ``funnel frontier`` writes."""
    joint = pf.Joint.from_table(pf.datasets.load_demo(), ["age", "sex"], ["sex", "chol"])
    found = pf.frontier(joint, effort="fast", n_points=12)
    (folder / "frontier.html").write_text(interactive_html(found), encoding="utf-8")
    page.goto((folder / "frontier.html").as_uri())
    page.locator(".plot-container").wait_for()
    camera.shoot("frontier")


def main() -> None:
    """Run a studio and take its pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="every step, on a desk and on a phone")
    every = parser.parse_args().all
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("Chromium is not installed; these pictures need it.")
    for place in (IMAGES, OTHERS):
        place.mkdir(parents=True, exist_ok=True)
    with (
        running(Settings()) as studio,
        sync_playwright() as playwright,
        tempfile.TemporaryDirectory() as place,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page, folder = browser.new_page(), Path(place)
        page.set_default_timeout(PATIENCE)
        page.add_init_script(WAITS)
        camera, address = Camera(page, every), studio.settings.address
        demo(page, address, camera, folder)
        if every:
            shapes(page, address, camera, folder)
            texts(page, address, camera, folder)
            wide(page, address, camera, folder)
            frontier(page, camera, folder)
        browser.close()


if __name__ == "__main__":
    main()
