import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import reference
from conftest import joints, random_joint
from privacyfunnel import Bottleneck, Funnel, Joint
from privacyfunnel.errors import InvalidInput
from privacyfunnel.solvers.iac_mdsf import MDSF, difference
from privacyfunnel.submodular import (
    Affine,
    MergeEntropy,
    SetFunction,
    best_prefix,
    exhaustive,
    min_norm_point,
    scaled,
    ssp,
)
from privacyfunnel.submodular.functions import lower_bound, upper_bounds


class Plain(SetFunction):
    """A set function that only answers F(W): every other method is the protocol's own."""

    def __init__(self, inner: SetFunction):
        self.inner, self.n = inner, inner.n

    def __call__(self, subset):
        return self.inner(subset)


class Cut(SetFunction):
    """The cut of a weighted graph less a modular reward: a classic submodular function."""

    def __init__(self, rng: np.random.Generator, n: int):
        self.n = n
        self.weights = np.triu(rng.random((n, n)), 1)
        self.reward = rng.normal(size=n)

    def __call__(self, subset):
        crossing = subset[:, None] != subset[None, :]
        return float((self.weights * crossing).sum() - self.reward[subset].sum())


def masks(n: int):
    return st.lists(st.booleans(), min_size=n, max_size=n).map(np.array)


@given(joints(max_x=6), st.data())
def test_merge_entropy_equals_the_definition_in_every_method(joint: Joint, data):
    function = MergeEntropy(joint.counts, joint.total)
    subset = data.draw(masks(joint.n_x))
    expected = reference.g(joint, list(np.flatnonzero(subset)))
    assert function(subset) == pytest.approx(expected, abs=1e-12)
    order = np.array(data.draw(st.permutations(range(joint.n_x))))
    plain = Plain(function)
    assert np.allclose(function.chain(order), plain.chain(order), atol=1e-12)
    assert np.allclose(function.gains(subset), plain.gains(subset), atol=1e-12)
    assert np.allclose(function.values(), plain.values(), atol=1e-12)
    shifted = Affine(function, 0.7, np.arange(joint.n_x) - 1.5)
    assert np.allclose(shifted.gains(subset), Plain(shifted).gains(subset), atol=1e-12)
    assert np.allclose(shifted.values(), Plain(shifted).values(), atol=1e-12)


@given(joints(max_x=6), st.data())
def test_modular_bounds_bound(joint: Joint, data):
    function = MergeEntropy(joint.counts, joint.total)
    subset = data.draw(masks(joint.n_x))
    order = np.concatenate([np.flatnonzero(subset), np.flatnonzero(~subset)])
    below = lower_bound(function, order)
    assert below[subset].sum() == pytest.approx(function(subset), abs=1e-12)
    for other in reference.subsets(joint.n_x):
        w = np.isin(np.arange(joint.n_x), other)
        assert below[w].sum() <= function(w) + 1e-12
        for above in upper_bounds(function, subset):
            bound = function(subset) + above[w].sum() - above[subset].sum()
            assert bound >= function(w) - 1e-12


def test_closed_form_and_min_norm_agree_on_200_random_joints():
    rng = np.random.default_rng(0)
    for _ in range(200):
        joint = random_joint(rng, int(rng.integers(2, 6)), int(rng.integers(2, 25)))
        first, second = difference(joint.counts, joint.total, Funnel(rng.random()))
        bound = lower_bound(second, rng.permutation(joint.n_x))
        inner = Affine(first.inner, first.scale, -bound)
        closed, general = best_prefix(inner), min_norm_point(inner)
        assert closed.value == pytest.approx(general.value, abs=1e-9)
        assert closed.value == pytest.approx(inner(closed.subset), abs=1e-9)
        assert general.gap is not None
        assert general.gap <= 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_min_norm_point_minimises_any_submodular_function(seed):
    cut = Cut(np.random.default_rng(seed), 9)
    found = min_norm_point(cut)
    assert found.value == pytest.approx(cut.values().min(), abs=1e-9)
    assert cut(found.subset) == pytest.approx(found.value, abs=1e-9)


def test_min_norm_point_stopped_early_reports_its_gap():
    found = min_norm_point(Cut(np.random.default_rng(3), 12), max_iter=2)
    best = Cut(np.random.default_rng(3), 12).values().min()
    assert found.gap > 0
    assert found.value - found.gap <= best + 1e-12


@pytest.mark.parametrize("mdsf", ["ssp", "ssp-minnorm", "supsub", "modmod"])
@pytest.mark.parametrize("problem", [Funnel, Bottleneck])
def test_mdsf_is_never_better_than_exhaustive(mdsf, problem):
    rng = np.random.default_rng(1)
    for _ in range(25):
        joint = random_joint(rng, int(rng.integers(2, 5)), int(rng.integers(2, 11)))
        first, second = difference(joint.counts, joint.total, problem(rng.random()))
        best = exhaustive(first, second)
        found = MDSF[mdsf](first, second, rng=rng)
        assert found.value >= best.value - 1e-9
        assert found.value == pytest.approx(first(found.subset) - second(found.subset), abs=1e-9)
        assert found.value <= 1e-12


def test_ssp_with_default_starts_equals_exhaustive_on_nine_in_ten():
    rng = np.random.default_rng(2)
    hits, n_joints = 0, 100
    for _ in range(n_joints):
        joint = random_joint(rng, int(rng.integers(2, 6)), int(rng.integers(2, 13)))
        first, second = difference(joint.counts, joint.total, Funnel(rng.random()))
        found = ssp(first, second, rng=rng).value
        hits += found <= exhaustive(first, second).value + 1e-6
    assert hits >= 0.9 * n_joints


def test_minimisers_take_any_set_functions():
    cut, card = Cut(np.random.default_rng(5), 7), MergeEntropy(sp.csc_array(np.ones((1, 7))), 7.0)
    for mdsf in ("supsub", "modmod", "ssp"):
        first = scaled(cut, 1.0)
        found = MDSF[mdsf](first, card, rng=np.random.default_rng(0))
        assert found.value >= exhaustive(cut, card).value - 1e-9


def test_exhaustive_refuses_large_sets():
    function = scaled(MergeEntropy(sp.csc_array(np.ones((1, 21)))), 1.0)
    with pytest.raises(InvalidInput, match="at most 20"):
        exhaustive(function, function)


@pytest.mark.parametrize("whole", [True, False])
def test_the_compiled_step_equals_bound_and_prefix(whole):
    """One compiled step of SSP against its parts: lower bound along the order, then best prefix."""
    from privacyfunnel._kernels.sets import _apart, _difference, prefix_step, workspace_for

    rng = np.random.default_rng(8)
    for _ in range(30):
        joint = random_joint(rng, 4, 15, whole=whole)
        first, second = difference(joint.counts, joint.total, Funnel(rng.random()))
        order = rng.permutation(joint.n_x)
        expected = best_prefix(Affine(first.inner, first.scale, -lower_bound(second, order)))
        f, g = first.inner, second.inner
        masses, scales = f.columns[2], (first.scale / f.total, second.scale / g.total)
        apart = _apart(g.columns, masses, g.table, scales)
        highest = scales[0] * (np.log2(masses.sum()) + 1 / np.log(2))
        desk = workspace_for(g.columns, masses)
        size = prefix_step(g.columns, masses, apart, highest, g.table, scales, order, desk)
        found = desk[0][:size]
        mask = np.isin(np.arange(joint.n_x), found)
        bound = Affine(first.inner, first.scale, -lower_bound(second, order))
        assert bound(mask) == pytest.approx(expected.value, abs=1e-9)
        value = _difference(g.columns, masses, apart, g.table, scales, found, desk[-1])
        assert value == pytest.approx(first(mask) - second(mask), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_thresholds_find_the_bottlenecks_best_merge_or_nearly(seed):
    from conftest import random_joint
    from privacyfunnel import Bottleneck
    from privacyfunnel.solvers.iac_mdsf import difference
    from privacyfunnel.submodular import exhaustive, threshold

    rng = np.random.default_rng(seed)
    joint = random_joint(rng, 4, 9)
    objective = Bottleneck(float(rng.uniform(0.2, 0.9)))
    first, second = difference(joint.counts, joint.total, objective)
    found, best = threshold(first, second, rng=rng, starts=60), exhaustive(first, second)
    change = objective.merge_change(joint, found.subset) if found.subset.any() else 0.0
    assert found.value == pytest.approx(change, abs=1e-12)
    assert best.value - 1e-12 <= found.value <= 0.9 * best.value + 1e-12
