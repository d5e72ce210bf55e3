"""Randomised response on X: the baseline that looks at X alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import joints
from privacyfunnel import Joint
from privacyfunnel.errors import InvalidInput
from privacyfunnel.objectives import leakage, utility
from privacyfunnel.solvers.soft.randomised_response import (
    randomised_response,
    randomised_response_curve,
)


@given(joints(), st.floats(1e-6, 1e6))
def test_it_is_differentially_private_and_a_channel(joint: Joint, epsilon: float):
    matrix = randomised_response(joint, epsilon).matrix.toarray()
    assert np.isfinite(matrix).all()
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0, atol=1e-12)
    if epsilon < 700.0:  # beyond it the smaller probability underflows
        ratios = np.log(matrix.max(axis=0)) - np.log(matrix.min(axis=0))
        assert (ratios <= epsilon * (1 + 1e-9) + 1e-9).all()


def test_little_noise_tells_all_and_much_tells_nothing():
    joint = Joint.from_counts([[2, 0, 1], [0, 2, 1]])
    curve = randomised_response_curve(joint, [1e-4, 0.5, 2.0, 8.0, 1000.0])
    assert (np.diff(curve, axis=0) > 0).all()
    np.testing.assert_allclose(curve[0], 0.0, atol=1e-6)
    np.testing.assert_allclose(curve[-1], [joint.entropy_x, joint.information], atol=1e-9)
    channel = randomised_response(joint, 2.0)
    np.testing.assert_allclose(curve[2], [utility(joint, channel), leakage(joint, channel)])


def test_one_symbol_and_no_epsilons():
    joint = Joint.from_counts([[3], [1]])
    assert randomised_response(joint, 1.0).matrix.toarray().tolist() == [[1.0]]
    assert randomised_response_curve(joint, []).shape == (0, 2)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, np.inf, np.nan, True, "1"])
def test_bad_epsilons_are_refused(epsilon):
    with pytest.raises(InvalidInput, match="epsilon must be a"):
        randomised_response(Joint.from_counts([[1, 1]]), epsilon)
