"""Blocks: a large alphabet searched in small groups of clusters, dealt anew in every round."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.codes import Partition
from privacyfunnel.information import Array
from privacyfunnel.joint import csc_columns, eta_table
from privacyfunnel.objectives import Objective
from privacyfunnel.parallel import Progress, tell
from privacyfunnel.solvers.base import Solution, Status
from privacyfunnel.solvers.effort import LARGE
from privacyfunnel.solvers.large.similarity import cluster_sums, order_by_similarity
from privacyfunnel.solvers.moves import JointLayout, Labels
from privacyfunnel.solvers.target import Price, Weights

BLOCK_SIZES = 128, 1024  # clusters in a block: least and most
LONG = 200_000  # symbols beyond which there are fewer rounds
TASKS = 64  # into which a round's blocks are put, whatever the number of threads
MERGING = 10  # rounds between two tries to merge whole clusters
COOLING = 0.85  # share of the rounds that are warm
SHRINKING = 0.9  # merging goes on while each round leaves at most this share of the clusters
HUBS = 16  # heaviest clusters, in every block of every other round
WARMTH = {"funnel": (0.05, 0.005), "bottleneck": (0.3, 0.02)}  # in units of the mean p(x)


class LargeRun(NamedTuple):
    """How long to search: rounds, clusters in a block, random moves, when to stop, whom to tell."""

    rounds: int
    size: int
    proposals: float = 0.0
    deadline: float = math.inf  # as time.monotonic tells it
    progress: Progress | None = None

    @classmethod
    def of(
        cls,
        n_x: int,
        effort: str,
        max_seconds: float | None = None,
        progress: Progress | None = None,
    ) -> LargeRun:
        """The run of an effort: blocks are as large as so many pairs of symbol and cluster allow.

        Beyond 200,000 symbols, of which each round takes long, there are fewer rounds.

        >>> LargeRun.of(1_000_000, "normal")[:2], LargeRun.of(5_000, "normal")[:2]
        ((35, 128), (60, 1000))
        """
        rounds, pairs, proposals = LARGE[effort]
        rounds = int(rounds * min(1.0, (LONG / n_x) ** (1 / 3)))
        deadline = math.inf if max_seconds is None else time.monotonic() + max_seconds
        size = int(np.clip(pairs / n_x, *BLOCK_SIZES))
        return cls(rounds, size, proposals, deadline, progress)

    @property
    def is_late(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() > self.deadline

    @property
    def status(self) -> Status:
        """Why a run that has just ended did so."""
        return Status.OUT_OF_TIME if self.is_late else Status.CONVERGED


@dataclass(frozen=True, eq=False)
class BlockSearch:
    """Moves for one price α I(S;X̂) + β I(X;X̂) over an alphabet of any size.

    The price is a sum over clusters, so small groups of clusters are problems of their own. In each
    round all clusters are dealt to blocks of some hundred, and each block moves its symbols between
    its own clusters, annealed over the rounds: at random for the funnel, whose clusters all want to
    look like p(s); similar ones together for the bottleneck. Time and memory grow with the nonzeros.
    """

    layout: JointLayout
    problem: str
    weights: Weights

    @cached_property
    def arrays(self) -> tuple[tuple[Any, ...], NDArray[Any], Array]:
        """Columns, masses of the symbols and η for the kernel: whole numbers where they are."""
        counts = self.layout.joint.counts
        table = eta_table(counts, most=max(2**20, 4 * counts.nnz))
        kind = np.int32 if table.size else np.float64
        masses = np.asarray(counts.sum(axis=0)).astype(kind)
        return csc_columns(counts, kind), masses, table

    def from_scratch(
        self, run: LargeRun, rng: np.random.Generator, known: Sequence[Labels] = ()
    ) -> Labels:
        """The best labels found from a ladder of starts and known labels, each tried for a few rounds."""
        short = run._replace(rounds=max(2, run.rounds // 8), progress=None)
        starts = [*self._starts(run.size, rng, merging=not known), *known]
        tried = [self.improve(labels, short, rng) for labels in starts]
        best = min(*tried, *starts, key=self.value)
        return min(self.improve(best, run, rng), best, key=self.value)

    def value(self, labels: Labels) -> float:
        """α I(S;X̂) + β I(X;X̂) of a partition."""
        return Price(self.weights).of(*self.layout.amounts(Partition(labels)))

    def _starts(self, size: int, rng: np.random.Generator, *, merging: bool) -> list[Labels]:
        """Symbols merged pair by pair in blocks, the best of groups of 1, 4, 16, ..., or all in one."""
        n = self.layout.joint.n_x
        alone, masses = np.arange(n), self.arrays[1].astype(float)
        order = self._deal(alone, alone, rng, 1)
        least = self.layout.least or masses.min()
        rungs = least * 4.0 ** np.arange(math.ceil(math.log(masses.sum() / least, 4.0)) + 1)
        ladder = [filled_in_order(order, masses, least) for least in rungs]
        found = [min(ladder, key=self.value), np.zeros(n, dtype=np.int64)]
        if merging and self.layout.least == 0:
            found.append(self._merged(size, rng))
        return sorted(found, key=self.value)[:2]

    def _merged(self, size: int, rng: np.random.Generator) -> Labels:
        """Pairs merged inside blocks, dealt anew until few are left to merge."""
        size = size if self.problem == "funnel" else size // 4  # the funnel wants more choice
        labels, n_before = np.arange(self.layout.joint.n_x), math.inf
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            while labels.max() + 1 < SHRINKING * n_before:
                n_before = int(labels.max()) + 1
                labels = self._round(labels, (0.0, 0, True, False), size, False, rng, pool)
        return labels

    def improve(
        self, labels: Labels, run: LargeRun, rng: np.random.Generator, *, fixed: bool = False
    ) -> Labels:
        """The labels after the rounds; ``fixed`` keeps the number of clusters."""
        hot, cold = WARMTH[self.problem]
        warm = int(COOLING * run.rounds)
        temperatures = np.zeros(run.rounds)
        temperatures[:warm] = np.geomspace(hot, cold, warm)
        scale = self.layout.joint.total / self.layout.joint.n_x
        labels = np.ascontiguousarray(labels, dtype=np.int64)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for done, temperature in enumerate(temperatures):
                if run.is_late and temperature > 0.0:
                    continue  # out of time: the cold rounds alone are left
                merging = done % MERGING == MERGING - 1 or done >= run.rounds - 3
                how = (float(temperature * scale), 1, bool(merging), fixed)
                labels = self._round(
                    labels, how, run.size, done % 2 == 1 and not merging, rng, pool
                )
                tell(run.progress, done + 1, run.rounds)
        return labels

    def _round(
        self,
        labels: Labels,
        how: Any,
        size: int,
        with_hubs: bool,
        rng: np.random.Generator,
        pool: ThreadPoolExecutor,
    ) -> Labels:
        from privacyfunnel._kernels.blocks import members_of, move_in_blocks

        n_clusters = int(labels.max()) + 1
        columns, masses, table = self.arrays
        members, starts = members_of(labels, n_clusters)
        hubs = self._hubs(labels, n_clusters, size) if with_hubs else np.zeros(0, dtype=np.int64)
        sums = self._sums(labels, n_clusters, hubs)
        rest = np.setdiff1d(np.arange(n_clusters), hubs, assume_unique=True)
        dealt = np.concatenate([hubs, rest[self._deal(labels, rest, rng, size)]])
        first = [0] if len(hubs) else []
        n_blocks = max(1, math.ceil(len(rest) / size))
        bounds = np.linspace(len(hubs), n_clusters, n_blocks + 1).round().astype(np.int64)
        bounds = np.concatenate([first, bounds]).astype(np.int64)
        offsets = np.concatenate([[0], np.cumsum(2 * np.diff(bounds) + 1)])
        edges = np.unique(np.linspace(0, len(bounds) - 1, TASKS + 1).round().astype(np.int64))
        new = np.empty_like(labels)
        tasks = [
            pool.submit(
                move_in_blocks, columns, masses, table, self.layout.eta_weights(self.weights),
                (members, starts, dealt, bounds), (sums, sums.sum(axis=0)),
                (int(low), int(high)), how, self.layout.least, self.layout.tol, offsets, task_rng, new,
            )
            for low, high, task_rng in zip(
                edges[:-1], edges[1:], rng.spawn(len(edges) - 1), strict=True
            )
        ]  # fmt: skip
        for task in tasks:
            task.result()
        return without_gaps(new, int(offsets[-1]))

    def _hubs(self, labels: Labels, n_clusters: int, size: int) -> NDArray[np.int64]:
        """The heaviest clusters, where there are more than fit into a block."""
        if self.problem == "funnel" or n_clusters <= size:
            return np.zeros(0, dtype=np.int64)
        weights = np.bincount(labels, weights=self.arrays[1], minlength=n_clusters)
        return np.argpartition(-weights, HUBS)[:HUBS]

    def _sums(self, labels: Labels, n_clusters: int, hubs: NDArray[np.int64]) -> NDArray[Any]:
        """The sums of some clusters, ``[s, hub]``."""
        counts, dtype = self.layout.joint.counts, self.arrays[1].dtype
        if not len(hubs):
            return np.zeros((counts.shape[0], 0), dtype)
        where = np.full(n_clusters, -1)
        where[hubs] = np.arange(len(hubs))
        inside = np.flatnonzero(where[labels] >= 0)
        sums = cluster_sums(counts[:, inside], where[labels[inside]])
        return np.ascontiguousarray(sums.toarray(), dtype)

    def _deal(
        self, labels: Labels, rest: NDArray[np.int64], rng: np.random.Generator, size: int
    ) -> NDArray[np.int64]:
        """The clusters of ``rest`` in the order in which they fill blocks of a size."""
        if self.problem == "funnel" or len(rest) <= size:
            return rng.permutation(len(rest))
        counts = self.layout.joint.counts
        return order_by_similarity(cluster_sums(counts, labels)[:, rest], size, rng)


def solve_in_blocks(
    layout: JointLayout,
    objective: Objective,
    run: LargeRun,
    *,
    known: Sequence[Labels] = (),
    rng: np.random.Generator,
) -> Solution:
    """A code of low value for one λ, by moves inside blocks of clusters, no worse than the known ones."""
    search = BlockSearch(layout, objective.problem, objective.weights)
    labels = search.from_scratch(run, rng, known)
    return Solution.measured(layout.joint, objective, Partition(labels), run.status)


def filled_in_order(order: NDArray[np.int64], masses: Array, least: float) -> Labels:
    """Labels of neighbours in an order, together until they weigh ``least``.

    >>> filled_in_order(np.array([2, 0, 1]), np.array([1.0, 1.0, 3.0]), 2.0)
    array([1, 1, 0])
    """
    from privacyfunnel._kernels.blocks import fill_groups

    labels = np.empty(len(order), dtype=np.int64)
    labels[order] = fill_groups(masses[order], least)
    return labels


def without_gaps(labels: Labels, most: int) -> Labels:
    """Labels below ``most`` renumbered so that none is left out.

    >>> without_gaps(np.array([5, 2, 5]), 9)
    array([1, 0, 1])
    """
    used = np.zeros(most, dtype=bool)
    used[labels] = True
    return np.asarray((np.cumsum(used) - 1)[labels])
