"""The studio in Chromium, as a curator uses it: from upload to download, and what goes wrong."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from browser import NEEDED, PATIENCE, expect, fits_every_screen
from privacyfunnel import datasets
from privacyfunnel.information import entropy, mutual_information
from privacyfunnel.report.numbers import percent
from privacyfunnel.studio.server import running
from privacyfunnel.studio.settings import Settings

pytestmark = NEEDED
EVIL = "<img src=x onerror=\"document.title='owned'\">"
# Four times a second, what the boxes that wait show; kept over reloads.
PULSE = """setInterval(() => {
    const waits = [...document.querySelectorAll(".wait:not([hidden]):not(.ended)")];
    const now = waits.map((box) => box.querySelector(".state").textContent).join("+");
    sessionStorage.pulse = (sessionStorage.pulse || "") + now + "\\n";
}, 250)"""


@pytest.fixture(scope="module")
def studio():
    with running(Settings(max_upload=50_000, workers=2)) as studio:
        yield studio


@pytest.fixture
def page(studio, browser):
    """The first page of a fresh visitor; a script that fails on the way fails the test."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    context.set_default_timeout(PATIENCE)
    page, faults = context.new_page(), []
    page.on("pageerror", lambda fault: faults.append(fault))
    page.goto(studio.settings.address)
    yield page
    context.close()
    assert faults == []


def upload(page, folder, name: str, table: pd.DataFrame, *marks: str) -> None:
    """Upload a table and mark its columns."""
    path = folder / name
    table.to_csv(path, index=False)
    page.set_input_files("#file", path)
    page.get_by_role("button", name="Upload").click()
    if marks:
        page.locator("#columns").wait_for()
    for box in marks:
        page.check(f"[name={box}]")


def small() -> pd.DataFrame:
    """A table with few public values, for which every search is quick."""
    table = datasets.load_demo()
    table["chol"] //= 40
    return table


def search(
    page, points: int = 1, compare: bool = False, recoding: str = "symbols", least: int = 5
) -> None:
    """From the marked columns to the start of the search."""
    page.get_by_role("button", name="What would this give away?").click()
    page.check(f"[name=recoding][value={recoding}]")
    page.locator("#more summary").click()
    page.fill("#points", str(points))
    page.fill("#min_count", str(least))
    page.set_checked("[name=compare]", compare)
    page.get_by_role("button", name="Search", exact=True).click()
    page.wait_for_url("**/tradeoff")


def choose(page, share: float) -> None:
    page.locator("#choose").wait_for()
    page.evaluate("document.getElementById('chosen').replaceChildren()")  # what was chosen before
    page.fill("#value", str(100 * share))
    page.get_by_role("button", name="Show this release").click()
    page.locator("#make").wait_for()


def make(page, form: str = "csv") -> None:
    page.select_option("#format", form)
    page.get_by_role("button", name="Make the files").press("Enter")
    page.locator(".files").wait_for()


def download(page, folder, name: str):
    with page.expect_download() as taken:
        page.get_by_role("link", name=name).click()
    taken.value.save_as(folder / name)
    return folder / name


def figures(page, *names: str) -> dict[str, str]:
    return {name: page.locator(f"[data-figure={name}]").inner_text() for name in names}


def longest_still(page, milliseconds: int) -> float:
    """For how many seconds the screen showed the same, at most, while the page's script is busy."""
    session, seen = page.context.new_cdp_session(page), []

    def look(frame) -> None:
        if not seen or frame["data"] != seen[-1][1]:
            seen.append((frame["metadata"]["timestamp"], frame["data"]))
        session.send("Page.screencastFrameAck", {"sessionId": frame["sessionId"]})

    session.on("Page.screencastFrame", look)
    session.send("Page.startScreencast", {"format": "jpeg", "everyNthFrame": 4, "maxWidth": 600})
    page.evaluate(
        f"setTimeout(() => {{ const end = Date.now() + {milliseconds}; while (Date.now() < end); }})"
    )
    page.wait_for_timeout(milliseconds)
    session.send("Page.stopScreencast")
    return max(after - before for (before, _), (after, _) in pairwise(seen))


def told(column, released) -> str:
    """I(column;released)/H(column), counted by pandas, as the page writes it."""
    counts = pd.crosstab(column, released).to_numpy() / len(column)
    return percent(mutual_information(counts) / entropy(counts.sum(axis=1)))


def test_from_upload_to_download_the_file_is_what_the_page_said_and_values_are_only_text(
    page, tmp_path
):
    table = datasets.load_demo()
    evil = np.array([EVIL, "<script>document.title='owned'</script>", "plain"], dtype=object)
    table[EVIL] = np.random.default_rng(0).choice(evil, len(table))
    upload(
        page, tmp_path, "patients.csv", table, "sensitive-0", "sensitive-1", "public-1", "public-3"
    )
    expect(page.locator("#name-3")).to_have_text(EVIL)
    search(page)
    choose(page, 0.4)
    said = figures(page, "utility", "leakage")
    make(page)
    assert figures(page, *said) == said
    released = pd.read_csv(download(page, tmp_path, "release.csv"))["released"]
    assert len(released) == len(table)
    assert told(table.age * 10 + table.sex, released) == said["leakage"]
    assert told(table[EVIL] + table.sex.astype(str), released) == said["utility"]
    assert "Release report" in download(page, tmp_path, "report.html").read_text()
    assert "funnel release patients.csv" in page.locator("#command").inner_text()
    expect(page.locator("main")).to_contain_text(EVIL)
    assert page.locator("main img, main script").count() == 0
    assert page.title() == "Release · privacyfunnel"


def test_groups_are_laid_with_the_keyboard_alone_and_the_file_is_what_the_page_said(page, tmp_path):
    table = datasets.load_demo()
    table["chol"] //= 20
    table["ward"] = np.random.default_rng(0).choice(["north", "south", "east"], len(table))
    upload(page, tmp_path, "patients.csv", table, "sensitive-0", "public-1", "public-2", "public-3")
    search(page, points=3, recoding="global", least=1)
    choose(page, 0.6)
    expect(page.locator("#soft")).to_be_hidden()
    expect(page.locator("#chosen svg")).to_have_count(3)  # a picture of each column
    said = figures(page, "kept", "leakage")
    page.get_by_role("button", name="Change the groups by hand").press("Enter")
    page.locator("#hand .laid").first.wait_for()
    page.wait_for_load_state()  # the script is there: without it a form loads the page anew
    assert figures(page, *said) == said

    step = 1

    def press(place: str, *keys: str, by: int = 1) -> None:
        nonlocal step
        page.locator(place).focus()
        for key in keys:
            page.keyboard.press(key)
        step += by
        expect(page.locator(f".follow[data-step='{step}']")).to_be_visible()

    press("#every-1", "4", "Enter")
    page.wait_for_function("document.activeElement.id === 'every-1'")  # the keyboard stays there
    cuts = page.locator("#column-1 .cuts [name=at]")
    assert [cut.input_value() for cut in cuts.all()] == ["8", "12"]
    press("#add-1", "1", "0", "Enter")
    expect(cuts).to_have_count(3)
    press("#undo", "Enter", by=-1)
    expect(cuts).to_have_count(2)
    for value in ("#value-2-0", "#value-2-1"):
        page.locator(value).focus()
        page.keyboard.press("Space")
    press("#shift-2", "Enter")
    page.set_viewport_size(
        {"width": 390, "height": 800}
    )  # with a finger or the mouse it is as short
    bars = page.locator("#column-1 rect")
    beginning = [bars.nth(bar).get_attribute("data-value") for bar in range(3)]

    def point(bar: int) -> tuple[float, float]:
        page.evaluate("document.getElementById('column-1').scrollIntoView()")
        return bars.nth(bar).bounding_box()["x"] + 3, page.locator("#column-1 svg").bounding_box()[
            "y"
        ] + 9

    page.mouse.click(*point(2))  # above a low bar is enough
    expect(cuts).to_have_count(3)
    assert cuts.first.input_value() == beginning[2]
    page.mouse.move(*point(2))
    page.mouse.down()
    page.mouse.move(*point(1), steps=3)
    page.mouse.up()
    expect(page.locator(f".follow[data-step='{step + 2}']")).to_be_visible()
    assert cuts.first.input_value() == beginning[1]
    assert fits_every_screen(page)
    said = figures(page, "kept", "leakage", "smallest")
    make(page)
    assert figures(page, "kept", "leakage").items() <= said.items()
    assert fits_every_screen(page)
    released = pd.read_csv(download(page, tmp_path, "release.csv"), dtype=str)
    together = released.sex + "|" + released.chol + "|" + released.ward
    assert told(table.age, together) == said["leakage"]
    assert together.value_counts().min() == int(said["smallest"])
    assert "--groups=ward=" in page.locator("#command").inner_text()


def test_53_columns_can_be_filtered_and_the_heads_stay_in_sight(page, tmp_path):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({f"measure_{i:02d}": rng.integers(0, 9, 60) for i in range(51)})
    table["seen_at"] = pd.date_range("2024-01-01", periods=60, freq="7h").astype(str)
    table["race"] = rng.choice(["a", "b"], 60)
    upload(page, tmp_path, "wide.csv", table, "public-7")
    page.get_by_label("measure_40").first.scroll_into_view_if_needed()
    head = page.locator("table.ask thead th").first.bounding_box()
    assert head["y"] >= 0  # sticks to the top
    page.fill("#filter", "seen")
    expect(page.locator("table.ask tbody tr:visible")).to_have_count(1)
    offered = page.locator("[name=treat-51] option").evaluate_all("all => all.map((o) => o.value)")
    assert offered == ["bins", "round", "identifier"]  # many times are no category
    page.fill("#filter", "race")
    page.check("[name=sensitive-52]")
    expect(page.locator(".use").first).to_be_hidden()  # only who asks for it sees it
    page.locator("details.more summary").first.click()
    page.check("#has_use")
    page.fill("#filter", "measure_08")
    page.check("[name=useful-8]")
    page.get_by_role("button", name="What would this give away?").click()
    page.locator("#search").wait_for()
    page.wait_for_timeout(300)
    assert page.locator("#stakes h2").first.bounding_box()["y"] < 300  # not below the fold
    expect(page.locator("#purpose")).to_contain_text("measure_08")
    assert fits_every_screen(page)


def test_values_are_dragged_into_order_a_hierarchy_is_uploaded_and_importance_is_slid(
    page, tmp_path
):
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"ill": rng.integers(0, 2, 90), "size": rng.choice(["L", "M", "S"], 90)})
    table["city"] = rng.choice(["Bonn", "Pisa", "Rom"], 90)
    upload(page, tmp_path, "people.csv", table, "sensitive-0", "public-1", "public-2")
    page.get_by_role("button", name="What would this give away?").click()
    page.locator("#shapes summary").click()
    page.check("#shape-0-order")
    values = page.locator("ol.order").first.locator("li")
    values.nth(2).drag_to(values.nth(0), target_position={"x": 9, "y": 2})
    assert values.all_inner_texts()[0].startswith("S")
    values.nth(1).get_by_role("button", name="later").press("Enter")
    tree = "Bonn;north;*\nPisa;south;*\nRom;south;*\n"
    (tmp_path / "tree.csv").write_text(tree)
    page.set_input_files("[data-fills=tree-1]", tmp_path / "tree.csv")
    expect(page.locator("#tree-1")).to_have_value(tree)
    page.locator("#importance summary").click()
    page.locator("#importance-1").press("ArrowRight")
    expect(page.locator("#importance output").nth(1)).to_have_text("1.5")
    sent = dict(page.evaluate("[...new FormData(document.getElementById('search'))]"))
    assert [name for name in sent if name.startswith("order-0")] == [
        "order-0-2", "order-0-1", "order-0-0",
    ]  # fmt: skip
    assert (sent["shape-0"], sent["shape-1"], sent["importance-1"]) == ("order", "tree", "1.5")
    assert fits_every_screen(page)
    page.check("[name=recoding][value=symbols]")
    expect(page.locator("#shapes")).to_be_hidden()  # of readable columns only


def test_a_search_shows_that_it_goes_on_and_can_be_cancelled_and_begun_again(page):
    page.add_init_script(PULSE)
    page.get_by_role("button", name="Open the demo").click()
    search(page, points=200)
    state = page.locator("#search-state .state")
    expect(state).to_contain_text(re.compile(r"\((?!1\s)(?!2\s)\d+\ss\)"))
    assert longest_still(page, 2500) < 1
    page.route("**/jobs/*", lambda question: None)  # whatever the server does, something moves
    expect(state).to_contain_text(re.compile(r"the studio silent for \d+\ss"))
    page.unroute("**/jobs/*")
    expect(state).not_to_contain_text("silent")
    page.locator("#search-state .cancel").click()
    expect(state).to_have_text("Searching releases: cancelled.")
    expect(page.locator("#choose")).to_be_hidden()
    page.get_by_role("link", name="Change the columns or the search").click()
    search(page, recoding="global", points=2)
    choose(page, 0.55)
    make(page)
    shown = [line for line in page.evaluate("sessionStorage.pulse").split("\n") if line]
    changes = sum(a != b for a, b in pairwise(shown))
    assert changes >= len(shown) / 8, (
        shown
    )  # on average every second or two, whatever else runs here


def test_refused_uploads_are_told_and_the_page_goes_on(page, studio, tmp_path):
    fault = page.locator("#upload-fault")
    upload(page, tmp_path, "big.csv", pd.DataFrame({"a": range(20_000)}))
    expect(fault).to_contain_text("larger than the 0.05 MB")
    upload(page, tmp_path, "table.xlsx", pd.DataFrame({"a": [1]}))
    expect(fault).to_contain_text("must end in .csv")
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n3\n")
    page.set_input_files("#file", tmp_path / "bad.csv")
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("main .fault")).to_contain_text("bad.csv")
    page.get_by_role("link", name="Choose another table").click()
    page.get_by_role("button", name="Open the demo").click()
    expect(page.locator("main")).to_contain_text("442 rows")
    # A link on a foreign page leads to the same session.
    page.goto(f"data:text/html,<a href='{studio.settings.address.split('?')[0]}'>studio</a>")
    page.get_by_role("link", name="studio").click()
    expect(page.locator("main")).to_contain_text("You are working on demo.csv")


def test_the_keyboard_is_enough_and_a_reload_in_the_middle_loses_nothing(page, tmp_path):
    upload(page, tmp_path, "small.csv", small(), "public-1", "public-2")
    page.locator("[name=sensitive-0]").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="What would this give away?").press("Enter")
    page.locator("#search").wait_for()
    page.reload()
    assert page.is_checked("[name=sensitive-0]")
    search(page, points=40)
    job = page.locator("#tradeoff").get_attribute("data-search")
    page.reload()
    assert page.locator("#tradeoff").get_attribute("data-search") == job  # still the same search
    page.locator("#choose").wait_for()
    page.locator("#slider").focus()
    before = float(page.input_value("#value"))
    page.keyboard.press("ArrowRight")
    assert float(page.input_value("#value")) > before
    page.locator("#make").wait_for()  # what is chosen follows
    page.locator("#points summary").focus()
    page.keyboard.press("Enter")
    page.locator("#points button").nth(1).focus()
    page.keyboard.press("Enter")
    expect(page.locator("#choice-state")).to_be_hidden()
    page.locator("#make").wait_for()
    choose(page, 0.35)
    said = figures(page, "leakage")
    page.reload()
    page.locator("#make").wait_for()
    assert figures(page, "leakage") == said
    page.get_by_role("button", name="Make the files").press("Enter")
    page.wait_for_url("**/release")
    page.reload()
    page.locator(".files").wait_for()
    assert figures(page, "leakage") == said


def test_the_picture_has_all_curves_and_every_step_fits_every_screen(page, tmp_path):
    assert fits_every_screen(page)
    table = small()
    table["a_column_with_a_very_long_name_that_does_not_fit_a_phone_at_all"] = "word " * 8
    name = "a_file_with_a_very_long_name_for_a_phone_2024_final.csv"
    upload(page, tmp_path, name, table, "sensitive-0", "public-1", "public-2", "public-3")
    search(page, points=3, compare=True)
    page.locator("#choose").wait_for()
    page.locator("#soft:enabled").wait_for()
    names = page.evaluate("document.getElementById('plot').data.map((trace) => trace.name)")
    assert [name.split()[0] for name in names] == [
        "limit:", "plain", "releases", "releases", "proved", "published",
    ]  # fmt: skip
    soft, hard = page.evaluate(
        """["soft", "hard"].map((kind) => {
            const found = document.getElementById("plot").data.find((trace) => trace.meta === kind);
            return [found.x, found.y];
        })"""
    )
    for at in (soft[0], hard[0]):  # by lot never gives away more
        at = [x for x in at if x <= hard[0][-1]]
        assert (np.interp(at, *soft) <= np.interp(at, *hard) + 1e-9).all()
    spot = page.evaluate(
        """() => {
            const plot = document.getElementById("plot");
            const found = plot.data.find((trace) => trace.meta === "hard");
            const box = plot.getBoundingClientRect(), axes = plot._fullLayout;
            return {
              x: box.left + axes._size.l + axes.xaxis.d2p(found.x[2]),
              y: box.top + axes._size.t + axes.yaxis.d2p(found.y[2]),
              kept: found.x[2],
            };
        }"""
    )
    page.mouse.move(spot["x"], spot["y"])
    expect(page.locator(".hoverlayer")).to_contain_text("releases found")
    page.mouse.click(spot["x"], spot["y"])
    page.locator("#make").wait_for()
    assert float(page.input_value("#value")) == pytest.approx(100 * spot["kept"], abs=0.02)
    mark = float(page.locator("#chosen [data-kept]").get_attribute("data-kept"))
    assert mark == pytest.approx(spot["kept"], abs=0.01)
    expect(page.locator("#nearest")).to_contain_text("Nearest point: keeps")
    page.locator("#points summary").click()
    assert fits_every_screen(page)
    page.set_viewport_size({"width": 390, "height": 800})
    lines = page.locator("#points button").first.bounding_box()
    assert lines["height"] < 60  # "Choose" in one line ...
    assert lines["x"] + lines["width"] <= 390  # ... and in sight
    make(page)
    assert fits_every_screen(page)


def test_a_studio_that_has_ended_is_said(browser):
    context = browser.new_context()
    page = context.new_page()
    with running(Settings(workers=1)) as studio:
        page.goto(studio.settings.address)
        page.get_by_role("button", name="Open the demo").click()
        page.locator("#columns").wait_for()
        search(page, points=200)
        expect(page.locator("#search-state .state")).to_contain_text(" of 400")
    expect(page.locator("#search-state .state")).to_contain_text("The studio has ended")
    assert "Failed to fetch" not in page.locator("main").inner_text()
    context.close()
