"""Columns: rules are read from words, settled once, and the same in SQL, narwhals and Python."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacyfunnel.columns import Bins, Column, ColumnRules, Round, clean, show
from privacyfunnel.columns.spelling import read_by_column, spell_by_column
from privacyfunnel.errors import InvalidInput

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("ibis")

SCHEMA = {"i": "int64", "x": "float64"}
NUMBERS = st.floats(allow_nan=False, width=32) | st.integers(-1000, 1000).map(float)
EDGES = st.lists(
    st.integers(-50, 50) | st.floats(-50, 50, allow_nan=False), min_size=1, max_size=6, unique=True
).map(lambda edges: tuple(sorted(edges)))


def settled(rules, name="x", kind="integer", edges=()):
    return rules.column(name, kind, lambda n: list(edges)).rule


# --- reading the words ------------------------------------------------------------------------


def test_words_of_the_command_line():
    rules = ColumnRules.parse(
        bins=["chol=10", "age=0,18,40,65", "a==b=1.5,2", "born=1950-01-01,1980-06-30", "one=2.5"],
        round=["bmi=0.5"],
        missing="drop",
    )
    assert rules.bins == {
        "chol": 10,
        "age": (0, 18, 40, 65),
        "a=b": (1.5, 2),
        "born": (date(1950, 1, 1), date(1980, 6, 30)),
        "one": (2.5,),
    }
    assert rules.round == {"bmi": 0.5}
    assert rules.names == ["chol", "age", "a=b", "born", "one", "bmi"]


@given(st.text("a= ,", min_size=1), st.sampled_from(["3", "1,2"]))
def test_a_mark_within_a_name_is_typed_by_one_rule(name, value):
    word = spell_by_column(name, value)
    assert read_by_column("cuts", [word], str) == {name: value}
    assert ColumnRules.parse(bins=[word]).names == [name]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"bins": ["chol"]}, "COLUMN=VALUE"),
        ({"bins": ["=3"]}, "COLUMN=VALUE"),
        ({"bins": ["chol="]}, "COLUMN=VALUE"),
        ({"bins": ["chol=many"]}, "numbers or dates"),
        ({"bins": ["a=b=3"]}, "got 'b=3'; a = within a column's name is doubled"),
        ({"bins": ["chol=1,inf"]}, "numbers or dates"),
        ({"bins": ["chol=nan"]}, "numbers or dates"),
        ({"bins": ["chol=2", "chol=3"]}, "twice"),
        ({"bins": ["chol=2"], "round": ["chol=3"]}, "choose one"),
        ({"round": ["chol=1,2"]}, "one step"),
        ({"round": ["chol=1950-01-01"]}, "one step"),
        ({"missing": "ignore"}, "missing must be one of"),
    ],
)
def test_words_that_make_no_sense(options, complaint):
    with pytest.raises(InvalidInput, match=complaint):
        ColumnRules.parse(**options)


# --- settling ---------------------------------------------------------------------------------


def test_rules_are_settled_against_the_column():
    assert settled(ColumnRules()) is None
    assert settled(ColumnRules(round={"x": 10.0})) == Round(10.0)
    assert settled(ColumnRules(bins={"x": 4}), edges=[3.0, 3.0, 7.0]) == Bins((3, 7))
    assert settled(ColumnRules(bins={"x": 2}), kind="number", edges=[-0.0]).edges == (0.0,)
    day = ColumnRules(bins={"x": [date(1950, 1, 1)]})
    assert settled(day, kind="date") == Bins((date(1950, 1, 1),))
    assert settled(day, kind="datetime") == Bins((datetime(1950, 1, 1),))


@pytest.mark.parametrize(
    ("rules", "kind", "complaint"),
    [
        (ColumnRules(round={"x": 1.0}), "text", "rounding needs numbers"),
        (ColumnRules(bins={"x": 3}), "text", "quantile bins need numbers"),
        (ColumnRules(bins={"x": 3}), "date", "no values"),
        (ColumnRules(bins={"x": 1}), "integer", "2 to 1,000"),
        (ColumnRules(bins={"x": 3}), "integer", "no values"),
        (ColumnRules(bins={"x": [1, 2]}), "text", "bins need numbers"),
        (ColumnRules(bins={"x": [1, 2]}), "date", "must be dates"),
        (ColumnRules(bins={"x": [date(1950, 1, 1)]}), "integer", "must be numbers"),
        (ColumnRules(bins={"x": [2, 1]}), "integer", "edges that rise"),
        (ColumnRules(bins={"x": []}), "integer", "edges that rise"),
        (ColumnRules(round={"x": 0.0}), "integer", "above 0"),
        (ColumnRules(round={"x": math.inf}), "integer", "above 0"),
    ],
)
def test_rules_that_do_not_fit_the_column(rules, kind, complaint):
    with pytest.raises(InvalidInput, match=complaint):
        settled(rules, kind=kind)


# --- one rule, three languages ----------------------------------------------------------------


def in_sql(rule, values):
    with duckdb.connect() as con:
        rows = con.execute(
            f"SELECT {rule.sql('x')} FROM (SELECT unnest(?::DOUBLE[]) AS x)", [values]
        ).fetchall()
    return [row[0] for row in rows]


def in_narwhals(rule, values):
    import ibis
    import narwhals as nw

    frame = nw.from_native(ibis.memtable({"i": range(len(values)), "x": values}, schema=SCHEMA))
    chosen = frame.select(i="i", x=rule.expr(nw.col("x"))).collect()
    return chosen.sort("i")["x"].to_list()


@settings(max_examples=30)
@given(EDGES, st.lists(st.none() | NUMBERS, max_size=8))
def test_bins_are_the_same_in_every_language(edges, values):
    rule = Bins(edges)
    values = [*values, *map(float, edges)]
    expected = [None if v is None else rule.index(v) for v in values]
    assert in_sql(rule, values) == in_narwhals(rule, values) == expected
    for value, index in zip(values, expected, strict=True):
        if value is not None:
            assert index == sum(edge <= value for edge in edges)
            assert rule.raw(rule.label(index)) == index


@settings(max_examples=30)
@given(st.sampled_from([0.1, 0.25, 1, 3, 10, 49, 7.5]), st.lists(st.none() | NUMBERS, max_size=8))
def test_rounding_is_the_same_in_every_language(step, values):
    rule = Round(step)
    values = [*values, 0.0, step / 2, -step / 2]
    expected = [None if v is None else rule.index(v) for v in values]
    assert in_sql(rule, values) == in_narwhals(rule, values) == expected
    for value, index in zip(values, expected, strict=True):
        if value is not None and abs(value) < 1e9:
            assert rule.raw(rule.label(index)) == index
            assert abs(rule.label(index) - value) <= step / 2 * (1 + 1e-6)


def test_bins_of_dates_are_the_same_in_sql():
    rule = Bins((date(1950, 1, 1), date(1980, 6, 30)))
    days = [date(1949, 12, 31), date(1950, 1, 1), date(1999, 1, 1), None]
    with duckdb.connect() as con:
        rows = con.execute(f"SELECT {rule.sql('x')} FROM (SELECT unnest(?::DATE[]) AS x)", [days])
        assert [row[0] for row in rows.fetchall()] == [0, 1, 2, None]
    assert [rule.label(i) for i in range(3)] == [
        "before 1950-01-01",
        "[1950-01-01, 1980-06-30)",
        "1980-06-30 or later",
    ]


# --- symbols ----------------------------------------------------------------------------------


def test_a_column_s_symbols_come_back_as_they_went():
    age = Column("age", "integer", Bins((18, 65)))
    assert [age.symbol(i) for i in (0, 1, 2, None)] == ["under 18", "[18, 65)", "65 or more", None]
    assert [age.raw(age.symbol(i)) for i in (0, 1, 2, None)] == [0, 1, 2, None]
    with pytest.raises(InvalidInput, match="no bin"):
        age.raw("[18, 66)")
    assert Column("chol", "number", Round(10)).encode(285.0) == 290
    assert Column("chol", "number", Round(0.1)).encode(0.3) == 0.3
    assert Column("chol", "number", Round(1e-05)).encode(0.000012) == 1e-05
    assert Column("chol", "number", Round(10)).encode(math.inf) == math.inf
    assert Column("city", "text").encode(float("nan")) is None


def test_values_are_cleaned():
    assert clean(Decimal("2.50")) == 2.5
    assert math.copysign(1, clean(-0.0)) == 1
    berlin = datetime(2020, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    assert clean(berlin) == clean(datetime(2020, 1, 1, tzinfo=UTC)) == datetime(2020, 1, 1)
    assert clean(True) is True
    assert [show(v) for v in (True, 1.5, math.inf, "a", datetime(2020, 1, 1, 2))] == [
        "True",
        "1.5",
        "inf",
        "a",
        "2020-01-01T02:00:00",
    ]
