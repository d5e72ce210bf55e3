"""Soft frontier of the bottleneck: one cooling, then the λ that each target asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from privacyfunnel.codes import Channel, Code
from privacyfunnel.errors import InvalidInput
from privacyfunnel.joint import Joint
from privacyfunnel.parallel import Progress
from privacyfunnel.solvers.soft.bottleneck import HOTTEST, Oven, State
from privacyfunnel.solvers.soft.time_sharing import Bound, Family, chord_slope, reachable
from privacyfunnel.validation import check_at_least, check_choice, check_rng

COLDEST = 0.1  # the λ at which cooling ends
LOOKS = 40  # for splits in all, when targets are approached
CLOSED = 1e-6  # bits of possible gain at which a gap of the frontier counts as closed


class Effort(NamedTuple):
    """How much to search: λ of the cooling, looks for splits at each, passes over the targets."""

    steps: int
    rounds: int
    passes: int


EFFORTS = {"fast": Effort(12, 1, 1), "normal": Effort(20, 5, 3), "thorough": Effort(48, 12, 4)}


def annealing_frontier(
    joint: Joint,
    rates: Sequence[float],
    *,
    hard: Sequence[Code] = (),
    n_symbols: int | None = None,
    seed: int = 0,
    effort: str = "normal",
    progress: Progress | None = None,
) -> list[Channel]:
    """For each rate, in bits, the channel found of most relevance that has exactly that rate.

    One cooling gives the whole frontier; then λ is set to where the frontier's slope at each rate
    should be. The frontier is concave (time sharing), and never below mixtures of the ``hard`` codes.

    >>> from privacyfunnel.objectives import leakage, utility
    >>> joint = Joint.from_counts([[4, 4, 0, 1], [0, 1, 4, 4]])
    >>> [channel] = annealing_frontier(joint, [0.5])
    >>> round(utility(joint, channel), 6), round(leakage(joint, channel), 3)
    (0.5, 0.295)
    """
    targets = [Bound(0, -reachable("rate", rate, joint.entropy_x)) for rate in rates]
    family = _cooled(joint, targets, hard, n_symbols, seed, effort, progress)
    return [family.at(target) for target in targets]


def annealing_at(
    joint: Joint,
    *,
    rate: float | None = None,
    relevance: float | None = None,
    starts: Sequence[Code] = (),
    n_symbols: int | None = None,
    rng: np.random.Generator,
    effort: str = "normal",
) -> Channel:
    """The channel found for one target in bits: most I(S;X̂) with I(X;X̂) = ``rate``, or least
    I(X;X̂) with I(S;X̂) ≥ ``relevance``; at least as good as the best mixture of ``starts``.

    >>> from privacyfunnel.objectives import leakage
    >>> joint = Joint.from_counts([[4, 4, 0, 1], [0, 1, 4, 4]])
    >>> channel = annealing_at(joint, relevance=0.3, rng=np.random.default_rng(0), effort="fast")
    >>> round(leakage(joint, channel), 6)
    0.3
    """
    if (rate is None) == (relevance is None):
        raise InvalidInput("annealing_at takes exactly one target, rate= or relevance=, in bits.")
    if relevance is not None:
        target = Bound(1, -reachable("relevance", relevance, joint.information))
    elif rate is not None:
        target = Bound(0, -reachable("rate", rate, joint.entropy_x))
    seed = int(rng.integers(2**31))
    return _cooled(joint, [target], starts, n_symbols, seed, effort, None).at(target)


def _cooled(
    joint: Joint,
    targets: Sequence[Bound],
    hard: Sequence[Code],
    n_symbols: int | None,
    seed: int,
    effort: str,
    progress: Progress | None,
) -> Family:
    """The family of the channels of one cooling and of the search around all targets."""
    check_choice("effort", effort, list(EFFORTS))
    if n_symbols is not None:
        check_at_least("n_symbols", n_symbols, 2)
    rng = check_rng(seed)
    steps, rounds, passes = EFFORTS[effort]
    oven = Oven(joint, None if n_symbols is None else max(2, n_symbols // 2))
    cooled = _Cooled(oven, Family(joint, [oven.groups, *hard], sign=-1, n_symbols=n_symbols))
    lams = np.linspace(HOTTEST, COLDEST, steps)
    for done, (lam, state) in enumerate(zip(lams, oven.cool(lams, rounds, rng), strict=True)):
        cooled.add(float(lam), state)
        if progress is not None:
            progress(done, steps + passes)
    looks = max(1, LOOKS // max(1, len(targets)))  # where targets are few, each gets more
    for done in range(passes):
        for target in targets:
            cooled.refine(target, looks if done == 0 else 0, rng)
        if progress is not None:
            progress(steps + done + 1, steps + passes)
    return cooled.family


class _Cooled:
    """States by λ, and their channels in a family."""

    def __init__(self, oven: Oven, family: Family) -> None:
        self.oven, self.family = oven, family
        self.states: list[tuple[float, State, Channel]] = []

    def add(self, lam: float, state: State) -> None:
        """A state that solves the bottleneck at ``lam``."""
        self.states.append((lam, state, self.oven.channel(state)))
        self.family.add([self.states[-1][2]])

    def refine(self, target: Bound, rounds: int, rng: np.random.Generator) -> None:
        """Solve at the λ whose channel should have the target's rate, where that can gain anything.

        Symbols may split off ``rounds`` times.
        """
        if not self.family.open_gaps([target], CLOSED):
            return
        i = self.family.gap(target)
        left, right = self.family.hull[i : i + 2]
        lam, slopes = chord_slope(left, right), {id(code): lam for lam, _, code in self.states}
        if id(left.code) in slopes and id(right.code) in slopes:  # it changes evenly between them
            low, high = left.on(target.column), right.on(target.column)
            share = (target.bits - low) / (high - low)
            lam = (1.0 - share) * slopes[id(left.code)] + share * slopes[id(right.code)]
        if 0.0 < lam < 1.0:
            state = min(self.states, key=lambda known: abs(known[0] - lam))[1]
            state = self.oven.split(state, lam, rounds, rng) if rounds else state
            self.add(lam, self.oven.iterate(state, lam))
