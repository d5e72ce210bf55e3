"""Perfect privacy: the most that can be released without telling anything about S."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.random import Generator
from numpy.typing import NDArray

from privacyfunnel.codes import Channel, Partition
from privacyfunnel.information import Array, plogp
from privacyfunnel.joint import Joint, csc_columns
from privacyfunnel.objectives import Funnel
from privacyfunnel.solvers.base import Solution, Status
from privacyfunnel.solvers.effort import SOFT, check_effort
from privacyfunnel.solvers.soft.posteriors import (
    LARGE,
    LN2,
    RARE,
    Posteriors,
    perturbed,
    profile,
    release,
)
from privacyfunnel.solvers.soft.vertices import MOST, Vertices, independent
from privacyfunnel.validation import check_kind, check_rng

STARTS = 20  # of each kind, in each round
NEW = 16  # posteriors added in each round
SAME = 1e-20  # squared length that is left of a column which others span
STEPS = 10  # pivots from one posterior
PIVOTS = 1e6  # cells of all tableaus that a round may look at
LISTED_NEW = 200  # the same where all vertices are listed
CHEAP = 1e-9  # bits by which a posterior must be cheaper than its price to be added then
SOFTNESS = 0.02  # the λ at which candidates are searched before they are made exactly private
HIGHEST_PRICE = 1000.0  # bits; of a symbol that the posteriors found so far cannot cover
BOXES = (1.0, 4.0, 16.0)  # bits that dual prices may lie off their centre; the first that can be


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
    check_kind("joint", joint, Joint, "Joint.from_counts(counts)")
    check_effort(effort)
    rng = check_rng(seed)
    if joint.information < 1e-14:
        channel = Channel(np.eye(joint.n_x))
    elif only_trivial_is_private(joint):
        channel = Channel(np.ones((joint.n_x, 1)))
    else:
        groups = _without_rare(joint)
        inner = joint if groups.n_symbols == joint.n_x else groups.push(joint)
        channel = Channel(groups.matrix @ _private(inner, SOFT[effort].private_rounds, rng).matrix)
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


def _private(joint: Joint, rounds: int, rng: Generator) -> Channel:
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


def _generated(polytope: _Polytope, pool: Posteriors, rounds: int, rng: Generator) -> Posteriors:
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


class _Polytope:
    """The posteriors that tell nothing about S: {q ≥ 0, p(s given ·) q = p_S}."""

    def __init__(self, joint: Joint) -> None:
        self.joint, self.profile = joint, profile(joint)
        self.parts = csc_columns(self.profile)
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
            best = np.where(better[:, None], vertices, best)
            lowest = np.where(better, values, lowest)
        return np.asarray(best[np.isfinite(lowest)])

    @cached_property
    def independent(self) -> tuple[Array, Array]:
        """The equations of the polytope without those that follow from others."""
        return independent(self.profile.toarray(), self.joint.p_s)

    def pivoted(self, q: Array, prices: Array) -> Array:
        """A vertex of lower H(q) − prices·q than the vertex ``q``, neighbour by neighbour.

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
