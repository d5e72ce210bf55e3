import os

import numpy as np
import pytest

import privacyfunnel as pf
import reference
from conftest import random_joint
from privacyfunnel import Bottleneck, Funnel, Joint, Partition, solve
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.solvers.best import BestSearch
from privacyfunnel.solvers.equal_profiles import equal_profiles
from privacyfunnel.solvers.target import Target


@pytest.mark.parametrize("problem", [Funnel, Bottleneck])
def test_best_equals_the_optimum_of_200_small_joints(problem):
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(200):
        joint = random_joint(rng, int(rng.integers(2, 6)), int(rng.integers(2, 10)))
        objective = problem(rng.random())
        best = solve(joint, objective, "best").value
        hits += best <= solve(joint, objective, "exhaustive").value + 1e-9
    assert hits >= 198


@pytest.mark.parametrize("problem", [Funnel, Bottleneck])
def test_the_search_itself_equals_the_optimum_where_it_can_be_known(problem):
    """13 to 15 symbols: too many for the exhaustive short cut, few enough to know the answer."""
    rng = np.random.default_rng(1)
    for _ in range(12):
        joint = random_joint(rng, int(rng.integers(2, 6)), int(rng.integers(13, 16)))
        objective = problem(rng.random())
        best = solve(joint, objective, "best", effort="fast").value
        assert best == pytest.approx(solve(joint, objective, "exhaustive").value, abs=1e-9)


@pytest.mark.parametrize("objective", [Funnel(0.7), Bottleneck(0.7)])
def test_best_is_never_worse_than_what_it_contains(settings_of_paper, objective):
    joint = settings_of_paper[1]
    best = solve(joint, objective, "best", effort="fast", seed=1)
    for method in ("iac-mdsf", "greedy", "moves"):
        assert best.value <= solve(joint, objective, method, seed=1).value + 1e-9


@pytest.mark.parametrize("objective", [Funnel(0.5), Bottleneck(0.2)])
def test_best_is_never_worse_than_what_it_contains_in_blocks(objective):
    rng = np.random.default_rng(0)
    joint = Joint.from_counts(
        rng.poisson(rng.gamma(0.3, 8.0, size=(8, 620)))
        + (np.arange(8)[:, None] == np.arange(620) % 8)
    )
    assert joint.n_x == 620
    best = solve(joint, objective, "best", effort="fast", seed=1)
    for method in ("greedy", "moves"):
        assert best.value <= solve(joint, objective, method, seed=1).value + 1e-9


def constrained_optimum(joint: Joint, target: Target) -> float:
    """The best price within the limit, over all partitions."""
    price, best = target.price, np.inf
    for labels in reference.partitions(joint.n_x):
        code = Partition(np.array(labels))
        value = price.of(reference.leakage(joint, code), reference.utility(joint, code))
        best = min(best, value)
    return best


@pytest.mark.parametrize("problem", ["funnel", "bottleneck"])
@pytest.mark.parametrize("quantity", ["utility", "leakage"])
def test_targets_are_met_as_well_as_can_be(problem, quantity):
    rng = np.random.default_rng(2)
    misses = 0
    for _ in range(12):
        joint = random_joint(rng, 3, 7)
        whole = joint.entropy_x if quantity == "utility" else joint.information
        target = Target(problem, quantity, float(rng.random() * whole), slope=0.5)
        found = BestSearch(effort="fast").solve_at(joint, target, rng=rng)
        value = target.price.of(found.leakage, found.utility)
        best = constrained_optimum(joint, target)
        assert best - 1e-9 <= value < np.inf
        misses += value > best + 1e-6
    assert misses <= 1


@pytest.mark.parametrize("demand", [Funnel(0.6), Target("funnel", "utility", 3.0)])
def test_results_do_not_depend_on_the_number_of_threads(settings_of_paper, demand, monkeypatch):
    search, found = BestSearch(effort="fast"), []
    run = search.solve_at if isinstance(demand, Target) else search.solve
    for n_threads in (1, 3):
        monkeypatch.setattr(os, "cpu_count", lambda n=n_threads: n)
        code = run(settings_of_paper[1], demand, rng=np.random.default_rng(0)).code
        found.append(code.labels)
    np.testing.assert_array_equal(*found)


def test_min_count_holds_for_every_released_symbol(settings_of_paper):
    joint = settings_of_paper[1]
    for objective in (Funnel(0.9), Bottleneck(0.1)):
        code = solve(joint, objective, "best", effort="fast", min_count=5).code
        assert np.bincount(code.labels, weights=joint.p_x * joint.total).min() >= 5 - 1e-9


def test_a_target_out_of_reach_names_the_nearest(settings_of_paper):
    joint = settings_of_paper[1]
    target = Target("funnel", "utility", 0.95 * joint.entropy_x)
    search = BestSearch(effort="fast", min_count=5)
    with pytest.raises(
        TargetUnreachable,
        match=r"utility of at least 0\.95 with at least 5 records per symbol; the",
    ):
        search.solve_at(joint, target, rng=np.random.default_rng(0))


def test_min_count_must_make_sense():
    joint = Joint.from_counts([[1, 2], [2, 1]])
    with pytest.raises(InvalidInput, match="at most the number of records, 6, got 7"):
        solve(joint, Funnel(0.5), min_count=7)
    with pytest.raises(InvalidInput, match="needs whole counts"):
        solve(Joint.from_probabilities([[0.5, 0.5]]), Funnel(0.5), min_count=2)
    with pytest.raises(InvalidInput, match="min_count must be at least 1"):
        solve(joint, Funnel(0.5), min_count=0)
    with pytest.raises(InvalidInput, match="effort must be one of fast, normal, thorough"):
        solve(joint, Funnel(0.5), effort="huge")


def test_equal_profiles_are_equal():
    joint = Joint.from_counts([[1, 3, 0, 2], [2, 6, 1, 2]])
    assert equal_profiles(joint).labels.tolist() == [0, 0, 1, 2]


def test_a_target_near_the_most_that_min_count_allows_is_met():
    table = pf.datasets.load_demo()
    for name in ("age", "chol"):
        table[name] = table[name] // 10 * 10
    joint = pf.Joint.from_table(table, ["age", "sex"], ["sex", "chol"])
    front = pf.frontier(joint, targets=[0.92], effort="fast", min_count=10)
    found = front.at(utility=0.92)
    assert found.utility >= 0.92 * joint.entropy_x - 1e-9
    assert (joint.total * found.code.push(joint).p_x).min() >= 10 - 1e-9
    with pytest.raises(TargetUnreachable, match="the nearest found has"):
        front.at(utility=0.99)
