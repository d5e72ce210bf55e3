"""Leaks: what one who sees X learns about S. Each takes a joint p(s,x); for a release, p(s,x̂)."""

from __future__ import annotations

import math

import numpy as np

from privacyfunnel.information import log_lifts, share
from privacyfunnel.joint import Joint
from privacyfunnel.measures import Guessing, MaximalLeakage


def given_away(joint: Joint) -> float:
    """The share of S that X gives away, I(S;X)/H(S); 0 where S is certain from the start.

    >>> given_away(Joint.from_counts([[2, 0], [0, 2]]))
    1.0
    """
    return float(min(1.0, share(joint.information, joint.entropy_s)))


def entropy_after(joint: Joint) -> float:
    """H(S given X) = H(S) − I(S;X): bits of doubt about S that are left to one who sees X.

    >>> entropy_after(Joint.from_counts([[1, 1, 0], [1, 1, 0], [0, 0, 4]]))
    0.5
    """
    return max(0.0, joint.entropy_s - joint.information)


def blind_guess(joint: Joint) -> float:
    """max_s p(s): how often the best guess of S is right for one who sees nothing.

    >>> blind_guess(Joint.from_counts([[3, 0], [1, 4]]))
    0.625
    """
    return float(joint.p_s.max())


def best_guess(joint: Joint) -> float:
    """Σ_x max_s p(s,x): how often the best guess of S is right for one who sees X (Bayes).

    >>> best_guess(Joint.from_counts([[3, 0], [1, 4]]))
    0.875
    """
    return float(Guessing().clusters(joint.counts, joint.p_s).sum() / joint.total)


def surest_guess(joint: Joint) -> float:
    """max_x max_s p(s given x): the same for the record whose X tells most about its S.

    >>> surest_guess(Joint.from_counts([[3, 2], [1, 4]]))
    0.75
    """
    return float((joint.counts.max(axis=0).toarray() / joint.masses).max())


def maximal_leakage(joint: Joint) -> float:
    """log₂ Σ_x max_s p(x given s): see `privacyfunnel.measures.maximal_leakage`.

    >>> maximal_leakage(Joint.from_counts([[1, 0], [0, 3]]))
    1.0
    """
    return MaximalLeakage()(joint.p_sx)


def largest_lift(joint: Joint) -> float:
    """max_{s,x} log₂ p(s given x)/p(s): doublings by which seeing X makes some S likelier.

    >>> largest_lift(Joint.from_counts([[1, 1], [0, 6]]))
    2.0
    """
    return max(0.0, float(_log_lifts(joint).max()))


def largest_log_lift(joint: Joint) -> float:
    """max_{s,x} |log₂ p(s given x)/p(s)|: the most that X changes in the odds of any S, up or down.

    Infinite where some x rules some s out, because p(s given x) = 0 there.

    >>> largest_log_lift(Joint.from_counts([[1, 3], [1, 11]])), largest_log_lift(
    ...     Joint.from_counts([[1, 1], [0, 6]]))
    (1.0, inf)
    """
    if joint.counts.nnz < joint.n_s * joint.n_x:
        return math.inf
    return float(np.abs(_log_lifts(joint)).max())


def _log_lifts(joint: Joint) -> np.ndarray:
    cells = joint.p_sx.tocoo()
    return log_lifts(cells.data, cells.row, cells.col)
