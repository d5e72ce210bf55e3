"""The whole Pareto set, beside all partitions; the letters of Tan, Tegmark & Chuang."""

import numpy as np
import pandas as pd
import pytest

import reference
from conftest import DATA, random_joint
from privacyfunnel import Joint, Partition, frontier
from privacyfunnel._kernels.neighbours import neighbours
from privacyfunnel.errors import InvalidInput
from privacyfunnel.objectives import leakage, utility
from privacyfunnel.solvers.moves import JointLayout
from privacyfunnel.solvers.pareto_set import FEW, pareto_set


def points(joint: Joint, codes: list[Partition]) -> np.ndarray:
    return np.array([(utility(joint, code), leakage(joint, code)) for code in codes])


def undominated(points: np.ndarray, sign: float) -> np.ndarray:
    """Those with which no other point does better, or as well, on both axes."""
    cost, worth = sign * points[:, 0], sign * points[:, 1]
    kept = [
        not (
            (cost <= a + 1e-9) & (worth >= b - 1e-9) & ((cost < a - 1e-9) | (worth > b + 1e-9))
        ).any()
        for a, b in zip(cost, worth, strict=True)
    ]
    return np.unique(points[kept].round(8), axis=0)


@pytest.mark.parametrize(("problem", "sign"), [("funnel", -1.0), ("bottleneck", 1.0)])
@pytest.mark.parametrize("few", [0, FEW])
def test_nearly_all_undominated_codes_of_small_joints(problem, sign, few, monkeypatch):
    """A local search: what it finds is undominated within it, and it misses few; of few symbols none."""
    monkeypatch.setattr("privacyfunnel.solvers.pareto_set.FEW", few)
    met = n_best = 0
    for seed in range(12):
        joint = random_joint(np.random.default_rng(seed), 3, 6)
        every = points(joint, [Partition(labels) for labels in reference.partitions(joint.n_x)])
        found = points(joint, pareto_set(joint, problem, []))
        assert len(undominated(found, sign)) == len(found)
        best = undominated(every, sign)
        met += sum(bool((np.abs(found - point) < 1e-7).all(axis=1).any()) for point in best)
        n_best += len(best)
    assert met >= (1.0 if few else 0.9) * n_best


@pytest.mark.parametrize("whole", [True, False])
def test_neighbours_are_those_of_the_loops(whole):
    joint = random_joint(np.random.default_rng(4), 3, 7, whole=whole)
    layout, labels = JointLayout(joint), np.array([0, 1, 0, 2, 1, 2, 3])
    places, etas = neighbours(layout.columns, labels, 4, layout.table, 0.0)
    assert len(places) == 7 * 4 - 1 + 6  # no move of the one that is alone to a cluster of its own
    for (x, cluster), (g, f) in zip(places, etas, strict=True):
        new = labels.copy()
        if x >= 0:
            new[x] = cluster
        else:
            new[new == cluster] = -1 - x
        code, total = Partition(new), joint.total
        assert np.log2(total) - f / total == pytest.approx(utility(joint, code), abs=1e-9)
        told = (g - f) / total + joint.entropy_s
        assert told == pytest.approx(leakage(joint, code), abs=1e-9)


@pytest.mark.parametrize("few", [0, FEW])
def test_light_clusters_are_left_out(few, monkeypatch):
    monkeypatch.setattr("privacyfunnel.solvers.pareto_set.FEW", few)
    joint = Joint.from_counts([[9, 1, 5, 2, 7], [1, 9, 5, 2, 3]])
    for code in pareto_set(joint, "funnel", [], least=12.0):
        assert min(np.bincount(code.labels, weights=joint.p_x * joint.total)) >= 12.0 - 1e-9


def test_a_frontier_of_all_points():
    joint = random_joint(np.random.default_rng(1), 4, 14)
    few = frontier(joint, "bottleneck", n_points=5, effort="fast")
    every = frontier(joint, "bottleneck", n_points="all", effort="fast")
    assert len(every) > len(few)
    for solution in few:
        allowed = [s.leakage for s in every if s.utility <= solution.utility + 1e-9]
        assert max(allowed) >= solution.leakage - 1e-9
    with pytest.raises(InvalidInput, match="'all'"):
        frontier(joint, n_points="all", method="greedy")
    with pytest.raises(InvalidInput, match="number or 'all'"):
        frontier(joint, n_points="many")


def test_known_codes_only_add():
    """What is found without them is found with them, or something better."""
    joint = random_joint(np.random.default_rng(2), 4, 16)
    known = [Partition(np.arange(16) % k) for k in (2, 5, 9)]
    alone, more = (points(joint, pareto_set(joint, "bottleneck", codes)) for codes in ([], known))
    for rate, relevance in (*alone, *points(joint, known)):
        assert more[more[:, 0] <= rate + 1e-9, 1].max() >= relevance - 1e-9


def test_the_letters_of_english():
    if not (DATA / "alpha27").exists():
        pytest.skip("the joint of letters is not there")
    joint = Joint.from_counts(np.loadtxt(DATA / "alpha27" / "joint_xy.csv", delimiter=",").T)
    theirs = pd.read_csv(DATA / "alpha27" / "pareto_points.csv").to_numpy()
    ours = points(joint, pareto_set(joint, "bottleneck", []))
    for rate, relevance in theirs:
        assert ours[ours[:, 0] <= rate + 1e-9, 1].max() >= relevance - 1e-6
