"""The report's parts: chance, stakes, the document, the page and the folder it goes to."""

import json
import math
import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privacyfunnel as pf
from conftest import joints
from page_checks import assert_inert, numbers_in
from privacyfunnel.columns import Column, Roles
from privacyfunnel.errors import DataUnavailable, InvalidInput
from privacyfunnel.folders import together
from privacyfunnel.metrics import Chance, shuffled
from privacyfunnel.metrics.stakes import stakes
from privacyfunnel.releases import release as release_module
from privacyfunnel.releases.cautions import about_table
from privacyfunnel.releases.document import without_sensitive
from privacyfunnel.releases.written_file import NotAsMeasured
from privacyfunnel.report.escape import visible
from privacyfunnel.report.page import page

QUICK = {"effort": "fast", "points": 2}


def small_table() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"age": rng.integers(20, 26, 90), "sex": rng.choice(["f", "m"], 90)})
    table["chol"] = table.age * 4 + rng.integers(0, 8, 90)
    return table


def made(folder, table=None, **asked):
    table = small_table() if table is None else table
    target = {} if {"leakage", "lam"} & set(asked) else {"utility": 0.4}
    options = target | {"attackers": False} | QUICK | asked
    return pf.release(table, ["age", "sex"], ["sex", "chol"], out=folder, **options).document


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    return made(tmp_path_factory.mktemp("report") / "out")


def test_chance_depends_on_the_seed_alone():
    joint = pf.Joint.from_table(small_table(), ["age", "sex"], ["sex", "chol"])
    first, again = shuffled(joint, seed=1), shuffled(joint, seed=1)
    assert first == again
    assert 0 < first.mean_bits < joint.information
    assert shuffled(pf.Joint.from_probabilities([[0.5, 0], [0, 0.5]])) is None
    coarse = pf.Partition.trivial(joint.n_x)
    assert shuffled(joint, coarse).mean_bits == pytest.approx(0)


def test_no_chance_where_s_and_x_are_tied_in_a_large_table():
    joint = pf.Joint.from_counts(np.eye(2) * 2000)
    assert shuffled(joint).mean_bits < 0.01
    assert not stakes(joint).few_records


def test_few_records_say_where_chance_shows_all_that_is_measured():
    part = replace(stakes(pf.Joint.from_counts(np.eye(2) * 9)), information=0.5)
    chance = Chance(mean_bits=0.4, spread_bits=0.1, shuffles=9, p_value=0.1)
    roles = Roles((Column("ill", "boolean"),), (Column("city", "text"),))
    text = about_table(replace(part, chance=chance), roles, [])[0].text
    assert "0.40 bits about them, out of the 0.50 bits measured." in text
    all_of_it = replace(part, chance=replace(chance, mean_bits=0.6))
    text = about_table(all_of_it, roles, [])[0].text
    assert "0.60 bits about them, no less than the 0.50 bits measured: all of it may" in text


@given(joints())
def test_stakes_agree_with_the_obvious(joint):
    found = stakes(joint)
    p = joint.p_sx.toarray()
    assert found.guess_blind == pytest.approx(p.sum(axis=1).max())
    assert found.guess_seeing == pytest.approx(sum(p[:, x].max() for x in range(joint.n_x)))
    assert found.guess_seeing >= found.guess_blind - 1e-12
    assert 0 <= found.free_utility <= 1
    assert found.alone == sum(joint.counts.toarray().sum(axis=0) == 1)


def test_document_measures_what_was_written(tmp_path, document):
    table, m = small_table(), document["measured"]
    made(tmp_path / "out")
    written = pd.read_parquet(tmp_path / "out" / "release.parquet").released
    p = pd.crosstab([table.age, table.sex], written, normalize=True).to_numpy()
    expected = p[p > 0] * np.log2((p / np.outer(p.sum(1), p.sum(0)))[p > 0])
    assert m["leakage_bits"] == pytest.approx(expected.sum(), abs=1e-9)
    assert document["guessing"]["released"] == pytest.approx(p.max(axis=0).sum())
    for entry in document["columns"]:
        q = pd.crosstab(table[entry["name"]], written, normalize=True).to_numpy()
        info = q[q > 0] * np.log2((q / np.outer(q.sum(1), q.sum(0)))[q > 0])
        assert entry["kept_bits"] == pytest.approx(info.sum(), abs=1e-9)
    sizes = written.value_counts()
    assert {s["label"]: s["count"] for s in document["symbols"]["largest"]} == sizes.to_dict()


def test_report_json_is_the_document(tmp_path):
    document = made(tmp_path / "out")
    assert json.loads((tmp_path / "out" / "report.json").read_text()) == document
    assert document["version"] == 1
    m = document["measured"]
    assert m["gap_bits"] == pytest.approx(m["leakage_bits"] - m["limit_bits"])


def test_public_document_has_no_figure_about_s(document):
    public = without_sensitive(document)
    secret = numbers_in({k: document[k] for k in ("stakes", "guessing", "chance", "frontier")}) | {
        document["measured"][k] for k in ("leakage", "leakage_bits", "limit", "entropy_s_bits")
    }
    harmless = {0.0, 1.0, *numbers_in(public["measured"])}
    assert not numbers_in(public) & (secret - harmless)
    assert "sex" not in {column["name"] for column in public["columns"]}  # both S and X
    text = page(public)
    for word in ("leak", "guess", "limit", "<svg", "seed"):
        assert word not in text.split("</style>")[1].lower(), word


def test_a_public_page_tells_no_groups_by_hand_where_a_leakage_was_asked_for(tmp_path):
    told = made(tmp_path / "out", leakage=0.2, recoding="global")
    goal = "Publish sex and chol while giving away little about age and sex."
    assert goal in page(without_sensitive(told))
    assert "Give away at most 20%" in page(told)


nasty = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["<script>", "' onload='x", '"><img src=x>', "</style>", "&#x3c;b&#x3e;", "]]>"]
    ),
)


@given(st.lists(nasty, min_size=6, max_size=6))
def test_page_is_inert_whatever_the_names_and_values(document, words):
    evil = json.loads(json.dumps(document))
    for role in ("sensitive", "public"):
        evil["asked"][role][0]["name"] = words[0]
    evil["columns"][0]["name"] = words[1]
    symbol = evil["symbols"]["largest"][0]
    symbol["label"] = words[2]
    symbol["stands_for"][0] = {"column": words[3], "values": words[4]}
    symbol["members"][0] = [words[5]] * 2
    evil["reproduce"]["command"] = evil["release"]["file"] = words[0]
    evil["release"]["columns"] = words
    evil["asked"]["weight"] = words[1]
    evil["cautions"].append(
        {"about": words[2], "text": words[3], "is_public": True} | {"hint": "", "fields": {}}
    )
    assert_inert(page(evil))
    assert_inert(page(without_sensitive(evil)))


@given(st.text())
def test_visible_text_hides_nothing(text):
    assert not set(visible(text)) & set("\n\r\0\x1b\u202e")
    assert visible(visible(text)) == visible(text)


def test_page_is_whole_and_small(document):
    text = page(document)
    assert_inert(text)
    assert "http://" not in text
    assert "https://" not in text
    assert text.count("<svg") == 1
    assert len(text) < 60_000
    for title in ("What is released", "What is kept of each column", "How it was made"):
        assert title in text


def test_a_sensitive_column_is_not_kept(tmp_path):
    with pytest.raises(InvalidInput, match="'age' is sensitive"):
        made(tmp_path / "out", keep=["age"])
    assert not list(tmp_path.iterdir())


def test_weights_are_measured_and_warned_of(tmp_path):
    table = small_table().assign(w=np.arange(90) % 4 + 0.5)
    asked = {"sensitive": "age", "public": ["sex", "chol"], "weight": "w", "lam": 0.6}
    document = pf.release(table, **asked, **QUICK, out=tmp_path / "out").document
    assert "weighted records" in [c["about"] for c in document["cautions"]]
    assert document["chance"] is None
    sizes = pd.read_parquet(tmp_path / "out" / "release.parquet").released.value_counts()
    assert sizes.min() >= 5  # records, whatever they weigh


@pytest.mark.parametrize("missing", ["symbol", "drop"])
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_missing_values_are_conserved_or_dropped(tmp_path, missing, form):
    from privacyfunnel.columns import ColumnRules

    table = small_table()
    table.loc[::7, "sex"] = None
    table["chol"] = table.chol.astype(float).where(table.index % 5 > 0)
    rules = ColumnRules(missing=missing)
    asked = QUICK | {"utility": 0.5, "form": form, "expand": True, "attackers": False}
    made = pf.release(table, "age", ["sex", "chol"], columns=rules, out=tmp_path / "out", **asked)
    document = made.document
    left = len(table if missing == "symbol" else table.dropna())
    assert document["records"]["released"] == left
    assert document["measured"]["utility"] >= 0.5


def test_a_file_that_is_not_as_measured_is_not_released(tmp_path, monkeypatch):
    def off(*args):
        found = measure(*args)
        return type(found)(**{**vars(found), "utility_bits": found.utility_bits + 1e-6})

    measure = release_module.measure
    monkeypatch.setattr(release_module, "measure", off)
    with pytest.raises(NotAsMeasured, match="utility"):
        made(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def write(folder, error=None, text="old", force=False):
    with together(folder, ["a", "b"], force) as work:
        (work / "a").write_text(text)
        if error:
            raise error
        (work / "b").write_text(text)


def test_together_all_or_nothing(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "other.txt").write_text("mine")
    with pytest.raises(RuntimeError):
        write(folder, RuntimeError)
    assert [p.name for p in folder.iterdir()] == ["other.txt"]
    write(folder)
    assert {p.name for p in folder.iterdir()} == {"a", "b", "other.txt"}
    with pytest.raises(InvalidInput, match="force=True"):
        write(folder)
    write(folder, text="new", force=True)
    assert (folder / "a").read_text() + (folder / "b").read_text() == "newnew"
    assert {p.name for p in folder.iterdir()} == {"a", "b", "other.txt"}


def test_together_puts_old_files_back(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("old")
    moves, real = [], os.replace

    def fails_late(source, target):
        moves.append(target)
        if len(moves) == 3:
            raise OSError(28, "No space left on device")
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fails_late)
        with pytest.raises(DataUnavailable, match="disk is full"):
            write(tmp_path, text="new", force=True)
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"a": "old"}


def test_figures_in_words_stay_true():
    from privacyfunnel.report.numbers import percent

    for share in np.linspace(0, 1, 2001):
        words = percent(float(share))
        if words[0].isdigit():
            assert math.isclose(float(words.rstrip("%")) / 100, share, abs_tol=5.1e-4)
