"""Columns of very many values: cut level by level, and released although no two records are alike."""

from __future__ import annotations

import re

import numpy as np
import pytest

import privacyfunnel as pf
from privacyfunnel.errors import TargetUnreachable
from privacyfunnel.recodings import make_recoding
from privacyfunnel.recodings.global_recoding import GlobalSearch
from privacyfunnel.recodings.intervals import Intervals


def waves(seed: int, n: int = 300) -> pf.Joint:
    """One column whose values tell more and less about S, in turn."""
    rng = np.random.default_rng(seed)
    share = 0.5 + 0.4 * np.sin(np.arange(n) / rng.uniform(9, 25))
    counts = rng.multinomial(4000, np.r_[share, 1 - share] / n).reshape(2, n)
    return pf.Joint.from_counts(counts, labels_x=range(n), columns=["day"])


@pytest.mark.parametrize("seed", range(6))
def test_levels_are_nearly_as_good_as_all_ways_to_cut(seed, monkeypatch):
    monkeypatch.setattr("privacyfunnel.recodings.intervals.POINTS", 40)
    joint = waves(seed)
    shapes = [
        Intervals.of_numbers(joint.public[0].values, rounding="free", shares=shares)
        for shares in (None, joint.p_x)
    ]
    assert [shape.exact for shape in shapes] == [True, False]
    searches = [GlobalSearch(joint, (shape,), np.ones(1)) for shape in shapes]
    for mu in (0.02, 0.1, 0.5, 20.0):
        found = [
            search.descend([np.zeros(joint.n_x, int)], mu, np.random.default_rng(0))
            for search in searches
        ]
        best, near = (code.leakage - mu * code.kept for code in found)
        assert best - 1e-9 <= near <= best + 0.1 * abs(best)
    assert found[1].kept == pytest.approx(1.0)  # the last level has all points


def test_a_missing_value_beside_levels(monkeypatch):
    monkeypatch.setattr("privacyfunnel.recodings.intervals.POINTS", 8)
    counts = np.random.default_rng(1).integers(1, 9, (2, 41))
    joint = pf.Joint.from_counts(counts, labels_x=[None, *range(40)], columns=["day"])
    values = joint.public[0].values
    shape = Intervals.of_numbers(values, rounding="free", shares=joint.p_x)
    search = GlobalSearch(joint, (shape,), np.ones(1))
    for mu, kept in ((0.0, 0.0), (50.0, 1.0)):
        found = search.descend([np.zeros(41, int)], mu, np.random.default_rng(0))
        assert found.kept == pytest.approx(kept)


@pytest.mark.parametrize("bits", [0.5, 2.0, 4.0])
def test_levels_keep_a_bound_on_what_is_lost(bits, monkeypatch):
    monkeypatch.setattr("privacyfunnel.recodings.intervals.POINTS", 40)
    joint = waves(7)
    found = []
    for shares in (None, joint.p_x):
        shape = Intervals.of_numbers(joint.public[0].values, rounding="free", shares=shares)
        search = GlobalSearch(joint, (shape,), np.ones(1))
        start = np.zeros(joint.n_x, int)
        cells = search.cells([start], 0, 1.0, 1.0, keep=False)
        found.append(search.measured([shape.within(cells, bits, start, np.random.default_rng(0))]))
    best, near = found
    assert min(best.kept, near.kept) >= 1 - bits / joint.entropy_x - 1e-9
    assert best.leakage - 1e-3 <= near.leakage <= 1.5 * best.leakage + 1e-3


@pytest.fixture(scope="module")
def unlike() -> pf.Joint:
    """250 records, no two alike, of an amount, a day and a town."""
    rng = np.random.default_rng(3)
    amount, day = rng.permutation(250), rng.integers(0, 100, 250)
    town = rng.choice(["Bonn", "Oslo", "Rom"], 250)
    ill = (rng.random(250) < 0.2 + 0.5 * amount / 250).astype(int)
    counts = np.zeros((2, 250))
    counts[ill, np.arange(250)] = 1
    labels = list(zip(amount.tolist(), day.tolist(), town.tolist(), strict=True))
    return pf.Joint.from_counts(counts, labels_x=labels, columns=["amount", "day", "town"])


def test_records_that_are_all_unlike_are_released_with_a_least_count(unlike):
    search = make_recoding("global", min_count=5, balance=0.5).on(unlike)
    found = search.at(np.random.default_rng(0), kept=0.25)
    assert found.kept >= 0.25 - 1e-9
    assert found.suppressed <= 0.02
    sizes = np.bincount(found.code.labels, weights=unlike.p_x) * unlike.total
    assert sizes.min() >= 5


def test_what_cannot_be_kept_is_refused_with_what_can(unlike):
    search = make_recoding("global", min_count=5, balance=0.5).on(unlike)
    with pytest.raises(TargetUnreachable) as refused:
        search.at(np.random.default_rng(0), kept=0.9)
    nearest = float(re.search(r"nearest keeps ([\d.]+)\.", str(refused.value)).group(1))
    assert 0.2 < nearest < 0.9
