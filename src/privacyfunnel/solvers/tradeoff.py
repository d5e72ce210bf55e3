"""Trade-off: points of utility and leakage; which are undominated, their hull and its slope."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.information import Array
from privacyfunnel.objectives import PROBLEMS

SAME = 1e-12  # bits of leakage that make no difference
APART = 1e-9  # bits of utility between two corners of a hull


def undominated(points: Array, problem: str) -> NDArray[np.intp]:
    """Positions of the points that no other beats, by rising utility; of equal ones the first.

    ``points[:, 0]`` is I(X;X̂), ``points[:, 1]`` is I(S;X̂). Funnel: more of the one and less of the
    other is better; bottleneck: the other way round.

    >>> undominated(np.array([[0.0, 0.0], [1.0, 0.9], [2.0, 0.5]]), "funnel")
    array([0, 2])
    """
    sign = PROBLEMS[problem].leakage_weight
    utility, leakage = sign * points[:, 0], sign * points[:, 1]
    order = np.lexsort((leakage, -utility))
    # From the best utility down, a point must leak less than all before it.
    before = np.concatenate([[np.inf], np.minimum.accumulate(leakage[order])[:-1]])
    kept = order[leakage[order] < before - SAME]
    return kept[np.argsort(points[kept, 0], kind="stable")]


def hull(points: Array, problem: str) -> NDArray[np.intp]:
    """Positions of the convex hull's corners on the side that matters, by rising utility.

    Below for the funnel, above for the bottleneck.

    >>> hull(np.array([[0.0, 0.0], [1.0, 0.9], [2.0, 1.0]]), "funnel")
    array([0, 2])
    """
    sign = PROBLEMS[problem].leakage_weight
    corners: list[int] = []
    for new in np.lexsort((sign * points[:, 1], points[:, 0])):
        if corners and points[new, 0] <= points[corners[-1], 0] + APART:
            continue
        while len(corners) >= 2:
            (x0, y0), (x1, y1), (x2, y2) = points[[corners[-2], corners[-1], new]]
            if sign * ((x1 - x0) * (y2 - y0) - (y1 - y0) * (x2 - x0)) > 0:
                break
            corners.pop()
        corners.append(int(new))
    return np.array(corners, dtype=np.intp)


def chord_slope(
    left: Sequence[float] | Array, right: Sequence[float] | Array, steepest: float = 1.0
) -> float:
    """The λ at which two points have the same value; of Shannon's information none is above 1."""
    run, rise = right[0] - left[0], right[1] - left[1]
    return float(np.clip(rise / run, 0.0, steepest)) if run > 0 else 1.0


def slope_at(
    points: Array, problem: str, bits: float, quantity: str = "utility", steepest: float = 1.0
) -> float:
    """Bits of I(S;X̂) that go with one more bit of I(X;X̂) on the hull: the λ of that place.

    >>> slope_at(np.array([[0.0, 0.0], [2.0, 1.0]]), "funnel", 0.7)
    0.5
    """
    corners = points[hull(points, problem)]
    if len(corners) < 2:
        return 1.0
    axis = 0 if quantity == "utility" else 1
    k = int(np.clip(np.searchsorted(corners[:, axis], bits), 1, len(corners) - 1))
    return chord_slope(corners[k - 1], corners[k], steepest)
