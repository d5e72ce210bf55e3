import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import reference
from conftest import joints
from privacyfunnel import Bottleneck, Channel, Funnel, Joint, Partition, limits
from privacyfunnel.errors import InvalidInput
from privacyfunnel.objectives import leakage, utility

lams = st.floats(0, 1)


@given(joints(), lams, st.data())
def test_merging_changes_the_value_by_theorem_1(joint: Joint, lam: float, data: st.DataObject):
    subset = sorted(data.draw(st.sets(st.integers(0, joint.n_x - 1))))
    labels = np.arange(joint.n_x)
    labels[subset] = subset[0] if subset else 0
    funnel, before, after = Funnel(lam), Partition.identity(joint.n_x), Partition(labels)
    change = funnel.value(joint, after) - funnel.value(joint, before)
    theorem = (1 - lam) * reference.f(joint, subset) - reference.g(joint, subset)
    assert change == pytest.approx(theorem, abs=1e-12)
    assert funnel.merge_change(joint, subset) == pytest.approx(theorem, abs=1e-12)
    assert Bottleneck(lam).merge_change(joint, subset) == pytest.approx(-theorem, abs=1e-12)


@given(joints(), st.data())
def test_f_and_g_are_submodular_and_nonincreasing(joint: Joint, data: st.DataObject):
    symbols = st.sets(st.integers(0, joint.n_x - 1))
    a, b = data.draw(symbols), data.draw(symbols)
    for function in (Funnel(0.5).f, Funnel(0.5).g):
        value = {
            name: function(joint, sorted(members))
            for name, members in {"a": a, "b": b, "or": a | b, "and": a & b}.items()
        }
        assert value["a"] + value["b"] >= value["or"] + value["and"] - 1e-12
        assert value["a"] >= value["or"] - 1e-12


@given(joints(), st.data())
def test_informations_and_limits(joint: Joint, data: st.DataObject):
    labels = data.draw(st.lists(st.integers(0, 4), min_size=joint.n_x, max_size=joint.n_x))
    code = Partition(labels)
    leak, kept = leakage(joint, code), utility(joint, code)
    assert leak == pytest.approx(reference.leakage(joint, code), abs=1e-12)
    assert kept == pytest.approx(reference.utility(joint, code), abs=1e-12)
    assert leak <= joint.information + 1e-12
    assert leak >= limits.least_leakage(joint, kept) - 1e-12
    assert leak <= limits.most_relevance(joint, kept) + 1e-12
    shuffled = [9 - label for label in labels]
    assert leakage(joint, Partition(shuffled)) == pytest.approx(leak, abs=1e-12)


@given(joints(max_x=4), st.integers(0, 1000))
def test_soft_codes_keep_the_limits_too(joint: Joint, seed: int):
    rng = np.random.default_rng(seed)
    code = Channel(rng.dirichlet(np.ones(3), size=joint.n_x))
    leak, kept = leakage(joint, code), utility(joint, code)
    expected = reference.mutual_information(joint.p_x[:, None] * code.matrix.toarray())
    assert kept == pytest.approx(expected, abs=1e-12)
    assert limits.least_leakage(joint, kept) - 1e-12 <= leak
    assert leak <= limits.most_relevance(joint, kept) + 1e-12


@given(joints())
def test_the_gap_is_zero_where_x_is_a_function_of_s_and_xhat(joint: Joint):
    assume(joint.n_x > 1)
    disjoint = Joint.from_counts(np.diag(np.asarray(joint.counts.sum(axis=0)).ravel()))
    labels = np.arange(joint.n_x) // 2
    assert limits.gap(disjoint, Partition(labels)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("lam", [-0.1, 1.1, float("nan"), "much", None])
def test_lambda_outside_the_unit_interval_is_refused(lam):
    with pytest.raises(InvalidInput, match=r"lam must"):
        Funnel(lam)


def test_an_unknown_problem_is_refused():
    with pytest.raises(InvalidInput, match="funnel, bottleneck"):
        limits.limit(Joint.from_counts([[1, 1]]), "tunnel", 0.5)


@pytest.mark.parametrize("beta", [0, 0.5, -1, float("nan"), "x", None])
def test_a_beta_that_gains_nothing_is_refused_by_its_own_name(beta):
    with pytest.raises(InvalidInput, match=r"^beta must be a number from 1 on, got "):
        Bottleneck.from_beta(beta)


def test_a_beta_may_be_of_numpy_or_infinite():
    assert Bottleneck.from_beta(np.float32(4)).lam == 0.25
    assert Bottleneck.from_beta(float("inf")).lam == 0.0
