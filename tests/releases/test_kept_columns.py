"""What goes out is what is measured: columns that are passed through are part of the release."""

import numpy as np
import pandas as pd
import pytest

import privacyfunnel as pf
from privacyfunnel.errors import InvalidInput
from privacyfunnel.report.words import summary

FAST = {"effort": "fast", "points": 2, "attackers": False}
KINDS = {
    "symbols": {"utility": 0.5},
    "global": {"kept": 0.5},
    "by lot": {"leakage": 0.02, "soft": True},
}


def clinic(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"ill": rng.integers(0, 2, n), "age": rng.integers(20, 30, n)})
    table["ward"] = rng.integers(0, 4, n)
    table["pills"] = np.where(table.ill == 1, "yes", "no")  # the illness by another name
    return table


@pytest.mark.parametrize("kind", KINDS)
def test_a_kept_column_is_in_the_headline(tmp_path, kind):
    table = clinic()
    made = pf.release(
        table, "ill", ["age", "ward"], keep=["pills"], out=tmp_path / "out", **KINDS[kind], **FAST
    )
    measured = made.document["measured"]
    assert made.leakage == pytest.approx(1.0)
    assert measured["leakage_without_kept"] < 0.2
    assert made.document["guessing"]["released"] == pytest.approx(1.0)
    rows = {row["key"]: row for row in made.document["audit"]["measures"]}
    assert rows["leakage"]["value"] == pytest.approx(1.0)
    if kind == "by lot":
        assert rows["leakage"]["rule"] == pytest.approx(1.0)
    (line,) = [line for line in summary(made.document) if line.startswith("Given away")]
    assert "100% of ill" in line
    assert "the column pills included" in line


@pytest.mark.parametrize("kind", KINDS)
def test_the_figure_is_that_of_the_file_beside_the_table(tmp_path, kind):
    table = clinic().assign(city=lambda t: (t.ill + t.index) % 3)
    asked = {"out": tmp_path / "out", "keep": ["city"], "form": "csv", **KINDS[kind], **FAST}
    made = pf.release(table, "ill", ["age", "ward"], **asked)
    file = pd.read_csv(tmp_path / "out" / "release.csv").astype(str)
    whole = file.assign(ill=table.ill)
    found = pf.Joint.from_table(whole, "ill", list(file.columns))
    rows = {row["key"]: row["value"] for row in made.document["audit"]["measures"]}
    assert rows["information"] == pytest.approx(found.information)
    assert rows["k"] == file.value_counts().min()
    if kind != "by lot":
        assert made.document["measured"]["leakage_bits"] == pytest.approx(found.information)
    verified = pf.verify(tmp_path / "out", table)
    assert verified.is_good, list(map(str, verified.findings))


def test_whole_weights_beside_kept_columns_are_no_records(tmp_path):
    table = clinic().assign(weight=lambda t: 1 + t.index % 2)
    asked = {"out": tmp_path / "out", "keep": ["pills"], "weight": "weight", "utility": 0.5, **FAST}
    made = pf.release(table, "ill", ["age", "ward"], **asked)
    assert made.document["chance"] is None
    assert made.document["audit"]["records"] is None
    verified = pf.verify(tmp_path / "out", table)
    assert verified.is_good, list(map(str, verified.findings))


def test_a_least_count_is_not_said_of_kept_columns_too(tmp_path):
    table = clinic().assign(city=lambda t: t.index % 60)  # few records have one city and one group
    made = pf.release(
        table, "ill", ["age", "ward"], keep=["city"], kept=0.5, out=tmp_path / "out", **FAST
    )
    for name in ("report.html", "README.html"):
        assert "5 records, leaving city aside." in (tmp_path / "out" / name).read_text("utf-8")
    (line,) = [line for line in summary(made.document) if line.startswith("The rarest")]
    assert line.startswith("The rarest combination of groups, with city beside it, is shared by 1 ")


def test_a_sensitive_column_is_never_kept(tmp_path):
    with pytest.raises(InvalidInput, match="is sensitive and would go out"):
        pf.release(clinic(), "ill", "age", keep=["ill"], out=tmp_path / "out", utility=0.5, **FAST)
    assert not (tmp_path / "out").exists()


def test_a_name_of_the_row_is_told_but_not_counted(tmp_path):
    table = clinic().assign(id=lambda t: "p" + t.index.astype(str))
    asked = {"keep": ["id"], "out": tmp_path / "out", "utility": 0.5, **FAST}
    document = pf.release(table, "ill", ["age", "ward"], **asked).document
    assert document["measured"]["leakage"] < 0.2
    texts = " ".join(caution["text"] for caution in document["cautions"])
    assert "left out of the figures" in texts
