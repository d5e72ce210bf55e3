"""Moves: take symbols out and put them where the objective is lowest; merges, splits and swaps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from privacyfunnel.codes import Partition
from privacyfunnel.information import Array, plogp
from privacyfunnel.joint import Joint, csc_columns, eta_table
from privacyfunnel.objectives import Objective, leakage, utility
from privacyfunnel.solvers.base import FLAT, Solution, Status
from privacyfunnel.solvers.measured_layout import NOTHING, MeasuredLayout
from privacyfunnel.solvers.merge_path import merged_clusters
from privacyfunnel.solvers.pairwise import GreedyMerge
from privacyfunnel.solvers.target import Price, Weights, ceiling_of
from privacyfunnel.validation import check_whole

Labels = NDArray[np.int64]

HOT, COLD = 0.7, 0.00003  # first and last temperature, in units of the mean p(x)
LOOSE, TIGHT, STRICT = 0.7, 1.5, 3.0  # what a bit beyond the limit costs: first, last, at the end
DESCENT_SWEEPS = 20
MOST_PRICED = 1e8  # moves priced while annealing
BY_ROWS = 0.24  # of the sweeps with a use, whose rows come on top of those of S
MEASURED = 0.11  # the same by other measures, of which each takes longer still
EVERY_ROW = 0.05  # the same by those that look at every row of a cluster for each move
SWAPS = 2  # proposed for each symbol in each warm sweep, beside its move


@dataclass(frozen=True, eq=False)
class JointLayout:
    """A joint laid out for the kernels, with the rule that every symbol covers ``least`` weight.

    Prices and limits are weights (α, β) of α I(S;X̂) + β I(X;X̂); the kernels know sums of η of
    weights instead, which differ by a factor and a constant.
    """

    joint: Joint
    least: float = 0.0
    measured: MeasuredLayout | None = None  # where more than I(S;X̂) and I(X;X̂) is priced

    @property
    def pace(self) -> float:
        """The share of the sweeps that it takes as long as Shannon's loop takes for all."""
        if self.measured is None:
            return 1.0
        if self.measured.by_rows:
            return BY_ROWS
        return EVERY_ROW if self.measured.every_row else MEASURED

    def amounts(self, code: Partition) -> tuple[float, float]:
        """What a code tells and keeps, as a price weighs it."""
        if self.measured is not None:
            told, kept = self.measured.amounts(code)
            return told, kept
        return leakage(self.joint, code), utility(self.joint, code)

    def is_heavy(self, labels: Labels) -> bool:
        """Whether every cluster covers the least weight."""
        masses = np.bincount(labels, weights=self.joint.masses)
        return bool(masses[masses > 0].min() >= self.least)

    @cached_property
    def columns(self) -> tuple[Any, ...]:
        """The CSC parts of the counts and the number of rows."""
        return csc_columns(self.joint.counts)

    @cached_property
    def table(self) -> Array:
        """η of whole numbers, see `eta_table`."""
        return eta_table(self.joint.counts)

    @property
    def tol(self) -> float:
        """A gain, in units of η, that rounding alone can feign."""
        return NOTHING * self.joint.total

    @staticmethod
    def eta_weights(weights: Weights) -> tuple[float, float]:
        """The weights of (G, F) that go with (α, β): I(S;X̂) ~ G − F and I(X;X̂) ~ −F."""
        return float(weights[0]), float(-weights[0] - weights[1])

    def row_weights(self, weights: Weights) -> tuple[Array, float]:
        """The same for loops that weigh every row: of each η(w_sc) and of F."""
        of_rows, of_masses = self.eta_weights(weights)
        return np.full(self.joint.n_s, of_rows), of_masses

    def eta_bound(self, weights: Weights, bound: float) -> float:
        """The bound of ``eta_weights · (G, F)`` that says α I(S;X̂) + β I(X;X̂) ≤ bound."""
        told, kept = self.informations(0.0, 0.0)
        constant = weights[0] * told + weights[1] * kept
        return float(ceiling_of(bound - constant) * self.joint.total)

    def informations(self, g: Any, f: Any) -> tuple[Any, Any]:
        """I(S;X̂) = (G − F)/N + H(S) and I(X;X̂) = log N − F/N."""
        n = self.joint.total
        return (g - f) / n + self.joint.entropy_s, float(np.log2(n)) - f / n

    def moving(self, labels: Labels, price: Price) -> tuple[Any, ...]:
        """What every loop over moves takes first: joint, labels, what to lower, within what."""
        limit, bound = price.limit
        return (
            self.columns,
            self.joint.masses,
            np.array(labels, dtype=np.int64),
            self.table,
            self.row_weights(price.weights),
            self.row_weights(limit),
            self.eta_bound(limit, bound),
        )


def layout_for(joint: Joint, objective: Objective, least: float = 0.0) -> JointLayout:
    """The joint laid out for what an objective prices."""
    if objective.plain:
        return JointLayout(joint, least)
    return JointLayout(joint, least, MeasuredLayout(joint, objective.quantities(joint)))


def cooling(sweeps: int, joint: Joint) -> Array:
    """The temperature and the penalty of each sweep, ``[sweep, 2]``; then those of plain descent."""
    schedule = np.zeros((sweeps + DESCENT_SWEEPS, 2))
    schedule[:sweeps, 0] = np.geomspace(HOT, COLD, sweeps) * (joint.total / joint.n_x)
    schedule[:sweeps, 1] = np.geomspace(LOOSE, TIGHT, sweeps)
    schedule[sweeps:, 1] = STRICT
    return schedule


def anneal(
    layout: JointLayout,
    labels: Labels,
    price: Price,
    sweeps: int,
    rng: Generator,
    *,
    fixed: bool = False,
) -> Labels | None:
    """Annealed moves and swaps of symbols, then plain moves; the best labels seen within the limit.

    ``sweeps`` = 0 is plain descent; ``fixed`` keeps the number of clusters while annealing. None
    where no code within the limit was met.
    """
    from privacyfunnel._kernels import moves

    schedule = cooling(sweeps, layout.joint)
    if layout.measured is not None:
        swaps = SWAPS if layout.measured.by_rows else 1
        return layout.measured.anneal(labels, price, schedule, swaps, layout.least, fixed, rng)
    best, value = moves.anneal(
        *layout.moving(labels, price), schedule, SWAPS, layout.least, fixed, layout.tol, rng
    )
    return best if np.isfinite(value) else None


def swap(layout: JointLayout, labels: Labels, price: Price) -> Labels:
    """Exchange pairs of symbols wherever that lowers the price within the limit."""
    from privacyfunnel._kernels import moves

    if layout.measured is not None:
        return layout.measured.swap(labels, price, layout.least)
    given = layout.moving(labels, price)
    swapped: Labels = moves.swap_descent(*given, layout.least, layout.tol)
    return swapped


def merge_pairs(layout: JointLayout, labels: Labels, price: Price) -> Labels | None:
    """Merge the two clusters that lower the price most, again and again; None where no pair does."""
    if layout.measured is not None:
        return layout.measured.merge_pairs(labels, price)
    code = Partition(labels)
    merged = merged_clusters(layout.joint, code, price.weights, stop_change=-FLAT)
    return merged.labels if merged.n_symbols < code.n_symbols else None


def split_clusters(
    layout: JointLayout, labels: Labels, price: Price, rng: Generator
) -> Labels | None:
    """Split each cluster in two wherever that lowers the price; None where no split does."""
    labels, found = labels.copy(), False
    for members in Partition(labels).clusters():
        halves = _halves(layout, members, price, rng) if len(members) > 1 else None
        if halves is not None:
            labels[members] = labels.max() + 1 + halves
            found = True
    return Partition(labels).labels if found else None


def _halves(layout: JointLayout, members: Labels, price: Price, rng: Generator) -> Labels | None:
    """A cluster's members in two groups, where that lowers the price; else None.

    The price is a sum over clusters, so this is a small problem of its own, in which keeping the
    cluster whole costs nothing.
    """
    if layout.measured is not None:
        return layout.measured.split(members, price, layout.least, rng)
    part = JointLayout(Joint.from_counts(layout.joint.counts[:, members]), layout.least)
    halves = anneal(part, rng.permutation(np.arange(len(members)) % 2), price, 0, rng)
    if halves is None or halves.max() == 0 or not part.is_heavy(halves):
        return None
    code = Partition(halves)
    return code.labels if price.of(*part.amounts(code)) < -FLAT else None


def merge_light(layout: JointLayout, labels: Labels, price: Price) -> Labels:
    """Merge clusters lighter than ``least``, the lightest first, each where the price rises least."""
    if layout.least == 0:
        return labels
    labels = Partition(labels).labels.copy()
    while True:
        sums = (layout.joint.counts @ Partition(labels).matrix).toarray().T
        masses = sums.sum(axis=1)
        lightest = int(np.argmin(masses))
        if masses[lightest] >= layout.least or len(masses) == 1:
            return labels
        if layout.measured is not None:
            rise = layout.measured.merge_rises(labels, lightest, price)
        else:
            weight_g, weight_f = layout.eta_weights(price.weights)
            together = sums + sums[lightest]
            rise_g = plogp(together).sum(axis=1) - plogp(sums).sum(axis=1)
            rise_f = plogp(masses + masses[lightest]) - plogp(masses)
            rise = weight_g * rise_g + weight_f * rise_f
        rise[lightest] = np.inf
        labels[labels == lightest] = int(np.argmin(rise))
        labels = Partition(labels).labels.copy()


def polish(layout: JointLayout, labels: Labels, price: Price, rng: Generator) -> Labels:
    """Plain moves, merges and splits until none lowers the price, which must have no limit."""
    while True:
        moved = anneal(layout, labels, price, 0, rng)
        assert moved is not None
        better = merge_pairs(layout, moved, price)
        if better is None:
            better = split_clusters(layout, moved, price, rng)
        if better is None:
            return moved
        labels = better


@dataclass(frozen=True)
class MoveSearch:
    """Single-symbol moves from the greedy end (or ``start``): annealed, then plain, with merges
    and splits of whole clusters.

    A symbol is taken out and put where the objective is lowest, a new cluster included; the price
    of a move comes from the touched clusters alone. ``sweeps`` = 0 leaves the annealing out; there are
    fewer than asked for where X is large.
    """

    sweeps: int = 1500

    any_measure = True

    def __post_init__(self) -> None:
        check_whole("sweeps", self.sweeps, 0)

    def solve(
        self, joint: Joint, objective: Objective, *, start: Partition | None = None, rng: Generator
    ) -> Solution:
        """Move symbols until no move, merge or split lowers the objective."""
        if start is None:
            greedy = GreedyMerge().solve(joint, objective, rng=rng).code
            assert isinstance(greedy, Partition)
            start = greedy
        layout, price = layout_for(joint, objective), Price(objective.weights)
        allowed = MOST_PRICED / (joint.n_x * (start.n_symbols + 1))
        sweeps = int(min(self.sweeps * layout.pace, allowed))
        labels = anneal(layout, start.labels, price, sweeps, rng)
        assert labels is not None
        labels = polish(layout, labels, price, rng)
        return Solution.measured(joint, objective, Partition(labels), Status.CONVERGED)
