"""The optimal bottleneck for a binary S: equal to exhaustive search and to the plain program."""

import numpy as np
import pytest

import reference
from conftest import random_joint
from privacyfunnel import Bottleneck, Funnel, Joint, Partition, Status, solve
from privacyfunnel._kernels.quantizer import best_intervals, best_of_size
from privacyfunnel.errors import InvalidInput
from privacyfunnel.objectives import leakage, utility
from privacyfunnel.solvers.best import BestSearch
from privacyfunnel.solvers.exhaustive import ExhaustiveSearch
from privacyfunnel.solvers.quantizer import OptimalQuantizer, quantize, supporting
from privacyfunnel.solvers.target import Target


def binary(seed: int) -> Joint:
    rng = np.random.default_rng(seed)
    return random_joint(rng, int(rng.integers(1, 3)), int(rng.integers(1, 11)))


def test_equal_to_exhaustive_search_on_300_joints():
    for seed in range(300):
        joint, rng = binary(seed), np.random.default_rng(seed)
        objective = Bottleneck(float(rng.choice([0.0, 1.0, rng.random(), 0.2 * rng.random()])))
        found = OptimalQuantizer().solve(joint, objective, rng=rng)
        best = ExhaustiveSearch().solve(joint, objective, rng=rng)
        assert found.value == pytest.approx(best.value, abs=1e-12)
        assert found.status is Status.OPTIMAL


@pytest.mark.parametrize("seed", range(20))
def test_sizes_equal_to_all_partitions(seed):
    rng = np.random.default_rng(seed)
    joint = random_joint(rng, 2, 7)
    codes = [Partition(labels) for labels in reference.partitions(joint.n_x)]
    for n in range(1, 8):
        best = max(leakage(joint, code) for code in codes if code.n_symbols <= n)
        found = quantize(joint, n)
        assert found.n_symbols <= n
        assert found.leakage == pytest.approx(best, abs=1e-12)


def prefix_sums(rng: np.random.Generator, n: int, skewed: bool) -> np.ndarray:
    p = rng.pareto(1.0, n) + 1e-6 if skewed else rng.random(n) + 0.01
    theta = np.sort(rng.beta(0.4, 1.5, n))
    cells = np.c_[p * theta, p * (1 - theta)] / p.sum()
    return np.vstack([np.zeros(2), np.cumsum(cells, axis=0)])


def total(sums: np.ndarray, cuts: np.ndarray, lam: float) -> float:
    end, value = len(sums) - 1, 0.0
    while end > 0:
        value += reference.interval_costs(sums, end, lam)[cuts[end]]
        end = cuts[end]
    return value


SIZES = [1, 2, 3, 10, 97, 400, 1000, 2000, pytest.param(6000, marks=pytest.mark.slow)]


@pytest.mark.parametrize("n", SIZES)  # up to 20,000: benchmarks/searches.py binary
@pytest.mark.parametrize("lam", [0.003, 0.1])
def test_skipping_blocks_loses_nothing(n, lam):
    """The same value as the plain program of n²/2 prices, whatever the size of the blocks."""
    sums = prefix_sums(np.random.default_rng(n), n, skewed=n % 2 == 0)
    plain = reference.best_intervals(sums, lam)
    for block in {2, max(2, int(n**0.5))} if n < 1000 else {int(n**0.5)}:
        assert total(sums, best_intervals(sums, lam, block), lam) == pytest.approx(plain, abs=1e-9)


@pytest.mark.parametrize("n", [2, 9, 150])
def test_the_quadrangle_inequality_loses_nothing(n):
    sums = prefix_sums(np.random.default_rng(n), n, skewed=True)
    plain = reference.intervals_of_size(sums, min(n, 6))
    cuts = best_of_size(sums, min(n, 6))
    for k, expected in enumerate(plain):
        end, value = n, 0.0
        for row in cuts[k::-1]:
            value += reference.interval_costs(sums, end, 0.0)[row[end]]
            end = row[end]
        assert end == 0
        assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("quantity", ["utility", "leakage"])
def test_no_code_lies_above_the_chord(seed, quantity):
    rng = np.random.default_rng(seed)
    joint = random_joint(rng, 2, 7)
    whole = joint.entropy_x if quantity == "utility" else joint.information
    bits = float(rng.random()) * whole
    around = supporting(joint, Target("bottleneck", quantity, bits))
    codes = [Partition(labels) for labels in reference.partitions(joint.n_x)]
    points = np.array([(utility(joint, code), leakage(joint, code)) for code in codes])
    assert 1 <= len(around) <= 2
    lam = around[-1].objective.lam
    if len(around) == 2:
        low, high = around
        lam = (high.leakage - low.leakage) / (high.utility - low.utility)
        column = 0 if quantity == "utility" else 1
        assert (low.utility, low.leakage)[column] <= bits <= (high.utility, high.leakage)[column]
    for found in around:
        assert (
            points[:, 1] - lam * points[:, 0] <= found.leakage - lam * found.utility + 1e-9
        ).all()


def test_between_supporting_codes_the_best_need_not_be_intervals():
    """Why a target between two supporting codes is searched for, and not proved by intervals."""
    joint = Joint.from_counts([[7, 1, 1, 9], [6, 6, 5, 4]])
    order = np.argsort(joint.counts.toarray()[0] / joint.counts.toarray().sum(axis=0))
    best: dict[bool, float] = {}
    for labels in reference.partitions(4):
        code = Partition(labels)
        if utility(joint, code) <= 0.62:
            jumps = int(np.count_nonzero(np.diff(code.labels[order]))) + 1
            intervals = jumps == code.n_symbols
            best[intervals] = max(best.get(intervals, 0.0), leakage(joint, code))
    assert best[False] > best[True] + 0.05


def test_more_values_of_s_or_the_funnel_are_refused():
    joint = random_joint(np.random.default_rng(0), 3, 5)
    with pytest.raises(InvalidInput, match="two sensitive values"):
        solve(joint, Bottleneck(0.1), "quantizer")
    with pytest.raises(InvalidInput, match="the funnel"):
        solve(binary(3), Funnel(0.1), "quantizer")


@pytest.mark.parametrize("seed", range(4))
def test_best_meets_targets_between_the_corners(seed):
    """Never below the corner on the allowed side, never above the chord, proved on a corner."""
    rng = np.random.default_rng(seed)
    joint = Joint.from_counts(rng.integers(1, 40, size=(2, 25)))
    target = Target("bottleneck", "utility", 0.6 * joint.entropy_x)
    low, high = supporting(joint, target)
    found = BestSearch(effort="fast").solve_at(joint, target, rng=rng)
    slope = (high.leakage - low.leakage) / (high.utility - low.utility)
    assert found.utility <= target.bits + 1e-9
    chord = low.leakage + slope * (target.bits - low.utility)
    assert low.leakage - 1e-9 <= found.leakage <= chord + 1e-9
    corner = Target("bottleneck", "utility", low.utility)
    again = BestSearch(effort="fast").solve_at(joint, corner, rng=rng)
    assert again.status is Status.OPTIMAL
    assert again.leakage == pytest.approx(low.leakage, abs=1e-12)


@pytest.mark.parametrize(("quantity", "share"), [("utility", 0.3), ("leakage", 0.97)])
def test_targets_of_large_alphabets_lie_between_the_corners(quantity, share):
    rng = np.random.default_rng(2)
    joint = Joint.from_counts(rng.poisson(rng.gamma(0.7, 12.0, size=(2, 900))) + 1)
    whole = joint.entropy_x if quantity == "utility" else joint.information
    target = Target("bottleneck", quantity, share * whole)
    low, high = supporting(joint, target)
    found = BestSearch(effort="fast").solve_at(joint, target, rng=rng)
    slope = (high.leakage - low.leakage) / (high.utility - low.utility)
    assert target.price.of(found.leakage, found.utility) < np.inf
    assert found.leakage <= low.leakage + slope * (found.utility - low.utility) + 1e-9
    worst = low if quantity == "utility" else high
    assert target.price.of(found.leakage, found.utility) <= target.price.of(
        worst.leakage, worst.utility
    )
