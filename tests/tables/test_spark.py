"""Spark: a PySpark frame goes through the same count and release, in local mode."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import warnings
from collections import Counter

import numpy as np
import pytest

import coded_rows
from privacyfunnel import Channel, Funnel, Joint, Partition, Solution, Status
from privacyfunnel.codebook import Codebook
from privacyfunnel.columns import ColumnRules
from privacyfunnel.errors import InvalidInput, UnknownSymbol
from privacyfunnel.tables import count, identifiers, summary, write_release
from warehouses import in_spark

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(
        shutil.which("java") is None and "JAVA_HOME" not in os.environ, reason="Spark needs Java"
    ),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

ROWS = [
    {
        "age": None if i % 17 == 0 else 20 + i * 7 % 60,
        'the "sex" of `a.b`; DROP': ["f", "m", None][i % 3],
        "chol": [None, float("nan"), -0.0, 0.0, 1.5, 1e300, float("inf"), 24.5][i % 8],
        "smoker": [True, False, None][i % 3],
        "born": None if i % 11 == 0 else dt.date(1900 + i % 30, 1 + i % 6, 1),
        "seen": None if i % 13 == 0 else dt.datetime(2020, 1, 1, i % 24, 30),
        "city": ["Köln", "a,b", 'say "hi"', "<script>", "", None, "'; --", "\\"][i % 8],
        "n": i,
    }
    for i in range(120)
]
SEX = 'the "sex" of `a.b`; DROP'
TABLE = pa.Table.from_pylist(
    ROWS,
    schema=pa.schema(
        [
            ("age", pa.int64()),
            (SEX, pa.string()),
            ("chol", pa.float64()),
            ("smoker", pa.bool_()),
            ("born", pa.date32()),
            ("seen", pa.timestamp("us")),
            ("city", pa.string()),
            ("n", pa.int64()),
        ]
    ),
)
RULES = ColumnRules.parse(bins=["age=5", "born=1910-01-01"], round=["chol=49"])
QUARTERS = ColumnRules.parse(round=["born=quarter", "seen=month"])


@pytest.fixture(scope="module")
def frame():
    sql = pytest.importorskip("pyspark.sql")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = (
            sql.SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.session.timeZone", "America/New_York")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("ERROR")
        # Times without a zone are the session's wall clock to Spark, whatever the zone.
        yield session.createDataFrame(TABLE).repartition(3)
        session.stop()


def book_for(source, public, soft=False, rules=None, sensitive="smoker"):
    counted = count(source, sensitive, public, columns=rules)
    joint = counted.joint()
    matrix = np.random.default_rng(0).dirichlet(np.ones(3), size=joint.n_x)
    code = Channel(matrix) if soft else Partition(np.arange(joint.n_x) % 3)
    solution = Solution.measured(joint, Funnel(0.5), code, Status.CONVERGED)
    return Codebook.from_solution(joint, solution, counted.roles)


@pytest.mark.parametrize(
    ("sensitive", "public", "rules"),
    [
        (["age", SEX], [SEX, "chol"], None),
        (["smoker"], ["city", "born", "seen"], None),
        ([SEX], ["age", "chol", "born"], RULES),
        ([SEX], ["born", "seen"], QUARTERS),
    ],
)
def test_the_joint_is_identical(frame, sensitive, public, rules):
    joint = Joint.from_table(frame, sensitive, public, columns=rules)
    local = Joint.from_table(TABLE, sensitive, public, columns=rules)
    assert joint.labels_s == local.labels_s
    assert joint.labels_x == local.labels_x
    assert (joint.counts != local.counts).nnz == 0
    ours = count(frame, sensitive, public, columns=rules)
    assert ours.roles == count(TABLE, sensitive, public, columns=rules).roles


def test_weights_and_summaries(frame):
    ours, local = (count(table, "smoker", SEX, weight="n") for table in (frame, TABLE))
    assert np.allclose(ours.counts.toarray(), local.counts.toarray())
    assert summary(frame) == summary(TABLE)
    assert identifiers(frame) == ["n"]


@pytest.mark.parametrize("fmt", ["parquet", "csv"])
@pytest.mark.parametrize("soft", [False, True])
def test_the_release_is_identical(frame, soft, fmt, tmp_path):
    book = book_for(TABLE, [SEX, "chol", "city"], soft=soft)
    options = {"key": "n", "keep": ["n", "city"]}
    done = write_release(frame, book, tmp_path / f"spark.{fmt}", **options)
    local = write_release(TABLE, book, tmp_path / f"local.{fmt}", **options)
    assert done.counts == local.counts
    assert (done.n_rows, done.n_released) == (120, 120)
    if fmt == "parquet":
        theirs = pq.read_table(tmp_path / "local.parquet").sort_by("n")
        ours = pq.read_table(tmp_path / "spark.parquet").sort_by("n")
        assert ours.to_pylist() == theirs.to_pylist()
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"local.{fmt}", f"spark.{fmt}"]


def test_coarse_expanded_releases(frame, tmp_path):
    book = book_for(TABLE, ["age", "chol", "born"], rules=RULES)
    write_release(frame, book, tmp_path / "out.parquet", keep="n", expand=True)
    rows = pq.read_table(tmp_path / "out.parquet").sort_by("n").to_pylist()
    expected = [book.encode((row["age"], row["chol"], row["born"])) for row in ROWS]
    assert [row["released"] for row in rows] == expected
    for row in rows:
        assert (row["age"], row["chol"], row["born"]) == book.stands_for(row["released"])


def test_unseen_and_missing_values(frame, tmp_path):
    known = TABLE.filter(pa.compute.field(SEX) == "f")
    book = book_for(known, ["chol", SEX], sensitive="age")
    with pytest.raises(UnknownSymbol, match="has the value m") as info:
        write_release(frame, book, tmp_path / "out.parquet")
    assert "80 rows" in str(info.value)
    assert list(tmp_path.iterdir()) == []
    done = write_release(frame, book, tmp_path / "out.parquet", unseen="suppress")
    assert (done.n_suppressed, done.n_released) == (80, 120)
    with pytest.raises(InvalidInput, match="force=True"):
        write_release(frame, book, tmp_path / "out.parquet", unseen="suppress")
    drop = ColumnRules(missing="drop")
    dropped = write_release(frame, book_for(TABLE, [SEX], rules=drop), tmp_path / "drop.parquet")
    expected = Counter(row[SEX] is None or row["smoker"] is None for row in ROWS)
    assert (dropped.n_dropped, dropped.n_released) == (expected[True], expected[False])


def test_soft_codes_need_a_key(frame, tmp_path):
    book = book_for(TABLE, [SEX], soft=True)
    with pytest.raises(InvalidInput, match="name a key column"):
        write_release(frame, book, tmp_path / "out.parquet")
    with pytest.raises(InvalidInput, match="missing in"):
        write_release(frame, book, tmp_path / "out.parquet", key="age")


@pytest.mark.parametrize("kind", ["global", "local"])
def test_a_readable_release_is_the_same_on_a_cluster(frame, kind, tmp_path):
    import privacyfunnel as pf

    counted = count(TABLE, "smoker", ["age", "city", "born"])
    solution = pf.solve(counted.joint(), Funnel(0.3), recoding=kind)
    book = Codebook.from_solution(counted.joint(), solution, counted.roles)
    here = write_release(TABLE, book, tmp_path / "here.parquet", keep="n", numbers="bounds")
    there = write_release(frame, book, tmp_path / "there.parquet", keep="n", numbers="bounds")
    assert here.counts == there.counts
    assert here.n_suppressed == there.n_suppressed
    a, b = (pq.read_table(done.path).to_pandas().sort_values("n") for done in (here, there))
    assert list(a) == list(b)
    assert a.astype(str).values.tolist() == b.astype(str).values.tolist()


def test_the_sql_of_a_codebook_releases_the_same_rows(frame, tmp_path):
    session, given = frame.sparkSession, coded_rows.ROWS.drop_columns(["ill"])
    for name, value in (("wholeStage", "false"), ("factoryMode", "NO_CODEGEN")):
        session.conf.set(f"spark.sql.codegen.{name}", value)  # compiled far longer than run
    for case in ("symbols", "symbols by lot", "global, least count", "global, rules", "local"):
        book, asked = coded_rows.book(case), coded_rows.asked(case)
        wanted = coded_rows.applied(book, given, tmp_path, **asked)
        sql = book.to_sql("spark", table="odd_rows", keep=["id"], **asked)
        assert in_spark(given, "odd_rows", sql, session) == wanted, case
