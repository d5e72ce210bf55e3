"""Measures of a joint against brute force, scikit-learn and pycanon."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from pycanon import anonymity
from sklearn.metrics import mutual_info_score

import privacyfunnel as pf
import reference
from conftest import joints
from privacyfunnel import metrics
from privacyfunnel.columns import Column
from privacyfunnel.errors import InvalidInput
from privacyfunnel.joint import Joint
from privacyfunnel.metrics.stakes import stakes
from privacyfunnel.tables import count


@given(joints(max_s=3, max_x=5))
def test_leaks_equal_brute_force(joint):
    p_sx = joint.p_sx.toarray()
    best, surest = reference.guess(p_sx)
    lifts = reference.log_lifts(p_sx)
    assert metrics.best_guess(joint) == pytest.approx(best)
    assert metrics.surest_guess(joint) == pytest.approx(surest)
    assert metrics.blind_guess(joint) == pytest.approx(p_sx.sum(axis=1).max())
    assert metrics.entropy_after(joint) == pytest.approx(
        reference.conditional_entropy(p_sx), abs=1e-9
    )
    assert metrics.largest_lift(joint) == pytest.approx(max(0.0, *lifts, 0.0), abs=1e-9)
    assert metrics.largest_log_lift(joint) == pytest.approx(max(map(abs, lifts)), abs=1e-9)


@given(joints(max_s=3, max_x=5))
def test_maximal_leakage_is_the_worst_gain_over_what_can_be_guessed(joint):
    p_sx = joint.p_sx.toarray()
    found = metrics.maximal_leakage(joint)
    assert found == pytest.approx(reference.maximal_leakage(p_sx), abs=0.01)
    plain = math.log2(sum(max(p_sx[:, x] / p_sx.sum(axis=1)) for x in range(joint.n_x)))
    assert found == pytest.approx(plain, abs=1e-12)
    assert found >= joint.information - 1e-9  # it bounds mutual information


def test_a_copy_and_an_independent_release_are_the_two_ends():
    copy = metrics.evaluate(pf.Joint.from_counts(np.diag([5, 5, 5, 5])))
    assert (copy.leakage, copy.guess_seeing, copy.maximal_leakage, copy.lift) == (1, 1, 2, 2)
    assert (copy.log_lift, copy.k, copy.l_diversity, copy.t_closeness) == (math.inf, 5, 1, 0.75)
    apart = metrics.evaluate(pf.Joint.from_counts(np.outer([1, 3], [2, 2])))
    assert apart.information == apart.maximal_leakage == apart.log_lift == 0
    assert apart.t_closeness == pytest.approx(0)
    assert apart.guess_seeing == apart.guess_blind == 0.75


def test_mutual_information_is_scikit_learns(hungarian):
    joint = pf.Joint.from_table(hungarian, "age", "chol")
    theirs = mutual_info_score(hungarian.age, hungarian.chol) / math.log(2)
    assert metrics.evaluate(joint).information == pytest.approx(theirs, abs=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_mutual_information_is_scikit_learns_on_random_rows(seed):
    rng = np.random.default_rng(seed)
    s, x = rng.integers(6, size=500), rng.integers(9, size=500)
    joint = pf.Joint.from_table(pd.DataFrame({"s": s, "x": x}), "s", "x")
    theirs = mutual_info_score(s, x) / math.log(2)
    assert joint.information == pytest.approx(theirs, abs=1e-12)


def generated(seed: int) -> tuple[pd.DataFrame, list[str], list[str]]:
    """A table, its sensitive and its public columns; text, whole and broken numbers in turn."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "city": rng.choice(["Bonn", "Pisa", "Rom"], 400),
            "year": rng.integers(1950, 1953, 400),
            "weight": rng.choice([50.5, 60.25, 71.0, 99.9], 400, p=[0.1, 0.2, 0.3, 0.4]),
            "illness": rng.choice(["a", "b", "c", "d"], 400, p=[0.4, 0.3, 0.2, 0.1]),
            "visits": rng.integers(0, 7, 400),
        }
    )
    sensitive = [["illness"], ["visits", "weight"], ["illness", "visits"]][seed]
    return table, sensitive, [["city", "year"], ["city"], ["city", "year", "weight"]][seed]


def demo() -> tuple[pd.DataFrame, list[str], list[str]]:
    return pf.datasets.load_demo(), ["age", "sex"], ["sex", "chol"]


# pycanon groups by a list of one name, which pandas will change some day.
pycanons = pytest.mark.filterwarnings("ignore:In a future version, the keys")


@pycanons
@pytest.mark.parametrize("made", [demo, *(lambda s=s: generated(s) for s in range(3))])
def test_k_l_and_t_are_pycanons(made):
    table, sensitive, public = made()
    counts = count(table, sensitive, public)
    found = metrics.evaluate(counts.joint(), sensitive=counts.roles.sensitive)
    assert found.k == anonymity.k_anonymity(table, public)
    assert found.l_diversity == anonymity.l_diversity(table, public, sensitive)
    assert found.t_closeness == pytest.approx(anonymity.t_closeness(table, public, sensitive))
    sizes = table.groupby(public).size()
    assert found.unique == pytest.approx((sizes == 1).sum() / len(table))


@pycanons
@pytest.mark.parametrize("made", [lambda s=s: generated(s) for s in range(3)])
def test_each_column_is_pycanons_too(made):
    table, sensitive, public = made()
    counts = count(table, sensitive, public)
    for column in metrics.evaluate(counts.joint(), sensitive=counts.roles.sensitive).columns:
        assert column.l_diversity == anonymity.l_diversity(table, public, [column.name])
        theirs = anonymity.t_closeness(table, public, [column.name])
        assert column.t_closeness == pytest.approx(theirs)


def test_t_is_the_same_in_blocks(monkeypatch):
    joint = pf.Joint.from_counts(np.random.default_rng(0).integers(1, 9, size=(7, 40)))
    whole = [metrics.t_closeness(joint, ordered=o) for o in (True, False)]
    monkeypatch.setattr(metrics.anonymity, "_BLOCK", 21)
    assert [metrics.t_closeness(joint, ordered=o) for o in (True, False)] == pytest.approx(whole)


def test_t_is_not_available_where_it_makes_no_sense():
    table = pd.DataFrame({"age": [40, None, 61, 61], "sex": ["f"] * 4, "x": list("abab")})
    counts = count(table, ["age", "sex"], "x")
    age, sex = metrics.evaluate(counts.joint(), sensitive=counts.roles.sensitive).columns
    assert age.t_closeness is None
    assert "missing" in age.why_no_t
    assert sex.t_closeness is None
    assert "one value" in sex.why_no_t
    with pytest.raises(InvalidInput, match="at least two values"):
        metrics.t_closeness(pf.Joint.from_counts([[1, 2]]), ordered=True)


def test_weights_are_not_records():
    joint = replace(pf.Joint.from_counts([[3, 1], [1, 3]]), n_records=None)
    found = metrics.evaluate(joint)
    assert found.k is None
    assert found.unique is None
    assert found.leakage > 0
    for refused in (metrics.k_anonymity, metrics.miller_madow, metrics.shrinkage):
        with pytest.raises(InvalidInput, match="weights"):
            refused(joint)
    coded = metrics.evaluate(joint, pf.Partition([0, 0]))
    assert coded.k is None


def test_a_code_is_measured_as_what_it_releases():
    joint = pf.Joint.from_counts([[4, 0, 1], [0, 4, 1]])
    hard = metrics.evaluate(joint, pf.Partition([0, 0, 1]))
    assert hard.information == pytest.approx(0)
    assert (hard.k, hard.guess_seeing) == (2, 0.5)
    soft = metrics.evaluate(joint, pf.Channel([[0.5, 0.5]] * 3))
    assert soft.information == pytest.approx(0)
    assert soft.k is None


def test_columns_of_s_are_taken_apart_in_their_own_order():
    labels = [("b", 10), ("b", 9), ("a", None), ("a", 10)]
    joint = pf.Joint.from_counts(np.eye(4), labels)
    columns = [Column("letter", "text"), Column("number", "integer")]
    found = [alone.labels_s for _, alone in metrics.by_column(joint, columns)]
    assert found == [("a", "b"), (9, 10, None)]


@given(joints(max_s=3, max_x=4))
def test_who_knows_all_others_guesses_as_a_plain_simulation_does(joint):
    assert metrics.informed_guess(joint) == pytest.approx(reference.informed_guess(joint.counts))


def test_who_knows_all_others_sees_through_a_balanced_release():
    """A release that gives away nothing is balanced to the last record, so one that lacks shows."""
    rng = np.random.default_rng(3)
    joint = pf.Joint.from_counts(rng.integers(1, 9, size=(2, 12)))
    code = pf.frontier(joint, n_points=3, effort="fast").at(utility=0.3).code
    released = metrics.evaluate(joint, code)
    assert released.leakage < 0.01
    assert released.guess_informed > 0.9 > released.guess_seeing
    soft = pf.Channel(code.matrix)
    assert metrics.evaluate(joint, soft).guess_informed is None  # records are not counted


def test_few_records_are_told_where_chance_is_a_real_share():
    rng = np.random.default_rng(0)

    def found(n, n_s, n_x, link):
        s = rng.integers(0, n_s, n)
        x = np.where(rng.random(n) < link, s % n_x, rng.integers(0, n_x, n))
        return stakes(Joint.from_counts(np.histogram2d(s, x, [n_s, n_x])[0]))

    many = found(7_214, 60, 8, 0.0)  # chance explains it all, but it is next to nothing
    assert many.chance.mean_bits > 0.9 * many.information
    assert not many.few_records
    assert not found(7_214, 60, 8, 0.5).few_records
    assert found(300, 60, 40, 0.0).few_records
