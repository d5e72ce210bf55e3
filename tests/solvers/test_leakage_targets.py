import numpy as np
import pytest

from privacyfunnel import Joint
from privacyfunnel.solvers.best import BestSearch
from privacyfunnel.solvers.target import Target

SEARCH = BestSearch("fast")


def counted(n_x: int) -> Joint:
    """Records of two sensitive values that each symbol tells something about."""
    rng = np.random.default_rng(7)
    shares = rng.beta(2.0, 2.0, n_x)
    n = rng.integers(2, 20, n_x)
    women = rng.binomial(n, shares)
    return Joint.from_counts(np.array([women, n - women]))


def search(joint: Joint, target: Target, solver: BestSearch = SEARCH):
    return solver.solve_at(joint, target, rng=np.random.default_rng(0))


@pytest.mark.parametrize("share", [0.0, 1e-5, 1e-3, 0.02])
def test_a_small_bound_on_leakage_keeps_what_can_be_kept(share):
    joint = counted(60)
    bound = share * joint.entropy_s
    found = search(joint, Target("funnel", "leakage", bound))
    assert found.leakage <= bound + 1e-9
    for utility in np.linspace(0.1, 0.9, 9) * joint.entropy_x:
        other = search(joint, Target("funnel", "utility", utility))
        if other.leakage <= bound:
            assert found.utility >= other.utility - 0.02 * joint.entropy_x
    assert found.utility > 0.1 * joint.entropy_x  # or the loop may have compared nothing


def test_bounds_and_small_groups_together():
    joint = counted(60)
    found = search(joint, Target("funnel", "leakage", 1e-3), BestSearch("fast", min_count=40))
    assert found.leakage <= 1e-3 + 1e-9
    assert found.utility > 0.0
    assert (joint.p_x @ found.code.matrix * joint.total).min() >= 40 - 1e-9
