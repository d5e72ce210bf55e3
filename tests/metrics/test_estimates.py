"""Estimates and chance: what few records can tell; seeded, and the same on any number of cores."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import random_table

import privacyfunnel as pf
import reference
from conftest import joints
from privacyfunnel import metrics
from privacyfunnel.errors import InvalidInput


def drawn(rng, n: int, p: np.ndarray) -> pf.Joint:
    return pf.Joint.from_counts(rng.multinomial(n, p.ravel()).reshape(p.shape))


def independent(seed: int, n_s: int) -> pf.Joint:
    """300 records, 200 public symbols, nothing to learn."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((n_s, 200))
    np.add.at(counts, (rng.integers(n_s, size=300), rng.integers(200, size=300)), 1)
    return pf.Joint.from_counts(counts)


@pytest.mark.parametrize("n_s", [2, 5, 20, 60])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_independent_records_are_seen_through(n_s, seed):
    joint = independent(seed, n_s)
    found = metrics.shuffled(joint, seed=seed, shuffles=200)
    assert joint.information > 0.4  # what a naive reading would call a leak
    assert abs(joint.information - found.mean_bits) < 0.15
    assert abs(metrics.shrinkage(joint)) < 0.15
    assert found.p_value > 0.05 or seed  # one in twenty is below by right, see the next test


def test_chance_is_called_a_link_no_more_often_than_it_should():
    tables = [independent(100 + i, (2, 5, 20)[i % 3]) for i in range(60)]
    rejected = sum(
        metrics.shuffled(t, seed=i, shuffles=99).p_value < 0.05 for i, t in enumerate(tables)
    )
    assert rejected <= 7  # three are expected; more than seven in 2% of such runs


def test_a_strong_link_is_not_called_chance():
    rng = np.random.default_rng(0)
    x = rng.integers(200, size=300)
    counts = np.zeros((5, 200))
    np.add.at(counts, (np.where(rng.random(300) < 0.8, x % 5, rng.integers(5, size=300)), x), 1)
    joint = pf.Joint.from_counts(counts)
    found = metrics.shuffled(joint, shuffles=200)
    assert found.p_value == pytest.approx(1 / 201)
    assert joint.information - found.mean_bits > 0.15


@given(joints())
def test_shrinkage_is_the_papers(joint):
    if joint.n_records > 1:
        found = metrics.shrinkage(joint)
        assert found == pytest.approx(reference.shrinkage(joint.counts.toarray()), abs=1e-9)
        assert found >= 0


def test_miller_madow_takes_most_of_the_bias_off():
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.full(8, 0.7), size=4) / 4
    truth = reference.mutual_information(p)
    tries = [drawn(rng, 400, p) for _ in range(60)]
    plain = np.mean([joint.information for joint in tries]) - truth
    corrected = np.mean([metrics.miller_madow(joint) for joint in tries]) - truth
    assert abs(corrected) < abs(plain) / 2
    joint = tries[0]
    pairs = np.count_nonzero(joint.counts.toarray())
    by_hand = joint.information - (pairs - 4 - 8 + 1) / (2 * 400 * np.log(2))
    assert metrics.miller_madow(joint) == pytest.approx(by_hand)


def test_the_bootstrap_interval_holds_the_truth_most_of_the_time():
    rng = np.random.default_rng(5)
    p = rng.dirichlet(np.ones(5), size=3) / 3
    truth = reference.mutual_information(p)
    intervals = [metrics.bootstrap(drawn(rng, 500, p), resamples=100, seed=i) for i in range(60)]
    held = sum(found.low_bits <= truth <= found.high_bits for found in intervals)
    assert held >= 51  # of 60, for an interval of 95%
    assert np.mean([found.high_bits - found.low_bits for found in intervals]) < 0.5 * truth


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_nothing_depends_on_the_number_of_processes(n_jobs):
    joint = independent(7, 4)
    one = metrics.shuffled(joint, seed=3, shuffles=30), metrics.bootstrap(joint, seed=3)
    many = (
        metrics.shuffled(joint, seed=3, shuffles=30, n_jobs=n_jobs),
        metrics.bootstrap(joint, seed=3, n_jobs=n_jobs),
    )
    assert one == many
    assert metrics.shuffled(joint, seed=4, shuffles=30) != one[0]


def test_both_ways_to_shuffle_draw_from_one_distribution():
    """Many records on few cells go by SciPy's sampler, few by a shuffle: the means must agree."""
    rng = np.random.default_rng(1)
    joint = drawn(rng, 400, np.outer([0.2, 0.8], [0.1, 0.2, 0.3, 0.4]))
    sampled = metrics.shuffled(joint, shuffles=400)  # 400 records > 8 cells
    s = np.repeat([0, 1], joint.counts.sum(axis=1).astype(int))
    x = np.repeat(np.arange(4), joint.counts.sum(axis=0).astype(int))
    by_hand = []
    for _ in range(400):
        counts = np.zeros((2, 4))
        np.add.at(counts, (rng.permutation(s), x), 1)
        by_hand.append(reference.mutual_information(counts / 400))
    error = np.hypot(np.std(by_hand), sampled.spread_bits) / 20
    assert abs(sampled.mean_bits - np.mean(by_hand)) < 4 * error


def test_a_hundred_million_records_are_shuffled_by_their_counts():
    joint = pf.Joint.from_counts(np.array([[3, 1], [1, 3]]) * 25_000_000)
    found = metrics.shuffled(joint)
    assert found.mean_bits < 1e-6
    assert found.p_value == pytest.approx(1 / 21)
    assert metrics.shuffled(pf.Joint.from_counts(np.eye(400) * 1000), most_work=100_000) is None


def test_one_symbol_has_nothing_to_shuffle():
    """SciPy's sampler returns a negative count here, so it must not be asked."""
    assert (random_table.rvs([1, 2], [3], method="patefield", random_state=0) < 0).any()
    assert metrics.shuffled(pf.Joint.from_counts([[3, 5]])).mean_bits == 0
    assert metrics.shuffled(pf.Joint.from_counts([[3], [5]])).p_value == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"resamples": 3}, "resamples must be at least 20"),
        ({"level": 1.5}, "level must lie between 0 and 1"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
    ],
)
def test_bad_requests_are_refused(options, words):
    with pytest.raises(InvalidInput, match=words):
        metrics.bootstrap(pf.Joint.from_counts([[3, 1], [1, 3]]), **options)


def test_every_piece_of_work_ticks():
    ticks = []
    joint = pf.Joint.from_counts([[30, 10], [10, 30]])
    metrics.shuffled(joint, shuffles=20, tick=lambda: ticks.append(1))
    metrics.bootstrap(joint, resamples=30, tick=lambda: ticks.append(1))
    assert len(ticks) == 50


def records_of(joint: pf.Joint) -> tuple[np.ndarray, np.ndarray]:
    cells = joint.counts.tocoo()
    times = cells.data.astype(int)
    return np.repeat(cells.row, times), np.repeat(cells.col, times)


@pytest.mark.parametrize("counts", [[[2, 1, 0], [0, 1, 2]], [[2, 1], [1, 2]]])  # both samplers
def test_chance_of_a_channel_is_the_mean_over_every_order_of_the_records(counts):
    joint = pf.Joint.from_counts(counts)
    channel = pf.Channel([[0.9, 0.1], [0.4, 0.6], [0.0, 1.0]][: joint.n_x])
    s, x = records_of(joint)
    every = []
    for order in itertools.permutations(s):
        table = np.zeros((joint.n_s, joint.n_x))
        np.add.at(table, (list(order), x), 1 / len(s))
        every.append(reference.mutual_information(table @ channel.matrix.toarray()))
    found = metrics.shuffled(joint, channel, shuffles=2000)
    assert found.mean_bits == pytest.approx(np.mean(every), abs=4 * np.std(every) / 2000**0.5)
    assert found.spread_bits == pytest.approx(np.std(every), rel=0.1)
    measured = channel.push(joint).information
    reached = np.mean(np.array(every) >= measured - 1e-9)
    assert found.p_value == pytest.approx(reached, abs=0.05)


def test_a_channel_of_zeros_and_ones_has_the_chance_of_its_partition():
    joint = independent(0, 5)
    hard = pf.Partition(np.arange(joint.n_x) % 7)
    as_hard = metrics.shuffled(joint, hard, shuffles=400)
    as_soft = metrics.shuffled(joint, pf.Channel(hard.matrix), shuffles=400)
    error = as_hard.spread_bits / 20
    assert as_soft.mean_bits == pytest.approx(as_hard.mean_bits, abs=5 * error)
    assert as_soft.p_value == pytest.approx(as_hard.p_value, abs=0.15)


def test_a_channel_that_tells_nothing_tells_nothing_by_chance_either():
    joint = independent(1, 5)
    nothing = pf.Channel(np.full((joint.n_x, 3), 1 / 3))
    found = metrics.shuffled(joint, nothing)
    assert found.mean_bits == pytest.approx(0, abs=1e-9)
    assert found.p_value == 1
    assert metrics.shuffled(pf.Joint.from_probabilities([[0.5, 0], [0, 0.5]]), nothing) is None


def test_a_channel_that_passes_a_link_on_is_no_chance():
    joint = pf.Joint.from_counts(np.eye(4) * 50)
    channel = pf.Channel(0.5 * np.eye(4) + 0.125)
    found = metrics.shuffled(joint, channel, shuffles=99)
    assert channel.push(joint).information > 10 * found.mean_bits
    assert found.p_value == pytest.approx(0.01)
    assert found == metrics.shuffled(joint, channel, shuffles=99, n_jobs=2)
