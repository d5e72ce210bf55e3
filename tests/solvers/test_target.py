"""Which of some codes is taken for a target, and by how much it may be missed."""

from __future__ import annotations

import numpy as np
import pytest

from privacyfunnel.joint import Joint
from privacyfunnel.measures import make_measure
from privacyfunnel.solvers.base import Status
from privacyfunnel.solvers.best import BestSearch
from privacyfunnel.solvers.target import MET, Price, Target, chosen, rank


@pytest.mark.parametrize(
    ("price", "first"),
    [
        (Price.keeping(0.5), (0.1, 0.7)),  # of two that tell as little the one that keeps more
        (Price.keeping(0.7 + MET / 2), (0.1, 0.7)),
        (Price.keeping(0.7 + 2 * MET), (0.2, 0.9)),
        (Price.telling(0.1), (0.1, 0.7)),
        (Price.telling(0.3), (0.2, 0.9)),  # of two that keep as much the one that tells less
        (Price.keeping(0.95), None),
        (Price((1.0, -1.0)), (0.2, 0.9)),
    ],
)
def test_the_code_that_is_taken(price, first):
    codes = [(0.1, 0.5), (0.1, 0.7), (0.3, 0.9), (0.2, 0.9)]
    assert chosen(codes, price, lambda code: code) == first
    if first is not None:
        assert rank(price, first) == min(rank(price, code) for code in codes)


@pytest.mark.parametrize("n_x", [6, 11, 25])  # all partitions are looked at, or some
def test_where_nothing_is_told_more_is_kept_than_asked_for(n_x):
    counts = np.random.default_rng(4).integers(1, 9, (3, n_x)) + np.array([[20], [0], [0]])
    joint = Joint.from_counts(counts)  # one value of S is the best guess whatever is released
    target = Target("funnel", "utility", 0.3 * joint.entropy_x, measure=make_measure("guessing"))
    found = BestSearch("fast").solve_at(joint, target, rng=np.random.default_rng(0))
    assert found.leakage == pytest.approx(0.0, abs=1e-12)
    assert found.utility == pytest.approx(joint.entropy_x)
    assert (found.status is Status.OPTIMAL) == (n_x <= 12)
