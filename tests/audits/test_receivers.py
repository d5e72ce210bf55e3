"""Receivers beside attackers: what can be told, which links are left, what a classifier guesses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import privacyfunnel as pf
from privacyfunnel.audits.receivers import receive
from privacyfunnel.codes import Partition
from privacyfunnel.columns import Column
from privacyfunnel.metrics.random_grouping import kept_by_chance


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, n)
    town = np.where(age + rng.integers(-15, 15, n) > 40, "old town", "new town")
    ill = (rng.random(n) < age / 80).astype(int)
    wealth = np.where(rng.random(n) < 0.85, town == "old town", town != "old town").astype(int)
    decade = age // 10 * 10
    return pd.DataFrame({"ill": ill, "age": age, "town": town, "wealth": wealth, "decade": decade})


def slow_information(a, b):
    both = pd.crosstab(a, b).to_numpy() / len(a)
    rows, columns = both.sum(axis=1, keepdims=True), both.sum(axis=0, keepdims=True)
    held = both > 0
    return float((both[held] * np.log2((both / rows / columns)[held])).sum())


def test_figures_are_those_of_plain_pandas():
    rows = table()
    found = pf.audit(
        rows, "ill", ["decade", "town"], original=["age", "town"], trials=pf.Trials(attackers=False)
    ).receivers
    age, town = found.columns
    seen = rows["decade"].astype(str) + rows["town"]
    h = -sum(p * np.log2(p) for p in rows["age"].value_counts(normalize=True))
    assert age.kept == pytest.approx(slow_information(rows["age"], seen) / h)
    assert town.kept == pytest.approx(1.0)
    medians = rows.groupby(seen)["age"].transform(
        lambda values: values.sort_values().iloc[(len(values) - 1) // 2]
    )
    assert age.error == pytest.approx((rows["age"] - medians).abs().mean())
    assert age.error < age.error_blind
    assert town.error is None
    [pair] = found.pairs
    assert pair.bits == pytest.approx(slow_information(rows["age"], rows["town"]))
    assert 0 < pair.kept <= 1


def test_nothing_is_left_of_a_link_where_all_is_one_symbol():
    values = [(a, b) for a in range(3) for b in range(3)]
    p = np.array([0.3, 0.02, 0.02, 0.02, 0.3, 0.02, 0.02, 0.02, 0.28])
    columns = [Column("a", "integer"), Column("b", "integer")]
    told, [pair] = receive(p[:, None], values, columns)
    assert [column.kept for column in told] == pytest.approx([0, 0], abs=1e-12)
    assert pair.kept == pytest.approx(0, abs=1e-12)
    told, [pair] = receive(np.diag(p), values, columns)
    assert [column.kept for column in told] == pytest.approx([1, 1])
    assert pair.kept == pytest.approx(1)


def test_a_use_is_guessed_nearly_as_well_from_what_matters():
    rows = table(600)
    found = pf.audit(rows, "ill", ["town"], original=["age", "town"], useful="wealth").receivers
    best = max(use.accuracy for use in found.uses)
    blind = next(use.accuracy for use in found.uses if use.attacker == "most frequent")
    from_all = max(use.accuracy for use in found.uses_original)
    assert blind + 0.2 < best
    assert from_all - 0.05 < best
    assert {use.column for use in found.uses} == {"wealth"}


def test_a_release_says_what_chance_would_keep(tmp_path):
    rows = table()
    joint = pf.Joint.from_table(rows, "ill", ["age", "town"])
    rng = np.random.default_rng(0)
    labels = rng.permutation(joint.n_x) % 5  # a hash: no more than chance
    hashed = pf.recodings.column_utilities(joint, Partition(labels))
    chance = kept_by_chance(joint, Partition(labels), draws=60)
    assert np.mean(list(hashed.values())) == pytest.approx(np.mean(chance.columns), abs=0.08)
    by_town = Partition([int(value[1] == "old town") for value in joint.labels_x])
    chance = kept_by_chance(joint, by_town)
    assert pf.recodings.column_utilities(joint, by_town)["town"] == pytest.approx(1.0)
    assert chance.columns[1] < 0.2
    quick = {"effort": "fast", "points": 2, "attackers": False, "min_count": 1}
    made = pf.release(rows, "ill", ["age", "town"], utility=0.4, out=tmp_path / "symbols", **quick)
    abouts = [caution["about"] for caution in made.document["cautions"]]
    kept = np.mean([column["kept"] for column in made.document["columns"]])
    by_chance = np.mean([column["by_chance"] for column in made.document["columns"]])
    assert ("no more than chance" in abouts) == (kept <= by_chance + 0.02)
    assert made.document["audit"]["receivers"]["columns"][0]["name"] == "age"
    made = pf.release(rows, "ill", ["age", "town"], kept=0.5, out=tmp_path / "global", **quick)
    assert "no more than chance" not in [c["about"] for c in made.document["cautions"]]
