"""Local recoding: each record generalised as little as needed, along the columns' hierarchies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from privacyfunnel.codes import ColumnCode, Partition, RecodedColumn
from privacyfunnel.information import Array
from privacyfunnel.joint import Joint
from privacyfunnel.measures import Measure
from privacyfunnel.recodings.column_cells import Ints
from privacyfunnel.recodings.global_recoding import GlobalSearch
from privacyfunnel.recodings.hierarchy import Tree
from privacyfunnel.recodings.kept import labels_information, of_values
from privacyfunnel.solvers.target import (
    HAIR,
    SLIGHT,
    Price,
    ceiling_of,
    chosen,
    rank,
    stays_within,
    told_and_kept,
)

HOT = (2.0, 0.5, 0.12, 0.03)  # temperatures to start from, in bits of one symbol's usual weight
COOLING = 60.0  # by how much the temperature falls
PILOT = 12  # times fewer sweeps to find which temperature to start from
STEER = 2.0  # how fast the price of what is kept follows its target
RANGE = 30.0  # by how much that price may come to differ from where it started
LAST = 60  # sweeps at temperature zero


@dataclass(frozen=True, eq=False)
class Generalised:
    """A local recoding and what it costs: how far each symbol is generalised in each column."""

    levels: Ints
    kept: float
    leakage: float  # what is told, an amount of the measure: bits of Shannon's


@dataclass(frozen=True, eq=False)
class LocalSearch:
    """Annealed moves over generalised tuples: a symbol goes to another of its generalisations.

    ``levels[x, i]`` says how many steps up the tree of column i the value behind x is released. A move
    is priced from two clusters, found by the hash of their tuples; the price of what is kept is steered
    so that a target is met.
    """

    columns: GlobalSearch  # along the same trees, of the same joint and settings
    informed: bool = False  # keep I(X_i;X̂_i), which the choice of level adds to

    @property
    def joint(self) -> Joint:
        """What is recoded."""
        return self.columns.joint

    @property
    def measure(self) -> Measure:
        """Of what is told about S."""
        return self.columns.measure

    @cached_property
    def trees(self) -> tuple[Tree, ...]:
        """What each column's values may be released as."""
        return tuple(shape for shape in self.columns.shapes if isinstance(shape, Tree))

    @cached_property
    def _unit(self) -> float:
        """How much of what is told counts as a bit: X itself tells as many as it has about S."""
        bits, most = self.joint.information, self.columns.most_told
        return most / bits if bits > 0 and most > 0 else 1.0

    @cached_property
    def _tree(self) -> tuple[Any, ...]:
        """The trees of all columns as `_kernels.generalisation` takes them."""
        chains: list[Ints] = []  # of each value of each column
        loss: list[float] = []
        rates: list[float] = []
        leaf = np.zeros((self.joint.n_x, len(self.trees)), dtype=np.int64)
        for i, (column, tree) in enumerate(zip(self.joint.public, self.trees, strict=True)):
            shares = of_values(column, self.joint.p_x)
            sums = np.concatenate([[0.0], np.cumsum(shares[tree.order])])
            bits = np.log2(np.minimum(sums[tree.high] - sums[tree.low], 1.0))
            bits[-1] = 0.0
            leaf[:, i] = len(chains) + column.codes
            chains += [np.array(chain, dtype=np.int64) + len(loss) for chain in tree.chains]
            rate = self.columns.rates[i]
            loss.extend(rate * bits)
            rates.extend([rate if self.informed else 0.0] * len(bits))
        depth = np.array([len(chain) for chain in chains], dtype=np.int64)
        start, nodes = np.cumsum(depth) - depth, np.concatenate(chains)
        # Fixed numbers: they name tuples, and the result must not depend on them.
        hashes = np.random.default_rng(0).integers(1, 2**63, size=len(loss), dtype=np.uint64)
        return leaf, start, depth, nodes, np.array(loss), hashes, np.array(rates)

    def at(
        self,
        start: Ints,
        mu: float,
        rng: np.random.Generator,
        sweeps: int,
        *,
        kept: float | None = None,
        leakage: float | None = None,
    ) -> Generalised | None:
        """The least leakage found that keeps so much, or the most kept at no more leakage (an amount).

        ``mu`` is about the leakage that all there is to keep costs there. None if not met.
        """
        total, mu = self.joint.total, max(mu, 1e-6)
        if kept is not None:
            target = Price.keeping(kept)
            goal = (1, -kept * total, STEER / total)
        else:
            assert leakage is not None
            target = Price.telling(leakage)
            bits = max(leakage, 0.01 * self.joint.information * self._unit, 1e-9)
            rest = self.measure.at_rest(self.joint.p_s)
            goal = (2, (leakage + rest) * total, STEER / (4 * bits * total))

        def cooled(hot: float, n: int) -> Generalised | None:
            levels = start.copy()
            steered = (*goal, mu / RANGE, mu * RANGE)
            price = self._run(levels, mu, steered, self._temperatures(hot, n), rng)
            return self._finished(levels, price, goal, rng, min(LAST, n))

        # How hot a start may be without losing what the columns' own codes hold differs from table to
        # table: with many columns a symbol has thousands of generalisations to get lost among.
        pilots = [(cooled(hot, max(sweeps // PILOT, 10)), hot) for hot in HOT]
        ranked = sorted(
            (rank(target, told_and_kept(one)), hot) for one, hot in pilots if one is not None
        )
        hottest = [hot for _, hot in ranked[:2]] or [HOT[-1]]
        found = [one for one, _ in pilots]
        found += [cooled(hot, max(sweeps // len(hottest), 10)) for hot in hottest]
        found.append(self._finished(start.copy(), mu, goal, rng, min(LAST, sweeps)))
        return chosen((one for one in found if one is not None), target, told_and_kept)

    def _temperatures(self, hot: float, sweeps: int) -> Array:
        """Falling temperatures, in the units of the weights."""
        hot *= float(np.median(self.joint.masses)) * self._unit
        return np.geomspace(hot, hot / COOLING, sweeps)

    def best(self, start: Ints, mu: float, rng: np.random.Generator, sweeps: int) -> Generalised:
        """A cheap code at one price ``mu`` of all there is to keep."""
        found = []
        part = max(sweeps // len(HOT), 10)
        for temperatures in (*(self._temperatures(hot, part) for hot in HOT), np.zeros(1)):
            levels = start.copy()
            fixed = (0, 0.0, 0.0, mu, mu)
            self._run(levels, mu, fixed, temperatures, rng)
            self._climb(levels, mu)
            self._run(levels, mu, fixed, np.zeros(LAST), rng, strict=True)
            self._show_constants(levels)
            found.append(self.measured(levels))
        return min(found, key=lambda one: one.leakage - mu * one.kept)

    def _finished(
        self,
        levels: Ints,
        mu: float,
        goal: tuple[int, float, float],
        rng: np.random.Generator,
        sweeps: int,
    ) -> Generalised | None:
        """The levels brought to the target, no cell too small, and improved there without leaving it."""
        self._climb(levels, mu)
        for step in range(40):
            if self._meets(levels, goal):
                break
            mu *= 1.0 + (0.004 * 1.15**step) * (1 if goal[0] == 1 else -1)
            if mu <= 0:
                return None
            self._run(levels, mu, (0, 0.0, 0.0, mu, mu), np.zeros(3), rng, strict=True)
        if not self._meets(levels, goal):
            return None
        bound = ceiling_of(goal[1], HAIR * self.joint.total)
        self._run(levels, mu, (goal[0], bound, goal[2], mu, mu), np.zeros(sweeps), rng, strict=True)
        self._show_constants(levels)
        return self.measured(levels)

    def _meets(self, levels: Ints, goal: tuple[int, float, float]) -> bool:
        found, total = self.measured(levels), self.joint.total
        reached = -found.kept
        if goal[0] == 2:
            reached = found.leakage + self.measure.at_rest(self.joint.p_s)
        return bool(stays_within(reached * total, goal[1], HAIR * total))

    def _run(
        self,
        levels: Ints,
        mu: float,
        goal: tuple[int, float, float, float, float],
        temperatures: Array,
        rng: np.random.Generator,
        *,
        strict: bool = False,
    ) -> float:
        from privacyfunnel._kernels.generalisation import generalise

        kind, *numbers = goal
        mu, _, _ = generalise(
            self.columns._columns,
            self._tree,
            levels,
            self.joint.masses,
            self.columns._measure,
            float(mu),
            (kind, *map(float, numbers)),
            (HAIR, SLIGHT),
            temperatures,
            self.columns.min_count,
            strict,
            rng,
        )
        return float(mu)

    def _climb(self, levels: Ints, mu: float) -> None:
        """Leave no cell below the least count, the one of * included."""
        c = self.columns
        if c.min_count <= 0:
            return
        from privacyfunnel._kernels.generalisation import climb

        masses = self.joint.masses
        climb(c._columns, self._tree, levels, masses, c._measure, float(mu), c.min_count)
        top = self._top
        while True:
            cells = self._cells(levels)
            starred = (levels == top).all(axis=1)
            weight = masses[starred].sum()
            if weight == 0 or weight >= c.min_count or starred.all():
                return
            losses = self._tree[4][self.nodes(levels)].sum(axis=1)
            costs = np.bincount(cells, weights=-losses * masses)
            costs[cells[starred]] = np.inf
            joins = cells == np.argmin(costs)
            levels[joins] = top[joins]

    def _show_constants(self, levels: Ints) -> None:
        """A column of one value has nothing to hide: it is as it is, but where all others are ``*``.

        Whether it is costs nothing, so that moves split combinations by it; this joins them again.
        """
        alone = np.array([tree.n_values == 1 for tree in self.trees])
        starred = (levels == self._top)[:, ~alone].all(axis=1) & ~alone.all()
        levels[:, alone] = np.where(starred[:, None], self._top[:, alone], 0)

    @property
    def _top(self) -> Ints:
        """The level of ``*`` in each column, for each x."""
        return np.asarray(self._tree[2][self._tree[0]] - 1)

    def nodes(self, levels: Ints) -> Ints:
        """The node of each column that each x is released as, numbered through all trees."""
        leaf, start, _, nodes, *_ = self._tree
        return np.asarray(nodes[start[leaf] + levels])

    def _cells(self, levels: Ints) -> Ints:
        """The number of the combination that each x is released as."""
        cells = np.unique(self.nodes(levels), axis=0, return_inverse=True)[1]
        return cells.ravel().astype(np.int64)

    def measured(self, levels: Ints) -> Generalised:
        """What a code keeps and tells, measured."""
        told = self.measure.told(self.joint.p_sx @ Partition(self._cells(levels)).matrix)
        return Generalised(levels, self._kept(levels), told)

    def _kept(self, levels: Ints) -> float:
        """The share kept: by the linear loss, or each column's I(X_i;X̂_i)/H(X_i) if it is `informed`."""
        nodes, p_x = self.nodes(levels), self.joint.p_x
        if not self.informed:
            return -float(p_x @ self._tree[4][nodes].sum(axis=1))
        found = 0.0
        for i, column in enumerate(self.joint.public):
            bits = labels_information(nodes[:, i], column.codes, p_x)
            found += self.columns.rates[i] * bits
        return found

    def levels(self, labels: Sequence[Ints]) -> Ints:
        """The levels of a global recoding along the same trees; what it suppresses is at the top."""
        (_, gone), top = self.columns.released(labels), self._top
        found = np.zeros((self.joint.n_x, len(self.trees)), dtype=np.int64)
        for i, (column, tree) in enumerate(zip(self.joint.public, self.trees, strict=True)):
            of_value = [
                chain.index(node) for chain, node in zip(tree.chains, labels[i], strict=True)
            ]
            found[:, i] = np.where(gone, top[:, i], np.array(of_value)[column.codes])
        return found

    def code(self, found: Generalised) -> ColumnCode:
        """The code with its groups named."""
        nodes, first = self.nodes(found.levels), 0
        columns, cells = [], np.zeros_like(nodes)
        for i, (column, tree) in enumerate(zip(self.joint.public, self.trees, strict=True)):
            own, n_nodes = nodes[:, i] - first, len(tree.groups)
            used = np.unique(own)
            # In the order of the tree, which is that of the column: single values first, * last.
            rank = (used >= tree.n_values).astype(np.int64) + (used == n_nodes - 1)
            used = used[np.lexsort((tree.low[used], rank))]
            place = np.zeros(n_nodes, dtype=np.int64)
            place[used] = np.arange(len(used))
            cells[:, i] = place[own]
            columns.append(RecodedColumn(column.name, tuple(tree.groups[node] for node in used)))
            first += n_nodes
        return ColumnCode(columns, cells)
