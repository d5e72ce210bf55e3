"""Counts of a codebook: exact for the owner, and nothing below the least count for the public."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privacyfunnel as pf
from privacyfunnel.codebook import Codebook
from privacyfunnel.codebook.checks import checksum
from privacyfunnel.codebook.file import from_document, write
from privacyfunnel.codebook.recoded import mean_of_groups, recode
from privacyfunnel.codebook.tallies import told
from privacyfunnel.errors import InvalidInput, UnknownSymbol
from privacyfunnel.recodings import make_recoding
from privacyfunnel.report.numbers import several
from privacyfunnel.report.receiver_words import can_compute
from privacyfunnel.tables import count

PUBLIC = ["age", "city"]


def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    ill = rng.integers(0, 2, n)
    city = rng.choice(["Bonn", "Rom", "Pisa", "Köln", None], n, p=[0.4, 0.3, 0.2, 0.08, 0.02])
    return pd.DataFrame({"ill": ill, "age": rng.integers(18, 50, n) + 3 * ill, "city": city})


def book_of(table, recoding, least=1, sensitive="ill", public=PUBLIC):
    counted = count(table, sensitive, public)
    joint = counted.joint()
    if recoding == "symbols":
        solution = pf.frontier(joint, n_points=2, effort="fast", min_count=least, seed=0).at(
            utility=0.4
        )
    else:
        solution = pf.frontier(joint, recoding=recoding, n_points=2, min_count=least, seed=0).at(
            kept=0.4
        )
    return Codebook.from_solution(joint, solution, counted.roles, min_count=least)


TAMPERED = book_of(people(100), "global")


@pytest.mark.parametrize("recoding", ["symbols", "global", "local"])
def test_a_receiver_computes_the_marginals_exactly(recoding):
    table = people()
    book = from_document(json.loads(write(book_of(table, recoding).public())))
    for name in PUBLIC:
        sums: dict = {}
        i = PUBLIC.index(name)
        groups = [g.label for g in book.columns[i].groups] if book.columns else book.labels
        for label in groups:
            found = book.decode(label, name)
            assert found.untold == 0.0
            for value, share in found.values:
                sums[value] = sums.get(value, 0.0) + share * found.count
        true = table[name].map(lambda v: v if isinstance(v, str | int) else None)
        true = true.value_counts(dropna=False)
        assert {v: round(n, 9) for v, n in sums.items() if n} == {
            (None if pd.isna(v) else v): n for v, n in true.items()
        }
        if name == "age":
            total = sum(book.decode(g, name).mean * book.decode(g, name).count for g in groups)
            assert total / len(table) == pytest.approx(table["age"].mean(), rel=1e-12)


@pytest.mark.parametrize("least", [1, 5])
def test_a_receiver_is_told_over_which_records_the_mean_is_exact(least):
    """Of records that show * for the least count nothing is told: they are missing in the mean."""
    table = people()
    counted = count(table, "ill", PUBLIC)
    joint = counted.joint()
    fine = make_recoding("global", min_count=least, suppress=1.0).on(joint).finest()
    book = Codebook.from_solution(joint, fine, counted.roles, min_count=least).public()
    groups = [book.decode(g.label, "age") for g in book.columns[0].groups]
    known = [found for found in groups if found.mean is not None]
    hidden = sum(found.count for found in groups) - sum(found.count for found in known)
    total = sum(found.count * found.mean for found in known) / sum(found.count for found in known)
    words = " ".join(can_compute(book))
    assert (hidden > 0) == (least > 1)
    if hidden:
        assert f"of which nothing is told ({several(hidden, 'record')} in age)" in words
        assert total != pytest.approx(table["age"].mean(), abs=1e-6)
    else:
        assert "Over all records it is exact" in words
        assert total == pytest.approx(table["age"].mean(), rel=1e-9)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=7), st.integers(1, 6))
def test_no_count_below_the_least_is_told_or_found_by_subtraction(counts, least):
    shown = told(counts, least)
    hidden = [n for n, ok in zip(counts, shown, strict=True) if not ok]
    assert all(n >= least for n, ok in zip(counts, shown, strict=True) if ok)
    if sum(counts) >= least and hidden:
        assert len(hidden) >= 2
        assert sum(hidden) >= least


@pytest.mark.parametrize("recoding", ["symbols", "global", "local"])
def test_public_counts_keep_the_least_count(recoding):
    least = 5
    book = book_of(people(), recoding, least).public()
    document = json.loads(write(book))
    entries = document["symbols"]
    if recoding != "symbols":
        entries = [group for column in document["columns"] for group in column["groups"]]
        assert all("counts" not in group for group in entries if group["label"] == "*")
    n_told = 0
    for entry in entries:
        counts = entry.get("counts", [])
        counts = [n for _, n in counts] if recoding != "symbols" else counts
        if recoding != "symbols" and "mean" in entry and counts:
            assert sum(counts) == entry["count"]  # all or none: hidden ones could be solved for
        known = [n for n in counts if n is not None]
        n_told += len(known)
        assert all(n >= least for n in known)
        rest = entry["count"] - sum(known)
        assert not counts or rest == 0 or rest >= least
    assert n_told > 0


def test_a_column_that_is_sensitive_too_is_not_counted_in_public():
    table = people()
    for recoding in ("symbols", "global"):
        book = book_of(table, recoding, sensitive=["ill", "city"])
        public = json.loads(write(book.public()))
        if recoding == "symbols":
            assert not any("counts" in symbol for symbol in public["symbols"])
        else:
            counts = {
                c["name"]: [g for g in c["groups"] if "counts" in g] for c in public["columns"]
            }
            assert counts["age"]
            assert not counts["city"]


def test_decoding_says_what_it_cannot():
    book = book_of(people(), "global")
    with pytest.raises(InvalidInput, match="which column"):
        book.decode("Bonn")
    with pytest.raises(UnknownSymbol, match="no label"):
        book.decode("nowhere", "city")
    with pytest.raises(InvalidInput, match="no column"):
        book.decode("nowhere", "town")


def test_a_row_climbs_to_the_same_groups_in_every_table():
    """Beside which other rows a new combination stands must not change what it is released as."""
    table = people()
    book = book_of(table, "local")
    seen = set(book.values)
    ages, cities = range(18, 53), ["Bonn", "Rom", "Pisa", "Köln", None]
    news = [(a, c) for a in ages for c in cities if (a, c) not in seen][:12]
    assert len(news) > 3
    values = [list(dict.fromkeys(part)) for part in zip(*news, strict=True)]
    places = np.array([[values[i].index(v[i]) for i in range(2)] for v in news])
    together = recode(book, values, places)
    for value, cells in zip(news, together, strict=True):
        alone = recode(book, [[part] for part in value], np.zeros((1, 2), dtype=np.int64))[0]
        assert alone.tolist() == cells.tolist()


@pytest.mark.parametrize("change", ["more", "stranger", "negative", "none"])
def test_a_tampered_count_is_refused(change):
    document = json.loads(write(TAMPERED))
    [cities] = [column for column in document["columns"] if column["name"] == "city"]
    group = max(cities["groups"], key=lambda g: g["count"] if g["label"] != "*" else 0)
    if change == "more":
        group["counts"][0][1] += group["count"]
    elif change == "stranger":
        group["counts"][0][0] = "Nowhere"
    elif change == "negative":
        group["counts"][0][1] = -1
    else:
        del group["count"]
    document["checksum"] = checksum(document)
    with pytest.raises(InvalidInput, match="not a valid codebook"):
        from_document(document)


def test_a_mean_does_not_stumble_over_what_is_suppressed():
    joint = pf.Joint.from_counts([[3, 3, 1]], labels_x=[1.0, 2.0, np.inf], columns=["a"])
    shown = np.array([True, True, False])
    assert mean_of_groups(joint, np.array([[0], [0], [0]]), [1], shown) == ((1.5,),)
