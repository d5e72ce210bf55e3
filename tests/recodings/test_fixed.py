"""Groups made by hand: they are kept to the letter, and the search goes around them."""

import numpy as np
import pandas as pd
import pytest

import privacyfunnel as pf
from privacyfunnel.cli.options import read_asked
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.recodings import Hierarchy, Recoding
from privacyfunnel.recodings.fixed import Fixed
from privacyfunnel.recodings.groups import LABEL, group_label
from privacyfunnel.tables import count
from reference_recodings import interval_cuts, measure

CITIES = ["Bonn", "Pisa", "Rom", "Turin"]
GROUPS = {"age": [3], "city": [["Bonn", "Rom"]]}
QUICK = {"effort": "fast", "points": 2, "attackers": False, "min_count": 1}


def small_joint(seed: int = 3) -> pf.Joint:
    rng = np.random.default_rng(seed)
    labels = [(age, city) for age in range(5) for city in CITIES]
    return pf.Joint.from_counts(rng.integers(1, 9, (2, 20)), None, labels, ["age", "city"])


def released(code, joint) -> list[set]:
    """For each column the groups, as sets of values."""
    return [
        {frozenset(group.members) for group in column.groups} for column in code.columns
    ]  # fmt: skip


@pytest.mark.parametrize("kept", [0.3, 0.5, 0.7])
def test_the_rest_is_the_best_there_is_around_what_is_fixed(kept):
    joint = small_joint()
    found = pf.frontier(joint, recoding="global", groups={"city": GROUPS["city"]}, n_points=3)
    solution = found.at(kept=kept)
    cities = [["Bonn", "Rom"], ["Pisa"], ["Turin"]]
    assert released(solution.code, joint)[1] == {frozenset(city) for city in cities}
    best = np.inf
    for ages in interval_cuts(list(range(5))):
        groups = [dict(enumerate(ages)), dict(enumerate(cities))]
        cells = [
            tuple(next(g for g, m in part.items() if v in m) for part, v in zip(groups, x, strict=True))
            for x in joint.labels_x
        ]  # fmt: skip
        leakage, share = measure(joint, cells, groups)
        if share >= kept - 1e-12:
            best = min(best, leakage)
    assert solution.leakage == pytest.approx(best, abs=1e-9)


def test_runs_of_an_order_and_nodes_of_a_tree_keep_their_names():
    joint = small_joint()
    groups = {"age": [2, 4], "city": [["Rom", "Bonn", "Pisa"]]}
    tree = Hierarchy({"Bonn": ("north", "*"), **dict.fromkeys(CITIES[1:], ("south", "*"))})
    for options, names in (
        ({"orders": {"city": CITIES}}, ["Bonn to Rom", "Turin"]),
        ({}, ["Bonn, Pisa or Rom", "Turin"]),
    ):
        code = Recoding(groups=groups, **options).on(joint).finest().code
        assert [group.label for group in code.columns[0].groups] == ["under 2", "2-3", "4"]
        assert [group.label for group in code.columns[1].groups] == names
    fixed = {"age": [], "city": [CITIES[1:]]}
    code = Recoding(groups=fixed, hierarchies={"city": tree}).on(joint).finest().code
    assert [group.label for group in code.columns[1].groups] == ["Bonn", "south"]
    assert [group.label for group in code.columns[0].groups] == ["*"]


def test_a_release_without_a_target_is_exactly_what_was_laid(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"ill": rng.integers(0, 2, 300), "age": rng.integers(15, 80, 300)})
    table["city"] = rng.choice([*CITIES, None], 300)
    words = read_asked({"cuts": ["age=18,64.5"], "groups": ["city=Bonn,Rom|missing,Pisa"]})
    made = pf.release(table, "ill", ["age", "city"], out=tmp_path / "out", **words, **QUICK)
    file = pd.read_parquet(tmp_path / "out" / "release.parquet")
    ages = pd.cut(table.age, [0, 17, 64, 99], labels=["under 18", "18-64", "65 or more"])
    assert file.age.tolist() == ages.tolist()
    where = {"Bonn": "Bonn or Rom", "Rom": "Bonn or Rom", "Turin": "Turin"}
    assert file.city.tolist() == [where.get(c, "Pisa or missing") for c in table.city]
    found = pf.audit(
        table.assign(a=file.age, c=file.city), "ill", ["a", "c"], trials=pf.Trials(0, 0, False)
    )
    assert found["leakage"].value == pytest.approx(made.leakage, abs=1e-9)
    assert made.document["asked"]["target"] == {}
    assert len(made.document["recoding"]["frontiers"]["global"]) > 1  # beside what a search finds
    assert made.codebook.target == {}


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ({"city": [["Bonn", "Rom"], ["Rom"]]}, "'Rom' twice"),
        ({"age": [["1", "2"]]}, "points between them"),
        ({"town": [["Bonn"]]}, "public columns are"),
    ],
)
def test_groups_that_make_no_sense_are_told(groups, words):
    with pytest.raises(InvalidInput, match=words):
        Recoding(groups=groups).on(small_joint())


def test_what_goes_wrong_with_groups_is_told(tmp_path):
    table = pd.DataFrame({"ill": [0, 1] * 20, "city": ["Bonn", "Rom", "Pisa", "Turin"] * 10})
    options = {"out": tmp_path / "out", **QUICK}
    with pytest.raises(InvalidInput, match="'Bern', which no record has"):
        pf.release(table, "ill", "city", groups={"city": [["Bern"]]}, **options)
    with pytest.raises(InvalidInput, match="no groups or cuts of the column 'city'"):
        pf.release(table, "ill", "city", cuts={"town": [1]}, **options)
    with pytest.raises(TargetUnreachable, match=r"100.0% of the records would be suppressed"):
        pf.release(table, "ill", "city", groups={"city": []}, **(options | {"min_count": 11}))
    with pytest.raises(InvalidInput, match="for global recoding"):
        pf.release(table, "ill", "city", kept=0.5, recoding="local", groups={"city": []}, **options)


def test_a_group_that_holds_the_missing_value_says_so_however_long_it_is():
    values = (*(f"county {k}" for k in range(30)), None)
    for members in (values, values[20:], values[-4:], values[-2:]):
        given = [list(members), ["elsewhere"]]
        shape = Fixed.of("county", (*values, "elsewhere"), given)
        label = shape.groups[values.index(None)].label
        assert label.endswith(" or missing")
        assert len(label) <= LABEL
    assert "1 others" not in group_label(["a" * 40, "b" * 40, "missing"])


def test_a_missing_value_joins_the_group_that_was_asked_for_in_an_order_too():
    shape = Fixed.of("size", ("S", "M", None), [["S", "missing"]], order=[0, 1])
    assert [group.label for group in shape.groups] == ["S or missing", "M", "S or missing"]


def test_runs_of_an_order_are_listed_in_it():
    joint = small_joint()
    order = ["Turin", "Rom", "Bonn", "Pisa"]
    found = Recoding(orders={"city": order}).on(joint).finest().code
    assert [group.label for group in found.columns[1].groups] == order
    local = Recoding("local", orders={"city": order}).on(joint)
    fine = local.best(pf.Funnel(1.0), np.random.default_rng(0)).code
    assert [group.label for group in fine.columns[1].groups] == order
    groups = {"age": [2], "city": [["Bonn", "Rom"]]}
    code = Recoding(orders={"city": order}, groups=groups).on(joint).finest()
    roles = count(rows_of(joint), "ill", ["age", "city"]).roles
    book = pf.Codebook.from_solution(joint, code, roles)
    assert [group.label for group in book.columns[1].groups] == ["Turin", "Rom or Bonn", "Pisa"]
    assert [value for value, _ in book.tallies[1][1].values] == ["Rom", "Bonn"]


def rows_of(joint: pf.Joint) -> pd.DataFrame:
    """A row of each value for each S."""
    return pd.DataFrame(
        [(s, *x) for x in joint.labels_x for s in (0, 1)], columns=["ill", *joint.columns]
    )


@pytest.mark.parametrize("fit", ["records", "population"])
def test_groups_that_tell_more_than_is_allowed_are_refused_with_the_reason(fit):
    search = Recoding(groups={"age": [2]}, fit=fit).on(small_joint())
    with pytest.raises(TargetUnreachable, match="the groups that are given tell more"):
        search.at(np.random.default_rng(0), leakage=1e-9)
