"""PrivacyFunnel with a recoding: the columns come back, coarsened, with names, for new rows too."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from privacyfunnel import PrivacyFunnel
from privacyfunnel.errors import InvalidInput, UnknownSymbol
from privacyfunnel.information import mutual_information

EDUCATION = ["school", "college", "master", "doctor"]


@pytest.fixture(scope="module")
def people() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(0)
    n = 240
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 28, n) + rng.integers(0, 2, n) * 30,
            "town": rng.choice(["Bonn", "Rom", "Pisa"], n),
            "education": rng.choice(EDUCATION, n),
        }
    )
    return table, pd.Series(table.age + rng.normal(size=n) * 20 > 45, name="ill")


@pytest.fixture(scope="module", params=["global", "local"])
def fitted(request, people) -> PrivacyFunnel:
    funnel = PrivacyFunnel(
        recoding=request.param, kept=0.5, bins=None, orders={"education": EDUCATION}
    )
    return funnel.set_output(transform="pandas").fit(people[0], sensitive_features=people[1])


def test_the_columns_come_back_under_their_names(fitted, people):
    table, _ = people
    released = fitted.transform(table)
    assert list(released) == list(table) == list(fitted.get_feature_names_out())
    assert len(released) == len(table)
    assert (released.index == table.index).all()
    for name, column in zip(table, fitted.code_.columns, strict=True):
        groups = {group.label: group.members for group in column.groups}
        assert all(
            value in groups[label] or label == "*"
            for value, label in zip(table[name], released[name], strict=True)
        )


def test_what_is_said_of_it_is_measured_from_what_comes_out(fitted, people):
    table, s = people
    released = fitted.transform(table).agg("|".join, axis=1)
    bits = mutual_information(pd.crosstab(s, released).to_numpy() / len(s))
    whole = mutual_information(pd.crosstab(s, s).to_numpy() / len(s))
    assert fitted.leakage_ == pytest.approx(bits / whole, abs=1e-9)
    assert fitted.kept_ >= 0.5
    assert fitted.score(table, s) == pytest.approx(fitted.utility_ - fitted.leakage_, abs=0.1)


def test_what_a_new_row_is_released_as_is_true_of_it(fitted):
    new = pd.DataFrame(
        {"age": [29, 44, 25], "town": ["Rom", "Bonn", "Oslo"], "education": EDUCATION[:3]}
    )
    released = fitted.transform(new)
    for name, column in zip(new, fitted.code_.columns, strict=True):
        groups = {group.label: group for group in column.groups}
        for value, label in zip(new[name], released[name], strict=True):
            if label == "*":
                continue
            group = groups[label]
            inside = (group.low is None or group.low <= value) and (
                group.high is None or value < group.high
            )
            assert value in group.members or (name == "age" and inside)
    assert released.town[2] == "*"  # no group holds Oslo


def test_unseen_values_are_treated_as_asked(people):
    table, s = people
    new = table.head(2).assign(town="Oslo")
    funnel = PrivacyFunnel(recoding="global", kept=0.6, handle_unknown="suppress").fit(table, s)
    assert (funnel.transform(new) == "*").all()
    with pytest.raises(UnknownSymbol, match="the value Oslo"):
        clone(funnel).set_params(handle_unknown="error").fit(table, s).transform(new)


def test_numbers_of_many_values_are_binned_and_named_as_intervals(people):
    table, s = people
    rng = np.random.default_rng(1)
    many = pd.DataFrame({"income": rng.lognormal(size=len(s)) + s, "town": table.town})
    funnel = PrivacyFunnel(recoding="global", kept=0.7, bins=8, importance={"income": 9}).fit(
        many, s
    )
    labels = [group.label for group in funnel.code_.columns[0].groups]
    (first,) = [label for label in labels if label.startswith("under ")]
    (last,) = [label for label in labels if label.endswith(" or more")]
    assert all(label.startswith("[") for label in set(labels) - {first, last})
    lowest, highest = funnel.transform(many.head(2).assign(income=[-5.0, 1e9]))[:, 0]
    assert (lowest, highest) == (first, last)


def test_a_least_count_holds_for_every_combination(people):
    table, s = people
    funnel = PrivacyFunnel(recoding="local", leakage=0.05, min_count=5).fit(table, s)
    released = pd.DataFrame(funnel.transform(table))
    assert released.value_counts().min() >= 5
    assert funnel.leakage_ <= 0.05 + 1e-9


def test_it_is_a_step_of_a_pipeline_and_can_be_shipped(people):
    table, s = people
    target = table.education == "doctor"
    model = make_pipeline(
        PrivacyFunnel(recoding="global", kept=0.5, importance={"education": 3}),
        OneHotEncoder(handle_unknown="ignore"),
        LogisticRegression(),
    )
    model.fit(table, target, privacyfunnel__sensitive_features=s)
    shipped = make_pipeline(model[0].public(), *model[1:])
    np.testing.assert_array_equal(shipped.predict(table), model.predict(table))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"recoding": "global", "utility": 0.5}, "goes with kept="),
        ({"kept": 0.5}, "goes with utility="),
        ({"recoding": "local", "method": "soft"}, "method must be 'best'"),
        ({"recoding": "columns"}, "recoding"),
        ({"importance": {"age": 2}}, "importance= is for recoding"),
        ({"recoding": "global", "effort": "none"}, "effort"),
        ({"recoding": "global", "cuts": {"age": [50]}, "bins": {"age": 3}}, "leave one out"),
        (  # a weight for a column does not excuse that it is coarsened twice
            {"recoding": "global", "bins": 3, "cuts": {"age": [50]}, "importance": {"age": 2}},
            "'age' is binned",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_line(people, settings, words):
    with pytest.raises(InvalidInput, match=words):
        PrivacyFunnel(**settings).fit(*people)
