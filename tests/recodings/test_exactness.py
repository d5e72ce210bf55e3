"""Intervals, cuts of trees and groups against every code of their kind."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import privacyfunnel as pf
from privacyfunnel.measures import make_measure
from privacyfunnel.recodings import Hierarchy, RecodedSolution, Recoding
from privacyfunnel.solvers.base import Status
from reference_recodings import (
    global_measure,
    global_told,
    interval_cuts,
    partitions,
    tree_cuts,
)

MEASURES = [
    "shannon", "guessing", "chi-square", "total-variation", "maximal-leakage",
    "arimoto:0.5", "arimoto:2", "arimoto:20",
]  # fmt: skip


def column_joint(rng: np.random.Generator, n: int, labels=None) -> pf.Joint:
    counts = rng.integers(0, 6, size=(int(rng.integers(2, 4)), n))
    counts[0] += counts.sum(axis=0) == 0
    return pf.Joint.from_counts(counts, labels_x=labels or list(range(10, 10 + n)), columns=["age"])


def random_hierarchy(rng: np.random.Generator, values: list) -> tuple[Hierarchy, list[list[list]]]:
    """A hierarchy of two levels below the top, and all cuts of it."""
    low = {v: int(rng.integers(3)) for v in values}
    high = {k: int(rng.integers(2)) for k in range(3)}
    hierarchy = Hierarchy({str(v): (f"a{low[v]}", f"b{high[low[v]]}", "*") for v in values})
    leaves = {("v", v): [v] for v in values} | {"*": list(values)}
    children: dict = {"*": []}
    for k in sorted(set(low.values())):
        leaves["a", k] = [v for v in values if low[v] == k]
        children["a", k] = [("v", v) for v in leaves["a", k]]
    for k in sorted({high[low[v]] for v in values}):
        children["b", k] = [("a", j) for j in sorted(set(low.values())) if high[j] == k]
        leaves["b", k] = [v for v in values if high[low[v]] == k]
        children["*"].append(("b", k))
    return hierarchy, list(tree_cuts(children, leaves, "*"))


def cheapest(joint: pf.Joint, codes, lam: float) -> float:
    mu = lam * joint.entropy_x
    found = (global_measure(joint, list(code)) for code in codes)
    return min(leakage - mu * kept for leakage, kept in found)


def one_column(seed: int, name: str) -> dict[str, tuple[RecodedSolution, float]]:
    """Intervals and cuts of a tree by any measure: what is found, and the least of all such codes."""
    rng = np.random.default_rng([11, seed])
    joint, measure = column_joint(rng, int(rng.integers(2, 9))), make_measure(name)
    values, lam = list(joint.public[0].values), float(rng.random())
    hierarchy, cuts = random_hierarchy(rng, values)
    tree = {"hierarchies": {"age": hierarchy}}
    found = {}
    for shape, options, codes in (
        ("intervals", {"rounding": "free"}, list(interval_cuts(values))),
        ("hierarchies", tree, cuts),
    ):
        best = min(
            global_told(joint, [code], measure)
            - lam * joint.entropy_x * global_measure(joint, [code])[1]
            for code in codes
        )
        solution = pf.solve(joint, pf.Funnel(lam, measure), recoding="global", **options)
        found[shape] = solution, best
    return found


@pytest.mark.parametrize("name", MEASURES)
def test_intervals_and_cuts_of_a_tree_are_optimal(name, monkeypatch):
    """By the dynamic programs: without it codes as few as these would all be measured."""
    monkeypatch.setattr("privacyfunnel.recodings.global_recoding.EVERY", 0)
    for seed in range(20):
        for found, best in one_column(seed, name).values():
            assert found.value == pytest.approx(best, abs=1e-9)
            assert found.status is Status.OPTIMAL_RECODING


def test_cuts_that_are_round_but_dearer_are_not_called_optimal():
    dearer = 0
    for seed in range(12):
        counts = np.random.default_rng([7, seed]).integers(0, 6, (3, 60))
        counts[0] += 1
        joint = pf.Joint.from_counts(counts, labels_x=list(range(17, 77)), columns=["age"])
        free, rounded = (
            pf.solve(joint, pf.Funnel(0.5), recoding="global", rounding=rounding)
            for rounding in ("free", "prefer")
        )
        assert free.status is Status.OPTIMAL_RECODING
        is_dearer = rounded.value > free.value + 1e-9
        assert (rounded.status is Status.OPTIMAL_RECODING) == (not is_dearer)
        dearer += is_dearer
    assert 0 < dearer < 12


@pytest.mark.parametrize("kind", ["global", "local"])
@pytest.mark.parametrize("name", MEASURES[1:])
def test_targets_are_met_by_any_measure(name, kind):
    joint, _, _ = small_table(1)
    aim = pf.Funnel(0.0, name)
    options = {"moves": 3000} if kind == "local" else {}
    frontier = pf.frontier(joint, recoding=kind, measure=name, n_points=3, **options)
    frame = frontier.to_frame()
    assert frame.leakage.max() == pytest.approx(
        aim.measure(joint.p_sx) / aim.whole_leakage(joint), abs=1e-9
    )
    half = frontier.at(kept=0.5)
    assert half.kept >= 0.5 - 1e-9
    assert half.leakage == pytest.approx(aim.leakage(joint, half.code), abs=1e-12)
    most = 0.3 * aim.measure(joint.p_sx) / aim.whole_leakage(joint)
    bounded = frontier.at(leakage=most)
    assert bounded.leakage <= most * aim.whole_leakage(joint) + 1e-9
    assert bounded.kept > 0
    by_price = pf.solve(joint, pf.Funnel(0.2, name), recoding=kind, **options)
    told = aim.measure.told(joint.p_sx @ by_price.code.matrix)
    assert by_price.value == pytest.approx(told - 0.2 * by_price.kept * joint.entropy_x, abs=1e-9)
    assert by_price.value <= 1e-9


def test_a_bound_holds_on_the_records_where_a_population_tells_nothing():
    """What is borrowed may smooth the best guess until every code seems to tell nothing."""
    joint, _, _ = small_table(0)
    search = Recoding("local", fit="population", moves=500).on(joint, make_measure("guessing"))
    assert search.at(np.random.default_rng(0), leakage=1e-6).leakage <= 1e-6


@pytest.mark.parametrize("name", ["guessing", "maximal-leakage"])
def test_local_is_never_above_global_by_any_measure(name):
    joint, options, _ = small_table(2)
    both = [
        pf.frontier(joint, recoding=kind, measure=name, n_points=3, **trees).at(kept=0.6).leakage
        for kind, trees in (
            ("local", {"hierarchies": options["hierarchies"], "moves": 3000}),
            ("global", {"hierarchies": options["hierarchies"], "cuts": {"age": [1, 2, 3, 4]}}),
        )
    ]
    assert both[0] <= both[1] + 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_free_groups_of_a_few_values_are_optimal(seed):
    rng = np.random.default_rng(seed)
    joint = column_joint(rng, 6, list("abcdef"))
    lam = float(rng.random())
    found = pf.solve(joint, pf.Funnel(lam), recoding="global")
    codes = ([parts] for parts in partitions(list(joint.public[0].values)))
    assert found.value == pytest.approx(cheapest(joint, codes, lam), abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_at_most_so_many_intervals(seed):
    from privacyfunnel.recodings.intervals import Intervals

    rng = np.random.default_rng(seed)
    joint = column_joint(rng, 7)
    search = Recoding().on(joint).columns
    most = int(rng.integers(1, 5))
    shape = Intervals.of_numbers(joint.public[0].values, rounding="free", most=most)
    mu = float(rng.random())
    labels = shape.best(search.cells([np.zeros(joint.n_x)], 0, mu, 0.0), None, rng)
    found = search.measured([labels])
    cuts = [c for c in interval_cuts(list(joint.public[0].values)) if len(c) <= most]
    best = min(a - mu * b for a, b in (global_measure(joint, [cut]) for cut in cuts))
    assert len(set(labels)) <= most
    assert found.leakage - mu * found.kept == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", ["intervals", "tree"])
def test_the_cheapest_groups_within_a_bound(seed, kind):
    """Bins round what is lost to the nearest: never over the bound, and seldom off the best."""
    rng = np.random.default_rng(seed)
    joint = column_joint(rng, 7)
    values = list(joint.public[0].values)
    hierarchy, cuts = random_hierarchy(rng, values)
    options = {"hierarchies": {"age": hierarchy}} if kind == "tree" else {"rounding": "free"}
    search = Recoding(**options).on(joint).columns
    share = float(rng.random())
    cells = search.cells([np.zeros(joint.n_x)], 0, 1.0, 0.0, keep=False)
    bound = (1 - share) * joint.entropy_x
    labels = search.shapes[0].within(cells, bound, None, rng)
    found = search.measured([labels])
    codes = cuts if kind == "tree" else list(interval_cuts(values))
    measured = [global_measure(joint, [code]) for code in codes]
    best = min(leakage for leakage, kept in measured if kept >= share - 1e-9)
    near = min(leakage for leakage, kept in measured if kept >= share + 0.03 * (1 - share) - 1e-9)
    assert found.kept >= share - 1e-9
    assert best - 1e-9 <= found.leakage <= near + 1e-9


def small_table(seed: int) -> tuple[pf.Joint, dict, list]:
    """Two or three columns of different shapes, and all products of their codes."""
    rng = np.random.default_rng([7, seed])
    sizes = [(4, 4), (3, 3, 3), (5, 3)][seed % 3]
    rows = list(itertools.product(*(range(n) for n in sizes)))
    names = ["age", "city", "job"][: len(sizes)]
    label = [lambda v: v, lambda v: "abcde"[v], lambda v: "pqrst"[v]]
    labels = [tuple(label[i](v) for i, v in enumerate(row)) for row in rows]
    counts = rng.integers(0, 5, size=(2, len(rows)))
    counts[0, 0] += 1
    joint = pf.Joint.from_counts(counts, labels_x=labels, columns=names)
    hierarchy, cuts = random_hierarchy(rng, list(joint.public[1].values))
    every = [list(interval_cuts(list(joint.public[0].values))), cuts]
    every += [list(partitions(list(column.values))) for column in joint.public[2:]]
    return joint, {"hierarchies": {"city": hierarchy}, "rounding": "free"}, every


def every_measure(joint: pf.Joint, every: list) -> list[tuple[float, float]]:
    return [global_measure(joint, list(code)) for code in itertools.product(*every)]


@pytest.mark.parametrize("seed", range(12))
def test_global_recoding_of_a_small_table_is_proved_optimal(seed):
    """For a price, a share to keep and a leakage: all products of the columns' codes are measured."""
    joint, options, every = small_table(seed)
    measured = every_measure(joint, every)
    rng = np.random.default_rng(seed)
    lam, share = rng.uniform(0.02, 0.5), rng.uniform(0.15, 0.9)
    found = pf.solve(joint, pf.Funnel(lam), recoding="global", **options)
    mu = lam * joint.entropy_x
    assert found.value == pytest.approx(min(a - mu * b for a, b in measured), abs=1e-9)
    assert found.status is Status.OPTIMAL_RECODING
    frontier = pf.frontier(joint, recoding="global", n_points=3, **options)
    found = frontier.at(kept=share)
    assert found.leakage == pytest.approx(min(a for a, b in measured if b >= share), abs=1e-9)
    assert found.status is Status.OPTIMAL_RECODING
    bits = share * joint.information
    found = frontier.at(leakage=bits / joint.entropy_s)
    assert found.kept == pytest.approx(max(b for a, b in measured if a <= bits + 1e-9), abs=1e-9)


def test_keeping_some_columns_and_dropping_the_others_is_never_better(monkeypatch):
    """A mean may be cheapest where some columns are kept whole, which lies at no slope of the hull."""
    monkeypatch.setattr("privacyfunnel.recodings.global_recoding.EVERY", 0)
    joint, options, _ = small_table(1)
    search = Recoding(**options).on(joint)
    for kept in itertools.product([0, 1], repeat=len(joint.public)):
        ends = [shape.ends()[end] for shape, end in zip(search.columns.shapes, kept, strict=True)]
        corner = search.columns.measured(ends)
        search.columns.seen.clear()
        found = search.at(np.random.default_rng(0), kept=corner.kept)
        assert found.leakage <= corner.leakage + 1e-9


@pytest.mark.slow
def test_the_descent_is_mostly_as_good_as_every_product(monkeypatch):
    """Where there are more products than can be measured: at least 90% equal, the rest within 2%."""
    monkeypatch.setattr("privacyfunnel.recodings.global_recoding.EVERY", 0)
    equal = targets = 0
    for seed in range(100):
        joint, options, every = small_table(seed)
        measured = every_measure(joint, every)
        rng = np.random.default_rng(seed)
        lam, share = rng.uniform(0.02, 0.5), rng.uniform(0.15, 0.9)
        found = pf.solve(joint, pf.Funnel(lam), recoding="global", **options).value
        mu = lam * joint.entropy_x
        best = min(a - mu * b for a, b in measured)
        assert best - 1e-9 <= found <= best + 0.02 * abs(best) + 1e-9
        equal += found <= best + 1e-9
        found = pf.frontier(joint, recoding="global", n_points=6, **options).at(kept=share)
        best = min(a for a, b in measured if b >= share - 1e-9)
        assert found.kept >= share - 1e-9
        assert found.leakage >= best - 1e-9
        targets += found.leakage <= best + 1e-9
    assert equal >= 90
    assert targets >= 80
