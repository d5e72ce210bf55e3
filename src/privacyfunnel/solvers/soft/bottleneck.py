"""Soft information bottleneck: the self-consistent equations, cooled from phase to phase."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from privacyfunnel.codes import Channel, Code, Partition
from privacyfunnel.errors import InvalidInput
from privacyfunnel.information import Array
from privacyfunnel.joint import Joint, csc_columns
from privacyfunnel.objectives import Objective
from privacyfunnel.parallel import Progress, tell
from privacyfunnel.solvers.base import Solution, Status, Step
from privacyfunnel.solvers.effort import COOLING
from privacyfunnel.solvers.equal_profiles import equal_profiles
from privacyfunnel.solvers.merge_path import greedy_cuts
from privacyfunnel.solvers.soft.posteriors import (
    check_channel_settings,
    most_symbols,
    profile,
    split,
)
from privacyfunnel.solvers.soft.time_sharing import TimeSharing
from privacyfunnel.solvers.target import Target
from privacyfunnel.solvers.tradeoff import chord_slope
from privacyfunnel.validation import check_rng

SYMBOLS = 256  # default bound where X is large
HOTTEST = 0.98  # the λ at which cooling begins; at 1 nothing is told
COLDEST = 0.1  # the λ at which the cooling of a whole frontier ends
ITERATIONS = 40  # at each λ; half as many between two looks for splits
LOOKS = 40  # for splits in all, when targets are approached
CLOSED = 1e-6  # bits of possible gain at which a gap of the frontier counts as closed
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
    ``effort`` is the budget of targets.

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
    effort: str = "normal"
    problems: ClassVar[tuple[str, ...]] = ("bottleneck",)

    def __post_init__(self) -> None:
        check_channel_settings(self, "steps", "rounds", "max_iter")

    def solve(
        self, joint: Joint, objective: Objective, *, start: Code | None = None, rng: Generator
    ) -> Solution:
        """Cool down to λ; from ``start``, if given, at λ itself too. The best code counts."""
        if objective.problem != "bottleneck":
            raise InvalidInput(
                "method 'annealing' solves the bottleneck; use 'soft' for the funnel."
            )
        search, lam = CentroidSearch(joint, self.n_symbols), objective.lam
        codes: list[Code] = [Partition.trivial(joint.n_x), *([] if start is None else [start])]
        codes += [search.groups] if search.groups.n_symbols <= search.most else []
        history = [Step(min(objective.value(joint, code) for code in codes), 1)]
        converged = True
        if 0.0 < lam < 1.0:
            lams = np.linspace(max(HOTTEST, 0.5 * (1.0 + lam)), lam, self.steps)
            *_, cold = search.cool(lams, self.rounds, rng)
            for begin in [cold, *([] if start is None else [search.state(start)])]:
                state = search.iterate(
                    search.split(begin, lam, 1, rng), lam, self.max_iter, self.tol
                )
                converged = converged and state.converged
                codes.append(search.channel(state))
        best = min(codes, key=lambda code: objective.value(joint, code))
        history.append(Step(objective.value(joint, best), best.n_symbols))
        status = Status.CONVERGED if converged else Status.MAX_ITER
        return Solution.measured(joint, objective, best, status, tuple(history))

    def solve_at(
        self, joint: Joint, target: Target, *, starts: Sequence[Code] = (), rng: Generator
    ) -> Solution:
        """The channel found that meets the target exactly, at least as good as a mixture of ``starts``.

        >>> joint = Joint.from_counts([[4, 4, 0, 1], [0, 1, 4, 4]])
        >>> target, rng = Target("bottleneck", "leakage", 0.3), np.random.default_rng(0)
        >>> round(DeterministicAnnealing(effort="fast").solve_at(joint, target, rng=rng).leakage, 6)
        0.3
        """
        codes = [*starts, *greedy_cuts(joint, target)]
        return self.solve_many(joint, [target], starts=codes, seed=int(rng.integers(2**31)))[0]

    def solve_many(
        self,
        joint: Joint,
        targets: Sequence[Target],
        *,
        starts: Sequence[Code] | None = None,
        n_jobs: int = 1,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> list[Solution]:
        """For each target the channel found that meets it exactly.

        One cooling gives the whole frontier; then λ is set to where the frontier's slope at each
        target should be. The frontier is concave (time sharing), and never below mixtures of the
        ``starts``, which are greedy hard codes unless they are given.
        """
        if starts is None:  # cooling finds better codes than a longer hard search does
            starts = [code for target in targets for code in greedy_cuts(joint, target)]
        rng, (steps, rounds, passes) = check_rng(seed), COOLING[self.effort]
        half = None if self.n_symbols is None else max(2, self.n_symbols // 2)
        search = CentroidSearch(joint, half)
        codes = [search.groups, *starts]
        cooling = _Cooling(
            search, TimeSharing(joint, "bottleneck", codes, n_symbols=self.n_symbols)
        )
        lams = np.linspace(HOTTEST, COLDEST, steps)
        for done, (lam, state) in enumerate(zip(lams, search.cool(lams, rounds, rng), strict=True)):
            cooling.add(float(lam), state)
            tell(progress, done, steps + passes)
        looks = max(1, LOOKS // max(1, len(targets)))  # where targets are few, each gets more
        for done in range(passes):
            for target in targets:
                cooling.refine(target, looks if done == 0 else 0, rng)
            tell(progress, steps + done + 1, steps + passes)
        return [cooling.shared.solution(target) for target in targets]


class State(NamedTuple):
    """A solution at one λ: p(x̂), p(s given x̂) ``[xhat, s]``, p(x̂ given x) ``[xhat, x]``, log z(x)."""

    masses: Array
    centroids: Array
    weights: Array
    log_z: Array
    converged: bool = False


class CentroidSearch:
    """Masses and centroids p(s given x̂) that solve the bottleneck, from one λ to the next.

    Symbols of X with the same p(s given x) are treated alike by every solution, so they are one here.
    """

    def __init__(self, joint: Joint, n_symbols: int | None) -> None:
        self.joint, self.groups = joint, equal_profiles(joint)
        inner = joint if self.groups.n_symbols == joint.n_x else self.groups.push(joint)
        self.p_x, self.p_s = inner.p_x, inner.p_s
        self.profile = profile(inner)
        self.parts = csc_columns(self.profile)
        self.corners, self.possible = self.profile.toarray().T, self.profile > 1e-15
        self.log_p = np.log(np.maximum(inner.p_x, 1e-300))
        self.most = most_symbols(inner.n_x, n_symbols, SYMBOLS)

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

    def cool(self, lams: Iterable[float], rounds: int, rng: Generator) -> Iterator[State]:
        """The states at falling λ, each from the last."""
        state = self.state(Partition.trivial(self.joint.n_x))
        for lam in lams:
            state = self.iterate(self.split(state, lam, rounds, rng), lam)
            yield state

    def iterate(
        self, state: State, lam: float, max_iter: int = ITERATIONS, tol: float = 1e-7
    ) -> State:
        """The self-consistent equations, until a step gains less than ``tol``."""
        from privacyfunnel._kernels.annealing import self_consistent

        masses, centroids = state.masses.copy(), np.ascontiguousarray(state.centroids)
        found = self_consistent(self.parts, self.p_x, masses, centroids, 1.0 / lam, max_iter, tol)
        return State(masses, centroids, *found)

    def split(self, state: State, lam: float, rounds: int, rng: Generator) -> State:
        """Let symbols split off until no centroid asks for one, at most ``rounds`` times."""
        state = self.tidy(state)
        for _ in range(rounds):
            state = self.tidy(self.iterate(state, lam, ITERATIONS // 2))
            new = self.peaks(state, lam, rng)
            if not len(new):
                break
            masses = np.append(state.masses * (1.0 - SHARE * len(new)), np.full(len(new), SHARE))
            state = state._replace(masses=masses, centroids=np.vstack([state.centroids, new]))
        return state

    def peaks(self, state: State, lam: float, rng: Generator) -> Array:
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


class _Cooling:
    """States by λ, and their channels, to be mixed."""

    def __init__(self, search: CentroidSearch, shared: TimeSharing) -> None:
        self.search, self.shared = search, shared
        self.states: list[tuple[float, State, Channel]] = []

    def add(self, lam: float, state: State) -> None:
        """A state that solves the bottleneck at ``lam``."""
        self.states.append((lam, state, self.search.channel(state)))
        self.shared.add([self.states[-1][2]])

    def refine(self, target: Target, rounds: int, rng: Generator) -> None:
        """Solve at the λ whose channel should have the target's rate, where that can gain anything.

        Symbols may split off ``rounds`` times.
        """
        if not self.shared.open_gaps([target], CLOSED):
            return
        bound = self.shared.bound(target)
        i = self.shared.gap(bound)
        left, right = self.shared.hull[i : i + 2]
        lam = chord_slope(left[:2], right[:2])
        slopes = {id(code): lam for lam, _, code in self.states}
        if id(left.code) in slopes and id(right.code) in slopes:  # it changes evenly between them
            low, high = left.on(bound.column), right.on(bound.column)
            share = (bound.bits - low) / (high - low)
            lam = (1.0 - share) * slopes[id(left.code)] + share * slopes[id(right.code)]
        if 0.0 < lam < 1.0:
            state = min(self.states, key=lambda known: abs(known[0] - lam))[1]
            state = self.search.split(state, lam, rounds, rng) if rounds else state
            self.add(lam, self.search.iterate(state, lam))
