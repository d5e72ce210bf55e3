"""Attackers: they find what is there, do not find what is not, and are measured as scikit-learn does."""

import math
from datetime import date, datetime

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, log_loss

import privacyfunnel as pf
from privacyfunnel.audits import attack, attacks
from privacyfunnel.audits.attackers import ATTACKERS, with_unseen
from privacyfunnel.audits.features import MOST_CATEGORIES, features
from privacyfunnel.columns import Bins, Column
from privacyfunnel.errors import InvalidInput
from privacyfunnel.tables import count


def attacked(table: pd.DataFrame, sensitive: list[str], public: list[str], **options):
    counts = count(table, sensitive, public)
    found = attack(counts.joint(), counts.roles.sensitive, counts.roles.public, **options)
    return {(a.column, a.attacker): a for a in found}


def linked(n: int = 400) -> pd.DataFrame:
    """Illness follows weight, which only its size tells; the ward tells nothing; sex is in both roles."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"weight": rng.normal(70, 10, n).round(3), "sex": rng.choice(["f", "m"], n)}
    )
    table["ward"] = rng.choice(list("abcd"), n)
    sick = rng.random(n) < np.where(table.weight > 70, 0.9, 0.1)
    table["ill"] = np.where(sick, "yes", "no")
    return table


def test_they_find_what_is_there():
    found = attacked(linked(), ["ill", "sex"], ["weight", "sex"])
    assert found["ill", "gradient boosting"].accuracy > 0.85
    assert found["ill", "gradient boosting"].gain_bits > 0.4
    assert found["ill", "naive Bayes"].gain_bits < 0.1  # to it each weight is a name of its own
    assert found["sex", "naive Bayes"].accuracy == 1
    assert found["sex", "gradient boosting"].accuracy == 1


def test_they_do_not_find_what_is_not_there():
    found = attacked(linked(), ["ill"], ["ward"])
    for name in ATTACKERS:
        assert found["ill", name].gain_bits < 0.02
        assert abs(found["ill", name].accuracy_gain) < 0.1


def test_a_leak_by_chance_is_no_gain():
    """Each record has a symbol of its own: on these records S is certain, on new ones it is not."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"id": [f"p{i}" for i in range(300)], "ill": rng.integers(2, size=300)})
    joint = pf.Joint.from_table(table, "ill", "id")
    assert pf.metrics.best_guess(joint) == 1
    for found in attacked(table, ["ill"], ["id"]).values():
        assert found.gain_bits < 0.01
        assert found.accuracy < 0.6


def test_the_one_that_sees_nothing_is_as_scikit_learn_measures_it():
    table = linked(103)
    counts = count(table, "ill", "ward")
    joint = counts.joint()
    found = attack(joint, counts.roles.sensitive, counts.roles.public, folds=3, seed=5)[0]
    rng = np.random.default_rng(5)
    cells = joint.counts.toarray()
    s = np.concatenate([np.repeat([0, 1], cells[:, x].astype(int)) for x in range(joint.n_x)])
    fold = rng.permutation(np.arange(103) % 3)
    guesses, p, true = [], [], []
    for i in range(3):
        share = np.bincount(s[fold != i], minlength=2) / (fold != i).sum()
        true.append(s[fold == i])
        p.append(np.tile(share, ((fold == i).sum(), 1)))
        guesses.append(np.full((fold == i).sum(), share.argmax()))
    true = np.concatenate(true)
    assert found.accuracy == pytest.approx(accuracy_score(true, np.concatenate(guesses)))
    assert found.log_loss_bits == pytest.approx(log_loss(true, np.concatenate(p)) / math.log(2))
    assert (found.accuracy_gain, found.gain_bits, found.n_records) == (0, 0, 103)


def test_a_value_never_learnt_costs_much_but_not_infinitely():
    table = pd.DataFrame({"s": [*"aaaaaaaaaabbbbbbbbbb", "c"], "x": [*"pq" * 10, "p"]})
    for found in attacked(table, ["s"], ["x"], folds=3).values():
        assert math.isfinite(found.log_loss_bits)
    p = with_unseen(np.array([[0.5, 0.5]]), np.array([0, 1]), 3, np.array([5, 1]))
    assert p.sum() == pytest.approx(1)
    assert p[0, 2] == pytest.approx(1 / 7)


@pytest.mark.parametrize("options", [{"n_jobs": 2}, {"n_jobs": 1}])
def test_the_result_depends_on_the_seed_alone(options):
    table, names = linked(120), (["ill"], ["ward", "weight"])
    assert attacked(table, *names, seed=2, **options) == attacked(table, *names, seed=2)
    assert attacked(table, *names, seed=3) != attacked(table, *names, seed=2)


def test_a_large_table_is_not_attacked_unless_told_how_much_of_it(monkeypatch):
    monkeypatch.setattr(attacks, "MOST_RECORDS", 100)
    table = linked(200)
    for found in attacked(table, ["ill"], ["ward"]).values():
        assert found.accuracy is None
        assert "attack rows" in found.note
    for found in attacked(table, ["ill"], ["ward"], records=60).values():
        assert found.n_records == 60
    for found in attacked(table, ["ill"], ["ward"], records=1000).values():
        assert found.n_records == 200


@pytest.mark.parametrize(
    ("column", "words"), [("one", "one value"), ("weight", "coarsen it with bins")]
)
def test_a_column_that_cannot_be_guessed_is_marked(column, words):
    table = linked(60).assign(one=1)
    found = attacked(table, ["ill", column], ["ward"], folds=2)
    for name in ATTACKERS:
        assert found[column, name].accuracy is None
        assert words in found[column, name].note
        assert found["ill", name].accuracy is not None


def test_weights_are_marked():
    counts = count(linked(60), "ill", "ward", weight="weight")
    found = attack(counts.joint(), counts.roles.sensitive, counts.roles.public)
    assert all("weighted" in one.note and one.accuracy is None for one in found)


def test_fewer_records_than_folds_are_refused():
    with pytest.raises(
        InvalidInput, match=r"folds must be at most the number of records \(4\), got 5"
    ):
        attacked(linked(4), ["ill"], ["ward"])
    with pytest.raises(InvalidInput, match="folds must be at least 2"):
        attacked(linked(40), ["ill"], ["ward"], folds=1)


def test_a_fold_that_leaves_one_value_to_learn():
    table = pd.DataFrame({"s": ["a", "b", "b", "b"], "x": ["p", "q", "p", "q"]})
    found = attacked(table, ["s"], ["x"], folds=4)
    assert all(0 <= one.accuracy <= 1 for one in found.values())


def test_features_keep_the_order_of_what_has_one():
    labels = [(5, "[18, 40)", date(2020, 1, 2), datetime(1970, 1, 1, 1)), (None, None, None, None)]
    joint = pf.Joint.from_counts([[1, 1]], labels_x=labels)
    columns = [
        Column("n", "integer"),
        Column("age", "integer", Bins((18, 40))),
        Column("day", "date"),
        Column("time", "datetime"),
    ]
    made = features(joint, columns)
    assert made.values[0].tolist() == [5, 1, date(2020, 1, 2).toordinal(), 3600]
    assert np.isnan(made.values[1]).all()
    assert not made.is_category.any()


def test_the_rarest_of_many_categories_share_one():
    n = MOST_CATEGORIES + 60
    counts = np.ones((1, n))
    counts[0, -1] = 9
    made = features(
        pf.Joint.from_counts(counts, labels_x=[f"v{i}" for i in range(n)]), [Column("v", "text")]
    )
    assert made.values.max() == MOST_CATEGORIES
    assert made.values[-1] == 0  # the most frequent keeps a code of its own
    assert made.codes.max() == n - 1
