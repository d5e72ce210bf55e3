"""Limit release: the channel of least utility that meets the funnel's limit."""

from __future__ import annotations

import numpy as np

from privacyfunnel.codes import Channel
from privacyfunnel.information import Array
from privacyfunnel.joint import Joint
from privacyfunnel.solvers.soft.posteriors import RARE

ROUNDS = 60  # of column generation, at most
NOTHING = 1e-9  # the probability of a symbol that is not worth keeping


def limit_release(joint: Joint) -> Channel:
    """The release of least utility that meets the funnel's limit.

    The limit is met iff X is a function of (S, X̂): no two x that share an s may share an x̂, so each
    released symbol is an independent set of the graph that joins such x, and the least I(X;X̂) is
    that graph's entropy (Körner 1973): min −Σ p(x) log a(x) over its vertex packing polytope.
    Column generation: the heaviest independent set at weights p/a is added until none weighs more
    than 1. All utilities from there on meet the limit by time sharing with X̂ = X.

    >>> from privacyfunnel.objectives import leakage, utility
    >>> joint = Joint.from_counts([[1, 0, 1], [0, 1, 1]])
    >>> round(utility(joint, limit_release(joint)), 6)  # the first two x go together
    1.0
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    p = np.where(joint.p_x > 10 * RARE, joint.p_x, 0.0)
    one_of_each = LinearConstraint((joint.counts > 0).astype(float), -np.inf, 1.0)
    # A fixed number of nodes, not of seconds: the same result on every machine.
    options = {"mip_rel_gap": 1e-4, "node_limit": 500}
    sets, t = np.eye(joint.n_x), np.full(joint.n_x, 1.0 / joint.n_x)
    for _ in range(ROUNDS):
        t = _packing_weights(p, sets, t, 100)
        found = milp(
            -p / np.maximum(t @ sets, 1e-300),
            constraints=one_of_each,
            integrality=np.ones(joint.n_x),
            bounds=Bounds(0.0, 1.0),
            options=options,
        )
        if found.x is None or -found.fun < 1.0 + 1e-4:
            break
        kept = t > NOTHING
        sets, t = np.vstack([sets[kept], np.rint(found.x)]), np.append(t[kept] * 0.98, 0.02)
    t = _packing_weights(p, sets, t, 1000)
    z = t[t > NOTHING, None] * sets[t > NOTHING]
    alone = np.flatnonzero(~z.any(axis=0))  # too rare to count: each a symbol of its own
    z = np.vstack([z, np.eye(joint.n_x)[alone]])
    return Channel((z / z.sum(axis=0)).T)


def _packing_weights(p: Array, sets: Array, t: Array, steps: int) -> Array:
    """Weights of the sets that maximise Σ p log Σ_i t_i sets_i, by the EM step."""
    for _ in range(steps):
        t = t * (sets @ (p / np.maximum(t @ sets, 1e-300)))
    return t
