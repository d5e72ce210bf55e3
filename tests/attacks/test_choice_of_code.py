"""The choice of the code tells S to one who knows every other record, unless it is made in secret."""

import json

import numpy as np
import pandas as pd
import pytest
from rerun_attack import rerun_attack

import privacyfunnel as pf
from privacyfunnel.errors import InvalidInput
from privacyfunnel.information import entropy
from privacyfunnel.releases.request import ReleaseRequest
from privacyfunnel.releases.search import drawn_records

FAST = {"effort": "fast", "points": 2, "attackers": False}


def clinic(n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"ill": rng.integers(0, 3, n)})
    table["ward"] = table.ill * 3 + rng.integers(0, 9, n)
    return table


@pytest.fixture(scope="module")
def joint():
    return pf.Joint.from_table(clinic(), "ill", "ward")


def test_rerunning_the_search_singles_people_out_and_a_secret_choice_stops_it(joint):
    request = ReleaseRequest({"lam": 0.55}, effort="fast")
    open_choice = rerun_attack(joint, request, victims=20)
    assert open_choice.right > open_choice.blind + 0.1
    secret = ReleaseRequest({"lam": 0.55}, effort="fast", points=2, choose_on=0.5)
    closed = rerun_attack(joint, secret, victims=20, reruns=2)
    assert closed.right < open_choice.right


def test_a_secret_choice_covers_every_value_and_keeps_what_it_says(tmp_path):
    made = pf.release(
        clinic(), "ill", "ward", out=tmp_path / "out", utility=0.5, choose_on=0.5, **FAST
    )
    assert len(made.codebook.values) == clinic().ward.nunique()
    assert made.document["asked"]["choose_on"] == 0.5
    abouts = [caution["about"] for caution in made.document["cautions"]]
    assert "the choice of the code" not in abouts
    plain = pf.release(clinic(), "ill", "ward", out=tmp_path / "plain", utility=0.5, **FAST)
    assert "the choice of the code" in [c["about"] for c in plain.document["cautions"]]


def test_groups_made_by_hand_are_not_warned_of_a_search(tmp_path):
    made = pf.release(clinic(), "ill", "ward", out=tmp_path / "out", cuts={"ward": [4]}, **FAST)
    abouts = [caution["about"] for caution in made.document["cautions"]]
    assert "the choice of the groups" in abouts
    assert "the choice of the code" not in abouts


def test_drawn_records_are_drawn_and_no_value_is_lost(joint):
    drawn, others = drawn_records(joint, 0.1, seed=1)
    assert others.n_records == joint.n_records - 12
    assert drawn.labels_x == joint.labels_x
    whole = np.rint(drawn.counts.toarray())
    assert whole.sum() == 12
    assert (
        drawn_records(joint, 0.5, seed=1)[0].counts != drawn_records(joint, 0.5, seed=2)[0].counts
    ).nnz


@pytest.mark.parametrize(
    "wrong", [{"choose_on": 0}, {"choose_on": 1.5}, {"max_population_leakage": 0.5}]
)
def test_a_wrong_share_is_refused(wrong):
    with pytest.raises(InvalidInput):
        ReleaseRequest({"utility": 0.5}, **wrong)


def test_the_public_report_does_not_give_the_entropy_of_a_shared_column(tmp_path):
    table = clinic().assign(sex=np.arange(120) % 2)
    folder = tmp_path / "out"
    pf.release(
        table, ["ill", "sex"], ["sex", "ward"], out=folder, utility=0.4, is_public=True, **FAST
    )
    document = json.loads((folder / "report.json").read_text())
    book = json.loads((folder / "codebook.json").read_text())
    h_sex = pf.Joint.from_table(table, "ill", "sex").entropy_x
    figures = [v for v in [*numbers(document), *numbers(book)] if v > 0.01]
    sizes = pd.read_parquet(folder / "release.parquet")["released"].value_counts(normalize=True)
    h_released = entropy(sizes.to_numpy())  # which is what is kept of H(X), and so gives it
    figures += [h_released / v for v in figures]
    differences = [abs(a - b) for a in figures for b in figures] + figures
    whole = pf.Joint.from_table(table, "ill", ["sex", "ward"]).entropy_x
    assert min(abs(v - h_sex) for v in figures if v != 1) > 1e-6 or h_sex == 1
    assert min(abs(v - whole) for v in figures) > 1e-3
    ward = pf.Joint.from_table(table, "ill", "ward").entropy_x
    assert min(abs(v - ward) for v in differences) > 1e-6


def numbers(value):
    if isinstance(value, dict):
        return [n for inner in value.values() for n in numbers(inner)]
    if isinstance(value, list):
        return [n for inner in value for n in numbers(inner)]
    return [float(value)] if isinstance(value, float) else []
