"""Soft frontier: the channels of least leakage for any utilities, by time sharing and search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from privacyfunnel.codes import Channel, Code
from privacyfunnel.errors import InvalidInput
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import Funnel
from privacyfunnel.parallel import Progress
from privacyfunnel.solvers.large.blocks import plan_for
from privacyfunnel.solvers.large.search import solve_large
from privacyfunnel.solvers.merge_path import merge_path
from privacyfunnel.solvers.moves import Ground
from privacyfunnel.solvers.soft.funnel import EFFORTS, ChannelSearch
from privacyfunnel.solvers.soft.graph_entropy import limit_release
from privacyfunnel.solvers.soft.perfect_privacy import (
    LARGE,
    perfect_privacy,
)
from privacyfunnel.solvers.soft.time_sharing import (
    Bound,
    Family,
    channel_of,
    chord_slope,
    reachable,
    rows_of,
)
from privacyfunnel.solvers.targets import MOST_SYMBOLS
from privacyfunnel.validation import check_at_least, check_choice, check_rng


def soft_frontier(
    joint: Joint,
    utilities: Sequence[float],
    *,
    hard: Sequence[Code] = (),
    n_symbols: int | None = None,
    n_jobs: int = 1,
    seed: int = 0,
    effort: str = "normal",
    progress: Progress | None = None,
) -> list[Channel]:
    """For each utility, in bits, the channel found that leaks least and has exactly that utility.

    The frontier of soft codes is convex (time sharing). Its ends are known: `perfect_privacy` on one
    side, `limit_release` on the other, from where on the limit is met. Each gap between two
    neighbours that holds a target is searched at the slope of its chord, from the codes on both
    sides, and what is found halves it; where X has more than 2,000 symbols, for hard codes in blocks.
    No channel is worse than a mixture of ``hard`` codes. The result depends on ``seed`` but not on
    ``n_jobs``.

    >>> from privacyfunnel.objectives import leakage, utility
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


def _explored(
    joint: Joint,
    targets: Sequence[Bound],
    codes: Sequence[Code],
    n_symbols: int | None,
    n_jobs: int,
    seed: int,
    effort: str,
    progress: Progress | None,
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
    private = any(target == Bound(1, 0.0) for target in targets)
    if private or (joint.n_x <= LARGE and family.open_gaps(targets)):
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
    """A channel of low L at ``lam``, from some codes and a random one; in blocks where X is large."""
    rng = np.random.default_rng(key)
    if joint.n_x > MOST_SYMBOLS:
        plan = plan_for(joint.n_x, "fast")
        return channel_of(solve_large(Ground(joint), Funnel(lam), plan, rng=rng).code)
    search = ChannelSearch(joint, lam, n_symbols)
    channel, _ = search.improve([*map(rows_of, codes), search.random(rng)], rounds, rng)
    return Channel(channel.T)
