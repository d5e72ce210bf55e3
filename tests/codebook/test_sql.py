"""A codebook's SQL gives the very rows of `apply`, in each warehouse that can be had here.

In Spark too: `tables/test_spark.py`, whose session it takes.
"""

from __future__ import annotations

import pytest

from coded_rows import CASES, CITY, ROWS, TABLE, applied, asked, book, rows
from privacyfunnel.codebook.exports.sql import DIALECTS
from privacyfunnel.errors import InvalidInput
from warehouses import (
    in_duckdb,
    in_postgres,
    in_sqlite,
    postgres,
    postgres_tools,
)

sqlglot = pytest.importorskip("sqlglot")


@pytest.mark.parametrize("case", CASES)
def test_duckdb_and_sqlite_release_the_same_rows(case, tmp_path):
    coded = book(case)
    given = ROWS.drop_columns(["ill"])
    for one in (coded, coded.public())[: 1 if coded.soft else 2]:
        wanted = applied(one, given, tmp_path, **asked(case))
        sql = one.to_sql("duckdb", table=TABLE, keep=["id"], **asked(case))
        assert in_duckdb(given, TABLE, sql) == wanted
        if not coded.soft:
            assert in_sqlite(given, TABLE, one.to_sql("sqlite", table=TABLE, keep=["id"])) == wanted


@pytest.mark.parametrize("case", [case for case in CASES if "least" in case])
def test_few_rows_are_hidden_as_apply_hides_them(case, tmp_path):
    coded = book(case)
    n_hidden = set()
    for n in (3, 9, 17, 30, 45, 60, 80, 120, 300):
        given = rows(n, seed=n, unseen=n % 2 == 0)
        sql = coded.to_sql("sqlite", table=TABLE, keep=["id"])
        found = in_sqlite(given, TABLE, sql)
        hidden = sum(set(row[:-1]) <= {"*", "suppressed"} for row in found)
        n_hidden.add(hidden < n)
        if hidden < n or n >= coded.min_count:
            assert found == applied(coded, given, tmp_path)
        else:
            with pytest.raises(InvalidInput, match="fewer than"):
                applied(coded, given, tmp_path)
    assert n_hidden == {True, False}


@pytest.mark.parametrize("numbers", ["bounds", "mean"])
def test_numbers_are_written_as_apply_writes_them(numbers, tmp_path):
    for case in ("global", "local"):
        wanted = applied(book(case), ROWS, tmp_path, numbers=numbers)
        for dialect, run in (("duckdb", in_duckdb), ("sqlite", in_sqlite)):
            sql = book(case).to_sql(dialect, table="t", keep=["id"], numbers=numbers)
            assert run(ROWS, "t", sql) == wanted


@pytest.mark.skipif(postgres_tools() is None, reason="PostgreSQL is not installed")
def test_postgresql_releases_the_same_rows(tmp_path):
    with postgres() as ask:
        for case in CASES:
            wanted = applied(book(case), ROWS, tmp_path, **asked(case))
            sql = book(case).to_sql(
                "postgres", table=TABLE, keep=["id"], has_sensitive=True, **asked(case)
            )
            assert in_postgres(ROWS, TABLE, sql, ask) == wanted, case


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_reads_what_it_is_given(dialect):
    for case in CASES:
        if dialect == "sqlite" and book(case).soft:
            continue
        sql = book(case).to_sql(dialect, table=["my schema", TABLE], keep=["id"], **asked(case))
        [tree] = sqlglot.parse(sql, read=dialect)
        assert tree.find(sqlglot.exp.Select)
        names = {column.name for column in tree.find_all(sqlglot.exp.Column)}
        wanted = set(CASES[case][1])
        if dialect == "bigquery":  # whose names hold no backtick
            wanted.discard(CITY)
        assert wanted <= names


def test_what_sql_cannot_do_is_said():
    with pytest.raises(InvalidInput, match="no sha256"):
        book("symbols by lot").to_sql("sqlite", key="id")
    with pytest.raises(InvalidInput, match="names the row"):
        book("symbols by lot").to_sql("duckdb")
    with pytest.raises(InvalidInput, match="public codebook"):
        book("symbols by lot").public().to_sql("duckdb", key="id")
    with pytest.raises(InvalidInput, match="dialect"):
        book("global").to_sql("cobol")
    with pytest.raises(InvalidInput, match="promises"):
        book("global, least count").to_sql(unseen="null")
    with pytest.raises(InvalidInput, match="two columns named"):
        book("global").to_sql(keep=[CITY])


def test_unknown_values_can_be_null(tmp_path):
    coded = book("symbols of a text")
    sql = coded.to_sql("duckdb", table="t", keep=["id"], unseen="null")
    import duckdb

    con = duckdb.connect()
    con.register("t", ROWS)
    wanted = [row for row in applied(coded, ROWS, tmp_path) if row[0] == "suppressed"]
    found = con.execute(f"SELECT count(*) FROM ({sql.rstrip().rstrip(';')}) WHERE released IS NULL")
    assert found.fetchall() == [(len(wanted),)]
    assert wanted
