"""Groups by hand: every figure is that of the code that the draft stands for, and so is the command."""

from __future__ import annotations

import shlex
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest
from test_studio_commands import figures

import privacyfunnel as pf
from privacyfunnel import datasets
from privacyfunnel.cli.options import read_asked
from privacyfunnel.errors import InvalidInput
from privacyfunnel.recodings import Recoding
from privacyfunnel.releases.request import ReleaseRequest
from privacyfunnel.studio import commands
from privacyfunnel.studio.drafts import Change, Draft, History
from privacyfunnel.studio.forms import Choices, ColumnChoice
from privacyfunnel.studio.sources import Source
from privacyfunnel.studio.worker.by_hand import BareTable, changed, draft_of, improved, laid
from privacyfunnel.tables import count, open_table
from studio_client import attributes, element

NAMES = ["age", "city", "born", "dose"]
GLOBAL = {"recoding": "global", "effort": "fast", "points": "3", "min_count": "1"}


def people(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"ill": rng.integers(0, 2, n), "age": rng.integers(17, 90, n)})
    table["city"] = rng.choice(["Bonn", "Pisa", "a,b|c", "Turin", None], n)
    table["born"] = [date(1950, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 9999, n)]
    table["dose"] = rng.choice([0.5, 1.0, 2.5, 4.0, np.nan], n)
    return table


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """The counts of a table, its frontier, its table and a first draft."""
    path = tmp_path_factory.mktemp("table") / "people.csv"
    people().to_csv(path, index=False)
    counts = count(open_table(str(path)), ["ill"], NAMES)
    joint = counts.joint()
    found = pf.frontier(joint, recoding="global", n_points=3, min_count=2)
    table = BareTable.of(found, counts.roles.public)
    return joint, table, draft_of(found.at(kept=0.3), table)


CHANGES = [
    Change("add", 0, at="18"), Change("add", 0, at="64.5"), Change("move", 0, cut=0, at="21"),
    Change("every", 0, at="10"), Change("remove", 0, cut=2), Change("every", 2, at="5"),
    Change("add", 2, at="1961-02-03"), Change("add", 3, at="0.75"), Change("hold", 3),
    Change("shift", 1, values=(0, 1), to="new"), Change("shift", 1, values=(4,), to="0"),
    Change("shift", 1, values=(0, 1, 4), to="apart"), Change("shift", 1, named="Bonn, Turin"),
]  # fmt: skip


def test_every_change_is_measured_as_the_code_that_it_makes(begun):
    joint, table, draft = begun
    for change in CHANGES:
        draft = changed(table, draft, change)
        shown = laid(table, draft)
        slow = Recoding(groups=draft.groups, min_count=2, suppress=1.0).on(joint).finest()
        pushed = slow.code.push(joint)
        assert shown["kept"] == pytest.approx(slow.kept, abs=1e-9)
        assert shown["leakage"] == pytest.approx(slow.leakage / joint.entropy_s, abs=1e-9)
        assert shown["smallest"] == round(float(pushed.counts.sum(axis=0).min()))
        assert shown["n_symbols"] == pushed.n_x
        assert shown["suppressed"] == pytest.approx(slow.suppressed)
        for i, column in enumerate(shown["columns"]):
            records = pd.Series([g["records"] for g in column["groups"]])
            assert records.sum() == joint.n_records
            assert column["distinct"] == len(joint.public[i].values)
    assert draft.held == {"age", "city", "born"}  # dose was held by its cut and let go of
    age = laid(table, draft)["columns"][0]
    assert age["cuts"] == ["20", "30", "50", "60", "70", "80"]
    assert [g["label"] for g in age["groups"]][:2] == ["under 20", "20-29"]


def test_the_chosen_release_is_the_first_draft(begun):
    joint, table, draft = begun
    found = pf.frontier(joint, recoding="global", n_points=3, min_count=2).at(kept=0.3)
    shown = laid(table, draft)
    assert shown["kept"] == pytest.approx(found.kept, abs=1e-9)
    assert shown["leakage"] == pytest.approx(found.leakage / joint.entropy_s, abs=1e-9)


def test_the_command_of_a_draft_says_the_same_groups(begun):
    joint, table, draft = begun
    for change in CHANGES[:-1]:
        draft = changed(table, draft, change)
    for one in (draft, changed(table, draft, Change("every", 0, at="1000"))):
        asked = one.request(ReleaseRequest({"kept": 0.5}, recoding="global"))
        marked = [ColumnChoice("ill", "integer", sensitive=True)]
        marked += [ColumnChoice(name, "text", public=True) for name in NAMES]
        choices = Choices(tuple(marked))
        words = shlex.split(commands.command(Source("p.csv", "p.csv", "path"), choices, asked))
        given = {
            option: [word.split("=", 1)[1] for word in words if word.startswith(f"--{option}=")]
            for option in ("cuts", "groups")
        }
        again = read_asked(given)
        said = Recoding(suppress=1.0, **again).on(joint).finest().code
        meant = Recoding(suppress=1.0, groups=one.groups).on(joint).finest().code
        assert said.released == meant.released
        assert not any(word.startswith("--kept") for word in words)
        python = commands.python_code(Source("p.csv", "p.csv", "path"), choices, asked)
        assert python.startswith("import datetime")
        compile(python, "make.py", "exec")


def test_the_rest_is_improved_and_what_is_held_stays(begun):
    joint, table, _ = begun
    draft = Draft(
        {"age": [30, 60], "city": [["Bonn", "Pisa"]], "born": [date(1960, 1, 1)], "dose": [1.0]},
        frozenset({"city", "age"}),
    )
    request, told = ReleaseRequest({"leakage": 1.0}, recoding="global", min_count=2), []
    better = improved(joint, table, draft, request, lambda *done: told.append(done))
    before, after = laid(table, draft), laid(table, better)
    assert after["kept"] >= before["kept"] - 1e-9
    assert after["leakage"] <= before["leakage"] + 1e-12
    assert better != draft
    assert {name: better.groups[name] for name in better.held} == {
        name: draft.groups[name] for name in ("age", "city")
    }
    assert told
    with pytest.raises(InvalidInput, match="let go of one"):
        improved(joint, table, Draft(draft.groups, frozenset(NAMES)), request, print)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (Change("add", 0, at="many"), "needs a number"),
        (Change("add", 0, at="nan"), "needs a number"),
        (Change("add", 0, at="200"), "the values go from 17 to 89"),
        (Change("add", 2, at="1960"), "a date such as"),
        (Change("add", 1, at="3"), "has no order"),
        (Change("every", 0, at="-1"), "above 0"),
        (Change("every", 3, at="1e-9"), "larger step"),
        (Change("every", 2, at="0.5"), "whole number"),
        (Change("remove", 0, cut=99), "no longer there"),
        (Change("shift", 1), "mark the values"),
        (Change("shift", 1, named="Bern"), "'Bern'"),
        (Change("shift", 1, values=(0,), to="77"), "no longer there"),
        (Change("shift", 0, values=(0,)), "cut at points"),
        (Change("add", 9, at="3"), "no such column"),
    ],
)
def test_a_change_that_makes_no_sense_is_told(begun, change, words):
    _, table, draft = begun
    with pytest.raises(InvalidInput, match=words):
        changed(table, draft, change)


def test_undo_goes_back_and_very_many_steps_are_forgotten():
    history = History()
    for k in range(History.MOST + 5):
        history.add({"step": k})
    assert len(history.steps) == History.MOST
    history.undo()
    assert history.now == {"step": History.MOST + 3}
    for _ in range(History.MOST + 9):
        history.undo()
    assert history.now == {"step": 5}


def test_from_a_cut_to_a_file_that_is_what_the_page_said(visitor, tmp_path):
    table = datasets.load_demo()
    table["chol"] //= 20
    visitor.upload("patients.csv", table.to_csv(index=False))
    visitor.finished("/columns")
    form = {"sensitive-0": "on", "public-1": "on", "public-2": "on"}
    assert visitor.searched(form, GLOBAL)["state"] == "done"
    assert "choose a release first" in visitor.post("/hand", data={"do": "begin"}).text.lower()
    chosen = visitor.post("/choose", data={"by": "kept", "value": "0.5"}).json()["job"]
    assert visitor.wait(chosen)["state"] == "done"
    visitor.post("/hand", data={"do": "begin"})
    first = figures(visitor.finished("/hand"), "kept", "smallest")
    refused = visitor.post("/hand", data={"do": "add", "column": "1", "at": "seven"})
    assert "A cut needs a number" in refused.text
    visitor.post("/hand", data={"do": "every", "column": "1", "at": "3"})
    said = figures(visitor.finished("/hand"), "kept", "smallest")
    assert said != first
    assert attributes(visitor.get("/hand").text, "aria-pressed") == ["false", "true"]
    visitor.post("/hand", data={"do": "undo"})
    assert figures(visitor.get("/hand").text, "kept", "smallest") == first
    visitor.post("/hand", data={"do": "every", "column": "1", "at": "3"})
    visitor.finished("/hand")
    visitor.post("/release", data={"by_hand": "on", "format": "csv"})
    page = visitor.finished("/release")
    assert figures(page, "kept").items() <= said.items()
    (tmp_path / "release.csv").write_bytes(visitor.get("/files/release.csv").content)
    file = pd.read_csv(tmp_path / "release.csv", dtype=str)
    assert file.groupby(["sex", "chol"]).size().min() == int(said["smallest"])
    assert set(file.chol) <= {"under 6", "6-8", "9-11", "12-14", "15"}
    assert "--cuts=chol=6,9,12,15" in element(page, "command")
