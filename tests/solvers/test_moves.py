import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from conftest import joints, random_joint
from privacyfunnel import Bottleneck, Funnel, Joint, Partition
from privacyfunnel._kernels.moves import _price_moves, fill_slots, heat_bath, price_swap
from privacyfunnel.solvers.moves import (
    JointLayout,
    MoveSearch,
    anneal,
    merge_light,
    merge_pairs,
    polish,
    split_clusters,
    swap,
)
from privacyfunnel.solvers.target import Price


def price_of(joint: Joint, labels, price: Price) -> float:
    return reference.lagrangian(joint, labels, price.weights)


@given(joints(max_x=6), st.data())
def test_moves_are_priced_like_evaluating_from_scratch(joint: Joint, data):
    labels = Partition(
        data.draw(st.lists(st.integers(0, 3), min_size=joint.n_x, max_size=joint.n_x))
    ).labels.copy()
    x = data.draw(st.integers(0, joint.n_x - 1))
    weights = (data.draw(st.floats(-1, 1)), data.draw(st.floats(-1, 1)))
    layout = JointLayout(joint)
    price, limit = layout.row_weights(weights), layout.row_weights(weights[::-1])
    sums, masses = np.zeros((joint.n_s, joint.n_x + 1)), np.zeros(joint.n_x + 1)
    sizes, w = np.zeros(joint.n_x + 1, dtype=np.int64), layout.joint.masses
    n_clusters, *_ = fill_slots(
        layout.columns, w, labels, layout.table, price, limit, sums, masses, sizes
    )
    assert sizes[:n_clusters].tolist() == np.bincount(labels).tolist()
    changes = np.zeros((3, joint.n_x + 1))
    _price_moves(
        layout.columns, x, w[x], labels[x], n_clusters + 1, layout.table, price, limit, sums, masses,
        *changes,
    )  # fmt: skip

    def expected(labels) -> list[float]:
        return [reference.lagrangian(joint, labels, each) for each in (weights, weights[::-1])]

    def priced(g: float, h: float, f: float) -> np.ndarray:
        return np.array([g + price[1] * f, h + limit[1] * f]) / joint.total

    before = np.array(expected(labels))
    for goal in range(n_clusters + 1):
        moved = labels.copy()
        moved[x] = goal
        assert priced(*changes[:, goal]) == pytest.approx(expected(moved) - before, abs=1e-9)
    for y in np.flatnonzero(labels != labels[x]):
        swapped = labels.copy()
        swapped[x], swapped[y] = labels[y], labels[x]
        found = price_swap(
            layout.columns, x, y, labels[x], labels[y], w[x], w[y], layout.table, price, limit,
            sums, masses,
        )  # fmt: skip
        assert priced(*found) == pytest.approx(expected(swapped) - before, abs=1e-9)


@pytest.mark.parametrize("temperature", [0.05, 0.7, 1e6])
def test_a_slot_is_drawn_as_often_as_boltzmann_says(temperature):
    costs, rng = np.array([0.3, 0.0, -0.4, 5.0, 0.31]), np.random.default_rng(0)
    drawn = np.zeros(len(costs))
    for _ in range(20_000):
        drawn[heat_bath(costs.copy(), len(costs), temperature, rng)] += 1
    expected = reference.boltzmann(costs, temperature)
    spread = np.sqrt(expected * (1 - expected) / 20_000)
    assert np.all(np.abs(drawn / 20_000 - expected) <= 4 * spread + 1e-6)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("problem", [Funnel, Bottleneck])
def test_descent_ends_where_no_single_move_helps(whole, problem):
    rng = np.random.default_rng(0)
    joint = random_joint(rng, 4, 14, whole=whole)
    price = Price(problem(0.6).weights)
    start = rng.permutation(14) % 5
    found = anneal(JointLayout(joint), start, price, 0, rng)
    value = price_of(joint, found, price)
    assert value <= price_of(joint, start, price) + 1e-12
    for x in range(joint.n_x):
        for goal in range(found.max() + 2):
            moved = found.copy()
            moved[x] = goal
            assert price_of(joint, moved, price) >= value - 1e-9


@pytest.mark.parametrize("quantity", ["utility", "leakage"])
def test_annealing_keeps_its_limit(quantity):
    rng = np.random.default_rng(1)
    joint = random_joint(rng, 4, 20)
    half = 0.5 * joint.entropy_x
    price = (
        Price.keeping(half)
        if quantity == "utility"
        else Price((0.0, -0.2), (((1.0, 0.0), 0.1 * joint.information),))
    )
    found = anneal(JointLayout(joint), np.arange(20) % 9, price, 200, rng)
    code = Partition(found)
    leak, kept = reference.leakage(joint, code), reference.utility(joint, code)
    assert price.of(leak, kept) < np.inf
    ((told, stays), most) = price.limit
    assert told * leak + stays * kept <= most + 1e-9


def test_a_limit_that_no_code_keeps_gives_none():
    joint = random_joint(np.random.default_rng(1), 4, 8)
    price = Price.keeping(joint.entropy_x + 1.0)
    assert anneal(JointLayout(joint), np.arange(8), price, 50, np.random.default_rng(0)) is None


def test_fixed_keeps_the_number_of_clusters():
    joint = random_joint(np.random.default_rng(2), 4, 20)
    found = anneal(
        JointLayout(joint),
        np.arange(20) % 6,
        Price((1.0, -0.2)),
        100,
        np.random.default_rng(0),
        fixed=True,
    )
    assert len(np.unique(found)) == 6


@pytest.mark.parametrize("sweeps", [0, 100])
def test_no_cluster_falls_below_the_least_weight(sweeps):
    joint = random_joint(np.random.default_rng(3), 4, 20)
    layout, price = JointLayout(joint, least=12.0), Price((-1.0, 0.1))
    start = merge_light(layout, np.arange(20), price)
    found = anneal(layout, start, price, sweeps, np.random.default_rng(0))
    for labels in (start, found):
        assert np.bincount(labels, weights=joint.p_x * joint.total).min() >= 12 - 1e-9


def test_swaps_end_where_no_swap_helps():
    rng = np.random.default_rng(4)
    joint = random_joint(rng, 4, 12)
    price = Price.keeping(0.3 * joint.entropy_x)
    found = swap(JointLayout(joint), np.arange(12) % 4, price)
    value = price_of(joint, found, price)
    for x in range(12):
        for y in range(x):
            other = found.copy()
            other[x], other[y] = found[y], found[x]
            leak = reference.leakage(joint, Partition(other))
            kept = reference.utility(joint, Partition(other))
            assert price.of(leak, kept) >= value - 1e-8


def test_merges_and_splits_of_whole_clusters():
    rng = np.random.default_rng(5)
    joint = random_joint(rng, 4, 12)
    layout, price = JointLayout(joint), Price((1.0, -0.5))
    labels, cheap = Partition(np.arange(12) % 8).labels, Price((1.0, -0.1))
    merged, greedy = merge_pairs(layout, labels, cheap), labels
    while True:
        n = int(greedy.max()) + 1
        pairs = [np.where(greedy == i, j, greedy) for i in range(n) for j in range(i)]
        best = min(pairs, key=lambda other: price_of(joint, other, cheap))
        if price_of(joint, best, cheap) > price_of(joint, greedy, cheap) - 1e-9:
            break
        greedy = Partition(best).labels
    assert merged is not None
    assert greedy.max() < 6
    np.testing.assert_array_equal(Partition(merged).labels, Partition(greedy).labels)
    assert merge_pairs(layout, merged, cheap) is None
    whole = np.zeros(12, dtype=np.int64)
    halves = split_clusters(layout, whole, price, rng)
    assert halves is not None
    assert price_of(joint, halves, price) < price_of(joint, whole, price)


def test_polish_leaves_no_move_merge_or_split(settings_of_paper):
    joint, rng = settings_of_paper[1], np.random.default_rng(0)
    layout, price = JointLayout(joint), Price(Funnel(0.7).weights)
    found = polish(layout, np.arange(joint.n_x) % 20, price, rng)
    assert merge_pairs(layout, found, price) is None
    assert np.array_equal(
        Partition(anneal(layout, found, price, 0, rng)).labels, Partition(found).labels
    )


def test_plain_moves_never_rise(settings_of_paper):
    joint = settings_of_paper[1]
    plain = MoveSearch(sweeps=0).solve(joint, Funnel(0.7), rng=np.random.default_rng(0))
    from privacyfunnel import solve

    assert plain.value <= solve(joint, Funnel(0.7), "greedy").value + 1e-12
