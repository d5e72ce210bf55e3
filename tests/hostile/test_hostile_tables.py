"""Hostile tables: every row comes out again, or one clear line says why not."""

from __future__ import annotations

import contextlib
import random
import signal
import warnings
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hostile_tables import MAKERS, Case

from privacyfunnel.codebook import Codebook
from privacyfunnel.codes import Partition
from privacyfunnel.columns import ColumnRules
from privacyfunnel.errors import FunnelError
from privacyfunnel.objectives import Funnel
from privacyfunnel.solvers.base import Solution, Status
from privacyfunnel.tables import count, open_table, write_release

EACH = 32  # tables of each kind: 19 kinds


class Hang(BaseException):
    """A case that does not end; no handler of errors may take it for one of its own."""


@contextlib.contextmanager
def patience(seconds: float = 30.0):
    """End a case that hangs; one takes a tenth of a second.

    Seconds of computing, since a machine that is busy is no hang; ten times as many of waiting.
    """
    timers = {
        (signal.SIGPROF, signal.ITIMER_PROF): seconds,
        (signal.SIGALRM, signal.ITIMER_REAL): 10 * seconds,
    }

    def give_up(*_: Any) -> None:
        raise Hang(f"not done in {seconds} s")

    before = {sign: signal.signal(sign, give_up) for sign, _ in timers}
    for (_, timer), most in timers.items():
        signal.setitimer(timer, most)
    try:
        yield
    finally:
        for sign, timer in timers:
            signal.setitimer(timer, 0)
            signal.signal(sign, before[sign])


def through(case: Case, place: Path, rng: random.Random) -> int:
    """Count the table, code its values at random, write it; the number of rows that must be there."""
    options = dict(case.options)
    weight = options.pop("weight", None)
    rules = ColumnRules.parse(
        options.pop("bins", ()), options.pop("round", ()), options.pop("missing", "symbol")
    )
    table = open_table(case.source)
    counts = count(table, case.sensitive, case.public, columns=rules, weight=weight)
    joint = counts.joint()
    code = Partition([rng.randrange(3) for _ in range(joint.n_x)])
    solution = Solution.measured(joint, Funnel(0.5), code, Status.CONVERGED)
    book = Codebook.from_solution(joint, solution, counts.roles)
    book.save(place.with_suffix(".json"))
    book = Codebook.load(place.with_suffix(".json"))
    done = write_release(table, book, place, expand=rng.random() < 0.3, **options)
    assert sum(done.counts.values()) == done.n_released == done.n_rows - done.n_dropped
    assert case.n_rows is None or case.n_rows == done.n_rows
    return done.n_released


def rows_of(place: Path) -> int:
    reader = "read_csv(?, header=true, all_varchar=true, delim=',', quote='\"')"
    reader = "read_parquet(?)" if place.suffix == ".parquet" else reader
    with duckdb.connect() as con:  # of its own: the common one stays free for other tests
        return con.execute(f"SELECT count(*) FROM {reader}", [str(place)]).fetchall()[0][0]


def trouble(case: Case, folder: Path, rng: random.Random) -> str | None:
    """What is wrong with how a case ends, if anything is."""
    place = folder / f"release.{rng.choice(['parquet', 'csv'])}"
    try:
        with patience(), warnings.catch_warnings():
            warnings.simplefilter("error")
            promised = through(case, place, rng)
    except FunnelError as error:
        line = str(error)
        if place.exists() or list(folder.glob("*.part")) or list(folder.glob(".*part*")):
            return f"refused, but something was written: {line}"
        if not line.strip() or "\n" in line or len(line) > 1000:
            return f"not one clear line: {line[:300]!r}"
        return None
    except (Exception, Hang) as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    if rows_of(place) != promised:
        return f"{promised} rows were promised, {rows_of(place)} are in the file"
    return None


@pytest.mark.parametrize("kind", MAKERS)
def test_rows_are_conserved_or_refused_in_one_line(kind, tmp_path):
    found = []
    for number in range(EACH):
        rng = random.Random(f"{kind} {number}")
        folder = tmp_path / f"{kind}-{number}"
        (folder / "in").mkdir(parents=True)
        case = MAKERS[kind](rng, folder / "in")
        wrong = trouble(case, folder, rng)
        if wrong:
            found.append(f"{kind} {number}: {wrong}")
    assert not found, "\n" + "\n".join(found)
