import numpy as np
import pytest

import reference
from conftest import random_joint
from privacyfunnel import Bottleneck, Funnel, Partition, Status, solve

# Where the paper's traces end: problem, setting, λ, and L of its last iteration.
PAPER_ENDS = [
    ("pf", 1, 0.8, -1.726),
    ("pf", 2, 0.7, -1.204),
    ("ib", 1, 0.8, 0.167),
    ("ib", 2, 0.7, 0.676),
]


@pytest.fixture(scope="module")
def ends(settings_of_paper):
    """L at the end of IAC-MDSF with default settings, for ten seeds of each of the paper's runs."""
    result = {}
    for problem, setting, lam, _ in PAPER_ENDS:
        objective = Funnel(lam) if problem == "pf" else Bottleneck(lam)
        sign = 1 if problem == "pf" else -1
        result[problem, setting] = [
            sign * solve(settings_of_paper[setting], objective, "iac-mdsf", seed=seed).value
            for seed in range(10)
        ]
    return result


def test_the_funnel_ends_below_the_papers_trace(ends):
    assert sum(value <= -1.80 for value in ends["pf", 1]) >= 9
    assert sum(value <= -1.22 for value in ends["pf", 2]) >= 8


def test_the_bottleneck_ends_about_the_papers_trace(ends):
    assert np.median(ends["ib", 1]) >= 0.150
    assert max(ends["ib", 1]) >= 0.160
    assert np.median(ends["ib", 2]) >= 0.65
    assert max(ends["ib", 2]) >= 0.69


def test_history_tells_the_run(settings_of_paper):
    joint = settings_of_paper[1]
    solution = solve(joint, Funnel(0.8), "iac-mdsf")
    start, *steps = solution.history
    assert start.value == pytest.approx(-1.05665196344758, abs=1e-9)
    assert (start.n_symbols, start.merged) == (197, 0)
    size = start.n_symbols
    for step in steps:
        assert step.n_symbols == size - step.merged + 1
        assert step.inner_steps >= 4
        size = step.n_symbols
    assert solution.status is Status.CONVERGED


@pytest.mark.parametrize("mdsf", ["ssp", "ssp-minnorm", "supsub", "modmod"])
@pytest.mark.parametrize("problem", [Funnel, Bottleneck])
def test_the_end_is_declared_only_when_no_pair_helps(mdsf, problem):
    rng = np.random.default_rng(0)
    for _ in range(5):
        joint = random_joint(rng, 4, 12)
        objective = problem(rng.random())
        solution = solve(joint, objective, "iac-mdsf", mdsf=mdsf, starts=1, runs=1)
        left = solution.code.push(joint)
        for i in range(left.n_x):
            for j in range(i):
                assert objective.merge_change(left, [i, j]) > -1e-9


def test_the_papers_own_behaviour_can_be_unlucky(settings_of_paper):
    runs = [
        solve(settings_of_paper[1], Funnel(0.8), "iac-mdsf", paper=True, seed=seed)
        for seed in range(6)
    ]
    assert any(run.status is Status.UNLUCKY_START for run in runs)
    assert max(run.value for run in runs) > -1.75


def test_a_start_is_merged_further(settings_of_paper):
    from privacyfunnel.solvers import make_solver

    joint = settings_of_paper[1]
    start = Partition(np.arange(joint.n_x) // 2)
    found = make_solver("iac-mdsf", runs=1).solve(
        joint, Funnel(0.8), start=start, rng=np.random.default_rng(0)
    )
    together = found.code.labels[::2][: joint.n_x // 2] == found.code.labels[1::2]
    assert together.all()
    assert found.history[0].value == pytest.approx(
        reference.lagrangian(joint, start.labels, (1.0, -0.8)), abs=1e-9
    )
