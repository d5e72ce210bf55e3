"""Soft information bottleneck: the self-consistent equations, cooled from phase to phase."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.codes import Channel, Code, Partition
from privacyfunnel.errors import InvalidInput
from privacyfunnel.information import Array
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import Objective
from privacyfunnel.solvers.base import Solution, Status, Step
from privacyfunnel.solvers.equal_profiles import equal_profiles
from privacyfunnel.solvers.soft.perfect_privacy import LARGE, parts, profile, split
from privacyfunnel.validation import check_at_least, check_memory

SYMBOLS = 256  # default bound where X is large
HOTTEST = 0.98  # the λ at which cooling begins; at 1 nothing is told
COOLING = 40  # iterations at each λ; half as many between two looks for splits
NEW = 16  # symbols that may split off at each look
SHARE = 0.003  # probability that a new symbol begins with
SPLIT = 1e-4  # by how much a centroid must beat 1 to become a symbol
UNUSED = 1e-6  # probability of a symbol that has died out


@dataclass(frozen=True)
class DeterministicAnnealing:
    """Soft IB by deterministic annealing (Rose 1998) on the self-consistent equations.

    p(x̂ given x) ∝ p(x̂) exp(−β D(p(s given x) ‖ p(s given x̂))), β = 1/λ (Tishby, Pereira & Bialek
    2000), iterated while λ falls in ``steps`` from near 1 to the one asked for, each from the last.
    A solution is optimal iff Σ_x p(x) exp(−β D(p(s given x) ‖ r)) / z(x) ≤ 1 for every distribution
    r of S, z(x) being what normalises p(x̂ given x). Where a search over r finds more than 1, a phase
    transition has been passed and r becomes a new symbol; ``rounds`` is how often this is looked
    for at each λ.

    ``n_symbols`` bounds the alphabet (default: as many as X has different p(s given x), 256 where
    these are many); ``max_iter`` and ``tol`` (nats a step) end the iterations at the λ asked for.

    >>> from privacyfunnel.objectives import Bottleneck
    >>> joint = Joint.from_counts([[4, 4, 0, 1], [0, 1, 4, 4]])
    >>> solution = DeterministicAnnealing().solve(joint, Bottleneck(0.5), rng=np.random.default_rng(0))
    >>> solution.n_symbols, round(solution.value, 4)
    (2, -0.046)
    """

    n_symbols: int | None = None
    steps: int = 24
    rounds: int = 3
    max_iter: int = 2000
    tol: float = 1e-10

    def __post_init__(self) -> None:
        if self.n_symbols is not None:
            check_at_least("n_symbols", self.n_symbols, 2)
        check_at_least("steps", self.steps, 1)
        check_at_least("rounds", self.rounds, 1)
        check_at_least("max_iter", self.max_iter, 1)
        check_at_least("tol", self.tol, 0.0)

    def solve(
        self,
        joint: Joint,
        objective: Objective,
        *,
        start: Code | None = None,
        rng: np.random.Generator,
    ) -> Solution:
        """Cool down to λ; from ``start``, if given, at λ itself too. The best code counts."""
        if objective.problem != "bottleneck":
            raise InvalidInput(
                "method 'annealing' solves the bottleneck; use 'soft' for the funnel."
            )
        oven, lam = Oven(joint, self.n_symbols), objective.lam
        codes: list[Code] = [Partition.trivial(joint.n_x), *([] if start is None else [start])]
        codes += [oven.groups] if oven.groups.n_symbols <= oven.most else []
        history = [Step(min(objective.value(joint, code) for code in codes), 1)]
        converged = True
        if 0.0 < lam < 1.0:
            lams = np.linspace(max(HOTTEST, 0.5 * (1.0 + lam)), lam, self.steps)
            *_, cold = oven.cool(lams, self.rounds, rng)
            for begin in [cold, *([] if start is None else [oven.state(start)])]:
                state = oven.iterate(oven.split(begin, lam, 1, rng), lam, self.max_iter, self.tol)
                converged = converged and state.converged
                codes.append(oven.channel(state))
        best = min(codes, key=lambda code: objective.value(joint, code))
        history.append(Step(objective.value(joint, best), best.n_symbols))
        status = Status.CONVERGED if converged else Status.MAX_ITER
        return Solution.measured(joint, objective, best, status, tuple(history))


class State(NamedTuple):
    """A solution at one λ: p(x̂), p(s given x̂) ``[xhat, s]``, p(x̂ given x) ``[xhat, x]``, log z(x)."""

    masses: Array
    centroids: Array
    weights: Array
    log_z: Array
    converged: bool = False


class Oven:
    """Solutions of the bottleneck from one λ to the next.

    Symbols of X with the same p(s given x) are treated alike by every solution, so they are one here.
    """

    def __init__(self, joint: Joint, n_symbols: int | None) -> None:
        self.joint, self.groups = joint, equal_profiles(joint)
        inner = joint if self.groups.n_symbols == joint.n_x else self.groups.push(joint)
        self.p_x, self.p_s = inner.p_x, inner.p_s
        self.profile, self.parts = profile(inner), parts(inner)
        self.corners, self.possible = self.profile.toarray().T, self.profile > 1e-15
        self.log_p = np.log(np.maximum(inner.p_x, 1e-300))
        self.most = n_symbols or (SYMBOLS if inner.n_x > LARGE else inner.n_x + 1)
        what = f"a soft code of {inner.n_x:,} values and up to {self.most} symbols"
        check_memory(what, 40.0 * self.most * inner.n_x, "bound it with n_symbols=")

    def state(self, code: Code) -> State:
        """A code of X as a state to begin from."""
        masses, q = split(self.joint, code.matrix.toarray().T)
        nothing = np.zeros(len(self.p_x))
        return State(masses, np.asarray(q @ profile(self.joint).T), nothing, nothing)

    def channel(self, state: State) -> Channel:
        """The channel of a state."""
        weights = np.where(state.weights > 1e-15, state.weights, 0.0)
        weights[np.argmax(state.masses), ~weights.any(axis=0)] = 1.0
        weights = weights[weights.any(axis=1)]
        return Channel(self.groups.matrix @ (weights / weights.sum(axis=0)).T)

    def cool(self, lams: Iterable[float], rounds: int, rng: np.random.Generator) -> Iterator[State]:
        """The states at falling λ, each from the last."""
        state = self.state(Partition.trivial(self.joint.n_x))
        for lam in lams:
            state = self.iterate(self.split(state, lam, rounds, rng), lam)
            yield state

    def iterate(
        self, state: State, lam: float, max_iter: int = COOLING, tol: float = 1e-7
    ) -> State:
        """The self-consistent equations, until a step gains less than ``tol``."""
        from privacyfunnel._kernels.annealing import self_consistent

        masses, centroids = state.masses.copy(), np.ascontiguousarray(state.centroids)
        found = self_consistent(self.parts, self.p_x, masses, centroids, 1.0 / lam, max_iter, tol)
        return State(masses, centroids, *found)

    def split(self, state: State, lam: float, rounds: int, rng: np.random.Generator) -> State:
        """Let symbols split off until no centroid asks for one, at most ``rounds`` times."""
        state = self.tidy(state)
        for _ in range(rounds):
            state = self.tidy(self.iterate(state, lam, COOLING // 2))
            new = self.peaks(state, lam, rng)
            if not len(new):
                break
            masses = np.append(state.masses * (1.0 - SHARE * len(new)), np.full(len(new), SHARE))
            state = state._replace(masses=masses, centroids=np.vstack([state.centroids, new]))
        return state

    def peaks(self, state: State, lam: float, rng: np.random.Generator) -> Array:
        """Centroids at which Σ_x p(x) exp(−β D(p(s given x) ‖ r)) / z(x) exceeds 1, highest first."""
        from privacyfunnel._kernels.annealing import climb

        corners = self.corners
        pairs = 0.5 * (corners + rng.permutation(corners))
        picks = rng.integers(len(corners), size=len(state.centroids))
        starts = np.vstack([corners, pairs, 0.7 * state.centroids + 0.3 * corners[picks]])
        heights = climb(self.parts, self.log_p - state.log_z, starts, 1.0 / lam, 10, 1e-3)
        order = np.argsort(-heights)[: 4 * NEW]
        high = starts[order[heights[order] > 1.0 + SPLIT]]
        first = np.sort(np.unique(_alike(high, 0.01), return_index=True)[1])
        return np.asarray(high[first[: max(0, min(NEW, self.most - len(state.masses)))]])

    def tidy(self, state: State) -> State:
        """Without symbols that have died out, and with those together that have met."""
        alive = state.masses > min(UNUSED, float(state.masses.max()))
        alive[np.argmax(state.masses)] = True
        masses, centroids = state.masses[alive], state.centroids[alive]
        same = _alike(centroids, 0.001)
        merged = np.zeros((int(same.max()) + 1, centroids.shape[1]))
        np.add.at(merged, same, centroids * masses[:, None])
        totals = np.bincount(same, weights=masses)
        masses, centroids = totals / totals.sum(), merged / totals[:, None]
        # Where all symbols that allow an x are gone, one is made for such x.
        banned = (centroids <= 1e-300).astype(float) @ self.possible
        lost = np.where((banned > 0.0).all(axis=0), self.p_x, 0.0)
        if lost.sum() > 0.0:
            masses = np.append(masses, lost.sum()) / (1.0 + lost.sum())
            centroids = np.vstack([centroids, np.asarray(self.profile @ lost) / lost.sum()])
        return state._replace(masses=masses, centroids=centroids)


def _alike(rows: Array, tol: float) -> NDArray[np.intp]:
    """Labels of the rows, each that of the first row at most ``tol`` away from it."""
    from privacyfunnel._kernels.annealing import first_alike

    return np.unique(first_alike(rows, tol), return_inverse=True)[1]
