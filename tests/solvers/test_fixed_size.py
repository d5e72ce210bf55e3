"""Codes of a given size."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import random_joint
from privacyfunnel import Joint, Partition
from privacyfunnel.datasets import toy_joints
from privacyfunnel.objectives import Bottleneck, leakage
from privacyfunnel.solvers import solve
from privacyfunnel.solvers.best import BestSearch

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


def _most_relevant(joint: Joint, n_symbols: int) -> float:
    """The most I(S;X̂) of all partitions into at most so many clusters."""

    def partitions(n: int):
        if n == 0:
            yield []
            return
        for rest in partitions(n - 1):
            for label in range(min(max(rest, default=-1) + 2, n_symbols)):
                yield [*rest, label]

    return max(leakage(joint, Partition(labels)) for labels in partitions(joint.n_x))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_symbols", [1, 2, 3])
def test_a_code_of_given_size_is_the_best_of_all(seed, n_symbols):
    joint = random_joint(np.random.default_rng(seed), 3, 7)
    found = FAST.solve_size(joint, n_symbols, rng=rng())
    assert found.n_symbols <= n_symbols
    assert found.leakage == pytest.approx(_most_relevant(joint, n_symbols), abs=1e-9)


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
