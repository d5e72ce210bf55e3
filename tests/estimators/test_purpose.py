"""Estimators for a use, by another measure, and within caps on single sensitive columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from privacyfunnel import Funnel, Joint, PrivacyFunnel
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.measures import make_measure


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    n = 400
    sex, race = rng.integers(2, size=n), rng.integers(3, size=n)
    trade = (3 * rng.random(n)).astype(int) + 2 * sex * (rng.random(n) < 0.5)
    town = (race + (2 * rng.random(n)).astype(int)) % 4
    rich = (trade + rng.integers(3, size=n)) > 3
    return pd.DataFrame({"sex": sex, "race": race, "trade": trade, "town": town, "rich": rich})


PUBLIC = ["trade", "town"]


def counted(people: pd.DataFrame, funnel: PrivacyFunnel, of: list[str]) -> np.ndarray:
    """p(v, x̂) of some columns and what comes out, counted from the rows."""
    out = pd.DataFrame(funnel.transform(people[PUBLIC])).astype(str).agg(" ".join, axis=1)
    v = people[of].astype(str).agg(" ".join, axis=1)
    return pd.crosstab(v, out).to_numpy() / len(people)


@pytest.mark.parametrize("recoding", ["symbols", "global"])
def test_what_x_says_about_y_is_kept(people, recoding: str):
    funnel = PrivacyFunnel(utility=0.8, keep="y", recoding=recoding)
    funnel.fit(people[PUBLIC], people["rich"], sensitive_features=people["sex"])
    joint = Joint.from_table(people, "sex", PUBLIC, useful="rich")
    bits = make_measure("shannon")
    kept = bits(counted(people, funnel, ["rich"])) / joint.useful.information
    assert kept >= 0.8 - 1e-9
    assert funnel.utility_ == pytest.approx(kept)
    told = bits(counted(people, funnel, ["sex"])) / joint.entropy_s
    assert funnel.leakage_ == pytest.approx(told)
    assert funnel.leakage_ >= funnel.limit_ - 1e-12
    assert funnel.codebook_.measured["leakage"] == pytest.approx(told)
    assert told < joint.information / joint.entropy_s


def test_another_measure_is_what_is_bounded(people):
    funnel = PrivacyFunnel(leakage=0.1, measure="guessing")
    funnel.fit(people[PUBLIC], sensitive_features=people["sex"])
    measure, p = make_measure("guessing"), counted(people, funnel, ["sex"])
    assert funnel.leakage_ == pytest.approx(measure(p) / measure.whole(p.sum(axis=1)))
    assert funnel.leakage_ <= 0.1 + 1e-9
    assert funnel.utility_ > 0.2


def test_every_cap_is_met_and_shipped_without(people):
    caps = {"sex": 0.01, "race": "guessing:0.05"}
    funnel = PrivacyFunnel(caps=caps).fit(
        people[PUBLIC], sensitive_features=people[["sex", "race"]]
    )
    for name, most in (("sex", 0.01), ("race", 0.05)):
        measure = make_measure("shannon" if name == "sex" else "guessing")
        p = counted(people, funnel, [name])
        told = measure(p) / measure.whole(p.sum(axis=1))
        assert funnel.told_[name] == pytest.approx(told)
        assert told <= most + 1e-9
    assert funnel.utility_ > 0.05
    assert funnel.public().caps is None
    joint = Joint.from_table(people, ["sex", "race"], PUBLIC)
    assert funnel.utility_ == pytest.approx(funnel.codebook_.measured["utility"])
    assert Funnel(0.0).whole_utility(joint) == pytest.approx(joint.entropy_x)
    used = PrivacyFunnel(caps=caps, keep="y").fit(
        people[PUBLIC], people["rich"], sensitive_features=people[["sex", "race"]]
    )
    assert used.told_["sex"] <= 0.01 + 1e-9


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"caps": {"age": 0.1}}, "no sensitive column 'age'"),
        ({"caps": {"sex": 0.1}, "leakage": 0.1}, "no other target than utility="),
        ({"caps": {"sex": 0.1}, "recoding": "global"}, "recoding='symbols' and method='best'"),
        ({"caps": {"sex": 0.1}, "method": "greedy"}, "recoding='symbols' and method='best'"),
        ({"caps": {"sex": 0.1}, "min_count": 1000}, "at most the number of records, 400"),
        ({"caps": {"sex": 0.1}, "importance": {"town": 2}}, "importance= is for recoding"),
        ({"recoding": "global", "kept": -1.0}, "kept must lie in"),
        ({"recoding": "local", "leakage": 2.0}, "leakage must lie in"),
    ],
)
def test_what_does_not_go_with_caps_is_refused(people, settings, words):
    with pytest.raises(InvalidInput, match=words):
        PrivacyFunnel(**settings).fit(people[PUBLIC], sensitive_features=people[["sex", "race"]])


def test_a_least_utility_beyond_the_caps_names_the_nearest(people):
    funnel = PrivacyFunnel(caps={"sex": 1e-5, "race": 1e-5}, utility=0.99)
    with pytest.raises(TargetUnreachable, match="the nearest keeps"):
        funnel.fit(people[PUBLIC], sensitive_features=people[["sex", "race"]])
