"""A table of twenty million rows through the whole of ``funnel release``."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

duckdb = pytest.importorskip("duckdb")


@pytest.mark.large
def test_twenty_million_rows(tmp_path):
    n = 20_000_000
    with duckdb.connect() as con:
        con.execute(
            "COPY (SELECT CAST(hash(i) % 2 AS TINYINT) AS s, "
            "CAST((hash(i, 1) % 11 + hash(i) % 2) AS TINYINT) AS x "
            f"FROM range({n}) AS r(i)) TO '{tmp_path}/t.parquet'"
        )
    command = [sys.executable, "-m", "privacyfunnel", "release", "t.parquet", "-s", "s", "-x", "x"]
    options = [
        "--utility",
        "0.5",
        "--points",
        "3",
        "--no-attackers",
        "--memory",
        "1GB",
        "-o",
        "out",
    ]
    done = subprocess.run(
        [*command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["records"]["released"] == n
    assert report["measured"]["utility"] >= 0.5
    with duckdb.connect() as con:
        [(rows,)] = con.execute(f"SELECT count(*) FROM '{tmp_path}/out/release.parquet'").fetchall()
    assert rows == n
