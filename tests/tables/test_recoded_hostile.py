"""Hostile tables through a readable release: rows are conserved, or one clear line says why not."""

from __future__ import annotations

import datetime as dt
import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest

import privacyfunnel as pf
from privacyfunnel.codebook import Codebook
from privacyfunnel.codebook.file import from_document, write
from privacyfunnel.errors import FunnelError
from privacyfunnel.tables import count, write_release

NAMES = ["age", "a,b", 'say "hi"', "", " ", "*", "released", "c0", "naïve", "x; DROP TABLE t", "e0"]
POOLS = {
    "whole": [0, 1, -1, 7, 10**12, -(2**62), None],
    "numbers": [0.0, -0.0, 1.5, 1e300, -1e-300, math.inf, -math.inf, math.nan, None],
    "texts": [
        "",
        " ",
        "*",
        "a",
        "A",
        "ä",
        "1",
        "1.0",
        "null",
        "missing",
        "a or b",
        '"',
        "a\nb",
        None,
    ],
    "dates": [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(9999, 12, 31), None],
    "times": [dt.datetime(1900, 1, 1), dt.datetime(1969, 12, 31, 23, 59), dt.datetime(2100, 6, 1)],
    "flags": [True, False, None],
    "one": ["same"],
    "nothing": [None, None],
}


def hostile(seed):
    """A table of odd names and values, some columns all distinct, some with one value."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([2, 3, 9, 40, 150]))
    names = list(rng.choice(NAMES, 3, replace=False))
    columns = {}
    for name in names:
        kind = str(rng.choice([*POOLS, "distinct", "floats"]))
        if kind == "distinct":
            columns[name] = [f"v{i}" for i in rng.permutation(n)]
        elif kind == "floats":
            columns[name] = list(rng.normal(size=n) * 10.0 ** rng.integers(-9, 9))
        else:
            pool = POOLS[kind]
            columns[name] = [pool[i] for i in rng.integers(0, len(pool), n)]
    return pd.DataFrame(columns), names, rng


def go_through(seed, folder):
    table, names, rng = hostile(seed)
    kind = str(rng.choice(["global", "local"]))
    least = int(rng.choice([1, 1, 3]))
    n_public = int(rng.integers(1, 3))
    counted = count(table, names[-1], names[:n_public], constant=True)
    joint = counted.joint()
    options = {"moves": 20} if kind == "local" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = pf.solve(
            joint, pf.Funnel(float(rng.random())), recoding=kind, min_count=least, **options
        )
    book = Codebook.from_solution(joint, solution, counted.roles, min_count=least)
    assert from_document(json.loads(write(book))) == book
    fmt = str(rng.choice(["csv", "parquet"]))
    numbers = str(rng.choice(["label", "bounds", "mean"]))
    done = write_release(table, book, folder / f"{seed}.{fmt}", numbers=numbers)
    assert done.n_rows == done.n_released == len(table)
    if (fmt, numbers) != ("parquet", "label"):
        done = write_release(table, book, folder / f"{seed}-labels.parquet")
    labels = pd.read_parquet(done.path).astype(str)
    rows = [tuple(row) for row in labels.to_numpy()]
    expected = [book.stands_for(book.labels[row[0][0]]) for row in book.rows]
    value_of = dict(zip(book.values, expected, strict=True))
    own = [counted.roles.public[i] for i in range(n_public)]
    given = zip(*(_plain(table[name]) for name in names[:n_public]), strict=True)
    for row, value in zip(rows, given, strict=True):
        symbols = tuple(c.encode(v) for c, v in zip(own, value, strict=True))
        assert row == value_of[symbols]
    if least > 1:
        sizes = pd.Series(rows).value_counts()
        sizes = sizes[[row != ("*",) * n_public for row in sizes.index]]
        assert sizes.empty or sizes.min() >= least


def _plain(column):
    import pyarrow as pa

    return pa.array(column, from_pandas=True).to_pylist()


def check(seeds, folder):
    complaints = []
    for seed in seeds:
        try:
            go_through(seed, folder)
        except FunnelError as error:
            complaints.append(str(error))
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
    assert not any("\n" in complaint for complaint in complaints)
    assert len(complaints) < len(seeds) / 2


def test_some_hostile_tables(tmp_path):
    check(range(25), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(25, 200, 35))  # pieces that two processes can share
def test_two_hundred_hostile_tables(first, tmp_path):  # of 500: benchmarks/recoding.py hostile
    check(range(first, first + 35), tmp_path)
