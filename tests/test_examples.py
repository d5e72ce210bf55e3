"""The gallery runs as it is, shows a picture, and its numbers bear out what its words say."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run an example and give back its names; its figure must have something on it."""
    shown: list[Any] = []
    monkeypatch.setattr(plt, "show", lambda: shown.extend(plt.get_fignums()))

    def run_one(name: str) -> dict[str, Any]:
        names = runpy.run_path(str(EXAMPLES / name))
        assert shown, "the example shows no picture"
        assert all(axes.has_data() for axes in plt.gcf().axes)
        return names

    yield run_one
    plt.close("all")


def test_the_gallery_is_covered_here():
    covered = {"plot_fairness_pipeline.py", "plot_high_cardinality_encoder.py"}
    assert covered <= {path.name for path in EXAMPLES.glob("plot_*.py")}


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
