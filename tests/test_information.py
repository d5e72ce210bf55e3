import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

import reference
from conftest import joints
from privacyfunnel import Joint
from privacyfunnel.information import entropy, kl, mutual_information, plogp


def test_plogp_is_zero_at_zero_and_convex():
    t = np.linspace(0, 3, 50)
    values = plogp(t)
    assert values[0] == 0
    assert (np.diff(values, 2) > 0).all()


@given(joints())
def test_mutual_information_equals_the_definition(joint: Joint):
    dense = joint.p_sx.toarray()
    expected = reference.mutual_information(dense)
    assert mutual_information(dense) == pytest.approx(expected, abs=1e-12)
    assert mutual_information(sp.csr_array(dense)) == pytest.approx(expected, abs=1e-12)


def test_tiny_probabilities_do_not_underflow():
    p = np.array([[1e-300, 0.0], [0.0, 1.0]])
    assert mutual_information(p) == pytest.approx(1e-300 * 300 * np.log2(10), rel=1e-6)


def test_entropy_of_certainty_is_plain_zero():
    assert str(entropy([1.0])) == "0.0"
    assert entropy([1.0 + 1e-16]) == 0.0


def test_mutual_information_is_a_divergence():
    joint = Joint.from_counts([[3, 1, 0], [1, 2, 2]])
    independent = np.outer(joint.p_s, joint.p_x)
    assert kl(joint.p_sx.toarray().ravel(), independent.ravel()) == pytest.approx(joint.information)
