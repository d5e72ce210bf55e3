"""Rows with everything that a table may hold, and codebooks of every kind for them."""

from __future__ import annotations

import datetime as dt
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import privacyfunnel as pf
from privacyfunnel.codebook import Codebook
from privacyfunnel.columns import ColumnRules
from privacyfunnel.tables import count, write_release
from warehouses import as_rows

CITY = 'the "city" of `a.b`; DROP -- ü'
CITIES = [
    "Köln", "a,b", 'say "hi"', "<script>", "", None, "'; --", "\\", "a\\nb", "two\nlines", "null",
    "{{ x }}", "%s $1",
]  # fmt: skip
TABLE = 'odd; table "name"'
CASES = {  # recoding, public columns, options of the codebook's making
    "symbols of one column": ("symbols", ["age"], {}),
    "symbols of a text": ("symbols", [CITY], {}),
    "symbols": ("symbols", ["age", CITY, "smoker", "seen"], {"bins": {"age": 6}}),
    "symbols, least count": ("symbols", ["age", CITY], {"least": 6}),
    "symbols by lot": ("soft", ["age", "smoker"], {"bins": {"age": 5}}),
    "global": ("global", ["age", CITY, "chol", "born"], {}),
    "global, least count": ("global", ["age", CITY, "smoker"], {"least": 8, "kept": 0.3}),
    "global, rules": (
        "global",
        ["age", "chol", CITY],
        {"bins": {"age": 5}, "round": {"chol": 0.7}},
    ),
    "global, dropped": ("global", ["age", CITY, "chol"], {"missing": "drop"}),
    "global, many names": ("global", ["code", "age"], {}),
    "global, calendar": ("global", ["born", "seen"], {"round": {"born": "quarter", "seen": "day"}}),
    "global, numbers": ("global", ["age", "chol"], {"round": {"chol": 0.5}}),
    "local, plain": ("local", ["age", "smoker"], {"moves": 20}),
    "local": ("local", ["age", CITY, "smoker"], {}),
    "local, least count": ("local", ["age", CITY], {"least": 6, "kept": 0.3, "moves": 20}),
}


def rows(n: int, seed: int = 0, unseen: bool = True) -> pa.Table:
    """Records with missing values and odd texts; with ``unseen`` some that no codebook has met."""
    rng = np.random.default_rng(seed)
    ill = rng.integers(0, 2, n)
    age = 18 + rng.integers(0, 45, n) + 4 * ill
    chol = np.round(rng.normal(5.5 + ill, 1.5, n), 1)
    if unseen:
        age = np.where(rng.random(n) < 0.02, rng.integers(0, 130, n), age)
        chol = np.where(
            rng.random(n) < 0.02, rng.choice([np.inf, -np.inf, 0.0, -0.0, 99.95], n), chol
        )
    cities = [*CITIES, *(["Nowhere", "NOWHERE "] if unseen else [])]
    born = [dt.date(1940, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 60, n) * 311]
    seen = [
        dt.datetime(2020, 1, 1) + dt.timedelta(hours=int(h), microseconds=int(h) % 3 * 500)
        for h in rng.integers(0, 9, n)
    ]
    data = {
        "id": pa.array(range(n), pa.int64()),
        "ill": pa.array(ill, pa.int64()),
        "age": some(rng, age.tolist(), pa.int64()),
        CITY: pa.array([cities[i] for i in rng.integers(0, len(cities), n)], pa.string()),
        "chol": some(rng, chol.tolist(), pa.float64()),
        "smoker": some(rng, (rng.random(n) < 0.3 + 0.2 * ill).tolist(), pa.bool_()),
        "born": some(rng, born, pa.date32()),
        "seen": some(rng, seen, pa.timestamp("us")),
        "code": some(
            rng, [f"C{i:03d}" for i in rng.integers(0, 150 if unseen else 140, n)], pa.string()
        ),
    }
    return pa.table(data)


def some(rng, values, kind):
    """The values with some of them missing."""
    gone = rng.random(len(values)) < 0.03
    return pa.array([None if g else v for g, v in zip(gone, values, strict=True)], kind)


LEARNT = rows(1000, seed=7, unseen=False)
ROWS = rows(1200, seed=3)


@cache
def book(case: str) -> Codebook:
    """The codebook of a case, made from other rows than those that it is applied to."""
    recoding, public, options = CASES[case]
    options = dict(options)
    least, kept = options.pop("least", 1), options.pop("kept", 0.5)
    quick = {"moves": options.pop("moves")} if "moves" in options else {}
    counted = count(LEARNT, "ill", public, columns=ColumnRules(**options))
    joint = counted.joint()
    if recoding == "soft":
        solution = pf.solve(joint, pf.Funnel(0.4), method="soft", seed=0)
    elif recoding == "symbols":
        found = pf.frontier(joint, n_points=2, effort="fast", min_count=least, seed=0)
        solution = found.at(utility=0.5)
    else:
        found = pf.frontier(joint, recoding=recoding, n_points=2, min_count=least, seed=0, **quick)
        solution = found.at(kept=kept)
    return Codebook.from_solution(
        joint, solution, counted.roles, min_count=least, secret="a secret for tests"
    )


def applied(coded: Codebook, given: pa.Table, folder: Path, **options) -> list[tuple]:
    """The rows that `apply` writes, as text."""
    path = folder / "released.parquet"
    write_release(given, coded, path, unseen="suppress", keep=["id"], force=True, **options)
    found = pq.read_table(path)
    return as_rows(zip(*(c.to_pylist() for c in found.columns), strict=True))


def asked(case: str) -> dict[str, str]:
    """What the release of a case needs to be told."""
    return {"key": "id"} if CASES[case][0] == "soft" else {}
