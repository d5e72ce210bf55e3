"""Soft privacy funnel: channels p(x̂ given x) instead of partitions, and their convex frontier."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from privacyfunnel.codes import Channel, Code, Partition
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.information import Array, plogp
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import Objective, leakage, utility
from privacyfunnel.solvers.base import Solution, Status, Step
from privacyfunnel.solvers.pairwise import merge_path
from privacyfunnel.solvers.perfect import (
    LARGE,
    LN2,
    RARE,
    Posteriors,
    parts,
    perfect_privacy,
    perturbed,
    profile,
    release,
    split,
)
from privacyfunnel.validation import check_at_least, check_choice, check_rng


class Effort(NamedTuple):
    """How much to search: rounds for one λ, and how often each gap of the frontier is halved."""

    rounds: int
    levels: int


EFFORTS = {"fast": Effort(5, 2), "normal": Effort(10, 4), "thorough": Effort(30, 6)}
STEPS = 80  # of mirror descent in each round
STARTS = 40  # searches for a new symbol of each kind, in each round
NEW = 16  # symbols added in each round
ROOM = 1.5  # symbols for each x before the linear program cuts them down
SYMBOLS = 64  # default bound where X is large
CLOSED = 5e-4  # bits of possible gain at which a gap of the frontier counts as closed
NOTHING = 1e-9  # bits, and the probability of a symbol not worth keeping


@dataclass(frozen=True)
class SoftFunnel:
    """Local search for the channel of least L = I(S;X̂) − λ I(X;X̂).

    Mirror descent on all symbols at once; then, again and again, symbols that the present dual prices
    call cheap are added and the descent goes on. With z_xy = p(x,y),
    ∂L/∂z_xy = Σ_s p(s given x) log p(s given y) − λ log p(x given y); at a stationary point this is
    the same number μ_x for all y that x uses, and a posterior q with −H(S) + λ H(X) < μ·q lowers L.

    ``n_symbols`` bounds the released alphabet (default: no more than n_x + 1 are ever needed; 64 for
    a large X). ``starts`` random channels are tried beside the hard codes, ``rounds`` is how often
    symbols are added, ``max_iter`` and ``tol`` (bits) end the last descent.

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

    def __post_init__(self) -> None:
        if self.n_symbols is not None:
            check_at_least("n_symbols", self.n_symbols, 2)
        check_at_least("starts", self.starts, 1)
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
        """Search from ``start``, from the ends of the frontier and from random channels.

        At λ = 0 all perfectly private releases have the same value, and the most useful is returned.
        """
        if objective.problem != "funnel":
            raise InvalidInput(
                "method 'soft' solves the funnel; use 'annealing' for the bottleneck."
            )
        search = _Search(joint, objective.lam, self.n_symbols)
        codes: list[Code] = [Partition.trivial(joint.n_x), *([] if start is None else [start])]
        if not search.bounded:
            if objective.lam == 0.0:
                private = perfect_privacy(joint, seed=int(rng.integers(2**31)))
                return Solution.measured(joint, objective, private.code, private.status)
            codes += [Partition.identity(joint.n_x), limit_release(joint)]
        begin = [*map(_rows, codes), *(search.random(rng) for _ in range(self.starts))]
        best, history = search.improve(begin, self.rounds, rng)
        last, steps, converged = search.descend(best, self.max_iter, self.tol)
        best = min(search.fit(last), best, key=search.value)
        status = Status.CONVERGED if converged else Status.MAX_ITER
        history = (*history, Step(search.value(best), len(best), inner_steps=steps))
        return Solution.measured(joint, objective, Channel(best.T), status, history)


class _Search:
    """One λ of the funnel on one joint; channels are arrays ``[xhat, x]``."""

    def __init__(self, joint: Joint, lam: float, n_symbols: int | None) -> None:
        self.joint, self.lam = joint, lam
        self.profile, self.parts = profile(joint), parts(joint)
        self.log_p = np.log(np.maximum(joint.p_x, 1e-300))
        self.bounded = n_symbols is not None or joint.n_x > LARGE
        self.most = n_symbols or (SYMBOLS if joint.n_x > LARGE else joint.n_x + 1)

    def value(self, channel: Array) -> float:
        """L in bits."""
        weights, q = split(self.joint, channel)
        h_s = -plogp(q @ self.profile.T).sum(axis=1)
        h_x = -plogp(q).sum(axis=1)
        constant = self.joint.entropy_s - self.lam * self.joint.entropy_x
        return float(constant + np.sum(weights * (self.lam * h_x - h_s)))

    def descend(self, channel: Array, steps: int, tol: float) -> tuple[Array, int, bool]:
        from privacyfunnel._kernels_soft import descend

        found, _, taken, converged = descend(
            self.parts, self.log_p, channel, self.lam, steps, tol * LN2
        )
        return found, taken, converged

    def random(self, rng: np.random.Generator) -> Array:
        """Where descent from a random channel gets in one round."""
        weights = rng.dirichlet(np.full(min(self.most, 48), 0.5), size=self.joint.n_x).T + 1e-12
        return self.descend(np.ascontiguousarray(weights / weights.sum(axis=0)), STEPS, 0.0)[0]

    def improve(
        self, begin: Sequence[Array], rounds: int, rng: np.random.Generator
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
        return _rows(release(self.joint, weights, pool.q))

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

    def cheap(self, channel: Array, rng: np.random.Generator) -> Array:
        """Posteriors that lower L when they become symbols, best first."""
        from privacyfunnel._kernels_soft import price

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


def limit_release(joint: Joint, rounds: int = 60) -> Channel:
    """The release of least utility that meets the funnel's limit.

    The limit is met iff X is a function of (S, X̂): no two x that share an s may share an x̂, so each
    released symbol is an independent set of the graph that joins such x, and the least I(X;X̂) is
    that graph's entropy (Körner 1973): min −Σ p(x) log a(x) over its vertex packing polytope.
    Column generation: the heaviest independent set at weights p/a is added until none weighs more
    than 1. All utilities from there on meet the limit by time sharing with X̂ = X.

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
    for _ in range(rounds):
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


class Bound(NamedTuple):
    """A bound in bits, in the family's plane: at least this utility (0) or at most this leakage (1)."""

    column: int
    bits: float


class Member(NamedTuple):
    """A code and its place in the plane."""

    utility: float
    leakage: float
    code: Code

    def on(self, column: int) -> float:
        """The coordinate that a target bounds."""
        return self.leakage if column else self.utility

    def cost(self, column: int) -> float:
        """What is to be small when that coordinate is bounded."""
        return -self.utility if column else self.leakage


class Family:
    """Codes, and all mixtures of them: the lower convex hull of their places in the plane.

    A release that follows code A with probability t and B otherwise, and says which, has exactly
    t I_A + (1−t) I_B of both informations (time sharing). For the bottleneck (``sign`` −1) the plane
    is mirrored, (−I(X;X̂), −I(S;X̂)), and all the rest is the same.
    """

    def __init__(
        self, joint: Joint, codes: Iterable[Code], *, sign: int = 1, n_symbols: int | None = None
    ) -> None:
        self.joint, self.sign, self.n_symbols = joint, sign, n_symbols
        # To mix single posteriors rarely helps the bottleneck and takes longer than to solve it.
        self.fine = sign > 0 and n_symbols is None and joint.n_x <= LARGE
        self.members: list[Member] = []
        self.add([Partition.trivial(joint.n_x), Partition.identity(joint.n_x), *codes])

    def add(self, codes: Iterable[Code]) -> None:
        """More codes; those that are too large are left out."""
        for code in codes:
            if self.n_symbols is None or code.n_symbols <= self.n_symbols:
                self.members.append(self.member(code))
        self.members.sort(key=lambda member: member[:2])

    def member(self, code: Code) -> Member:
        """A code with its measured place."""
        place = utility(self.joint, code), leakage(self.joint, code)
        return Member(self.sign * place[0], self.sign * place[1], code)

    @property
    def hull(self) -> list[Member]:
        """The members that no mixture of others beats, by rising utility."""
        hull: list[Member] = []
        for new in self.members:
            while len(hull) > 1 and _above_chord(hull[-2], hull[-1], new):
                hull.pop()
            if not hull or new.utility > hull[-1].utility + NOTHING:
                hull.append(new)
        return hull

    def gap(self, target: Bound) -> int:
        """Position in the hull of the member just before the target."""
        places = [member.on(target.column) for member in self.hull]
        return max(0, min(int(np.searchsorted(places, target.bits, "right")), len(places) - 1) - 1)

    def at(self, target: Bound) -> Channel:
        """The best mixture that meets the target exactly."""
        hull, i = self.hull, self.gap(target)
        met = [member for member in hull if abs(member.on(target.column) - target.bits) < 1e-11]
        if self.n_symbols is not None:
            return self._small(target)
        if met or len(hull) == 1:
            return _channel((met or hull)[-1].code)
        two = self._between(hull[i], hull[i + 1], target)
        finer = self._mixture([m.code for m in hull[i : i + 2]], target) if self.fine else None
        if finer is None:
            return two
        gain = self.member(two).cost(target.column) - self.member(finer).cost(target.column)
        return finer if gain > NOTHING else two

    def _between(self, left: Member, right: Member, target: Bound) -> Channel:
        low, high = left.on(target.column), right.on(target.column)
        bits = target.bits + (1e-12 if target.column == 0 else 0.0)  # met in spite of rounding
        share = 1.0 if high <= low else (bits - low) / (high - low)
        return time_share(left.code, right.code, min(1.0, max(0.0, share)))

    def _small(self, target: Bound) -> Channel:
        """The best pair whose symbols together are few enough."""
        assert self.n_symbols is not None
        lowest, best = np.inf, None
        for i, left in enumerate(self.members):
            for right in self.members[i:]:
                low, high = left.on(target.column), right.on(target.column)
                if not low - NOTHING <= target.bits <= high + NOTHING:
                    continue
                share = (
                    1.0 if high - low < NOTHING else min(1.0, (target.bits - low) / (high - low))
                )
                symbols = right.code.n_symbols + (share < 1.0) * left.code.n_symbols
                cost = (1.0 - share) * left.cost(target.column) + share * right.cost(target.column)
                if symbols <= self.n_symbols and cost < lowest:
                    lowest, best = cost, (left, right)
        if best is None:
            most = max(member.on(target.column) for member in self.members)
            raise TargetUnreachable(
                f"no release of at most {self.n_symbols} symbols was found for {target.bits:.6g} "
                f"bits; the nearest found has {most:.6g}."
            )
        return self._between(*best, target)

    def _mixture(self, codes: Sequence[Code], target: Bound) -> Channel | None:
        """The best mixture of all posteriors of some codes: finer than to share whole codes."""
        pool, sign, joint = Posteriors.of(self.joint, codes), self.sign, self.joint
        told_x, told_s = sign * pool.entropy_x, sign * pool.entropy_s
        margin = 2e-9  # what the linear program may be off
        if target.column == 0:
            mixed = pool.mix(-told_s, most=(told_x, sign * joint.entropy_x - target.bits - margin))
        else:
            mixed = pool.mix(told_x, most=(-told_s, target.bits - sign * joint.entropy_s - margin))
        if mixed is None:
            return None
        channel = release(joint, np.where(mixed[0] > 1e-12, mixed[0], 0.0), pool.q)
        met = self.member(channel).on(target.column) - target.bits
        return channel if (met >= 0.0 if target.column == 0 else met <= 0.0) else None

    def open_gaps(self, targets: Sequence[Bound], closed: float = CLOSED) -> list[int]:
        """Gaps of the hull that hold a target and may have something below their chord.

        The frontier is convex with slopes in [0, 1], so all that can lie below a chord is the
        triangle under it whose other sides prolong the neighbouring chords.
        """
        hull = self.hull
        slopes = [0.0, *(chord_slope(left, right) for left, right in pairwise(hull)), 1.0]
        found = []
        for i in sorted({self.gap(target) for target in targets}) if len(hull) > 1 else ():
            before, slope, after = slopes[i : i + 3]
            width = hull[i + 1].utility - hull[i].utility
            height = width * (slope - before) * (after - slope) / max(after - before, 1e-12)
            if height > closed:
                found.append(i)
        return found


def chord_slope(left: Member, right: Member) -> float:
    """The λ at which both members have the same value."""
    slope = (right.leakage - left.leakage) / (right.utility - left.utility)
    return min(1.0, max(0.0, slope))


def _above_chord(left: Member, middle: Member, right: Member) -> bool:
    slope = (middle.leakage - left.leakage) * (right.utility - left.utility)
    return slope >= (right.leakage - left.leakage) * (middle.utility - left.utility)


def _rows(code: Code) -> Array:
    """p(x̂ given x) as the compiled loops take it, ``[xhat, x]``."""
    return np.ascontiguousarray(code.matrix.toarray().T)


def _channel(code: Code) -> Channel:
    return code if isinstance(code, Channel) else Channel(code.matrix)


def time_share(left: Code, right: Code, share: float) -> Channel:
    """Follow ``right`` with probability ``share``, else ``left``, with symbols of their own.

    >>> time_share(Partition([0, 0]), Partition([0, 1]), 0.25).matrix.toarray()
    array([[0.75, 0.25, 0.  ],
           [0.75, 0.  , 0.25]])
    """
    if share <= 0.0 or share >= 1.0:
        return _channel(left if share <= 0.0 else right)
    return Channel(sp.hstack([left.matrix * (1.0 - share), right.matrix * share]))


def soft_frontier(
    joint: Joint,
    utilities: Sequence[float],
    *,
    hard: Sequence[Code] = (),
    n_symbols: int | None = None,
    n_jobs: int = 1,
    seed: int = 0,
    effort: str = "normal",
    progress: Callable[[int, int], None] | None = None,
) -> list[Channel]:
    """For each utility, in bits, the channel found that leaks least and has exactly that utility.

    The frontier of soft codes is convex (time sharing). Its ends are known: `perfect_privacy` on one
    side, `limit_release` on the other, from where on the limit is met. Each gap between two
    neighbours that holds a target is searched at the slope of its chord, from the codes on both
    sides, and what is found halves it. No channel is worse than a mixture of ``hard`` codes. The
    result depends on ``seed`` but not on ``n_jobs``.

    >>> joint = Joint.from_counts([[3, 0, 1, 2], [0, 3, 2, 1]])
    >>> [channel] = soft_frontier(joint, [0.8], effort="fast")
    >>> round(utility(joint, channel), 6), leakage(joint, channel) < 1e-9
    (0.8, True)
    """
    from joblib import Parallel, delayed

    targets = [Bound(0, reachable("utility", bits, joint.entropy_x)) for bits in utilities]
    family = _explored(joint, targets, hard, n_symbols, n_jobs, seed, effort, progress)
    return list(Parallel(n_jobs=n_jobs)(delayed(family.at)(target) for target in targets))


def soft_at(
    joint: Joint,
    *,
    utility: float | None = None,
    leakage: float | None = None,
    starts: Sequence[Code] = (),
    n_symbols: int | None = None,
    rng: np.random.Generator,
    effort: str = "normal",
) -> Channel:
    """The channel found for one target in bits: least I(S;X̂) with I(X;X̂) = ``utility``, or most
    I(X;X̂) with I(S;X̂) ≤ ``leakage``.

    ``starts`` are codes to begin from, such as those of a frontier; the result is at least as good
    as their best mixture.

    >>> joint = Joint.from_counts([[3, 0, 1, 2], [0, 3, 2, 1]])
    >>> channel = soft_at(joint, leakage=0.0, rng=np.random.default_rng(0), effort="fast")
    >>> channel.n_x
    4
    """
    if (utility is None) == (leakage is None):
        raise InvalidInput("soft_at takes exactly one target, utility= or leakage=, in bits.")
    if leakage is not None:
        check_at_least("leakage", leakage, 0.0)
        target = Bound(1, min(float(leakage), joint.information))
    elif utility is not None:
        target = Bound(0, reachable("utility", utility, joint.entropy_x))
    seed = int(rng.integers(2**31))
    return _explored(joint, [target], starts, n_symbols, 1, seed, effort, None).at(target)


def reachable(name: str, bits: float, most: float) -> float:
    """A target in bits, checked."""
    check_at_least(name, bits, 0.0)
    if bits > most + NOTHING:
        raise TargetUnreachable(f"no release has {name} {bits} bits; X itself has {most:.6f}.")
    return min(float(bits), most)


def _explored(
    joint: Joint,
    targets: Sequence[Bound],
    codes: Sequence[Code],
    n_symbols: int | None,
    n_jobs: int,
    seed: int,
    effort: str,
    progress: Callable[[int, int], None] | None,
) -> Family:
    """The family of codes after the search around all targets."""
    from joblib import Parallel, delayed

    check_choice("effort", effort, list(EFFORTS))
    check_rng(seed)
    if n_symbols is not None:
        check_at_least("n_symbols", n_symbols, 2)
    rounds, levels = EFFORTS[effort]
    family, tried = Family(joint, codes, n_symbols=n_symbols), set[tuple[float, float]]()
    _add_ends(family, targets, effort, seed)
    for level in range(levels):
        if progress is not None:
            progress(level, levels)
        hull, tasks = family.hull, list[Any]()
        for i in family.open_gaps(targets):
            chord = hull[i].utility, hull[i + 1].utility
            if chord not in tried:
                tried.add(chord)
                lam = chord_slope(hull[i], hull[i + 1])
                begin = [member.code for member in hull[i : i + 2]]
                for most in _sizes(n_symbols):
                    key = [seed, level, len(tasks)]
                    tasks.append(delayed(_at_slope)(joint, lam, begin, most, rounds, key))
        family.add(Parallel(n_jobs=n_jobs)(tasks))
    if progress is not None:
        progress(levels, levels)
    return family


def _sizes(n_symbols: int | None) -> Sequence[int | None]:
    """Alphabets to search where the whole is bounded: to share with a second code, or with nothing."""
    return [None] if n_symbols is None else sorted({max(2, n_symbols // 2), max(2, n_symbols - 1)})


def _add_ends(family: Family, targets: Sequence[Bound], effort: str, seed: int) -> None:
    """The ends of the frontier, as far as the targets need them."""
    joint, n_symbols = family.joint, family.n_symbols
    if joint.n_x <= LARGE and (n_symbols is None or n_symbols > joint.n_x):
        if family.open_gaps(targets):
            family.add([limit_release(joint)])
        if family.open_gaps(targets):
            family.add([perfect_privacy(joint, effort=effort, seed=seed).code])
    for most in _sizes(n_symbols):
        if most is not None and most < joint.n_x:
            # Few symbols cannot tell all of X: the end is what greedy merging leaves of it.
            paths = [merge_path(joint, (alpha, -1.0), n_symbols=most) for alpha in (0.0, 1.0)]
            family.add(path.cut(len(path.merges)) for path in paths)


def _at_slope(
    joint: Joint,
    lam: float,
    codes: Sequence[Code],
    n_symbols: int | None,
    rounds: int,
    key: Sequence[int],
) -> Channel:
    """A channel of low L at ``lam``, from some codes and a random one."""
    search = _Search(joint, lam, n_symbols)
    rng = np.random.default_rng(key)
    channel, _ = search.improve([*map(_rows, codes), search.random(rng)], rounds, rng)
    return Channel(channel.T)
