import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import joints
from privacyfunnel import Channel, Joint, Partition
from privacyfunnel.codes import ColumnCode, Group, RecodedColumn
from privacyfunnel.errors import InvalidCode


@given(joints(), st.data())
def test_pushing_conserves_the_records(joint: Joint, data: st.DataObject):
    labels = data.draw(st.lists(st.integers(0, 9), min_size=joint.n_x, max_size=joint.n_x))
    code = Partition(labels)
    pushed = code.push(joint)
    assert pushed.n_records == joint.n_records
    assert pushed.n_x == code.n_symbols == len(set(labels))
    members = [x for label in pushed.labels_x for x in label]
    assert sorted(members) == list(joint.labels_x)
    assert np.allclose(pushed.p_s, joint.p_s)


def test_clusters_follow_the_labels():
    assert [c.tolist() for c in Partition([5, 2, 5]).clusters()] == [[0, 2], [1]]


def test_a_partition_equals_its_relabelling_only():
    assert Partition([1, 1, 0]) == Partition([0, 0, 7])
    assert hash(Partition([1, 1, 0])) == hash(Partition([0, 0, 7]))
    assert Partition([0, 1, 0]) != Partition([0, 0, 1])


def test_a_channel_of_zeros_and_ones_is_a_partition():
    joint = Joint.from_counts([[2, 1, 3], [0, 4, 1]])
    hard = Partition([0, 1, 0])
    soft = Channel(hard.matrix.toarray())
    assert np.allclose(hard.push(joint).p_sx.toarray(), soft.push(joint).p_sx.toarray())


@pytest.mark.parametrize("labels", [[], [0.5, 1.0], [[0, 1]], ["a"]])
def test_bad_labels_are_refused(labels):
    with pytest.raises(InvalidCode, match="whole numbers"):
        Partition(labels)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, 0.4]], "sum to 1, got 0.9"),
        ([[1.5, -0.5]], "not negative"),
        ([[np.nan, 1.0]], "finite"),
        ([["a"]], "numbers"),
    ],
)
def test_bad_channels_are_refused(matrix, message):
    with pytest.raises(InvalidCode, match=message):
        Channel(matrix)


def test_a_code_of_another_alphabet_is_refused():
    with pytest.raises(InvalidCode, match="2 symbols but the joint has 3"):
        Partition([0, 1]).push(Joint.from_counts([[1, 2, 3]]))


def test_a_column_code_releases_a_tuple_of_groups():
    joint = Joint.from_counts(
        [[1, 2, 0], [0, 1, 3]], labels_x=[(31, "f"), (40, "f"), (61, "m")], columns=["age", "sex"]
    )
    age = RecodedColumn("age", (Group("31", (31,)), Group("40 or more", (40, 61), 40)))
    sex = RecodedColumn("sex", (Group("*", ("f", "m")),))
    code = ColumnCode([age, sex], [[0, 0], [1, 0], [1, 0]])
    pushed = code.push(joint)
    assert code == Partition([0, 1, 1])
    assert pushed.labels_x == (("31", "*"), ("40 or more", "*"))
    assert pushed.columns == ("age", "sex")
    assert pushed.n_records == joint.n_records
    assert not code.suppressed.any()


@pytest.mark.parametrize(
    ("cells", "words"),
    [([0, 1], "for each x"), ([[0], [2]], "positions of its 2 groups"), ([[-1], [0]], "positions")],
)
def test_cells_that_fit_no_group_are_refused(cells, words):
    age = RecodedColumn("age", (Group("31", (31,)), Group("40", (40,))))
    with pytest.raises(InvalidCode, match=words):
        ColumnCode([age], cells)


def test_two_groups_of_a_column_need_two_labels():
    with pytest.raises(InvalidCode, match="same label"):
        ColumnCode([RecodedColumn("age", (Group("a", (1,)), Group("a", (2,))))], [[0], [1]])


def test_pushed_weights_that_are_whole_by_chance_are_no_records():
    joint = Joint.from_probabilities([[0.5, 0.5]])
    age = RecodedColumn("age", (Group("*", (0, 1)),))
    for code in (Partition([0, 0]), ColumnCode([age], [[0], [0]]), Channel([[1.0], [1.0]])):
        assert code.push(joint).n_records is None
