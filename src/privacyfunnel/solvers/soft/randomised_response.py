"""k-ary randomised response: what local differential privacy gives on the same axes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from privacyfunnel.codes import Channel
from privacyfunnel.errors import InvalidInput
from privacyfunnel.information import Array
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import leakage, utility

EPSILONS = tuple(0.25 * k for k in range(1, 81))  # from nearly nothing told to nearly everything


def randomised_response(joint: Joint, epsilon: float) -> Channel:
    """X as it is with probability e^ε / (e^ε + n − 1), else any other symbol, all alike.

    The channel that keeps most among the ε-locally differentially private ones where ε is large
    (Warner 1965; Kairouz, Oh & Viswanath 2014). It looks at X alone and knows nothing of S.

    >>> joint = Joint.from_counts([[1, 0, 1], [0, 1, 1]])
    >>> randomised_response(joint, np.log(2)).matrix.toarray()
    array([[0.5 , 0.25, 0.25],
           [0.25, 0.5 , 0.25],
           [0.25, 0.25, 0.5 ]])
    """
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float, np.number)):
        raise InvalidInput(f"epsilon must be a number above 0, got {epsilon!r}.")
    if not (math.isfinite(epsilon) and epsilon > 0.0):
        raise InvalidInput(
            f"epsilon must be a finite number above 0, got {epsilon}; the larger, the more is told."
        )
    n = joint.n_x
    other = math.exp(-epsilon)  # relative to the truth's weight of 1: e^ε itself may overflow
    matrix = np.full((n, n), other)
    np.fill_diagonal(matrix, 1.0)
    return Channel(matrix / (1.0 + (n - 1) * other))


def randomised_response_curve(joint: Joint, epsilons: Sequence[float] = EPSILONS) -> Array:
    """(I(X;X̂), I(S;X̂)) in bits of randomised response, a row for each ε.

    >>> joint = Joint.from_counts([[1, 0], [0, 1]])
    >>> randomised_response_curve(joint, [0.1, 40.0]).round(3)
    array([[0.002, 0.002],
           [1.   , 1.   ]])
    """
    channels = [randomised_response(joint, epsilon) for epsilon in epsilons]
    points = [(utility(joint, channel), leakage(joint, channel)) for channel in channels]
    return np.array(points).reshape(-1, 2)
