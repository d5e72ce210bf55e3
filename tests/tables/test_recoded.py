"""Readable releases: every engine writes the same columns, no row is lost, new rows find a group."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest

import privacyfunnel as pf
from privacyfunnel.codebook import Codebook
from privacyfunnel.codebook.checks import checksum
from privacyfunnel.codebook.file import from_document, write
from privacyfunnel.codebook.recoded import holds
from privacyfunnel.columns import ColumnRules
from privacyfunnel.errors import InvalidInput, UnknownSymbol
from privacyfunnel.tables import count, write_release

pl = pytest.importorskip("polars")
PUBLIC = ["age", "city", "born"]


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    ill = rng.integers(0, 2, n)
    born = pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20, n) * 300, unit="D")
    return pd.DataFrame(
        {
            "ill": ill,
            "age": (rng.integers(18, 60, n) + 5 * ill).astype(float),
            "city": rng.choice(["Bonn", "Rom", "Pisa", None], n),
            "born": born.astype("datetime64[us]"),
            "id": np.arange(n),
        }
    )


def readable(table, kind, min_count=1, kept=0.5, public=PUBLIC, **rules):
    counted = count(table, "ill", public, columns=ColumnRules(**rules))
    joint = counted.joint()
    found = pf.frontier(joint, recoding=kind, n_points=2, seed=0, min_count=min_count)
    solution = found.at(kept=kept)
    book = Codebook.from_solution(joint, solution, counted.roles, min_count=min_count)
    return joint, solution, book


CASES = [(kind, least) for kind in ("global", "local") for least in (1, 4)]


@cache
def known(kind, least):
    return readable(people(), kind, least, kept=0.5 if least == 1 else 0.2)


def naive(book, value):
    """Slow twin: the groups that hold a value, by the codebook's own words, one row at a time."""
    seen = {v: row[0][0] for v, row in zip(book.values, book.rows, strict=True)}
    if value in seen:
        return book.stands_for(book.labels[seen[value]])
    if book.recoding == "global":
        labels = []
        for column, part in zip(book.columns, value, strict=True):
            fits = [g.label for g in column.groups if holds(g, part)]
            labels.append(min(fits, key=lambda label: label == "*"))
        return tuple(labels)
    return None


@pytest.mark.parametrize("engine", ["pandas", "polars", "lazy", "parquet", "csv"])
@pytest.mark.parametrize("which", CASES)
def test_every_engine_writes_the_columns_that_went_in(which, engine, tmp_path):
    table = people()
    _, solution, book = known(*which)
    source = {
        "pandas": lambda: table,
        "polars": lambda: pl.from_pandas(table),
        "lazy": lambda: pl.from_pandas(table).lazy(),
        "parquet": lambda: table.to_parquet(tmp_path / "t.parquet") or tmp_path / "t.parquet",
        "csv": lambda: table.to_csv(tmp_path / "t.csv", index=False) or tmp_path / "t.csv",
    }[engine]()
    done = write_release(source, book, tmp_path / "o.csv", keep="id")
    released = pd.read_csv(done.path, keep_default_na=False, dtype=str)
    assert list(released) == [*PUBLIC, "id"]
    assert released["id"].tolist() == [str(i) for i in range(400)]
    values = table[PUBLIC].astype(object).where(table[PUBLIC].notna(), None)
    rows = [(r.age, r.city, r.born.to_pydatetime()) for r in values.itertuples()]
    assert [tuple(r) for r in released[PUBLIC].to_numpy()] == [naive(book, row) for row in rows]
    again = count(released.assign(ill=table["ill"]), "ill", PUBLIC).joint()
    assert again.information == pytest.approx(solution.leakage, abs=1e-9)
    assert again.entropy_x == pytest.approx(solution.utility, abs=1e-9)
    assert sum(done.counts.values()) == done.n_released == 400
    assert again.counts.sum(axis=0).min() >= book.min_count or done.n_suppressed


@pytest.mark.parametrize("which", CASES)
def test_a_readable_codebook_comes_back_and_its_public_form_has_groups_only(which, tmp_path):
    _, _, book = known(*which)
    book.save(tmp_path / "c.json")
    assert Codebook.load(tmp_path / "c.json") == book
    public = book.public()
    assert from_document(json.loads(write(public))) == public
    assert "members" not in json.loads(write(public))["symbols"][0]
    jsonschema = pytest.importorskip("jsonschema")
    from privacyfunnel.codebook import schema

    for one in (book, public):
        jsonschema.validate(json.loads(write(one)), schema())
    new = people(60, seed=9)
    if book.recoding == "global" and book.min_count == 1:
        a = write_release(new, book, tmp_path / "a.csv").path.read_text()
        assert write_release(new, public, tmp_path / "b.csv").path.read_text() == a


def test_new_numbers_fall_into_their_interval_and_new_categories_follow_unseen(tmp_path):
    _, _, book = readable(people(), "global", kept=0.8)
    new = people(30, seed=3).assign(age=lambda t: t["age"] + 0.5, id=0)
    new.loc[0, ["age", "city"]] = [1000.0, "Rom"]
    done = write_release(new, book, tmp_path / "a.csv")
    released = pd.read_csv(done.path, keep_default_na=False, dtype=str)
    for age, label in zip(new["age"], released["age"], strict=True):
        [group] = [g for g in book.columns[0].groups if g.label == label]
        assert holds(group, age)
    new.loc[1, "city"] = "Oslo"
    with pytest.raises(UnknownSymbol, match="'city' has the value Oslo"):
        write_release(new, book, tmp_path / "b.csv")
    done = write_release(new, book, tmp_path / "b.csv", unseen="suppress")
    assert pd.read_csv(done.path, dtype=str)["city"][1] == "*"


def test_new_combinations_climb_under_local_recoding(tmp_path):
    _, _, book = known("local", 1)
    new = people(200, seed=5)
    done = write_release(new, book, tmp_path / "a.csv", unseen="suppress")
    released = pd.read_csv(done.path, keep_default_na=False, dtype=str)
    shown = {book.stands_for(label) for label in book.labels}
    assert {tuple(row) for row in released[PUBLIC].to_numpy()} <= {*shown, ("*",) * 3}
    for row, labels in zip(new[PUBLIC].itertuples(), released[PUBLIC].to_numpy(), strict=True):
        for column, value, label in zip(book.columns, row[1:], labels, strict=True):
            plain = None if value is None or value != value else value
            groups = [g for g in column.groups if g.label == label]
            assert label == "*" or holds(groups[0], plain)


def test_the_least_count_holds_on_new_rows_too(tmp_path):
    for which in (("global", 4), ("local", 4)):
        new = people(50, seed=7)
        done = write_release(new, known(*which)[2], tmp_path / f"{which[0]}.csv", unseen="suppress")
        sizes = pd.read_csv(done.path, keep_default_na=False).groupby(PUBLIC).size()
        assert sizes.min() >= 4
        assert sizes.sum() == 50


def test_numbers_can_be_computed_with(tmp_path):
    _, _, book = readable(people(), "global", kept=0.8)
    table = people()
    labels = pd.read_csv(write_release(table, book, tmp_path / "l.csv").path, dtype=str)
    bounds = pd.read_csv(write_release(table, book, tmp_path / "b.csv", numbers="bounds").path)
    assert [*bounds] == ["age", "age_low", "age_high", "city", "born", "born_low", "born_high"]
    low, high = bounds["age_low"].fillna(-np.inf), bounds["age_high"].fillna(np.inf)
    assert ((low <= table["age"]) & (table["age"] <= high)).all()
    means = pd.read_csv(write_release(table, book, tmp_path / "m.csv", numbers="mean").path)
    expected = table.groupby(labels["age"])["age"].transform("mean")
    assert np.allclose(means["age"], expected, rtol=1e-6)
    assert means["age"].mean() == pytest.approx(table["age"].mean(), rel=1e-6)
    with pytest.raises(InvalidInput, match="numbers must be one of"):
        write_release(table, book, tmp_path / "x.csv", numbers="median")
    with pytest.raises(InvalidInput, match="expand"):
        write_release(table, book, tmp_path / "x.csv", expand=True)


def test_rules_and_dropped_rows_go_with_a_recoding(tmp_path):
    table = people()
    table.loc[::7, "age"] = np.nan
    _, _, book = readable(table, "global", missing="drop", round={"age": 5})
    done = write_release(table, book, tmp_path / "o.csv")
    lacking = table[["age", "city"]].isna().any(axis=1).sum()
    assert done.n_dropped == lacking
    assert done.n_released == 400 - lacking


TAMPERED = {
    "two groups of one label": lambda d: d["columns"][1]["groups"][0].update(
        label="Rom or missing"
    ),
    "another column": lambda d: d["columns"][0].update(name="other"),
    "no columns": lambda d: d.pop("columns"),
    "unknown label": lambda d: d["symbols"][0].update(released=["x", "y", "z"]),
    "too few labels": lambda d: d["symbols"][0].update(released=["x"]),
    "a bound of another kind": lambda d: d["columns"][0]["groups"][0].update(low="x"),
    "a bound of a category": lambda d: d["columns"][1]["groups"][0].update(low=3),
    "ends before it begins": lambda d: d["columns"][0]["groups"][0].update(low=9.0, high=1.0),
    "a member of another kind": lambda d: d["columns"][1]["groups"][0].update(members=[3]),
    "a recoding unheard of": lambda d: d.update(recoding="cell"),
    "twin symbols": lambda d: d["symbols"][0].update(released=d["symbols"][1]["released"]),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_what_cannot_be_verified_is_refused(case):
    _, _, book = known("global", 1)
    document = json.loads(write(book))
    before = json.dumps(document)
    TAMPERED[case](document)
    if json.dumps(document) == before:
        pytest.skip("this codebook has no such part")
    document["checksum"] = checksum(document)
    with pytest.raises(InvalidInput, match="not a valid codebook"):
        from_document(document)
