"""Records held out: how they are parted, and what the method of a release does on them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import privacyfunnel as pf
from conftest import joints
from privacyfunnel.audits import generalise, generalise_joint, hold_out
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.report import holdout_words
from privacyfunnel.report.page import page
from privacyfunnel.report.words import caution as caution_words
from privacyfunnel.report.words import summary
from privacyfunnel.tables import count

QUICK = {"effort": "fast", "points": 2, "attackers": False}


def visits(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"ill": rng.integers(0, 4, n), "sex": rng.choice(["f", "m"], n)})
    table["town"] = table.ill * 5 + rng.integers(0, 12, n)
    return table


def released(folder, table=None, public=("sex", "town"), **asked):
    table = visits() if table is None else table
    target = {} if {"leakage", "lam"} & set(asked) else {"utility": 0.5}
    options = target | {"holdout": 0.3} | QUICK | asked
    return pf.release(table, "ill", list(public), out=folder, **options).document


def cells(joint: pf.Joint) -> dict[tuple[object, object], float]:
    found = joint.counts.tocoo()
    pairs = zip(found.row, found.col, found.data, strict=True)
    return {(joint.labels_s[s], joint.labels_x[x]): n for s, x, n in pairs}


@given(joints(), st.floats(0.2, 0.8), st.integers(0, 5))
def test_every_record_is_on_one_side(joint, share, seed):
    assume(min(joint.n_s, joint.n_x) > 1)
    joint = pf.Joint.from_counts(joint.counts * 100)  # no value is rare enough to miss a side
    made_from, aside = hold_out(joint, share, seed=seed)
    assert aside.n_records == round(share * joint.n_records)
    parts, both = (cells(made_from), cells(aside)), {}
    for part in parts:
        for pair, n in part.items():
            both[pair] = both.get(pair, 0) + n
    assert both == cells(joint)


def test_the_lot_depends_on_the_seed_and_not_on_the_order_of_the_rows():
    table = visits()
    other = table.sample(frac=1, random_state=1)
    first, again = (
        hold_out(count(t, "ill", ["sex", "town"]).joint(), 0.3, seed=2)[1] for t in (table, other)
    )
    assert cells(first) == cells(again)
    joint = count(table, "ill", ["sex", "town"]).joint()
    assert cells(hold_out(joint, 0.3, seed=3)[1]) != cells(first)


def test_the_lot_is_fair():
    joint = pf.Joint.from_counts([[30, 10], [20, 40]])
    drawn = [hold_out(joint, 0.25, seed=i)[1].counts.toarray() for i in range(300)]
    assert np.mean(drawn, axis=0) == pytest.approx(joint.counts.toarray() / 4, rel=0.05)


@pytest.mark.parametrize(
    ("share", "change", "words"),
    [
        (0.0, {}, "between 0 and 1, got 0"),
        (1.0, {}, "between 0 and 1, got 1"),
        (float("nan"), {}, "between 0 and 1, got nan"),
        (0.01, {}, "into 99 and 1; at least 10"),
        (0.95, {}, "into 5 and 95; at least 10"),
        (0.3, {"n_records": None}, "weighted records cannot be held out"),
        (0.3, {"n_records": 2 * 10**9}, "fewer than 1,000,000,000 records"),
    ],
)
def test_what_cannot_be_held_out_is_refused(share, change, words):
    joint = replace(pf.Joint.from_counts([[25, 25], [25, 25]]), **change)
    with pytest.raises(InvalidInput, match=words):
        hold_out(joint, share)


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_a_side_without_variety_is_refused(share):
    with pytest.raises(InvalidInput, match="one distinct sensitive value"):
        hold_out(pf.Joint.from_counts([[60, 39], [1, 0]]), share)


def test_unseen_records_counted_or_in_a_table_are_measured_alike():
    table = visits()
    old, new = table.iloc[:250], table.iloc[250:]
    counts = count(old, "ill", ["sex", "town"])
    solution = pf.solve(counts.joint(), pf.Funnel(0.7), effort="fast")
    book = pf.Codebook.from_solution(counts.joint(), solution, counts.roles)
    from_table = generalise(new, book)
    assert generalise_joint(count(new, "ill", ["sex", "town"]).joint(), book) == from_table


def test_a_release_is_the_same_with_and_without_the_check(tmp_path):
    with_check = released(tmp_path / "with")
    without = released(tmp_path / "without", holdout=None)
    for name in ("release.parquet", "codebook.json"):
        assert (tmp_path / "with" / name).read_bytes() == (tmp_path / "without" / name).read_bytes()
    assert without["held_out"] is None
    assert "On records that it has not seen" not in page(without)
    assert not [line for line in summary(without) if line.startswith("Held out")]
    assert with_check["records"]["released"] == 400


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("target", [{"utility": 0.5}, {"lam": 0.7}])
def test_the_check_is_that_of_the_same_method(tmp_path, soft, target):
    document = released(tmp_path / "out", soft=soft, **target)
    held = document["held_out"]
    own, unseen = held["own"], held["unseen"]
    assert (own["n_records"], unseen["n_records"]) == (280, 120)
    assert own["n_suppressed"] == 0
    assert 0 < unseen["n_suppressed"] < 120
    if "utility" in target:
        assert own["utility"] >= 0.5 - 1e-9
    joint = count(visits(), "ill", ["sex", "town"]).joint()
    made_from, aside = hold_out(joint, 0.3)
    unknown = set(aside.labels_x) - set(made_from.labels_x)
    expected = sum(n for (_, x), n in cells(aside).items() if x in unknown)
    assert unseen["n_suppressed"] == expected
    assert unseen["chance_bits"] > 0


def test_the_check_is_told_in_words(tmp_path):
    document = released(tmp_path / "out")
    unseen = document["held_out"]["unseen"]
    text = page(document)
    for words in (
        "On records that it has not seen",
        "with 280 of the 400 records, chosen by lot",
        "The release itself is made from all records.",
        "records not seen",
        f"the values of {unseen['n_suppressed']:.0f} record",
    ):
        assert words in text
    assert "made from all records" in next(s for s in summary(document) if "Held out" in s)
    known = {
        **document,
        "held_out": document["held_out"] | {"unseen": unseen | {"n_suppressed": 0}},
    }
    assert "It knew all of their values." in holdout_words.what_was_found(known)


def test_a_warning_points_at_the_check_or_asks_for_it(tmp_path):
    table = visits(150)
    table["town"] = np.random.default_rng(0).integers(0, 60, 150)  # nothing but chance
    texts = [
        next(
            caution_words(c)
            for c in document["cautions"]
            if c["about"] == "fitted to these records"
        )
        for document in (
            released(tmp_path / "a", table),
            released(tmp_path / "b", table, holdout=None),
            released(tmp_path / "c", table, holdout=None, soft=True),
        )
    ]
    assert "this report shows how much" in texts[0]
    assert all("(holdout=0.3) shows how much" in text for text in texts[1:])
    assert all("dealt to the records at random" in text for text in texts)


def test_a_target_that_the_part_cannot_meet_says_so(tmp_path):
    table = pd.DataFrame({"ill": [0, 1] * 60, "town": np.repeat(np.arange(12), 10)})
    asked = {"utility": 0.99, "min_count": 10}
    with pytest.raises(TargetUnreachable, match=r"the holdout leaves 60 records .* no release"):
        released(tmp_path / "out", table, ["town"], **asked, holdout=0.5)
    assert released(tmp_path / "all", table, ["town"], **asked, holdout=None)
    assert not (tmp_path / "out").exists()
