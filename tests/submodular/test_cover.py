"""Cover: one merge under a constraint, beside all merges; the guarantee that is stated for it."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from conftest import random_joint
from privacyfunnel import Bottleneck, Funnel, Joint, solve
from privacyfunnel.errors import InvalidInput
from privacyfunnel.solvers.iac_mdsf import difference
from privacyfunnel.submodular import Complement, MergeEntropy, Shares, cover, greedy_cover, scaled


def small(seed: int) -> tuple[Joint, np.random.Generator]:
    rng = np.random.default_rng(seed)
    return random_joint(rng, int(rng.integers(2, 5)), int(rng.integers(3, 9))), rng


def masks(n: int) -> np.ndarray:
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)


@pytest.mark.parametrize(
    ("objective", "by", "n_joints"),
    [
        (Funnel(0.0), "utility", 200),
        (Funnel(0.0), "mass", 40),
        (Funnel(0.4), "utility", 40),
        (Bottleneck(0.7), "utility", 40),
        (Bottleneck(0.7), "mass", 40),
    ],
)
def test_beside_all_merges(objective, by, n_joints):
    """The budget is met, and no merge within it is better than the bound says."""
    near = []
    for seed in range(n_joints):
        joint, rng = small(seed)
        first, second = difference(joint.counts, joint.total, objective)
        f = MergeEntropy(sp.csc_array(joint.counts.sum(axis=0).reshape(1, -1)), joint.total)
        kept = f if by == "utility" else Shares(joint.p_x)
        lost = -kept.values()
        budget = float(rng.random()) * lost[-1]
        found = cover(first, second, kept, budget, rng=rng)
        best = (first.values() - second.values())[lost <= budget + 1e-12].min()
        assert -kept(found.subset) <= budget + 1e-9
        assert found.value == pytest.approx(first(found.subset) - second(found.subset), abs=1e-9)
        assert best - 1e-9 <= found.value <= 0.0
        assert found.value - found.gap <= best + 1e-9
        near.append(found.value <= 0.5 * best)
    assert np.mean(near) > 0.6


def test_the_theorem_of_the_first_round():
    """For a cost that is a polymatroid: n/(1 + (n−1)(1−κ)) (1 + ln(c/r)) times the least."""
    for seed in range(100):
        joint, rng = small(seed)
        g, f = MergeEntropy(joint.counts, joint.total), Shares(joint.p_x)
        a, h = Complement(g), Complement(f)
        budget = float(rng.random())
        demand = 1.0 - budget
        every = masks(joint.n_x)
        least = min(a(out) for out in every if h(out) >= demand - 1e-12)
        found = cover(g, scaled(g, 0.0), f, budget, rng=rng, starts=1)
        nothing, everything = every[0], every[-1]
        alone, last = a.gains(nothing), a.gains(everything)
        curvature = 1.0 - np.min(last[alone > 1e-12] / alone[alone > 1e-12], initial=1.0)
        out, missing = alone <= 0.0, demand
        while (
            demand - h(out) > 1e-12
        ):  # greedy once more, for what was missing before its last step
            missing = demand - h(out)
            useful = np.minimum(h.gains(out), missing) / np.where(out, np.inf, alone)
            out[np.argmax(useful)] = True
        n = joint.n_x
        factor = n / (1 + (n - 1) * (1 - curvature)) * (1 + math.log(max(1.0, demand / missing)))
        assert a(~found.subset) <= factor * least + 1e-9


def test_complement_is_a_polymatroid():
    joint, rng = small(5)
    h = Complement(MergeEntropy(joint.counts, joint.total))
    slow = [h(out) for out in masks(joint.n_x)]
    assert min(slow) == slow[0] == 0.0
    order = rng.permutation(joint.n_x)
    prefix = np.zeros(joint.n_x, dtype=bool)
    for j, gain in zip(order, h.chain(order), strict=True):
        before = h(prefix)
        assert h.gains(prefix)[j] == pytest.approx(gain)
        prefix[j] = True
        assert gain == pytest.approx(h(prefix) - before)
        assert gain >= -1e-12


def test_greedy_takes_what_is_free_and_drops_what_is_not_needed():
    h = Complement(Shares(np.array([0.5, 0.25, 0.25])))
    assert greedy_cover(np.array([-1.0, 1.0, 1.0]), h, 0.5).tolist() == [True, False, False]
    assert greedy_cover(np.array([4.0, 1.0, 1.0]), h, 0.6).tolist() == [True, False, True]
    assert greedy_cover(np.ones(3), h, 2.0).all()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.9, 1.0])
def test_iac_meets_a_utility_without_lambda(share):
    joint = random_joint(np.random.default_rng(3), 5, 24)
    found = solve(joint, Funnel(0.0), "iac-mdsf", mdsf="cover", utility=share)
    assert found.utility >= share * joint.entropy_x - 1e-9
    values = [step.value for step in found.history]
    assert values == sorted(values, reverse=True)
    assert found.leakage <= joint.information + 1e-12
    if share == 0.6:
        best = solve(joint, Funnel(0.0), "iac-mdsf", mdsf="cover", utility=share, seed=1)
        assert max(found.leakage, best.leakage) < 0.8 * joint.information


@pytest.mark.parametrize(
    "settings", [{"mdsf": "cover"}, {"utility": 0.5}, {"mdsf": "cover", "utility": 1.5}]
)
def test_cover_goes_with_a_utility(settings):
    with pytest.raises(InvalidInput, match="utility"):
        solve(small(0)[0], Funnel(0.0), "iac-mdsf", **settings)
