import importlib.resources

import numpy as np
import pandas as pd
import pytest

import reference
from conftest import random_joint
from privacyfunnel import Bottleneck, Funnel, Joint, solve
from privacyfunnel.errors import InvalidInput
from privacyfunnel.solvers.merge_path import merge_path


@pytest.fixture(scope="module")
def figure3() -> pd.DataFrame:
    source = importlib.resources.files("privacyfunnel.reproduce") / "paper" / "fig3_pairwise.csv"
    with source.open() as file:
        return pd.read_csv(file)


def test_figure_3_of_the_funnel_is_reproduced(settings_of_paper, figure3):
    path = merge_path(settings_of_paper[1], (1, 0), keep=(0, 1), threshold=2.91)
    published = figure3[figure3.problem == "pf"].information_bits.to_numpy()
    assert len(published) == len(path.merges) + 1 == 108
    assert np.abs(path.told - published).max() < 1e-9


def test_figure_3_of_the_bottleneck_is_reproduced_up_to_ties(settings_of_paper, figure3):
    path = merge_path(settings_of_paper[1], (0, 1), keep=(1, 0), threshold=1.71)
    published = figure3[figure3.problem == "ib"].information_bits.to_numpy()
    assert np.abs(path.kept[:107] - published[:107]).max() < 1e-9


@pytest.mark.parametrize("weights", [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (1.0, -0.7), (-1.0, 0.4)])
@pytest.mark.parametrize("seed", range(4))
def test_the_heap_merges_like_brute_force(weights, seed):
    rng = np.random.default_rng(seed)
    # Weights without ties, since brute force recomputes everything and so rounds otherwise.
    joint = Joint.from_counts(rng.random((3, 9)) * (rng.random((3, 9)) < 0.8) + 1e-3)
    path = merge_path(joint, weights)
    assert [tuple(m) for m in path.merges.tolist()] == reference.merge_path(joint, weights)


@pytest.mark.parametrize("seed", range(4))
def test_the_heap_keeps_a_threshold_like_brute_force(seed):
    joint = Joint.from_counts(np.random.default_rng(seed).random((3, 9)))
    threshold = 0.6 * joint.entropy_x
    path = merge_path(joint, (1, 0), keep=(0, 1), threshold=threshold)
    brute = reference.merge_path(joint, (1, 0), keep=(0, 1), threshold=threshold)
    assert [tuple(m) for m in path.merges.tolist()] == brute
    assert path.kept[-1] >= threshold - 1e-12


def test_a_cut_is_measured_like_the_path_says():
    joint = random_joint(np.random.default_rng(3), 4, 15)
    path = merge_path(joint, (1, -0.5))
    leakage, utility = path.told, path.kept
    for k in range(len(path.merges) + 1):
        code = path.cut(k)
        assert code.n_symbols == joint.n_x - k
        assert leakage[k] == pytest.approx(reference.leakage(joint, code), abs=1e-9)
        assert utility[k] == pytest.approx(reference.utility(joint, code), abs=1e-9)


def test_agglomerative_bottleneck_stops_at_n_symbols():
    joint = random_joint(np.random.default_rng(3), 4, 15)
    few = solve(joint, Bottleneck(0.2), "agglomerative", n_symbols=5)
    assert few.n_symbols == 5
    path = merge_path(joint, (-1, 0))
    assert few.leakage == pytest.approx(path.told[10])


def test_thresholds_that_cannot_be_kept_are_refused():
    joint = Joint.from_counts([[1, 2], [2, 1]])
    with pytest.raises(InvalidInput, match="needs theta"):
        solve(joint, Funnel(0.5), "pairwise")
    with pytest.raises(InvalidInput, match=r"at most H\(X\) = 1\.000000 bits, got 3"):
        solve(joint, Funnel(0.5), "pairwise", theta=3)
    with pytest.raises(InvalidInput, match=r"at most I\(S;X\)"):
        solve(joint, Bottleneck(0.5), "pairwise", theta=1)
    with pytest.raises(InvalidInput, match="theta must be at least 0"):
        solve(joint, Funnel(0.5), "pairwise", theta=-1)
