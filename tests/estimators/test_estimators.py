"""The estimators: scikit-learn's own checks, exact targets, every kind of table, and new rows."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from datetime import date
from zlib import crc32

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from privacyfunnel import Codebook, InformationBottleneck, PrivacyFunnel
from privacyfunnel.errors import FunnelError, InvalidInput, TargetUnreachable, UnknownSymbol
from privacyfunnel.tables import write_release

BOTH = [PrivacyFunnel, InformationBottleneck]


class Numbered(PrivacyFunnel):
    """The columns of a recoding with a number for each label: scikit-learn's checks subtract."""

    def transform(self, X):
        labels = np.asarray(super().transform(X), dtype=object)
        return np.vectorize(lambda label: float(crc32(label.encode())))(labels)


@parametrize_with_checks(
    [
        PrivacyFunnel(),
        InformationBottleneck(),
        Numbered(recoding="global"),
        Numbered(recoding="local"),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_transformer_get_feature_names_out,
        estimator_checks.check_transformer_get_feature_names_out_pandas,
        estimator_checks.check_set_output_transform,
        estimator_checks.check_set_output_transform_pandas,
        estimator_checks.check_global_output_transform_pandas,
        estimator_checks.check_set_output_transform_polars,
        estimator_checks.check_global_set_output_transform_polars,
        estimator_checks.check_dataframe_column_names_consistency,
        estimator_checks.check_inplace_ensure_writeable,
    ],
    ids=lambda check: check.__name__,
)
@pytest.mark.filterwarnings(
    "ignore:X .* feature names:UserWarning"
)  # the checks mix arrays and frames
def test_checks_that_scikit_learn_keeps_for_its_own(make, check):
    check(make.__name__, make())


def test_the_array_api_check_which_needs_a_process_of_its_own():
    script = (
        "from sklearn.utils import estimator_checks as e, get_tags\n"
        "from privacyfunnel import PrivacyFunnel as P, InformationBottleneck as I\n"
        "for make in (P, I):\n"
        "    checks = list(e._yield_array_api_checks(make(), only_numpy=True))\n"
        "    assert checks\n"
        "    for check in checks: check(make.__name__, make())\n"
        "print('passed')"
    )
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment
    )
    assert run.stdout == "passed\n", run.stderr


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """600 people: a city and a number that both depend on sex, and a hole here and there."""
    rng = np.random.default_rng(3)
    sex = rng.integers(0, 2, 600)
    city = np.array(["Bonn", "Oslo", "Pisa", "Rom", "Wien"])[(rng.integers(0, 4, 600) + sex)]
    table = pd.DataFrame({"city": city, "size": rng.normal(170 + 8 * sex, 7).round(1)})
    table["sex"] = np.where(sex == 1, "m", "f")
    table["old"] = rng.random(600) < 0.3 + 0.3 * sex
    table.loc[::50, "city"] = None
    table.loc[7::60, "size"] = np.nan
    return table


PUBLIC = ["city", "size"]


def shares(x: np.ndarray, s: np.ndarray, xhat: np.ndarray) -> tuple[float, float]:
    """I(X;X̂)/H(X) and I(S;X̂)/H(S), counted from rows the slow way."""

    def bits(*columns: np.ndarray) -> float:
        _, n = np.unique(np.column_stack(columns).astype(str), axis=0, return_counts=True)
        return float(-(n / n.sum() * np.log2(n / n.sum())).sum())

    u = bits(x) + bits(xhat) - bits(x, xhat)
    v = bits(s) + bits(xhat) - bits(s, xhat)
    return u / bits(x), v / bits(s)


def binned(table: pd.DataFrame, estimator) -> np.ndarray:
    """The rows as symbols, by the codebook's own rules."""
    columns = estimator.codebook_.roles.public
    rows = zip(*(map(c.encode, table[c.name].tolist()) for c in columns), strict=True)
    return np.array([repr(row) for row in rows])


class TestTargets:
    @pytest.mark.parametrize(("utility", "method"), [(0.3, "best"), (0.7, "best"), (0.4, "greedy")])
    def test_utility_is_met_and_measured_from_the_rows(self, people, utility, method):
        funnel = PrivacyFunnel(utility=utility, method=method).fit(people[PUBLIC], people["sex"])
        xhat = funnel.transform(people[PUBLIC]).ravel()
        u, v = shares(binned(people, funnel), people["sex"].to_numpy(), xhat)
        assert u >= utility
        assert (u, v) == pytest.approx((funnel.utility_, funnel.leakage_), abs=1e-9)
        assert funnel.limit_ <= v + 1e-12

    @pytest.mark.parametrize("leakage", [0.0, 0.05])
    def test_leakage_is_a_ceiling(self, people, leakage):
        funnel = PrivacyFunnel(leakage=leakage).fit(people[PUBLIC], people["sex"])
        assert funnel.leakage_ <= leakage + 1e-9
        less = PrivacyFunnel(utility=min(1.0, funnel.utility_ + 0.05))
        assert less.fit(people[PUBLIC], people["sex"]).leakage_ > leakage

    def test_the_bottlenecks_targets(self, people):
        def fit(**target):
            return InformationBottleneck(**target).fit(people[PUBLIC], people["sex"])

        assert fit(rate=0.3).rate_ <= 0.3 + 1e-9
        assert fit(relevance=0.2).relevance_ >= 0.2 - 1e-9
        assert fit(n_symbols=4).code_.n_symbols == 4
        assert fit(n_symbols=4).relevance_ >= fit(n_symbols=4, method="agglomerative").relevance_
        assert fit(lam=1.0).code_.n_symbols == 1
        whole = fit(lam=0.0)
        assert whole.relevance_ == pytest.approx(fit(n_symbols=10_000).relevance_)
        assert whole.relevance_ <= whole.limit_ + 1e-12
        rates = [fit(rate=r).relevance_ for r in (0.1, 0.3, 0.6)]
        assert rates == sorted(rates)

    def test_without_a_target_half_is_kept(self, people):
        usual = PrivacyFunnel().fit(people[PUBLIC], people["sex"])
        asked = PrivacyFunnel(utility=0.5).fit(people[PUBLIC], people["sex"])
        assert usual.code_ == asked.code_
        assert usual.codebook_.target == {"utility": 0.5}
        encoder = InformationBottleneck().fit(people[PUBLIC], people["sex"])
        assert encoder.codebook_.target == {"rate": 0.5}

    def test_least_leakage_of_all_partitions_of_a_small_alphabet(self):
        rng = np.random.default_rng(1)
        x, s = rng.integers(0, 6, 80), rng.integers(0, 3, 80)
        x[s == 0] //= 2
        best = 1.0
        for labels in _partitions(6):
            u, v = shares(x, s, np.array(labels)[x])
            best = min(best, v) if u >= 0.5 - 1e-12 else best
        funnel = PrivacyFunnel(utility=0.5).fit(x.reshape(-1, 1), s)
        assert funnel.leakage_ == pytest.approx(best, abs=1e-9)

    def test_min_count_is_kept(self, people):
        for estimator in (
            PrivacyFunnel(utility=0.4, min_count=40),
            InformationBottleneck(n_symbols=8, min_count=40),
        ):
            released = estimator.fit(people[PUBLIC], people["sex"]).transform(people[PUBLIC])
            assert np.bincount(released.ravel()).min() >= 40

    def test_what_cannot_be_reached_is_said(self, people):
        with pytest.raises(TargetUnreachable, match="relevance"):
            InformationBottleneck(relevance=0.99).fit(people[PUBLIC], people["sex"])


def _partitions(n: int):
    """All partitions of n elements, as labels."""
    if n == 0:
        yield []
        return
    for rest in _partitions(n - 1):
        for label in range(max(rest, default=-1) + 2):
            yield [*rest, label]


class TestTables:
    @pytest.mark.parametrize("make", BOTH)
    def test_every_library_gives_the_same(self, people, make):
        pandas = make().fit_transform(people[PUBLIC], people["sex"])
        categories = people[PUBLIC].astype({"city": "category"})
        polars = pl.from_pandas(people[PUBLIC])
        polars_category = polars.with_columns(pl.col("city").cast(pl.Categorical))
        objects = people[PUBLIC].to_numpy(dtype=object)
        for table in (categories, polars, polars_category, objects, objects.tolist()):
            again = make().fit_transform(table, people["sex"].tolist())
            np.testing.assert_array_equal(again, pandas)
        for table in (categories, polars):
            estimator = make().fit(table, people["sex"])
            assert list(estimator.feature_names_in_) == PUBLIC
            assert [c.name for c in estimator.codebook_.roles.public] == PUBLIC
            assert [c.name for c in estimator.codebook_.roles.sensitive] == ["sex"]

    def test_a_missing_value_is_a_value_of_its_own(self):
        rows = np.array([1.0, 1.0, np.nan, np.nan]).reshape(-1, 1)
        encoder = InformationBottleneck(n_symbols=2).fit(rows, ["a", "a", "b", "b"])
        assert encoder.codebook_.values == ((1.0,), (None,))
        for nothing in (np.array([[np.nan]]), pd.DataFrame([[None]]).to_numpy()):
            assert encoder.transform(nothing) == encoder.transform(rows)[2]
        assert pl.Series([float("nan")]).is_null().sum() == 0  # Polars has both, we have one
        frame = pl.DataFrame({"x": [1.0, 1.0, float("nan"), None]})
        encoder.fit(frame, ["a", "a", "b", "b"])
        assert encoder.transform(frame)[2] == encoder.transform(frame)[3]

    def test_dates_truths_and_numbers_of_other_types(self):
        frame = pd.DataFrame(
            {"day": [date(2020, 1, d) for d in (1, 2, 3, 4)], "true": [True, False, True, False]}
        )
        funnel = PrivacyFunnel(utility=1.0).fit(frame, [0, 1, 0, 1])
        assert len(np.unique(funnel.transform(frame))) == 4
        whole = PrivacyFunnel(utility=1.0).fit([[1], [2], [3]], [0, 1, 0])
        np.testing.assert_array_equal(
            whole.transform(np.array([[1.0], [2.0], [3.0]])), whole.transform([[1], [2], [3]])
        )
        small = np.array([[1], [2], [3]], dtype=np.float32)
        np.testing.assert_array_equal(whole.transform(small), whole.transform([[1], [2], [3]]))

    def test_frames_with_odd_names(self, people):
        bare = people[PUBLIC].set_axis([0, 1], axis="columns")
        funnel = PrivacyFunnel().fit(bare, people["sex"])
        assert [c.name for c in funnel.codebook_.roles.public] == ["x0", "x1"]
        with pytest.raises(ValueError, match="two columns have one name"):
            PrivacyFunnel().fit(people[["city", "city"]], people["sex"])
        with pytest.raises(ValueError, match="2-dimensional"):
            PrivacyFunnel().fit(people["city"], people["sex"])

    def test_several_sensitive_columns_are_one_variable(self, people):
        together = (people["sex"] + people["old"].astype(str)).to_numpy()
        funnel = PrivacyFunnel(utility=0.4)
        one = funnel.fit(people[PUBLIC], sensitive_features=together).leakage_
        for both in (people[["sex", "old"]], pl.from_pandas(people[["sex", "old"]])):
            assert funnel.fit(people[PUBLIC], sensitive_features=both).leakage_ == one
        assert [c.name for c in funnel.codebook_.roles.sensitive] == ["sex", "old"]
        assert funnel.fit(people[PUBLIC], people[["sex", "old"]].to_numpy()).leakage_ == one

    def test_sensitive_features_go_before_y_and_may_be_missing(self, people):
        funnel = PrivacyFunnel(utility=0.4)
        by_sex = funnel.fit(people[PUBLIC], people["sex"]).code_
        assert (
            funnel.fit(people[PUBLIC], people["old"], sensitive_features=people["sex"]).code_
            == by_sex
        )
        holes = people["sex"].where(people.index % 9 > 0)
        funnel.fit(people[PUBLIC], sensitive_features=holes)
        assert funnel._counts.shape[0] == 3

    def test_weights_are_repeated_rows(self, people):
        weights = np.random.default_rng(0).integers(0, 4, len(people))
        repeated = people.loc[people.index.repeat(weights)]
        for make in BOTH:
            weighted = make().fit(people[PUBLIC], people["sex"], sample_weight=weights)
            plain = make().fit(repeated[PUBLIC], repeated["sex"])
            assert weighted.codebook_ == plain.codebook_
        halved = PrivacyFunnel().fit(people[PUBLIC], people["sex"], sample_weight=weights / 2)
        twice = PrivacyFunnel().fit(people[PUBLIC], people["sex"], sample_weight=weights)
        for half in (
            halved,
            twice,
        ):  # where nothing is given away, what is kept beyond half is luck
            assert half.utility_ >= 0.5
            assert half.leakage_ == pytest.approx(0.0, abs=0.002)
        assert halved.codebook_.values == twice.codebook_.values


class TestBins:
    def test_numbers_of_many_values_are_binned_and_new_ones_fall_into_the_bins(self):
        rows = np.arange(100.0).reshape(-1, 1)
        encoder = InformationBottleneck(rate=1.0, bins=4).fit(rows, (rows.ravel() > 30).astype(int))
        (column,) = encoder.codebook_.roles.public
        assert column.rule.edges == (24.0, 49.0, 74.0)
        released = encoder.transform([[-5.0], [23.9], [24.0], [48.0], [1000.0]]).ravel()
        assert released[0] == released[1] != released[2] == released[3] != released[4]

    def test_few_values_categories_and_text_are_left_as_they_are(self):
        whole = pd.DataFrame({"few": [1, 2, 3, 4] * 10, "names": np.arange(40)})
        whole["names"] = whole["names"].astype("category")
        funnel = PrivacyFunnel(bins=4).fit(whole, [0, 1] * 20)
        assert [c.rule for c in funnel.codebook_.roles.public] == [None, None]

    def test_edges_by_column_also_of_the_sensitive_ones(self, people):
        bins = {"size": [160, 180], "length": 3}
        s = people["size"].fillna(0).rename("length")
        funnel = PrivacyFunnel(bins=bins).fit(people[PUBLIC], sensitive_features=s)
        assert {v[1] for v in funnel.codebook_.values} == {
            "under 160",
            "[160, 180)",
            "180 or more",
            None,
        }
        assert len(funnel.codebook_.roles.sensitive[0].rule.edges) == 2

    def test_edges_of_dates_and_of_whole_numbers_with_holes(self):
        days = [date(2020, 1, d) for d in (1, 2, 3, 4)]
        frame = pd.DataFrame({"day": [*days, None], "n": pd.array([1, 2, 3, 4, None], "Int64")})
        bins = {"day": [date(2020, 1, 3)], "n": [2.5, 3.5]}
        funnel = PrivacyFunnel(utility=1.0, bins=bins).fit(frame, [0, 1, 0, 1, 1])
        before, after = "before 2020-01-03", "2020-01-03 or later"
        assert funnel.codebook_.values == (
            (before, "under 2.5"),
            (after, "[2.5, 3.5)"),
            (after, "3.5 or more"),
            (None, None),
        )
        times = frame.assign(day=pd.to_datetime(frame["day"]))
        with pytest.raises(ValueError, match="'day' holds dates with a time here, but dates"):
            funnel.transform(times)
        again = PrivacyFunnel(utility=1.0, bins=bins).fit(times, [0, 1, 0, 1, 1])
        np.testing.assert_array_equal(again.transform(times), funnel.transform(frame))

    def test_a_target_of_many_numbers_is_binned(self):
        rng = np.random.default_rng(0)
        rows = rng.integers(0, 5, (300, 1))
        y = rows.ravel() + rng.normal(size=300)
        encoder = InformationBottleneck(n_symbols=3, bins=5).fit(rows, y)
        assert len(encoder.codebook_.roles.sensitive[0].rule.edges) == 4
        labels = encoder.transform(np.arange(5).reshape(-1, 1)).ravel()
        assert (np.diff(labels) >= 0).all()  # neighbours in rows are alike in y

    @pytest.mark.parametrize("bins", [1, 2.5, "ten", {"nowhere": 3}, {"city": 3}])
    def test_bins_that_make_no_sense(self, people, bins):
        with pytest.raises(ValueError, match=r"bins|city"):
            PrivacyFunnel(bins=bins).fit(people[PUBLIC], people["sex"])


class TestUnknownRows:
    def fitted(self, **settings) -> InformationBottleneck:
        frame = pd.DataFrame(
            {"city": ["Bonn"] * 4 + ["Rom"] * 6, "age": [20, 20, 30, 30, 20, 20, 30, 30, 60, 60]}
        )
        y = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]
        return InformationBottleneck(n_symbols=3, **settings).fit(frame, y)

    def release(self, estimator, city, age) -> int:
        return int(estimator.transform(pd.DataFrame({"city": [city], "age": [age]}))[0, 0])

    def test_an_error_says_what_and_what_to_do(self):
        encoder = self.fitted(handle_unknown="error")
        with pytest.raises(ValueError, match=r"'city' has the value Lyon.*handle_unknown=") as info:
            self.release(encoder, "Lyon", 20)
        assert isinstance(info.value, UnknownSymbol)
        with pytest.raises(ValueError, match="combination city = Bonn, age = 60"):
            self.release(encoder, "Bonn", 60)

    def test_suppressed_rows_are_minus_one(self):
        encoder = self.fitted(handle_unknown="suppress")
        rows = pd.DataFrame({"city": ["Lyon", "Rom"], "age": [20, 20]})
        assert (encoder.transform(rows).ravel() >= 0).tolist() == [False, True]

    def test_nearest_in_numbers_goes_by_rank(self):
        encoder = self.fitted()
        assert self.release(encoder, "Rom", 44) == self.release(encoder, "Rom", 30)
        assert self.release(encoder, "Rom", 46) == self.release(encoder, "Rom", 60)
        assert self.release(encoder, "Bonn", 33) == self.release(encoder, "Bonn", 30)
        assert self.release(encoder, "Rom", 1e9) == self.release(encoder, "Rom", 60)

    def test_an_unknown_category_goes_with_the_rows_that_share_the_rest(self):
        encoder = self.fitted()
        assert self.release(encoder, "Lyon", 60) == self.release(encoder, "Rom", 60)

    def test_a_value_unlike_all_others_goes_where_most_go(self):
        rows, y = [["a"]] * 2 + [["b"]] * 3 + [["c"]] * 4, [0] * 5 + [1] * 4
        encoder = InformationBottleneck(n_symbols=2).fit(rows, y)
        assert encoder.transform([["zzz"]]) == encoder.transform([["a"]])  # 5 rows against 4
        assert encoder.transform([["zzz"]]) != encoder.transform([["c"]])

    def test_nearest_agrees_with_a_slow_twin(self, people):
        funnel = PrivacyFunnel(utility=0.8, bins={"size": 12}).fit(
            people[PUBLIC][:300], people["sex"][:300]
        )
        known, columns = funnel.codebook_.values, funnel.codebook_.roles.public
        released = [row[0][0] for row in funnel.codebook_.rows]
        ranks = sorted({columns[1].raw(v[1]) for v in known if v[1] is not None})

        def apart(a, b):
            first = float(a[0] != b[0])
            if a[1] is None or b[1] is None:
                return first + float(a[1] is not b[1])
            i, j = (ranks.index(columns[1].raw(v[1])) for v in (a, b))
            return first + abs(i - j) / (len(ranks) - 1)

        new = {
            value
            for city in ("Bonn", "Oslo", "Lyon", None)
            for value in ((city, label) for label in {v[1] for v in known})
            if value not in known
        }
        assert len(new) > 10
        middle = {columns[1].rule.label(i): e - 0.01 for i, e in enumerate(columns[1].rule.edges)}
        for value in new:
            nearest = min(apart(value, v) for v in known)
            votes = dict.fromkeys(released, 0.0)
            for v, r, w in zip(known, released, funnel._weights, strict=True):
                votes[r] += w * (apart(value, v) <= nearest + 1e-9)
            size = middle.get(value[1], 1e6)
            row = pd.DataFrame({"city": [value[0]], "size": [None if value[1] is None else size]})
            got = int(funnel.transform(row.astype({"size": float}))[0, 0])
            assert votes[got] == pytest.approx(max(votes.values()))


class TestCodebook:
    def test_row_by_row_it_says_the_same(self, people):
        funnel = PrivacyFunnel().fit(people[PUBLIC], people["sex"])
        book = funnel.codebook_
        labels = [book.encode(tuple(row)) for row in people[PUBLIC].itertuples(index=False)]
        released = funnel.transform(people[PUBLIC]).ravel()
        assert labels == [book.labels[i] for i in released]
        assert book.code == funnel.code_

    def test_a_table_is_released_as_the_estimator_transforms_it(self, people, tmp_path):
        funnel = PrivacyFunnel(utility=0.4, bins=4).fit(people[PUBLIC], people["sex"])
        funnel.codebook_.save(tmp_path / "book.json")
        book = Codebook.load(tmp_path / "book.json")
        write_release(people, book, tmp_path / "out.csv")
        written = pd.read_csv(tmp_path / "out.csv")["released"].tolist()
        assert written == [book.labels[i] for i in funnel.transform(people[PUBLIC]).ravel()]

    def test_the_sensitive_counts_are_not_in_the_public_codebook(self, people):
        book = PrivacyFunnel().fit(people[PUBLIC], people["sex"]).codebook_.public()
        assert set(book.measured) == {"utility", "utility_bits", "entropy_x_bits"}
        assert book.seed is None

    def test_a_soft_code_draws_as_often_as_it_says(self):
        rows = np.repeat([[0], [1], [2], [3]], 4000, axis=0)
        s = np.tile([0, 0, 1, 1], 4000)
        s[rows.ravel() == 0] = 0
        s[rows.ravel() == 1] = 1
        funnel = PrivacyFunnel(utility=0.8, method="soft").fit(rows, s)
        assert funnel.utility_ == pytest.approx(0.8, abs=1e-3)
        xhat = funnel.transform(rows).ravel()
        for x, row in enumerate(funnel.codebook_.rows):
            counts = np.bincount(xhat[rows.ravel() == x], minlength=len(funnel.codebook_.labels))
            for j, p in row:
                assert counts[j] / 4000 == pytest.approx(p, abs=0.04)
        assert (funnel.transform(rows).ravel() != xhat).any()  # drawn anew
        assert funnel.score(rows, s) == funnel.score(rows, s)


class TestScore:
    def test_on_the_fitted_rows_it_is_about_what_was_measured(self, people):
        encoder = InformationBottleneck(n_symbols=3).fit(people[PUBLIC], people["sex"])
        assert encoder.score(people[PUBLIC], people["sex"]) == pytest.approx(
            encoder.relevance_, abs=0.01
        )
        funnel = PrivacyFunnel(utility=0.4).fit(people[PUBLIC], people["sex"])
        expected = funnel.utility_ - funnel.leakage_
        assert funnel.score(people[PUBLIC], people["sex"]) == pytest.approx(expected, abs=0.01)

    def test_groups_that_remember_noise_score_below_nothing_on_new_rows(self):
        rng = np.random.default_rng(0)
        rows, y = rng.integers(0, 300, (1200, 1)).astype(str), rng.integers(0, 2, 1200)
        encoder = InformationBottleneck(n_symbols=8).fit(rows[:600], y[:600])
        assert encoder.relevance_ > 0.3
        assert encoder.score(rows[600:], y[600:]) < 0

    def test_rows_that_tell_nothing_score_nothing(self, people):
        encoder = InformationBottleneck(n_symbols=3, handle_unknown="suppress")
        encoder.fit(people[["city"]], people["sex"])
        unknown = pd.DataFrame({"city": ["Lyon", "Nice"]})
        assert encoder.score(unknown, ["m", "f"]) == 0.0
        assert encoder.score(people[["city"]], ["x"] * len(people)) == 0.0  # classes never seen

    def test_weights_count(self, people):
        encoder = InformationBottleneck(n_symbols=3).fit(people[PUBLIC], people["sex"])
        half = (np.arange(len(people)) < 300).astype(float)
        weighted = encoder.score(people[PUBLIC], people["sex"], sample_weight=half)
        assert weighted == pytest.approx(encoder.score(people[PUBLIC][:300], people["sex"][:300]))


class TestInPipelines:
    def steps(self) -> Pipeline:
        onehot = OneHotEncoder(handle_unknown="ignore")
        return Pipeline(
            [
                ("funnel", PrivacyFunnel(utility=0.4)),
                ("onehot", onehot),
                ("model", LogisticRegression()),
            ]
        )

    def test_plain_parameters_and_routing_agree(self, people):
        plain = self.steps().fit(
            people[PUBLIC], people["old"], funnel__sensitive_features=people["sex"]
        )
        with config_context(enable_metadata_routing=True):
            routed = self.steps()
            routed.set_params(
                funnel=PrivacyFunnel(utility=0.4).set_fit_request(sensitive_features=True)
            )
            routed.fit(people[PUBLIC], people["old"], sensitive_features=people["sex"])
        alone = PrivacyFunnel(utility=0.4).fit(people[PUBLIC], people["sex"])
        assert plain["funnel"].code_ == routed["funnel"].code_ == alone.code_
        np.testing.assert_array_equal(plain.predict(people[PUBLIC]), routed.predict(people[PUBLIC]))

    def test_unrequested_metadata_is_refused_under_routing(self, people):
        with (
            config_context(enable_metadata_routing=True),
            pytest.raises(ValueError, match="sensitive_features"),
        ):
            self.steps().fit(people[PUBLIC], people["old"], sensitive_features=people["sex"])

    def test_in_a_column_transformer_with_frames_out(self, people):
        for library, index in (("pandas", people.index), ("polars", None)):
            both = ColumnTransformer(
                [("funnel", PrivacyFunnel(), PUBLIC), ("rest", "passthrough", ["old"])]
            ).set_output(transform=library)
            table = people if library == "pandas" else pl.from_pandas(people)
            out = both.fit_transform(table, people["sex"])
            assert list(out.columns) == ["funnel__released", "rest__old"]
            assert index is None or out.index.equals(index)

    def test_clone_and_grid_search(self, people):
        encoder = InformationBottleneck(n_symbols=3, bins={"x0": [3, 4]})
        assert clone(encoder).get_params() == encoder.get_params()
        rng = np.random.default_rng(0)
        shop = rng.integers(0, 90, 900)
        good = rng.random(900) < np.array([0.1, 0.5, 0.9])[shop % 3]
        grid = GridSearchCV(InformationBottleneck(), {"n_symbols": [1, 3, 90]}, cv=3)
        grid.fit(shop.astype(str).reshape(-1, 1), good)
        assert grid.best_params_ == {"n_symbols": 3}  # one says nothing, 90 remember
        funnel = GridSearchCV(PrivacyFunnel(), {"utility": [0.1, 0.5, 1.0]}, cv=3)
        funnel.fit(people[["city"]], people["sex"])
        assert np.isfinite(funnel.cv_results_["mean_test_score"]).all()

    def test_pickling(self, people, tmp_path):
        for estimator in (PrivacyFunnel(), InformationBottleneck(n_symbols=4)):
            estimator.fit(people[PUBLIC], people["sex"])
            joblib.dump(estimator, tmp_path / "kept.joblib")
            again = joblib.load(tmp_path / "kept.joblib")
            np.testing.assert_array_equal(
                again.transform(people[PUBLIC]), estimator.transform(people[PUBLIC])
            )
            assert again.codebook_ == estimator.codebook_

    def test_the_seed_decides(self, people):
        codes = [
            PrivacyFunnel(random_state=seed).fit(people[PUBLIC], people["sex"]).code_
            for seed in (0, 0, np.random.RandomState(5), np.random.RandomState(5), None)
        ]
        assert codes[0] == codes[1]
        assert codes[2] == codes[3]


class TestBadInput:
    X = np.array([[1, 2], [3, 4], [5, 6], [7, 8]])

    @pytest.mark.parametrize("make", BOTH)
    def test_lengths_that_differ(self, make):
        with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[4, 3\]"):
            make().fit(self.X, [0, 1, 1])
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            PrivacyFunnel().fit(self.X, [0, 1, 1, 0], sensitive_features=[0, 1])

    @pytest.mark.parametrize("make", BOTH)
    def test_nothing_to_hide_or_tell(self, make):
        with pytest.raises(ValueError, match="requires y to be passed"):
            make().fit(self.X)
        with pytest.raises(ValueError, match="all rows of y are alike"):
            make().fit(self.X, [1, 1, 1, 1])
        with pytest.raises(ValueError, match=r"all rows of X are alike \(n_samples=4\)"):
            make().fit(np.ones((4, 2)), [0, 1, 0, 1])

    def test_several_targets(self):
        with pytest.raises(
            InvalidInput, match=r"one of utility, leakage, lam.*utility=0.4, lam=0.2"
        ):
            PrivacyFunnel(utility=0.4, lam=0.2).fit(self.X, [0, 1, 0, 1])
        with pytest.raises(InvalidInput, match=r"n_symbols=3, rate=0\.5"):
            InformationBottleneck(n_symbols=3, rate=0.5).fit(self.X, [0, 1, 0, 1])

    @pytest.mark.parametrize(
        ("estimator", "complaint"),
        [
            (PrivacyFunnel(utility=1.5), "utility must lie in"),
            (PrivacyFunnel(utility="much"), "utility must be a number"),
            (PrivacyFunnel(lam=-1), "lam must lie in"),
            (PrivacyFunnel(method="magic"), "method must be one of"),
            (PrivacyFunnel(effort="none"), "effort must be one of"),
            (PrivacyFunnel(lam=0.5, method="greedy", min_count=3), "no setting 'min_count'"),
            (PrivacyFunnel(handle_unknown="ignore"), "handle_unknown must be one of"),
            (PrivacyFunnel(min_count=9), "min_count must be at most"),
            (InformationBottleneck(n_symbols=0), "n_symbols must be at least 1"),
            (InformationBottleneck(n_symbols=2.5), "n_symbols must be a whole number"),
            (InformationBottleneck(n_symbols=np.inf), "n_symbols must be at least 1, got inf"),
            (InformationBottleneck(n_symbols=2, method="moves"), "n_symbols goes with"),
            (InformationBottleneck(method="soft"), "not for the bottleneck"),
        ],
    )
    def test_parameters_that_make_no_sense(self, estimator, complaint):
        with pytest.raises(ValueError, match=complaint):
            estimator.fit(self.X, [0, 1, 0, 1])

    def test_weights_and_values_that_cannot_count(self, people):
        with pytest.raises(ValueError, match="Input y contains NaN"):
            PrivacyFunnel().fit(self.X, [0, 1, np.nan, 1])
        with pytest.raises(ValueError, match=r"[Nn]egative"):
            PrivacyFunnel().fit(self.X, [0, 1, 0, 1], sample_weight=[1, -1, 1, 1])
        with pytest.raises(ValueError, match="mixed"):
            PrivacyFunnel().fit(np.array([["a"], [1], [2.5], ["b"]], dtype=object), [0, 1, 0, 1])
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            PrivacyFunnel().fit(people[PUBLIC][:0], [])
        funnel = PrivacyFunnel().fit(people[PUBLIC], people["sex"])
        with pytest.raises(ValueError, match="'city' holds whole numbers here, but text"):
            funnel.transform(people[PUBLIC].assign(city=1))
        with pytest.raises(ValueError, match="feature names"):
            funnel.transform(people[PUBLIC[::-1]])

    @pytest.mark.parametrize("make", BOTH)
    def test_not_fitted(self, make):
        for use in (make().transform, make().score):
            with pytest.raises(NotFittedError):
                use(*([self.X] if use.__name__ == "transform" else [self.X, [0, 1, 0, 1]]))
        with pytest.raises(NotFittedError):
            make().get_feature_names_out()
        assert issubclass(InvalidInput, FunnelError)


@pytest.mark.parametrize("kind", BOTH)
def test_a_public_estimator_keeps_the_bins_of_public_columns_only(kind):
    ages, sexes = pd.DataFrame({"age": 3 * [1, 2, 3, 4, 5, 6]}), pd.DataFrame({"sex": 9 * [0, 1]})
    fitted = kind(bins={"age": 3, "sex": [0.125]}).fit(ages, sexes)
    shipped = fitted.public()
    assert shipped.bins == {"age": 3}
    assert fitted.bins == {"age": 3, "sex": [0.125]}
    assert (shipped.transform(ages) == fitted.transform(ages)).all()
    assert b"0.125" not in pickle.dumps(shipped, protocol=0)
