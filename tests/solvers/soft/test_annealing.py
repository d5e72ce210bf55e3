"""Soft bottleneck: the self-consistent equations, their solver and the frontier."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_soft import extreme_joints

import reference_soft as reference
from conftest import random_joint
from privacyfunnel import Bottleneck, Channel, Funnel, Joint, Partition, frontier
from privacyfunnel._kernels.annealing import climb, first_alike, self_consistent
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.joint import csc_columns
from privacyfunnel.limits import most_relevance
from privacyfunnel.objectives import leakage, utility
from privacyfunnel.solvers.base import Status
from privacyfunnel.solvers.exhaustive import ExhaustiveSearch
from privacyfunnel.solvers.soft.bottleneck import DeterministicAnnealing
from privacyfunnel.solvers.soft.posteriors import profile
from privacyfunnel.solvers.target import Target

FLOORS = {0.11: 0.143, 0.41: 0.500, 0.58: 0.666, 0.68: 0.746, 0.79: 0.815}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def annealing_frontier(joint, rates, *, hard=None, seed=0, progress=None, **settings):
    """The channels found for some rates in bits."""
    targets = [Target("bottleneck", "utility", rate) for rate in rates]
    found = DeterministicAnnealing(**settings).solve_many(
        joint, targets, starts=hard, seed=seed, progress=progress
    )
    return [solution.code for solution in found]


def at_relevance(joint, bits, **settings):
    """The channel found for one relevance in bits."""
    target = Target("bottleneck", "leakage", bits)
    return DeterministicAnnealing(**settings).solve_at(joint, target, rng=rng()).code


def assert_sound(joint: Joint, channel: Channel) -> None:
    assert channel.n_x == joint.n_x
    assert np.isfinite(channel.matrix.data).all()
    np.testing.assert_allclose(np.asarray(channel.matrix.sum(axis=1)).ravel(), 1.0, atol=1e-12)
    rate, relevance = utility(joint, channel), leakage(joint, channel)
    assert 0.0 <= relevance <= most_relevance(joint, rate) + 1e-9


def test_iteration_does_what_the_plain_loop_does():
    joint = random_joint(rng(1), 4, 7)
    masses, centroids = rng(2).dirichlet(np.ones(3)), rng(3).dirichlet(np.ones(joint.n_s), size=3)
    expected = reference.self_consistent(
        profile(joint).toarray(), joint.p_x, masses, centroids, 2.5, 8
    )
    weights, log_z, _ = self_consistent(
        csc_columns(profile(joint)), joint.p_x, masses, centroids, 2.5, 8, -np.inf
    )
    for found, wanted in zip((masses, centroids, weights, log_z), expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_climbing_does_what_the_plain_loop_does():
    joint = random_joint(rng(4), 4, 7)
    starts, log_weights = rng(5).dirichlet(np.ones(joint.n_s), size=5), np.log(joint.p_x) + 0.3
    found = starts.copy()
    values = climb(csc_columns(profile(joint)), log_weights, found, 3.0, 6, -1.0)
    for start, end, value in zip(starts, found, values, strict=True):
        centroid, height = reference.climb(profile(joint).toarray(), log_weights, start, 3.0, 6)
        np.testing.assert_allclose(end, centroid, atol=1e-9)
        assert value == pytest.approx(height, rel=1e-9)


@given(st.integers(0, 2**31), st.floats(0.0, 1.0))
@settings(max_examples=25)
def test_alike_rows_are_found(seed: int, tol: float):
    rows = rng(seed).dirichlet(np.ones(3), size=12).round(1)
    tol += 1e-6  # distances of rounded rows are not as near to it as rounding
    near = np.linalg.norm(rows[:, None] - rows, axis=2) <= tol
    np.testing.assert_array_equal(first_alike(rows, tol), near.argmax(axis=1))


@pytest.mark.parametrize("lam", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_solver_reaches_the_lower_envelope(lam: float, seed: int):
    joint = random_joint(rng(seed), 3, 3)
    matrix = profile(joint).toarray()

    def cost(q):
        return reference.entropy_bits(matrix @ q) - lam * reference.entropy_bits(q)

    lowest = reference.envelope(matrix, joint.p_x, cost, 40)
    lowest += lam * joint.entropy_x - joint.entropy_s
    solution = DeterministicAnnealing().solve(joint, Bottleneck(lam), rng=rng())
    assert solution.value <= lowest + 1e-7


@given(extreme_joints(), st.sampled_from([0.0, 0.05, 0.5, 0.95, 1.0]))
@settings(max_examples=40)
def test_solution_is_sound_and_measured(joint: Joint, lam: float):
    solver = DeterministicAnnealing(steps=6, max_iter=100)
    solution = solver.solve(joint, Bottleneck(lam), rng=rng())
    assert_sound(joint, Channel(solution.code.matrix))
    expected = Bottleneck(lam).value(joint, solution.code)
    assert solution.value == pytest.approx(expected, abs=1e-12)
    assert solution.value <= 1e-9
    assert (np.diff([step.value for step in solution.history]) <= 1e-12).all()


@pytest.mark.parametrize("seed", range(4))
def test_soft_is_at_least_as_good_as_the_best_hard_code(seed: int):
    joint = random_joint(rng(seed), 4, 6)
    for lam in (0.2, 0.5, 0.8):
        hard = ExhaustiveSearch().solve(joint, Bottleneck(lam), rng=rng())
        solver = DeterministicAnnealing(steps=8)
        alone = solver.solve(joint, Bottleneck(lam), rng=rng())
        assert alone.value <= hard.value + 1e-6
        started = solver.solve(joint, Bottleneck(lam), start=hard.code, rng=rng())
        assert started.value <= hard.value + 1e-12


def test_settings_are_checked_and_the_other_problem_refused():
    joint = random_joint(rng(), 2, 3)
    with pytest.raises(InvalidInput, match="n_symbols must be at least 2"):
        DeterministicAnnealing(n_symbols=1)
    with pytest.raises(InvalidInput, match="use 'soft' for the funnel"):
        DeterministicAnnealing().solve(joint, Funnel(0.5), rng=rng())
    [channel] = annealing_frontier(joint, [joint.entropy_x + 1.0])  # a bound that binds nothing
    assert leakage(joint, channel) == pytest.approx(joint.information)


def test_bounds_are_kept_and_a_run_cut_short_says_so():
    joint = random_joint(rng(9), 5, 12)
    few = DeterministicAnnealing(n_symbols=3).solve(joint, Bottleneck(0.2), rng=rng())
    assert few.n_symbols <= 3
    short = DeterministicAnnealing(steps=2, max_iter=1, tol=0.0)
    solution = short.solve(joint, Bottleneck(0.4), rng=rng())
    assert solution.status is Status.MAX_ITER
    assert_sound(joint, Channel(solution.code.matrix))
    [channel] = annealing_frontier(joint, [0.4], n_symbols=6)
    assert channel.n_symbols <= 6


@given(extreme_joints(), st.floats(0.0, 1.0))
@settings(max_examples=25)
def test_any_rate_is_met_exactly(joint: Joint, share: float):
    [channel] = annealing_frontier(joint, [share * joint.entropy_x], effort="fast")
    assert_sound(joint, channel)
    assert utility(joint, channel) == pytest.approx(share * joint.entropy_x, abs=1e-9)


@given(extreme_joints(), st.floats(0.0, 1.0))
@settings(max_examples=25)
def test_any_relevance_is_met_at_no_more_than_the_rate_of_mixtures(joint: Joint, share: float):
    asked = share * joint.information
    channel = at_relevance(joint, asked, effort="fast")
    assert_sound(joint, channel)
    assert leakage(joint, channel) >= asked - 1e-9
    assert utility(joint, channel) <= share * joint.entropy_x + 1e-9


def test_more_relevance_than_x_has_is_refused():
    joint = random_joint(rng(3), 3, 6)
    with pytest.raises(TargetUnreachable, match="no release has leakage"):
        at_relevance(joint, joint.information + 0.1)


def test_a_frontier_meets_both_kinds_of_target_and_is_never_below_the_hard_one():
    joint = random_joint(rng(12), 6, 15)
    soft, hard = frontier(joint, "bottleneck", "annealing"), frontier(joint, "bottleneck")
    for rate in (0.2, 0.5, 0.8):
        found = soft.at(rate=rate)
        assert found.utility <= rate * joint.entropy_x + 1e-9
        assert found.leakage >= hard.at(rate=rate).leakage - 1e-9
    for share in (0.2, 0.5, 0.9):
        relevance = share * joint.information / joint.entropy_s
        found = soft.at(relevance=relevance)
        assert found.leakage >= relevance * joint.entropy_s - 1e-9
        assert found.utility <= hard.at(relevance=relevance).utility + 1e-9


def test_frontier_is_concave_and_never_below_hard_codes():
    joint = random_joint(rng(11), 6, 12)
    hard = [Partition(rng(k).integers(0, 5, size=12)) for k in range(5)]
    seen: list[tuple[int, int]] = []
    rates = np.linspace(0.0, joint.entropy_x, 9)
    channels = annealing_frontier(
        joint, rates.tolist(), hard=hard, progress=lambda *done: seen.append(done)
    )
    assert seen[-1][0] == seen[-1][1]
    relevance = np.array([leakage(joint, channel) for channel in channels])
    assert (np.diff(relevance, 2) <= 1e-6).all()
    for code in hard:
        [channel] = annealing_frontier(joint, [utility(joint, code)], hard=hard, effort="fast")
        assert leakage(joint, channel) >= leakage(joint, code) - 1e-9


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_hungarian_floors(settings_of_paper: dict[int, Joint], seed: int):
    joint = settings_of_paper[1]
    channels = annealing_frontier(joint, [r * joint.entropy_x for r in FLOORS], seed=seed)
    for (rate, floor), channel in zip(FLOORS.items(), channels, strict=True):
        assert utility(joint, channel) <= rate * joint.entropy_x + 1e-9
        assert leakage(joint, channel) / joint.entropy_s >= floor


def test_at_least_as_good_as_embo(settings_of_paper: dict[int, Joint]):
    embo = pytest.importorskip("embo", reason="embo is not installed")
    joint = settings_of_paper[1]
    curve = embo.InformationBottleneck(
        pxy=joint.p_sx.toarray().T, maxbeta=5.0, numbeta=8, processes=1
    )
    rates, relevances = curve.get_bottleneck()[:2]
    channels = annealing_frontier(joint, np.maximum(rates, 0.0).tolist())
    for channel, relevance in zip(channels, relevances, strict=True):
        assert leakage(joint, channel) >= relevance - 1e-6
