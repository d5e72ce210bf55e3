"""Sizes: the bottleneck with a given number of released symbols instead of a λ or a target."""

from __future__ import annotations

import numpy as np

from privacyfunnel.codes import Partition
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import Bottleneck, leakage
from privacyfunnel.solvers.base import Solution, Status
from privacyfunnel.solvers.best import EFFORTS, LARGE, BestSearch
from privacyfunnel.solvers.equal_profiles import equal_profiles
from privacyfunnel.solvers.large.blocks import BlockSearch, plan_for
from privacyfunnel.solvers.large.similarity import similar
from privacyfunnel.solvers.merge_path import merge_path
from privacyfunnel.solvers.moves import Labels, Price, anneal, merge_small

STARTS = {"fast": 3, "normal": 10, "thorough": 30}  # random ones, beside the agglomerative one
MOST_RELEVANCE = Price((-1.0, 0.0))


def solve_size(
    joint: Joint, n_symbols: int, solver: BestSearch, *, rng: np.random.Generator
) -> Solution:
    """The most relevant code found of at most ``n_symbols`` symbols: max I(S;X̂) over |X̂| ≤ n.

    Symbols of one p(s given x) stay together, which loses nothing. The agglomerative end (Slonim &
    Tishby 1999) and random partitions are annealed by single moves (Slonim, Friedman & Tishby 2002).

    >>> joint = Joint.from_counts([[9, 8, 1, 0, 4], [1, 2, 9, 8, 6]])
    >>> solve_size(joint, 2, BestSearch(), rng=np.random.default_rng(0)).code.labels
    array([0, 0, 1, 1, 1])
    """
    groups = equal_profiles(joint)
    small = groups.push(joint)
    if small.n_x > LARGE[solver.effort]:
        found = _in_blocks(small, n_symbols, solver, rng)
    else:
        found = _search(small, n_symbols, solver, rng)
    code = Partition(found[groups.labels])
    return Solution.measured(joint, Bottleneck(0.0), code, Status.CONVERGED)


def _in_blocks(
    joint: Joint, n_symbols: int, solver: BestSearch, rng: np.random.Generator
) -> Labels:
    """Similar symbols together, as many in each cluster, then moves inside blocks of clusters."""
    ground = solver.ground(joint)
    order = similar(joint.counts, 1, rng)
    labels = np.empty(joint.n_x, dtype=np.int64)
    labels[order] = np.arange(joint.n_x) * n_symbols // joint.n_x
    if ground.least > 0:
        labels = merge_small(ground, labels, MOST_RELEVANCE)
    search = BlockSearch(ground, "bottleneck", MOST_RELEVANCE.weights)
    plan = plan_for(joint.n_x, solver.effort)
    return search.run(labels, plan._replace(rounds=plan.rounds // 2), rng, fixed=True)


def _search(joint: Joint, n_symbols: int, solver: BestSearch, rng: np.random.Generator) -> Labels:
    path = merge_path(joint, (-1.0, 0.0), n_symbols=n_symbols)
    starts = [path.cut(len(path.merges)).labels]
    if n_symbols < joint.n_x:
        starts += [rng.permutation(joint.n_x) % n_symbols for _ in range(STARTS[solver.effort])]
    effort = EFFORTS[solver.effort]
    found = [
        _improved(joint, labels, solver, effort.within(effort.sweeps, labels), rng)
        for labels in starts
    ]
    return max(found, key=lambda labels: leakage(joint, Partition(labels)))


def _improved(
    joint: Joint, labels: Labels, solver: BestSearch, sweeps: int, rng: np.random.Generator
) -> Labels:
    """The labels after moves that keep their number, and ``min_count`` where it is asked."""
    ground = solver.ground(joint)
    if ground.least > 0:
        labels = merge_small(ground, labels, MOST_RELEVANCE)
    better = anneal(ground, labels, MOST_RELEVANCE, sweeps, rng, fixed=True)
    assert better is not None  # there is no limit to miss
    return better
