"""Targets on alphabets beyond the reach of the whole search: λ halved in, then merged down."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from privacyfunnel.codes import Partition
from privacyfunnel.information import Array, plogp
from privacyfunnel.objectives import PROBLEMS
from privacyfunnel.parallel import tell
from privacyfunnel.solvers.base import Solution
from privacyfunnel.solvers.large.blocks import BlockSearch, LargeRun
from privacyfunnel.solvers.large.similarity import cluster_sums
from privacyfunnel.solvers.merge_path import merge_path
from privacyfunnel.solvers.moves import JointLayout, Labels, anneal, merge_light
from privacyfunnel.solvers.target import Target, chosen, floor_of, reaches

STEPS = 8  # halvings of the range of λ in which a target lies
NEAR = 0.003  # of H(X) or H(S) above the target: near enough to merge down to it
EXACT = 500  # clusters up to which every pair is priced on the way down
MOVES = 2e9  # cells that may be priced to polish a code at its target


class Point(NamedTuple):
    """A partition found at one λ, and how many bits it has of what the target is about."""

    lam: float
    labels: Labels
    bits: float


def solve_in_blocks_at(
    layout: JointLayout, target: Target, run: LargeRun, *, rng: np.random.Generator
) -> Solution:
    """A code that meets one target: λ is halved in on it, then clusters are merged down to it.

    Both informations of the code at λ rise with λ for the funnel and fall with it for the
    bottleneck. A code a little above the target loses the rest by merges of few symbols each, so
    that the target is met to within one of them; where no λ tells enough, clusters are dissolved.
    """
    joint = layout.joint
    points = sorted(_around(layout, target, run, rng), key=lambda p: p.bits)
    found = [p.labels for p in points]
    n_below = sum(not reaches(p.bits, target.bits) for p in points)
    if n_below < len(points):
        found += _down_to(layout, target, points[n_below], rng)
    elif layout.least == 0:
        found.append(_up_to(layout, target, points[-1]))
    best = chosen(map(Partition, found), target.price, layout.amounts)
    if best is None:
        raise target.unreached(joint, layout.least, max(p.bits for p in points))
    return Solution.measured(joint, target.objective, best, run.status)


def _around(
    layout: JointLayout, target: Target, run: LargeRun, rng: np.random.Generator
) -> list[Point]:
    """Points at λ ever nearer to the target."""
    joint, problem = layout.joint, target.problem
    low, high = 0.0, 1.0  # less and more is told at these λ of the funnel
    short = run._replace(rounds=max(4, run.rounds // 3), progress=None)
    points: list[Point] = []
    whole = joint.entropy_x if target.quantity == "utility" else joint.entropy_s
    lam, labels = 0.5, None
    for step in range(STEPS):
        objective = PROBLEMS[problem](lam)
        search = BlockSearch(layout, problem, objective.weights)
        labels = (
            search.from_scratch(short, rng)
            if labels is None
            else search.improve(labels, short, rng)
        )
        code = Partition(labels)
        points.append(Point(lam, code.labels, target.bounded(*layout.amounts(code))))
        excess = points[-1].bits - target.bits
        if 0.0 <= excess <= NEAR * whole or run.is_late:
            break
        if (excess > 0.0) == (problem == "funnel"):
            high = lam
        else:
            low = lam
        lam = 0.5 * (low + high)
        tell(run.progress, step + 1, STEPS)
    return points


def _up_to(layout: JointLayout, target: Target, below: Point) -> Labels:
    """Clusters dissolved into their symbols, those first that gain most for what they cost."""
    joint, labels = layout.joint, below.labels
    sums = cluster_sums(joint.counts, labels)
    alone_g, alone_f = _eta_sums(joint.counts)
    whole_g, whole_f = _eta_sums(sums)
    gain_f = whole_f - np.bincount(labels, weights=alone_f)
    gain_g = whole_g - np.bincount(labels, weights=alone_g)
    kept, told = gain_f / joint.total, (gain_f - gain_g) / joint.total
    order = np.argsort(target.sign * told / np.maximum(kept, 1e-300), kind="stable")
    order = order[kept[order] > 0.0]
    rise = np.cumsum((kept if target.quantity == "utility" else told)[order])
    missing = target.bits - below.bits
    n = int(np.searchsorted(rise, floor_of(missing)))
    dissolved = np.isin(labels, order[: n + 1 if target.is_floor else n])
    new = labels.copy()
    new[dissolved] = labels.max() + 1 + np.arange(np.count_nonzero(dissolved))
    return Partition(new).labels


def _eta_sums(sums: sp.csc_array) -> tuple[Array, Array]:
    """Σ_s η of each column's cells, and η of its mass."""
    cells = np.add.reduceat(plogp(sums.data), sums.indptr[:-1])
    return cells, plogp(np.asarray(sums.sum(axis=0)))


def _down_to(
    layout: JointLayout, target: Target, above: Point, rng: np.random.Generator
) -> list[Labels]:
    """The clusters of a code merged until they just meet the target; and that polished by moves."""
    joint, code, sign = layout.joint, Partition(above.labels), target.sign
    path = merge_path(code.push(joint), (sign, -sign * above.lam), exact=EXACT)
    labels = merge_light(layout, path.cut_at(target).labels[code.labels], target.price)
    found = [labels]
    if joint.counts.nnz * (int(labels.max()) + 2) * 20 <= MOVES:
        better = anneal(layout, labels, target.price, 0, rng)
        found += [] if better is None else [better]
    return found
