"""The audit in a release's report: its figures, attackers by default or on request, what is public."""

import json

import numpy as np
import pandas as pd
import pytest

import privacyfunnel as pf
from page_checks import assert_inert, numbers_in
from privacyfunnel.audits import CATALOGUE
from privacyfunnel.releases import audit as release_audit
from privacyfunnel.releases.document import PUBLIC_MEASURES, without_sensitive
from privacyfunnel.report.page import page
from privacyfunnel.report.words import summary
from privacyfunnel.tables import count

FAST = {"effort": "fast", "points": 2}
ABOUT_S = (
    "leak", "guess", "doubt", "lift", "diversity", "closeness", "chance", "p-value", "estimate",
    "interval", "attack", "held out", "not seen", "holdout", "seed",
)  # fmt: skip


def clinic(n: int = 160) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    table = pd.DataFrame({"ill": rng.choice(["no", "yes"], n), "age": rng.integers(30, 80, n)})
    table["ward"] = np.where(table.ill == "yes", 10, 0) + rng.integers(0, 12, n)
    table["w"] = 1.0 + (np.arange(n) % 3)
    return table


def released(folder, sensitive="ill", weight=None, table=None, **asked):
    table = clinic() if table is None else table
    target = {} if {"leakage", "lam"} & set(asked) else {"utility": 0.4871}
    options = target | FAST | asked
    return pf.release(table, sensitive, "ward", weight=weight, out=folder, **options).document


@pytest.fixture(scope="module")
def hard(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hard") / "out"
    return released(folder, holdout=0.3), folder


@pytest.fixture(scope="module")
def soft(tmp_path_factory):
    folder = tmp_path_factory.mktemp("soft") / "out"
    options = {"soft": True, "secret": "the same draws in each run"}
    return released(folder, leakage=0.05, holdout=0.3, **options), folder


def measures(document, what="value"):
    return {row["key"]: row[what] for row in document["audit"]["measures"]}


def test_the_report_is_the_audit_of_the_written_file(hard):
    document, folder = hard
    table = clinic().assign(released=pd.read_parquet(folder / "release.parquet").released)
    found = pf.audit(table, "ill", "released", original="ward")
    assert measures(document) == {row.key: row.as_dict()["value"] for row in found.rows}
    assert measures(document, "original")["leakage"] == found["leakage"].original
    assert document["audit"]["attackers"] == found.as_dict()["attackers"]
    assert document["chance"]["mean_bits"] == found["chance"].value
    assert {row["rule"] for row in document["audit"]["measures"]} == {None}


def test_before_and_after_of_a_release(hard):
    document, _ = hard
    joint = count(clinic(), "ill", "ward").joint()
    after, before = measures(document), measures(document, "original")
    assert before["entropy_s_after"] == pytest.approx(joint.entropy_s - joint.information)
    assert after["entropy_s_after"] > before["entropy_s_after"]
    assert after["guess_worst"] <= before["guess_worst"] == 1
    sees = {a["sees"] for a in document["audit"]["attackers"]}
    assert sees == {"published", "original"}


def test_a_soft_release_shows_the_rule_beside_the_file(soft):
    document, folder = soft
    rule, file = measures(document, "rule"), measures(document)
    assert rule["leakage"] == pytest.approx(document["measured"]["leakage"])
    assert file["leakage"] == pytest.approx(document["drawn"]["leakage"])
    assert rule["leakage"] != file["leakage"]  # one draw is not the average over all
    assert rule["guess_seeing"] == pytest.approx(document["guessing"]["released"])
    assert rule["chance"] == document["chance"]["mean_bits"]
    assert file["chance"] == document["drawn"]["chance"]["mean_bits"]
    labels = pd.read_parquet(folder / "release.parquet").released
    assert file["k"] == labels.value_counts().min()
    assert rule["k"] is rule["unique"] is rule["shrinkage"] is None
    text = page(document)
    for words in ("by the rule", "in this file", "Each sensitive column, in this file"):
        assert words in text


def test_each_measure_is_on_the_page_with_its_meaning(hard):
    document, _ = hard
    text = page(document)
    assert_inert(text)
    for row in document["audit"]["measures"]:
        if row["value"] is not None or row["infinite"]:
            assert f"<td>{row['name']}</td>" in text
            assert row["meaning"].replace("'", "&#39;") in text
    for words in ("More is safer.", "Less is safer.", "gradient boosting", "as it is"):
        assert words in text


def test_attackers_are_tried_where_they_are_quick(hard):
    document, _ = hard
    assert document["audit"]["why_no_attackers"] == ""
    lines = summary(document)
    assert [line for line in lines if "From ward it would be" in line]
    assert [line for line in lines if line.startswith("The rarest symbol is shared by")]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"sensitive": ["ill", "age"]}, "tried where they are asked for"),
        ({"attackers": False}, "not asked for"),
        ({"weight": "w"}, "weighted records cannot be split"),
        ({"weight": "w", "attackers": True}, "weighted records cannot be split"),
        (
            {"table": clinic(4).assign(ill=list("ynny")), "attackers": True, "min_count": 1},
            "4 records are too few",
        ),
    ],
)
def test_attackers_that_were_not_tried_are_named_with_the_reason(tmp_path, asked, words):
    document = released(tmp_path / "out", **asked)
    assert document["audit"]["attackers"] == []
    assert words in document["audit"]["why_no_attackers"]
    assert f"were not tried: {document['audit']['why_no_attackers']}." in page(document)
    told = [line for line in summary(document) if "were not tried" in line]
    assert bool(told) == (asked.get("attackers") is not False)


def test_attackers_are_tried_on_request_whatever_it_takes(tmp_path, monkeypatch):
    monkeypatch.setattr(release_audit, "FEW_VALUES", 1)
    assert released(tmp_path / "a")["audit"]["attackers"] == []
    document = released(tmp_path / "b", attackers=True)
    assert {a["attacker"] for a in document["audit"]["attackers"]} >= {"gradient boosting"}


def test_attackers_on_a_large_table_say_how_many_records_they_got(tmp_path, monkeypatch):
    monkeypatch.setattr(release_audit, "MOST_RECORDS", 100)
    document = released(tmp_path / "out", attackers=True)
    assert {a["n_records"] for a in document["audit"]["attackers"]} == {100}
    assert "They got 100 records of 160, drawn at random." in page(document)


def test_weights_leave_out_what_is_counted_in_records(tmp_path):
    document = released(tmp_path / "out", weight="w")  # whole weights, which are no records either
    found = measures(document)
    for key in ("k", "unique", "chance", "shrinkage"):
        assert found[key] is None
    assert found["leakage"] == pytest.approx(document["measured"]["leakage"])


def test_what_is_public_does_not_describe_s():
    assert set(PUBLIC_MEASURES) <= {key for key, m in CATALOGUE.items() if not m.about_s}


@pytest.mark.parametrize("which", ["hard", "soft"])
def test_a_public_report_has_nothing_of_the_audit_but_how_the_file_looks(which, request):
    document, _ = request.getfixturevalue(which)
    public = without_sensitive(document)
    assert list(public["audit"]) == ["measures"]
    assert [row["key"] for row in public["audit"]["measures"]] == ["k", "unique"]
    for row in public["audit"]["measures"]:
        assert not {"original", "rule"} & set(row)
    assert "held_out" not in public
    assert not {"attackers", "holdout"} & set(public["asked"])
    about_s = {**document["audit"], "receivers": None}  # they are about X alone
    secret = numbers_in([about_s, document["held_out"], document["chance"]])
    shown = {row["value"] for row in public["audit"]["measures"]}
    harmless = {0.0, 1.0, *shown, *numbers_in(document["symbols"])}
    assert len(secret - harmless) > 40
    told = {n for n in numbers_in(public) & (secret - harmless) if n != int(n)}
    assert not told, told
    text = page(public)
    assert_inert(text)
    # A warning that the symbols keep no more than random ones is about X alone.
    body = text.split("</style>")[1].lower().replace("more than chance", "")
    assert "k-anonymity" in body
    for word in ABOUT_S:
        assert word not in body, word
    # What random groups keep of X ("by_chance") is about X alone.
    fields = json.dumps(public).lower().replace("by_chance", "").replace("more than chance", "")
    assert not {word for word in ABOUT_S if word in fields}


def test_all_bars_of_the_work_are_drawn(tmp_path):
    seen = []

    def stages(what):
        return lambda done, total: seen.append((what, done, total))

    asked = FAST | {"utility": 0.5, "holdout": 0.3}
    pf.release(clinic(), "ill", "ward", out=tmp_path / "out", stages=stages, **asked)
    names = list(dict.fromkeys(what for what, _, _ in seen))
    assert names == ["Searching releases", "Checking on records held out", "Auditing the release"]
    for name in names:
        assert [(done, total) for what, done, total in seen if what == name][-1][0] > 0
