"""A codebook's SQL beside `apply`, row by row, in every warehouse that is here: 100,000 odd rows.

    python benchmarks/exports.py [ROWS]

Every kind of codebook, private and public, in DuckDB, SQLite, PostgreSQL and Spark; prints how many rows
differ, and the time of the statement over that of `apply`.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from coded_rows import CASES, book, rows
from privacyfunnel.tables import write_release
from warehouses import (
    as_rows,
    in_duckdb,
    in_postgres,
    in_spark,
    in_sqlite,
    postgres,
    postgres_tools,
)

TABLE = "odd_rows"


def main(n: int) -> None:
    """One line for each kind of codebook and warehouse."""
    given = rows(n, seed=1).drop_columns(["ill"])
    with ExitStack() as stack:
        run: dict[str, Any] = {"duckdb": in_duckdb, "sqlite": in_sqlite}
        if postgres_tools() is not None:
            ask = stack.enter_context(postgres())
            run["postgres"] = lambda *asked: in_postgres(*asked, ask)
        session = spark()
        run["spark"] = lambda *asked: in_spark(*asked, session)
        print(f"{n:,} rows; time is that of loading and running over that of apply")
        for case in CASES:
            compare(case, given, run)


def compare(case: str, given: Any, run: dict[str, Any]) -> None:
    """Rows of `apply` beside those of each warehouse."""
    coded = book(case)
    key: dict[str, Any] = {"key": "id"} if coded.soft else {}
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "released.parquet"
        start = time.perf_counter()
        write_release(given, coded, path, unseen="suppress", keep=["id"], **key)
        seconds = time.perf_counter() - start
        found = pq.read_table(path)
    wanted = as_rows(zip(*(c.to_pylist() for c in found.columns), strict=True))
    for dialect, runs in run.items():
        if coded.soft and dialect == "sqlite":
            continue
        sql = coded.to_sql(dialect, table=TABLE, keep=["id"], **key)
        start = time.perf_counter()
        got = runs(given, TABLE, sql)
        ratio = (time.perf_counter() - start) / seconds
        differ = sum(a != b for a, b in zip(got, wanted, strict=False)) + abs(
            len(got) - len(wanted)
        )
        print(
            f"{case:24} {dialect:9} {len(got):7,} rows, {differ} differ; time {ratio:5.1f}",
            flush=True,
        )


def spark() -> Any:
    """A session on this machine."""
    from pyspark.sql import SparkSession

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (
            SparkSession.builder.master("local[1]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "1")
            .getOrCreate()
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
