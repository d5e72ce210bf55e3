"""Soft privacy funnel: local search for the channel p(x̂ given x) of one λ or of exact targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from privacyfunnel.codes import Channel, Code, Partition
from privacyfunnel.errors import InvalidInput
from privacyfunnel.information import Array, plogp
from privacyfunnel.joint import Joint, csc_columns
from privacyfunnel.objectives import Funnel, Objective
from privacyfunnel.parallel import Progress, in_parallel, tell
from privacyfunnel.solvers.base import Solution, Status, Step
from privacyfunnel.solvers.best import BestSearch
from privacyfunnel.solvers.effort import SOFT
from privacyfunnel.solvers.large.blocks import LargeRun, solve_in_blocks
from privacyfunnel.solvers.merge_path import WHOLE, merge_path
from privacyfunnel.solvers.moves import JointLayout
from privacyfunnel.solvers.soft.graph_entropy import NOTHING, limit_release
from privacyfunnel.solvers.soft.perfect_privacy import perfect_privacy
from privacyfunnel.solvers.soft.posteriors import (
    LARGE,
    LN2,
    RARE,
    Posteriors,
    check_channel_settings,
    most_symbols,
    perturbed,
    profile,
    release,
    split,
)
from privacyfunnel.solvers.soft.time_sharing import TimeSharing, channel_of, rows_of
from privacyfunnel.solvers.target import Target
from privacyfunnel.solvers.tradeoff import chord_slope

STEPS = 80  # of mirror descent in each round
STARTS = 40  # searches for a new symbol of each kind, in each round
NEW = 16  # symbols added in each round
ROOM = 1.5  # symbols for each x before the linear program cuts them down
SYMBOLS = 64  # default bound where X is large


@dataclass(frozen=True)
class SoftFunnel:
    """Local search for the channel of least L = I(S;X̂) − λ I(X;X̂).

    Mirror descent on all symbols at once; then, again and again, symbols that the present dual prices
    call cheap are added and the descent goes on. With z_xy = p(x,y),
    ∂L/∂z_xy = Σ_s p(s given x) log p(s given y) − λ log p(x given y); at a stationary point this is
    the same number μ_x for all y that x uses, and a posterior q with −H(S) + λ H(X) < μ·q lowers L.

    ``n_symbols`` bounds the released alphabet (default: no more than n_x + 1 are ever needed; 64 for
    an X of more than 400 symbols, and for one of more than 2,000 a hard code is searched in blocks).
    For one λ, ``starts`` random channels are tried beside the hard codes, ``rounds`` is how often symbols
    are added, ``max_iter`` and ``tol`` (bits) end the last descent. ``effort`` is the budget of targets.

    >>> from privacyfunnel.objectives import Funnel
    >>> joint = Joint.from_counts([[2, 0, 1, 0], [0, 2, 0, 1]])
    >>> solution = SoftFunnel().solve(joint, Funnel(0.5), rng=np.random.default_rng(0))
    >>> round(solution.value, 6)
    -0.459148
    """

    n_symbols: int | None = None
    starts: int = 2
    rounds: int = 12
    max_iter: int = 2000
    tol: float = 1e-8
    effort: str = "normal"
    problems: ClassVar[tuple[str, ...]] = ("funnel",)

    def __post_init__(self) -> None:
        check_channel_settings(self, "starts", "rounds", "max_iter")

    def solve(
        self, joint: Joint, objective: Objective, *, start: Code | None = None, rng: Generator
    ) -> Solution:
        """Search from ``start``, from the ends of the frontier and from random channels.

        At λ = 0 all perfectly private releases have the same value, and the most useful is returned.
        """
        if objective.problem != "funnel":
            raise InvalidInput(
                "method 'soft' solves the funnel; use 'annealing' for the bottleneck."
            )
        if joint.n_x > WHOLE and self.n_symbols is None:
            return self._in_blocks(joint, objective, rng)
        search = ChannelSearch(joint, objective.lam, self.n_symbols)
        codes: list[Code] = [Partition.trivial(joint.n_x), *([] if start is None else [start])]
        if not search.bounded:
            if objective.lam == 0.0:
                private = perfect_privacy(joint, seed=int(rng.integers(2**31)))
                return Solution.measured(joint, objective, private.code, private.status)
            codes += [Partition.identity(joint.n_x), limit_release(joint)]
        begin = [*map(rows_of, codes), *(search.random(rng) for _ in range(self.starts))]
        best, history = search.improve(begin, self.rounds, rng)
        last, steps, converged = search.descend(best, self.max_iter, self.tol)
        best = min(search.fit(last), best, key=search.value)
        status = Status.CONVERGED if converged else Status.MAX_ITER
        history = (*history, Step(search.value(best), len(best), inner_steps=steps))
        return Solution.measured(joint, objective, Channel(best.T), status, history)

    def _in_blocks(self, joint: Joint, objective: Objective, rng: Generator) -> Solution:
        """A hard code found in blocks, as a channel: one of n_x² entries would not fit."""
        run = LargeRun.of(joint.n_x, "normal")
        found = solve_in_blocks(JointLayout(joint), objective, run, rng=rng)
        return Solution.measured(joint, objective, channel_of(found.code), found.status)

    def solve_at(
        self, joint: Joint, target: Target, *, starts: Sequence[Code] = (), rng: Generator
    ) -> Solution:
        """The channel found that meets the target exactly, at least as good as a mixture of ``starts``.

        >>> joint = Joint.from_counts([[3, 0, 1, 2], [0, 3, 2, 1]])
        >>> target, rng = Target("funnel", "utility", 0.8), np.random.default_rng(0)
        >>> solution = SoftFunnel(effort="fast").solve_at(joint, target, rng=rng)
        >>> round(solution.utility, 6), solution.leakage < 1e-9
        (0.8, True)
        """
        seed = int(rng.integers(2**31))
        bare = all(code.n_symbols in (1, joint.n_x) for code in starts)
        return self.solve_many(joint, [target], starts=None if bare else starts, seed=seed)[0]

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
        """For each target the channel found that meets it exactly; the hard codes to start from are
        searched, unless ``starts`` are given.

        The frontier of soft codes is convex (time sharing). Its ends are known: `perfect_privacy` on one
        side, `limit_release` on the other, from where on the limit is met. Each gap between two
        neighbours that holds a target is searched at the slope of its chord, from the codes on both
        sides, and what is found halves it; where X has more than 2,000 symbols, for hard codes in
        blocks. No channel is worse than a mixture of the ``starts``. The result depends on ``seed``
        but not on ``n_jobs``.
        """
        if starts is None:
            quick = [(joint, target, [seed, k]) for k, target in enumerate(targets)]
            starts = in_parallel(_hard_code, quick, n_jobs) if joint.n_x > 1 else ()
        rounds, levels, _ = SOFT[self.effort]
        shared = TimeSharing(joint, "funnel", starts, n_symbols=self.n_symbols)
        tried = set[tuple[float, float]]()
        self._add_ends(shared, targets, seed)
        for level in range(levels):
            tell(progress, level, levels)
            corners, tasks = shared.hull, list[Any]()
            for i in shared.open_gaps(targets):
                chord = corners[i].utility, corners[i + 1].utility
                if chord not in tried:
                    tried.add(chord)
                    lam = chord_slope(corners[i][:2], corners[i + 1][:2])
                    begin = [member.code for member in corners[i : i + 2]]
                    for most in self._alphabets():
                        tasks.append((joint, lam, begin, most, rounds, [seed, level, len(tasks)]))
            shared.add(in_parallel(_at_slope, tasks, n_jobs))
        tell(progress, levels, levels)
        return in_parallel(shared.solution, [(target,) for target in targets], n_jobs)

    def _alphabets(self) -> Sequence[int | None]:
        """Alphabets to search where the whole is bounded: to share with a second code, or with none."""
        n = self.n_symbols
        return [None] if n is None else sorted({max(2, n // 2), max(2, n - 1)})

    def _add_ends(self, shared: TimeSharing, targets: Sequence[Target], seed: int) -> None:
        """The ends of the frontier, as far as the targets need them."""
        joint = shared.joint
        roomy = self.n_symbols is None or self.n_symbols > joint.n_x
        if joint.n_x <= LARGE and roomy and shared.open_gaps(targets):
            shared.add([limit_release(joint)])
        private = any(target.quantity == "leakage" and target.bits == 0.0 for target in targets)
        if private or (joint.n_x <= LARGE and shared.open_gaps(targets)):
            shared.add([perfect_privacy(joint, effort=self.effort, seed=seed).code])
        for most in self._alphabets():
            if most is not None and most < joint.n_x:
                # Few symbols cannot tell all of X: the end is what greedy merging leaves of it.
                paths = [merge_path(joint, (alpha, -1.0), n_symbols=most) for alpha in (0.0, 1.0)]
                shared.add(path.cut() for path in paths)


def _hard_code(joint: Joint, target: Target, key: Sequence[int]) -> Code:
    """A hard code for the target."""
    return BestSearch("fast").solve_at(joint, target, rng=np.random.default_rng(key)).code


def _at_slope(
    joint: Joint,
    lam: float,
    codes: Sequence[Code],
    n_symbols: int | None,
    rounds: int,
    key: Sequence[int],
) -> Channel:
    """A channel of low L at ``lam``, from some codes and a random one; in blocks where X is large."""
    rng = np.random.default_rng(key)
    if joint.n_x > WHOLE:
        run = LargeRun.of(joint.n_x, "fast")
        return channel_of(solve_in_blocks(JointLayout(joint), Funnel(lam), run, rng=rng).code)
    search = ChannelSearch(joint, lam, n_symbols)
    channel, _ = search.improve([*map(rows_of, codes), search.random(rng)], rounds, rng)
    return Channel(channel.T)


class ChannelSearch:
    """One λ of the funnel on one joint; channels are arrays ``[xhat, x]``."""

    def __init__(self, joint: Joint, lam: float, n_symbols: int | None) -> None:
        self.joint, self.lam = joint, lam
        self.profile = profile(joint)
        self.parts = csc_columns(self.profile)
        self.log_p = np.log(np.maximum(joint.p_x, 1e-300))
        self.bounded = n_symbols is not None or joint.n_x > LARGE
        self.most = most_symbols(joint.n_x, n_symbols, SYMBOLS)

    def value(self, channel: Array) -> float:
        """L in bits."""
        weights, q = split(self.joint, channel)
        h_s = -plogp(q @ self.profile.T).sum(axis=1)
        h_x = -plogp(q).sum(axis=1)
        constant = self.joint.entropy_s - self.lam * self.joint.entropy_x
        return float(constant + np.sum(weights * (self.lam * h_x - h_s)))

    def descend(self, channel: Array, steps: int, tol: float) -> tuple[Array, int, bool]:
        from privacyfunnel._kernels.soft import descend

        found, _, taken, converged = descend(
            self.parts, self.log_p, channel, self.lam, steps, tol * LN2
        )
        return found, taken, converged

    def random(self, rng: Generator) -> Array:
        """Where descent from a random channel gets in one round."""
        weights = rng.dirichlet(np.full(min(self.most, 48), 0.5), size=self.joint.n_x).T + 1e-12
        return self.descend(np.ascontiguousarray(weights / weights.sum(axis=0)), STEPS, 0.0)[0]

    def improve(
        self, begin: Sequence[Array], rounds: int, rng: Generator
    ) -> tuple[Array, tuple[Step, ...]]:
        """The best channel after some rounds of descent and new symbols, and the way there."""
        best = self.combine(begin)
        lowest = self.value(best)
        history, trial = [Step(lowest, len(best))], best
        for _ in range(rounds):
            trial, taken, _ = self.descend(trial, STEPS, 0.0)
            trial = self.fit(trial)
            value = self.value(trial)
            if value < lowest:
                best, lowest = trial, value
            history.append(Step(lowest, len(best), inner_steps=taken))
            new = self.cheap(best, rng)
            if not len(new):
                break
            trial = self.add(best, new)
        return best, tuple(history)

    def combine(self, channels: Sequence[Array]) -> Array:
        """The best start that some channels offer: their best mixture, or the best one of them."""
        best = min((c for c in channels if not self.bounded or len(c) <= self.most), key=self.value)
        if self.bounded:
            return best
        mixed = self.mixture(np.vstack([split(self.joint, channel)[1] for channel in channels]))
        return mixed if mixed is not None and self.value(mixed) < self.value(best) else best

    def mixture(self, rows: Array) -> Array | None:
        """The best mixture of given posteriors; it needs at most n_x of them."""
        pool = Posteriors(self.joint, rows)
        mixed = pool.mix(self.lam * pool.entropy_x - pool.entropy_s)
        if mixed is None:
            return None
        weights = np.where(mixed[0] > 1e-12, mixed[0], 0.0)
        return rows_of(release(self.joint, weights, pool.q))

    def fit(self, channel: Array) -> Array:
        """Drop symbols that hardly occur, and bring the others within the bound."""
        masses = (channel * self.joint.p_x).sum(axis=1)
        kept = masses > NOTHING
        # Each x must keep a symbol, however rare x is.
        kept[np.unique(np.argmax(channel, axis=0))] = True
        channel = channel[kept] / channel[kept].sum(axis=0)
        channel = self.merge_equal(channel)
        if self.bounded and len(channel) > self.most:
            return self.descend(self.merge(channel), STEPS, 0.0)[0]
        if self.bounded or len(channel) <= ROOM * self.joint.n_x:
            return channel
        return self.combine([channel])

    def cheap(self, channel: Array, rng: Generator) -> Array:
        """Posteriors that lower L when they become symbols, best first."""
        from privacyfunnel._kernels.soft import price

        starts = perturbed(split(self.joint, channel)[1], STARTS, rng)
        starts[:, self.joint.p_x <= RARE] = 0.0  # they would hold back all others
        starts /= starts.sum(axis=1, keepdims=True)
        values = price(self.parts, starts, self.prices(channel), self.lam, 60, 1e-6)
        order = np.argsort(values)[: NEW if not self.bounded else max(1, self.most // 8)]
        return np.asarray(starts[order[values[order] < -NOTHING]])

    def prices(self, channel: Array) -> Array:
        """μ_x: the slope of L along z_xy, averaged over the symbols y of each x, in nats."""
        q = split(self.joint, channel)[1]
        shares = channel[(channel * self.joint.p_x).sum(axis=1) > 0.0]
        pull = np.log(np.maximum(q @ self.profile.T, 1e-300)) @ self.profile
        slopes = pull - self.lam * np.log(np.where(q > 0.0, q, 1.0))
        return np.asarray((shares * slopes).sum(axis=0) / shares.sum(axis=0))

    def add(self, channel: Array, new: Array) -> Array:
        """New symbols with a little probability each, taken from all others in proportion."""
        share = new / np.maximum(self.joint.p_x, 1e-300)
        share *= min(0.1 / len(new), 0.5 / float(share.sum(axis=0).max()))
        return np.vstack([channel * (1.0 - share.sum(axis=0)), share])

    def merge_equal(self, channel: Array) -> Array:
        """Symbols with equal posteriors become one, which changes neither information."""
        z = channel * self.joint.p_x
        q = z / np.maximum(z.sum(axis=1, keepdims=True), 1e-300)
        _, same = np.unique(np.round(q, 9), axis=0, return_inverse=True)
        merged = np.zeros((int(same.max()) + 1, channel.shape[1]))
        np.add.at(merged, same.ravel(), channel)
        return merged

    def merge(self, channel: Array) -> Array:
        """Merge the pair that raises L least, until the symbols are within the bound."""
        z = channel * self.joint.p_x
        table = np.hstack([channel, z, z @ self.profile.T, z.sum(axis=1, keepdims=True)])
        signs = np.repeat(
            [0.0, -self.lam, 1.0, self.lam - 1.0], [*z.shape[1:] * 2, self.joint.n_s, 1]
        )

        def part(rows: Array) -> Array:  # of each symbol in L, up to a constant
            return np.asarray((plogp(rows) * signs).sum(axis=-1))

        own, rises = part(table), np.full((len(table), len(table)), np.inf)
        for i in range(1, len(table)):
            rises[i, :i] = part(table[:i] + table[i]) - own[:i] - own[i]
        while len(table) > self.most:
            i, j = divmod(int(np.argmin(rises)), len(rises))  # j < i
            table[j] += table[i]
            table, own = np.delete(table, i, axis=0), np.delete(own, i)
            rises = np.delete(np.delete(rises, i, axis=0), i, axis=1)
            own[j] = part(table[j])
            with_j = part(table + table[j]) - own - own[j]
            rises[j, :j], rises[j + 1 :, j] = with_j[:j], with_j[j + 1 :]
        return np.ascontiguousarray(table[:, : z.shape[1]])
