"""Posteriors p(x given x̂): what every soft release is a mixture of, found by a linear program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.random import Generator

from privacyfunnel.codes import Channel, Code
from privacyfunnel.information import Array, plogp
from privacyfunnel.joint import Joint
from privacyfunnel.solvers.effort import check_effort
from privacyfunnel.validation import check_at_least, check_memory, check_whole

LN2 = float(np.log(2.0))
RARE = 1e-9  # by how much a linear program may be off; symbols less likely than this it cannot see
LARGE = 400  # from this many symbols on, fewer linear programs for each posterior


def check_channel_settings(solver: Any, *counts: str) -> None:
    """The settings of a search for channels are as they should be; ``counts`` names numbers of times."""
    check_effort(solver.effort)
    if solver.n_symbols is not None:
        check_whole("n_symbols", solver.n_symbols, 2)
    for name in counts:
        check_whole(name, getattr(solver, name), 1)
    check_at_least("tol", solver.tol, 0.0)


def most_symbols(n_x: int, n_symbols: int | None, where_large: int) -> int:
    """The bound on the symbols of a soft code of ``n_x`` values; one that fits in memory."""
    most = n_symbols or (where_large if n_x > LARGE else n_x + 1)
    what = f"a soft code of {n_x:,} values and up to {most} symbols"
    check_memory(what, 40.0 * most * n_x, "bound it with n_symbols=")
    return most


@dataclass(frozen=True, eq=False)
class Posteriors:
    """Posteriors ``q[xhat, x]`` = p(x given x̂), from which releases are mixed.

    A release with symbol weights w exists iff Σ_x̂ w_x̂ q_x̂ = p_X, and then
    I(S;X̂) = H(S) − Σ w H(S given x̂) and I(X;X̂) = H(X) − Σ w H(X given x̂).

    >>> from privacyfunnel.codes import Partition
    >>> joint = Joint.from_counts([[1, 0, 1], [0, 1, 1]])
    >>> Posteriors.of(joint, [Partition([0, 0, 1])]).entropy_s
    array([1., 1.])
    """

    joint: Joint
    q: Array

    @classmethod
    def of(cls, joint: Joint, codes: Sequence[Code]) -> Posteriors:
        """The posteriors of all symbols of some codes, each once."""
        blocks = [split(joint, code.matrix.toarray().T)[1] for code in codes]
        return cls(joint, _distinct(np.vstack([np.zeros((0, joint.n_x)), *blocks])))

    def with_rows(self, rows: Array) -> Posteriors:
        """These posteriors and some more."""
        return Posteriors(self.joint, _distinct(np.vstack([self.q, rows])))

    @cached_property
    def entropy_s(self) -> Array:
        """H(S given x̂) in bits, shape ``[xhat]``."""
        return np.asarray(-plogp(self.q @ profile(self.joint).T).sum(axis=1))

    @cached_property
    def entropy_x(self) -> Array:
        """H(X given x̂) in bits, shape ``[xhat]``."""
        return np.asarray(-plogp(self.q).sum(axis=1))

    def mix(
        self,
        cost: Array,
        *,
        most: tuple[Array, float] | None = None,
        near: tuple[Array, float] | None = None,
    ) -> tuple[Array, Array, float] | None:
        """The weights w ≥ 0 of least ``cost`` with Σ w q = p_X, and the dual prices of the program.

        ``most`` = (row, bound) asks for row·w ≤ bound; its price is returned last. ``near`` =
        (prices, width) keeps the price of each x that close to what is given, which calms column
        generation; the weights then need not add up to p_X. None where there is no solution.
        """
        from scipy.optimize import linprog

        seen = self.joint.p_x > RARE
        p = self.joint.p_x[seen]
        columns = self.q[:, seen].T / p[:, None]  # divided by p(x): errors are relative ones
        if near is not None:
            centre, slack = near[0][seen] * p, near[1] * p
            columns = np.hstack([columns, np.eye(len(p)), -np.eye(len(p))])
            cost = np.concatenate([cost, slack + centre, slack - centre])
        found = linprog(
            cost,
            A_ub=None if most is None else most[0][None, :],
            b_ub=None if most is None else [most[1]],
            A_eq=columns,
            b_eq=np.ones(len(p)),
            method="highs-ds",
            options={"primal_feasibility_tolerance": RARE, "dual_feasibility_tolerance": RARE},
        )
        if found.status != 0:
            return None
        prices = np.zeros(self.joint.n_x)
        prices[seen] = found.eqlin.marginals / p
        shadow = 0.0 if most is None else -float(found.ineqlin.marginals[0])
        return np.maximum(found.x[: len(self.q)], 0.0), prices, shadow


def profile(joint: Joint) -> sp.csc_array:
    """p(s given x), shape ``[s, x]``, sparse; from the counts, so that a tiny p(x) does no harm."""
    counts = joint.counts
    data = counts.data / np.repeat(joint.masses, np.diff(counts.indptr))
    return sp.csc_array((data, counts.indices, counts.indptr), shape=counts.shape)


def split(joint: Joint, channel: Array) -> tuple[Array, Array]:
    """p(x̂) and p(x given x̂) of a channel ``[xhat, x]``, without symbols that never occur."""
    z = channel * joint.p_x
    masses = z.sum(axis=1)
    used = masses > 0.0
    return masses[used], z[used] / masses[used, None]


def release(joint: Joint, weights: Array, q: Array) -> Channel:
    """The channel of a mixture; an x that the mixture has left out is put into one more symbol."""
    used = weights > 0.0
    z = weights[used, None] * q[used]
    share = z.sum(axis=0)
    left_out = (joint.p_x <= RARE) | (share <= 0.0)
    matrix = np.vstack([np.where(left_out, 0.0, z / np.where(left_out, 1.0, share)), left_out])
    return Channel(matrix[matrix.any(axis=1)].T)


def _distinct(rows: Array) -> Array:
    _, first = np.unique(np.round(rows, 12), axis=0, return_index=True)
    return rows[np.sort(first)]


def perturbed(q: Array, n: int, rng: Generator) -> Array:
    """Starts for a search of posteriors: ``n`` crossed pairs, ``n`` shaken ones, ``n`` random ones."""
    n_x = q.shape[1]
    random = rng.dirichlet(np.full(n_x, 0.3), size=n) + 1e-12
    one, other = rng.integers(len(q), size=(2, n))
    crossed = (q[one] + q[other]) * np.exp(0.5 * rng.normal(size=(n, n_x))) + 1e-5 * random
    masked = np.where(rng.random((n, n_x)) < 0.2, 1e-4, 1.0)
    shaken = q[rng.integers(len(q), size=n)] * masked * rng.exponential(size=(n, n_x))
    starts = np.vstack([crossed, shaken + 1e-5 * random, random])
    return np.asarray(starts / starts.sum(axis=1, keepdims=True))
