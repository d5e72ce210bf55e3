"""The studio in Chromium, as a curator uses it: from upload to download, and what goes wrong."""

from __future__ import annotations

import shutil

import numpy as np
import pandas as pd
import pytest

from privacyfunnel import datasets
from privacyfunnel.information import entropy, mutual_information
from privacyfunnel.report.numbers import percent
from privacyfunnel.studio.server import running
from privacyfunnel.studio.settings import Settings

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
try:
    from playwright.sync_api import expect, sync_playwright
except ModuleNotFoundError:
    sync_playwright = None
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.skipif(sync_playwright is None, reason="playwright is not installed"),
]
EVIL = "<img src=x onerror=\"document.title='owned'\">"
PATIENCE = 60_000  # milliseconds


@pytest.fixture(scope="module")
def studio():
    with running(Settings(max_upload=50_000, workers=2)) as studio:
        yield studio


@pytest.fixture(scope="module")
def browser():
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


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


def upload(page, folder, name: str, table: pd.DataFrame) -> None:
    path = folder / name
    table.to_csv(path, index=False)
    page.set_input_files("#file", path)
    page.get_by_role("button", name="Upload").click()


def upload_small(page, folder) -> None:
    """A table with few public values, for which every search is quick; its columns marked."""
    small = datasets.load_demo()
    small["chol"] //= 40
    upload(page, folder, "small.csv", small)
    page.locator("#columns").wait_for()
    for box in ("sensitive-0", "public-1", "public-2"):
        page.check(f"[name={box}]")
    page.get_by_role("button", name="What would this give away?").click()
    page.locator("#search").wait_for()


def search(
    page, points: int = 1, compare: bool = False, recoding: str = "symbols", least: int = 5
) -> None:
    """From the marked columns to the start of the search."""
    page.get_by_role("button", name="What would this give away?").click()
    page.check(f"[name=recoding][value={recoding}]")
    page.fill("#points", str(points))
    page.fill("#min_count", str(least))
    page.set_checked("[name=compare]", compare)
    page.get_by_role("button", name="Search", exact=True).click()
    page.wait_for_url("**/tradeoff")


def choose(page, share: float) -> None:
    page.locator("#choose").wait_for()
    page.fill("#value", str(100 * share))
    page.get_by_role("button", name="Show this release").click()
    page.locator("#make").wait_for()


def figure(page, name: str) -> str:
    return page.locator(f"[data-figure={name}]").inner_text()


def bits(a, b) -> float:
    """I(A;B) of two columns, counted by pandas."""
    return mutual_information(pd.crosstab(a, b).to_numpy() / len(a))


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


def test_from_upload_to_download_the_file_is_what_the_page_said(page, tmp_path):
    table = datasets.load_demo()
    upload(page, tmp_path, "patients.csv", table)
    page.wait_for_url("**/columns")
    for box in ("sensitive-0", "sensitive-1", "public-1", "public-2"):
        page.check(f"[name={box}]")
    search(page, points=3)
    choose(page, 0.4)
    said = {name: figure(page, name) for name in ("utility", "leakage")}
    page.select_option("#format", "csv")
    page.get_by_role("button", name="Make the files").click()
    page.locator(".files").wait_for()
    assert {name: figure(page, name) for name in said} == said
    for name in ("release.csv", "codebook.json", "report.html", "report.json"):
        with page.expect_download() as download:
            page.get_by_role("link", name=name).click()
        download.value.save_as(tmp_path / name)
    released = pd.read_csv(tmp_path / "release.csv")["released"]
    assert len(released) == len(table)
    s, x = table.age * 10 + table.sex, table.chol * 10 + table.sex
    shares = {}
    for name, column in (("leakage", s), ("utility", x)):
        counts = column.value_counts().to_numpy()
        shares[name] = bits(column, released) / entropy(counts / counts.sum())
    assert shares["utility"] >= 0.4
    assert {name: percent(share) for name, share in shares.items()} == said
    assert "Release report" in (tmp_path / "report.html").read_text()
    assert "funnel release patients.csv" in page.locator("#command").inner_text()


def test_a_readable_release_from_upload_to_download(page, tmp_path):
    table = datasets.load_demo()
    table["chol"] //= 20
    upload(page, tmp_path, "patients.csv", table)
    page.wait_for_url("**/columns")
    for box in ("sensitive-0", "public-1", "public-2"):
        page.check(f"[name={box}]")
    search(page, points=4, recoding="global")
    page.locator("#choose").wait_for()
    expect(page.locator("#soft")).to_be_hidden()
    page.fill("#value", "60")
    page.get_by_role("button", name="Show this release").click()
    page.locator("#make").wait_for()
    expect(page.locator("#chosen svg")).to_have_count(2)  # a picture of each column
    said = {name: figure(page, name) for name in ("kept", "leakage")}
    page.select_option("#format", "csv")
    page.get_by_role("button", name="Make the files").click()
    page.locator(".files").wait_for()
    assert {name: figure(page, name) for name in said} == said
    with page.expect_download() as download:
        page.get_by_role("link", name="release.csv").click()
    download.value.save_as(tmp_path / "release.csv")
    released = pd.read_csv(tmp_path / "release.csv", dtype=str)
    assert list(released.columns) == ["sex", "chol"]
    assert len(released) == len(table)
    counts = table.age.value_counts().to_numpy()
    given_away = bits(table.age, released.sex + "|" + released.chol) / entropy(
        counts / counts.sum()
    )
    assert percent(given_away) == said["leakage"]


def test_groups_are_laid_with_the_keyboard_alone_and_the_file_is_what_the_page_said(page, tmp_path):
    table = datasets.load_demo()
    table["chol"] //= 20
    table["ward"] = np.random.default_rng(0).choice(["north", "south", "east"], len(table))
    upload(page, tmp_path, "patients.csv", table)
    page.wait_for_url("**/columns")
    for box in ("sensitive-0", "public-1", "public-2", "public-3"):
        page.check(f"[name={box}]")
    search(page, points=3, recoding="global", least=1)
    choose(page, 0.6)
    said = [{name: figure(page, name) for name in ("kept", "leakage")}]
    page.get_by_role("button", name="Change the groups by hand").press("Enter")
    page.locator("#hand .laid").first.wait_for()
    assert {name: figure(page, name) for name in said[0]} == said[0]

    step = 1

    def press(place: str, *keys: str, by: int = 1) -> None:
        nonlocal step
        page.locator(place).focus()
        for key in keys:
            page.keyboard.press(key)
        step += by
        expect(page.locator(f".follow[data-step='{step}']")).to_be_visible()

    press("#every-1", "4", "Enter")
    page.wait_for_timeout(500)  # the part that follows is in its place
    assert (
        page.evaluate("document.activeElement.id") == "every-1"
    )  # the keyboard stays where it was
    cuts = page.locator("#column-1 .cuts [name=at]")
    assert [cut.input_value() for cut in cuts.all()] == ["8", "12"]
    press("#add-1", "1", "0", "Enter")
    expect(cuts).to_have_count(3)
    press("#undo", "Enter", by=-1)
    expect(cuts).to_have_count(2)
    page.locator("#value-2-0").focus()
    page.keyboard.press("Space")
    page.locator("#value-2-1").focus()
    page.keyboard.press("Space")
    press("#shift-2", "Enter")
    page.locator("#column-1 rect").nth(3).click()  # with the mouse it is as short
    expect(page.locator(f".follow[data-step='{step + 1}']")).to_be_visible()
    for scheme, width in (("dark", 390), ("light", 1200)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        assert fits(page)
    said = {name: figure(page, name) for name in ("kept", "leakage", "smallest")}
    page.select_option("#format", "csv")
    page.get_by_role("button", name="Make the files").press("Enter")
    page.locator(".files").wait_for()
    assert {name: figure(page, name) for name in ("kept", "leakage")}.items() <= said.items()
    with page.expect_download() as download:
        page.get_by_role("link", name="release.csv").click()
    download.value.save_as(tmp_path / "release.csv")
    released = pd.read_csv(tmp_path / "release.csv", dtype=str)
    together = released.sex + "|" + released.chol + "|" + released.ward
    counts = table.age.value_counts().to_numpy()
    assert percent(bits(table.age, together) / entropy(counts / counts.sum())) == said["leakage"]
    assert together.value_counts().min() == int(said["smallest"])
    assert "--groups=ward=" in page.locator("#command").inner_text()


def test_53_columns_can_be_filtered_and_the_heads_stay_in_sight(page, tmp_path):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({f"measure_{i:02d}": rng.integers(0, 9, 60) for i in range(51)})
    table["seen_at"] = pd.date_range("2024-01-01", periods=60, freq="7h").astype(str)
    table["race"] = rng.choice(["a", "b"], 60)
    upload(page, tmp_path, "wide.csv", table)
    page.locator("#columns").wait_for()
    assert fits(page)
    page.get_by_label("measure_40").first.scroll_into_view_if_needed()
    head = page.locator("table.ask thead th").first.bounding_box()
    assert head["y"] >= 0  # sticks to the top
    page.fill("#filter", "seen")
    expect(page.locator("table.ask tbody tr:visible")).to_have_count(1)
    assert page.locator("[name=treat-51]").input_value() != "category"
    page.fill("#filter", "race")
    page.check("[name=sensitive-52]")
    page.fill("#filter", "measure_07")
    page.check("[name=public-7]")
    page.get_by_role("button", name="What would this give away?").click()
    page.locator("#search").wait_for()
    expect(page.locator("#stakes h2").first).to_be_in_viewport()  # not below the fold
    page.set_viewport_size({"width": 390, "height": 800})
    assert fits(page)


def test_a_column_that_attacks_the_reader_is_only_text(page, tmp_path):
    rng = np.random.default_rng(0)
    values = np.array([EVIL, "<script>document.title='owned'</script>", "plain"], dtype=object)
    table = pd.DataFrame({EVIL: rng.choice(values, 90), "two": rng.integers(0, 3, 90)})
    upload(page, tmp_path, "evil.csv", table)
    page.wait_for_url("**/columns")
    expect(page.locator("#name-0")).to_have_text(EVIL)
    page.check("[name=public-0]")
    page.check("[name=sensitive-1]")
    search(page)
    choose(page, 0.5)
    page.get_by_role("button", name="Make the files").click()
    page.locator(".files").wait_for()
    expect(page.locator("main")).to_contain_text(EVIL)
    assert page.locator("main img, main script").count() == 0
    assert page.title() == "Release · privacyfunnel"


def test_a_search_can_be_cancelled_and_begun_again(page):
    page.get_by_role("button", name="Open the demo").click()
    search(page, points=200)
    state = page.locator("#search-state .state")
    expect(state).to_contain_text("s)")  # how long it has taken: something moves every second
    expect(state).not_to_have_text(state.inner_text())
    page.locator("#search-state .cancel").click()
    expect(page.locator("#search-state .state")).to_have_text("Searching releases: cancelled.")
    expect(page.locator("#choose")).to_be_hidden()
    page.get_by_role("link", name="Change the columns or the search").click()
    search(page)
    page.locator("#choose").wait_for()


def test_refused_uploads_are_told_and_the_page_goes_on(page, tmp_path):
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


def test_a_reload_in_the_middle_loses_nothing(page, tmp_path):
    upload_small(page, tmp_path)
    page.reload()
    assert page.is_checked("[name=sensitive-0]")
    search(page, points=40)
    job = page.locator("#tradeoff").get_attribute("data-search")
    page.reload()
    assert page.locator("#tradeoff").get_attribute("data-search") == job  # still the same search
    page.locator("#choose").wait_for()
    choose(page, 0.35)
    said = figure(page, "leakage")
    page.reload()
    page.locator("#make").wait_for()
    assert figure(page, "leakage") == said
    page.get_by_role("button", name="Make the files").click()
    page.wait_for_url("**/release")
    page.reload()
    page.locator(".files").wait_for()
    assert figure(page, "leakage") == said


def test_the_picture_has_all_curves_and_its_points_can_be_clicked(page, tmp_path):
    upload_small(page, tmp_path)
    search(page, points=3, compare=True)
    page.locator("#choose").wait_for()
    page.locator("#soft:enabled").wait_for()
    names = page.evaluate("document.getElementById('plot').data.map((trace) => trace.name)")
    assert [name.split()[0] for name in names] == [
        "limit:",
        "plain",
        "releases",
        "releases",
        "published",
    ]
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


def test_the_keyboard_is_enough(page):
    page.locator(".skip").focus()
    page.get_by_role("button", name="Open the demo").focus()
    page.keyboard.press("Enter")
    page.locator("#columns").wait_for()
    page.locator("[name=sensitive-1]").focus()
    page.keyboard.press("Space")
    assert not page.is_checked("[name=sensitive-1]")
    search(page)
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
    page.locator("#make").wait_for()


def test_every_step_fits_a_phone_and_follows_the_colours_of_the_system(page, tmp_path):
    page.set_viewport_size({"width": 375, "height": 700})
    assert fits(page)
    wide = datasets.load_demo()
    wide["chol"] //= 40
    wide["a_column_with_a_very_long_name_that_does_not_fit_a_phone_at_all"] = "word " * 8
    upload(page, tmp_path, "a_file_with_a_very_long_name_for_a_phone_2024_final.csv", wide)
    page.locator("#columns").wait_for()
    assert fits(page)
    for box in ("sensitive-0", "public-1", "public-2", "public-3"):
        page.check(f"[name={box}]")
    search(page)
    choose(page, 0.4)
    page.locator("#points summary").click()
    assert fits(page)
    page.get_by_role("button", name="Make the files").click()
    page.locator(".files").wait_for()
    assert fits(page)
    for scheme, colour in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 24, 30)")):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == colour
        assert fits(page)


def test_a_link_on_a_foreign_page_leads_to_the_same_session(page, studio):
    page.get_by_role("button", name="Open the demo").click()
    page.locator("#columns").wait_for()
    page.goto(f"data:text/html,<a href='{studio.settings.address.split('?')[0]}'>studio</a>")
    page.get_by_role("link", name="studio").click()
    expect(page.locator("main")).to_contain_text("You are working on demo.csv")


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
