"""``funnel release`` and ``frontier`` by other measures, for a use, and within caps."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from unittest import mock

import pandas as pd
import pytest

import privacyfunnel as pf
from privacyfunnel.cli import run


def run_funnel(arguments: list[str]) -> tuple[int, str]:
    """The exit code of ``funnel`` and what it prints, on either stream."""
    printed = io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["funnel", *arguments]),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        return run(), printed.getvalue()


@pytest.fixture
def patients(tmp_path):
    table = pf.datasets.load_demo().assign(ill=lambda t: (t.chol > t.chol.median()).astype(int))
    table = table.assign(chol=table.chol // 40)
    table.to_csv(tmp_path / "patients.csv", index=False)
    return tmp_path / "patients.csv"


def released(arguments: list[str], folder) -> dict:
    common = ["--effort", "fast", "--points", "2", "--no-attackers", "-o", str(folder)]
    code, text = run_funnel(["release", *arguments, *common])
    assert code == 0, text
    document = json.loads((folder / "report.json").read_text("utf-8"))
    return {"text": text, "page": (folder / "report.html").read_text("utf-8"), **document}


def test_a_release_for_a_use_keeps_it(patients, tmp_path):
    out = tmp_path / "out"
    asked = [str(patients), "-s", "sex", "-x", "chol", "-y", "ill", "--utility", "0.9"]
    made = released(asked, out)
    assert made["asked_for"]["kept"] >= 0.9
    assert made["asked_for"]["useful"] == ["ill"]
    assert "of what the columns say about ill" in made["text"]
    assert "Kept for its use" in made["page"]
    assert list(pd.read_parquet(out / "release.parquet").columns) == ["released"]
    joint = pf.Joint.from_table(str(patients), "sex", "chol", useful="ill")
    code = pf.Codebook.load(out / "codebook.json").over(joint)
    kept = pf.Funnel(0.0, keep="useful").utility(joint, code) / joint.useful.information
    assert kept == pytest.approx(made["asked_for"]["kept"])


def test_a_release_by_the_best_guess_says_so(patients, tmp_path):
    asked = [str(patients), "-s", "sex", "-x", "chol", "--measure", "guessing", "--utility", "0.6"]
    made = released(asked, tmp_path / "out")
    assert "the best guess of sex is right in" in made["text"]
    assert made["asked_for"]["measure"] == "guessing"
    assert made["asked_for"]["limit"] is not None
    public = released([*asked, "--public"], tmp_path / "public")
    assert "asked_for" not in public
    assert "best guess" not in public["page"]


def test_a_readable_release_by_the_best_guess(patients, tmp_path):
    asked = [str(patients), "-s", "sex", "-x", "chol", "--measure", "guessing"]
    target = ["--leakage", "0.02", "--effort", "fast", "--points", "3"]
    made = released([*asked, *target], tmp_path / "out")
    assert made["asked_for"]["measure"] == "guessing"
    assert made["asked_for"]["told"] <= 0.02 + 1e-9
    assert "of sex, by guessing gain" in made["page"]
    assert list(pd.read_parquet(tmp_path / "out" / "release.parquet").columns) == ["chol"]


def test_every_cap_is_met_or_the_nearest_is_named(patients, tmp_path):
    asked = [str(patients), "-s", "sex", "-s", "age", "-x", "chol"]
    caps = ["--cap", "sex=0.01", "--cap", "age=guessing:0.05"]
    made = released([*asked, *caps], tmp_path / "out")
    told = {cap["column"]: cap["told"] for cap in made["asked_for"]["caps"]}
    assert told["sex"] <= 0.01 + 1e-9
    assert told["age"] <= 0.05 + 1e-9
    tight = ["--cap", "sex=0.00001", "--cap", "age=0.001", "--utility", "1", "--effort", "fast"]
    code, text = run_funnel(["release", *asked, *tight, "-o", str(tmp_path / "no")])
    assert code == 2
    assert "the nearest keeps" in text
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (["--measure", "bits", "--utility", "0.5"], "measure must be one of"),
        (["-y", "sex", "--utility", "0.5"], "both hidden and useful"),
        (["--and-x", "--utility", "0.5"], "--and-x goes with -y"),
        (["--cap", "sex=2"], "a cap is a share"),
        (["--cap", "race=0.1"], "no sensitive column 'race'"),
        (["--cap", "sex=0.1", "--leakage", "0.1"], "no other target"),
        (["-y", "ill", "--kept", "0.5"], "symbols take utility"),
        (["--measure", "guessing", "--utility", "0.5", "--soft"], "without lots"),
        (["-y", "ill", "--leakage", "0.5", "--recoding", "global"], "with symbols"),
    ],
)
def test_what_makes_no_sense_is_one_line(patients, tmp_path, wrong, words):
    out = str(tmp_path / "out")
    code, text = run_funnel(
        ["release", str(patients), "-s", "sex", "-x", "chol", *wrong, "-o", out]
    )
    assert code == 2, text
    assert words in text
    assert "Traceback" not in text


def test_a_frontier_by_another_measure(patients, tmp_path):
    out = tmp_path / "out"
    code, text = run_funnel(
        ["frontier", str(patients), "-s", "sex", "-x", "chol", "-y", "ill", "--measure", "chi-square",
         "--points", "3", "--effort", "fast", "-o", str(out)]
    )  # fmt: skip
    assert code == 0, text
    page = (out / "frontier.html").read_text("utf-8")
    for words in ("of what the columns say about ill: the χ²-information about sex is",):
        assert words in text
        assert words in page
    assert "Upwards: χ²-information of sex." in page
    frame = pd.read_csv(out / "frontier.csv")
    assert frame.utility.iloc[-1] == pytest.approx(1.0)
    assert (frame.leakage >= frame.limit - 1e-9).all()
    code, text = run_funnel(
        ["frontier", str(patients), "-s", "sex", "-x", "chol", "--measure", "guessing", "--method",
         "iac-mdsf", "-o", str(tmp_path / "no")]
    )  # fmt: skip
    assert code == 2
    assert "Shannon's information" in text


def test_an_audit_by_the_best_guess_says_so(patients, tmp_path):
    page, document = tmp_path / "audit.html", tmp_path / "audit.json"
    asked = ["audit", str(patients), "-s", "sex,ill", "-x", "chol", "--original", "chol,age"]
    few = ["--permutations", "20", "--bootstraps", "0", "--no-attackers"]
    code, text = run_funnel(
        [*asked, "--measure", "guessing", *few, "-o", str(page), "-o", str(document)]
    )
    assert code == 0, text
    table = pd.read_csv(patients)
    right = table.groupby("chol").sex.value_counts().groupby("chol").max().sum() / len(table)
    blind = table.sex.value_counts(normalize=True).max()
    sentence = (
        f"the best guess of sex is right in {right:.1%} of cases, {blind:.1%} without the data"
    )
    for words in (sentence, "By guessing gain", "With the original columns", "shuffled among"):
        assert words in text
        assert words in page.read_text("utf-8")
    found = {one["name"]: one for one in json.loads(document.read_text("utf-8"))["readings"]}
    assert list(found) == ["sex and ill", "sex", "ill"]
    assert found["sex"]["reading"] == pytest.approx(right - blind)
    assert found["sex"]["share"] == pytest.approx((right - blind) / (1 - blind))
    code, text = run_funnel([*asked, *few])
    assert "By guessing" not in text
    code, text = run_funnel([*asked, "--measure", "luck", *few])
    assert code == 2
    assert "measure must be one of" in text
