"""The studio's whole job: what was shown is what is made, and its recipe makes the same again."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from privacyfunnel import datasets
from privacyfunnel.cli import run as run_here
from privacyfunnel.releases.files import FILES
from privacyfunnel.releases.request import ReleaseRequest
from privacyfunnel.report.numbers import percent
from privacyfunnel.studio import commands
from privacyfunnel.studio.forms import Choices, ColumnChoice
from privacyfunnel.studio.sources import Source
from studio_client import DEMO_FORM, QUICK, attributes, element

OTHERS = list(FILES)


def run(folder: Path, command: str) -> None:
    program, *words = shlex.split(command)
    assert program == "funnel"
    done = subprocess.run(
        [sys.executable, "-m", "privacyfunnel", *words],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def figures(page: str, *names: str) -> dict[str, str]:
    """The large figures of a page, by name."""
    found = dict(re.findall(r'data-figure="(\w+)">([^<]+)<', page))
    assert set(found) == {*(names or ("utility",)), "leakage"}
    return found


def cautions(page: str) -> list[str]:
    """The warnings of a page, to the letter."""
    return re.findall(r'<div class="caution".*?</div>', page, re.DOTALL)


def run_python(folder: Path, code: str, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    exec(compile(code, "make.py", "exec"), {})


@pytest.mark.parametrize("is_soft", [False, True])
def test_the_command_and_the_code_make_the_same_files(visitor, tmp_path, monkeypatch, is_soft):
    rows = datasets.load_demo().iloc[:150]
    rows["name, it's"] = ["a", "b", None] * 50
    upload = rows.to_csv(index=False)
    assert visitor.upload("some patients.csv", upload).json() == {"go": "/columns"}
    visitor.finished("/columns")
    form = {
        "treat-0": "bins", "how-0": "10", "sensitive-0": "on",
        "treat-1": "category", "public-1": "on",
        "treat-2": "bins", "how-2": "150, 200", "public-2": "on",
        "treat-3": "category", "public-3": "on", "missing": "drop",
    }  # fmt: skip
    settings = {**QUICK, "seed": "3", **({"compare": "on"} if is_soft else {"min_count": "4"})}
    assert visitor.searched(form, settings)["state"] == "done"
    if is_soft:
        compared = visitor.wait(visitor.job("/tradeoff", "compare"))
        assert compared["state"] == "done", compared
        assert len(compared["news"]["noise"]) == 80
    fields = {"by": "leakage", "value": "0.12", **({"soft": "on"} if is_soft else {})}
    points = visitor.wait(visitor.job("/tradeoff", "compare" if is_soft else "search"))["news"]
    allowed = [p for p in points["soft" if is_soft else "points"] if p["leakage"] <= 0.12]
    most = max(allowed, key=lambda point: point["kept"])
    nearest = visitor.get("/nearest", params=fields).json()["words"]
    assert f"keeps {percent(most['kept'])}, gives away {percent(most['leakage'])}, in " in nearest
    assert visitor.get("/nearest", params={**fields, "value": ""}).json() == {"words": ""}
    none = visitor.get("/nearest", params={**fields, "by": "utility", "value": "1"}).json()["words"]
    assert none.startswith("Nearest" if is_soft else "No release found meets this with at least 4")
    started = visitor.post("/choose", data=fields).json()
    assert visitor.wait(started["job"])["state"] == "done"
    chosen = visitor.get("/chosen").text
    options = {"expand": "on"} if is_soft else {"format": "csv", "is_public": "on"}
    visitor.post("/release", data=options)
    page = visitor.finished("/release")
    (tmp_path / "some patients.csv").write_text(upload)
    run(tmp_path, element(page, "command"))
    # Draws by lot have a secret of their own in each run: then the same is promised, not the same drawn.
    names = [] if is_soft else ["release.csv", *OTHERS]
    for name in names:
        mine = visitor.get(f"/files/{name}").content
        assert mine == (tmp_path / "release" / name).read_bytes(), name
    # What was shown before is what was made.
    report = json.loads((tmp_path / "release" / "report.json").read_text())
    assert report["measured"] == visitor.get("/files/report.json").json()["measured"]
    for name in ("utility", "leakage") if is_soft else ("utility",):  # the other is not published
        shown = float(attributes(chosen, f"data-{name.replace('utility', 'kept')}")[0])
        assert shown == pytest.approx(report["measured"][name], rel=1e-12)
    assert figures(chosen) == figures(page)
    assert cautions(chosen) == cautions(page) != []
    again = tmp_path / "again"
    again.mkdir()
    (again / "some patients.csv").write_text(upload)
    run_python(again, element(page, "code"), monkeypatch)
    assert (again / "release" / "report.json").exists()
    for name in names[:2]:
        assert (again / "release" / name).read_bytes() == visitor.get(f"/files/{name}").content


@pytest.mark.parametrize("is_for_use", [False, True])
def test_purpose_measure_caps_and_persons_are_asked_for_as_by_the_command(
    visitor, tmp_path, monkeypatch, is_for_use
):
    rows = datasets.load_demo().iloc[:240]
    rows["chol"] //= 20
    rows["age"] //= 20
    rows["ill"] = (rows.chol + rows.age * 2) % 3 == 0
    rows["who"] = [f"p{k // 2}" for k in range(240)]
    upload = rows.to_csv(index=False)
    visitor.upload("patients.csv", upload)
    visitor.finished("/columns")
    form = {f"treat-{i}": "category" for i in range(4)} | {"treat-4": "identifier"}
    form |= {"sensitive-0": "on", "sensitive-1": "on", "public-1": "on", "public-2": "on"}
    settings, target = {"effort": "fast", "points": "3"}, {"by": "leakage", "value": "0.2"}
    words = ["--person=who", "--leakage=0.2"]
    if is_for_use:
        form |= {"has_use": "on", "useful-3": "on"}
        settings |= {**QUICK, "measure": "guessing", "purpose": "both"}
        words = ["--useful=ill", "--measure=guessing", "--cap=sex=guessing:0.25", "--and-x"]
    else:
        form |= {"person": "4"}
    found = visitor.searched(form, settings)
    assert found["state"] == "done", found
    news = found["news"]
    assert all(0 <= point["leakage"] <= news["whole"] + 1e-9 for point in news["points"])
    started = visitor.post("/choose", data=target).json()
    assert visitor.wait(started["job"])["state"] == "done"
    chosen = visitor.get("/chosen").text
    assert (
        float(attributes(chosen, "data-leakage")[0]) <= 0.2 + 1e-9
    )  # by the measure that was asked for
    if is_for_use:  # the same curve, other bounds
        started = visitor.post("/choose", data={"by": "caps", "cap-1": "0.25"}).json()
        assert visitor.wait(started["job"])["state"] == "done"
        chosen = visitor.get("/chosen").text
    visitor.post("/release", data={"format": "csv"})
    page = visitor.finished("/release")
    assert re.findall(r'data-figure="[^/]+', chosen) == re.findall(r'data-figure="[^/]+', page)
    command = element(page, "command")
    assert set(words) <= set(shlex.split(command))
    (tmp_path / "patients.csv").write_text(upload)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    assert run_here() == 0
    for name in ("release.csv", "codebook.json"):
        assert visitor.get(f"/files/{name}").content == (tmp_path / "release" / name).read_bytes()
    report = json.loads((tmp_path / "release" / "report.json").read_text())
    if is_for_use:
        (cap,) = report["asked_for"]["caps"]
        assert cap["told"] <= 0.25 + 1e-9
    else:
        assert report["records"]["persons"] == 120
    (tmp_path / "release").rename(tmp_path / "first")
    run_python(tmp_path, element(page, "code"), monkeypatch)
    mine = visitor.get("/files/release.csv").content
    assert mine == (tmp_path / "release" / "release.csv").read_bytes()


def test_a_readable_release_is_made_as_it_was_shown(visitor, tmp_path):
    rows = datasets.load_demo().iloc[:200]
    rows["chol"] //= 10
    rows["ward"] = ["a", "b", "c", "a, b"] * 50
    upload = rows.to_csv(index=False)
    visitor.upload("patients.csv", upload)
    visitor.finished("/columns")
    form = {
        "treat-0": "category", "sensitive-0": "on", "treat-1": "category",
        "treat-2": "bins", "how-2": "15, 18, 20, 24", "public-2": "on",
        "treat-3": "category", "public-3": "on",
    }  # fmt: skip
    settings = {"effort": "fast", "points": "3", "importance-1": "2", "compare": "on"}
    assert visitor.searched(form, settings)["state"] == "done"
    compared = visitor.wait(visitor.job("/tradeoff", "compare"))
    assert set(compared["news"]["others"]) == {"local", "symbols"}
    refused = visitor.post("/choose", data={"by": "utility", "value": "0.5"})
    assert "kept" in refused.json()["error"]  # what is kept of readable columns is not utility
    started = visitor.post("/choose", data={"by": "kept", "value": "0.5"}).json()
    assert visitor.wait(started["job"])["state"] == "done"
    chosen = visitor.get("/chosen").text
    assert float(attributes(chosen, "data-kept")[0]) >= 0.5
    assert "under 15" in chosen
    visitor.post("/release", data={"format": "csv"})
    page = visitor.finished("/release")
    assert figures(chosen, "kept") == figures(page, "kept")
    command = element(page, "command")
    assert "--kept=0.5" in command
    assert "--importance=ward=2" in command
    (tmp_path / "patients.csv").write_text(upload)
    run(tmp_path, command)
    for name in ["release.csv", "codebook.json"]:
        assert visitor.get(f"/files/{name}").content == (tmp_path / "release" / name).read_bytes()
    header, *lines = (tmp_path / "release" / "release.csv").read_text().splitlines()
    assert (header, len(lines)) == ("chol,ward", len(rows))


def test_the_demo_has_a_recipe_too(studio, visitor, tmp_path, monkeypatch):
    visitor.demo()
    visitor.searched()
    started = visitor.post("/choose", data={"by": "utility", "value": "0.3"}).json()
    visitor.wait(started["job"])
    page = visitor.post("/release").text
    python, option, code = shlex.split(element(page, "first"))
    assert (python, option) == ("python", "-c")
    run_python(tmp_path, code, monkeypatch)
    table = next(studio.folder.rglob("demo.csv"))
    assert (tmp_path / "demo.csv").read_bytes() == table.read_bytes()
    assert element(page, "command").startswith("funnel release demo.csv ")
    visitor.post("/reset")


def test_what_was_chosen_before_another_table_cannot_be_made_from_it(visitor):
    visitor.demo()
    visitor.searched()
    started = visitor.post("/choose", data={"by": "utility", "value": "0.3"}).json()
    visitor.wait(started["job"])
    visitor.post("/columns", data={"sensitive-0": "on"})  # not allowed: nothing to publish
    page = visitor.post("/release")
    assert "--publish=sex,chol" in element(page.text, "command")  # still what was searched
    visitor.demo()  # as in another tab
    refused = visitor.post("/choose", data={"by": "utility", "value": "0.3"})
    assert "no longer there" in refused.json()["error"]
    assert "Choose a release first" in visitor.post("/release").text
    assert visitor.get("/release").url.path == "/columns"


def test_a_target_out_of_reach_is_told_in_the_words_of_the_page(visitor):
    visitor.demo()
    visitor.searched(DEMO_FORM, {**QUICK, "min_count": "100"})
    started = visitor.post("/choose", data={"by": "utility", "value": "0.95"}).json()
    told = visitor.wait(started["job"])["error"]
    assert "a utility of at least 0.95 with at least 100 records per symbol" in told


def test_a_column_that_the_command_line_cannot_name_is_said(visitor):
    choices = Choices(
        (ColumnChoice(" a", "text", sensitive=True), ColumnChoice("b", "text", public=True))
    )
    asked, source = (
        ReleaseRequest({"utility": 0.5}, source="t.csv"),
        Source("t.csv", "t.csv", "upload"),
    )
    command, why = commands.command_or_why(source, choices, asked)
    assert command == ""
    assert "Python code" in why
