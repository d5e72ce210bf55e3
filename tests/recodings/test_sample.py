"""Searches on a sample: the code is of all values, and every figure is of all records."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import privacyfunnel as pf
from privacyfunnel.recodings import kept
from privacyfunnel.recodings.sample import sampled


@pytest.fixture
def joint(monkeypatch) -> pf.Joint:
    monkeypatch.setattr("privacyfunnel.recodings.sample.MOST", 500)
    monkeypatch.setattr("privacyfunnel.recodings.sample.RECORDS", 800)
    rng = np.random.default_rng(0)
    n = 6_000
    age, town = rng.integers(17, 90, n), rng.choice(list("abcdefg"), n)
    job = rng.integers(0, 5, n)
    ill = rng.random(n) < 0.1 + 0.008 * (age - 17) * (job > 2)
    table = pd.DataFrame({"age": age, "town": town, "job": [f"job {k}" for k in job], "ill": ill})
    table.loc[0, "town"] = "met once"
    return pf.Joint.from_table(table, "ill", ["age", "town", "job"])


def test_a_sample_has_every_value(joint):
    drawn = sampled(joint, np.random.default_rng(1))
    assert drawn.n_records < 1_000 < joint.n_records
    assert drawn.n_x < joint.n_x
    for own, all_of in zip(drawn.public, joint.public, strict=True):
        assert own.values == all_of.values


def test_a_code_from_a_sample_is_measured_on_all_records(joint):
    frontier = pf.frontier(joint, recoding="global", n_points=4)
    by_share, by_leakage = frontier.at(kept=0.5), frontier.at(leakage=0.02)
    for found in [*frontier, by_share, by_leakage]:
        assert found.code.n_x == joint.n_x
        assert found.kept == pytest.approx(kept(joint, found.code), abs=1e-12)
        assert found.leakage == pytest.approx(found.code.push(joint).information, abs=1e-12)
    assert by_share.kept >= 0.5 - 1e-9
    assert by_leakage.leakage <= 0.02 * joint.entropy_s + 1e-12
    assert by_share.leakage < joint.information


def test_least_counts_hold_in_all_records(joint):
    found = pf.frontier(joint, recoding="global", n_points=2, min_count=20, suppress=0.05).at(
        kept=0.4
    )
    counts = np.bincount(found.code.labels, weights=joint.p_x) * joint.total
    assert counts.min() >= 20 - 1e-6
    assert found.suppressed <= 0.05 + 1e-12
    assert found.suppressed == pytest.approx(joint.p_x[found.code.suppressed].sum(), abs=1e-12)
    assert found.kept >= 0.4 - 1e-9
