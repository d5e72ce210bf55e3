"""Codes of a given size."""

from __future__ import annotations

import numpy as np
import pytest

import reference
from conftest import random_joint
from privacyfunnel import Joint, Partition
from privacyfunnel._kernels.sequential import most_relevant_of
from privacyfunnel.datasets import toy_joints
from privacyfunnel.objectives import Bottleneck, leakage
from privacyfunnel.solvers import solve
from privacyfunnel.solvers.base import Status
from privacyfunnel.solvers.best import BestSearch
from privacyfunnel.solvers.exhaustive import ExhaustiveSearch
from privacyfunnel.solvers.moves import JointLayout

FAST = BestSearch(effort="fast")


@pytest.fixture(scope="module")
def joint() -> Joint:
    """700 symbols of uneven weight whose p(s given x) lean this way and that."""
    rng = np.random.default_rng(5)
    lean = rng.dirichlet(np.ones(3), 700)
    weights = rng.gamma(1.0, size=700) * 30
    return Joint.from_counts(rng.poisson(lean * weights[:, None]).T)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def _most_relevant(joint: Joint, n_symbols: int, least: int = 1) -> float:
    """The most I(S;X̂) of all partitions into at most so many clusters, each of so many records."""

    def partitions(n: int):
        if n == 0:
            yield []
            return
        for rest in partitions(n - 1):
            for label in range(min(max(rest, default=-1) + 2, n_symbols)):
                yield [*rest, label]

    return max(
        leakage(joint, Partition(labels))
        for labels in partitions(joint.n_x)
        if np.bincount(labels, weights=joint.masses).min() >= least
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_symbols", [1, 2, 3])
def test_a_code_of_given_size_is_the_best_of_all(seed, n_symbols):
    joint = random_joint(np.random.default_rng(seed), 3, 7)
    found = FAST.solve_size(joint, n_symbols, rng=rng())
    assert found.n_symbols <= n_symbols
    assert found.leakage == pytest.approx(_most_relevant(joint, n_symbols), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("share", [0.1, 0.2, 0.35])
def test_with_a_least_count_too_it_is_the_best_of_all(seed, share):
    joint = random_joint(np.random.default_rng(seed), 3, 7, whole=True)
    least = max(2, round(share * joint.total))
    found = BestSearch(min_count=least, effort="fast").solve_size(joint, 3, rng=rng())
    assert found.status is Status.OPTIMAL
    assert found.leakage == pytest.approx(_most_relevant(joint, 3, least), abs=1e-9)


@pytest.mark.parametrize("least", [1, 4, 8])
def test_the_search_is_seldom_far_from_the_best(least):
    """Of one symbol more than all codes of which are considered."""
    for seed in range(5):
        joint = Joint.from_counts(1 + np.random.default_rng(seed).integers(0, 5, (3, 13)))
        every = ExhaustiveSearch(least).solve_size(joint, 4, rng=rng())
        found = BestSearch(min_count=least).solve_size(joint, 4, rng=rng())
        sizes = np.bincount(found.code.labels, weights=joint.masses)
        assert len(sizes) <= 4
        assert sizes.min() >= least
        assert 0.95 * every.leakage <= found.leakage <= every.leakage + 1e-9


@pytest.mark.parametrize("name", list(toy_joints()))
def test_more_symbols_than_there_are_lose_nothing(name):
    joint = toy_joints()[name]
    assert FAST.solve_size(joint, 50, rng=rng()).leakage == pytest.approx(joint.information)


def test_a_size_on_a_large_alphabet_is_as_good_as_agglomerative(joint):
    for n_symbols in (2, 10):
        found = FAST.solve_size(joint, n_symbols, rng=rng())
        alone = solve(joint, Bottleneck(0.0), "agglomerative", n_symbols=n_symbols)
        assert found.n_symbols == n_symbols
        assert found.leakage >= alone.leakage - 1e-9


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("n_symbols", [2, 5])
def test_descent_ends_where_no_symbol_wants_to_move(whole, n_symbols):
    """Beside loops over every move; a replaced cluster must never make it worse."""
    joint = random_joint(np.random.default_rng(3), 4, 24, whole=whole)
    layout = JointLayout(joint)
    start = np.arange(24)[None] % n_symbols
    found = []
    for n_replaced in (0, 40):
        labels = most_relevant_of(
            layout.columns, layout.table, start, n_symbols, n_replaced, layout.tol, rng()
        )
        assert len(set(labels)) == n_symbols
        found.append(reference.leakage(joint, Partition(labels)))
        for x in range(24):
            for goal in range(n_symbols):
                moved = labels.copy()
                moved[x] = goal
                if len(set(moved)) == n_symbols:
                    assert reference.leakage(joint, Partition(moved)) <= found[-1] + 1e-9
    assert reference.leakage(joint, Partition(start[0])) < found[0] <= found[1] + 1e-12
