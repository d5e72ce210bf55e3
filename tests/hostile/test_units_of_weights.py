"""Weights in any unit, whole or not: a readable release is found, and it is the same one."""

import numpy as np
import pytest

import privacyfunnel as pf

TOTALS = (1e-10, 2e7, 1e15)


@pytest.mark.parametrize("recoding", ["global", "local"])
def test_weights_that_are_not_whole_are_recoded_in_any_unit(recoding):
    """Once rounding kept emptied cells from being given back, until memory was overrun."""
    shares = np.random.default_rng(0).dirichlet(np.ones(36)).reshape(3, 12)
    pairs = [(a, b) for a in range(4) for b in "xyz"]
    found = []
    for total in TOTALS:
        joint = pf.Joint.from_counts(shares * total, labels_x=pairs, columns=["a", "b"])
        few = {"moves": 500_000} if recoding == "local" else {}
        frontier = pf.frontier(joint, recoding=recoding, n_points=2, **few)
        at = [frontier.at(kept=0.5), frontier.at(leakage=0.01)]
        assert at[0].kept >= 0.5 - 1e-9
        assert at[1].leakage <= 0.01 * joint.entropy_s + 1e-9
        found.append([(one.kept, one.leakage) for one in at])
    np.testing.assert_allclose(found, [found[0]] * len(TOTALS), atol=1e-9)
