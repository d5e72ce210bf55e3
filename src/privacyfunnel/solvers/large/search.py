"""Large: alphabets beyond the reach of the whole search, for one λ or one target."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from privacyfunnel.codes import Partition
from privacyfunnel.errors import TargetUnreachable
from privacyfunnel.information import Array, plogp
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import PROBLEMS, Objective, leakage, utility
from privacyfunnel.solvers.base import FLAT, Solution, Status
from privacyfunnel.solvers.large.blocks import BlockSearch, Plan
from privacyfunnel.solvers.large.similarity import cluster_sums
from privacyfunnel.solvers.merge_path import merge_path
from privacyfunnel.solvers.moves import Ground, Labels, anneal, merge_small
from privacyfunnel.solvers.targets import MOST_SYMBOLS, Target, cuts_at

STEPS = 8  # halvings of the range of λ in which a target lies
NEAR = 0.003  # of H(X) or H(S) above the target: near enough to merge down to it
EXACT = 500  # clusters up to which every pair is priced on the way down
MOVES = 2e9  # cells that may be priced to polish a code at its target


@dataclass(frozen=True, eq=False)
class Point:
    """A partition and its informations in bits, found at one λ."""

    lam: float
    labels: Labels
    leakage: float
    utility: float

    def on(self, quantity: str) -> float:
        """The information that a target bounds."""
        return self.utility if quantity == "utility" else self.leakage


def solve_large(
    ground: Ground, objective: Objective, plan: Plan, *, rng: np.random.Generator
) -> Solution:
    """A code of low value for one λ, by moves inside blocks of clusters.

    Where the alphabet allows it, the greedy end is a start too.
    """
    search = BlockSearch(ground, objective.problem, objective.weights)
    labels = search.search(plan, rng)
    if ground.joint.n_x <= MOST_SYMBOLS and ground.least == 0:
        path = merge_path(ground.joint, objective.weights, stop_change=-FLAT)
        greedy = path.cut(len(path.merges)).labels
        labels = min(labels, greedy, search.run(greedy, plan, rng), key=search.value)
    late = time.monotonic() > plan.deadline
    status = Status.OUT_OF_TIME if late else Status.CONVERGED
    return Solution.measured(ground.joint, objective, Partition(labels), status)


def solve_large_at(
    ground: Ground, target: Target, plan: Plan, *, rng: np.random.Generator
) -> Solution:
    """A code that meets one target: λ is halved in on it, then clusters are merged down to it.

    Both informations of the code at λ rise with λ for the funnel and fall with it for the
    bottleneck. A code a little above the target loses the rest by merges of few symbols each, so
    that the target is met to within one of them; where no λ tells enough, clusters are dissolved.
    """
    joint = ground.joint
    points = sorted(_around(ground, target, plan, rng), key=lambda p: p.on(target.quantity))
    found = [p.labels for p in points]
    n_below = sum(p.on(target.quantity) < target.bits - 1e-12 for p in points)
    if n_below < len(points):
        found += _down_to(ground, target, points[n_below], rng)
    elif ground.least == 0:
        found.append(_up_to(ground, target, points[-1]))

    def price(labels: Labels) -> float:
        code = Partition(labels)
        return target.price.of(leakage(joint, code), utility(joint, code))

    best = min(found, key=price)
    if price(best) == np.inf:
        rule = f" with every symbol of {ground.least:g} records" if ground.least > 0 else ""
        raise TargetUnreachable(f"no release found meets the target{rule}; lower either.")
    objective = PROBLEMS[target.problem](min(1.0, max(0.0, target.slope)))
    late = time.monotonic() > plan.deadline
    status = Status.OUT_OF_TIME if late else Status.CONVERGED
    return Solution.measured(joint, objective, Partition(best), status)


def _around(ground: Ground, target: Target, plan: Plan, rng: np.random.Generator) -> list[Point]:
    """Points at λ ever nearer to the target."""
    joint, problem = ground.joint, target.problem
    low, high = 0.0, 1.0  # less and more is told at these λ of the funnel
    short = plan._replace(rounds=max(4, plan.rounds // 3), progress=None)
    points: list[Point] = []
    whole = joint.entropy_x if target.quantity == "utility" else joint.entropy_s
    lam, labels = 0.5, None
    for step in range(STEPS):
        objective = PROBLEMS[problem](lam)
        search = BlockSearch(ground, problem, objective.weights)
        labels = search.search(short, rng) if labels is None else search.run(labels, short, rng)
        points.append(_point(joint, lam, labels))
        excess = points[-1].on(target.quantity) - target.bits
        if 0.0 <= excess <= NEAR * whole or time.monotonic() > plan.deadline:
            break
        if (excess > 0.0) == (problem == "funnel"):
            high = lam
        else:
            low = lam
        lam = 0.5 * (low + high)
        if plan.progress is not None:
            plan.progress(step + 1, STEPS)
    return points


def _up_to(ground: Ground, target: Target, below: Point) -> Labels:
    """Clusters dissolved into their symbols, those first that gain most for what they cost."""
    joint, labels = ground.joint, below.labels
    sums = cluster_sums(joint.counts, labels)
    alone_g, alone_f = _eta_sums(joint.counts)
    whole_g, whole_f = _eta_sums(sums)
    gain_f = whole_f - np.bincount(labels, weights=alone_f)
    gain_g = whole_g - np.bincount(labels, weights=alone_g)
    kept, told = gain_f / joint.total, (gain_f - gain_g) / joint.total
    order = np.argsort(target.sign * told / np.maximum(kept, 1e-300), kind="stable")
    order = order[kept[order] > 0.0]
    rise = np.cumsum((kept if target.quantity == "utility" else told)[order])
    missing = target.bits - below.on(target.quantity)
    at_least = (target.problem == "funnel") == (target.quantity == "utility")
    n = int(np.searchsorted(rise, missing - 1e-12))
    dissolved = np.isin(labels, order[: n + 1 if at_least else n])
    new = labels.copy()
    new[dissolved] = labels.max() + 1 + np.arange(np.count_nonzero(dissolved))
    return Partition(new).labels


def _eta_sums(sums: sp.csc_array) -> tuple[Array, Array]:
    """Σ_s η of each column's cells, and η of its mass."""
    cells = np.add.reduceat(plogp(sums.data), sums.indptr[:-1])
    return cells, plogp(np.asarray(sums.sum(axis=0)))


def _point(joint: Joint, lam: float, labels: Labels) -> Point:
    code = Partition(labels)
    return Point(lam, code.labels, leakage(joint, code), utility(joint, code))


def _down_to(
    ground: Ground, target: Target, above: Point, rng: np.random.Generator
) -> list[Labels]:
    """The clusters of a code merged until they just meet the target; and that polished by moves."""
    joint, code = ground.joint, Partition(above.labels)
    small = code.push(joint)
    sign = target.sign
    path = merge_path(small, (sign, -sign * above.lam), exact=EXACT)
    labels = cuts_at([path], target)[0].labels[code.labels]
    if ground.least > 0:
        labels = merge_small(ground, labels, target.price)
    found = [labels]
    if joint.counts.nnz * (int(labels.max()) + 2) * 20 <= MOVES:
        better = anneal(ground, labels, target.price, 0, rng)
        found += [] if better is None else [better]
    return found
