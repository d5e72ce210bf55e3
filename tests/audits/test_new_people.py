"""People who are not in the table: the bound in audits and releases, and the limits on it."""

import numpy as np
import pandas as pd
import pytest

import privacyfunnel as pf
from privacyfunnel.audits import Limits, broken
from privacyfunnel.errors import InvalidInput, LimitBroken
from privacyfunnel.metrics import population_bound
from privacyfunnel.report import audit_words as words
from privacyfunnel.report.page import page
from privacyfunnel.report.words import summary

NONE = pf.Trials(permutations=0, bootstraps=0, attackers=False)
FAST = {"effort": "fast", "points": 2, "attackers": False}


def people(n: int = 900, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"ill": rng.integers(0, 2, n), "new": np.arange(n) % 3 == 0})
    table["ward"] = rng.integers(0, 9, n) + 3 * table.ill
    return table


def test_the_bound_is_of_the_records_that_are_marked():
    table = people()
    found = pf.audit(table, "ill", "ward", new="new", trials=NONE)
    marked = pf.Joint.from_table(table[table.new], "ill", "ward")
    whole = pf.Joint.from_table(table, "ill", "ward")
    bound = population_bound(marked, values=(whole.n_s, whole.n_x))
    assert found["population_bits"].value == pytest.approx(bound.bits)
    assert found["population_leakage"].value == pytest.approx(bound.leakage)
    assert found["population_leakage"].value > found["leakage"].value
    ones = pf.audit(table.assign(new=table.new.astype(int)), "ill", "ward", new="new", trials=NONE)
    assert ones["population_bits"].value == found["population_bits"].value


@pytest.mark.parametrize("new", ["new", True])
def test_weighted_people_are_not_counted_however_they_are_marked(new):
    table = people().assign(weight=lambda t: 1 + t.index % 2)  # whole, but no count
    found = pf.audit(table, "ill", "ward", new=new, weight="weight", trials=NONE)
    for key in ("population_leakage", "population_bits"):
        assert found[key].value is None
        assert "weighted" in found[key].note
    (why,) = broken(found, Limits(max_population_leakage=0.9))
    assert "cannot be checked" in why


def test_a_limit_for_new_people_needs_to_know_who_is_new():
    table, limits = people(), Limits(max_population_leakage=0.9)
    assert broken(pf.audit(table, "ill", "ward", new=True, trials=NONE), limits) == []
    (why,) = broken(pf.audit(table, "ill", "ward", trials=NONE), limits)
    assert "nobody says which records" in why
    strict = Limits(max_population_leakage=0.01)
    (why,) = broken(pf.audit(table, "ill", "ward", new="new", trials=NONE), strict)
    assert "asks for at most 0.01" in why
    unsaid = pf.audit(table, "ill", "ward", trials=NONE).as_dict()
    assert any(
        "provided that what is published was not chosen" in line for line in words.headline(unsaid)
    )


@pytest.mark.parametrize(
    ("change", "new", "why"),
    [
        ({}, "ill", "is audited"),
        ({"new": 2}, "new", "must hold true and false"),
        ({"new": 0}, "new", "marks no record"),
    ],
)
def test_marks_that_make_no_sense_are_refused(change, new, why):
    with pytest.raises(InvalidInput, match=why):
        pf.audit(people().assign(**change), "ill", "ward", new=new, trials=NONE)


def test_records_that_chose_the_columns_say_nothing_about_others(tmp_path):
    table = people()
    made = pf.release(table, "ill", "ward", out=tmp_path / "out", utility=0.5, **FAST)
    rows = {row["key"]: row for row in made.document["audit"]["measures"]}
    assert rows["population_leakage"]["value"] is None
    assert "all records chose the code" in rows["population_leakage"]["note"]
    assert any("is not known: all records chose" in line for line in summary(made.document))
    table["released"] = pd.read_parquet(tmp_path / "out" / "release.parquet").released
    trials = pf.Trials(bootstraps=0, attackers=False)
    found = pf.audit(table, "ill", "released", trials=trials)
    assert found["p_value"].value > 0.95
    assert "fitted to these records" in found["population_leakage"].note
    shown = " ".join(words.headline(found.as_dict()))
    assert "it was fitted to these records" in shown
    assert "would appear by chance" not in shown


@pytest.mark.parametrize("how", [{}, {"soft": True}])
def test_a_code_chosen_on_some_records_is_bounded_by_the_others(tmp_path, how):
    asked = {"out": tmp_path / "out", "choose_on": 0.5, **FAST, **how}
    made = pf.release(people(4000), "ill", "ward", recoding="symbols", leakage=0.02, **asked)
    rows = {row["key"]: row["value"] for row in made.document["audit"]["measures"]}
    true = pf.Joint.from_table(people(200_000, seed=9), "ill", "ward")
    bits = made.codebook.over(true).push(true).information
    assert bits < rows["population_bits"] < 0.2
    assert any("at most" in line and "95% confidence" in line for line in summary(made.document))
    assert "New people." in page(made.document)


def test_a_release_that_may_tell_too_much_of_others_is_not_written(tmp_path):
    asked = {"out": tmp_path / "out", "utility": 0.5, **FAST}
    with pytest.raises(LimitBroken, match="nothing was released"):
        pf.release(people(), "ill", "ward", choose_on=0.5, max_population_leakage=1e-4, **asked)
    assert not (tmp_path / "out").exists()
    with pytest.raises(InvalidInput, match="do not choose the code"):
        pf.release(people(), "ill", "ward", max_population_leakage=0.5, **asked)


def test_records_held_out_bound_the_method(tmp_path):
    asked = {"out": tmp_path / "out", "utility": 0.5, "holdout": 0.3, **FAST}
    document = pf.release(people(), "ill", "ward", **asked).document
    own, unseen = (document["held_out"][side] for side in ("own", "unseen"))
    assert own["bound"] is None
    assert unseen["leakage_bits"] < unseen["bound"]["bits"]
    assert unseen["bound"]["n_people"] == unseen["n_records"]
    assert any("a rule made in the same way" in line for line in summary(document))
