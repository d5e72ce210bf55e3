"""Metadata routing: S finds its way to the funnel through column transformers and grid searches."""

from __future__ import annotations

import pandas as pd
import pytest
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from privacyfunnel import PrivacyFunnel


@pytest.fixture(scope="module")
def patients() -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    table, progress = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return table[["bmi", "bp", "s5"]], progress > 140, table["sex"]


def test_a_funnel_among_other_columns_sees_s_and_the_model_does_not(patients) -> None:
    table, ill, sex = patients
    with sklearn.config_context(enable_metadata_routing=True):
        hidden = PrivacyFunnel(recoding="global", leakage=0.02, bins=5)
        hidden.set_fit_request(sensitive_features=True).set_output(transform="pandas")
        mixed = make_column_transformer((hidden, ["bmi", "bp"]), (StandardScaler(), ["s5"]))
        mixed.set_output(transform="pandas")
        out = mixed.fit_transform(table, ill, sensitive_features=sex)
    assert list(out.columns) == ["privacyfunnel__bmi", "privacyfunnel__bp", "standardscaler__s5"]
    alone = PrivacyFunnel(recoding="global", leakage=0.02, bins=5)
    alone.fit(table[["bmi", "bp"]], sensitive_features=sex)
    assert mixed.named_transformers_["privacyfunnel"].leakage_ == alone.leakage_ <= 0.02


def test_a_grid_over_the_form_of_the_release(patients) -> None:
    table, ill, sex = patients
    with sklearn.config_context(enable_metadata_routing=True):
        funnel = PrivacyFunnel(bins=3).set_fit_request(sensitive_features=True)
        coded = OneHotEncoder(handle_unknown="ignore")
        model = make_pipeline(funnel, coded, LogisticRegression())
        grid = {
            "privacyfunnel__recoding": ["symbols", "global", "local"],
            "privacyfunnel__leakage": [0.02, 0.5],
        }
        scoring = {"useful": "accuracy", "leakage": lambda model, *_: model[0].leakage_}
        search = GridSearchCV(model, grid, scoring=scoring, refit="useful", cv=2)
        search.fit(table[["bmi", "bp"]], ill, sensitive_features=sex)
    found = pd.DataFrame(search.cv_results_)
    strict = found[found.param_privacyfunnel__leakage == 0.02]
    assert len(strict) == 3
    assert (strict.mean_test_leakage <= 0.02).all()
    assert found.mean_test_useful.between(0.4, 1).all()
