"""Reports and pages opened in Chromium: nothing in them runs, and they fit every screen."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import privacyfunnel as pf
from browser import NEEDED, fits_every_screen
from privacyfunnel.cli.hints import HINTS
from privacyfunnel.plots import interactive_html

pytestmark = NEEDED
EVIL = [
    "<script>document.title = 'owned'</script>",
    "<img src=x onerror=\"document.title = 'owned'\">",
    "</style><script>document.title = 'owned'</script>",
    "<svg onload=\"document.title = 'owned'\">",
    "'\" autofocus onfocus=\"document.title = 'owned'\" tabindex=1 x='",
    "<iframe src=\"javascript:parent.document.title = 'owned'\"></iframe>",
    "a,b\nc",
    None,
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Releases and other pages; every name and value of one attacks the reader, one has long texts."""
    rng = np.random.default_rng(1)
    place = tmp_path_factory.mktemp("pages")
    table = pd.DataFrame({name: rng.choice(np.array(EVIL, dtype=object), 200) for name in EVIL[:3]})
    asked = {"utility": 0.5, "effort": "fast", "points": 2, "attackers": False}
    names = {"source": EVIL[0], "command": EVIL[0]}
    pf.release(table, EVIL[0], EVIL[1:3], out=place / "evil", expand=True, **asked, **names)
    notes = [f"seen in room {i % 41} of the ward by doctor number {i % 13}" for i in range(120)]
    table = pd.DataFrame({"ill": rng.integers(0, 3, 120), "age": rng.integers(2, 9, 120) * 10})
    table["note"], table["city"] = notes, rng.choice(["Bonn", "Castrop-Rauxel", "Pisa"], 120)
    pf.release(table, "ill", ["age", "note", "city"], out=place / "symbols", **asked)
    asked = {**asked, "utility": None, "kept": 0.3}
    asked |= {"min_count": 1, "hints": HINTS}
    pf.release(table, "ill", ["age", "city"], out=place / "global", **asked)
    joint = pf.Joint.from_table(table, "ill", ["age", "city"])
    found = pf.frontier(joint, n_points=3, effort="fast")
    (place / "frontier.html").write_text(interactive_html(found), encoding="utf-8")
    return place


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


def test_nothing_in_the_report_runs(folder, page, tmp_path):
    page.goto((folder / "evil" / "report.html").as_uri())
    assert page.title() == "Release report"
    assert "owned" in page.content()  # the values are shown ...
    assert page.locator("script, img, iframe").count() == 0  # ... as text
    (tmp_path / "page.html").write_text(f"<title>Release report</title>{EVIL[0]}")
    page.goto((tmp_path / "page.html").as_uri())
    assert page.title() == "owned"  # the check would notice a script


@pytest.mark.parametrize(
    "name",
    ["evil/report.html", "symbols/report.html", "symbols/README.html", "global/report.html",
     "global/README.html", "frontier.html"],
)  # fmt: skip
def test_every_page_fits_every_screen(folder, page, name):
    page.goto((folder / name).as_uri())
    if name == "frontier.html":
        page.locator(".plot-container").wait_for()
    assert fits_every_screen(page)
    rows = page.locator("table.symbols tr").evaluate_all(
        "all => all.map((row) => row.offsetHeight)"
    )
    assert max(rows, default=0) < 200  # no blank, whatever the texts


def test_no_option_breaks_at_its_hyphens(folder, page):
    page.goto((folder / "global" / "report.html").as_uri())
    options = page.locator(".caution span")
    assert "--choose-on" in options.all_text_contents()
    height = options.first.bounding_box()["height"]
    for width in range(320, 900, 20):
        page.set_viewport_size({"width": width, "height": 900})
        assert {option.bounding_box()["height"] for option in options.all()} == {height}


def test_the_axes_of_a_frontier_are_in_words_and_stay_on_a_phone(folder, page):
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto((folder / "frontier.html").as_uri())
    titles = page.locator(".xtitle, .ytitle")
    assert titles.all_text_contents() == [
        "public information kept",
        "sensitive information given away",
    ]
    for title in titles.all():
        box = title.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
