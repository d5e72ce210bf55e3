"""Count and release a large table against the same two statements run directly in DuckDB.

    python benchmarks/tables.py [--rows 20_000_000] [--memory 1GB] [--public sex,chol] [--repeats 3]

Each run is a process of its own, whose peak memory is the operating system's figure. Both sides
have the same memory bound and read and write the same files; the times leave out Python's start.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

PARTS = ("count", "release")
MAKE = """
COPY (
  SELECT i AS id,
    CAST(20 + hash(8 * i + 1) % 60 AS INTEGER) AS age,
    CASE WHEN hash(8 * i + 2) % 2 = 0 THEN 'female' ELSE 'male' END AS sex,
    CASE WHEN hash(8 * i + 3) % 50 > 0 THEN CAST(120 + hash(8 * i + 4) % 300 AS INTEGER) END AS chol,
    'town ' || CAST(hash(8 * i + 5) % 40 AS VARCHAR) AS town,
    CAST(hash(8 * i + 6) % 1000 AS DOUBLE) / 10 AS bmi,
    DATE '2000-01-01' + CAST(hash(8 * i + 7) % 3000 AS INTEGER) AS seen,
    hash(8 * i + 8) % 5 = 0 AS smoker
  FROM range({rows}) AS r(i)
) TO '{path}' (FORMAT parquet)
"""
SENSITIVE = ["age", "smoker"]


def warm_up() -> None:
    """Have everything imported before the clock starts."""
    import pyarrow as pa

    from privacyfunnel.tables import count

    count(pa.table({"s": [1, 2], "x": ["a", None]}), "s", "x")


def run_ours(folder: Path, memory: str, public: list[str]) -> dict[str, float]:
    """Count, make a codebook of an arbitrary code, and release."""
    import numpy as np

    from privacyfunnel import Funnel, Partition, Solution, Status
    from privacyfunnel.codebook import Codebook
    from privacyfunnel.tables import count, open_table, write_release

    warm_up()
    table = open_table(folder / "table.parquet", memory=memory)
    started = time.perf_counter()
    counted = count(table, SENSITIVE, public)
    seconds = {"count": time.perf_counter() - started}
    joint = counted.joint()
    code = Partition(np.arange(joint.n_x) % 40)
    solution = Solution.measured(joint, Funnel(0.5), code, Status.CONVERGED)
    book = Codebook.from_solution(joint, solution, counted.roles)
    book.save(folder / "codebook.json", force=True)
    started = time.perf_counter()
    done = write_release(table, book, folder / "ours.parquet", force=True)
    seconds["release"] = time.perf_counter() - started
    assert done.n_released == done.n_rows == counted.n_rows
    return seconds


def run_sql(folder: Path, memory: str, public: list[str]) -> dict[str, float]:
    """The same group-by and the same join, as one would type them."""
    import duckdb
    import pyarrow as pa

    from privacyfunnel.codebook import Codebook

    book = Codebook.load(folder / "codebook.json")
    warm_up()
    columns = dict(zip(public, zip(*book.values, strict=True), strict=True))
    columns["released"] = [book.labels[row[0][0]] for row in book.rows]
    lookup = pa.table({name: pa.array(values) for name, values in columns.items()})
    con = duckdb.connect(config={"memory_limit": memory, "temp_directory": str(folder / "spill")})
    con.execute(f"CREATE VIEW t AS FROM '{folder}/table.parquet'")
    con.register("lookup", lookup)
    con.execute("CREATE TABLE m AS FROM lookup")
    names = ", ".join([*SENSITIVE, *public])
    started = time.perf_counter()
    con.sql(f"SELECT {names}, count(*) AS n FROM t GROUP BY {names}").to_arrow_table()
    seconds = {"count": time.perf_counter() - started}
    on = " AND ".join(f"t.{name} IS NOT DISTINCT FROM m.{name}" for name in public)
    started = time.perf_counter()
    con.execute(
        f"COPY (SELECT m.released FROM t LEFT JOIN m ON {on}) "
        f"TO '{folder}/sql.parquet' (FORMAT parquet)"
    )
    seconds["release"] = time.perf_counter() - started
    return seconds


def measure(side: str, folder: Path, asked: argparse.Namespace) -> dict[str, float]:
    """Run one side in a child process; its seconds, and its peak memory in GB."""
    command = [sys.executable, __file__, "--child", side, "--folder", str(folder)]
    command += ["--memory", asked.memory, "--public", asked.public]
    out = subprocess.run(command, check=True, capture_output=True)
    return dict(json.loads(out.stdout))


def child(asked: argparse.Namespace) -> None:
    """What the child process does."""
    import resource

    run = {"ours": run_ours, "sql": run_sql}[asked.child]
    seconds = run(asked.folder, asked.memory, asked.public.split(","))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(json.dumps({**seconds, "peak": peak}))


def check_same(folder: Path) -> None:
    """Both files hold the same symbols equally often."""
    import duckdb

    counts = [
        duckdb.sql(
            f"SELECT released, count(*) FROM '{folder}/{side}.parquet' GROUP BY 1"
        ).fetchall()
        for side in ("ours", "sql")
    ]
    assert sorted(counts[0]) == sorted(counts[1]), "the two releases differ"


def compare(asked: argparse.Namespace) -> bool:
    """Print the table of both sides; whether the bounds are kept."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="privacyfunnel-bench-") as name:
        folder = Path(name)
        duckdb.connect().execute(MAKE.format(rows=asked.rows, path=folder / "table.parquet"))
        size = (folder / "table.parquet").stat().st_size / 1e6
        print(f"{asked.rows:,} rows x 8 columns, {size:.0f} MB, memory bound {asked.memory}")
        print(f"sensitive {', '.join(SENSITIVE)}; public {asked.public}")
        runs: dict[str, list[dict[str, float]]] = {"ours": [], "sql": []}
        for _ in range(asked.repeats):  # in turn, so that both meet the same weather
            for side in runs:
                runs[side].append(measure(side, folder, asked))
        check_same(folder)
    mid = {s: {p: median(run[p] for run in r) for p in PARTS} for s, r in runs.items()}
    print(f"{'median of ' + str(asked.repeats):<14}{'ours':>9}{'DuckDB':>9}{'ratio':>8}")
    for part in PARTS:
        ours, sql = mid["ours"][part], mid["sql"][part]
        print(f"{part + ', s':<14}{ours:>9.2f}{sql:>9.2f}{ours / sql:>8.2f}")
    totals = {side: sum(parts.values()) for side, parts in mid.items()}
    ratio = totals["ours"] / totals["sql"]
    print(f"{'both, s':<14}{totals['ours']:>9.2f}{totals['sql']:>9.2f}{ratio:>8.2f}")
    peaks = {side: max(run["peak"] for run in r) for side, r in runs.items()}
    print(f"{'peak RSS, GB':<14}{peaks['ours']:>9.2f}{peaks['sql']:>9.2f}")
    return ratio <= 1.3 and peaks["ours"] < 1.6


def main() -> None:
    """Parse, run, and exit 1 where a bound is not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")), default=20_000_000)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--public", default="sex,chol")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", choices=["ours", "sql"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(asked)
    elif not compare(asked):
        sys.exit("bounds not kept: ratio 1.3, peak 1.6 GB")


if __name__ == "__main__":
    main()
