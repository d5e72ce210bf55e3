"""Fixed size: the bottleneck with a given number of released symbols instead of a λ or a target."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from privacyfunnel.codes import Partition
from privacyfunnel.objectives import leakage
from privacyfunnel.solvers.effort import MOVES, SWEPT
from privacyfunnel.solvers.large.blocks import BlockSearch, LargeRun
from privacyfunnel.solvers.large.similarity import order_by_similarity
from privacyfunnel.solvers.merge_path import merged_clusters
from privacyfunnel.solvers.moves import JointLayout, Labels, anneal, merge_light
from privacyfunnel.solvers.target import Price

MOST_RELEVANCE = Price((-1.0, 0.0))
ANNEALED = 500  # values up to which there is time for annealing
SWEEPS, AFTER = 15, 5  # about what a start takes, and what a cluster that is replaced
REPLACED = 16  # most clusters that are replaced for each start; else as many as there are
GROUPS = 8  # of similar symbols, for each cluster that they are merged to
FEWEST_GROUPS = 100
FEWER = 3  # numbers of clusters that are tried where each must be so heavy


def most_relevant(
    layout: JointLayout, n_symbols: int, effort: str, rng: Generator, *, annealed: bool
) -> Labels:
    """The labels found of most I(S;X̂) among codes of at most ``n_symbols`` symbols.

    The agglomerative end (Slonim & Tishby 1999) and random partitions, if ``annealed`` that first, are
    refined by single moves that keep their number (Slonim, Friedman & Tishby 2002), and the best of them
    by replacing one cluster after the other. A very large X is searched in blocks.
    """
    joint, budget = layout.joint, MOVES[effort]
    n = min(n_symbols, joint.n_x)
    random = [rng.permutation(joint.n_x) % n for _ in range(budget.starts)]
    if layout.least > 0 and annealed:  # light clusters would be merged, and never split again
        most = min(n, int(joint.total // layout.least))
        sizes = [max(1, most - k % FEWER) for k in range(budget.starts)]
        random = [_even(layout, size, rng) for size in sizes]
    sweeps = SWEEPS + AFTER * min(n, REPLACED)
    affordable = int(SWEPT[effort] / (sweeps * joint.counts.nnz * n))
    if annealed:
        starts = [_agglomerated(layout, Partition.identity(joint.n_x), n), *random]
        found = [_annealed(layout, labels, effort, rng) for labels in starts]
        if layout.least == 0:
            found.append(_swept(layout, starts + found, n, rng))
    elif layout.least == 0 and affordable > 0:
        groups = _alike(layout, min(joint.n_x, FEWEST_GROUPS + GROUPS * n), rng)
        starts = [_agglomerated(layout, groups, n), *random]
        return _swept(layout, starts[:affordable], n, rng)
    else:
        starts = [_agglomerated(layout, Partition.identity(joint.n_x), n)]
        starts += [_alike(layout, n, rng).labels, *random[: len(random) // 3]]
        found = _in_blocks(layout, starts, effort, rng)
    return max(found, key=lambda labels: leakage(joint, Partition(labels)))


def _even(layout: JointLayout, n: int, rng: Generator) -> Labels:
    """Symbols dealt at random to n clusters of like weight: heavy ones first, each to the lightest."""
    labels, weights = np.empty(layout.joint.n_x, dtype=np.int64), np.zeros(n)
    masses = layout.joint.masses
    for x in np.argsort(-masses * rng.uniform(0.5, 1.0, masses.size)):
        labels[x] = np.argmin(weights)
        weights[labels[x]] += masses[x]
    return labels


def _agglomerated(layout: JointLayout, groups: Partition, n: int) -> Labels:
    """Groups of symbols merged pair by pair."""
    return merged_clusters(layout.joint, groups, MOST_RELEVANCE.weights, n_symbols=n).labels


def _alike(layout: JointLayout, n_groups: int, rng: Generator) -> Partition:
    """Similar symbols together, as many in each group."""
    n = layout.joint.n_x
    labels = np.empty(n, dtype=np.int64)
    labels[order_by_similarity(layout.joint.counts, 1, rng)] = np.arange(n) * n_groups // n
    return Partition(labels)


def _annealed(layout: JointLayout, labels: Labels, effort: str, rng: Generator) -> Labels:
    """The labels after annealed moves that keep their number."""
    begin, budget = merge_light(layout, labels, MOST_RELEVANCE), MOVES[effort]
    sweeps = budget.within(budget.sweeps, begin.size, int(begin.max()) + 1)
    better = anneal(layout, begin, MOST_RELEVANCE, sweeps, rng, fixed=True)
    assert better is not None  # there is no limit to miss
    return better


def _swept(layout: JointLayout, starts: Sequence[Labels], n_symbols: int, rng: Generator) -> Labels:
    """The best of the starts after descent, its clusters replaced one after the other."""
    from privacyfunnel._kernels.sequential import most_relevant_of

    full = np.array([labels for labels in starts if labels.max() + 1 == n_symbols])
    replaced = min(n_symbols, REPLACED) * len(full)
    found: Labels = most_relevant_of(
        layout.columns, layout.table, full, n_symbols, replaced, layout.tol, rng
    )
    return found


def _in_blocks(
    layout: JointLayout, starts: Sequence[Labels], effort: str, rng: Generator
) -> list[Labels]:
    """Each start, and what moves inside blocks of clusters make of it."""
    search = BlockSearch(layout, "bottleneck", MOST_RELEVANCE.weights)
    run = LargeRun.of(layout.joint.n_x, effort)
    run = run._replace(rounds=max(5, run.rounds // 2))
    begin = [merge_light(layout, labels, MOST_RELEVANCE) for labels in starts]
    return begin + [search.improve(labels, run, rng, fixed=True) for labels in begin]
