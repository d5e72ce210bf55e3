"""``funnel audit`` as a curator and a pipeline run it, with right and wrong input."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_cli import assert_users_mistake

from commands import funnel
from privacyfunnel import datasets

QUICK = ["--permutations", 19, "--bootstraps", 0, "--folds", 2, "--jobs", 1]
FAST = ["--permutations", 0, "--bootstraps", 0, "--no-attackers"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Patients with a released column, weights and a continuous one."""
    folder = tmp_path_factory.mktemp("audit")
    rng = np.random.default_rng(0)
    table = datasets.load_demo()
    table["group"] = np.where(table.chol > 190, "[red]high[/red]", "<i>low</i>")
    table["bmi"] = rng.normal(25, 4, len(table))
    table["one"] = 1
    table.to_csv(folder / "t.csv", index=False)
    table.head(4).to_csv(folder / "four.csv", index=False)
    return folder


def test_an_audit_speaks_plainly(folder):
    done = funnel("audit", "t.csv", "-s", "age,sex", "-x", "group", *QUICK, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("442 records.\nWhoever sees group learns ")
    for words in ("by chance", "k-anonymity", "Less is safer.", "naive Bayes", "gradient boosting"):
        assert words in done.stdout
    assert "\x1b" not in done.stdout


def test_the_release_of_another_tool_is_compared_with_the_original(folder):
    done = funnel(
        "audit", "t.csv", "-s", "sex", "-x", "group", "--original", "chol", *FAST, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert "original" in done.stdout


def test_json_and_page_are_written_whole(folder, tmp_path):
    a, b = tmp_path / "a.json", tmp_path / "b.html"
    args = ["audit", "t.csv", "-s", "sex", "-x", "group", *FAST, "-o", a, "-o", b]
    assert funnel(*args, cwd=folder).returncode == 0
    document = json.loads(a.read_text())
    assert document["format"] == "privacyfunnel audit"
    values = {row["key"]: row["value"] for row in document["measures"]}
    table = pd.read_csv(folder / "t.csv")
    assert values["k"] == table.groupby("group").size().min()
    assert b.read_text().startswith("<!DOCTYPE html>")
    assert {path.name for path in tmp_path.iterdir()} == {"a.json", "b.html"}
    assert_users_mistake(funnel(*args, cwd=folder), "use --force")
    assert funnel(*args, "--force", cwd=folder).returncode == 0
    printed = funnel(*args[:6], *FAST, "--json", cwd=folder)
    assert json.loads(printed.stdout) == document


@pytest.mark.parametrize(
    ("limits", "broken"),
    [
        (["--max-leakage", 0.5, "--min-k", 5], []),
        (["--max-leakage", 0.00001, "--min-k", 5], ["max_leakage"]),
        (["--max-leakage", 0.00001, "--min-k", 5000], ["max_leakage", "min_k"]),
        (["--min-l", 3, "--max-t", 0], ["min_l", "max_t"]),
        (["--max-guess", 0.1], ["max_guess"]),
    ],
)
def test_the_gate_says_which_limit_is_broken(folder, limits, broken):
    done = funnel("audit", "t.csv", "-s", "sex", "-x", "group", *FAST, *limits, cwd=folder)
    assert done.returncode == (3 if broken else 0), done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == len(broken)
    for line, option in zip(lines, broken, strict=True):
        assert line.startswith("funnel: limit broken: ")
        assert option in line


def test_a_broken_limit_is_in_the_written_report(folder, tmp_path):
    args = ["-s", "sex", "-x", "group", *FAST, "--min-k", 5000, "-o", tmp_path / "a.json"]
    assert funnel("audit", "t.csv", *args, cwd=folder).returncode == 3
    limits = json.loads((tmp_path / "a.json").read_text())["limits"]
    assert limits["asked"] == {"min_k": 5000}
    assert len(limits["broken"]) == 1


def test_a_continuous_sensitive_column_is_marked_and_fails_the_gate(folder):
    args = ["audit", "t.csv", "-s", "bmi", "-x", "group"]
    done = funnel(*args, *QUICK, "--max-leakage", 1, cwd=folder)
    assert done.returncode == 3
    assert "cannot be checked" in done.stderr
    assert "not available: bmi is different in nearly every record" in done.stdout
    binned = funnel(*args, *QUICK, "--max-leakage", 1, "--bins", "bmi=4", cwd=folder)
    assert binned.returncode == 0, binned.stderr
    assert "bmi" in binned.stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["t.csv", "-s", "one", "-x", "group"], "there is nothing to protect"),
        (
            ["four.csv", "-s", "age", "-x", "group"],
            "folds must be at most the number of records (4)",
        ),
        (["t.csv", "-s", "age", "-x", "gruop"], "did you mean 'group'"),
        (["t.csv", "-s", "age", "-x", "group", "--max-leakage", "7"], "max_leakage must lie in"),
        (["t.csv", "-s", "age", "-x", "group", "--min-k", "0"], "min_k must be at least 1"),
        (["t.csv", "-s", "age", "-x", "group", "--permutations", "3"], "permutations must be 0 or"),
        (["t.csv", "-s", "age", "-x", "group", "-o", "a.txt"], "as .json or .html"),
        (["t.csv", "-s", "age", "-x", "group", "-o", "none/a.json"], "no folder none"),
        (["t.csv", "-s", "age", "-x", "group", "-o", "a.json", "-o", "./a.json"], "named twice"),
        (["none.csv", "-s", "age", "-x", "group"], "none.csv"),
        (["t.csv", "-s", "age"], "Missing option"),
    ],
)
def test_wrong_input_is_one_clear_line(folder, args, words):
    done = funnel("audit", *args, cwd=folder)
    assert_users_mistake(done, words)
    assert done.stdout == ""
    assert {path.name for path in folder.iterdir()} == {"t.csv", "four.csv"}


def test_help(folder):
    done = funnel("audit", "--help", cwd=folder)
    assert done.returncode == 0
    for option in ("--max-leakage", "--min-k", "--permutations", "--no-attackers", "--attack-rows"):
        assert option in done.stdout


def test_a_limit_for_new_people_and_rows_of_persons(folder):
    args = ["audit", "t.csv", "-s", "sex", "-x", "group", *FAST]
    limit = ["--max-population-leakage", 0.5]
    done = funnel(*args, *limit, cwd=folder)
    assert done.returncode == 3
    assert "nobody says which records" in done.stderr
    done = funnel(*args, *limit, "--all-new", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "of people like them who are not in the table" in done.stdout.replace("\n", " ").lower()
    assert_users_mistake(funnel(*args, "--all-new", "--new", "one", cwd=folder), "leave one out")
    done = funnel(*args, "--person", "chol", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("442 records of ")
    assert "A person's rows together" in done.stdout
