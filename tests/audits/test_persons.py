"""Persons, not rows: counts, chance, splits, attackers that pool, in audits and releases."""

import numpy as np
import pandas as pd
import pytest

import privacyfunnel as pf
from privacyfunnel.audits import attack, hold_out
from privacyfunnel.audits.holdout import persons_held_out
from privacyfunnel.columns import Column
from privacyfunnel.errors import InvalidInput
from privacyfunnel.metrics import (
    bootstrap,
    bootstrap_by_person,
    informed_guess,
    informed_guess_by_person,
    shuffled,
    shuffled_by_person,
)
from privacyfunnel.persons import Persons
from privacyfunnel.releases import recoded
from privacyfunnel.report import audit_words as words
from privacyfunnel.report.page import page
from privacyfunnel.report.words import summary
from privacyfunnel.tables import count

NONE = pf.Trials(permutations=0, bootstraps=0, attackers=False)
FAST = {"effort": "fast", "points": 2, "attackers": False}
RIGHT = 0.7  # how often a visit's test says what the patient has


def visits(n_persons: int = 300, rows: int = 5, seed: int = 1) -> pd.DataFrame:
    """Patients with five visits each: every visit's test tells a little, all of them together a lot."""
    rng = np.random.default_rng(seed)
    ill = np.repeat(rng.integers(0, 2, n_persons), rows)
    table = pd.DataFrame({"patient": np.repeat(np.arange(n_persons), rows), "ill": ill})
    table["test"] = np.where(rng.random(len(ill)) < RIGHT, ill, 1 - ill)
    table["ward"] = rng.integers(0, 3, len(ill))
    return table


@pytest.fixture(scope="module")
def found() -> pf.Audit:
    trials = pf.Trials(permutations=40, bootstraps=40, folds=3)
    return pf.audit(visits(), "ill", "test", person="patient", trials=trials)


def test_a_pooled_attack_gains_no_more_than_the_report_states(found):
    """An attacker who knows the world counts the tests of each patient, and is held to the figures."""

    def attacked(table):
        tests = table.groupby("patient").agg(ill=("ill", "first"), positive=("test", "sum"))
        share = tests.ill.mean()
        odds = (RIGHT / (1 - RIGHT)) ** (2.0 * tests.positive - 5) * share / (1 - share)
        p = np.where(tests.ill == 1, odds / (1 + odds), 1 / (1 + odds))
        blind = -np.where(tests.ill == 1, np.log2(share), np.log2(1 - share)).mean()
        return (blind + np.log2(p).mean()) / blind, ((odds > 1) == (tests.ill == 1)).mean()

    by_row, by_person = found["leakage"].value, found["person_leakage"].value
    gained, right = attacked(visits())
    assert by_row < gained / 2  # what one row tells would be no promise
    assert gained <= by_person
    assert right <= found["person_guess"].value
    others, _ = attacked(visits(20_000, seed=2))  # people who are not in the table
    assert by_person < others < found["person_population"].value < 0.8
    pooled = {a.attacker: a for a in found.attacks if "together" in a.attacker}
    assert set(pooled) == {
        f"{a}, a person's rows together" for a in ("naive Bayes", "gradient boosting")
    }
    best = max(pooled.values(), key=lambda a: a.gain_bits)
    assert best.n_records == 300
    assert 0.3 < best.gain_bits <= by_person + 2 * best.gain_error_bits
    shown = " ".join(words.headline(found.as_dict()))
    assert "1,500 records of 300 persons." in shown
    assert "sees all rows of a person together" in shown


def test_what_is_counted_is_persons(found):
    assert found.n_persons == 300
    table = visits()
    assert found["k"].value == table.groupby("test").patient.nunique().min()
    rows = pf.audit(table, "ill", "test", trials=NONE)
    assert rows["k"].value > found["k"].value
    assert found["miller_madow"].value is None
    assert "not independent" in found["miller_madow"].note
    lone = table.assign(test=np.where(table.index < 5, 7, table.test))
    assert pf.audit(lone, "ill", "test", person="patient", trials=NONE)["unique"].value == 1 / 300


def test_one_row_each_is_as_without_persons():
    table = visits(200, rows=1)
    counted = count(table, "ill", ["test", "ward"], person="patient")
    joint, persons = counted.joint(), counted.persons
    assert informed_guess_by_person(joint, persons) == pytest.approx(informed_guess(joint))
    chance, plain = shuffled_by_person(joint, persons, shuffles=200), shuffled(joint, shuffles=200)
    assert chance.mean_bits == pytest.approx(plain.mean_bits, abs=0.01)
    wide, narrow = bootstrap_by_person(joint, persons), bootstrap(joint)
    assert wide.high_bits == pytest.approx(narrow.high_bits, abs=0.02)
    pooled = persons.pooled(joint.n_s)
    assert pooled.information == pytest.approx(joint.information)
    assert pooled.n_records == 200


def test_rows_of_one_person_show_more_by_chance_than_as_many_records():
    rng = np.random.default_rng(3)
    table = visits(60).assign(test=lambda t: np.repeat(rng.integers(0, 6, 60), 5))
    counted = count(table, "ill", "test", person="patient")
    joint, persons = counted.joint(), counted.persons
    by_person, by_row = shuffled_by_person(joint, persons), shuffled(joint)
    assert by_person.mean_bits > 3 * by_row.mean_bits
    linked = table.assign(test=lambda t: np.where(t.patient % 5 == 0, 1 - t.ill, t.ill))
    counted = count(linked, "ill", "test", person="patient")
    wide = bootstrap_by_person(counted.joint(), counted.persons)
    narrow = bootstrap(counted.joint())
    assert wide.high_bits - wide.low_bits > 1.5 * (narrow.high_bits - narrow.low_bits)


def test_nobody_is_on_both_sides():
    counted = count(visits(), "ill", ["test", "ward"], person="patient")
    joint, persons = counted.joint(), counted.persons
    (first, own), (second, other) = persons_held_out(joint, persons, 0.3, seed=1)
    assert (own.n_persons, other.n_persons) == (210, 90)
    assert (first.n_records, second.n_records) == (1050, 450)
    assert hold_out(joint, 0.3, persons=persons, seed=1)[1].n_records == 450
    # A row that says only whose it is tells nothing of persons who were not learnt from.
    table = visits(60).assign(name=lambda t: t.patient)
    named = count(table, "ill", "name", person="patient")
    asked = ([Column("ill", "integer")], [Column("name", "text")])
    fair = attack(named.joint(), *asked, persons=named.persons, folds=3)
    unfair = attack(named.joint(), *asked, folds=3)
    assert max(a.accuracy for a in fair) < 0.75 < 0.95 < max(a.accuracy for a in unfair)


@pytest.mark.parametrize(
    "asked",
    [
        {"utility": 0.5},
        {"leakage": 0.2},
        {"leakage": 0.05, "soft": True},
        {"utility": 0.4, "choose_on": 0.5},
    ],
)
def test_a_release_counts_persons(tmp_path, monkeypatch, asked):
    monkeypatch.setattr(recoded, "COMPARED", 0)
    table = visits(40).assign(place=lambda t: t.patient % 11)
    made = pf.release(
        table, "ill", ["test", "place"], person="patient", out=tmp_path / "out", **FAST, **asked
    )
    file = pd.read_parquet(tmp_path / "out" / "release.parquet").astype(str)
    label = file.agg("|".join, axis=1)
    if "soft" not in asked:
        assert table.patient.groupby(label).nunique().min() >= 5
    rows = {row["key"]: row["value"] for row in made.document["audit"]["measures"]}
    assert rows["person_leakage"] >= rows["leakage"] - 1e-9
    assert made.document["records"]["persons"] == 40
    assert "at least 5 persons" in page(made.document)
    assert any("all rows of a person" in line for line in summary(made.document))
    if "choose_on" in asked:
        assert rows["population_bits"] > 0


def test_a_holdout_is_of_persons_and_bounded_by_them(tmp_path):
    asked = {"utility": 0.5, "holdout": 0.3, "out": tmp_path / "out", **FAST}
    made = pf.release(visits(), "ill", ["test", "ward"], person="patient", **asked)
    unseen = made.document["held_out"]["unseen"]
    assert unseen["n_records"] == 450
    assert unseen["bound"]["n_people"] == 90


@pytest.mark.parametrize(
    ("change", "asked", "why"),
    [
        ({}, {"person": "ill"}, "neither sensitive nor public"),
        ({"patient": None}, {"person": "patient"}, "is missing in 1500 rows"),
        ({}, {"person": "patient", "weight": "ward"}, "cannot be counted by person"),
        ({}, {"person": "nobody"}, "no person column 'nobody'"),
    ],
)
def test_persons_that_make_no_sense_are_refused(change, asked, why):
    with pytest.raises(InvalidInput, match=why):
        pf.audit(visits().assign(**change), "ill", "test", trials=NONE, **asked)


def test_who_has_several_sensitive_values_is_told_by_the_row():
    rng = np.random.default_rng(5)
    table = visits(100).assign(ill=lambda t: rng.integers(0, 3, len(t)))
    found = pf.audit(
        table, "ill", "test", person="patient", trials=pf.Trials(bootstraps=0, attackers=False)
    )
    assert found["guess_informed"].value is None
    assert "different sensitive values" in found["p_value"].note
    assert found["person_leakage"].value > found["leakage"].value


def test_the_order_in_which_an_engine_lists_groups_changes_nothing():
    rng = np.random.default_rng(5)
    groups = np.array([rng.integers(0, high, 200) for high in (40, 2, 6, 9)])
    first = Persons.of(*groups)
    again = Persons.of(*groups[:, rng.permutation(200)])
    for name in ("person", "s", "x", "n"):
        assert (getattr(first, name) == getattr(again, name)).all()
