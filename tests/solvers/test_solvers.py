"""Every solver on every joint: what must hold whatever the method."""

from itertools import pairwise

import numpy as np
import pytest

import reference
from conftest import random_joint
from privacyfunnel import Bottleneck, Funnel, Joint, Partition, Status, solve
from privacyfunnel.errors import InvalidInput
from privacyfunnel.solvers import SOLVERS

JOINTS = {
    "one symbol": Joint.from_counts([[2], [3]]),
    "independent": Joint.from_counts(np.outer([1, 2], [1, 2, 3, 4])),
    "identical": Joint.from_counts(np.diag([1, 2, 3, 4])),
    "noisy": Joint.from_counts([[9, 1, 5, 2], [1, 9, 5, 2], [2, 2, 5, 9]]),
    "probabilities": Joint.from_probabilities([[0.1, 0.2, 0.3], [0.2, 0.1, 0.1]]),
    "one sensitive value": Joint.from_counts([[1, 2, 3]]),
    "thirteen": random_joint(np.random.default_rng(7), 4, 13),
}
OPTIONS = {"pairwise": {"theta": 0.0}}
METHODS = [m for m in SOLVERS if m not in ("soft", "annealing", "quantizer")]


@pytest.mark.parametrize("name", JOINTS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("objective", [Funnel(0.3), Bottleneck(0.3), Funnel(0.9), Bottleneck(0.9)])
def test_every_solver_on_every_joint(name, method, objective):
    joint = JOINTS[name]
    solution = solve(joint, objective, method, **OPTIONS.get(method, {}))
    assert isinstance(solution.code, Partition)
    assert solution.code.n_x == joint.n_x
    fresh = reference.lagrangian(joint, solution.code.labels, objective.weights)
    assert solution.value == pytest.approx(fresh, abs=1e-9)
    assert solution.value >= solve(joint, objective, "exhaustive").value - 1e-9
    if method in ("iac-mdsf", "greedy"):
        values = [step.value for step in solution.history]
        assert all(b <= a + 1e-9 for a, b in pairwise(values))
        assert values[-1] == pytest.approx(solution.value, abs=1e-9)
        assert solution.history[-1].n_symbols == solution.n_symbols


@pytest.mark.parametrize("method", ["iac-mdsf", "best", "moves"])
def test_the_seed_decides_the_result(method):
    joint = random_joint(np.random.default_rng(0), 5, 20)
    first, again = (solve(joint, Funnel(0.6), method, seed=3) for _ in range(2))
    assert first.code == again.code


@pytest.mark.parametrize("lam", [0.0, 1.0])
def test_the_ends_of_lambda(lam):
    joint = JOINTS["noisy"]
    assert solve(joint, Funnel(lam), "best").leakage == pytest.approx(lam * joint.information)
    assert solve(joint, Bottleneck(lam), "best").leakage == pytest.approx(
        (1 - lam) * joint.information
    )


def test_exhaustive_finds_the_best_of_all_partitions():
    rng = np.random.default_rng(4)
    for _ in range(10):
        joint = random_joint(rng, 3, 6)
        objective = Funnel(rng.random()) if rng.random() < 0.5 else Bottleneck(rng.random())
        values = [
            reference.lagrangian(joint, labels, objective.weights)
            for labels in reference.partitions(joint.n_x)
        ]
        found = solve(joint, objective, "exhaustive")
        assert found.value == pytest.approx(min(values), abs=1e-9)
        assert found.status is Status.OPTIMAL


def test_exhaustive_refuses_a_least_count_that_nothing_has():
    for joint, words in (
        (Joint.from_counts([[3, 0, 1, 2], [0, 3, 2, 1]]), "at most the number of records, 12"),
        (Joint.from_probabilities([[0.1, 0.2], [0.3, 0.4]]), "whole counts"),
    ):
        with pytest.raises(InvalidInput, match=words):
            solve(joint, Funnel(0.3), "exhaustive", min_count=13)


def test_exhaustive_refuses_large_alphabets():
    with pytest.raises(InvalidInput, match="at most 16 public symbols here, got 17"):
        solve(Joint.from_counts(np.ones((2, 17))), Funnel(0.5), "exhaustive")


def test_bad_requests_are_refused_in_one_line():
    joint = JOINTS["noisy"]
    with pytest.raises(InvalidInput, match="method must be one of best"):
        solve(joint, Funnel(0.5), "magic")
    with pytest.raises(InvalidInput, match="no setting 'depth'; it has: mdsf, starts"):
        solve(joint, Funnel(0.5), "iac-mdsf", depth=3)
    with pytest.raises(InvalidInput, match="mdsf must be one of"):
        solve(joint, Funnel(0.5), "iac-mdsf", mdsf="magic")
    with pytest.raises(InvalidInput, match="starts must be at least 1"):
        solve(joint, Funnel(0.5), "iac-mdsf", starts=0)
    with pytest.raises(InvalidInput, match="seed must be a whole number"):
        solve(joint, Funnel(0.5), seed="x")


def test_what_is_no_joint_or_objective_is_said_in_a_sentence():
    for recoding in ("symbols", "global"):
        with pytest.raises(InvalidInput, match=r"^joint must be a Joint, such as .*; got list\.$"):
            solve([[1, 2]], Funnel(0.3), recoding=recoding)
        with pytest.raises(
            InvalidInput, match=r"^objective must be an Objective.* got 'funnel'\.$"
        ):
            solve(JOINTS["noisy"], "funnel", recoding=recoding)
