"""The paper's figures: exact where they are determined, honest where they are not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread

from privacyfunnel.datasets import load_demo, read_hungarian
from privacyfunnel.errors import DataUnavailable, InvalidInput
from privacyfunnel.joint import Joint
from privacyfunnel.reproduce import Claim, reproduce
from privacyfunnel.reproduce.frontier_claims import _dominated
from privacyfunnel.reproduce.runs import (
    FIGURES,
    by_appearance,
    merging,
    paper_points,
    reordered,
    select,
)

DATA = Path(__file__).parents[3] / "shared" / "data" / "hungarian.data"
PAPER = Path(__file__).parents[3] / "shared" / "paper"

Result = tuple[Path, list[Claim]]


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    if not DATA.is_file():
        pytest.skip("the patients' data is not in the repository")
    return read_hungarian(DATA)


@pytest.fixture(scope="module")
def whole(table: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Figures 1a and 3 as a user gets them."""
    directory = tmp_path_factory.mktemp("whole")
    return directory, reproduce(table, directory, ["fig3", "fig1a"])


@pytest.fixture(scope="module")
def sketch(table: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Figures 2a and 2b at three values of λ, 1b with two seeds."""
    directory = tmp_path_factory.mktemp("sketch")
    figures = ["fig1b", "fig2a", "fig2b"]
    return directory, reproduce(table, directory, figures, n_lams=3, n_seeds=2)


def find(claims: Sequence[Claim], text: str, section: str = "") -> Claim:
    (found,) = (c for c in claims if text in c.text and section in c.section)
    return found


@pytest.mark.parametrize("name", [name for name, plan in FIGURES.items() if plan.published])
def test_paper_points_are_the_papers(name: str) -> None:
    source = PAPER / f"{FIGURES[name].file}.csv"
    if not source.is_file():
        pytest.skip("the paper's numbers are not beside the repository")
    pd.testing.assert_frame_equal(paper_points(name), pd.read_csv(source))


def test_unpublished_figure_has_no_points() -> None:
    assert len(paper_points("fig2b")) == 0


class TestFigure3:
    @pytest.mark.parametrize(("problem", "n_points"), [("pf", 108), ("ib", 107)])
    def test_points(self, whole: Result, problem: str, n_points: int) -> None:
        ours = pd.read_csv(whole[0] / "fig3_pairwise.csv")
        values, paper = (
            select(frame, problem=problem)["information_bits"].to_numpy()[:n_points]
            for frame in (ours, paper_points("fig3"))
        )
        np.testing.assert_allclose(values, paper, rtol=0, atol=1e-9)

    def test_funnel_ends_where_the_papers_does(self, whole: Result) -> None:
        ours = select(pd.read_csv(whole[0] / "fig3_pairwise.csv"), problem="pf")
        assert len(ours) == 108
        assert ours["n_symbols"].iloc[-1] == 90
        assert ours["utility_bits"].iloc[-1] >= 2.91

    def test_order_of_the_symbols_is_the_files(self, table: pd.DataFrame) -> None:
        joint = Joint.from_table(table, ["age", "sex"], ["sex", "chol"])
        mixed = reordered(joint, np.random.default_rng(1).permutation(joint.n_x))
        first, second = (by_appearance(j, table, ["sex", "chol"]) for j in (joint, mixed))
        assert first.labels_x == second.labels_x
        assert first.labels_x[0] == tuple(table.loc[0, ["sex", "chol"]])
        pd.testing.assert_frame_equal(merging(first), merging(second))

    def test_ties_are_reported(self, whole: Result) -> None:
        assert "108 to 108 agree" in find(whole[1], "PF: the first 108 points").ours
        assert "with the symbols in random order" in find(whole[1], "IB: the first 107").ours

    def test_verdicts(self, whole: Result) -> None:
        assert find(whole[1], "PF: the whole curve").holds
        assert find(whole[1], "IB: the first 107 points").holds
        assert not find(whole[1], "IB: the whole curve").holds


class TestFigure1:
    @pytest.mark.parametrize(("figure", "result"), [("fig1a", "whole"), ("fig1b", "sketch")])
    def test_first_points(self, figure: str, result: str, request: pytest.FixtureRequest) -> None:
        directory, _ = request.getfixturevalue(result)
        ours = pd.read_csv(directory / f"{FIGURES[figure].file}.csv")
        for problem in ("pf", "ib"):
            mine = select(ours, problem=problem, k=1)["lagrangian_bits"]
            paper = select(paper_points(figure), problem=problem, k=1)["lagrangian_bits"].item()
            np.testing.assert_allclose(mine, paper, rtol=0, atol=1e-9)

    def test_ends(self, whole: Result) -> None:
        ours = select(pd.read_csv(whole[0] / "fig1a_convergence.csv"), variant="default")
        ends = ours.groupby(["problem", "seed"])["lagrangian_bits"].last()
        assert (ends["pf"] <= -1.80).sum() >= 9
        assert ends["ib"].median() >= 0.150
        assert ends["ib"].max() >= 0.160

    def test_same_seed_same_trace(self, whole: Result) -> None:
        import privacyfunnel as pf

        joint = Joint.from_table(read_hungarian(DATA), ["age", "sex"], ["sex", "chol"])
        solution = pf.solve(joint, pf.Funnel(0.8), "iac-mdsf", seed=3)
        ours = pd.read_csv(whole[0] / "fig1a_convergence.csv")
        trace = select(ours, problem="pf", variant="default", seed=3)["lagrangian_bits"]
        np.testing.assert_allclose(trace, [step.value for step in solution.history])


class TestFigure2:
    def test_points_of_the_paper(self, sketch: Result) -> None:
        ours = pd.read_csv(sketch[0] / "fig2a_frontier.csv")
        columns = ["utility_over_HX", "leakage_over_HS"]
        mine, paper = (
            select(frame, problem="pf", method="pairwise")[columns].to_numpy()[:6]
            for frame in (ours, paper_points("fig2a"))
        )
        np.testing.assert_allclose(mine, paper, rtol=0, atol=1e-9)
        assert find(sketch[1], "PF: pairwise merging gives the paper's points").holds

    def test_one_row_for_each_lam(self, sketch: Result) -> None:
        ours = pd.read_csv(sketch[0] / "fig2b_frontier.csv")
        for problem in ("pf", "ib"):
            rows = select(ours, problem=problem, method="iac-mdsf")
            assert rows["lam"].tolist() == [0.0, 0.5, 1.0]
            assert rows["seed"].nunique() == 3

    @pytest.mark.parametrize("section", ["Figure 2a", "Figure 2b"])
    def test_no_point_crosses_the_limit(self, sketch: Result, section: str) -> None:
        for problem in ("PF", "IB"):
            assert find(sketch[1], f"{problem}: no point crosses", section).holds

    def test_result_does_not_depend_on_n_jobs(
        self, sketch: Result, table: pd.DataFrame, tmp_path: Path
    ) -> None:
        reproduce(table, tmp_path, ["fig2a"], n_lams=3, n_jobs=2)
        name = "fig2a_frontier.csv"
        assert (tmp_path / name).read_text() == (sketch[0] / name).read_text()

    def test_dominated(self) -> None:
        columns = ["utility_over_HX", "leakage_over_HS"]
        points = pd.DataFrame([[0.5, 0.2], [0.9, 0.6], [0.0, 0.0]], columns=columns)
        better = pd.DataFrame([[0.6, 0.2], [0.0, 0.0]], columns=columns)
        assert _dominated(points, better, "pf") == 1
        assert _dominated(better, points, "pf") == 0
        assert _dominated(better, points, "ib") == 1  # the same relevance at a lower rate
        assert _dominated(points.iloc[:0], better, "pf") == 0


class TestOutput:
    @pytest.mark.parametrize("result", ["whole", "sketch"])
    def test_files_and_columns(self, result: str, request: pytest.FixtureRequest) -> None:
        directory, claims = request.getfixturevalue(result)
        names = [n for n in FIGURES if (directory / f"{FIGURES[n].file}.csv").is_file()]
        expected = {f"{FIGURES[n].file}{end}" for n in names for end in (".csv", ".png")}
        assert {path.name for path in directory.iterdir()} == expected | {"summary.md"}
        for name in names:
            ours = pd.read_csv(directory / f"{FIGURES[name].file}.csv")
            columns = list(paper_points(name).columns)
            assert list(ours.columns[: len(columns)]) == columns
            image = imread(directory / f"{FIGURES[name].file}.png")
            assert image.shape[0] > 500
            assert image.std() > 0.01
        summary = (directory / "summary.md").read_text()
        for claim in claims:
            assert f"| {claim.text} | {claim.paper} | {claim.ours} | {claim.verdict} |" in summary
        assert "y log y" in summary

    def test_complexity(self, whole: Result) -> None:
        claims = [claim for claim in whole[1] if claim.section == "Complexity"]
        assert find(claims, "than the scans of all pairs").holds
        assert not find(claims, "than a heap of pairs").holds
        assert "1,156,716" in find(claims, "when all pairs are scanned").ours
        assert "## Complexity" in (whole[0] / "summary.md").read_text()

    def test_complexity_needs_its_figures(self, sketch: Result) -> None:
        assert "## Complexity" not in (sketch[0] / "summary.md").read_text()

    def test_progress(self, table: pd.DataFrame, tmp_path: Path) -> None:
        calls: list[tuple[int, int]] = []
        tiny = table.iloc[:20]
        options = {"n_seeds": 1, "n_lams": 2}
        reproduce(tiny, tmp_path, **options, progress=lambda *call: calls.append(call))  # type: ignore[arg-type]
        total = 2 * 4 + 2 * (8 + 50)
        assert calls == [(done, total) for done in range(1, total + 1)]

    def test_other_data_does_not_pass_for_the_papers(self, tmp_path: Path) -> None:
        claims = reproduce(load_demo(), tmp_path, ["fig3"])
        assert not find(claims, "PF: the whole curve").holds
        assert not find(claims, "IB: the first 107 points").holds

    def test_tiny_table(self, tmp_path: Path) -> None:
        tiny = pd.DataFrame({"age": [40, 50, 50], "sex": [0, 1, 0], "chol": [200, 210, 210]})
        claims = reproduce(tiny, tmp_path, n_lams=2, n_seeds=1)
        assert not find(claims, "PF: the whole curve").holds


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"figures": ["fig9"]}, "figure must be one of fig1a"),
            ({"seed": -1}, "seed must be at least 0"),
            ({"n_lams": 1}, "n_lams must be at least 2"),
            ({"n_seeds": 0}, "n_seeds must be at least 1"),
            ({"n_jobs": 0}, "n_jobs must not be 0"),
        ],
    )
    def test_options(self, tmp_path: Path, options: dict[str, object], message: str) -> None:
        with pytest.raises(InvalidInput, match=message):
            reproduce(load_demo(), tmp_path / "new", **options)  # type: ignore[arg-type]
        assert not (tmp_path / "new").exists()

    def test_wrong_columns(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match="chol"):
            reproduce(load_demo().drop(columns="chol"), tmp_path / "new")
        assert not (tmp_path / "new").exists()

    def test_directory_in_the_way(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(DataUnavailable, match="cannot write to"):
            reproduce(load_demo(), tmp_path / "file", ["fig3"])


def test_merging_keeps_its_thresholds() -> None:
    joint = Joint.from_table(load_demo(), ["age", "sex"], ["sex", "chol"])
    ours = merging(joint)
    assert select(ours, problem="pf")["utility_bits"].min() >= 2.91 - 1e-9
    assert select(ours, problem="ib")["leakage_bits"].min() >= 1.845 - 1e-9
