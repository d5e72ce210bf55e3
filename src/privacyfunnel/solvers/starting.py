"""Starting: codes from which a search for one exact target sets out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privacyfunnel.codes import Partition
from privacyfunnel.errors import TargetUnreachable
from privacyfunnel.joint import Joint
from privacyfunnel.solvers.best import LARGE, BestSearch
from privacyfunnel.solvers.merge_path import MergePath
from privacyfunnel.solvers.targets import Target, cuts_at

HALVINGS = 6  # of the utilities between one that is allowed and one that is not


def starts_at(
    joint: Joint,
    target: Target,
    paths: Sequence[MergePath],
    solver: BestSearch,
    rng: np.random.Generator,
) -> list[Partition]:
    """The paths cut at the target, and for a bound on leakage codes that come close to it."""
    codes = cuts_at(paths, target)
    is_ceiling = target.problem == "funnel" and target.quantity == "leakage"
    if is_ceiling and joint.n_x <= LARGE["fast"]:
        codes += _below_ceiling(joint, target, paths, solver.min_count, rng)
    return codes


def _below_ceiling(
    joint: Joint,
    target: Target,
    paths: Sequence[MergePath],
    min_count: int,
    rng: np.random.Generator,
) -> list[Partition]:
    """Codes of more and more utility that leak no more than the funnel's target allows.

    Around a code that leaks hardly anything every single move leaks too much. To leak least at some
    utility knows no such wall, so a utility is asked for between one that is allowed and one that is
    known, or found, not to be.
    """
    quick, codes = BestSearch("fast", min_count), [Partition.trivial(joint.n_x)]
    low, high = 0.0, target.floor(joint) / target.price.weights[1]
    for _ in range(HALVINGS):
        asked = Target("funnel", "utility", (low + high) / 2.0)
        try:
            starts = [codes[-1], *cuts_at(paths, asked)]
            found = quick.solve_at(joint, asked, starts=starts, rng=rng)
        except TargetUnreachable:
            high = asked.bits
            continue
        if found.leakage <= target.bits + 1e-12:
            assert isinstance(found.code, Partition)
            low, codes = found.utility, [*codes, found.code]
        else:
            high = asked.bits
    return codes[1:]
