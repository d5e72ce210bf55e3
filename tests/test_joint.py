from datetime import date, datetime

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from privacyfunnel import Funnel, Joint, Partition, solve
from privacyfunnel.errors import FunnelError, InvalidInput, InvalidJoint
from privacyfunnel.validation import plain_labels


def test_paper_settings_have_the_published_entropies(settings_of_paper):
    first, second = settings_of_paper[1], settings_of_paper[2]
    assert (first.n_s, first.n_x, first.n_records) == (68, 197, 294)
    assert first.entropy_s == pytest.approx(5.628739, abs=1e-6)
    assert first.entropy_x == pytest.approx(7.333311, abs=1e-6)
    assert first.information == pytest.approx(4.809997, abs=1e-6)
    assert second.n_x == 281
    assert second.entropy_x == pytest.approx(8.108669, abs=1e-6)
    assert second.information == pytest.approx(5.585355, abs=1e-6)


def test_dense_and_sparse_are_the_same_joint():
    counts = np.array([[2, 0, 1], [0, 0, 4]])
    dense, sparse = Joint.from_counts(counts), Joint.from_counts(sp.coo_array(counts))
    assert (dense.counts != sparse.counts).nnz == 0
    assert dense.labels_x == sparse.labels_x == (0, 2)


def test_repeated_sparse_cells_add_up():
    cells = sp.coo_array((np.ones(3), ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    assert Joint.from_counts(cells).counts.toarray().tolist() == [[2, 0], [0, 1]]


def test_zero_rows_and_columns_go_with_their_labels():
    joint = Joint.from_counts([[0, 0], [0, 3]], labels_s=["a", "b"], labels_x=[("u", 1), ("v", 2)])
    assert joint.labels_s == ("b",)
    assert joint.labels_x == (("v", 2),)


def test_a_joint_is_frozen():
    joint = Joint.from_counts([[1, 2]])
    with pytest.raises(AttributeError):
        joint.n_records = 5
    with pytest.raises(ValueError, match="read-only"):
        joint.counts.data[0] = 9


def test_the_users_array_stays_untouched_and_writable():
    counts = sp.csc_array(np.array([[1.0, 2.0], [0.0, 1.0]]))
    Joint.from_counts(counts)
    counts.data[0] = 5.0
    assert counts.toarray().tolist() == [[5, 2], [0, 1]]


def test_probabilities_are_no_count_of_records():
    joint = Joint.from_probabilities([[0.25, 0.25], [0.25, 0.25]])
    assert joint.n_records is None
    assert joint.information == 0


def test_trivial_joints_work():
    one = Joint.from_counts([[1], [3]])
    assert (one.n_x, one.entropy_x, one.information) == (1, 0, 0)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[1, -1]], "negative, got -1"),
        ([[1, np.nan]], "NaN"),
        ([[1, np.inf]], "infinite"),
        (np.zeros((2, 2)), "all zero"),
        (np.zeros((0, 0)), "empty"),
        ([[1, 2], [3]], "rows of equal length"),
        ([["a", "b"]], "non-numeric"),
        ([1, 2, 3], "two axes"),
    ],
)
def test_bad_counts_are_refused_in_one_line(counts, message):
    with pytest.raises(InvalidJoint, match=message) as caught:
        Joint.from_counts(counts)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, (FunnelError, ValueError))


@pytest.mark.parametrize("labels", [["a"], ["a", "a"], [["a"], ["b"]]])
def test_bad_labels_are_refused(labels):
    with pytest.raises(InvalidJoint, match="labels_x"):
        Joint.from_counts([[1, 2]], labels_x=labels)


def test_probabilities_must_sum_to_one():
    with pytest.raises(InvalidJoint, match=r"sum to 1, got 0\.93; pass counts"):
        Joint.from_probabilities([[0.5, 0.43]])


def test_the_columns_behind_each_x_are_known():
    table = pd.DataFrame(
        {"s": list("aabb"), "age": [40, 31, 31, 40], "city": ["Rom", None, "Bonn", "Rom"]}
    )
    age, city = Joint.from_table(table, "s", ["age", "city"]).public
    assert (age.name, age.values) == ("age", (31, 40))
    assert (city.name, city.values) == ("city", ("Bonn", "Rom", None))
    joint = Joint.from_table(table, "s", ["city", "age"])
    rows = [(c.values[c.codes[x]]) for x in range(joint.n_x) for c in joint.public]
    assert rows == [value for label in joint.labels_x for value in label]
    (only,) = Joint.from_counts([[1, 2]], labels_x=["b", "a"]).public
    assert (only.name, only.values, only.codes.tolist()) == ("x", ("a", "b"), [1, 0])


def test_column_names_that_do_not_fit_are_refused():
    with pytest.raises(InvalidJoint, match="tuples of 2 values"):
        Joint.from_counts([[1, 2]], labels_x=["b", "a"], columns=["p", "q"])
    with pytest.raises(InvalidJoint, match="different names"):
        Joint.from_counts([[1]], labels_x=[(1, 2)], columns=["p", "p"])


def test_a_use_goes_with_the_joint():
    counts, useful = [[2, 0, 1], [0, 2, 1]], [[2, 1, 0], [0, 1, 2]]
    joint = Joint.from_counts(counts, useful=useful, labels_y=["no", "yes"])
    assert joint.useful is not None
    assert joint.useful.labels_s == ("no", "yes")
    assert joint.entropy_y == 1.0
    pushed = Partition([0, 0, 1]).push(joint)
    assert pushed.useful is not None
    assert pushed.useful.counts.toarray().tolist() == [[3, 0], [1, 2]]
    assert Joint.from_counts(counts).entropy_y is None
    with pytest.raises(InvalidJoint, match="useful must count the same records"):
        Joint.from_counts(counts, useful=[[2, 1, 0], [0, 1, 1]])
    with pytest.raises(InvalidJoint, match="a column for each x"):
        Joint.from_counts(counts, useful=[[6]])
    # What no record has is dropped from both.
    joint = Joint.from_counts([[1, 0, 1]], useful=[[0, 0, 1], [1, 0, 0], [0, 0, 0]])
    assert joint.useful.counts.toarray().tolist() == [[0, 1], [1, 0]]


def test_a_table_is_counted_with_its_use():
    table = pd.DataFrame(
        {"age": [40, 40, 61], "city": ["Bonn", None, "Bonn"], "ill": ["n", "y", None]}
    )
    joint = Joint.from_table(table, "age", "city", useful="ill")
    assert joint.useful.labels_s == ("n", "y", None)
    assert joint.useful.counts.toarray().tolist() == [[1, 0], [0, 1], [1, 0]]
    assert joint.sensitive == ("age",)
    with pytest.raises(InvalidInput, match="both hidden and useful"):
        Joint.from_table(table, "age", "city", useful="age")
    with pytest.raises(InvalidInput, match="useful columns have one distinct value"):
        Joint.from_table(table.assign(ill="n"), "age", "city", useful="ill")
    weighted = table.assign(w=[1.0, 2.0, 3.0])
    joint = Joint.from_table(weighted, "age", "city", useful="ill", weight="w")
    assert joint.useful.total == 6.0


DAYS = (date(2020, 5, 1), date(2020, 6, 1))
TIMES = tuple(datetime.combine(day, datetime.min.time()) for day in DAYS)


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        (np.arange(2), (0, 1)),
        (np.array([0.5, 6.0]), (0.5, 6.0)),
        (np.array([1, 2], dtype=np.longdouble), (1.0, 2.0)),
        (np.array(["a", "b"]), ("a", "b")),
        (np.array([True, False]), (True, False)),
        (np.array(DAYS, dtype="M8[D]"), DAYS),
        (np.array(DAYS, dtype="M8[M]"), DAYS),
        (np.array(DAYS, dtype="M8[s]"), TIMES),
        (np.array(DAYS, dtype="M8[ns]"), TIMES),
        (pd.to_datetime(DAYS), TIMES),
        ([pd.Timestamp(DAYS[0]), pd.NaT], (TIMES[0], None)),
        ([(np.int64(1), np.str_("a")), (2, None)], ((1, "a"), (2, None))),
    ],
)
def test_labels_of_other_libraries_become_pythons_own(given, plain):
    joint = Joint.from_counts([[1, 2], [3, 4]], labels_s=given, labels_x=given)
    assert joint.labels_s == joint.labels_x == plain
    types = [
        [type(part) for part in (label if isinstance(label, tuple) else (label,))]
        for labels in (joint.labels_s, joint.labels_x, plain)
        for label in labels
    ]
    assert types[:2] == types[2:4] == types[4:]


def test_labels_that_python_cannot_hold_stay_apart():
    fine = np.array(["2020-05-01T00:00:00.000000001", "2020-05-01T00:00:00.000000002"], "M8[ns]")
    assert Joint.from_counts([[1, 2]], labels_x=fine).labels_x == tuple(fine)
    assert len(set(Joint.from_counts([[1, 2]], labels_x=pd.DatetimeIndex(fine)).labels_x)) == 2


def test_plain_labels_are_not_copied():
    labels = ((1, "a"), (2, None))
    assert plain_labels(labels) is labels


@pytest.mark.parametrize("labels", [np.arange(8), np.arange(8.0), pd.date_range("2020", periods=8)])
def test_readable_releases_see_numbers_and_dates_in_labels_of_other_libraries(labels):
    counts = np.outer([1, 2, 3], np.ones(8, dtype=int)) + np.eye(3, 8, dtype=int)
    joint, own = (
        Joint.from_counts(counts, labels_x=given, columns=["v"])
        for given in (labels, labels.tolist() if isinstance(labels, np.ndarray) else list(labels))
    )
    cuts = {"cuts": {"v": labels[[2, 4]]}}
    released = solve(joint, Funnel(0.3), recoding="global", **cuts).code.released
    assert released == solve(own, Funnel(0.3), recoding="global", **cuts).code.released
    assert not any("np." in label for (label,) in released)
    assert len(released) <= 3  # intervals between two cuts


@pytest.mark.parametrize(
    "counts", [np.ones((2, 2)) + 1j, sp.csc_array(np.ones((2, 2)) + 1j), [[1j, 1], [1, 1]]]
)
def test_complex_counts_are_refused(counts):
    with pytest.raises(InvalidJoint, match="real numbers, got complex"):
        Joint.from_counts(counts)


def test_labels_that_are_no_list_are_refused():
    with pytest.raises(InvalidJoint, match=r"labels_x must be a list .* got 5\.$"):
        Joint.from_counts([[1, 2]], labels_x=5)


def test_names_of_columns_may_be_an_index():
    joint = Joint.from_counts([[1]], labels_x=[(1, 2)], columns=pd.Index(["p", "q"]))
    assert joint.columns == ("p", "q")
