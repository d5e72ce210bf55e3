"""A method of one's own: one class and one line in SOLVERS, and every door opens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import privacyfunnel as pf
from privacyfunnel.cli.app import app
from privacyfunnel.errors import InvalidInput
from privacyfunnel.solvers import SOLVERS
from privacyfunnel.solvers.base import Solution, Status


@dataclass(frozen=True)
class FirstSymbols:
    """Some of the most frequent symbols stay, all others become one: as many as the demand needs."""

    reverse: bool = False

    def codes(self, joint):
        order = np.argsort(-joint.p_x, kind="stable")
        for n in range(joint.n_x):
            labels = np.full(joint.n_x, joint.n_x)
            labels[order[::-1][:n] if self.reverse else order[:n]] = np.arange(n)
            yield pf.Partition(labels)

    def solve(self, joint, objective, *, start=None, rng):
        code = min(self.codes(joint), key=lambda code: objective.value(joint, code))
        return Solution.measured(joint, objective, code, Status.CONVERGED)

    def solve_at(self, joint, target, *, starts=(), rng):
        found = [
            Solution.measured(joint, target.objective, code, Status.CONVERGED)
            for code in self.codes(joint)
        ]
        return min(found, key=lambda s: target.price.of(s.leakage, s.utility))


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(SOLVERS, "first-symbols", FirstSymbols)


@pytest.fixture
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    ages = rng.choice([20, 30, 40, 50, 60, 70], 300, p=[0.3, 0.1, 0.2, 0.1, 0.2, 0.1])
    return pd.DataFrame({"ill": (rng.random(300) < ages / 80).astype(int), "age": ages})


@pytest.fixture
def joint(table) -> pf.Joint:
    return pf.Joint.from_table(table, ["ill"], ["age"])


def test_it_solves_and_draws_frontiers_by_target(joint):
    assert pf.solve(joint, pf.Funnel(0.9), "first-symbols").n_symbols >= 1
    front = pf.frontier(joint, method="first-symbols", n_points=5)
    assert front.method == "first-symbols"
    assert len(front) >= 3
    found = front.at(utility=0.7)
    assert found.utility >= 0.7 * joint.entropy_x
    exact = min(
        (code for code in FirstSymbols().codes(joint) if kept(joint, code) >= 0.7),
        key=lambda code: pf.objectives.leakage(joint, code),
    )
    assert found.leakage <= pf.objectives.leakage(joint, exact) + 1e-12
    assert pf.frontier(joint, method="first-symbols", lams=[0.5, 0.9]).at(utility=0.1).utility > 0


def kept(joint, code) -> float:
    return pf.objectives.utility(joint, code) / joint.entropy_x


def test_it_is_a_method_of_the_command_and_of_the_estimators(table, tmp_path):
    table.to_csv(tmp_path / "table.csv", index=False)
    words = [
        "frontier", str(tmp_path / "table.csv"), "-s", "ill", "-x", "age", "--jobs", "1",
        "--method", "first-symbols", "--points", "3", "-o", str(tmp_path / "out"),
    ]  # fmt: skip
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert set(pd.read_csv(tmp_path / "out" / "frontier.csv").method) == {"first-symbols"}
    refused = CliRunner().invoke(app, [*words, "--effort", "fast", "--force"])
    assert refused.exit_code != 0
    assert "no setting 'effort'" in str(refused.exception) + refused.output
    funnel = pf.PrivacyFunnel(utility=0.5, method="first-symbols")
    released = funnel.fit(table[["age"]], sensitive_features=table["ill"]).transform(table[["age"]])
    assert len(released) == len(table)
    assert funnel.utility_ >= 0.5 - 1e-9


def test_what_a_method_does_not_take_is_refused_in_words(joint):
    for run in (
        lambda: pf.solve(joint, pf.Funnel(0.5), "first-symbols", effort="fast"),
        lambda: pf.frontier(joint, method="first-symbols", effort="fast"),
        lambda: pf.frontier(joint, method="greedy", min_count=5),
    ):
        with pytest.raises(InvalidInput, match="has no setting"):
            run()
    with pytest.raises(InvalidInput, match="'soft' is not for the bottleneck; use 'annealing'"):
        pf.solve(joint, pf.Bottleneck(0.5), "soft")
    sized = pf.InformationBottleneck(n_symbols=2, method="first-symbols")
    with pytest.raises(InvalidInput, match="n_symbols goes with 'best' or 'agglomerative'"):
        sized.fit(np.array([[0], [1], [1]]), np.array([0, 1, 1]))
