"""Hostile tables: what a curator may be handed, by kind of trouble, from a fixed seed.

A maker takes a random generator and an empty folder and gives a :class:`Case`: a source that
``open_table`` is to open, columns, options, and how many rows it has where that is known.
"""

from __future__ import annotations

import gzip
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

NAMES = [
    "a", "A", "select", "a b", 'say "hi"', "it's", "a,b", "a;b", "a\tb", "a\nb", "é", "e\u0301",
    "北京", "", " ", "released", "suppressed", "s", "count", "n", "__x", "c0", "c1", "rowid",
    "x" * 300, "\u202egnp", "\x1b[31mred", "a\x00b", "--", "';DROP TABLE t;--", "{{7*7}}",
    "${HOME}", "<b>bold</b>", "%s", "\\", "/", "1", "-1", "null", "NaN", "a.b", "#a", "a=b", "*",
    "\ufeffa", "😀",
]  # fmt: skip
VALUES = [
    "<script>alert(1)</script>", "a,b", 'say "hi"', "two\nlines", "O'Hara'; DROP TABLE t; --",
    "Zürich 北京", "", " ", "r1", "missing", "suppressed", "NULL", "None", "nan", "NaN", "inf",
    "-inf", "0", "00", "-0", "1e5", "true", "TRUE", "2020-02-30", "\t", "\r", "\\N", "\x00",
    "\x1b]0;t\x07", "e\u0301", "é", "a" * 5000, "😀", "\u202egnp", "*", "=cmd()", "@x", "+1",
    "1_000", "1,5", "½", "\ufeff", "0x10", "1e400", "9" * 40,
]  # fmt: skip
NUMBERS = [
    0.0, -0.0, 1.0, -1.0, 0.1, 0.1 + 1e-16, 1e308, -1e308, 5e-324, 2.0**53, 2.0**53 + 2, 1e-300,
    float("inf"), float("-inf"), float("nan"), 1 / 3, 1e15, 123456789.123456789,
]  # fmt: skip


@dataclass
class Case:
    """A source and what is asked of it."""

    source: Any
    sensitive: Any = "s"
    public: Any = "x"
    n_rows: int | None = None  # where the maker knows
    options: dict[str, Any] = field(default_factory=dict)


MAKERS: dict[str, Callable[[random.Random, Path], Case]] = {}


def maker(make: Callable[[random.Random, Path], Case]) -> Callable[[random.Random, Path], Case]:
    MAKERS[make.__name__] = make
    return make


def some(rng: random.Random, pool: list[Any], n: int) -> list[Any]:
    """``n`` values of a few of a pool, so that they repeat."""
    few = [rng.choice(pool) for _ in range(rng.randint(1, 8))]
    return [rng.choice(few) for _ in range(n)]


def save(rng: random.Random, frame: pd.DataFrame, folder: Path) -> Any:
    """The frame as it is, or as a file of some format."""
    form = rng.choice(["csv", "parquet", "pandas", "polars"])
    if form == "csv":
        path = folder / "t.csv"
        frame.to_csv(path, index=False)
    elif form == "parquet":
        path = folder / "t.parquet"
        pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path)
    elif form == "polars":
        return pl.from_pandas(frame)
    else:
        return frame
    return path


@maker
def odd_names(rng: random.Random, folder: Path) -> Case:
    names = rng.sample(NAMES, 3)
    n = rng.randint(2, 12)
    frame = pd.DataFrame({name: some(rng, [0, 1, 2], n) for name in names})
    public = names[1] if rng.random() < 0.5 else names[1:]
    return Case(save(rng, frame, folder), names[0], public, n)


@maker
def odd_values(rng: random.Random, folder: Path) -> Case:
    n = rng.randint(2, 20)
    pool = [*VALUES, None] if rng.random() < 0.5 else VALUES
    frame = pd.DataFrame({"s": some(rng, pool, n), "x": some(rng, pool, n)})
    return Case(save(rng, frame, folder), n_rows=n)


@maker
def missing_values(rng: random.Random, folder: Path) -> Case:
    n = rng.randint(1, 12)
    holes = [None, float("nan"), pd.NA, pd.NaT, "", 1, "a", 2.5]
    frame = pd.DataFrame({"s": some(rng, [None, 1, 2], n), "x": some(rng, holes, n)}, dtype=object)
    rules = {"missing": rng.choice(["symbol", "drop", "error", "other"])}
    if rng.random() < 0.5:
        frame = frame.convert_dtypes()
    return Case(frame, n_rows=n, options=rules)


@maker
def odd_numbers(rng: random.Random, folder: Path) -> Case:
    n = rng.randint(2, 20)
    frame = pd.DataFrame({"s": some(rng, NUMBERS, n), "x": some(rng, NUMBERS, n)})
    rule = rng.choice([{}, {}, {"bins": ["x=3"]}, {"round": ["x=10"]}, {"bins": ["x=0,1"]}])
    return Case(save(rng, frame, folder), n_rows=n, options=dict(rule))


@maker
def odd_dates(rng: random.Random, folder: Path) -> Case:
    n = rng.randint(2, 12)
    if rng.random() < 0.5:  # as text, also beyond what Python's dates can hold
        pool = [
            "1969-12-31", "0001-01-01", "9999-12-31", "10000-01-01", "99999-01-01", "-0044-03-15",
            "1582-10-10", "2020-02-29", "2016-12-31T23:59:60", "1899-12-31 23:59:59.999999", "infinity",
        ]  # fmt: skip
        text = "s,x\n" + "".join(f"{rng.randint(0, 1)},{day}\n" for day in some(rng, pool, n))
        path = folder / "t.csv"
        path.write_text(text)
        return Case(path, n_rows=n, options=dict(rng.choice([{}, {"bins": ["x=2"]}])))
    kind: Any = rng.choice([
        pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("us", "UTC"),
        pa.time64("us"), pa.duration("s"), pa.timestamp("us", "Europe/Zurich"),
    ])  # fmt: skip
    bound = 10 ** rng.choice([0, 3, 6, 9, 12])
    ints = pa.array(some(rng, [-bound, 0, bound, bound // 2, None], n), pa.int64())
    try:
        values = ints.cast(pa.int32()).cast(kind) if kind == pa.date32() else ints.cast(kind)
    except pa.ArrowInvalid:
        values = pa.array([date(1, 1, 1), date(9999, 12, 31)] * n, pa.date32())[:n]
    path = folder / "t.parquet"
    pq.write_table(pa.table({"s": some(rng, [0, 1], n), "x": values}), path)
    return Case(path, n_rows=n)


@maker
def degenerate(rng: random.Random, folder: Path) -> Case:
    n = rng.choice([0, 1, 1, 2, 3, 500])
    kind = rng.choice(["constant", "distinct", "no rows", "one column"])
    if kind == "constant":
        frame = pd.DataFrame({"s": [1] * n, "x": ["a"] * n})
    elif kind == "distinct":
        frame = pd.DataFrame({"s": list(range(n)), "x": [f"v{i}" for i in range(n)]})
    elif kind == "no rows":
        n, frame = 0, pd.DataFrame({"s": pd.Series([], dtype=int), "x": pd.Series([], dtype=str)})
    else:
        return Case(save(rng, pd.DataFrame({"s": [1, 2]}), folder), "s", rng.choice(["s", "x"]))
    return Case(save(rng, frame, folder), n_rows=n)


@maker
def odd_types(rng: random.Random, folder: Path) -> Case:
    n = rng.randint(2, 8)
    columns = [
        pa.array(some(rng, [Decimal("1.10"), Decimal("-9.99"), None], n), pa.decimal128(38, 10)),
        pa.array(some(rng, [2**64 - 1, 2**63, 0], n), pa.uint64()),
        pa.array(some(rng, [-(2**63), 2**63 - 1], n), pa.int64()),
        pa.array(some(rng, [-128, 127], n), pa.int8()),
        pa.array(some(rng, [b"\x00\xff", b"", b"a"], n), pa.binary()),
        pa.array(some(rng, [[1, 2], [], None], n), pa.list_(pa.int64())),
        pa.array(some(rng, [{"a": 1}, {"a": None}, None], n), pa.struct([("a", pa.int64())])),
        pa.array(some(rng, ["u", "v"], n)).dictionary_encode(),
        pa.array(some(rng, [True, False, None], n), pa.bool_()),
        pa.nulls(n),
        pa.array(some(rng, [1.5, -2.5], n), pa.float32()),
        pa.array(np.array(some(rng, [1.5, 65504.0], n), dtype=np.float16)),
        pa.array(some(rng, ["a" * 100, ""], n), pa.large_string()),
    ]
    s, x = rng.sample(range(len(columns)), 2)
    table = pa.table({"s": columns[s], "x": columns[x]})
    if rng.random() < 0.3:
        return Case(pl.from_arrow(table), n_rows=n)
    path = folder / "t.parquet"
    pq.write_table(table, path)
    return Case(path, n_rows=n)


@maker
def odd_csv(rng: random.Random, folder: Path) -> Case:
    texts: list[bytes] = [
        b"", b"\n", b"s,x", b"s,x\n", b"\n\ns,x\n1,2\n2,1\n", b"s,x\n1,2,3\n2,1\n",
        b"s,x\n1\n2,1\n", b's,x\n"1,2\n2,1\n', b's,x\n1,"a\n2,1\n3,b',
        b"\xef\xbb\xbfs,x\n1,2\n2,1\n", b"s,x\r\n1,2\r\n2,1\r\n", b"s,x\r1,2\r2,1\r",
        b"s,x\n1,\x00\n2,b\n", b"s,x\n1,caf\xe9\n2,b\n", "s,x\n1,2\n".encode("utf-16"),
        b"s;x\n1;2\n2;1\n", b"s|x\n1|2,5\n2|1,5\n", b"# c\ns,x\n1,2\n2,1\n", b"s,x,\n1,2,\n2,1,\n",
        b"s,s,x\n1,1,2\n2,2,1\n", b"s,x\n1,2\n2,1", b"s,x\n1,2\n\n2,1\n", b"s,x\n   1,   2\n2,1\n",
        b's,x\n"1","2"\n2,"1"\n', b's,x\n1,a"b\n2,c\n', b"s,x\n" + b"1,2\n" * 50 + b"oops,2\n",
        b"x" * 140_000 + b",s,x\n1,2,3\n2,1,1\n", b'"s\n",x\n1,2\n2,1\n',
        b"s,x\n1," + b"y" * 400_000 + b"\n2,z\n", b"s\tx\n1\t2\n2\t1\n", b"\x1f\x8b\x08junk",
        b"PAR1junkPAR1", b"%PDF-1.4\n", b"s,x\n" + b",\n" * 5, b"s,x\n1,2\n2,1\n\x1a", b"{}",
        b"[1]", b"<html><body>404</body></html>", b"s,x\n" + "1,Ω\n2,ω\n".encode(),
        b"s,x\n1,\xf0\x28\x8c\x28\n2,b\n", b"s,x\n" + b'"\n' * 30, b"," * 3000 + b"\n",
    ]  # fmt: skip
    path = folder / rng.choice(["t.csv", "t.csv", "t.tsv", "t.txt"])
    path.write_bytes(rng.choice(texts))
    return Case(path)


@maker
def broken_gz(rng: random.Random, folder: Path) -> Case:
    packed = bytearray(gzip.compress(b"s,x\n" + b"1,2\n2,1\n" * rng.choice([2, 20_000])))
    kind = rng.choice(["cut", "flip", "twice", "plain", "tail", "empty"])
    if kind == "cut":
        packed = packed[: rng.randrange(len(packed))]
    elif kind == "flip":
        packed[rng.randrange(len(packed))] ^= 1 << rng.randrange(8)
    elif kind == "twice":
        packed = bytearray(gzip.compress(bytes(packed)))
    elif kind == "plain":
        packed = bytearray(b"s,x\n1,2\n2,1\n")
    elif kind == "tail":
        packed += b"junk"
    else:
        packed = bytearray()
    path = folder / rng.choice(["t.csv.gz", "t.csv.gz", "t.jsonl.gz", "t.csv"])
    path.write_bytes(packed)
    return Case(path)


@maker
def broken_parquet(rng: random.Random, folder: Path) -> Case:
    path = folder / "t.parquet"
    n = rng.choice([4, 3000])
    table = pa.table({"s": some(rng, [0, 1], n), "x": some(rng, ["a", "b", None], n)})
    pq.write_table(table, path, compression=rng.choice(["snappy", "gzip", "zstd", "none"]))
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 1, 4])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    if rng.random() < 0.3:
        data = data[: rng.randrange(len(data))]
    path.write_bytes(data)
    return Case(path)


@maker
def odd_json(rng: random.Random, folder: Path) -> Case:
    lines = [
        '{"s": 1, "x": 2}', '{"s": 2, "x": "two"}', '{"s": 3}', "{}", '{"x": null, "s": null}',
        '{"s": [1], "x": {"a": 1}}', '{"s": 1e400, "x": NaN}', '{"s": 1, "s": 2, "x": 3}',
        "[1, 2]", "7", "null", '{"s": 1, "x": "\\ud800"}', '{"s": ',
        '{"s": 123456789012345678901234567890, "x": 1}', '{"S": 1, "X": 2}',
        '{"s": true, "x": "2020-01-01"}', "",
    ]  # fmt: skip
    path = folder / rng.choice(["t.jsonl", "t.ndjson"])
    path.write_text("\n".join(some(rng, lines, rng.randint(0, 8))))
    return Case(path)


@maker
def odd_frames(rng: random.Random, folder: Path) -> Case:
    n = 6
    s = some(rng, [0, 1], n)
    pick = rng.randrange(14)
    if pick == 0:
        frame = pd.DataFrame([[1, 2, 3]] * n, columns=["s", "x", "x"])
    elif pick == 1:
        frame = pd.DataFrame({("s", "a"): s, ("x", "b"): s})
    elif pick == 2:
        frame = pd.DataFrame({0: s, 1: s})
    elif pick == 3:
        frame = pd.DataFrame({"s": s, "x": some(rng, [1, "1", 1.0, True, None, b"1", (1,)], n)})
    elif pick == 4:
        frame = pd.DataFrame(
            {"s": s, "x": pd.Categorical(some(rng, ["a", "b", None], n), list("abcd"))}
        )
    elif pick == 5:
        frame = pd.DataFrame({"s": s, "x": pd.period_range("1960-01", periods=n, freq="M")})
    elif pick == 6:
        frame = pd.DataFrame({"s": s, "x": pd.interval_range(0, n)})
    elif pick == 7:
        frame = pd.DataFrame({"s": s, "x": pd.arrays.SparseArray(some(rng, [0, 1], n))})
    elif pick == 8:
        frame = pd.DataFrame({"s": s, "x": some(rng, [1 + 2j, 0j], n)})
    elif pick == 9:
        frame = pd.DataFrame({"s": s, "x": some(rng, [timedelta(1), timedelta(-1)], n)})
    elif pick == 10:
        frame = pd.DataFrame(
            {"s": s, "x": s}, index=pd.MultiIndex.from_product([[1, 2], [1, 2, 3]])
        )
    elif pick == 11:
        frame = pd.DataFrame({"s": s, "x": some(rng, ["\ud800", "a"], n)})
    elif pick == 12:
        frame = pl.DataFrame({"s": s, "x": some(rng, [[1], [2, 3], None], n)}).lazy()
    else:
        frame = pl.DataFrame({"s": s, "x": some(rng, [{"a": 1}, {"a": 2}], n)})
    if rng.random() < 0.2:
        frame = rng.choice([None, 7, [1, 2], "", {"s": [1]}, np.zeros((2, 2)), pd.Series([1, 2])])
    return Case(frame)


@maker
def odd_weights(rng: random.Random, folder: Path) -> Case:
    n = rng.randint(2, 10)
    pool = [0.0, 1.0, 0.5, 1e-12, 1e15, -1.0, float("nan"), float("inf"), None, 1e308]
    frame = pd.DataFrame(
        {"s": some(rng, [0, 1], n), "x": some(rng, [0, 1, 2], n), "w": some(rng, pool, n)}
    )
    weight = rng.choice(["w", "w", "w", "x", "missing column"])
    return Case(save(rng, frame, folder), n_rows=n, options={"weight": weight})


@maker
def odd_roles(rng: random.Random, folder: Path) -> Case:
    n = 8
    frame = pd.DataFrame(
        {"s": some(rng, [0, 1], n), "x": some(rng, [0, 1], n), "y": some(rng, "abc", n)}
    )
    pool = ["s", "x", "y", "Y", "z", "", " s", "s ", "s,x", 0, None]
    sensitive, public = ([rng.choice(pool) for _ in range(rng.randint(0, 3))] for _ in range(2))
    options: dict[str, Any] = {}
    if rng.random() < 0.5:
        options["keep"] = [rng.choice(["s", "x", "y", "z", "released"])]
    if rng.random() < 0.3:
        options["key"] = rng.choice(["s", "y", "z", ""])
    return Case(save(rng, frame, folder), sensitive, public, n, options)


@maker
def odd_rules(rng: random.Random, folder: Path) -> Case:
    n = rng.randint(2, 30)
    x = rng.choice(
        [NUMBERS[:8], ["a", "b"], [True, False], [datetime(2020, 1, 1), datetime(1960, 1, 1)]]
    )
    frame = pd.DataFrame({"s": some(rng, [0, 1], n), "x": some(rng, list(x), n)})
    bins = [
        "x=0", "x=-3", "x=2", "x=999999999", "x=1e9", "x=3,2,1", "x=1,1", "x=a,b", "x=", "=3", "x",
        "x=2=3", "y=2", "x=nan", "x=inf", "x=0,inf", "x=2020-01-01,2021-01-01", "x=2020-13-01",
        "x=" + ",".join(map(str, range(5000))), "x=1.5", "x=٣",
    ]  # fmt: skip
    steps = [
        "x=0",
        "x=-1",
        "x=10",
        "x=0.1",
        "x=1e-320",
        "x=1e308",
        "x=nan",
        "x=inf",
        "x=a",
        "x",
        "y=1",
        "x=1,2",
    ]
    options: dict[str, Any] = {"bins": [rng.choice(bins)]} if rng.random() < 0.6 else {}
    if rng.random() < 0.5 or not options:
        options["round"] = [rng.choice(steps)]
    return Case(save(rng, frame, folder), n_rows=n, options=options)


@maker
def odd_paths(rng: random.Random, folder: Path) -> Case:
    text = "s,x\n1,2\n2,1\n1,1\n"
    pick = rng.randrange(13)
    if pick == 0:
        path = folder / "year=2020" / "t.csv"
    elif pick == 1:
        path = folder / "x=2020" / "t.parquet"
        path.parent.mkdir()
        pq.write_table(pa.table({"s": [1, 2, 1], "x": ["a", "b", "b"]}), path)
        return Case(rng.choice([path, path.parent, folder]), n_rows=3)
    elif pick == 2:
        path = folder / rng.choice(
            [
                "[a].csv",
                "*.csv",
                "q'u.csv",
                'q"u.csv',
                "a\nb.csv",
                "ü 北.csv",
                "~.csv",
                "$HOME.csv",
                "-s.csv",
            ]
        )
    elif pick == 3:
        (folder / "t.csv").mkdir()
        return Case(folder / "t.csv")
    elif pick == 4:
        os.mkfifo(folder / "t.csv")
        return Case(folder / "t.csv")
    elif pick == 5:
        (folder / "t.csv").symlink_to(folder / "t.csv")
        return Case(folder / "t.csv")
    elif pick == 6:
        (folder / "a.csv").write_text(text)
        (folder / "b.csv").write_text(
            rng.choice([text, "s,y\n1,2\n", "x,s\n1,2\n", "", "s,x\na,b\n"])
        )
        return Case(rng.choice([folder, folder / "*.csv"]))
    elif pick == 7:
        (folder / "a.csv").write_text(text)
        pq.write_table(pa.table({"s": [1, 2], "x": [1, 2]}), folder / "b.parquet")
        return Case(folder)
    elif pick == 8:
        return Case(
            rng.choice(
                [
                    "/dev/null",
                    "/dev/zero",
                    "/dev/stdin",
                    "/proc/self/mem",
                    "no/such.csv",
                    "http://x/y.csv",
                    "\x00",
                    ".",
                ]
            )
        )
    elif pick == 9:
        path = folder / ("n" * 251 + ".csv")
    elif pick == 10:
        path = folder / "t.xlsx"
    elif pick == 11:
        path = folder / "t.duckdb"
        path.write_bytes(rng.choice([b"", b"junk" * 2000]))
        return Case(f"duckdb://{path}" + rng.choice(["", "#t", "#"]))
    else:
        path = folder / "a" / "b" / "t.CSV"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return Case(path, n_rows=3)


@maker
def odd_databases(rng: random.Random, folder: Path) -> Case:
    import duckdb

    path, secret = folder / "t.duckdb", folder / "secret.csv"
    secret.write_text("s,x\n1,secret\n2,secret2\n")
    name = rng.choice(["t", "select", 'a"b', "a.b", "t t", "T"])
    quoted = '"' + name.replace('"', '""') + '"'
    kind = rng.choice(["table", "view", "elsewhere", "broken view", "empty"])
    with duckdb.connect(str(path)) as con:
        if kind in ("table", "view"):
            place = quoted if kind == "table" else "base"
            con.execute(f"CREATE TABLE {place} AS SELECT i % 2 AS s, i % 3 AS x FROM range(9) r(i)")
        if kind == "view":
            con.execute(f"CREATE VIEW {quoted} AS SELECT * FROM base")
        if kind == "elsewhere":
            con.execute(f"CREATE VIEW {quoted} AS SELECT * FROM read_csv('{secret}')")
        if kind == "broken view":
            con.execute("CREATE TABLE base AS SELECT 1 AS s")
            con.execute(f"CREATE VIEW {quoted} AS SELECT * FROM base")
            con.execute("ALTER TABLE base RENAME TO other")
    return Case(f"duckdb://{path}#{name}", n_rows=9 if kind in ("table", "view") else None)


@maker
def many_columns(rng: random.Random, folder: Path) -> Case:
    n, width = rng.randint(2, 40), rng.choice([5, 30, 200])
    frame = pd.DataFrame({f"c{i}": some(rng, list(range(9)), n) for i in range(width)})
    names = list(frame)
    cut = rng.randint(1, width - 1)
    return Case(save(rng, frame, folder), names[:cut], names[cut:], n)


@maker
def wide_range(rng: random.Random, folder: Path) -> Case:
    n = rng.choice([50, 2000])
    draw = np.random.default_rng(rng.randrange(2**32))
    frame = pd.DataFrame(
        {
            "s": draw.integers(0, rng.choice([2, 50]), n),
            "x": draw.standard_cauchy(n).round(rng.choice([0, 3, 15])),
            "day": pd.Timestamp("1900-01-01") + pd.to_timedelta(draw.integers(0, 60_000, n), "D"),
        }
    )
    public = rng.choice(["x", "day", ["x", "day"]])
    return Case(save(rng, frame, folder), "s", public, n, dict(rng.choice([{}, {"bins": ["x=4"]}])))
