"""Damaged and hostile files: rows are conserved, or one clear line says what is wrong."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import privacyfunnel as pf
from privacyfunnel.codebook import Codebook
from privacyfunnel.codebook.checks import checksum
from privacyfunnel.codebook.file import write
from privacyfunnel.columns import ColumnRules
from privacyfunnel.errors import FunnelError, InvalidInput
from privacyfunnel.files import is_dead, run_mark
from privacyfunnel.folders import together
from privacyfunnel.tables import count, open_table, write_release

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TABLE = pd.DataFrame({"s": [0, 1] * 30, "x": ["a", "b", "c"] * 20, "n": range(60)})


def book():
    counted = count(TABLE, "s", "x")
    solution = pf.Solution.measured(
        counted.joint(), pf.Funnel(0.5), pf.Partition([0, 1, 1]), pf.Status.CONVERGED
    )
    return Codebook.from_solution(counted.joint(), solution, counted.roles)


def complaint(path, *names):
    with pytest.raises(FunnelError) as info:
        count(path, *(names or ("s", "x")))
    assert "\n" not in str(info.value)
    return str(info.value)


# --- text -------------------------------------------------------------------------------------


def test_a_first_line_that_never_ends(tmp_path):
    (tmp_path / "wide.csv").write_text("x" * 200_000 + ",s\n1,2\n")
    assert "column names" in complaint(tmp_path / "wide.csv")
    (tmp_path / "long.csv").write_text("x" * 3_000_000)
    assert "1,000,000 characters" in complaint(tmp_path / "long.csv")
    with gzip.open(tmp_path / "bomb.csv.gz", "wb") as file:
        for _ in range(50):
            file.write(b"x" * 1_000_000)
    assert "1,000,000 characters" in complaint(tmp_path / "bomb.csv.gz")
    names = [f"c{i}" for i in range(5_000)]  # many names are fine
    (tmp_path / "many.csv").write_text(",".join(["s", "x", *names]) + "\n" + "1," * 5_001 + "1\n")
    assert len(open_table(tmp_path / "many.csv").names) == 5_002


@pytest.mark.parametrize("cut", [5, 40, -8, -1])
def test_cut_and_corrupt_archives(cut, tmp_path):
    TABLE.to_csv(tmp_path / "t.csv.gz", index=False)
    whole = (tmp_path / "t.csv.gz").read_bytes()
    (tmp_path / "cut.csv.gz").write_bytes(whole[:cut])
    assert "cut.csv.gz" in complaint(tmp_path / "cut.csv.gz")
    middle = bytearray(whole)
    middle[len(whole) // 2] ^= 0xFF
    (tmp_path / "bad.csv.gz").write_bytes(bytes(middle))
    complaint(tmp_path / "bad.csv.gz")


def test_dates_that_python_has_not(tmp_path):
    import duckdb

    for word in ("DATE '12000-01-01'", "DATE 'infinity'", "TIMESTAMP '20000-05-05 10:00:00'"):
        place = tmp_path / "t.parquet"
        with duckdb.connect() as con:
            con.execute(
                f"COPY (SELECT i % 2 AS s, CASE WHEN i = 3 THEN {word} END AS x FROM range(9) r(i)) "
                f"TO '{place}' (FORMAT parquet)"
            )
        assert "1 to 9999" in complaint(place)


def test_folders_called_like_columns_are_folders(tmp_path):
    for name in ("year=2020", "x=2020"):
        (tmp_path / name).mkdir()
        TABLE.to_csv(tmp_path / name / "t.csv", index=False)
        TABLE.to_parquet(tmp_path / name / "t.parquet", index=False)
        for file in ("t.csv", "t.parquet"):
            table = open_table(tmp_path / name / file)
            assert table.names == ("s", "x", "n")
            assert count(table, "s", "x").labels_x == ["a", "b", "c"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes as POSIX has them")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    assert "is no file" in complaint(tmp_path / "pipe.csv")
    with pytest.raises(InvalidInput, match="not a file"):
        Codebook.load(tmp_path / "pipe.csv")


def test_bins_beyond_reason(tmp_path):
    with pytest.raises(InvalidInput, match="2 to 1,000"):
        count(TABLE, "s", "n", columns=ColumnRules.parse(bins=["n=999999999"]))
    with pytest.raises(InvalidInput, match="1,000 bins are the most"):
        count(TABLE, "s", "n", columns=ColumnRules(bins={"n": list(range(5_000))}))
    assert len(count(TABLE, "s", "n", columns=ColumnRules(bins={"n": 900})).labels_x) == 60


@pytest.mark.parametrize("seed", range(25))
def test_bit_flipped_parquet(seed, tmp_path):
    rng = np.random.default_rng(seed)
    pq.write_table(pa.Table.from_pandas(TABLE), tmp_path / "t.parquet")
    data = bytearray((tmp_path / "t.parquet").read_bytes())
    for at in rng.integers(0, len(data), 3):
        data[at] ^= 1 << int(rng.integers(0, 8))
    (tmp_path / "t.parquet").write_bytes(bytes(data))
    complained = ""
    try:
        counted = count(open_table(tmp_path / "t.parquet", memory="500MB"), "s", "x", constant=True)
    except FunnelError as error:
        complained = str(error)
    assert "\n" not in complained
    assert complained or counted.counts.sum() == counted.n_rows


# --- codebooks --------------------------------------------------------------------------------


def resigned(change):
    document = json.loads(write(book()))
    change(document)
    document["checksum"] = checksum(document)
    return json.dumps(document)


HOSTILE = {
    "surrogate": lambda d: d["symbols"][0].update(label="\ud800"),
    "surrogate in a value": lambda d: d["symbols"][0]["members"].append("\udfff"),
    "rounding of text": lambda d: d["public"][0].update(round=5),
    "bins of text": lambda d: d["public"][0].update(bins=[1, 2]),
    "whole numbers beyond 64 bits": lambda d: (
        d["public"][0].update(kind="integer"),
        [s.update(members=[2**70 + i]) for i, s in enumerate(d["symbols"])],
    ),
    "a very long number": lambda d: d.update(n_records=10**4000),
    "many edges": lambda d: (
        d["public"][0].update(kind="integer", bins=list(range(100_000))),
        [s.update(members=[f"[{i}, {i + 1})"]) for i, s in enumerate(d["symbols"])],
    ),
    "negative least count": lambda d: d.update(min_count=-3),
    "deeply nested": lambda d: d["symbols"][0].update(members=[[[[["a"]]]]]),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_codebooks_signed_again(case, tmp_path):
    (tmp_path / "c.json").write_text(resigned(HOSTILE[case]))
    with pytest.raises(InvalidInput) as info:
        Codebook.load(tmp_path / "c.json")
    assert "\n" not in str(info.value)
    str(info.value).encode()


# --- runs that were killed --------------------------------------------------------------------


def dead_mark():
    child = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    machine, _, token = run_mark().split("-")
    return f"{machine}-{int(child.stdout)}-{token}"


def test_leftovers_of_killed_runs_go_with_the_next(tmp_path):
    mark = dead_mark()
    assert is_dead(mark)
    (tmp_path / f".o.csv.{mark}.part").write_text("half")
    (tmp_path / f".o.csv.{run_mark()}.part").write_text("another run's, alive")
    (tmp_path / ".other.part").write_text("not ours")
    write_release(TABLE, book(), tmp_path / "o.csv")
    left = sorted(p.name for p in tmp_path.iterdir())
    assert left == sorted(["o.csv", ".other.part", *(n for n in left if "alive" not in n and
                           n.startswith(".o.csv."))])  # fmt: skip
    assert not any(mark in name for name in left)


@pytest.mark.parametrize("far", [False, True])
def test_what_a_killed_run_had_half_moved_is_ended(far, tmp_path):
    """Killed while old files were put aside, or while new ones were put in their place."""
    part = tmp_path / f".funnel.{dead_mark()}.part"
    (part / ".old").mkdir(parents=True)
    (part / ".old" / "a.txt").write_text("old")
    (part / "a.txt").write_text("new")
    (part / "b.txt").write_text("new")
    if far:
        (part / ".placing").touch()
    else:
        (tmp_path / "b.txt").write_text("old")
    with pytest.raises(InvalidInput, match="exists"), together(tmp_path, ["a.txt", "b.txt"]):
        pass
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == dict.fromkeys(
        ["a.txt", "b.txt"], "new" if far else "old"
    )


def test_the_same_in_another_format_does_not_stay_beside(tmp_path):
    for name in ("release.csv", "codebook.json"):
        (tmp_path / name).write_text("old")
    others = ["release.csv", "release.parquet"]
    with (
        pytest.raises(InvalidInput, match=r"release\.csv exists"),
        together(tmp_path, ["release.parquet"], instead_of=others),
    ):
        pass
    names = ["release.parquet", "codebook.json"]
    with together(tmp_path, names, force=True, instead_of=others) as work:
        for name in names:
            (work / name).write_text("new")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(names)


# --- no place to write ------------------------------------------------------------------------


def test_without_a_place_for_compiled_loops_one_is_made_for_the_process():
    """As in a read-only install that runs without a home; numba alone refuses to compile there."""
    script = (
        "import os; os.access = lambda *_: False\n"
        "import privacyfunnel as pf\n"
        "joint = pf.Joint.from_counts([[3, 0, 1, 2], [0, 3, 2, 1]])\n"
        "pf.solve(joint, pf.Funnel(0.5), method='greedy')\n"
        "import numba; print(numba.config.CACHE_DIR)"
    )
    env = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "privacyfunnel-numba-" in done.stdout
    assert not Path(done.stdout.strip()).exists()  # it goes with the process
