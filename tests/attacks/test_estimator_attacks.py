"""Attacks on estimators: one row at a time against a code by lot; a pickle that was shipped."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from privacyfunnel import PrivacyFunnel
from privacyfunnel.errors import InvalidInput
from privacyfunnel.information import mutual_information


def people(seed: int = 0, n: int = 600) -> tuple[pd.DataFrame, pd.Series]:
    """A number of six values that tells something of S."""
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 2, n)
    x = np.where(rng.random(n) < 0.6, 3 * s, 0) + rng.integers(0, 3, n)
    return pd.DataFrame({"x": x}), pd.Series(np.where(s == 1, "ill", "well"), name="health")


def bits(s: pd.Series, xhat: np.ndarray) -> float:
    counts = [np.bincount(xhat[s == value], minlength=xhat.max() + 1) for value in ("ill", "well")]
    return float(mutual_information(np.array(counts) / len(s)))


def test_rows_that_come_one_at_a_time_tell_no_more_than_the_channel():
    """The channel's leakage is what was promised; a symbol that is a function of x tells far more."""
    table, s = people()
    funnel = PrivacyFunnel(leakage=0.02, method="soft").fit(table, s)
    one_by_one = np.array([funnel.transform(table[i : i + 1])[0, 0] for i in range(len(table))])
    # Draws are secret, so that the test knows only what fair draws of this channel give 3,000 times.
    drawn = np.random.default_rng(0).random((3000, len(table), 1))
    p_xhat_given_x = funnel.codebook_.code.matrix.toarray()
    fair = (drawn > np.cumsum(p_xhat_given_x[table.x], axis=1)).sum(axis=2)
    most = max(bits(s, xhat) for xhat in fair)
    assert bits(s, one_by_one) <= most
    assert bits(s, p_xhat_given_x.argmax(axis=1)[table.x]) > most  # what a fixed symbol would tell
    for x in table.x.unique():  # where the channel draws, so do single rows
        row = funnel.codebook_.code.matrix.toarray()[x]
        if row.max() < 0.9:
            assert len(set(one_by_one[table.x == x])) > 1
    fixed = np.array([row.max() for row in funnel.codebook_.code.matrix.toarray()])
    assert fixed.min() < 0.9, "the code draws nothing, so the attack shows nothing"


def test_a_shipped_pickle_is_the_same_whatever_s_is():
    """With the same code, nothing in the pickle depends on S; the private one does."""
    table, s = people()
    other = pd.Series(np.random.default_rng(5).permutation(s), name="health")
    fitted = [PrivacyFunnel(utility=1.0).fit(table, given) for given in (s, other)]
    assert fitted[0].code_ == fitted[1].code_
    shipped = [pickle.dumps(estimator.public()) for estimator in fitted]
    assert shipped[0] == shipped[1]
    assert pickle.dumps(fitted[0]) != pickle.dumps(fitted[1])
    assert b"ill" not in shipped[0]


def test_what_is_shipped_transforms_as_what_was_fitted():
    table, s = people()
    fitted = PrivacyFunnel(leakage=0.05).fit(table, s)
    shipped = pickle.loads(pickle.dumps(fitted.public()))
    np.testing.assert_array_equal(fitted.transform(table), shipped.transform(table))
    assert list(shipped.get_feature_names_out()) == list(fitted.get_feature_names_out())
    assert shipped.leakage is None
    assert not hasattr(shipped, "leakage_")
    with pytest.raises(InvalidInput, match="knows nothing of S"):
        shipped.score(table, s)


def test_a_pipeline_is_shipped_with_the_public_form():
    table, s = people()
    target = table.x > 2
    model = make_pipeline(PrivacyFunnel(), OneHotEncoder(), LogisticRegression())
    model.fit(table, target, privacyfunnel__sensitive_features=s)
    shipped = make_pipeline(model[0].public(), *model[1:])
    np.testing.assert_array_equal(shipped.predict(table), model.predict(table))


def test_a_code_by_lot_is_not_shipped():
    table, s = people()
    with pytest.raises(InvalidInput, match="cannot be shipped"):
        PrivacyFunnel(utility=0.5, method="soft").fit(table, s).public()
