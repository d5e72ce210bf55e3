"""Least counts and least diversity of what is released: by default, by lot, weighted, on request."""

import numpy as np
import pandas as pd
import pytest

import privacyfunnel as pf
from privacyfunnel.codes import Channel, ColumnCode, Partition
from privacyfunnel.columns import Column
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.joint import Joint
from privacyfunnel.releases import recoded
from privacyfunnel.releases.cells import CellRule, Cells
from privacyfunnel.releases.request import ReleaseRequest
from privacyfunnel.releases.search import search
from privacyfunnel.report.page import page
from privacyfunnel.report.words import summary

FAST = {"effort": "fast", "points": 2, "attackers": False}
KINDS = {
    "symbols": {"utility": 0.6},
    "global": {"leakage": 0.3},
    "local": {"kept": 0.4, "recoding": "local"},
    "by lot": {"leakage": 0.05, "soft": True},
    "chosen on half": {"utility": 0.5, "choose_on": 0.5},
    "weighted": {"utility": 0.6, "weight": "w"},
    "weighted global": {"leakage": 0.3, "weight": "w"},
}


@pytest.fixture(autouse=True)
def no_comparison(monkeypatch):
    monkeypatch.setattr(recoded, "COMPARED", 0)  # the picture of other recodings takes long


def clinic(n: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"ill": rng.integers(0, 4, n), "sex": rng.choice(["f", "m"], n)})
    table["age"] = 4 + table.ill + rng.integers(0, 8, n)
    table["ward"] = rng.integers(0, 5, n)
    table["w"] = rng.choice([0.1, 1.0, 30.0], n)
    return table


def released(folder, **asked) -> tuple[pd.Series, dict]:
    table, sensitive = clinic(), asked.pop("sensitive", "ill")
    made = pf.release(table, sensitive, ["age", "ward"], out=folder, **FAST, **asked)
    return pd.read_parquet(folder / "release.parquet").value_counts(), made.document


@pytest.mark.parametrize("kind", KINDS)
def test_by_default_each_combination_stands_for_five_records(tmp_path, kind):
    sizes, document = released(tmp_path / "out", **KINDS[kind])
    assert sizes.min() >= 5
    assert sizes.sum() == 240
    assert len(sizes) > 1
    assert document["asked"]["min_count"] == 5
    assert "stands for at least 5 records" in page(document)


@pytest.mark.parametrize("off", [0, 1])
def test_one_or_none_turns_it_off(tmp_path, off):
    sizes, document = released(tmp_path / "out", utility=0.97, min_count=off)
    assert sizes.min() < 5
    assert "at least 5 records" not in " ".join(summary(document))


def test_a_lot_that_gives_a_symbol_to_few_suppresses_it(tmp_path):
    table = pd.DataFrame({"s": [0, 1] * 40, "x": np.arange(80) % 8})
    asked = {"leakage": 0.3, "soft": True, "min_count": 9, **FAST}
    pf.release(table, "s", "x", out=tmp_path / "out", **asked)
    sizes = pd.read_parquet(tmp_path / "out" / "release.parquet").released.value_counts()
    assert sizes.min() >= 9
    assert sizes.sum() == 80


@pytest.mark.parametrize("kind", ["symbols", "global", "local", "chosen on half"])
def test_each_combination_goes_with_different_values_of_every_column(tmp_path, kind):
    asked = {"sensitive": ["ill", "sex"], "min_diversity": 2, **KINDS[kind]}
    _, document = released(tmp_path / "out", **asked)
    rows = {row["key"]: row["value"] for row in document["audit"]["measures"]}
    assert rows["l_diversity"] >= 2
    assert "at least 2 different values of each sensitive column" in page(document)


@pytest.mark.parametrize(("seed", "least"), [(0, 0.75), (9, 0.75), (17, 0.6)])
def test_caps_are_not_given_up_for_what_the_rule_takes(seed, least):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 6, (3, 8)) * (rng.random((3, 8)) < 0.6)
    counts[:, counts.sum(axis=0) == 0] = 1
    joint = Joint.from_counts(counts, sensitive=["s"])
    asked = {"min_count": 1, "min_diversity": 2, "points": 6, "effort": "fast"}
    request = ReleaseRequest({"utility": least}, caps={"s": 0.1}, **asked)
    with pytest.raises(TargetUnreachable):  # what keeps so much, and the rule, gives away more
        search(joint, request)


def test_more_values_than_there_are_cannot_be_asked_for(tmp_path):
    with pytest.raises(InvalidInput, match="'ill' has 4 different values"):
        released(tmp_path / "out", utility=0.5, min_diversity=5)
    with pytest.raises(TargetUnreachable, match="nearest keeps"):
        released(tmp_path / "out", utility=0.99, min_diversity=4)


def test_the_rule_joins_cells_until_nothing_is_lacking():
    rng = np.random.default_rng(1)
    for seed in range(20):
        counts = rng.poisson(0.8, size=(3, 12)) + np.eye(3, 12)
        joint = Joint.from_counts(
            counts, labels_x=[(x // 4, x % 4) for x in range(12)], columns="ab"
        )
        people = np.asarray(joint.counts.sum(axis=0)).ravel()
        rule = CellRule(
            people, float(rng.integers(2, 8)), int(rng.integers(1, 4)), [Column("s", "text")]
        )
        codes = [
            Partition(rng.integers(0, 6, joint.n_x)),
            Channel(rng.dirichlet(np.ones(5), size=joint.n_x)),
            pf.solve(joint, pf.Funnel(0.5), recoding="global", seed=seed).code,
        ]
        for code in codes:
            kept = rule.applied(joint, code)
            assert type(kept) is type(code)
            assert not Cells.of(rule, joint, kept.matrix).lacking(rule).any()
            told = kept.push(joint).information
            assert told <= code.push(joint).information + 1e-9
            if isinstance(code, ColumnCode):
                same = ~kept.suppressed
                assert (kept.cells[same] == code.cells[same]).all()
