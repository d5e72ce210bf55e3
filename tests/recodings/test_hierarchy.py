"""Hierarchies from files and built ones; cut points that people choose."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacyfunnel import Funnel, Joint, solve
from privacyfunnel.errors import DataUnavailable, InvalidInput
from privacyfunnel.recodings.cuts import cut_between, interval_label, is_ordered
from privacyfunnel.recodings.hierarchy import Hierarchy, Tree
from privacyfunnel.recodings.intervals import Intervals


def write(path, text: str):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("separator", [";", ",", "\t"])
def test_arx_files_are_read(tmp_path, separator):
    rows = ["1;0-4;0-9;*", "3;0-4;0-9;*", "7;5-9;0-9;*", "12;10-14;10-19;*"]
    path = write(tmp_path / "age.csv", "\n".join(rows).replace(";", separator) + "\n\n")
    tree = Hierarchy.read(path).tree((1, 3, 7, 12, None))
    labels = {group.label: group.members for group in tree.groups}
    # A node with the values of one below it is left out; a missing value hangs from the top.
    assert labels == {
        "1": (1,), "3": (3,), "7": (7,), "12": (12,), "missing": (None,),
        "0-4": (1, 3), "0-9": (1, 3, 7), "*": (1, 3, 7, 12, None),
    }  # fmt: skip
    assert tree.chains[0] == [0, 5, 6, 7]


def test_values_that_come_later_are_members_too():
    tree = Hierarchy({"1": ("low", "*"), "2": ("low", "*"), "3": ("low", "*")}).tree((1, 2))
    assert tree.groups[-1].label == "*"
    tree = Hierarchy({"1": ("a", "*"), "2": ("a", "*"), "9": ("a", "*"), "5": ("b", "*")}).tree(
        (1, 2, 5)
    )
    assert set(tree.groups[3].members) == {1, 2, 9}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a;x;*\nb;y;*\n", "lacks 1 of the values, such as 'c'"),
        ("a;x;p;*\nb;x;q;*\nc;y;q;*\n", "two parents"),
        ("a;x;p\nb;y;q\nc;x;p\n", "no common top"),
        ("a;x;*\nb;*\nc;x;*\n", "same number of levels"),
        ("a;x;*\na;y;*\n", "two different lines for 'a'"),
        ("a\nb\nc\n", "at least one"),
        ("\n", "is empty"),
    ],
)
def test_wrong_files_say_what_is_wrong(tmp_path, text, words):
    path = write(tmp_path / "h.csv", text)
    with pytest.raises(InvalidInput, match=words) as error:
        Hierarchy.read(path).tree(("a", "b", "c"))
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataUnavailable, match="cannot read"):
        Hierarchy.read(tmp_path / "none.csv")


def test_a_value_called_star_keeps_apart_from_the_top():
    labels = [group.label for group in Tree.of(("*", "a")).groups]
    assert labels[-1] == "*"
    assert len(set(labels)) == 3


@given(st.sets(st.integers(-500, 500), min_size=1, max_size=30), st.booleans())
def test_a_built_tree_is_a_tree_of_ranges(values, missing):
    known = tuple(sorted(values))
    column = (*known, None) if missing else known
    tree = Tree.of_ranges(column, np.ones(len(column)))
    assert len({group.label for group in tree.groups}) == len(tree.groups)
    assert tree.groups[-1].label == "*"
    for node, group in enumerate(tree.groups):
        inside = [column[v] for v in tree.order[tree.low[node] : tree.high[node]]]
        assert set(inside) == set(group.members)
        if tree.parent[node] >= 0:
            assert set(inside) < set(tree.groups[tree.parent[node]].members) or len(column) == 1
        for value in known:
            held = (group.low is None or group.low <= value) and (
                group.high is None or value < group.high
            )
            if group.low is not None or group.high is not None:
                assert held == (value in inside)


@given(st.floats(-1e9, 1e9), st.floats(1e-9, 1e9))
def test_a_cut_lies_between(low, width):
    high = low + width
    if high > low:
        cut, _ = cut_between(low, high)
        assert low < cut <= high


@given(
    st.datetimes(), st.timedeltas(min_value=1 * (datetime(2000, 1, 2) - datetime(2000, 1, 1)) / 1e6)
)
def test_a_cut_in_time_lies_between(low, width):
    try:
        high = low + width
    except OverflowError:
        return
    if high > low:
        cut, _ = cut_between(low, high)
        assert low < cut <= high


def test_round_cuts():
    assert cut_between(24, 26)[0] == 25
    assert cut_between(-3, 4)[0] == 0
    assert cut_between(1.24, 1.31)[0] == 1.3
    assert cut_between(date(2019, 12, 30), date(2020, 1, 4))[0] == date(2020, 1, 1)
    assert cut_between(float("-inf"), 3)[0] == 3
    assert interval_label(date(2020, 1, 1), date(2020, 2, 1), (1, 2), whole=False) == (
        "2020-01-01 to 2020-01-31"
    )
    assert not is_ordered((True, False))
    assert not is_ordered((date(2020, 1, 1), datetime(2020, 1, 1)))


def test_given_cuts_are_the_only_ones():
    shape = Intervals.of_numbers((10, 18, 30, 70), cuts=[18, 65, 99])
    fine, _ = shape.ends()
    groups = shape.released(fine)
    assert [group.label for group in dict.fromkeys(groups)] == ["10", "18-64", "70"]
    with pytest.raises(InvalidInput, match="kind of the column"):
        Intervals.of_numbers((10, 18), cuts=["a"])


def test_columns_with_many_values_have_many_codes():
    from privacyfunnel.recodings.groups import Groups

    ages = Intervals.of_numbers(tuple(range(100)))
    assert ages.n_codes == 2**99
    assert Groups(tuple("abc")).n_codes == len(list(Groups(tuple("abc")).every())) == 5
    assert Groups(tuple(range(500))).n_codes > 1e20
    tree = Tree.of_ranges((17, 19, 20, 24, 31, 38), np.ones(6))
    assert len({labels.tobytes() for labels in tree.every()}) == tree.n_codes == 11


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"importance": {"age": "x"}},
            "importance of 'age' must be a number of 0 or more, got 'x'",
        ),
        (
            {"importance": {"age": None}},
            "importance of 'age' must be a number of 0 or more, got None",
        ),
        ({"cuts": {"age": 25}}, "cuts must be a list of points for each column, got 25"),
        ({"cuts": {"age": "25"}}, "cuts must be a list of points for each column, got '25'"),
        ({"hierarchies": {"sex": {"f": ("*",)}}}, "must be the path of its file or a Hierarchy"),
    ],
)
def test_settings_of_another_kind_are_refused_in_a_sentence(options, words):
    rows = [(age, sex) for age in (20, 25, 30) for sex in "fm"]
    joint = Joint.from_counts([range(1, 7), range(6, 0, -1)], labels_x=rows, columns=["age", "sex"])
    with pytest.raises(InvalidInput, match=words):
        solve(joint, Funnel(0.3), recoding="global", **options)
