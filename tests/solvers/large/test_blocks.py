"""Large alphabets: moves in blocks, merging on lists, and what is never made dense."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from conftest import random_joint
from privacyfunnel import Bottleneck, Funnel, Joint, Partition, Status, frontier, solve, validation
from privacyfunnel._kernels.blocks import fill_groups, members_of
from privacyfunnel._kernels.sparse_merges import merge_path_on_lists
from privacyfunnel.errors import InvalidInput, TargetUnreachable, TooLarge
from privacyfunnel.joint import csc_columns
from privacyfunnel.objectives import leakage, utility
from privacyfunnel.solvers import merge_path as merging
from privacyfunnel.solvers.best import BestSearch
from privacyfunnel.solvers.equal_profiles import equal_profiles
from privacyfunnel.solvers.large.blocks import (
    BlockSearch,
    LargeRun,
    filled_in_order,
    solve_in_blocks,
)
from privacyfunnel.solvers.large.proposals import ProposalSearch, covering_order
from privacyfunnel.solvers.large.similarity import cluster_sums, order_by_similarity
from privacyfunnel.solvers.merge_path import merge_path
from privacyfunnel.solvers.moves import JointLayout
from privacyfunnel.solvers.target import Target
from privacyfunnel.tables import count

OBJECTIVES = [Funnel(0.8), Funnel(0.3), Bottleneck(0.15), Bottleneck(0.4)]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def sparse_joint(n_x: int, n_s: int = 12, seed: int = 3, kinds: int = 40) -> Joint:
    """Symbols of some kinds, each with a handful of cells."""
    draw = rng(seed)
    profiles = draw.dirichlet(np.full(n_s, 0.3), size=kinds)[draw.integers(kinds, size=n_x)]
    rows = [draw.choice(n_s, 4, p=0.9 * p + 0.1 / n_s, replace=False) for p in profiles]
    data = draw.integers(1, 9, size=4 * n_x).astype(float)
    place = np.repeat(np.arange(n_x), 4)
    return Joint.from_counts(sp.coo_array((data, (np.concatenate(rows), place)), shape=(n_s, n_x)))


@pytest.fixture(scope="module")
def joint() -> Joint:
    return sparse_joint(1500)


def value(joint: Joint, objective, labels) -> float:
    return objective.value(joint, Partition(labels))


@given(st.integers(0, 2**31), st.integers(1, 40))
@settings(max_examples=30)
def test_members_are_sorted_by_cluster(seed: int, n_clusters: int):
    labels = rng(seed).integers(n_clusters, size=60)
    members, starts = members_of(labels, n_clusters)
    for c in range(n_clusters):
        assert members[starts[c] : starts[c + 1]].tolist() == np.flatnonzero(labels == c).tolist()


@given(st.integers(0, 2**31), st.floats(0.1, 20.0))
@settings(max_examples=30)
def test_groups_weigh_enough(seed: int, least: float):
    masses = rng(seed).gamma(1.0, size=30)
    weights = np.bincount(fill_groups(masses, least), weights=masses)
    assert (weights >= least).all() or len(weights) == 1
    assert (np.diff(fill_groups(masses, least)) >= 0).all()


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("whole", [True, False])
def test_cold_rounds_never_raise_the_price(objective, whole: bool):
    joint = random_joint(rng(1), 5, 300, whole=whole)
    search = BlockSearch(JointLayout(joint), objective.problem, objective.weights)
    labels, run = rng(2).integers(60, size=300), LargeRun(1, 16)
    before = value(joint, objective, labels)
    for round_ in range(6):  # one round is all cold
        labels = search.improve(labels, run, rng(round_))
        after = value(joint, objective, labels)
        assert after <= before + 1e-9
        before = after


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_one_block_ends_where_no_single_move_lowers_the_price(objective):
    joint = random_joint(rng(7), 4, 20)
    search = BlockSearch(JointLayout(joint), objective.problem, objective.weights)
    labels = search.improve(rng(8).integers(5, size=20), LargeRun(60, 64), rng())
    best = value(joint, objective, labels)
    for x in range(20):
        for goal in range(labels.max() + 2):
            moved = labels.copy()
            moved[x] = goal
            assert value(joint, objective, moved) >= best - 1e-9


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_results_do_not_depend_on_the_number_of_threads(joint, objective, monkeypatch):
    search = BlockSearch(JointLayout(joint), objective.problem, objective.weights)
    found = []
    for n_threads in (1, 4):
        monkeypatch.setattr(os, "cpu_count", lambda n=n_threads: n)
        found.append(search.from_scratch(LargeRun(10, 32), rng()))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_blocks_are_as_good_as_the_whole_search(joint, objective):
    found = solve_in_blocks(
        JointLayout(joint), objective, LargeRun.of(joint.n_x, "normal"), rng=rng()
    )
    whole = solve(joint, objective, "moves", sweeps=60)
    assert found.value <= whole.value + 0.005 * abs(whole.value) + 1e-9
    assert found.value == pytest.approx(objective.value(joint, found.code), abs=1e-9)


def test_like_stands_beside_like():
    joint = sparse_joint(2000, kinds=8)
    order = order_by_similarity(joint.counts, 32, rng())
    assert sorted(order.tolist()) == list(range(2000))
    profiles = joint.counts.toarray() / joint.counts.toarray().sum(axis=0)

    def apart(places) -> float:
        return float(np.abs(np.diff(profiles[:, places], axis=1)).sum(axis=0).mean())

    assert apart(order) < 0.8 * apart(rng().permutation(2000))


@given(st.integers(0, 2**31))
@settings(max_examples=30)
def test_sums_of_clusters(seed: int):
    joint = random_joint(rng(seed), 4, 15)
    labels = Partition(rng(seed).integers(5, size=15)).labels
    expected = [joint.counts.toarray()[:, labels == c].sum(axis=1) for c in range(labels.max() + 1)]
    np.testing.assert_allclose(cluster_sums(joint.counts, labels).toarray(), np.array(expected).T)


@given(st.integers(0, 2**31), st.sampled_from([1.0, 0.37]))
@settings(max_examples=40)
def test_equal_profiles_are_those_that_are_equal(seed: int, unit: float):
    counts = rng(seed).integers(0, 3, size=(3, 25)) * rng(seed).integers(1, 4, size=25)
    counts = counts[:, counts.sum(axis=0) > 0]
    joint = Joint.from_counts(counts * unit)
    profiles = [tuple(p) for p in np.round(counts / counts.sum(axis=0), 9).T.tolist()]
    same = np.array([[a == b for a in profiles] for b in profiles])
    labels = equal_profiles(joint).labels
    np.testing.assert_array_equal(labels[:, None] == labels, same)


@given(st.integers(0, 2**31), st.sampled_from([(1.0, -0.8), (-1.0, 0.2), (1.0, -0.3)]))
@settings(max_examples=30)
def test_lists_of_all_others_make_the_exact_path(seed: int, weights):
    joint = Joint.from_counts(rng(seed).gamma(0.5, size=(3, 9)))  # without ties
    n = joint.n_x
    lists = np.array([[y for y in range(n) if y != x] for x in range(n)])
    price = (weights[0] + weights[1], -weights[0])
    masses = np.asarray(joint.counts.sum(axis=0))
    merges, drops, _ = merge_path_on_lists(
        csc_columns(joint.counts), masses, lists, price, (0.0, 0.0), 1.0, 1, np.inf
    )
    exact = merge_path(joint, weights)
    found = merging.MergePath(joint, merges, exact.told, exact.kept)
    for k in range(n):
        assert found.cut(k) == exact.cut(k)
    drop_f, drop_g = np.cumsum(drops, axis=0).T / joint.total
    for ours, theirs in ((drop_f - drop_g, exact.told), (drop_f, exact.kept)):
        np.testing.assert_allclose(theirs[0] + ours, theirs[1:], atol=1e-9)
    assert [tuple(m) for m in exact.merges.tolist()] == reference.merge_path(joint, weights)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_path_on_lists_is_a_path_and_nearly_as_good(joint, objective):
    exact = merge_path(joint, objective.weights)
    found = merge_path(joint, objective.weights, exact=200)
    assert len(found.merges) == joint.n_x - 1
    leaks, kept = found.told, found.kept
    for k in (0, 700, 1450, joint.n_x - 1):
        code = found.cut(k)
        assert code.n_symbols == joint.n_x - k
        assert leaks[k] == pytest.approx(leakage(joint, code), abs=1e-9)
        assert kept[k] == pytest.approx(utility(joint, code), abs=1e-9)
    alpha, beta = objective.weights
    best, least = ((alpha * path.told + beta * path.kept).min() for path in (found, exact))
    assert best <= least + 0.03 * abs(least) + 0.01


def test_a_path_on_lists_stops_where_it_is_told():
    joint = sparse_joint(900)
    path = merge_path(joint, (-1.0, 0.0), n_symbols=70, exact=200)
    assert path.cut().n_symbols == 70
    path = merge_path(joint, (1.0, 0.0), keep=(0.0, 1.0), threshold=6.0, exact=200)
    assert utility(joint, path.cut()) >= 6.0 - 1e-9


@pytest.mark.parametrize("share", [0.3, 0.7, 0.95])
@pytest.mark.parametrize("quantity", ["utility", "leakage"])
@pytest.mark.parametrize("problem", ["funnel", "bottleneck"])
def test_targets_are_met_closely(joint, problem: str, quantity: str, share: float):
    whole = joint.entropy_x if quantity == "utility" else joint.information
    target = Target(problem, quantity, share * whole)
    found = BestSearch(effort="fast").solve_at(joint, target, rng=rng())
    met = found.utility if quantity == "utility" else found.leakage
    at_least = (problem == "funnel") == (quantity == "utility")
    assert (met >= target.bits - 1e-9) if at_least else (met <= target.bits + 1e-9)
    assert met == pytest.approx(target.bits, abs=0.02 * whole)


def test_least_counts_are_kept_or_refused(joint):
    solver = BestSearch(effort="fast", min_count=100)
    for found in (
        solver.solve(joint, Funnel(0.8), rng=rng()),
        solver.solve(joint, Bottleneck(0.1), rng=rng()),
        solver.solve_at(joint, Target("funnel", "utility", 5.0), rng=rng()),
    ):
        assert (joint.counts.sum(axis=0) @ found.code.matrix).min() >= 100
    with pytest.raises(TargetUnreachable, match="100 records"):
        solver.solve_at(joint, Target("funnel", "utility", joint.entropy_x), rng=rng())


@pytest.mark.parametrize("share", [0.8, 0.84, 0.88])
def test_with_a_least_count_more_clusters_are_tried_than_keep_just_enough(share: float):
    draw = rng(5)
    weights = np.ceil(draw.pareto(1.2, size=3000)).astype(int)  # most values have few records
    ill = draw.binomial(weights, draw.beta(1, 3, size=3000))
    joint = Joint.from_counts(np.array([ill, weights - ill]))
    target = Target("funnel", "utility", share * joint.entropy_x)
    layout = BestSearch(min_count=5).layout(joint, target.objective)
    search = ProposalSearch(layout, LargeRun.of(joint.n_x, "fast"), rng())
    few = search.improve(search.heavy_starts(target.bits)[-1], target.price, 1.0)
    found = BestSearch(effort="fast", min_count=5).solve_at(joint, target, rng=rng())
    assert found.leakage < 0.5 * leakage(joint, Partition(few))
    assert found.utility >= target.bits - 1e-9
    assert (joint.counts.sum(axis=0) @ found.code.matrix).min() >= 5


@given(st.integers(0, 2**31), st.integers(2, 12))
@settings(max_examples=30)
def test_a_covering_order_makes_more_groups_than_a_random_one(seed: int, least: int):
    draw = rng(seed)
    masses = np.ceil(draw.pareto(1.0, size=300))
    tight = filled_in_order(covering_order(masses, least), masses, least)
    assert np.bincount(tight, weights=masses).min() >= min(least, masses.sum())
    assert tight.max() >= filled_in_order(draw.permutation(300), masses, least).max() - 1
    assert sorted(covering_order(masses, least)) == list(range(300))


def test_out_of_time_says_so_and_gives_what_there_is(joint):
    seen: list[tuple[int, int]] = []
    hurried = BestSearch(max_seconds=0.0, progress=lambda *done: seen.append(done))
    for objective in OBJECTIVES:
        found = hurried.solve(joint, objective, rng=rng())
        assert found.status is Status.OUT_OF_TIME
        assert found.value <= min(0.0, objective.value(joint, Partition.identity(joint.n_x))) + 1e-9
    assert seen[-1][0] == seen[-1][1]
    found = solve(joint, Funnel(0.8), max_seconds=600, effort="fast")
    assert found.status is Status.CONVERGED
    with pytest.raises(InvalidInput, match="max_seconds"):
        BestSearch(max_seconds=-1.0)


@pytest.mark.parametrize(
    ("method", "objective"),
    [
        ("best", Funnel(0.8)),
        ("best", Bottleneck(0.15)),
        ("greedy", Funnel(0.8)),
        ("greedy", Bottleneck(0.15)),
        ("soft", Funnel(0.8)),
        ("iac-mdsf", Funnel(0.8)),
    ],
)
def test_nothing_large_is_ever_dense(method, objective, monkeypatch):
    joint = sparse_joint(9000, n_s=60)
    thick = sp.csc_array.toarray

    def thin(self, *args, **kwargs):
        assert self.shape[0] * self.shape[1] < 0.2 * joint.n_s * joint.n_x
        return thick(self, *args, **kwargs)

    for kind in (sp.csc_array, sp.csr_array, sp.coo_array):
        monkeypatch.setattr(kind, "toarray", thin)
        monkeypatch.setattr(kind, "todense", thin)
    options = {"starts": 1, "runs": 1} if method == "iac-mdsf" else {}
    options = {"effort": "fast"} if method == "best" else options
    found = solve(joint, objective, method, **options)
    assert found.value < objective.value(joint, Partition.identity(joint.n_x))


def test_a_frontier_of_a_large_alphabet(joint):
    front = frontier(joint, n_points=5, effort="fast")
    frame = front.to_frame()
    assert (frame.leakage >= frame.limit - 1e-9).all()
    assert (np.diff(frame.utility) > 0).all()
    found = front.at(utility=0.6)
    assert found.utility >= 0.6 * joint.entropy_x - 1e-9
    soft = frontier(sparse_joint(2500), method="soft", targets=[0.5], effort="fast")
    assert soft.at(utility=0.5).utility == pytest.approx(0.5 * soft.joint.entropy_x, abs=1e-6)


def test_what_does_not_fit_is_refused_with_its_size(joint, monkeypatch):
    monkeypatch.setattr(validation, "free_memory", lambda: 1e5)
    with pytest.raises(TooLarge, match=r"15\.3 MB, but 0\.1 MB are free.*n_symbols"):
        solve(joint, Bottleneck(0.2), "annealing")
    table = pd.DataFrame({"s": np.arange(9000) % 7, "x": np.arange(9000)})
    with pytest.raises(TooLarge, match=r"9,000 different combinations.*coarsen"):
        count(table, "s", "x")


def test_counts_beyond_whole_numbers_are_weights():
    huge = np.array([[2.0**53, 3.0, 1.0], [1.0, 2.0**52, 5.0]])
    with pytest.warns(UserWarning, match="taken as weights"):
        joint = Joint.from_counts(huge)
    assert joint.n_records is None
    found = solve(joint, Funnel(0.5))
    assert np.isfinite(found.value)


def test_a_large_target_starts_from_insertion_and_leaks_little():
    draw = rng(5)
    masses = draw.integers(1, 12, size=2000)
    ill = draw.binomial(masses, 0.25)
    joint = Joint.from_counts(np.array([masses - ill, ill]))
    target = Target("funnel", "utility", 0.7 * joint.entropy_x)
    found = BestSearch(effort="fast").solve_at(joint, target, rng=rng())
    assert found.utility >= target.bits - 1e-9
    assert found.leakage <= 1e-3 * joint.information
    again = BestSearch(effort="fast").solve_at(joint, target, rng=rng())
    np.testing.assert_array_equal(found.code.labels, again.code.labels)
