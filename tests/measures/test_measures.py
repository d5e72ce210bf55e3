"""Every measure: its value, its sum over clusters, and what merging does to it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chi2_contingency
from sklearn.metrics import mutual_info_score

import reference
from conftest import random_joint
from privacyfunnel.codes import Channel, Partition
from privacyfunnel.errors import InvalidInput
from privacyfunnel.measures import MEASURES, Arimoto, make_measure
from privacyfunnel.metrics import best_guess, blind_guess, maximal_leakage

NAMES = [
    "shannon", "guessing", "chi-square", "total-variation", "maximal-leakage",
    "arimoto:0.5", "arimoto:2", "arimoto:7.5",
]  # fmt: skip


def many(n: int = 200):
    rng = np.random.default_rng(0)
    for _ in range(n):
        yield random_joint(rng, *rng.integers(1, 7, size=2), whole=bool(rng.integers(2)))


@pytest.mark.parametrize("name", NAMES)
def test_a_measure_is_what_its_definition_says(name: str):
    measure = make_measure(name)
    assert make_measure(measure.spelled) == measure
    for joint in many():
        p_sx = joint.p_sx.toarray()
        expected = reference.measure(measure.name, p_sx, measure.order)
        assert measure(joint.p_sx) == pytest.approx(expected, abs=1e-9)
        assert measure(p_sx) == pytest.approx(expected, abs=1e-9)
        amount = measure.told(joint.p_sx)
        assert measure.amount(measure(joint.p_sx), joint.p_s) == pytest.approx(amount, abs=1e-9)
        assert measure.whole(joint.p_s) >= measure(joint.p_sx) - 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_merging_never_raises_a_measure_and_its_price_is_that_of_the_merged(name: str):
    measure, rng = make_measure(name), np.random.default_rng(1)
    for joint in many():
        labels = np.arange(joint.n_x)
        pair = rng.integers(joint.n_x, size=2)
        labels[labels == pair[0]] = pair[1]
        p_sc = joint.p_sx @ Partition(labels).matrix
        assert measure(p_sc) <= measure(joint.p_sx) + 1e-12
        change = measure.told(p_sc) - measure.told(joint.p_sx)
        if pair[0] != pair[1]:
            parts = joint.p_sx[:, pair].toarray()
            one = measure.clusters(parts.sum(axis=1, keepdims=True), joint.p_s)[0]
            assert change == pytest.approx(one - measure.clusters(parts, joint.p_s).sum(), abs=1e-9)
        noisy = Channel(rng.dirichlet(np.ones(3), size=joint.n_x))
        assert measure(joint.p_sx @ noisy.matrix) <= measure(joint.p_sx) + 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_clusters_are_homogeneous(name: str):
    measure, rng = make_measure(name), np.random.default_rng(2)
    q, p = rng.random((4, 3)), rng.dirichlet(np.ones(4))
    assert measure.clusters(7.5 * q, p) == pytest.approx(7.5 * measure.clusters(q, p))
    assert measure.clusters(sp.csc_array(q), p) == pytest.approx(measure.clusters(q, p))


@pytest.mark.parametrize("name", NAMES)
def test_no_release_reads_less_than_its_bits_allow(name: str):
    measure = make_measure(name)
    for joint in many():
        least = measure.least(joint.information, joint.p_s)
        assert least is None or measure(joint.p_sx) >= least - 1e-9


def test_other_libraries_agree():
    for joint in many(40):
        if joint.n_records is None or min(joint.n_s, joint.n_x) < 2:
            continue
        counts = joint.counts.toarray().astype(int)
        s, x = np.repeat(np.indices(counts.shape).reshape(2, -1), counts.ravel(), axis=1)
        nats = mutual_info_score(s, x)
        assert make_measure("shannon")(joint.p_sx) == pytest.approx(nats / np.log(2), abs=1e-9)
        pearson = chi2_contingency(counts, correction=False).statistic
        chi_square = make_measure("chi-square")(joint.p_sx)
        assert chi_square * joint.n_records == pytest.approx(pearson, abs=1e-6)


def test_dit_agrees():
    dit = pytest.importorskip("dit")
    from dit.divergences import variational_distance
    from dit.other import maximal_leakage as dits_leakage

    for joint in many(25):
        if min(joint.n_s, joint.n_x) < 2:
            continue
        cells = np.argwhere(np.ones((joint.n_s, joint.n_x)))
        outcomes = [(int(s), int(x)) for s, x in cells]
        p, q = (
            dit.Distribution(outcomes, table.ravel().tolist())
            for table in (joint.p_sx.toarray(), np.outer(joint.p_s, joint.p_x))
        )
        shannon = float(dit.multivariate.coinformation(p, [[0], [1]]))
        assert make_measure("shannon")(joint.p_sx) == pytest.approx(shannon, abs=1e-9)
        apart = float(variational_distance(p, q))
        assert make_measure("total-variation")(joint.p_sx) == pytest.approx(apart, abs=1e-9)
        worst = float(dits_leakage(p, [0], [1]))
        assert make_measure("maximal-leakage")(joint.p_sx) == pytest.approx(worst, abs=1e-9)


def test_arimoto_lies_between_shannon_and_the_best_guess():
    for joint in many(40):
        near = Arimoto(1.0001)(joint.p_sx)
        assert near == pytest.approx(joint.information, abs=2e-3)
        gain = np.log2(best_guess(joint) / blind_guess(joint))
        assert Arimoto(300.0)(joint.p_sx) == pytest.approx(gain, abs=0.03)


def test_the_metrics_are_the_measures():
    for joint in many(40):
        gain = best_guess(joint) - blind_guess(joint)
        assert make_measure("guessing")(joint.p_sx) == pytest.approx(gain, abs=1e-12)
        assert maximal_leakage(joint) == make_measure("maximal-leakage")(joint.p_sx)


@pytest.mark.parametrize("wrong", ["bits", "arimoto:1", "arimoto:x", "arimoto:-2", "guessing:2", 3])
def test_a_measure_that_is_none_is_refused_in_words(wrong):
    with pytest.raises(InvalidInput, match=r"measure must be|order of arimoto"):
        make_measure(wrong)


@pytest.mark.parametrize("name", list(MEASURES))
def test_every_measure_has_its_sentence(name: str):
    joint = random_joint(np.random.default_rng(3), 3, 5)
    measure = make_measure(name)
    sentence = measure.sentence("race", measure(joint.p_sx), joint.p_s)
    assert "race" in sentence
    assert not sentence.endswith(".")


@pytest.mark.parametrize("order", [0.5, 0.51, 0.9, 3.5, 40.0])
def test_arimoto_is_right_to_nine_digits_on_many_values(order: float):
    """In the log domain, as the twin computes it: nothing cancels there."""
    rng = np.random.default_rng(1)
    for counts in (np.eye(1000), 3 * np.eye(300) + (rng.random((300, 300)) < 0.02)):
        p_sx = counts / counts.sum()
        expected = reference.measure("arimoto", p_sx, order)
        assert Arimoto(order)(p_sx) == pytest.approx(expected, rel=1e-9)


def test_arimoto_of_little_is_read_and_taken_back_without_loss():
    p_s = np.full(10, 0.1)
    for order in (0.5, 2.0):
        amount = 1e-13 * abs(Arimoto(order).at_rest(p_s))
        reading = Arimoto(order).reading(amount, p_s)
        expected = order / abs(order - 1) * 1e-13 / np.log(2)
        assert reading == pytest.approx(expected, rel=1e-9, abs=0)
        assert Arimoto(order).amount(reading, p_s) == pytest.approx(amount, rel=1e-9, abs=0)


@pytest.mark.parametrize("order", [0.05, 0.49, 0.0, float("nan")])
def test_orders_that_rounding_would_drown_are_refused(order: float):
    with pytest.raises(InvalidInput, match=r"must be 0\.5 or more and not 1, got"):
        Arimoto(order)
