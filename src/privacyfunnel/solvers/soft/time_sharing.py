"""Time sharing: codes whose mixtures make a convex frontier, and the mixture that meets a target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from privacyfunnel.codes import Channel, Code, Partition
from privacyfunnel.errors import TargetUnreachable
from privacyfunnel.information import Array
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import PROBLEMS, leakage, utility
from privacyfunnel.solvers.base import Solution, Status
from privacyfunnel.solvers.soft.posteriors import LARGE, RARE, Posteriors, release
from privacyfunnel.solvers.target import (
    MET,
    Price,
    Target,
    chosen,
    gains,
    hits,
    mixing_share,
    ranked,
    reaches,
    stays_within,
)
from privacyfunnel.solvers.tradeoff import chord_slope, hull
from privacyfunnel.validation import check_at_least

OFF = 2 * RARE  # bits that a linear program is asked for beyond a target
CLOSED = 5e-4  # bits of possible gain at which a gap of the frontier counts as closed


class Bound(NamedTuple):
    """A target in the plane: at least this utility (column 0) or at most this leakage (1), in bits."""

    column: int
    bits: float

    @property
    def price(self) -> Price:
        """What to lower within the bound."""
        return Price.telling(self.bits) if self.column else Price.keeping(self.bits)

    def share(self, left: Member, right: Member) -> float:
        """The share of the right one of two codes with which they meet the bound."""
        low, high = left.on(self.column), right.on(self.column)
        return mixing_share(low, high, self.bits, is_floor=self.column == 0)


class Member(NamedTuple):
    """A code and its place in the plane."""

    utility: float
    leakage: float
    code: Code

    def on(self, column: int) -> float:
        """The coordinate that a target bounds."""
        return self.leakage if column else self.utility

    @property
    def amounts(self) -> tuple[float, float]:
        """What it tells and keeps."""
        return self.leakage, self.utility


class TimeSharing:
    """Codes, and all mixtures of them: the lower convex hull of their places in the plane.

    A release that follows code A with probability t and B otherwise, and says which, has exactly
    t I_A + (1−t) I_B of both informations (time sharing). For the bottleneck the plane is mirrored,
    (−I(X;X̂), −I(S;X̂)), and all the rest is the same.
    """

    def __init__(
        self, joint: Joint, problem: str, codes: Iterable[Code], *, n_symbols: int | None = None
    ) -> None:
        sign = PROBLEMS[problem].leakage_weight
        self.joint, self.sign, self.n_symbols = joint, sign, n_symbols
        # To mix single posteriors rarely helps the bottleneck and takes longer than to solve it.
        self.fine = sign > 0 and n_symbols is None and joint.n_x <= LARGE
        self.members: list[Member] = []
        self.hull: list[Member] = []
        self.add([Partition.trivial(joint.n_x), Partition.identity(joint.n_x), *codes])

    def add(self, codes: Iterable[Code]) -> None:
        """More codes; those that are too large are left out."""
        for code in codes:
            if self.n_symbols is None or code.n_symbols <= self.n_symbols:
                self.members.append(self.member(code))
        self.members.sort(key=lambda member: member[:2])
        places = np.array([member[:2] for member in self.members])
        self.hull = [self.members[i] for i in hull(places, "funnel")]

    def member(self, code: Code) -> Member:
        """A code with its measured place."""
        place = utility(self.joint, code), leakage(self.joint, code)
        return Member(self.sign * place[0], self.sign * place[1], code)

    def bound(self, target: Target) -> Bound:
        """The target in the plane, checked."""
        name, most = "utility", self.joint.entropy_x
        if target.quantity == "leakage":
            name, most = "leakage", self.joint.information
        check_at_least(name, target.bits, 0.0)
        if target.is_floor and not stays_within(target.bits, most, MET):
            raise TargetUnreachable(
                f"no release has {name} {target.bits} bits; X itself has {most:.6f}."
            )
        return Bound(int(name == "leakage"), self.sign * min(float(target.bits), most))

    def gap(self, bound: Bound) -> int:
        """Position in the hull of the member just before the bound."""
        places = [member.on(bound.column) for member in self.hull]
        return max(0, min(int(np.searchsorted(places, bound.bits, "right")), len(places) - 1) - 1)

    def at(self, target: Target) -> Channel:
        """The best mixture that meets the target exactly."""
        bound, corners = self.bound(target), self.hull
        i = self.gap(bound)
        if self.n_symbols is not None:
            return self._small(bound)
        met = [member for member in corners if hits(member.on(bound.column), bound.bits)]
        if met or len(corners) == 1:
            return channel_of(ranked(met or corners, bound.price, lambda m: m.amounts)[0].code)
        two = self._between(corners[i], corners[i + 1], bound)
        finer = self._mixture([m.code for m in corners[i : i + 2]], bound) if self.fine else None
        if finer is None:
            return two
        now, before = (bound.price.of(*self.member(code).amounts) for code in (finer, two))
        return finer if gains(now, before, MET) else two

    def solution(self, target: Target) -> Solution:
        """The same as a solution."""
        return Solution.measured(self.joint, target.objective, self.at(target), Status.CONVERGED)

    def _between(self, left: Member, right: Member, bound: Bound) -> Channel:
        return time_share(left.code, right.code, bound.share(left, right))

    def _small(self, bound: Bound) -> Channel:
        """The best pair whose symbols together are few enough."""
        assert self.n_symbols is not None
        pairs = []
        for i, left in enumerate(self.members):
            for right in self.members[i:]:
                low, high = left.on(bound.column), right.on(bound.column)
                if not (reaches(bound.bits, low, MET) and stays_within(bound.bits, high, MET)):
                    continue
                share = bound.share(left, right)
                if right.code.n_symbols + (share < 1.0) * left.code.n_symbols <= self.n_symbols:
                    two = zip(left.amounts, right.amounts, strict=True)
                    pairs.append(([(1.0 - share) * a + share * b for a, b in two], left, right))
        best = chosen(pairs, bound.price, lambda pair: pair[0])
        if best is None:
            most = max(member.on(bound.column) for member in self.members)
            raise TargetUnreachable(
                f"no release of at most {self.n_symbols} symbols was found for {bound.bits:.6g} "
                f"bits; the nearest found has {most:.6g}."
            )
        return self._between(*best[1:], bound)

    def _mixture(self, codes: Sequence[Code], bound: Bound) -> Channel | None:
        """The best mixture of all posteriors of some codes: finer than to share whole codes."""
        pool, sign, joint = Posteriors.of(self.joint, codes), self.sign, self.joint
        told_x, told_s = sign * pool.entropy_x, sign * pool.entropy_s
        if bound.column == 0:
            mixed = pool.mix(-told_s, most=(told_x, sign * joint.entropy_x - bound.bits - OFF))
        else:
            mixed = pool.mix(told_x, most=(-told_s, bound.bits - sign * joint.entropy_s - OFF))
        if mixed is None:
            return None
        channel = release(joint, np.where(mixed[0] > 1e-12, mixed[0], 0.0), pool.q)
        is_met = reaches if bound.column == 0 else stays_within
        return channel if is_met(self.member(channel).on(bound.column), bound.bits) else None

    def open_gaps(self, targets: Sequence[Target], closed: float = CLOSED) -> list[int]:
        """Gaps of the hull that hold a target and may have something below their chord.

        The frontier is convex with slopes in [0, 1], so all that can lie below a chord is the
        triangle under it whose other sides prolong the neighbouring chords.
        """
        corners = self.hull
        chords = [chord_slope(left[:2], right[:2]) for left, right in pairwise(corners)]
        slopes = [0.0, *chords, 1.0]
        found = set[int]()
        for bound in map(self.bound, targets if len(corners) > 1 else ()):
            i = self.gap(bound)
            before, slope, after = slopes[i : i + 3]
            width = corners[i + 1].utility - corners[i].utility
            height = width * (slope - before) * (after - slope) / max(after - before, 1e-12)
            # What a bound on leakage leaves to gain is utility, along the other side of the triangle.
            gain = height if bound.column == 0 else height / max(slope, 1e-12)
            if gain > closed:
                found.add(i)
        return sorted(found)


def rows_of(code: Code) -> Array:
    """p(x̂ given x) as the compiled loops take it, ``[xhat, x]``."""
    return np.ascontiguousarray(code.matrix.toarray().T)


def channel_of(code: Code) -> Channel:
    """The code as a channel, which a hard one is too."""
    return code if isinstance(code, Channel) else Channel(code.matrix)


def time_share(left: Code, right: Code, share: float) -> Channel:
    """Follow ``right`` with probability ``share``, else ``left``, with symbols of their own.

    >>> time_share(Partition([0, 0]), Partition([0, 1]), 0.25).matrix.toarray()
    array([[0.75, 0.25, 0.  ],
           [0.75, 0.  , 0.25]])
    """
    if share <= 0.0 or share >= 1.0:
        return channel_of(left if share <= 0.0 else right)
    return Channel(sp.hstack([left.matrix * (1.0 - share), right.matrix * share]))
