"""Large alphabets by way of groups, and codes of a given size."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import random_joint
from privacyfunnel import Joint, Partition
from privacyfunnel.datasets import toy_joints
from privacyfunnel.errors import TargetUnreachable
from privacyfunnel.objectives import Bottleneck, Funnel, leakage
from privacyfunnel.solvers import solve
from privacyfunnel.solvers.best import BestSearch
from privacyfunnel.solvers.large import block_paths, solve_large
from privacyfunnel.solvers.sizes import solve_size
from privacyfunnel.solvers.targets import Target, cuts_at, greedy_paths

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


@pytest.mark.parametrize("problem", ["funnel", "bottleneck"])
@pytest.mark.parametrize("n_groups", [3, 50, 400])
def test_blocks_are_cut_to_about_the_size_asked(joint, problem, n_groups):
    code = block_paths(joint, problem, rng()).cut(n_groups)
    assert code.n_x == joint.n_x
    assert code.n_symbols == pytest.approx(n_groups, abs=3)


def test_neighbours_in_a_block_keep_the_relevance(joint):
    groups = block_paths(joint, "bottleneck", rng()).cut(100)
    scattered = Partition(rng().permutation(joint.n_x) % 100)
    assert leakage(joint, groups) > 0.95 * joint.information > leakage(joint, scattered)


@pytest.mark.parametrize("problem", ["funnel", "bottleneck"])
@pytest.mark.parametrize("share", [0.4, 0.9])
def test_a_target_is_met_and_nearly_as_well_as_by_the_whole_search(joint, problem, share):
    target = Target(problem, "utility", share * joint.entropy_x)
    found = solve_large(joint, target, FAST, rng=rng())
    direct = FAST.solve_at(
        joint, target, starts=cuts_at(greedy_paths(joint, problem), target), rng=rng()
    )
    sign = 1.0 if problem == "funnel" else -1.0
    assert sign * found.utility >= sign * target.bits - 1e-9
    assert sign * (found.leakage - direct.leakage) <= 0.06 * joint.information


@pytest.mark.parametrize("problem", ["funnel", "bottleneck"])
def test_a_bound_on_what_is_told_of_s(joint, problem):
    target = Target(problem, "leakage", 0.5 * joint.information, 0.3)
    found = solve_large(joint, target, FAST, rng=rng())
    sign = 1.0 if problem == "funnel" else -1.0
    assert sign * found.leakage <= sign * target.bits + 1e-9
    assert 0 < found.utility < joint.entropy_x


@pytest.mark.parametrize("objective", [Funnel(0.3), Bottleneck(0.3)])
def test_one_lambda_beats_or_nearly_equals_greedy(joint, objective):
    found = solve_large(joint, objective, FAST, rng=rng())
    assert found.objective == objective
    assert found.value == pytest.approx(objective.value(joint, found.code))
    assert found.value <= solve(joint, objective, "greedy").value + 0.02


def test_min_count_is_kept_or_refused(joint):
    solver = BestSearch(effort="fast", min_count=100)
    found = solve_large(joint, Target("funnel", "utility", 4.0), solver, rng=rng())
    assert found.utility >= 4.0 - 1e-9
    assert (joint.p_x @ found.code.matrix * joint.total).min() >= 100
    with pytest.raises(TargetUnreachable, match="min_count=100"):
        solve_large(joint, Target("funnel", "utility", joint.entropy_x), solver, rng=rng())


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
    found = solve_size(joint, n_symbols, FAST, rng=rng())
    assert found.n_symbols <= n_symbols
    assert found.leakage == pytest.approx(_most_relevant(joint, n_symbols), abs=1e-9)


@pytest.mark.parametrize("name", list(toy_joints()))
def test_more_symbols_than_there_are_lose_nothing(name):
    joint = toy_joints()[name]
    assert solve_size(joint, 50, FAST, rng=rng()).leakage == pytest.approx(joint.information)


def test_a_size_on_a_large_alphabet_is_as_good_as_agglomerative(joint):
    for n_symbols in (2, 10):
        found = solve_size(joint, n_symbols, FAST, rng=rng())
        alone = solve(joint, Bottleneck(0.0), "agglomerative", n_symbols=n_symbols)
        assert found.n_symbols == n_symbols
        assert found.leakage >= alone.leakage - 1e-9
