"""Groups of symbols that say the same about S, which the bottleneck moves together."""

from __future__ import annotations

import numpy as np

from privacyfunnel.codes import Partition
from privacyfunnel.joint import Joint, csc_columns
from privacyfunnel.solvers.base import Solution


def equal_profiles(joint: Joint) -> Partition:
    """Symbols with the same p(s given x) together.

    >>> equal_profiles(Joint.from_counts([[1, 2, 0], [1, 2, 3]])).labels
    array([0, 0, 1])
    """
    from privacyfunnel._kernels.profiles import profile_keys

    keys = profile_keys(csc_columns(joint.counts))
    return Partition(np.unique(keys, axis=0, return_inverse=True)[1].ravel())


def merged_profiles(joint: Joint, problem: str) -> Partition | None:
    """For the bottleneck: the groups of equal p(s given x), if there are any.

    Merging them loses no relevance, and they then move together, which single moves cannot do.
    """
    groups = equal_profiles(joint) if problem == "bottleneck" else None
    return groups if groups is not None and groups.n_symbols < joint.n_x else None


def lift(solution: Solution, groups: Partition) -> Partition:
    """A code of the groups as a code of their members."""
    assert isinstance(solution.code, Partition)
    return Partition(solution.code.labels[groups.labels])
