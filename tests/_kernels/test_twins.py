"""Compiled loops beside their slow twins."""

import numpy as np
import pytest

import reference
from conftest import random_joint
from privacyfunnel import Bottleneck, Funnel, Joint, Partition
from privacyfunnel._kernels.partitions import best_within
from privacyfunnel._kernels.profiles import profile_keys, similarity_order
from privacyfunnel._kernels.proposals import anneal_by_proposals, insert_in_order
from privacyfunnel.joint import csc_columns
from privacyfunnel.solvers.large.blocks import BlockSearch, LargeRun
from privacyfunnel.solvers.moves import JointLayout, swap
from privacyfunnel.solvers.target import Target


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("problem", ["funnel", "bottleneck"])
@pytest.mark.parametrize("least", [0.0, 14.0])
def test_swaps_are_those_of_the_plain_descent(whole, problem, least):
    rng = np.random.default_rng(3)
    joint = random_joint(rng, 3, 9, whole=whole)
    least *= joint.total / 100
    labels = rng.permutation(9) % 3
    bits = 0.9 * reference.utility(joint, Partition(labels))
    price = Target(problem, "utility", bits if problem == "funnel" else 2.0).price
    found = swap(JointLayout(joint, least), labels, price)
    assert found.tolist() == reference.swap_descent(joint, labels, price, least)


@pytest.mark.parametrize("objective", [Funnel(0.4), Bottleneck(0.3)])
def test_a_cold_round_in_one_block_is_the_plain_one(objective):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        joint = Joint.from_counts(rng.gamma(1.0, size=(3, 10)))
        labels = rng.permutation(10) % 4
        search = BlockSearch(JointLayout(joint), objective.problem, objective.weights)
        found = search.improve(labels, LargeRun(1, 64), np.random.default_rng(seed))
        deal = np.random.default_rng(seed)
        dealt = deal.permutation(4)  # the order in which the clusters fill the block
        (task,) = deal.spawn(1)
        order = np.concatenate([np.flatnonzero(labels == c) for c in dealt])
        slots = np.argsort(dealt)[labels[order]]
        inner = Joint.from_counts(joint.counts[:, order])
        expected = reference.move_in_block(inner, slots, objective.weights, task)
        assert Partition(found[order]) == Partition(expected)


def test_a_tree_of_likeness_halves_as_the_plain_one():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        counts = rng.gamma(1.0, size=(4, 12))
        columns = csc_columns(Joint.from_counts(counts).counts)
        roots = (columns[0], columns[1], np.sqrt(counts / counts.sum(axis=0)).T.ravel(), 4)
        order = similarity_order(roots, 6, np.random.default_rng(seed))
        halves = reference.halves_by_similarity(counts, np.random.default_rng(seed))
        assert [sorted(order[:6]), sorted(order[6:])] == [sorted(half) for half in halves]


def test_keys_are_equal_where_profiles_are():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 3, size=(3, 60)) + (np.arange(3) == 0)[:, None]
    scaled = counts * rng.integers(1, 5, size=60)
    keys = profile_keys(csc_columns(Joint.from_counts(scaled).counts))
    found = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    assert Partition(found) == Partition(reference.equal_profiles(scaled))


@pytest.mark.parametrize("n_bounds", [1, 2])
@pytest.mark.parametrize("least", [0.0, 0.2])
def test_the_best_partition_within_bounds_is_the_best_of_all(least, n_bounds):
    rng = np.random.default_rng(7)
    for _ in range(20):
        n = int(rng.integers(1, 7))
        cost, masses, *taken = rng.normal(size=(2 + n_bounds, 1 << n))
        taken, bounds = np.array(taken), rng.normal(size=n_bounds)
        cost[masses < -1.5 - least] = taken[:, masses < -1.5 - least] = np.inf
        labels, value = best_within(cost, taken, bounds, n)
        all_of_them = [
            (sum(cost[m] for m in masks), masks)
            for masks in map(masks_of, reference.partitions(n))
            if (sum(taken[:, m] for m in masks) <= bounds).all()
        ]
        best = min((price for price, _ in all_of_them), default=np.inf)
        assert value == pytest.approx(best)
        if np.isfinite(best):
            assert sum(cost[m] for m in masks_of(labels)) == pytest.approx(best)


def masks_of(labels) -> list[int]:
    """Each cluster as the bits of a number."""
    return [
        sum(1 << i for i, label in enumerate(labels) if label == cluster)
        for cluster in sorted(set(labels))
    ]


@pytest.mark.parametrize("objective", [Funnel(0.4), Bottleneck(0.3)])
def test_insertion_is_the_plain_one(objective):
    rng = np.random.default_rng(2)
    joint = Joint.from_counts(rng.gamma(1.0, size=(3, 12)))
    layout, order = JointLayout(joint), rng.permutation(12)
    labels = np.empty(12, dtype=np.int64)
    masses = np.asarray(joint.counts.sum(axis=0)).ravel()
    price = layout.eta_weights(objective.weights)
    n = insert_in_order(layout.columns, masses, order, layout.table, price, labels)
    expected = reference.insert_in_order(joint, order.tolist(), objective.weights)
    assert labels.tolist() == [expected[x] for x in range(12)]
    assert n == labels.max() + 1


@pytest.mark.parametrize("whole", [True, False])
def test_cold_proposals_are_the_plain_ones(whole):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        joint = random_joint(rng, 3, 9, whole=whole)
        labels = rng.permutation(9) % 4
        layout, price = JointLayout(joint), Target("funnel", "utility", 0.4 * joint.entropy_x).price
        found, value = anneal_by_proposals(
            layout.columns, layout.joint.masses, labels, layout.table, layout.row_weights(price.weights),
            layout.row_weights(price.limit[0]), layout.eta_bound(*price.limit),
            np.array([[0.0, 3.0]]), 0.0, 9, layout.tol, np.random.default_rng(seed),
        )  # fmt: skip
        expected = reference.descend_by_proposals(
            joint, labels, price, 3.0, np.random.default_rng(seed)
        )
        assert np.isfinite(value)
        assert Partition(found) == Partition(expected)
