"""Local recoding: its kernel against plain sums, its targets, and never above global recoding."""

from __future__ import annotations

import itertools
from copy import deepcopy

import numpy as np
import pytest

import privacyfunnel as pf
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.recodings import Hierarchy, Recoding, column_utilities, kept
from reference_recodings import measure

HIERARCHIES = {
    "age": Hierarchy({str(v): (f"{v // 2 * 2}+", f"{v // 4 * 4}+", "*") for v in range(8)}),
    "city": Hierarchy({c: ("ab" if c in "ab" else "cd", "*") for c in "abcd"}),
}


def table(seed: int, most: int = 6) -> pf.Joint:
    rng = np.random.default_rng(seed)
    labels = list(itertools.product(range(8), "abcd"))
    counts = rng.integers(0, most, size=(3, len(labels)))
    counts[0] += counts.sum(axis=0) == 0
    return pf.Joint.from_counts(counts, labels_x=labels, columns=["age", "city"])


def plain(joint: pf.Joint, code: pf.ColumnCode) -> tuple[float, float]:
    groups = [dict(enumerate(g.members for g in column.groups)) for column in code.columns]
    return measure(joint, [tuple(cell) for cell in code.cells], groups)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["global", "local"])
def test_solutions_are_what_they_say(seed, kind):
    joint = table(seed)
    options = {"recoding": kind, "hierarchies": HIERARCHIES, "seed": seed, "moves": 50_000}
    frontier = pf.frontier(joint, n_points=3, **options)
    for share in (0.3, 0.62):
        found = frontier.at(kept=share)
        leakage, reached = plain(joint, found.code)
        assert found.leakage == pytest.approx(leakage, abs=1e-12)
        assert found.kept == pytest.approx(reached, abs=1e-12)
        assert found.kept >= share - 1e-12
        for x, label in enumerate(joint.labels_x):
            for i, value in enumerate(label):
                assert value in found.code.columns[i].groups[found.code.cells[x, i]].members
    bound = 0.3 * joint.information / joint.entropy_s
    found = frontier.at(leakage=bound)
    assert found.leakage / joint.entropy_s <= bound + 1e-12
    assert found.kept > 0
    again = pf.frontier(joint, n_points=3, **options).at(leakage=bound)
    assert again.code == found.code  # the same seed, the same code


@pytest.mark.parametrize("keep", ["kept", "information"])
def test_kernel_sums_are_plain_sums(keep):
    joint = table(5)
    search = Recoding("local", hierarchies=HIERARCHIES, keep=keep).on(joint).tuples
    rng = np.random.default_rng(0)
    from privacyfunnel._kernels.generalisation import generalise

    for strict, least in ((False, 0.0), (False, 4.0), (True, 0.0)):
        levels = np.zeros((joint.n_x, 2), dtype=np.int64)
        _, told, loss = generalise(
            search.columns._columns, search._tree, levels, joint.masses, search.columns._measure, 0.3,
            (0, 0.0, 0.0, 0.3, 0.3), (1e-12, 1e-6), np.linspace(2.0, 0.0, 20), least, strict, rng,
        )  # fmt: skip
        code = search.code(search.measured(levels))
        leakage, share = plain(joint, code)
        if keep == "information":
            share = np.mean(list(column_utilities(joint, code).values()))
            assert search.measured(levels).kept == pytest.approx(share, abs=1e-9)
        assert -loss / joint.total == pytest.approx(share, abs=1e-9)
        if least == 0.0:
            assert told / joint.total + joint.entropy_s == pytest.approx(leakage, abs=1e-9)


def test_strict_moves_never_leave_their_goal():
    joint = table(6)
    search = Recoding("local", hierarchies=HIERARCHIES).on(joint).tuples
    levels = np.zeros((joint.n_x, 2), dtype=np.int64)
    before = search.measured(levels).leakage
    goal = (1, -0.7 * joint.total, 0.0, 0.3, 0.3)
    search._run(levels, 0.3, goal, np.full(50, 0.01), np.random.default_rng(0), strict=True)
    found = search.measured(levels)
    assert found.kept >= 0.7 - 1e-9
    assert found.leakage < before


@pytest.mark.parametrize("kind", ["global", "local"])
@pytest.mark.parametrize("seed", range(2))
def test_no_combination_has_fewer_records(kind, seed):
    joint = table(seed, most=3)
    frontier = pf.frontier(
        joint,
        recoding=kind,
        hierarchies=HIERARCHIES,
        min_count=5,
        suppress=0.1,
        n_points=3,
        moves=50_000,
    )
    for solution in [*frontier, frontier.at(kept=0.4), frontier.at(leakage=0.05)]:
        counts = np.bincount(solution.code.labels, weights=joint.p_x) * joint.total
        assert counts.min() >= 5 - 1e-9
        if kind == "global":
            assert solution.suppressed <= 0.1 + 1e-12
            if solution.n_symbols > 1:
                gone = joint.p_x[solution.code.suppressed].sum()
                assert solution.suppressed == pytest.approx(gone)


@pytest.mark.parametrize("seed", range(2))
def test_local_is_never_above_global(seed):
    joint = table(seed)
    both = [
        pf.frontier(joint, recoding=kind, hierarchies=HIERARCHIES, n_points=3, moves=50_000)
        for kind in ("global", "local")
    ]
    for share in (0.2, 0.5, 0.8):
        column_wise, tuples = (frontier.at(kept=float(share)) for frontier in both)
        assert tuples.leakage <= column_wise.leakage + 1e-9


def test_built_trees_and_groups_need_no_hierarchy():
    rng = np.random.default_rng(0)
    labels = [
        (age, city, ill) for age in (18, 25, 31, None) for city in "xyz" for ill in (True, False)
    ]
    joint = pf.Joint.from_counts(
        rng.integers(1, 5, (2, len(labels))), labels_x=labels, columns=["age", "city", "ill"]
    )
    for kind in ("global", "local"):
        found = pf.frontier(joint, recoding=kind, n_points=4).at(kept=0.5)
        assert [column.name for column in found.code.columns] == ["age", "city", "ill"]
        assert found.kept >= 0.5
    weighted = pf.frontier(joint, recoding="global", n_points=4, importance={"age": 5, "ill": 0})
    assert column_utilities(joint, weighted.at(kept=0.8).code)["age"] >= 0.7


def test_ordered_categories_become_runs():
    sizes = ["small", "medium", "large", "huge"]
    joint = pf.Joint.from_counts([[4, 1, 3, 1], [1, 4, 1, 3]], labels_x=sizes, columns=["size"])
    found = pf.frontier(joint, recoding="global", orders={"size": sizes}, n_points=3).at(kept=0.3)
    place = {value: k for k, value in enumerate(sizes)}
    for group in found.code.columns[0].groups:
        runs = sorted(place[value] for value in group.members)
        assert runs == list(range(runs[0], runs[-1] + 1))


def test_what_is_kept_of_symbols_is_measured_too():
    joint = table(1)
    code = pf.solve(joint, pf.Funnel(0.5), effort="fast").code
    found = column_utilities(joint, code)
    assert set(found) == {"age", "city"}
    assert all(0 <= share <= 1 + 1e-12 for share in found.values())
    channel = pf.Channel(code.matrix)
    assert column_utilities(joint, channel) == pytest.approx(found)


def test_kept_equals_the_mean_column_utility_of_a_global_recoding():
    joint = table(2)
    found = pf.frontier(joint, recoding="global", hierarchies=HIERARCHIES, n_points=3).at(kept=0.5)
    mean = np.mean(list(column_utilities(joint, found.code).values()))
    assert kept(joint, found.code) == pytest.approx(mean)
    local = pf.frontier(joint, recoding="local", hierarchies=HIERARCHIES, n_points=3).at(kept=0.5)
    assert local.kept <= np.mean(list(column_utilities(joint, local.code).values())) + 1e-12


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hierarchies": {"town": HIERARCHIES["city"]}}, "hierarchies names 'town'"),
        ({"importance": {"town": 1}}, "importance names 'town'"),
        ({"importance": {"age": -1}}, "0 or more"),
        ({"orders": {"city": ["a", "b"]}}, "lacks 'c'"),
        ({"cuts": {"city": [3]}}, "numbers or dates"),
        ({"suppress": 2}, "suppress must lie in"),
        ({"rounding": "never"}, "rounding must be one of"),
        ({"tau": 2}, "no setting 'tau'"),
        ({"problem": "bottleneck"}, "funnel"),
    ],
)
def test_wrong_settings_say_what_is_wrong(options, words):
    with pytest.raises(InvalidInput, match=words):
        pf.frontier(table(0), recoding="global", n_points=2, **options)


def test_targets_that_cannot_be_met_name_the_nearest():
    joint = table(0, most=2)
    frontier = pf.frontier(
        joint, recoding="global", hierarchies=HIERARCHIES, min_count=20, suppress=0.0, n_points=3
    )
    with pytest.raises(TargetUnreachable, match="the nearest keeps 0"):
        frontier.at(kept=0.99)
    for wrong in ({}, {"kept": 0.5, "leakage": 0.1}, {"utility": 0.5}, {"kept": 1.5}):
        with pytest.raises(InvalidInput):
            frontier.at(**wrong)
    with pytest.raises(InvalidInput, match="kept"):
        pf.frontier(joint, n_points=2).at(kept=0.5)


def test_what_is_borrowed_foretells_s_better():
    """S depends on each column a little: p(s given x) of few records comes nearer to the truth."""
    from privacyfunnel.recodings.smoothing import smoothed

    labels = list(itertools.product(range(8), "abcd"))
    p_one = np.array([0.4 + 0.1 * (age >= 4) + 0.1 * (city in "ab") for age, city in labels])
    errors = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        few = rng.multinomial(250, np.ones(32) / 32) + 1
        ones = rng.binomial(few, p_one)
        joint = pf.Joint.from_counts([ones, few - ones], labels_x=labels, columns=["age", "city"])
        smooth = smoothed(joint, rng)
        assert smooth.p_x == pytest.approx(joint.p_x)
        errors.append([np.abs(j.p_sx.toarray()[0] / j.p_x - p_one).mean() for j in (joint, smooth)])
    plainly, shrunk = np.mean(errors, axis=0)
    assert shrunk < 0.8 * plainly


def test_a_search_for_the_population_is_measured_on_the_records():
    joint = table(4)
    recoding = Recoding("local", hierarchies=HIERARCHIES, fit="population", moves=20_000)
    found = recoding.on(joint).at(np.random.default_rng(0), kept=0.6)
    assert found.kept >= 0.6 - 1e-9
    assert found.leakage == pytest.approx(plain(joint, found.code)[0])
    bound = 0.2 * joint.information
    assert recoding.on(joint).at(np.random.default_rng(0), leakage=bound).leakage <= bound


def test_what_is_sent_to_processes_stays_as_it_is_meanwhile(monkeypatch):
    """They pickle it in a thread of their own, which fails where what it holds changes under it."""

    def sent(function, tasks, n_jobs):
        for task in tasks:
            held = [vars(task[0]), vars(task[0].joint), *map(vars, task[0].trees)]
            result = function(*deepcopy(task))
            before = [list(one) for one in held]
            yield result
            assert [list(one) for one in held] == before

    monkeypatch.setattr("privacyfunnel.recodings.recoding.as_they_come", sent)
    found = pf.frontier(table(0, most=2), recoding="local", n_points=4, moves=3000)
    assert len(found) > 1


def test_a_column_of_one_value_is_released_as_it_is():
    rng = np.random.default_rng(0)
    labels = [(age, town, "CH") for age in range(20, 30) for town in "abc"]
    joint = pf.Joint.from_counts(
        rng.integers(1, 6, (2, 30)), labels_x=labels, columns=["age", "town", "land"]
    )
    found = pf.frontier(joint, recoding="local", n_points=4, moves=3000, min_count=12)
    for code in (found.at(kept=0.3).code, pf.solve(joint, pf.Funnel(0.2), recoding="local").code):
        for age, town, land in code.released:
            assert (land == "*") == (age == town == "*")
