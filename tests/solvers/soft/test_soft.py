"""Soft funnel: the loops, the solver, the convex hull of mixtures and its frontier."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_soft as reference
from conftest import random_joint
from privacyfunnel import Bottleneck, Channel, Funnel, Joint, Partition
from privacyfunnel._kernels.soft import descend, price
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.joint import csc_columns
from privacyfunnel.limits import gap, least_leakage
from privacyfunnel.objectives import leakage, utility
from privacyfunnel.solvers.base import Status
from privacyfunnel.solvers.exhaustive import ExhaustiveSearch
from privacyfunnel.solvers.soft.funnel import SoftFunnel
from privacyfunnel.solvers.soft.graph_entropy import limit_release
from privacyfunnel.solvers.soft.posteriors import profile
from privacyfunnel.solvers.soft.time_sharing import TimeSharing, time_share
from privacyfunnel.solvers.target import Target

FLOORS = {0.20: 1e-6, 0.23: 1e-6, 0.255: 0.001, 0.29: 0.0036, 0.327: 0.0140}  # of I(S;X̂)/H(S)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def soft_frontier(joint, utilities, *, hard=(), n_jobs=1, seed=0, progress=None, **settings):
    """The channels found for some utilities in bits."""
    targets = [Target("funnel", "utility", bits) for bits in utilities]
    found = SoftFunnel(**settings).solve_many(
        joint, targets, starts=hard, n_jobs=n_jobs, seed=seed, progress=progress
    )
    return [solution.code for solution in found]


def soft_at(joint, target, starts=(), **settings):
    """The channel found for one target."""
    return SoftFunnel(**settings).solve_at(joint, target, starts=starts, rng=rng()).code


@st.composite
def extreme_joints(draw: st.DrawFn) -> Joint:
    """Zeros, tiny probabilities, one dominant symbol, |X| = 1, I(S;X) = 0, X = S."""
    kind = draw(st.sampled_from(["any", "independent", "equal", "dominant"]))
    n_s, n_x = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    weights = st.sampled_from([0.0, 1.0, 2.0, 3.0, 1e-12, 1e-300])
    cells = st.lists(weights, min_size=n_x, max_size=n_x)
    counts = np.array(draw(st.lists(cells, min_size=n_s, max_size=n_s)))
    if kind == "independent":
        counts = np.outer(counts.sum(axis=1) + 1.0, np.arange(1.0, n_x + 1.0))
    elif kind == "equal":
        counts = np.diag(np.arange(1.0, n_x + 1.0))
    elif kind == "dominant":
        counts[0, 0] = 1e9
    counts[0, 0] += counts.sum() < 1.0
    return Joint.from_counts(counts)


def assert_sound(joint: Joint, channel: Channel) -> None:
    """A channel of the joint, all numbers finite, on the right side of the limit."""
    assert channel.n_x == joint.n_x
    assert np.isfinite(channel.matrix.data).all()
    np.testing.assert_allclose(np.asarray(channel.matrix.sum(axis=1)).ravel(), 1.0, atol=1e-12)
    told, leaked = utility(joint, channel), leakage(joint, channel)
    assert 0.0 <= told <= joint.entropy_x + 1e-9
    assert least_leakage(joint, told) - 1e-9 <= leaked <= joint.information + 1e-9


@pytest.mark.parametrize("lam", [0.0, 0.3, 0.9, 1.0])
def test_descent_does_what_the_plain_loop_does(lam: float):
    joint = random_joint(rng(1), 4, 7)
    channel = rng(2).dirichlet(np.full(5, 0.5), size=7).T.copy()
    channel[0] = 0.0  # a symbol that never occurs stays so
    channel /= channel.sum(axis=0)
    found, value, steps, _ = descend(
        csc_columns(profile(joint)), np.log(joint.p_x), channel, lam, 60, 0.0
    )
    expected, expected_value = reference.descend(
        profile(joint).toarray(), joint.p_x, channel, lam, steps
    )
    np.testing.assert_allclose(found, expected, atol=1e-8)
    assert value == pytest.approx(expected_value, abs=1e-12)
    assert not found[0].any()


@given(st.integers(0, 10_000), st.floats(0.0, 1.0))
def test_descent_never_raises_the_objective(seed: int, lam: float):
    joint = random_joint(rng(seed), 3, 5)
    channel = rng(seed).dirichlet(np.full(4, 0.5), size=joint.n_x).T.copy()
    values = []
    for steps in (1, 2, 4, 8, 30):
        found = descend(csc_columns(profile(joint)), np.log(joint.p_x), channel, lam, steps, 0.0)
        values.append(Funnel(lam).value(joint, Channel(found[0].T)))
    start = Funnel(lam).value(joint, Channel(channel.T))
    assert (np.diff([start, *values]) <= 1e-12).all()


def test_pricing_does_what_the_plain_loop_does():
    joint = random_joint(rng(3), 4, 7)
    starts = rng(4).dirichlet(np.full(7, 0.5), size=6)
    reward = rng(5).normal(size=7)
    found = starts.copy()
    values = price(csc_columns(profile(joint)), found, reward, 0.4, 25, 0.0)
    for start, end, value in zip(starts, found, values, strict=True):
        q, expected = reference.price(profile(joint).toarray(), start, reward, 0.4, 25)
        np.testing.assert_allclose(end, q, atol=1e-8)
        assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("lam", [0.1, 0.35, 0.6, 0.9])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_solver_reaches_the_lower_envelope(lam: float, seed: int):
    joint = random_joint(rng(seed), 3, 3)
    matrix = profile(joint).toarray()

    def cost(q):
        return lam * reference.entropy_bits(q) - reference.entropy_bits(matrix @ q)

    lowest = reference.envelope(matrix, joint.p_x, cost, 40)
    lowest += joint.entropy_s - lam * joint.entropy_x
    assert SoftFunnel().solve(joint, Funnel(lam), rng=rng()).value <= lowest + 1e-9


@pytest.mark.parametrize("n_symbols", [None, 2, 3])
@given(extreme_joints(), st.sampled_from([0.0, 0.4, 0.9, 1.0]))
@settings(max_examples=25)
def test_solution_is_sound_and_measured(n_symbols: int | None, joint: Joint, lam: float):
    solver = SoftFunnel(n_symbols=n_symbols, starts=1, rounds=3, max_iter=200)
    solution = solver.solve(joint, Funnel(lam), rng=rng())
    assert isinstance(solution.code, Channel)
    assert_sound(joint, solution.code)
    assert solution.value == pytest.approx(Funnel(lam).value(joint, solution.code), abs=1e-12)
    assert solution.n_symbols <= (n_symbols or joint.n_x + 2)
    values = [step.value for step in solution.history]
    assert (np.diff(values) <= 1e-9).all()
    assert solution.value <= 1e-9  # to tell nothing has the value 0


@pytest.mark.parametrize("seed", range(4))
def test_soft_is_at_least_as_good_as_the_best_hard_code(seed: int):
    joint = random_joint(rng(seed), 4, 6)
    for lam in (0.2, 0.5, 0.8):
        hard = ExhaustiveSearch().solve(joint, Funnel(lam), rng=rng())
        soft = SoftFunnel(rounds=4).solve(joint, Funnel(lam), start=hard.code, rng=rng())
        assert soft.value <= hard.value + 1e-9


def test_settings_are_checked_and_the_other_problem_refused():
    with pytest.raises(InvalidInput, match="n_symbols must be at least 2, got 1"):
        SoftFunnel(n_symbols=1)
    with pytest.raises(InvalidInput, match="max_iter"):
        SoftFunnel(max_iter=0)
    with pytest.raises(InvalidInput, match="use 'annealing' for the bottleneck"):
        SoftFunnel().solve(random_joint(rng(), 2, 3), Bottleneck(0.5), rng=rng())


def test_a_run_cut_short_says_so_and_keeps_its_best():
    joint = random_joint(rng(8), 5, 9)
    short = SoftFunnel(n_symbols=4, rounds=1, max_iter=1, tol=0.0)
    solution = short.solve(joint, Funnel(0.4), rng=rng())
    assert solution.status is Status.MAX_ITER
    assert solution.value <= min(step.value for step in solution.history) + 1e-9


def test_limit_release_finds_the_graph_entropy_of_the_pentagon():
    cycle = np.zeros((5, 5))
    for s in range(5):
        cycle[s, [s, (s + 1) % 5]] = 1.0  # neighbours on the cycle share an s
    joint = Joint.from_counts(cycle)
    channel = limit_release(joint)
    assert gap(joint, channel) < 1e-9
    assert utility(joint, channel) == pytest.approx(np.log2(5 / 2), abs=1e-4)


@given(st.integers(0, 1000))
@settings(max_examples=20)
def test_limit_release_meets_the_limit(seed: int):
    joint = random_joint(rng(seed), 5, 8)
    channel = limit_release(joint)
    assert_sound(joint, channel)
    assert gap(joint, channel) < 1e-9
    assert utility(joint, channel) <= joint.entropy_x + 1e-9


def test_time_sharing_mixes_both_informations_exactly():
    joint = random_joint(rng(2), 3, 6)
    left, right = Partition([0, 0, 0, 1, 1, 1]), Partition.identity(6)
    mixed = time_share(left, right, 0.3)
    for measure in (utility, leakage):
        expected = 0.7 * measure(joint, left) + 0.3 * measure(joint, right)
        assert measure(joint, mixed) == pytest.approx(expected, abs=1e-12)
    assert time_share(left, right, 0.0).n_symbols == 2


def test_mixtures_keep_its_lower_convex_hull():
    joint = random_joint(rng(6), 4, 7)
    codes = [Partition(rng(k).integers(0, 4, size=7)) for k in range(30)]
    shared = TimeSharing(joint, "funnel", codes)
    hull = np.array([member[:2] for member in shared.hull])
    slopes = np.diff(hull[:, 1]) / np.diff(hull[:, 0])
    assert (np.diff(slopes) >= -1e-12).all()
    for code in codes:
        floor = np.interp(utility(joint, code), hull[:, 0], hull[:, 1])
        assert leakage(joint, code) >= floor - 1e-12
    bits = 0.6 * joint.entropy_x
    mixed = shared.at(Target("funnel", "utility", bits))
    assert utility(joint, mixed) == pytest.approx(bits, abs=1e-8)
    assert leakage(joint, mixed) <= np.interp(bits, hull[:, 0], hull[:, 1]) + 1e-9


@given(extreme_joints(), st.floats(0.0, 1.0))
@settings(max_examples=25)
def test_any_utility_is_met_exactly(joint: Joint, share: float):
    [channel] = soft_frontier(joint, [share * joint.entropy_x], effort="fast")
    assert_sound(joint, channel)
    assert utility(joint, channel) == pytest.approx(share * joint.entropy_x, abs=1e-7)


@given(extreme_joints(), st.floats(0.0, 1.0))
@settings(max_examples=25)
def test_any_leakage_is_kept(joint: Joint, share: float):
    bound = share * joint.information
    channel = soft_at(joint, Target("funnel", "leakage", bound), effort="fast")
    assert_sound(joint, channel)
    assert leakage(joint, channel) <= bound + 1e-9


def test_frontier_is_convex_above_the_limit_and_below_hard_codes():
    joint = random_joint(rng(11), 6, 12)
    hard = [ExhaustiveSearch().solve(joint, Funnel(lam), rng=rng()).code for lam in (0.3, 0.6, 0.9)]
    utilities = np.linspace(0.0, joint.entropy_x, 9)
    channels = soft_frontier(joint, utilities.tolist(), hard=hard, effort="fast")
    leaks = np.array([leakage(joint, channel) for channel in channels])
    assert (np.diff(leaks, 2) >= -1e-3).all()
    assert (leaks >= [least_leakage(joint, bits) - 1e-9 for bits in utilities]).all()
    for code in hard:
        [channel] = soft_frontier(joint, [utility(joint, code)], hard=hard, effort="fast")
        assert leakage(joint, channel) <= leakage(joint, code) + 1e-9


def test_frontier_does_not_depend_on_the_number_of_processes():
    joint = random_joint(rng(12), 6, 14)
    targets = [0.3 * joint.entropy_x, 0.6 * joint.entropy_x]
    seen: list[tuple[int, int]] = []
    one = soft_frontier(
        joint, targets, effort="fast", seed=3, progress=lambda *done: seen.append(done)
    )
    two = soft_frontier(joint, targets, effort="fast", seed=3, n_jobs=2)
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first.matrix.toarray(), second.matrix.toarray())
    assert seen[-1][0] == seen[-1][1]


def test_a_bounded_alphabet_is_kept_or_refused():
    joint = random_joint(rng(13), 6, 14)
    bits = 0.35 * joint.entropy_x
    [channel] = soft_frontier(joint, [bits], n_symbols=8, effort="fast")
    assert channel.n_symbols <= 8
    assert utility(joint, channel) == pytest.approx(bits, abs=1e-7)
    with pytest.raises(TargetUnreachable, match="at most 4 symbols"):
        soft_frontier(joint, [0.99 * joint.entropy_x], n_symbols=4, effort="fast")
    with pytest.raises(InvalidInput, match="n_symbols"):
        soft_frontier(joint, [bits], n_symbols=1)


def test_targets_are_checked():
    joint = random_joint(rng(), 3, 4)
    with pytest.raises(TargetUnreachable, match="X itself has"):
        soft_frontier(joint, [joint.entropy_x + 1.0])
    with pytest.raises(InvalidInput, match="utility must be at least 0"):
        soft_frontier(joint, [-0.1])
    with pytest.raises(InvalidInput, match="effort must be one of"):
        soft_frontier(joint, [0.1], effort="heroic")


def test_starts_are_never_lost():
    joint = random_joint(rng(14), 6, 12)
    [start] = soft_frontier(joint, [0.5 * joint.entropy_x], effort="normal", seed=4)
    target = Target("funnel", "utility", utility(joint, start))
    again = soft_at(joint, target, starts=[start], effort="fast")
    assert leakage(joint, again) <= leakage(joint, start) + 1e-9


def test_hungarian_floors(settings_of_paper: dict[int, Joint]):
    joint = settings_of_paper[1]
    shares = [*FLOORS, 0.376, 0.41, 0.6]
    channels = soft_frontier(joint, [u * joint.entropy_x for u in shares], effort="fast")
    for share, channel in zip(shares, channels, strict=True):
        told, leaked = utility(joint, channel), leakage(joint, channel)
        floor = FLOORS.get(share, least_leakage(joint, told) / joint.entropy_s + 1e-9)
        assert told >= share * joint.entropy_x
        assert leaked / joint.entropy_s <= floor


def test_hungarian_limit_is_met_from_the_graph_entropy_on(settings_of_paper: dict[int, Joint]):
    for setting, most in ((1, 0.3675), (2, 0.3136)):
        joint = settings_of_paper[setting]
        channel = limit_release(joint)
        assert gap(joint, channel) < 1e-9
        assert utility(joint, channel) / joint.entropy_x <= most
