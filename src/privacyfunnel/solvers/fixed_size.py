"""Fixed size: the bottleneck with a given number of released symbols instead of a λ or a target."""

from __future__ import annotations

import numpy as np

from privacyfunnel.codes import Partition
from privacyfunnel.objectives import leakage
from privacyfunnel.solvers.effort import MOVES
from privacyfunnel.solvers.large.blocks import BlockRun, BlockSearch
from privacyfunnel.solvers.large.similarity import order_by_similarity
from privacyfunnel.solvers.merge_path import merge_path
from privacyfunnel.solvers.moves import JointLayout, Labels, anneal, merge_light
from privacyfunnel.solvers.target import Price

MOST_RELEVANCE = Price((-1.0, 0.0))


def most_relevant(
    layout: JointLayout, n_symbols: int, effort: str, rng: np.random.Generator
) -> Labels:
    """The labels found of most I(S;X̂) among codes of at most ``n_symbols`` symbols.

    The agglomerative end (Slonim & Tishby 1999) and random partitions are annealed by single moves
    that keep their number (Slonim, Friedman & Tishby 2002); in blocks where X is large.
    """
    joint, budget = layout.joint, MOVES[effort]
    if joint.n_x > budget.largest:
        return _in_blocks(layout, n_symbols, effort, rng)
    path = merge_path(joint, MOST_RELEVANCE.weights, n_symbols=n_symbols)
    starts = [path.cut(len(path.merges)).labels]
    if n_symbols < joint.n_x:
        starts += [rng.permutation(joint.n_x) % n_symbols for _ in range(budget.starts)]
    found = []
    for labels in starts:
        sweeps = budget.within(budget.sweeps, labels.size, int(labels.max()) + 1)
        begin = merge_light(layout, labels, MOST_RELEVANCE) if layout.least > 0 else labels
        better = anneal(layout, begin, MOST_RELEVANCE, sweeps, rng, fixed=True)
        assert better is not None  # there is no limit to miss
        found.append(better)
    return max(found, key=lambda labels: leakage(joint, Partition(labels)))


def _in_blocks(
    layout: JointLayout, n_symbols: int, effort: str, rng: np.random.Generator
) -> Labels:
    """The same for a large X: each start is refined by moves inside blocks of clusters.

    One more start puts similar symbols together, as many in each cluster.
    """
    joint = layout.joint
    path = merge_path(joint, MOST_RELEVANCE.weights, n_symbols=n_symbols)
    alike = np.empty(joint.n_x, dtype=np.int64)
    alike[order_by_similarity(joint.counts, 1, rng)] = np.arange(joint.n_x) * n_symbols // joint.n_x
    starts = [path.cut(len(path.merges)).labels, alike]
    starts += [rng.permutation(joint.n_x) % n_symbols for _ in range(MOVES[effort].starts // 3)]
    search = BlockSearch(layout, "bottleneck", MOST_RELEVANCE.weights)
    run = BlockRun.of(joint.n_x, effort)
    found = []
    for labels in starts:
        begin = merge_light(layout, labels, MOST_RELEVANCE) if layout.least > 0 else labels
        short = run._replace(rounds=max(5, run.rounds // 2))
        found += [begin, search.improve(begin, short, rng, fixed=True)]
    return max(found, key=lambda labels: leakage(joint, Partition(labels)))
