"""Anonymity: what X is like as a table, by the measures of the anonymisation literature.

Records with the same x are one class. All figures are for the worst class.
"""

from __future__ import annotations

import numpy as np

from privacyfunnel.errors import InvalidInput
from privacyfunnel.joint import Joint

_BLOCK = 1_000_000  # cells that are held at once


def k_anonymity(joint: Joint) -> int:
    """The size of the smallest class: min_x n(x), records (Samarati & Sweeney 1998).

    >>> k_anonymity(Joint.from_counts([[3, 1], [1, 1]]))
    2
    """
    return int(_class_sizes(joint).min())


def unique_share(joint: Joint) -> float:
    """The share of records whose x no other record has.

    >>> unique_share(Joint.from_counts([[3, 0], [0, 1]]))
    0.25
    """
    return lone_records(joint) / float(joint.n_records or 1)


def lone_records(joint: Joint) -> int:
    """How many records have an x that no other record has.

    >>> lone_records(Joint.from_counts([[3, 0], [0, 1]]))
    1
    """
    return int(np.count_nonzero(_class_sizes(joint) == 1))


def l_diversity(joint: Joint) -> int:
    """Distinct l-diversity: the least number of different s in a class (Machanavajjhala et al. 2007).

    >>> l_diversity(Joint.from_counts([[3, 1], [1, 0]]))
    1
    """
    return int(np.diff(joint.counts.indptr).min())


def t_closeness(joint: Joint, *, ordered: bool) -> float:
    """How far S within a class is from S overall, at worst (Li, Li & Venkatasubramanian 2007).

    The distance of p(s given x) and p(s) is the earth mover's. Where S is ``ordered`` (its symbols
    in rising order), neighbours are 1/(|S| − 1) apart: Σ_i |Σ_{j≤i} r_j| / (|S| − 1) with
    r = p(s given x) − p(s). Where it is not, all values are 1 apart: ½ Σ_i |r_i|.

    >>> joint = Joint.from_counts([[2, 0], [1, 1], [0, 2]])
    >>> round(t_closeness(joint, ordered=True), 4), round(t_closeness(joint, ordered=False), 4)
    (0.3333, 0.3333)
    """
    if joint.n_s < 2:
        raise InvalidInput(
            "t-closeness needs a sensitive column with at least two values, got one."
        )
    step = max(1, _BLOCK // joint.n_s)
    worst = 0.0
    for start in range(0, joint.n_x, step):
        part = slice(start, start + step)
        apart = joint.counts[:, part].toarray() / joint.masses[part] - joint.p_s[:, None]
        if ordered:
            moved = np.abs(np.cumsum(apart, axis=0)).sum(axis=0) / (joint.n_s - 1)
        else:
            moved = np.abs(apart).sum(axis=0) / 2
        worst = max(worst, float(moved.max()))
    return worst


def _class_sizes(joint: Joint) -> np.ndarray:
    if joint.n_records is None:
        raise InvalidInput("classes are counted in records, but this joint holds weights.")
    return joint.masses
