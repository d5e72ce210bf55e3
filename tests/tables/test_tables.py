"""Tables: every engine gives the same counts and the same release, and no row is lost."""

from __future__ import annotations

import csv
import datetime as dt
import hashlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacyfunnel import Channel, Funnel, Joint, Partition, Solution, Status
from privacyfunnel.codebook import Codebook
from privacyfunnel.columns import ColumnRules
from privacyfunnel.errors import DataUnavailable, FunnelError, InvalidInput, UnknownSymbol
from privacyfunnel.tables import count, identifiers, open_table, summary, write_release

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = [
    {
        "age": None if i % 17 == 0 else 20 + i * 7 % 60,
        "sex": ["f", "m", None][i % 3],
        "chol": [None, float("nan"), -0.0, 0.0, 1.5, 1e300, float("inf"), 200.25][i % 8],
        "smoker": [True, False, None][i % 3],
        "born": None if i % 11 == 0 else dt.date(1900 + 3 * (i % 30), 1 + i % 6, 1),
        "seen": None if i % 13 == 0 else dt.datetime(2020, 1, 1, i % 24, 30),
        "city": ["Köln", "a,b", 'say "hi"', "two\nlines", "<script>", "", None, "'; --"][i % 8],
        "n": i,
    }
    for i in range(120)
]
SCHEMA = pa.schema(
    [
        ("age", pa.int64()),
        ("sex", pa.string()),
        ("chol", pa.float64()),
        ("smoker", pa.bool_()),
        ("born", pa.date32()),
        ("seen", pa.timestamp("us")),
        ("city", pa.string()),
        ("n", pa.int64()),
    ]
)


def arrow(rows=ROWS, schema=SCHEMA):
    return pa.Table.from_pylist(rows, schema=schema)


def as_database(table, place):
    with duckdb.connect(str(place)) as con:
        con.register("given", table)
        con.execute("CREATE TABLE patients AS SELECT * FROM given")
    return f"duckdb://{place}#patients"


def as_file(table, place, options):
    with duckdb.connect() as con:
        con.register("given", table)
        con.execute(f"COPY (SELECT * FROM given) TO '{place}' ({options})")
    return place


def as_parquet(table, place):
    pq.write_table(table, place)
    return place


def as_ibis(table):
    ibis = pytest.importorskip("ibis")
    return ibis.memtable(table)


ENGINES = {
    "pandas": lambda table, tmp: table.to_pandas(),
    "polars": lambda table, tmp: pl.from_arrow(table),
    "polars-lazy": lambda table, tmp: pl.from_arrow(table).lazy(),
    "pyarrow": lambda table, tmp: table,
    "duckdb": lambda table, tmp: duckdb.from_arrow(table),
    "ibis": lambda table, tmp: as_ibis(table),
    "parquet": lambda table, tmp: as_parquet(table, tmp / "t.parquet"),
    "jsonl": lambda table, tmp: as_file(table, tmp / "t.jsonl", "FORMAT json"),
    "database": lambda table, tmp: as_database(table, tmp / "t.duckdb"),
}
# A csv has no empty text and no infinite numbers in quotes; it is compared on what it can hold.
FILES = {
    "csv": lambda table, tmp: as_file(table, tmp / "t.csv", "FORMAT csv, HEADER"),
    "tsv": lambda table, tmp: as_file(table, tmp / "t.tsv", "FORMAT csv, HEADER, DELIM '\t'"),
    "semicolons": lambda table, tmp: as_file(table, tmp / "t.csv", "FORMAT csv, HEADER, DELIM ';'"),
    "gzip": lambda table, tmp: as_file(table, tmp / "t.csv.gz", "FORMAT csv, HEADER"),
}


def plain(value):
    """Slow twin of what a value is as a symbol."""
    if isinstance(value, float) and value != value:
        return None
    return 0.0 if value == 0 and isinstance(value, float) else value


def symbols_of(rows, names):
    values = [tuple(plain(row[name]) for name in names) for row in rows]
    return [v[0] for v in values] if len(names) == 1 else values


def naive_cells(rows, sensitive, public):
    """Slow twin of the count: a dictionary over the rows."""
    return Counter(zip(symbols_of(rows, sensitive), symbols_of(rows, public), strict=True))


def cells(counted):
    matrix = counted.counts.tocoo()
    return {
        (counted.labels_s[s], counted.labels_x[x]): n
        for s, x, n in zip(*matrix.coords, matrix.data, strict=True)
    }


def book_for(table, sensitive, public, n_symbols=3, soft=False, rules=None, secret=None):
    """A codebook whose code is arbitrary: tables do not care how good it is."""
    counted = count(table, sensitive, public, columns=rules)
    joint = counted.joint()
    if soft:
        matrix = np.random.default_rng(0).dirichlet(np.ones(n_symbols), size=joint.n_x)
        matrix[0] = np.eye(n_symbols)[1]
        code = Channel(matrix)
    else:
        code = Partition(np.arange(joint.n_x) % n_symbols)
    solution = Solution.measured(joint, Funnel(0.5), code, Status.CONVERGED)
    return Codebook.from_solution(joint, solution, counted.roles, secret=secret)


def column_of(path, name="released"):
    if path.suffix == ".csv":
        return pd.read_csv(path, keep_default_na=False)[name].tolist()
    return pq.read_table(path)[name].to_pylist()


# --- counting ---------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("sensitive", "public"),
    [
        (["age", "sex"], ["sex", "chol"]),
        (["smoker"], ["city"]),
        (["sex"], ["born", "seen"]),
        (["chol"], ["smoker", "born", "city", "age"]),
    ],
)
def test_every_engine_counts_as_the_slow_twin_does(engine, sensitive, public, tmp_path):
    rows = ROWS if engine != "jsonl" else [r | {"chol": _finite(r["chol"])} for r in ROWS]
    counted = count(ENGINES[engine](arrow(rows), tmp_path), sensitive, public)
    assert cells(counted) == naive_cells(rows, sensitive, public)
    reference = count(arrow(rows), sensitive, public)
    assert counted.labels_s == reference.labels_s
    assert counted.labels_x == reference.labels_x
    assert counted.n_rows == len(rows)


def _finite(value):
    return None if value is None or not np.isfinite(value) else value


@pytest.mark.parametrize("form", FILES)
def test_text_files_count_as_the_slow_twin_does(form, tmp_path):
    rows = [r | {"chol": _finite(r["chol"]), "city": r["city"] or None} for r in ROWS]
    source = FILES[form](arrow(rows), tmp_path)
    counted = count(source, ["age", "sex"], ["chol", "city", "born", "seen", "smoker"])
    assert cells(counted) == naive_cells(
        rows, ["age", "sex"], ["chol", "city", "born", "seen", "smoker"]
    )
    assert open_table(source).columns["born"] == "date"


@pytest.mark.parametrize("engine", [*ENGINES])
def test_every_engine_gives_the_identical_joint(engine, tmp_path):
    rows = ROWS if engine != "jsonl" else [r | {"chol": _finite(r["chol"])} for r in ROWS]
    joint = Joint.from_table(
        ENGINES[engine](arrow(rows), tmp_path), ["age", "sex"], ["sex", "chol"]
    )
    reference = Joint.from_table(arrow(rows), ["age", "sex"], ["sex", "chol"])
    assert joint.labels_s == reference.labels_s
    assert joint.labels_x == reference.labels_x
    assert (joint.counts != reference.counts).nnz == 0


def test_symbols_are_python_values_in_rising_order_with_missing_last():
    counted = count(arrow(), ["age"], ["city"])
    assert counted.labels_s == [*sorted(a for a in counted.labels_s if a is not None), None]
    assert {type(a) for a in counted.labels_s} == {int, type(None)}
    assert {type(x) for x in counted.labels_x} == {str, type(None)}
    assert {type(x) for x in count(arrow(), "age", "born").labels_x} == {dt.date, type(None)}
    assert {type(x) for x in count(arrow(), "age", "smoker").labels_x} == {bool, type(None)}


def test_odd_types_become_plain_symbols():
    table = pa.table(
        {
            "s": [1, 2, 1],
            "decimal": pa.array([Decimal("1.10"), None, Decimal("2.30")]),
            "zone": pa.array([0, 3_600_000_000, None], pa.timestamp("us", tz="Europe/Berlin")),
            "nanos": pa.array([1, 2, 2_000_000_000], pa.timestamp("ns")),
            "enum": pa.array(["a", "b", None]).dictionary_encode(),
            "small": pa.array([0.1, 0.2, float("nan")], pa.float32()),
            "nothing": pa.nulls(3),
        }
    )
    epoch = dt.datetime(1970, 1, 1)
    for frame in (table, pl.from_arrow(table.drop(["nothing"])).lazy()):
        assert count(frame, "s", "decimal").labels_x == [1.1, 2.3, None]
        assert count(frame, "s", "zone").labels_x == [epoch, epoch.replace(hour=1), None]
        assert count(frame, "s", "nanos").labels_x == [epoch, epoch.replace(second=2)]
        assert count(frame, "s", "enum").labels_x == ["a", "b", None]
        assert count(frame, "s", "small").labels_x == [*map(float, np.float32([0.1, 0.2])), None]
    assert count(table, "s", "nothing", constant=True).labels_x == [None]


def test_several_columns_share_no_symbol():
    table = pd.DataFrame({"a": ["x", "x,y"], "b": ["y,z", "z"], "s": [0, 1]})
    assert count(table, "s", ["a", "b"]).labels_x == [("x", "y,z"), ("x,y", "z")]


@pytest.mark.parametrize("engine", ["pandas", "polars-lazy", "ibis", "parquet"])
def test_weights_are_summed(engine, tmp_path):
    rows = [{"s": i % 2, "x": i % 3, "w": 0.5 + i} for i in range(30)]
    table = pa.Table.from_pylist(rows)
    counted = count(ENGINES[engine](table, tmp_path), "s", "x", weight="w")
    expected = Counter()
    for row in rows:
        expected[row["s"], row["x"]] += row["w"]
    assert cells(counted) == pytest.approx(expected)
    assert counted.joint().n_records is None
    assert counted.joint().total == pytest.approx(sum(row["w"] for row in rows))


@pytest.mark.parametrize(
    ("weights", "complaint"),
    [([1, None], "missing in 1 rows"), ([1, -1], "not negative"), ([0, 0], "0 everywhere")],
)
def test_bad_weights_are_refused(weights, complaint):
    table = pd.DataFrame({"s": [0, 1], "x": [0, 1], "w": weights})
    with pytest.raises(InvalidInput, match=complaint):
        count(table, "s", "x", weight="w")


def test_the_missing_rule():
    rows = [{"s": s, "x": x} for s, x in [(1, 1), (2, 2), (None, 1), (1, None), (None, None)]]
    table = pa.Table.from_pylist(rows)
    assert count(table, "s", "x").counts.sum() == 5
    dropped = count(table, "s", "x", columns=ColumnRules(missing="drop"))
    assert (dropped.counts.sum(), dropped.n_dropped, dropped.n_rows) == (2, 3, 5)
    assert dropped.labels_s == [1, 2]
    with pytest.raises(InvalidInput, match="'s' is missing in 2 rows"):
        count(table, "s", "x", columns=ColumnRules(missing="error"))
    empty = pa.table({"s": [1, 2], "x": pa.array([None, None], pa.int64())})
    with pytest.raises(InvalidInput, match="every row"):
        count(empty, "s", "x", columns=ColumnRules(missing="drop"))


@pytest.mark.parametrize("engine", ENGINES)
def test_coarsening_is_the_same_in_every_engine(engine, tmp_path):
    rules = ColumnRules.parse(
        bins=["age=5", "born=1920-01-01,1950-06-01", "seen=2020-01-01"], round=["chol=0.5"]
    )
    rows = [r | {"chol": _finite(r["chol"])} for r in ROWS]
    public = ["age", "born", "seen", "chol"]
    counted = count(ENGINES[engine](arrow(rows), tmp_path), "sex", public, columns=rules)
    columns = counted.roles.public
    coarse = [
        {c.name: c.encode(row[c.name]) for c in columns} | {"sex": row["sex"]} for row in rows
    ]
    assert cells(counted) == naive_cells(coarse, ["sex"], public)
    ages = sorted(row["age"] for row in rows if row["age"] is not None)
    ranks = [max(1, -(-i * len(ages) // 5)) - 1 for i in range(1, 5)]
    assert columns[0].rule.edges == tuple(sorted({ages[r] for r in ranks}))
    assert counted.labels_x[0][0].startswith("under ")


# --- bad input --------------------------------------------------------------------------------


def one_line(info):
    assert "\n" not in str(info.value)
    return str(info.value)


def complain(call, *args, error=FunnelError, **options):
    with pytest.raises(error) as info:
        call(*args, **options)
    return one_line(info)


def test_unknown_columns_get_a_suggestion():
    assert "did you mean 'chol'?" in complain(count, arrow(), "age", "chlo", error=InvalidInput)
    assert "there are age" in complain(count, arrow(), "zzz", "chol")
    assert "public column" in complain(count, arrow(), "age", "Chol")


def test_roles_that_make_no_sense():
    assert "nothing could be published" in complain(count, arrow(), ["age", "sex"], ["sex", "age"])
    assert "at least one public" in complain(count, arrow(), "age", [])
    assert "named twice" in complain(count, arrow(), "age", ["sex", "sex"])
    assert "not counted" in complain(
        count, arrow(), "age", "sex", columns=ColumnRules(bins={"chol": 3})
    )
    assert "must hold numbers" in complain(count, arrow(), "age", "sex", weight="city")


def test_one_distinct_value_and_no_rows():
    table = pd.DataFrame({"s": [1, 1], "x": [1, 2]})
    assert "nothing to protect" in complain(count, table, "s", "x")
    assert "nothing to publish" in complain(count, table, "x", "s")
    assert count(table, "x", "s", constant=True).labels_x == [1]
    assert "no rows" in complain(count, table.iloc[:0], "s", "x")


def test_columns_that_cannot_be_counted_are_named_only_when_asked_for():
    table = pd.DataFrame({"s": [1, 2], "x": [1, 2], "mixed": [1, "a"], "lists": [[1], [2]]})
    assert count(table, "s", "x").n_rows == 2
    assert "'mixed'" in complain(count, table, "s", "mixed")
    assert "'lists'" in complain(count, table, "s", "lists")


def test_two_columns_of_one_name(tmp_path):
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    assert "two columns" in complain(count, frame, "a", "b", error=InvalidInput)
    (tmp_path / "t.csv").write_text("a,b,a,A\n1,2,3,4\n5,6,7,8\n")
    assert count(tmp_path / "t.csv", "b", ["a", "a_1"]).labels_x == [(1, 3), (5, 7)]
    assert count(tmp_path / "t.csv", "b", "A").labels_x == [4, 8]


def test_names_that_differ_only_in_case(tmp_path):
    table = pa.table({"Age": [1, 2], "age": [3, 4], "x": [5, 6]})
    for engine in ("parquet", "pyarrow", "polars-lazy"):
        source = ENGINES[engine](table, tmp_path)
        assert count(source, ["Age", "age"], "x").labels_s == [(1, 3), (2, 4)]
        book = book_for(source, "x", ["Age", "age"])
        assert write_release(source, book, tmp_path / f"{engine}.csv", keep="age").n_released == 2
        assert "two columns" in complain(
            write_release, source, book, tmp_path / "o.csv", keep=["Age", "age"]
        )


def test_files_that_cannot_be_read(tmp_path):
    for name, text, complaint in [
        ("empty.csv", b"", "is empty"),
        ("blank.csv", b"\n\n", "is empty"),
        ("bytes.csv", b"\xff\xfe\x00\x01,\x00", "UTF-8"),
        ("late.csv", "a,b\nz\u00fcrich,1\n".encode("latin-1"), "UTF-8"),
        ("ragged.csv", b"a,b\n1,2\n3\n4,5,6\n", "cannot read"),
        ("t.parquet", b"hello", "cannot read"),
        ("t.jsonl", b"{not json}\n", "cannot read"),
        ("t.xlsx", b"PK", "cannot tell the format"),
    ]:
        (tmp_path / name).write_bytes(text)
        assert complaint in complain(open_table, tmp_path / name), name
    (tmp_path / "head.csv").write_text("a,b\n")
    assert "no rows" in complain(count, tmp_path / "head.csv", "a", "b")
    assert "no such file" in complain(open_table, tmp_path / "none.csv", error=DataUnavailable)
    (tmp_path / "folder").mkdir()
    assert "holds no" in complain(open_table, tmp_path / "folder")
    assert "no such database" in complain(open_table, f"duckdb://{tmp_path}/none.db#t")
    assert "cannot open the address" in complain(open_table, "s3://bucket/t.csv")
    assert "pass a path" in complain(open_table, [1, 2, 3])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    (tmp_path / "t.csv").chmod(0)
    assert "no permission" in complain(open_table, tmp_path / "t.csv", error=DataUnavailable)


def test_database_addresses(tmp_path):
    address = as_database(arrow(), tmp_path / "odd #name's.duckdb")
    before = (tmp_path / "odd #name's.duckdb").read_bytes()
    assert count(address, "age", "sex").n_rows == len(ROWS)
    assert count(address.removesuffix("#patients") + "#patients", "age", "sex").n_rows == len(ROWS)
    assert "did you mean 'patients'" in complain(open_table, address.replace("#pat", "#pta"))
    assert (tmp_path / "odd #name's.duckdb").read_bytes() == before
    plain_name = as_database(arrow(), tmp_path / "plain.duckdb").removesuffix("#patients")
    assert count(plain_name, "age", "sex").n_rows == len(ROWS)


def test_globs_folders_and_names_that_look_like_globs(tmp_path):
    for name in ("a[1].csv", "b*.csv", "c.csv"):
        (tmp_path / name).write_text("s,x\n1,2\n3,4\n")
    assert count(tmp_path / "a[1].csv", "s", "x").n_rows == 2
    assert count(str(tmp_path / "*.csv"), "s", "x").n_rows == 6
    assert count(tmp_path, "s", "x").n_rows == 6
    (tmp_path / "d.csv").write_text("x,s\n1,2\n")
    assert "other columns" in complain(open_table, tmp_path)
    (tmp_path / "d.csv").unlink()
    as_parquet(arrow(), tmp_path / "t.parquet")
    assert "mixes formats" in complain(open_table, tmp_path)


def test_names_that_hold_line_ends(tmp_path):
    (tmp_path / "t.csv").write_bytes(b'"a\nb",c\n1,"x\ry"\n2,"x\nz"\n3,\n')
    counted = count(tmp_path / "t.csv", "a\nb", "c")
    assert counted.labels_s == [1, 2, 3]
    assert counted.labels_x == ["x\nz", "x\ry", None]
    (tmp_path / "t.csv").write_bytes(b'"a\rb",c\n1,2\n')
    assert "rename it" in complain(open_table, tmp_path / "t.csv")


def test_a_type_that_changes_late_in_a_csv_is_seen(tmp_path):
    (tmp_path / "t.csv").write_text("s,x\n" + "1,2\n" * 30_000 + "1,abc\n")
    assert count(tmp_path / "t.csv", "x", "s", constant=True).labels_s == ["2", "abc"]


def test_the_memory_bound_is_checked_and_spills(tmp_path):
    assert "2GB" in complain(open_table, arrow(), memory="lots")
    assert "2GB" in complain(open_table, arrow(), memory="0GB")
    with duckdb.connect() as con:
        con.execute(
            f"COPY (SELECT hash(i) % 500000 AS a, hash(i, 1) % 3 AS s, 'text of ' || hash(i) AS x "
            f"FROM range(1_000_000) r(i)) TO '{tmp_path}/t.parquet'"
        )
    table = open_table(tmp_path / "t.parquet", memory="150MB")
    assert count(table, "s", "a").counts.sum() == 1_000_000
    tight = open_table(tmp_path / "t.parquet", memory="1MB")
    assert "allow more" in complain(count, tight, "s", "x")


# --- releasing --------------------------------------------------------------------------------


@pytest.mark.parametrize("fmt", ["parquet", "csv"])
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_releases_as_the_slow_twin_does(engine, fmt, tmp_path):
    rows = ROWS if engine != "jsonl" else [r | {"chol": _finite(r["chol"])} for r in ROWS]
    public = ["sex", "chol", "city"]
    book = book_for(arrow(rows), ["age"], public)
    expected = [book.encode(tuple(row[name] for name in public)) for row in rows]
    table = ENGINES[engine](arrow(rows), tmp_path)
    done = write_release(table, book, tmp_path / f"out.{fmt}", keep="n")
    assert column_of(done.path) == expected
    assert column_of(done.path, "n") == [row["n"] for row in rows]
    assert done.n_released == done.n_rows == len(rows)
    assert done.counts == dict(sorted(Counter(expected).items()))
    assert done.counts == {s.label: s.count for s in book.symbols}


def test_the_release_of_coarsened_columns_and_new_rows(tmp_path):
    rules = ColumnRules.parse(bins=["age=4"], round=["chol=50"])
    table = arrow([r | {"chol": _finite(r["chol"])} for r in ROWS])
    book = book_for(table, "sex", ["age", "chol"], rules=rules)
    new = pd.DataFrame({"age": [-5, 21, 999], "chol": [1.0, -1.0, 2.0], "other": ["a", "b", "c"]})
    (tmp_path / "new.csv").write_text(new.to_csv(index=False))
    for source in (new, tmp_path / "new.csv", pl.DataFrame(new.to_dict("list")).lazy()):
        done = write_release(source, book, tmp_path / "out.csv", force=True, unseen="suppress")
        assert column_of(done.path) == [
            book.encode((row.age, row.chol)) for row in new.itertuples()
        ]


def test_output_columns(tmp_path):
    book = book_for(arrow(), "age", ["sex", "chol"])
    only = pq.read_table(write_release(arrow(), book, tmp_path / "a.parquet").path)
    assert only.column_names == ["released"]
    assert only.schema.field("released").type == pa.string()
    more = write_release(arrow(), book, tmp_path / "b.parquet", expand=True, keep=["born", "city"])
    table = pq.read_table(more.path)
    assert table.column_names == ["released", "sex", "chol", "born", "city"]
    assert table["city"].to_pylist() == [row["city"] for row in ROWS]
    for row in table.to_pylist():
        assert (row["sex"], row["chol"]) == book.stands_for(row["released"])
    assert "two columns named 'sex'" in complain(
        write_release, arrow(), book, tmp_path / "c.csv", expand=True, keep="sex"
    )
    assert "no kept column" in complain(
        write_release, arrow(), book, tmp_path / "c.csv", keep="zip"
    )


def test_unseen_values(tmp_path):
    book = book_for(
        pd.DataFrame({"s": [1, 2, 1], "x": [1, 2, 3], "y": ["a", "b", "b"]}), "s", ["x", "y"]
    )
    new = pd.DataFrame({"x": [1, 7, 7, 2], "y": ["a", "a", "a", "b"]})
    message = complain(write_release, new, book, tmp_path / "out.csv", error=UnknownSymbol)
    assert "column 'x' has the value 7" in message
    assert "2 rows" in message
    mixed = pd.DataFrame({"x": [1, 1], "y": ["b", "a"]})
    message = complain(write_release, mixed, book, tmp_path / "out.csv")
    assert "combination x = 1, y = b" in message
    gone = pd.DataFrame({"x": [None, 1.0], "y": ["a", "a"]})
    assert "value missing" in complain(write_release, gone, book, tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []
    done = write_release(new, book, tmp_path / "out.csv", unseen="suppress", expand=True)
    assert column_of(done.path) == ["r1", "suppressed", "suppressed", "r2"]
    assert (done.n_suppressed, done.counts) == (2, {"r1": 1, "r2": 1})
    with pytest.raises(InvalidInput, match="unseen"):
        write_release(new, book, tmp_path / "out.csv", unseen="ignore")


def test_kinds_that_do_not_fit(tmp_path):
    book = book_for(pd.DataFrame({"s": [1, 2], "x": [1, 2]}), "s", "x")
    text = pd.DataFrame({"x": ["1", "2"]})
    assert "holds text here" in complain(write_release, text, book, tmp_path / "o.csv")
    halves = pd.DataFrame({"x": [1.0, 1.5]})
    assert "value 1.5" in complain(write_release, halves, book, tmp_path / "o.csv")
    assert column_of(write_release(halves[:1], book, tmp_path / "o.csv").path) == ["r1"]
    assert "no public column 'x'" in complain(
        write_release, text.rename(columns={"x": "xs"}), book, tmp_path / "p.csv"
    )


def test_a_csv_is_read_as_the_codebook_was(tmp_path):
    book = book_for(pd.DataFrame({"s": [1, 2, 1], "x": ["1", "f", "007"]}), "s", "x")
    (tmp_path / "new.csv").write_text("x\n1\n007\n")
    done = write_release(tmp_path / "new.csv", book, tmp_path / "o.csv")
    assert column_of(done.path) == [book.encode("1"), book.encode("007")]
    numbers = book_for(pd.DataFrame({"s": [1, 2], "x": [1, 2]}), "s", "x")
    (tmp_path / "bad.csv").write_text("x\n1\nabc\n")
    assert "abc" in complain(write_release, tmp_path / "bad.csv", numbers, tmp_path / "p.csv")


def test_dropped_rows_are_left_out_of_the_release(tmp_path):
    rows = [{"s": s, "x": x} for s, x in [(1, 1), (2, 2), (None, 1), (1, None), (2, 3)]]
    table = pa.Table.from_pylist(rows)
    book = book_for(table, "s", "x", rules=ColumnRules(missing="drop"))
    done = write_release(table, book, tmp_path / "o.csv")
    assert (done.n_rows, done.n_released, done.n_dropped) == (5, 3, 2)
    without_s = write_release(table.drop(["s"]), book, tmp_path / "p.csv")
    assert (without_s.n_released, without_s.n_dropped) == (4, 1)


def test_the_order_of_many_rows_is_kept(tmp_path):
    with duckdb.connect() as con:
        con.execute(
            "COPY (SELECT i AS id, hash(i) % 2 AS s, CASE WHEN i % 97 = 0 THEN NULL ELSE "
            f"hash(i, 3) % 50 END AS x FROM range(600_000) r(i)) TO '{tmp_path}/t.parquet' "
            "(ROW_GROUP_SIZE 20000)"
        )
    book = book_for(tmp_path / "t.parquet", "s", "x", n_symbols=7)
    done = write_release(tmp_path / "t.parquet", book, tmp_path / "o.parquet", keep="id")
    ids = pq.read_table(done.path)["id"].to_numpy()
    assert (np.diff(ids) == 1).all()
    fast = write_release(
        tmp_path / "t.parquet", book, tmp_path / "f.parquet", keep="id", ordered=False
    )
    rows = pq.read_table(fast.path).to_pandas().sort_values("id")["released"].tolist()
    assert rows == column_of(done.path)


@pytest.mark.parametrize("n", [5, 3000, 100_000])
def test_the_order_is_kept_among_unseen_values_too(n, tmp_path):
    rng = np.random.default_rng(0)
    seen = pd.DataFrame({"s": rng.integers(0, 2, 500), "x": rng.integers(0, 40, 500)})
    book = book_for(seen, "s", "x")
    new = pa.table({"id": np.arange(n), "x": rng.integers(0, 60, n)})
    pq.write_table(new, tmp_path / "t.parquet", row_group_size=10_000)
    done = write_release(
        tmp_path / "t.parquet", book, tmp_path / "o.parquet", keep="id", unseen="suppress"
    )
    assert done.n_suppressed > 0
    assert (np.diff(pq.read_table(done.path)["id"].to_numpy()) == 1).all()


# --- soft codes -------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_soft_draws_are_the_slow_twin_s_in_every_engine(engine, tmp_path):
    rows = ROWS if engine != "jsonl" else [r | {"chol": _finite(r["chol"])} for r in ROWS]
    book = book_for(arrow(rows), "age", ["sex", "chol"], soft=True, secret="it's a secret; DROP")
    table = ENGINES[engine](arrow(rows), tmp_path)
    done = write_release(table, book, tmp_path / "o.parquet", key="n", expand=True)
    values = [((row["sex"], row["chol"]), row["n"]) for row in rows]
    assert column_of(done.path) == [book.encode(value, key=n) for value, n in values]
    for row in pq.read_table(done.path).to_pylist():
        assert (row["sex"], row["chol"]) == book.stands_for(row["released"])


def test_soft_draws_do_not_depend_on_the_order_of_rows(tmp_path):
    book = book_for(arrow(), "age", ["sex", "chol"], soft=True)
    table = arrow().to_pandas()
    mixed = table.sample(frac=1, random_state=1)
    a = pq.read_table(write_release(table, book, tmp_path / "a.parquet", key="n", keep="n").path)
    b = pq.read_table(write_release(mixed, book, tmp_path / "b.parquet", key="n", keep="n").path)
    assert a.sort_by("n").equals(b.sort_by("n"))
    numbered = column_of(write_release(table, book, tmp_path / "c.parquet").path)
    assert numbered == column_of(write_release(table, book, tmp_path / "d.parquet").path)


def test_soft_draws_follow_the_channel(tmp_path):
    n = 40_000
    table = pd.DataFrame({"s": np.arange(n) % 2, "x": np.arange(n) % 2})
    book = book_for(table, "s", "x", soft=True)
    released = column_of(write_release(table, book, tmp_path / "o.parquet").path)
    shares = pd.crosstab(table["x"], pd.Series(released), normalize="index").to_numpy()
    expected = book.code.matrix.toarray()
    assert np.abs(shares - expected[:, expected.any(axis=0)]).max() < 0.02
    assert (shares[0] > 0).sum() == 1


def test_soft_releases_need_the_salt_and_a_key_of_a_kind(tmp_path):
    book = book_for(arrow(), "age", ["sex", "chol"], soft=True)
    assert "private" in complain(write_release, arrow(), book.public(), tmp_path / "o.csv", key="n")
    assert "whole numbers or text" in complain(
        write_release, arrow(), book, tmp_path / "o.csv", key="chol"
    )
    assert "key column 'age' is missing in" in complain(
        write_release, arrow(), book, tmp_path / "o.csv", key="age"
    )


# --- names and values as they come in life ----------------------------------------------------

NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1
) | st.sampled_from(
    ['"', "a b", "'; DROP TABLE t; --", "a`b", "a.b", "c0", "released", "Δ", "=x", "\r"]
)
VALUES = st.none() | st.sampled_from(
    ["", ",", "\n", '"', "'", "<script>alert(1)</script>", "\\", "NULL"]
)
VALUES |= st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6)


@settings(max_examples=15)
@given(data=st.data())
def test_no_row_is_lost_whatever_names_and_values_are(data, tmp_path_factory):
    tmp = tmp_path_factory.mktemp("life")
    names = data.draw(st.lists(NAMES, min_size=3, max_size=3, unique=True), "names")
    n = data.draw(st.integers(2, 12), "rows")
    columns = [data.draw(st.lists(VALUES, min_size=n, max_size=n)) for _ in names]
    table = pa.table([pa.array(c, pa.string()) for c in columns], names=names)
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    sensitive, public = names[:2], names[1:]
    for engine in ("pandas", "polars-lazy", "parquet"):
        counted = count(ENGINES[engine](table, tmp), sensitive, public, constant=True)
        assert cells(counted) == naive_cells(rows, sensitive, public)
    joint = counted.joint()
    code = Partition(np.arange(joint.n_x) % 2)
    solution = Solution.measured(joint, Funnel(0.5), code, Status.CONVERGED)
    book = Codebook.from_solution(joint, solution, counted.roles)
    book.save(tmp / "codebook.json")
    book = Codebook.load(tmp / "codebook.json")
    keep = [name for name in names[:1] if name.casefold() != "released"]
    for fmt in ("parquet", "csv"):
        done = write_release(table, book, tmp / f"o.{fmt}", keep=keep, force=True)
        assert done.n_released == n
        assert sum(done.counts.values()) == n
    released = pq.read_table(tmp / "o.parquet")
    assert released.column_names == ["released", *keep]
    assert released["released"].to_pylist() == [
        book.encode(tuple(row[name] for name in public)) for row in rows
    ]
    if keep:
        assert released[keep[0]].to_pylist() == columns[0]


TEXTS = st.sampled_from(
    ['"', "a,b", "x\ny", "x\ry", "x\r\ny", "''", " a ", "#", ";", "<b>", "1", "\t"]
)
TEXTS |= st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=5)


@settings(max_examples=25)
@given(
    texts=st.lists(st.tuples(TEXTS, TEXTS), min_size=2, max_size=10),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_csv_files_are_read_as_python_reads_them(texts, end, tmp_path_factory):
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator=end, quoting=csv.QUOTE_ALL)
        writer.writerows([("s", "x"), ("text", "text"), *texts])
    counted = count(path, "s", "x", constant=True)
    assert counted.n_rows == len(texts) + 1
    rows = [{"s": s, "x": x} for s, x in [("text", "text"), *texts]]
    assert cells(counted) == naive_cells(rows, ["s"], ["x"])


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(
            st.none() | st.integers(-5, 5),
            st.none() | st.floats(width=32) | st.sampled_from([0.0, -0.0]),
        ),
        min_size=1,
        max_size=15,
    )
)
def test_missing_values_on_either_side_are_conserved(pairs):
    rows = [{"s": s, "x": x} for s, x in pairs]
    table = pa.Table.from_pylist(rows, schema=pa.schema([("s", pa.int64()), ("x", pa.float64())]))
    for frame in (table, pl.from_arrow(table).lazy()):
        counted = count(frame, "s", "x", constant=True)
        assert cells(counted) == naive_cells(rows, ["s"], ["x"])
        assert counted.counts.sum() == len(rows)


# --- safety -----------------------------------------------------------------------------------


def test_the_input_is_never_changed(tmp_path):
    as_parquet(arrow(), tmp_path / "t.parquet")
    before = hashlib.sha256((tmp_path / "t.parquet").read_bytes()).hexdigest()
    book = book_for(tmp_path / "t.parquet", "age", "sex")
    write_release(tmp_path / "t.parquet", book, tmp_path / "o.parquet")
    assert "never changed" in complain(
        write_release, tmp_path / "t.parquet", book, tmp_path / "t.parquet", force=True
    )
    assert hashlib.sha256((tmp_path / "t.parquet").read_bytes()).hexdigest() == before


def test_an_existing_output_is_kept_without_force(tmp_path):
    book = book_for(arrow(), "age", "sex")
    (tmp_path / "o.csv").write_text("precious")
    assert "force=True" in complain(
        write_release, arrow(), book, tmp_path / "o.csv", error=InvalidInput
    )
    assert (tmp_path / "o.csv").read_text() == "precious"
    write_release(arrow(), book, tmp_path / "o.csv", force=True)
    assert [p.name for p in tmp_path.iterdir()] == ["o.csv"]
    assert ".parquet or .csv" in complain(write_release, arrow(), book, tmp_path / "o.xlsx")


def child(code, tmp_path, **options):
    lines = textwrap.dedent(code).format(tmp=tmp_path)
    return subprocess.Popen(
        [sys.executable, "-c", lines], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


BIG = """
    import resource, sys
    from privacyfunnel.codebook import Codebook
    from privacyfunnel.errors import FunnelError
    from privacyfunnel.tables import write_release
    {limit}
    book = Codebook.load("{tmp}/codebook.json")
    print("ready", flush=True)
    try:
        write_release("{tmp}/t.parquet", book, "{tmp}/out.csv", keep="id")
    except FunnelError as error:
        print(type(error).__name__, error)
    except KeyboardInterrupt:
        print("interrupted")
"""


def big_table(tmp_path, n):
    with duckdb.connect() as con:
        con.execute(
            f"COPY (SELECT i AS id, hash(i) % 2 AS s, hash(i, 3) % 9 AS x FROM range({n}) r(i)) "
            f"TO '{tmp_path}/t.parquet'"
        )
    book_for(tmp_path / "t.parquet", "s", "x").save(tmp_path / "codebook.json")


def test_a_full_disk_leaves_nothing_and_says_so(tmp_path):
    big_table(tmp_path, 100_000)
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))"
    run = child(BIG.replace("{limit}", limit), tmp_path)
    out, err = run.communicate(timeout=60)
    assert b"DataUnavailable" in out, (out, err)
    assert b"out.csv" in out
    assert b".part" not in out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["codebook.json", "t.parquet"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_no_file_that_looks_finished(number, tmp_path):
    big_table(tmp_path, 8_000_000)
    run = child(BIG.replace("{limit}", ""), tmp_path)
    assert run.stdout.readline() == b"ready\n"
    deadline = time.monotonic() + 30
    while not list(tmp_path.glob(".out.csv*")) and time.monotonic() < deadline:
        time.sleep(0.01)
    run.send_signal(number)
    out, err = run.communicate(timeout=60)
    assert not (tmp_path / "out.csv").exists(), (out, err)
    if number == signal.SIGINT:
        assert out == b"interrupted\n", (out, err)
        assert not list(tmp_path.glob(".out.csv*"))


def test_writing_is_interrupted_at_any_time_without_waiting_for_ever(tmp_path):
    code = """
        import threading, time
        from privacyfunnel.tables.connection import connect
        for i in range(40):
            try:
                with connect() as con:
                    threading.Timer(i / 400, con.interrupt).start()
                    con.execute("COPY (SELECT hash(i) FROM range(8_000_000) r(i)) TO '{tmp}/out.csv'")
            except KeyboardInterrupt:
                print("interrupted")
    """
    run = child(code, tmp_path)
    try:
        out, err = run.communicate(timeout=120)
    finally:
        run.kill()
    assert out.count(b"interrupted") > 20, err


def test_nothing_is_printed_when_the_process_ends():
    code = """
        import duckdb
        from privacyfunnel.tables import count
        print(count(duckdb.sql("SELECT i % 2 AS s, i % 3 AS x FROM range(9) r(i)"), "s", "x").n_rows)
    """
    run = child(code, "")
    assert run.communicate(timeout=60) == (b"9\n", b"")


# --- advice -----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_summary_and_identifiers(engine, tmp_path):
    rows = [r | {"chol": _finite(r["chol"])} for r in ROWS]
    table = ENGINES[engine](arrow(rows), tmp_path)
    found = {c.name: c for c in summary(table)}
    for name in SCHEMA.names:
        values = [plain(row[name]) for row in rows]
        assert found[name].missing == values.count(None)
        assert found[name].distinct == len(set(values) - {None})
    assert identifiers(table) == ["n"]
    assert Path(tmp_path).exists()


def test_engines_are_imported_only_when_they_are_used():
    code = """
        import sys
        import privacyfunnel.codebook, privacyfunnel.tables
        engines = {{"duckdb", "narwhals", "pyarrow", "pyspark", "polars", "pandas"}}
        print(sorted(set(sys.modules) & engines))
    """
    assert child(code, "").communicate(timeout=60)[0] == b"[]\n"


def test_the_engine_of_the_docs_counts_and_writes(tmp_path, monkeypatch):
    """The page that shows how to add an engine shows one that works."""
    import importlib
    import types

    page = (Path(__file__).parents[2] / "docs" / "add-an-engine.md").read_text(encoding="utf-8")
    source = page.split("```python\n")[1].split("```")[0]
    engine = types.ModuleType("privacyfunnel.tables.engines.rows")
    exec(source, engine.__dict__)
    monkeypatch.setitem(sys.modules, engine.__name__, engine)
    opening = importlib.import_module("privacyfunnel.tables.open")
    monkeypatch.setattr(opening, "ENGINES", ("rows", *opening.ENGINES))
    rows = [{"age": 40, "city": "Bonn"}, {"age": 61, "city": None}, {"age": 40, "city": "Rom"}]
    assert cells(count(rows, "age", "city")) == cells(count(pd.DataFrame(rows), "age", "city"))
    done = write_release(rows, book_for(rows, "age", "city"), tmp_path / "o.csv")
    assert done.n_released == 3
