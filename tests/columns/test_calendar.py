"""Dates like numbers: by day, month, quarter, year or quantile, in every engine, and in a release."""

from datetime import date, datetime, timedelta

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pytest

import privacyfunnel as pf
from privacyfunnel.codebook import Codebook
from privacyfunnel.codebook.names import named
from privacyfunnel.codes import ColumnCode, RecodedColumn
from privacyfunnel.columns import Calendar, Column, ColumnRules
from privacyfunnel.errors import InvalidInput
from privacyfunnel.recodings.intervals import Intervals
from privacyfunnel.releases.verification import verify
from privacyfunnel.tables import count, open_table

PERIODS = {"day": "D", "month": "M", "quarter": "Q", "year": "Y"}


def people(n: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    born = [date(1939, 11, 5) + timedelta(days=int(d)) for d in rng.integers(0, 3000, n)]
    seen = [datetime(2020, 2, 28, 23, 59) + timedelta(minutes=int(m) * 97) for m in range(n)]
    table = pd.DataFrame({"ill": rng.integers(0, 2, n), "born": born, "seen": seen})
    table.loc[3, "born"] = None
    return table


@pytest.mark.parametrize("unit", PERIODS)
def test_every_engine_finds_the_same_first_days(unit, tmp_path):
    table = people()
    table.to_csv(tmp_path / "people.csv", index=False)
    rules = ColumnRules.parse(round=[f"born={unit}", f"seen={unit}"])
    dated = pl.from_pandas(table).with_columns(pl.col("born").cast(pl.Date))
    frames = [str(tmp_path / "people.csv"), dated.lazy(), ibis.memtable(dated)]
    found = [count(open_table(f), "ill", ["born", "seen"], columns=rules).joint() for f in frames]
    for name, times in (("born", pd.to_datetime(table.born)), ("seen", table.seen)):
        firsts = times.dropna().dt.to_period(PERIODS[unit]).dt.start_time
        wanted = sorted(set(firsts.dt.date if name == "born" else firsts.dt.to_pydatetime()))
        for joint in found:
            column = next(c for c in joint.public if c.name == name)
            assert [v for v in column.values if v is not None] == wanted
            rule = Calendar(unit, name == "seen")
            assert all(rule.index(v) == v for v in wanted)
    for joint in found[1:]:
        assert joint.labels_x == found[0].labels_x
        assert (joint.counts != found[0].counts).nnz == 0


def test_a_release_of_months_is_applied_to_new_rows(tmp_path):
    table = people()
    made = pf.release(
        table, "ill", ["born"], kept=0.4, min_count=1, out=tmp_path / "out", effort="fast", points=2,
        attackers=False, columns=ColumnRules.parse(round=["born=month"]),
    )  # fmt: skip
    file = pd.read_parquet(tmp_path / "out" / "release.parquet")
    book = Codebook.load(tmp_path / "out" / "codebook.json")
    assert book.roles.public[0].rule == Calendar("month")
    assert made.document["asked"]["public"][0]["coarsened"] == "by month"
    from privacyfunnel.tables import write_release

    write_release(open_table(table), book, tmp_path / "again.parquet")
    assert pd.read_parquet(tmp_path / "again.parquet").born.tolist() == file.born.tolist()
    months = pd.to_datetime(table.born).dt.to_period("M")
    assert file.born.groupby(months).nunique().max() == 1  # a month is never cut


@pytest.mark.parametrize("unit", PERIODS)
def test_times_are_released_as_the_periods_they_lie_in(unit, tmp_path):
    table = people()
    table["seen"] += pd.to_timedelta(np.arange(200) % 3 * 400, "D")
    table.to_csv(tmp_path / "people.csv", index=False)
    made = pf.release(
        tmp_path / "people.csv", "ill", ["seen"], kept=1.0, min_count=1, out=tmp_path / "out",
        effort="fast", points=2, attackers=False, form="csv",
        columns=ColumnRules.parse(round=[f"seen={unit}"]),
    )  # fmt: skip
    file = pd.read_csv(tmp_path / "out" / "release.csv", dtype=str)
    periods = table.seen.dt.to_period(PERIODS[unit]).astype(str)
    assert file.seen.str.replace("-Q", "Q").tolist() == periods.tolist()
    assert made.codebook.encode(table.seen[0]) == file.seen[0]
    assert "T00:00:00" not in (tmp_path / "out" / "README.html").read_text()
    assert verify(tmp_path / "out", tmp_path / "people.csv").is_good


def named_months(cuts: list[datetime]) -> list[str]:
    """The names of the months of half a year, put together between some points."""
    months = tuple(datetime(2024, m, 1) for m in range(1, 7))
    shape = Intervals.of_numbers(months, cuts=cuts)
    groups = tuple(dict.fromkeys(shape.released(shape.ends()[0])))
    code = ColumnCode([RecodedColumn("seen", groups)], [[g] for g in range(len(groups))])
    [column] = named(code, [Column("seen", "datetime", Calendar("month", True))]).columns
    return [group.label for group in column.groups]


def test_intervals_of_periods_are_named_by_them_unless_a_period_is_cut():
    cuts = [datetime(2024, 2, 1), datetime(2024, 5, 1)]
    assert named_months(cuts) == ["2024-01", "2024-02 to 2024-04", "2024-05 or later"]
    assert named_months([datetime(2024, 4, 1)]) == ["before 2024-04", "2024-04 or later"]
    within = ["before 2024-03-15T00:00:00", "2024-03-15T00:00:00 or later"]
    assert named_months([datetime(2024, 3, 15)]) == within


def test_quantiles_of_dates_are_dates_with_as_many_records_each():
    rules = ColumnRules.parse(bins=["born=4", "seen=5"])
    joint = count(people(), "ill", ["born", "seen"], columns=rules).joint()
    for name, n in (("born", 4), ("seen", 5)):
        column = next(c for c in joint.public if c.name == name)
        known = [v for v in column.values if v is not None]
        assert len(known) == n
        sizes = np.bincount(column.codes, joint.p_x)
        assert np.abs(sizes[[column.values.index(v) for v in known]] - 1 / n).max() < 0.03


@pytest.mark.parametrize(
    ("words", "told"),
    [("born=week", "numbers or dates"), ("ill=month", "rounded to a month"), ("born=7", "day, month")],
)  # fmt: skip
def test_what_dates_are_not_rounded_to_is_told(words, told):
    with pytest.raises(InvalidInput, match=told):
        count(people(), "ill", ["born"], columns=ColumnRules.parse(round=[words]))
