"""Perfect privacy: nothing about S, as much as possible about X."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_soft import assert_sound, extreme_joints

import reference_soft
from conftest import DATA, joints, random_joint
from privacyfunnel import Joint, Partition
from privacyfunnel.errors import InvalidInput
from privacyfunnel.objectives import leakage, utility
from privacyfunnel.solvers.soft import perfect_privacy as module
from privacyfunnel.solvers.soft.funnel import SoftFunnel
from privacyfunnel.solvers.soft.perfect_privacy import only_trivial_is_private, perfect_privacy
from privacyfunnel.solvers.soft.posteriors import Posteriors, profile, release, split
from privacyfunnel.solvers.soft.vertices import Vertices
from privacyfunnel.solvers.target import Target


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(joints(max_s=3, max_x=6))
@settings(max_examples=40)
def test_nothing_leaks_and_all_hard_private_codes_are_beaten(joint: Joint):
    solution = perfect_privacy(joint, effort="fast")
    assert_sound(joint, solution.code)
    assert solution.leakage <= 1e-12
    for seed in range(20):
        code = Partition(rng(seed).integers(0, 3, size=joint.n_x))
        if leakage(joint, code) < 1e-14:
            assert solution.utility >= utility(joint, code) - 1e-9


@given(extreme_joints())
@settings(max_examples=30)
def test_extreme_joints_are_no_trouble(joint: Joint):
    solution = perfect_privacy(joint, effort="fast")
    assert_sound(joint, solution.code)
    assert solution.leakage <= 1e-9


def test_known_optima():
    # X = (S, coin): the coin can be told, and nothing else.
    coin = Joint.from_counts([[1, 1, 0, 0], [0, 0, 1, 1]])
    assert perfect_privacy(coin).utility == pytest.approx(1.0, abs=1e-9)
    # S independent of X: all of X can be told.
    independent = Joint.from_counts([[1, 2, 3], [2, 4, 6]])
    assert perfect_privacy(independent).utility == pytest.approx(independent.entropy_x)
    # X = S: nothing can be told.
    equal = Joint.from_counts(np.eye(4))
    assert perfect_privacy(equal).utility == 0.0
    # Two s; x is s, or a blank that may stand for either (an erasure): q mixes s and s' evenly.
    erased = Joint.from_counts([[1, 0, 1], [0, 1, 1]])
    assert perfect_privacy(erased).utility == pytest.approx(1.0, abs=1e-9)


def test_says_when_only_the_trivial_release_is_private():
    assert only_trivial_is_private(Joint.from_counts(np.eye(3) + 1.0))
    assert not only_trivial_is_private(Joint.from_counts([[1, 0, 1], [0, 1, 1]]))
    assert not only_trivial_is_private(Joint.from_counts([[1, 2], [1, 2]]))
    solution = perfect_privacy(Joint.from_counts(np.eye(3) + 1.0))
    assert solution.n_symbols == 1


def test_the_same_seed_gives_the_same_release():
    joint = random_joint(rng(5), 4, 10)
    first, second = (perfect_privacy(joint, seed=3, effort="fast") for _ in range(2))
    np.testing.assert_array_equal(first.code.matrix.toarray(), second.code.matrix.toarray())
    with pytest.raises(InvalidInput, match="effort must be one of"):
        perfect_privacy(joint, effort="heroic")


@given(joints(max_s=4, max_x=6), st.integers(0, 1000))
def test_a_mixture_has_the_informations_of_its_channel(joint: Joint, seed: int):
    channel = rng(seed).dirichlet(np.full(4, 0.5), size=joint.n_x).T
    weights, q = split(joint, channel)
    pool = Posteriors(joint, q)
    code = release(joint, weights, q)
    assert leakage(joint, code) == pytest.approx(
        joint.entropy_s - weights @ pool.entropy_s, abs=1e-9
    )
    assert utility(joint, code) == pytest.approx(
        joint.entropy_x - weights @ pool.entropy_x, abs=1e-9
    )


def test_the_best_mixture_and_its_prices():
    joint = random_joint(rng(7), 4, 6)
    pool = Posteriors.of(joint, [Partition.identity(6), Partition.trivial(6)])
    weights, prices, shadow = pool.mix(
        -pool.entropy_s, most=(pool.entropy_x, 0.5 * joint.entropy_x)
    )
    np.testing.assert_allclose(weights @ pool.q, joint.p_x, atol=1e-8)
    assert weights @ pool.entropy_x == pytest.approx(0.5 * joint.entropy_x, abs=1e-8)
    reduced = -pool.entropy_s + shadow * pool.entropy_x - pool.q @ prices
    assert reduced.min() > -1e-7  # no posterior is worth more than it costs
    assert pool.mix(-pool.entropy_s, most=(pool.entropy_x, -1.0)) is None


def test_profile_is_not_hurt_by_tiny_probabilities():
    joint = Joint.from_counts([[1.0, 1e-300], [1.0, 3e-300]])
    np.testing.assert_allclose(profile(joint).toarray(), [[0.5, 0.25], [0.5, 0.75]])


def test_hungarian_floors(settings_of_paper: dict[int, Joint]):
    for setting, floor in ((1, 0.237), (2, 0.3042)):
        joint = settings_of_paper[setting]
        solution = perfect_privacy(joint, effort="fast")
        assert solution.leakage <= 1e-12
        assert solution.utility / joint.entropy_x >= floor


def small(seed: int) -> Joint:
    """A joint of 3 to 10 values, some of them with equal profiles."""
    n_s, n_x = rng(seed).integers([2, 3], [6, 11])
    counts = rng(seed).integers(0, 9, size=(n_s, n_x))
    return Joint.from_counts(counts + (counts.sum(axis=0) == 0))


def most_private(joint: Joint) -> float:
    """By listing vertices in loops."""
    return reference_soft.most_private_utility(profile(joint).toarray(), joint.p_s, joint.p_x)


@pytest.mark.parametrize("seeds", [range(40), range(40, 80)], ids=["40", "80"])
def test_equal_to_vertex_enumeration(seeds):  # of 250: benchmarks/searches.py private
    for seed in seeds:
        joint = small(seed)
        assert perfect_privacy(joint, effort="fast").utility == pytest.approx(
            most_private(joint), abs=1e-7
        ), seed


def test_a_vertex_that_generation_missed():
    joint = Joint.from_counts([[5, 5, 5, 7], [7, 5, 8, 5]])
    assert perfect_privacy(joint).utility == pytest.approx(1.0838599, abs=1e-7)


@pytest.mark.parametrize("seed", range(12))
def test_a_leakage_of_nothing_is_searched_for(seed):
    joint = small(seed)
    found = SoftFunnel(effort="fast").solve_at(joint, Target("funnel", "leakage", 0.0), rng=rng(0))
    assert found.leakage < 1e-12
    assert found.utility == pytest.approx(most_private(joint), abs=1e-7)


def test_what_adult_keeps_without_leakage():
    """Once nothing at all, and called proved."""
    if not (DATA / "arx_adult").exists():
        pytest.skip("the table of Adult is not there")
    table = pd.read_csv(DATA / "arx_adult" / "adult.csv", sep=";")
    joint = Joint.from_table(table, ["sex"], ["education"])
    found = SoftFunnel(effort="fast").solve_at(joint, Target("funnel", "leakage", 0.0), rng=rng(0))
    assert found.leakage < 1e-12
    assert found.utility == pytest.approx(perfect_privacy(joint).utility, abs=1e-7)
    assert found.utility > 0.5 * joint.entropy_x


@pytest.mark.parametrize("seed", range(8))
def test_vertices_are_those_of_the_loops(seed):
    joint = small(seed)
    dense = profile(joint).toarray()
    found = Vertices(dense, joint.p_s).rows()
    expected = reference_soft.private_vertices(dense, joint.p_s)
    found, expected = (rows[np.lexsort(rows.round(9).T)] for rows in (found, expected))
    np.testing.assert_allclose(found, expected, atol=1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_generation_comes_near_what_listing_proves(seed, monkeypatch):
    joint = Joint.from_counts(rng(seed).poisson(4, size=(3, 14)) + 1)
    listed = perfect_privacy(joint).utility
    monkeypatch.setattr(module, "MOST", 0)
    generated = perfect_privacy(joint).utility
    assert 0.99 * listed <= generated <= listed + 1e-9


def test_what_is_no_joint_is_said_in_a_sentence():
    with pytest.raises(InvalidInput, match=r"^joint must be a Joint, such as .*; got list\.$"):
        perfect_privacy([[1, 2]])
