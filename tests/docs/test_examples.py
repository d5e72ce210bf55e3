"""The gallery runs as it is, shows a picture, and its numbers bear out what its words say."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run an example without arguments and give back its names; its figure must not be empty."""
    shown: list[Any] = []
    monkeypatch.setattr(plt, "show", lambda: shown.extend(plt.get_fignums()))

    def run_one(name: str) -> dict[str, Any]:
        monkeypatch.setattr(sys, "argv", [name])
        names = runpy.run_path(str(EXAMPLES / name))
        assert shown, "the example shows no picture"
        assert all(axes.has_data() for axes in plt.gcf().axes)
        return names

    yield run_one
    plt.close("all")


def test_every_example_is_tested_here():
    here = Path(__file__).read_text(encoding="utf-8")
    missing = [path.name for path in EXAMPLES.glob("*.py") if f'run("{path.name}")' not in here]
    assert missing == []


def is_never_above(soft: Any, hard: Any) -> bool:
    """Whether no hard release that keeps as much gives away less than the soft one."""
    rivals = [hard.leakage[hard.utility >= u - 1e-9].min() for u in soft.utility]
    return bool((soft.leakage <= np.array(rivals) + 1e-9).all())


def test_fairness_pipeline(run):
    names = run("plot_fairness_pipeline.py")
    progress, guess, gap = names["results"].T
    assert names["utilities"][-1] == 1.0
    assert guess[-1] > 0.65  # the columns as they are tell the sex
    assert guess[:3].max() < 0.6  # the released ones hardly do
    assert gap[:2].max() < gap[-1]
    assert progress[0] < progress[-1]  # which has its price


def test_high_cardinality_encoder(run):
    losses = run("plot_high_cardinality_encoder.py")["losses"]
    for world, found in losses.items():
        ours = next(value for name, value in found.items() if "Bottleneck" in name)
        assert found["OneHotEncoder"] < ours < found["no shop at all"]
        assert (ours < found["TargetEncoder"]) == (world == "four kinds of shops")


def test_frontiers(run):
    names = run("plot_frontiers.py")
    hard, soft = names["hard"].to_frame(), names["soft"].to_frame()
    assert is_never_above(soft, hard)
    for frame in (hard, soft):
        assert (frame.leakage >= frame.limit - 1e-9).all()
    assert (soft.leakage < 0.8 * np.interp(soft.utility, hard.utility, hard.leakage)).any()
    assert names["nothing"].leakage < 1e-9
    assert 0.2 < names["private"] < names["free"]


def test_paper_figures(run):
    names = run("plot_paper_figures.py")
    traces = names["traces"]
    for (problem, _), trace in traces.groupby(["problem", "variant"]):
        sign = 1 if problem == "ib" else -1  # L falls for the funnel, rises for the bottleneck
        assert (sign * np.diff(trace["lagrangian_bits"]) > 0).all()
    ends = traces.groupby(["problem", "variant"])["lagrangian_bits"].last()
    assert ends["pf", "default"] <= ends["pf", "paper"]
    assert ends["ib", "default"] > ends["ib", "paper"]
    unlucky = traces.query("problem == 'ib' and variant == 'paper'")
    assert unlucky["status"].tolist() == ["unlucky_start"]  # ended before its first merge
    for problem in ("pf", "ib"):  # a merge of many symbols at once takes fewer merges
        mine = traces[(traces["problem"] == problem) & (traces["variant"] == "default")]
        assert mine["k"].max() < names["merges"].query("problem == @problem")["k"].max()
    points = names["points"].query("problem == 'pf'")
    methods = (points[points["method"] == method] for method in ("iac-mdsf", "pairwise"))
    (x, told), pairs = (
        frame[["utility_over_HX", "leakage_over_HS"]].to_numpy().T for frame in methods
    )
    between = (x > 0.05) & (x < 0.95)
    assert between.any()
    assert (told[between] < np.interp(x[between], *pairs)).all()


def test_funnel_and_bottleneck(run):
    names = run("plot_funnel_and_bottleneck.py")
    cloud, x = names["cloud"], names["x"]
    assert (cloud[:, 1] >= np.interp(cloud[:, 0], x, names["floor"]) - 1e-3).all()
    assert (cloud[:, 1] <= np.interp(cloud[:, 0], x, names["ceiling"]) + 1e-3).all()
    assert (names["ceiling"] - names["floor"]).max() > 0.25


def test_hard_and_soft(run):
    names = run("plot_hard_and_soft.py")
    hard, soft, joint = names["hard"], names["soft"], names["joint"]
    for release in (hard, soft):
        assert release.utility >= 0.5 * joint.entropy_x - 1e-9
    assert soft.leakage < 0.7 * hard.leakage
    assert min(names["draws"]) > soft.leakage / joint.entropy_s  # accident adds to the rule's


def test_perfect_privacy(run):
    names = run("plot_perfect_privacy.py")
    assert max(solution.leakage for solution in names["private"]) < 1e-9
    assert (np.diff(names["kept"]) < 0).all()  # the finer S, the less is free
    assert (names["kept"] <= np.array(names["ceiling"]) + 1e-9).all()
    assert names["kept"][0] == pytest.approx(names["ceiling"][0], abs=0.02)
    spread = names["seen_xhat"] - names["joint"].p_s[:, None]
    assert np.abs(spread).max() < 1e-9 < np.abs(names["seen_x"] - names["joint"].p_s[:, None]).max()


def test_audit_k_anonymity(run):
    names = run("plot_audit_k_anonymity.py")
    results = names["results"]
    assert (results["k found"] >= results["k"]).all()
    assert (results["funnel"] >= results["limit"] - 1e-9).all()
    assert (results["funnel"] < results["generalised"]).all()
    assert results["generalised"].min() > 0.5 * results["generalised"].max()
    assert (results["funnel"][1:] < 0.3 * results["generalised"][1:]).all()


def test_purpose(run):
    names = run("plot_purpose.py")
    plain, purpose = names["by_columns"], names["by_purpose"]
    for share in (0.3, 0.5, 0.8):
        told = [points[points[:, 0] >= share, 1].min() for points in (plain, purpose)]
        assert told[1] <= told[0] + 1e-9
    assert told[1] < told[0]  # and at some it is really less


def test_caps(run):
    names = run("plot_caps.py")
    assert names["found"].told["sex"] <= 0.01 + 1e-9
    assert names["found"].told["region"] <= 0.02 + 1e-9
    assert names["kept"][-1, -1] >= names["kept"][0, 0]


def test_worst_case(run):
    names = run("plot_worst_case.py")
    joint = names["joint"]
    for judged in names["MEASURES"]:
        read = {a: names["pf"].measures.make_measure(judged)(joint.p_sx @ s.code.matrix)
                for a, s in names["at_half"].items()}  # fmt: skip
        assert read[judged] <= min(read.values()) + 1e-9
