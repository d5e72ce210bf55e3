"""Large: alphabets too large for the whole search are grouped first, searched, and refined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.codes import Partition
from privacyfunnel.errors import TargetUnreachable
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import PROBLEMS, Objective, leakage, utility
from privacyfunnel.solvers.base import Solution, Solver, Status
from privacyfunnel.solvers.best import EFFORTS, NEAR_LIMIT, BestSearch
from privacyfunnel.solvers.moves import (
    DESCENT_SWEEPS,
    Ground,
    Labels,
    MoveSearch,
    Price,
    anneal,
)
from privacyfunnel.solvers.pairwise import MergePath, merge_path
from privacyfunnel.solvers.targets import Target, cuts_at, greedy_paths

LARGE = {"fast": 500, "normal": 1500, "thorough": 5000}  # more symbols than these are grouped
GROUPS = {"fast": 300, "normal": 800, "thorough": 2000}  # into so many
BUDGET = {"fast": 6e8, "normal": 6e9, "thorough": 6e10}  # prices of cells that refining may take
BLOCK = 256  # symbols whose pairs are all priced; a block's merge path takes a few hundredths of a second
CUTS = 12  # sizes at which the blocks are cut besides, and twice more around the best of them
SWEEPS, WARM = 20, 0.3  # of the annealing that refines: not hot enough to forget


@dataclass(frozen=True, eq=False)
class BlockPaths:
    """Greedy merge paths inside blocks of the alphabet: n·BLOCK pairs are priced instead of n²."""

    joint: Joint
    blocks: tuple[NDArray[np.intp], ...]
    paths: tuple[MergePath, ...]

    def cut(self, n_groups: int) -> Partition:
        """About ``n_groups`` groups: every block merged down by the same factor."""
        labels, start = np.zeros(self.joint.n_x, dtype=np.int64), 0
        for block, path in zip(self.blocks, self.paths, strict=True):
            kept = max(1, round(len(block) * n_groups / self.joint.n_x))
            part = path.cut(len(block) - kept)
            labels[block] = start + part.labels
            start += part.n_symbols
        return Partition(labels)


def block_paths(joint: Joint, problem: str, rng: np.random.Generator) -> BlockPaths:
    """Merge paths that lose little of what the problem wants.

    The bottleneck keeps relevance by merging symbols of similar p(s given x), so a block holds
    neighbours; the funnel merges symbols that hide each other, which any random block has.

    >>> joint = Joint.from_counts(np.random.default_rng(0).poisson(2.0, size=(3, 600)))
    >>> block_paths(joint, "bottleneck", np.random.default_rng(0)).cut(60).n_symbols
    60
    """
    order = _by_profile(joint) if problem == "bottleneck" else rng.permutation(joint.n_x)
    weights = (-1.0, 0.0) if problem == "bottleneck" else (1.0, -0.8)
    blocks = tuple(np.array_split(order, -(-joint.n_x // BLOCK)))
    parts = (Joint.from_counts(joint.counts[:, block]) for block in blocks)
    return BlockPaths(joint, blocks, tuple(merge_path(part, weights) for part in parts))


def solve_large(
    joint: Joint, demand: Objective | Target, solver: BestSearch, *, rng: np.random.Generator
) -> Solution:
    """A code for one λ or one exact target, by way of a smaller alphabet of groups.

    Symbols are merged to some hundred groups, a code of the groups is searched as ever, and its
    members then move one by one. The blocks cut at other sizes compete, for a demand that needs
    more symbols than there are groups.
    """
    ground = solver.ground(joint)
    price = demand.price if isinstance(demand, Target) else Price(demand.weights)
    blocks = block_paths(joint, demand.problem, rng)
    starts = [] if ground.least > 0 else _best_cuts(blocks, price)
    grouped = _solve_grouped(blocks.cut(GROUPS[solver.effort]), joint, demand, solver, rng)
    if grouped is not None:
        starts.append(grouped)
    if not starts:
        raise TargetUnreachable(
            f"no release with min_count={solver.min_count} meets the target; lower either."
        )
    # A bottleneck's code breaks up into many small clusters, each of which makes a sweep longer.
    sweeps = SWEEPS if demand.problem == "bottleneck" else EFFORTS[solver.effort].sweeps
    floor = demand.floor(joint) if isinstance(demand, Target) else -np.inf
    labels = _refine(ground, price, floor, starts, solver.effort, sweeps, rng)
    objective = demand
    if isinstance(demand, Target):
        objective = PROBLEMS[demand.problem](min(1.0, max(0.0, demand.slope)))
    assert isinstance(objective, Objective)
    return Solution.measured(joint, objective, Partition(labels), Status.CONVERGED)


def _by_profile(joint: Joint) -> NDArray[np.intp]:
    """Symbols in an order that puts similar p(s given x) together: by the likeliest s."""
    counts = joint.counts.tocoo()
    shares = counts.data / (joint.p_x * joint.total)[counts.col]
    best = np.lexsort((-counts.row, shares, counts.col))  # the last of a symbol's cells is its best
    last = np.cumsum(np.bincount(counts.col, minlength=joint.n_x)) - 1
    cell = best[last]
    return np.lexsort((shares[cell], counts.row[cell]))


def _best_cuts(blocks: BlockPaths, price: Price) -> list[Partition]:
    """The blocks cut at the size of lowest price, found on a grid and on two finer ones.

    With it comes a cut of twice the size: it is loose where the other just meets the target, and
    single moves often go further from there.
    """
    n = blocks.joint.n_x
    sizes = np.geomspace(len(blocks.blocks), n, CUTS).round().astype(int)
    found = {1: Partition.trivial(n)}
    for _ in range(3):
        found |= {int(size): blocks.cut(int(size)) for size in sizes}
        best = min(found, key=lambda size: _value(blocks.joint, found[size], price))
        below = max((size for size in found if size < best), default=best)
        above = min((size for size in found if size > best), default=best)
        sizes = np.linspace(below, above, CUTS).round().astype(int)
    return [found[best], blocks.cut(min(n, 2 * best))]


def _value(joint: Joint, code: Partition, price: Price) -> float:
    return price.of(leakage(joint, code), utility(joint, code))


def _solve_grouped(
    groups: Partition,
    joint: Joint,
    demand: Objective | Target,
    solver: BestSearch,
    rng: np.random.Generator,
) -> Partition | None:
    """The code of the groups as a code of their members; None where the groups cannot meet it."""
    small = groups.push(joint)
    try:
        if isinstance(demand, Target):
            starts = cuts_at(greedy_paths(small, demand.problem), demand)
            found = solver.solve_at(small, demand, starts=starts, rng=rng)
        else:
            # The portfolio's set functions may take ten times as long as its moves.
            quick = solver.effort == "fast" and solver.min_count == 1
            chosen: Solver = MoveSearch() if quick else solver
            found = chosen.solve(small, demand, rng=rng)
    except TargetUnreachable:
        return None
    assert isinstance(found.code, Partition)
    return Partition(found.code.labels[groups.labels])


def _refine(
    ground: Ground,
    price: Price,
    floor: float,
    starts: Sequence[Partition],
    effort: str,
    most_sweeps: int,
    rng: np.random.Generator,
) -> Labels:
    """Plain moves from every start, annealed ones from the best; the best of all."""
    joint = ground.joint
    found = list(starts)

    def moved(code: Partition, sweeps: int) -> None:
        labels = anneal(ground, code.labels, price, sweeps, rng, hot=WARM)
        found.extend([] if labels is None else [Partition(labels)])

    for start in starts:
        if _affordable(joint, start, effort) >= 0:
            moved(start, 0)
    best = min(found, key=lambda code: _value(joint, code, price))
    sweeps = min(most_sweeps, _affordable(joint, best, effort))
    if sweeps > 0 and _value(joint, best, price) > floor + NEAR_LIMIT:
        moved(best, sweeps)
    return min(found, key=lambda code: _value(joint, code, price)).labels


def _affordable(joint: Joint, code: Partition, effort: str) -> int:
    """Annealing sweeps that the budget has room for, beside the plain ones that follow."""
    return int(BUDGET[effort] / (joint.counts.nnz * code.n_symbols)) - DESCENT_SWEEPS
