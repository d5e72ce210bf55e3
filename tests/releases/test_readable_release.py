"""Readable releases: every column stays a column, coarsened; what is written is what was promised."""

import json
from itertools import pairwise

import duckdb
import numpy as np
import pandas as pd
import pytest

import privacyfunnel as pf
from privacyfunnel.cli.options import read_asked
from privacyfunnel.codebook.names import named
from privacyfunnel.codes import ColumnCode, Group, RecodedColumn
from privacyfunnel.columns import Bins, Column
from privacyfunnel.errors import InvalidInput
from privacyfunnel.recodings import Recoding
from privacyfunnel.releases.cautions import about_groups
from privacyfunnel.releases.document import without_sensitive
from privacyfunnel.releases.request import ReleaseRequest
from privacyfunnel.releases.verification import verify
from privacyfunnel.report.page import page
from privacyfunnel.report.words import summary
from privacyfunnel.tables import count, open_table, write_release

QUICK = {"effort": "fast", "points": 2, "attackers": False, "min_count": 1}


def people(n: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(11)
    table = pd.DataFrame({"ill": rng.choice(["no", "yes"], n, p=[0.7, 0.3])})
    table["age"] = np.where(table.ill == "yes", 10, 0) + rng.integers(20, 60, n)
    table["city"] = rng.choice(["Bonn", "Pisa", "Rom", "Turin"], n)
    return table


def released(folder, table=None, **options):
    table = people() if table is None else table
    target = {} if {"kept", "leakage", "lam"} & set(options) else {"kept": 0.6}
    made = pf.release(table, "ill", ["age", "city"], out=folder, **(target | QUICK | options))
    return made, pd.read_parquet(folder / "release.parquet")


@pytest.fixture(scope="module", params=["global", "local"])
def made(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param) / "out"
    return request.param, *released(folder, recoding=request.param), folder


def test_columns_rows_and_order_stay_and_the_figures_are_those_of_the_file(made):
    kind, release, file, _ = made
    table = people()
    assert file.columns.tolist() == ["age", "city"]
    assert len(file) == len(table)
    found = pf.audit(
        table.assign(a=file.age, c=file.city), "ill", ["a", "c"], trials=pf.Trials(0, 0, False)
    )
    assert found["leakage"].value == pytest.approx(release.leakage, abs=1e-9)
    recoding = release.document["recoding"]
    assert recoding["kind"] == kind
    assert recoding["kept"] >= 0.6 - 1e-9
    if kind == "global":
        assert file.groupby(table.age).age.nunique().max() == 1
        assert {bar["label"] for bar in recoding["columns"][1]["bars"]} == set(table.city)


def test_groups_that_may_join_unlike_values_are_warned_of_unless_an_order_is_named():
    table = people()
    joint = pf.Joint.from_table(table, "ill", ["city"])
    order = ["Bonn", "Pisa", "Rom", "Turin"]
    roles = count(table, "ill", ["city"]).roles
    for orders in ({}, {"city": order}):
        solution = pf.frontier(joint, recoding="global", n_points=2, orders=orders).at(kept=0.5)
        book = pf.Codebook.from_solution(joint, solution, roles)
        told = about_groups(book, ReleaseRequest({"kept": 0.5}, orders=orders))
        assert any(len(g.members) in (2, 3) for g in book.columns[0].groups)
        assert [caution.fields for caution in told] == ([] if orders else [{"column": "city"}])


def test_the_report_draws_the_columns_and_compares_the_recodings(made):
    kind, release, _, folder = made
    recoding = release.document["recoding"]
    assert set(recoding["frontiers"]) == {"global", "local", "symbols"}
    for column in recoding["columns"]:
        assert max(column["alone"], column["added"]) <= release.leakage + 1e-9
    text = (folder / "report.html").read_text()
    assert text.count("<svg") == (3 if kind == "global" else 1)
    assert any("every column stays a column" in line for line in summary(release.document))


def test_it_is_tried_on_half_of_the_records_unasked(made):
    kind, release, _, folder = made
    held = release.document["held_out"]
    assert held["share"] == 0.5
    assert held["own"]["n_records"] == held["unseen"]["n_records"] == 120
    assert 0 < held["unseen"]["kept"] <= 1
    assert (held["global"] is None) == (kind == "global")
    assert "Other records." in (folder / "report.html").read_text()
    assert any(line.startswith("On other records: ") for line in summary(release.document))


def test_local_recoding_that_only_looks_better_is_told():
    from privacyfunnel.releases.cautions import only_looks_better

    def side(leakage: float, chance: float) -> dict:
        return {"leakage": leakage, "leakage_bits": leakage, "chance_bits": chance}

    local = {"own": side(0.01, 0.0), "unseen": side(0.09, 0.03)}
    assert only_looks_better({**local, "global": {"own": side(0.02, 0), "unseen": side(0.05, 0)}})
    assert not only_looks_better(
        {**local, "global": {"own": side(0.02, 0), "unseen": side(0.1, 0)}}
    )
    assert not only_looks_better({**local, "global": None})


def test_a_public_report_has_no_figure_about_s_and_no_value_finer_than_released(made):
    _, release, _, _ = made
    public = without_sensitive(release.document)
    told = json.dumps(public["recoding"])
    for word in ("alone", "added", "bars", "frontiers", "leakage"):
        assert word not in told
    assert "<svg" not in page(public)


def test_new_rows_are_recoded_alike(tmp_path):
    release, file = released(tmp_path / "out")
    table = people()
    first = (int(table.age[0]), table.city[0])
    assert list(release.codebook.recoded(first)) == file.iloc[0].tolist()
    # Younger than anyone in the table: the first interval has no lower end.
    assert release.codebook.recoded((3, "Rom"))[0] == file.age[table.age.idxmin()]


@pytest.mark.parametrize("numbers", ["bounds", "mean"])
def test_a_receiver_can_compute(tmp_path, numbers):
    release, file = released(tmp_path / "out", numbers=numbers)
    assert release.document["release"]["columns"] == file.columns.tolist()
    if numbers == "mean":
        assert file.age.mean() == pytest.approx(people().age.mean())
    else:
        low = file.age_low.fillna(-np.inf).astype(float)
        high = file.age_high.fillna(np.inf).astype(float)
        assert ((low <= people().age) & (people().age < high)).all()


def test_groups_without_a_mean_of_their_own_are_refused(tmp_path):
    table = people()
    table["age"] = table["age"].astype(float).replace({table.age.min(): -np.inf})
    table.loc[:20, "age"] = np.nan
    words = "have no mean and cannot be told apart"
    with pytest.raises(InvalidInput, match=words):
        pf.release(
            table, "ill", ["age", "city"], kept=1.0, min_count=1, out=tmp_path / "out",
            numbers="mean", attackers=False,
        )  # fmt: skip
    assert not (tmp_path / "out").exists()


def test_least_counts_hold_in_the_file(tmp_path):
    release, file = released(tmp_path / "out", min_count=5, kept=0.4)
    sizes = file.groupby(["age", "city"]).size()
    assert sizes.drop(("*", "*"), errors="ignore").min() >= 5
    stars = int((file == "*").all(axis=1).sum())
    assert stars == round(release.document["recoding"]["suppressed"] * len(file))


def test_orders_cuts_importance_and_hierarchies_are_kept_to(tmp_path):
    tree = tmp_path / "city.csv"
    tree.write_text("Bonn;north;*\nPisa;south;*\nRom;south;*\nTurin;south;*\n")
    words = read_asked(
        {"hierarchies": [f"city={tree}"], "cuts": ["age=30,50"], "importance": ["age=2"]}
    )
    release, file = released(tmp_path / "out", kept=0.4, **words)
    assert set(file.city) <= {"Bonn", "Pisa", "Rom", "Turin", "north", "south", "*"}
    assert file.age.nunique() <= 3
    assert release.document["recoding"]["importance"] == {"age": 2.0}
    assert "local" in release.document["recoding"]["frontiers"]  # though it takes no cuts
    ordered = read_asked({"orders": ["city=Rom<Pisa<Turin<Bonn"]})
    _, file = released(tmp_path / "ordered", **ordered)
    groups = file.city.groupby(people().city).first()[["Rom", "Pisa", "Turin", "Bonn"]].tolist()
    assert sum(a != b for a, b in pairwise(groups)) == len(set(groups)) - 1


@pytest.mark.parametrize("recoding", ["global", "local"])
def test_neighbouring_bins_are_one_interval_wherever_they_are_named(recoding, tmp_path):
    table = people()
    table["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(240) // 2, "D")
    table.to_csv(tmp_path / "people.csv", index=False)
    rules = pf.ColumnRules.parse(bins=["age=25,30,35,40,45,50,55", "day=5"])
    release = pf.release(
        tmp_path / "people.csv", "ill", ["age", "day"], kept=0.4, columns=rules, recoding=recoding,
        form="csv", out=tmp_path / "out", **QUICK,
    )  # fmt: skip
    file = pd.read_csv(tmp_path / "out" / "release.csv", dtype=str)
    age, day = (set(file[name]) - {"*"} for name in ("age", "day"))
    for labels, below, above in ((age, "under ", " or more"), (day, "before ", " or later")):
        assert not [label for label in labels if " to " in label or "or [" in label]
        ends = [label for label in labels if label[0] != "["]
        assert ends
        assert all(label.startswith(below) or label.endswith(above) for label in ends)
    whole = {f"under {edge}" for edge in range(30, 60, 5)}
    assert (
        whole & age or {f"{edge} or more" for edge in range(25, 50, 5)} & age
    )  # some are put together
    for i, column in enumerate(release.document["recoding"]["columns"]):
        told = {group["label"] for group in column["groups"]}
        assert told == set(file[column["name"]])
        assert told == {group.label for group in release.codebook.columns[i].groups}
    book = pf.Codebook.load(tmp_path / "out" / "codebook.json")
    write_release(open_table(str(tmp_path / "people.csv")), book, tmp_path / "again.csv")
    assert pd.read_csv(tmp_path / "again.csv", dtype=str).equals(file)
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE people AS FROM '{tmp_path / 'people.csv'}'")
        assert set(con.sql(book.to_sql(table="people")).fetchall()) == set(
            file.itertuples(index=False)
        )
    assert verify(tmp_path / "out", tmp_path / "people.csv").is_good


def test_only_neighbouring_bins_are_an_interval_and_names_of_a_hierarchy_stay():
    age = Column("age", "integer", Bins((20, 30, 40, 50)))
    bins = list(age.rule.places)

    def names(*groups: Group) -> list[str]:
        code = ColumnCode([RecodedColumn("age", groups)], [[g] for g in range(len(groups))])
        return [group.label for group in named(code, [age]).columns[0].groups]

    apart = Group("[20, 30) or [40, 50)", (bins[1], bins[3]))
    assert names(apart, Group(bins[2], (bins[2],))) == [apart.label, "[30, 40)"]
    assert names(apart, Group(bins[0], (bins[0],))) == ["[20, 50)", "under 20"]  # none has 30 to 39
    assert names(Group("young", (bins[0], bins[1]))) == ["young"]
    with_missing = Group("under 20, [20, 30) or missing", (bins[0], bins[1], None))
    assert names(with_missing) == [with_missing.label]
    known = Group("under 20 to 50 or more", tuple(bins))
    assert names(known, Group("missing", (None,))) == ["not missing", "missing"]


def test_a_new_value_of_a_bin_that_no_record_had_falls_into_the_interval_that_names_it():
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"ill": rng.integers(0, 2, 90), "age": rng.choice([5, 25, 45, 65], 90)})
    rules = pf.ColumnRules.parse(bins=["age=10,20,30,40,50,60"])
    counted = count(table, "ill", ["age"], columns=rules)
    order = {"age": list(counted.roles.public[0].rule.places)}
    recoding = Recoding(orders=order, groups={"age": [["under 10", "[20, 30)"]]})
    solution = recoding.on(counted.joint()).finest()
    book = pf.Codebook.from_solution(counted.joint(), solution, counted.roles)
    assert book.encode(15) == book.encode(5) == "under 30"


def test_readers_are_told_what_was_done_before_how_much_counts_and_what_a_star_is(tmp_path):
    table = people()
    table.loc[:9, "city"] = "Oslo"  # young or old, too few to be shown
    given = {"age": [40], "city": [["Bonn", "Pisa"], ["Rom", "Turin"], ["Oslo"]]}
    release = pf.release(
        table, "ill", ["age", "city"], columns=pf.ColumnRules.parse(round=["age=5"]), groups=given,
        importance={"age": 3.0}, out=tmp_path / "out", **QUICK | {"min_count": 8, "suppress": 0.1},
    )  # fmt: skip
    file = pd.read_parquet(tmp_path / "out" / "release.parquet")
    readme = (tmp_path / "out" / "README.html").read_text()
    assert "Values were made coarser first: age rounded to multiples of 5." in readme
    report = (tmp_path / "out" / "report.html").read_text()
    assert report.count("on average over the columns, by their importance") == 2
    assert set(file.city) == {"Bonn or Pisa", "Rom or Turin", "*"}
    assert "age in 2 groups and * and city in 2 groups and *." in summary(release.document)[0]
    assert readme.count("In 2 groups and *;") == 2


@pytest.mark.parametrize(
    ("target", "kind"),
    [({"kept": 0.5}, "global"), ({"leakage": 0.1}, "global"), ({"lam": 0.5}, "symbols")],
)
def test_the_target_says_the_recoding_unless_it_is_named(target, kind):
    assert ReleaseRequest(target).kind == kind
    assert ReleaseRequest({"utility": 0.5}).kind == "symbols"
    assert ReleaseRequest({"leakage": 0.5}, soft=True).kind == "symbols"
    assert ReleaseRequest({"lam": 0.5}, recoding="local").kind == "local"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": {"utility": 0.5}, "recoding": "global"}, "utility is of symbols"),
        (
            {"target": {"utility": 0.5}, "suppress": 0.1},
            "symbols take no suppress; global and local",
        ),
        ({"target": {"kept": 0.5}, "recoding": "local", "balance": 0.9}, "is for global recoding"),
        ({"target": {"kept": 0.5}, "recoding": "symbols"}, "symbols take utility"),
        ({"target": {"kept": 0.5}, "soft": True}, "symbols take utility"),
        ({"target": {"kept": 0.5}, "recoding": "local", "expand": True}, "has the columns already"),
        ({"target": {"kept": 0.5}, "numbers": "median"}, "numbers must be one of"),
        ({"target": {"kept": 0.5}, "recoding": "lokal"}, "recoding must be one of"),
        ({"target": {"utility": 0.5}, "cuts": {"age": [3]}}, "symbols take no cuts"),
        ({"target": {"kept": 0.5, "lam": 0.3}}, "exactly one of"),
    ],
)
def test_what_does_not_go_together_is_told_in_one_line(options, words):
    with pytest.raises(InvalidInput, match=words) as error:
        ReleaseRequest(**options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "words",
    [
        {"hierarchies": ["city"]},
        {"hierarchies": ["=tree.csv"]},
        {"cuts": ["age=young"]},
        {"cuts": ["age="]},
        {"importance": ["age=2", "age=3"]},
    ],
)
def test_wrong_words_on_the_command_line_are_refused(words):
    with pytest.raises(InvalidInput, match="--"):
        read_asked(words)
