"""Perfect privacy: the most that can be released without telling anything about S.

`Posteriors` is the ground that all soft solvers stand on: a release is a mixture of posteriors
p(x given x̂), and the best mixture of given posteriors is a linear program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privacyfunnel.codes import Channel, Code, Partition
from privacyfunnel.information import Array, plogp
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import Funnel
from privacyfunnel.solvers.base import Solution, Status
from privacyfunnel.solvers.soft.vertices import MOST, Vertices, rank
from privacyfunnel.validation import check_choice, check_rng

LN2 = float(np.log(2.0))
RARE = 1e-9  # symbols less likely than this are below what a linear program can see
ROUNDS = {"fast": 10, "normal": 30, "thorough": 100}  # of column generation
STARTS = 20  # of each kind, in each round
NEW = 16  # posteriors added in each round
SAME = 1e-20  # squared length that is left of a column which others span
STEPS = 10  # pivots from one posterior
PIVOTS = 1e6  # cells of all tableaus that a round may look at
LISTED_NEW = 200  # the same where all vertices are listed
CHEAP = 1e-9  # bits by which a posterior must be cheaper than its price to be added then
SOFTNESS = 0.02  # the λ at which candidates are searched before they are made exactly private
HIGHEST_PRICE = 1000.0  # bits; of a symbol that the posteriors found so far cannot cover
BOXES = (1.0, 4.0, 16.0)  # bits that the dual prices may lie off their centre; the first that can be
LARGE = 400  # from this many symbols on, fewer linear programs for each posterior


@dataclass(frozen=True, eq=False)
class Posteriors:
    """Posteriors ``q[xhat, x]`` = p(x given x̂), from which releases are mixed.

    A release with symbol weights w exists iff Σ_x̂ w_x̂ q_x̂ = p_X, and then
    I(S;X̂) = H(S) − Σ w H(S given x̂) and I(X;X̂) = H(X) − Σ w H(X given x̂).

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
            options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
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
    columns = np.asarray(counts.sum(axis=0)).ravel()
    data = counts.data / np.repeat(columns, np.diff(counts.indptr))
    return sp.csc_array((data, counts.indices, counts.indptr), shape=counts.shape)


def parts(joint: Joint) -> tuple[Any, ...]:
    """The profile as the compiled loops take it."""
    matrix = profile(joint)
    # Copies of one type: compiled loops are compiled again for read-only or narrower arrays.
    indptr, indices = (np.array(part, dtype=np.int64) for part in (matrix.indptr, matrix.indices))
    return indptr, indices, matrix.data, joint.n_s


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


def perfect_privacy(joint: Joint, *, effort: str = "normal", seed: int = 0) -> Solution:
    """The most I(X;X̂) with I(S;X̂) = 0, by column generation.

    Every posterior of such a release lies in the polytope {q ≥ 0, Σ_x p(s given x) q(x) = p(s)}, and
    Σ w H(q) is least for a mixture of its vertices: a linear program over the vertices found so far
    gives each x a price, and vertices that are cheap at these prices are added. Where
    `only_trivial_is_private`, nothing but X̂ = constant qualifies and that is returned.

    >>> joint = Joint.from_counts([[1, 0, 1, 0], [0, 1, 0, 1]])
    >>> solution = perfect_privacy(joint)
    >>> round(solution.utility, 9), solution.leakage < 1e-12
    (1.0, True)
    """
    check_choice("effort", effort, list(ROUNDS))
    rng = check_rng(seed)
    if joint.information < 1e-14:
        channel = Channel(np.eye(joint.n_x))
    elif only_trivial_is_private(joint):
        channel = Channel(np.ones((joint.n_x, 1)))
    else:
        groups = _without_rare(joint)
        inner = joint if groups.n_symbols == joint.n_x else groups.push(joint)
        channel = Channel(groups.matrix @ _private(inner, ROUNDS[effort], rng).matrix)
    return Solution.measured(joint, Funnel(0.0), channel, Status.CONVERGED)


def only_trivial_is_private(joint: Joint) -> bool:
    """Whether a release that tells nothing about S tells nothing at all.

    So it is iff the columns p(s given x) are linearly independent: S ⊥ X̂ means that each posterior
    differs from p_X by a vector that p(s given ·) maps to zero.

    >>> only_trivial_is_private(Joint.from_counts([[3, 1], [1, 3]]))
    True
    """
    return joint.n_x <= joint.n_s and bool(
        np.linalg.matrix_rank(profile(joint).toarray()) == joint.n_x
    )


def _without_rare(joint: Joint) -> Partition:
    """Symbols too rare for a linear program merged into the most frequent one."""
    labels = np.arange(joint.n_x)
    labels[joint.p_x <= 10 * RARE] = int(np.argmax(joint.p_x))
    return Partition(labels)


def _private(joint: Joint, rounds: int, rng: np.random.Generator) -> Channel:
    """A perfectly private channel: from all vertices where they can be listed, else from those found."""
    polytope = _Polytope(joint)
    pool = Posteriors(joint, polytope.peel())
    if polytope.listed is None:
        pool = _generated(polytope, pool, rounds, rng)
    else:
        pool = _cheapest(polytope.listed, pool)
    mixed = _mixed(pool)
    if mixed is None:
        return Channel(np.ones((joint.n_x, 1)))
    weights = mixed[0] * (mixed[0] > 1e-9)
    # Any part of p_X that is left when private posteriors are taken out is itself private.
    over = float(np.max(weights @ pool.q / joint.p_x))
    weights = weights / max(1.0, over)
    rest = np.maximum(joint.p_x - weights @ pool.q, 0.0)
    if rest.sum() < 1e-8:
        return release(joint, weights, pool.q)
    return release(joint, np.append(weights, rest.sum()), np.vstack([pool.q, rest / rest.sum()]))


def _mixed(pool: Posteriors, calmed: Array | None = None) -> tuple[Array, Array, float] | None:
    """The best mixture and its prices; with ``calmed`` weights the prices lie near their code lengths.

    Rounding can leave p_X a hair outside of all mixtures; bounded prices then let the program say so
    with a small remainder instead of giving up.
    """
    mixed = None
    if calmed is not None:
        lengths = _code_lengths(pool, calmed)
        for width in BOXES:
            mixed = mixed or pool.mix(pool.entropy_x, near=(lengths, width))
    else:
        mixed = pool.mix(pool.entropy_x)
    return mixed or pool.mix(pool.entropy_x, near=(np.zeros(pool.joint.n_x), HIGHEST_PRICE))


def _cheapest(vertices: Vertices, pool: Posteriors) -> Posteriors:
    """The vertices that the best mixture of all needs: until none is cheap at the mixture's prices.

    By duality no vertex that is left out can then better it.
    """
    while (mixed := _mixed(pool)) is not None:
        values = vertices.prices(mixed[1])
        order = np.argsort(values, kind="stable")[:LISTED_NEW]
        larger = pool.with_rows(vertices.rows(order[values[order] < -CHEAP]))
        if len(larger.q) == len(pool.q):
            break
        pool = larger
    return pool


def _generated(
    polytope: _Polytope, pool: Posteriors, rounds: int, rng: np.random.Generator
) -> Posteriors:
    """The pool after ``rounds`` of column generation, or until three in a row find nothing.

    Prices near the mixture's code lengths calm the search; where they offer nothing, the program's own
    count.
    """
    mixed, idle = _mixed(pool), 0
    for _ in range(rounds):
        if mixed is None or idle == 3:
            break
        weights, prices, _ = mixed = _mixed(pool, None if idle else mixed[0]) or mixed
        used = pool.q[weights > 1e-9]
        new = polytope.search(perturbed(used, STARTS, rng), used, prices)
        idle = 0 if len(new) else idle + 1
        pool = pool.with_rows(new)
        mixed = np.append(weights, np.zeros(len(pool.q) - len(weights))), prices, 0.0
    return pool


def _code_lengths(pool: Posteriors, weights: Array) -> Array:
    """Σ_x̂ p(x̂ given x) log₂ 1/p(x given x̂): what x costs in the present mixture."""
    z = weights[:, None] * pool.q
    lengths = -np.log2(np.where(pool.q > 0.0, pool.q, 1.0))
    return np.asarray((z * lengths).sum(axis=0) / np.maximum(z.sum(axis=0), 1e-300))


def perturbed(q: Array, n: int, rng: np.random.Generator) -> Array:
    """Starts for a search of posteriors: ``n`` crossed pairs, ``n`` shaken ones, ``n`` random ones."""
    n_x = q.shape[1]
    random = rng.dirichlet(np.full(n_x, 0.3), size=n) + 1e-12
    one, other = rng.integers(len(q), size=(2, n))
    crossed = (q[one] + q[other]) * np.exp(0.5 * rng.normal(size=(n, n_x))) + 1e-5 * random
    masked = np.where(rng.random((n, n_x)) < 0.2, 1e-4, 1.0)
    shaken = q[rng.integers(len(q), size=n)] * masked * rng.exponential(size=(n, n_x))
    starts = np.vstack([crossed, shaken + 1e-5 * random, random])
    return np.asarray(starts / starts.sum(axis=1, keepdims=True))


class _Polytope:
    """The posteriors that tell nothing about S: {q ≥ 0, p(s given ·) q = p_S}."""

    def __init__(self, joint: Joint) -> None:
        self.joint, self.profile, self.parts = joint, profile(joint), parts(joint)
        self.linearisations = 3 if joint.n_x <= LARGE else 1

    @cached_property
    def listed(self) -> Vertices | None:
        """All vertices, where they are few enough to be listed."""
        dense = self.profile.toarray()
        few = Vertices.bases(dense) <= MOST
        return Vertices(dense, self.joint.p_s) if few else None

    def peel(self) -> Array:
        """Posteriors whose mixture is p_X: take out one of small entropy after the other."""
        rest, rows = self.joint.p_x.copy(), list[Array]()
        while rest.sum() > 1e-11 and len(rows) < self.joint.n_x:
            alive = np.flatnonzero(rest > 1e-14)
            # Ask for much of what there is much of, so that few posteriors remain to be found.
            prices = np.log2(np.maximum(rest, 1e-12))
            found = self.concentrate(rest[None, :] / rest.sum(), prices, alive)
            if not len(found):
                break
            used = found[0] > 0.0
            rest = np.maximum(rest - float(np.min(rest[used] / found[0, used])) * found[0], 0.0)
            rows.append(found[0])
        if rest.sum() > 1e-11:
            rows.append(rest / rest.sum())
        return np.array(rows)

    def search(self, starts: Array, used: Array, prices: Array) -> Array:
        """Vertices of low H(q) − prices·q: from smooth searches, made exactly private, and from
        those in use, all by pivots to better neighbours.
        """
        from privacyfunnel._kernels.soft import price

        rewards = (
            self.profile.T @ np.log(np.maximum(self.joint.p_s, 1e-300)) + SOFTNESS * LN2 * prices
        )
        order = np.argsort(price(self.parts, starts, rewards, SOFTNESS, 60, 1e-6))[:NEW]
        rows = self.concentrate(starts[order], prices, np.arange(self.joint.n_x))
        # As many pivots as a round is worth, whatever the size; a small polytope is searched to the end.
        most = int(PIVOTS / (STEPS * self.independent[0].size))
        chosen = [self.pivoted(row, prices) for row in [*rows, *used][:most]]
        rows = np.vstack([*chosen, rows[len(chosen) :]])
        return np.asarray(rows[-plogp(rows).sum(axis=1) - rows @ prices < -1e-7])

    def concentrate(self, q: Array, prices: Array, alive: NDArray[np.intp]) -> Array:
        """Vertices of low H(q) − prices·q from each start, by repeated linearisation."""
        best, lowest = q, np.full(len(q), np.inf)
        for _ in range(self.linearisations):
            vertices = self.vertices(-np.log2(np.maximum(best, 1e-6)) - prices, alive)
            values = -plogp(vertices).sum(axis=1) - vertices @ prices
            better = values < lowest - 1e-9
            if not better.any():
                break
            best, lowest = (
                np.where(better[:, None], vertices, best),
                np.where(better, values, lowest),
            )
        return np.asarray(best[np.isfinite(lowest)])

    @cached_property
    def independent(self) -> tuple[Array, Array]:
        """The equations of the polytope without those that follow from others."""
        dense = self.profile.toarray()
        left, singular, _ = np.linalg.svd(dense, full_matrices=False)
        left = left[:, : rank(singular, dense.shape)]
        return left.T @ dense, left.T @ self.joint.p_s

    def pivoted(self, q: Array, prices: Array) -> Array:
        """A vertex of lower H(q) − prices·q than the vertex ``q``: to the best neighbour, again and again.

        A neighbour takes one more x into the basis and drops the first whose share falls to nothing.
        """
        matrix, goal = self.independent
        basis, lowest = _basis(matrix, q > 0.0), np.inf
        for _ in range(STEPS + 1):
            solved = np.linalg.solve(matrix[:, basis], np.column_stack([goal, matrix]))
            values, directions = np.maximum(solved[:, 0], 0.0), solved[:, 1:]
            if not np.isfinite(lowest):
                lowest = float(-plogp(values).sum() - values @ prices[basis])
            falling = directions > 1e-9
            ratios = np.where(falling, values[:, None] / np.where(falling, directions, 1.0), np.inf)
            leaving, shares = ratios.argmin(axis=0), ratios.min(axis=0)
            moved = np.maximum(values[:, None] - shares * directions, 0.0)
            costs = -plogp(moved).sum(axis=0) - prices[basis] @ moved
            costs = costs - plogp(shares) - prices * shares
            costs[basis] = np.inf
            entering = int(np.argmin(costs))
            if not costs[entering] < lowest - 1e-9:
                break
            basis[leaving[entering]], lowest = entering, float(costs[entering])
        exact = self.exact(values, basis)
        return q if np.isnan(exact).any() else exact

    def vertices(self, costs: Array, alive: NDArray[np.intp]) -> Array:
        """For each row of ``costs`` the vertex of least cost with support in ``alive``; NaN for none.

        One program for all rows: starting a solver takes longer than running it.
        """
        from scipy.optimize import linprog

        k, q = len(costs), np.full(costs.shape, np.nan)
        block = sp.block_diag([self.profile[:, alive]] * k, format="csc")
        b_eq = np.tile(self.joint.p_s, k)
        found = linprog(costs[:, alive].ravel(), A_eq=block, b_eq=b_eq, method="highs-ds")
        if found.status == 0:
            for row, values in enumerate(found.x.reshape(k, -1)):
                q[row] = self.exact(values, alive)
        return q

    def exact(self, values: Array, alive: NDArray[np.intp]) -> Array:
        """A vertex without the tolerance of the linear program: solved again on its support."""
        used, p_s = alive[values > 1e-10], self.joint.p_s
        q, columns = np.zeros(self.joint.n_x), self.profile[:, used].toarray()
        start = values[values > 1e-10]
        q[used] = start + np.linalg.lstsq(columns, p_s - columns @ start)[0]
        off = np.abs(self.profile @ q - p_s).max()
        return q / q.sum() if off < 1e-13 and (q >= 0.0).all() else np.full(len(q), np.nan)


def _basis(matrix: Array, support: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Columns that span the rest: those of ``support`` first, then the most independent of them."""
    rest, basis = matrix.copy(), list[int]()
    for _ in range(len(matrix)):
        lengths = (rest * rest).sum(axis=0)
        preferred = np.where(support & (lengths > SAME), np.inf, lengths)
        column = int(np.argmax(preferred))
        basis.append(column)
        unit = rest[:, column] / np.sqrt(lengths[column])
        rest -= unit[:, None] * (unit @ rest)
        rest[:, column] = 0.0
    return np.array(basis, dtype=np.intp)
