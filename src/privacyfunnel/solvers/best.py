"""Best: a portfolio of starts, polished by moves, for one λ or for one exact target."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, field

import numpy as np

from privacyfunnel.codes import Partition
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.joint import Joint
from privacyfunnel.limits import gap
from privacyfunnel.objectives import PROBLEMS, Objective, leakage, utility
from privacyfunnel.parallel import Progress
from privacyfunnel.solvers.base import Solution, Status
from privacyfunnel.solvers.equal_profiles import groups_for, lift
from privacyfunnel.solvers.exhaustive import ExhaustiveSearch
from privacyfunnel.solvers.iac_mdsf import IacMdsf
from privacyfunnel.solvers.large.blocks import plan_for
from privacyfunnel.solvers.large.search import solve_large, solve_large_at
from privacyfunnel.solvers.moves import (
    Ground,
    Labels,
    MoveSearch,
    Price,
    anneal,
    merge_small,
    polish,
    swap,
)
from privacyfunnel.solvers.pairwise import GreedyMerge
from privacyfunnel.solvers.targets import Target
from privacyfunnel.validation import check_at_least, check_choice

SMALL = 12  # alphabets up to here are searched exhaustively for one λ
LARGEST_SWAP = 3000  # symbols; trying all pairs takes too long beyond
NEAR_LIMIT = 1e-4  # bits from the limit at which a search has no more to gain
RUNGS = 6  # numbers of clusters tried, from the least that can carry the utility


@dataclass(frozen=True)
class Effort:
    """What a search may spend."""

    sweeps: int  # over the alphabet, for each start
    finalists: int  # starts that go on
    final_sweeps: int  # for each finalist
    moves: float  # most moves priced in one run; bounds the sweeps on large alphabets

    def within(self, sweeps: int, labels: Labels) -> int:
        """The sweeps that the budget allows for this code."""
        return int(min(sweeps, max(20, self.moves / (labels.size * (labels.max() + 2)))))


EFFORTS = {
    "fast": Effort(sweeps=150, finalists=1, final_sweeps=600, moves=1e7),
    "normal": Effort(sweeps=300, finalists=1, final_sweeps=4000, moves=1e8),
    "thorough": Effort(sweeps=3000, finalists=6, final_sweeps=30_000, moves=2e9),
}

LARGE = {"fast": 500, "normal": 600, "thorough": 1200}  # symbols beyond which blocks are searched

PORTFOLIO = (IacMdsf(), GreedyMerge(), MoveSearch())

Candidate = tuple[Labels, bool]  # labels to start from, and whether to keep their number
Found = tuple[float, Labels]  # a price and the labels that have it


@dataclass(frozen=True)
class BestSearch:
    """The default method: greedy, IAC-MDSF and random starts, annealed and polished by moves.

    Never worse than greedy, IAC-MDSF or moves alone with the same seed. Alphabets of up to 12
    symbols are searched exhaustively, those of more than 600 in blocks (`BlockSearch`).
    ``effort`` ("fast", "normal" or "thorough") is the budget; ``min_count`` the least number of
    records that every released symbol must cover. In blocks, ``max_seconds`` ends the search early
    with the best found so far, and ``progress`` is called with (done, all).
    """

    effort: str = "normal"
    min_count: int = 1
    max_seconds: float | None = None
    progress: Progress | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_choice("effort", self.effort, list(EFFORTS))
        check_at_least("min_count", self.min_count, 1)
        if self.max_seconds is not None:
            check_at_least("max_seconds", self.max_seconds, 0.0)

    def solve(
        self,
        joint: Joint,
        objective: Objective,
        *,
        start: Partition | None = None,
        rng: np.random.Generator,
    ) -> Solution:
        """The best code found for one λ."""
        ground, price = self.ground(joint), Price(objective.weights)
        if joint.n_x <= SMALL and ground.least == 0:
            return ExhaustiveSearch().solve(joint, objective, rng=rng)
        if joint.n_x > LARGE[self.effort]:
            return self._in_blocks(joint, objective, rng)
        # Each method gets the generator as it is now, and so does what it would do on its own.
        alone = [solver.solve(joint, objective, rng=deepcopy(rng)).code for solver in PORTFOLIO]
        codes = [code for code in (*alone, start) if isinstance(code, Partition)]
        groups = groups_for(joint, objective.problem)
        if groups is not None:
            grouped = self.solve(groups.push(joint), objective, rng=rng)
            codes.append(lift(grouped, groups))
        found = self._improve(ground, price, _free([*codes, Partition.trivial(joint.n_x)]), rng)
        if groups is None:
            sweeps = EFFORTS[self.effort].final_sweeps
            if gap(joint, Partition(_best(found)[1]), objective.problem) > NEAR_LIMIT:
                around = {round(codes[1].n_symbols * factor) for factor in (0.5, 0.75, 1.0, 1.5)}
                found += self._improve(ground, price, _balanced(joint, around, rng), rng)
            else:  # on the limit a longer run gained 0.00004 bits, on average of 49 joints
                sweeps //= 4
            found += self._finals(ground, price, found, rng, sweeps)
        labels = _best(found)[1]
        if ground.least == 0:
            labels = polish(ground, labels, price, rng)
        return Solution.measured(joint, objective, Partition(labels), Status.CONVERGED)

    def solve_at(
        self,
        joint: Joint,
        target: Target,
        *,
        starts: Sequence[Partition] = (),
        rng: np.random.Generator,
    ) -> Solution:
        """The best code found that meets the target; `TargetUnreachable` where none does."""
        if joint.n_x > LARGE[self.effort]:
            return self._in_blocks(joint, target, rng)
        ground, price = self.ground(joint), target.price
        codes = list(starts)
        groups = groups_for(joint, target.problem)
        if groups is not None:
            codes.append(lift(self.solve_at(groups.push(joint), target, rng=rng), groups))
        ends = [Partition.identity(joint.n_x), Partition.trivial(joint.n_x)]
        found = self._improve(ground, price, _free([*codes, *ends]), rng, sweeps=0)
        if not found:
            farthest = self._farthest(ground, target, rng)
            found = self._improve(ground, price, _free([Partition(farthest[1])]), rng, sweeps=0)
        if not found:
            raise TargetUnreachable(self._nearest(joint, target, -farthest[0]))
        if _best(found)[0] > target.floor(joint) + NEAR_LIMIT:
            found += self._improve(ground, price, _free(codes or ends), rng)
        # On the limit nothing is left to gain but a fraction of a symbol's share.
        if groups is None and gap(joint, Partition(_best(found)[1]), target.problem) > NEAR_LIMIT:
            sizes = _ladder(joint, target, _best(found)[1])
            found += self._improve(ground, price, _balanced(joint, sizes, rng), rng)
            sweeps = EFFORTS[self.effort].final_sweeps
            found += self._finals(ground, price, found, rng, sweeps)
        labels = _best(found)[1]
        if joint.n_x <= LARGEST_SWAP:
            labels = swap(ground, labels, price)
        objective = PROBLEMS[target.problem](min(1.0, max(0.0, target.slope)))
        return Solution.measured(joint, objective, Partition(labels), Status.CONVERGED)

    def _in_blocks(
        self, joint: Joint, demand: Objective | Target, rng: np.random.Generator
    ) -> Solution:
        """The search for large alphabets, over groups of equal p(s given x) where there are any."""
        plan = plan_for(joint.n_x, self.effort, self.max_seconds, self.progress)
        groups = groups_for(joint, demand.problem)
        ground = self.ground(joint if groups is None else groups.push(joint))
        if isinstance(demand, Target):
            found = solve_large_at(ground, demand, plan, rng=rng)
        else:
            found = solve_large(ground, demand, plan, rng=rng)
        if groups is None:
            return found
        return Solution.measured(joint, found.objective, lift(found, groups), found.status)

    def ground(self, joint: Joint) -> Ground:
        """The joint laid out for the kernels, with the rule of ``min_count``."""
        if self.min_count == 1:
            return Ground(joint)
        if joint.n_records is None:
            raise InvalidInput("min_count needs whole counts of records; build with from_counts.")
        if self.min_count > joint.n_records:
            raise InvalidInput(
                f"min_count must be at most the number of records, {joint.n_records}, "
                f"got {self.min_count}."
            )
        return Ground(joint, float(self.min_count))

    def _improve(
        self,
        ground: Ground,
        price: Price,
        candidates: Sequence[Candidate],
        rng: np.random.Generator,
        sweeps: int | None = None,
    ) -> list[Found]:
        """Anneal each candidate; those that met a code within the limit, with their price.

        They share the cores, whose number changes nothing: each has a generator of its own.
        """
        effort = EFFORTS[self.effort]

        def improved(candidate: Candidate, rng: np.random.Generator) -> Labels | None:
            labels, fixed = candidate
            if ground.least > 0:
                labels = merge_small(ground, labels, price)
            allowed = effort.within(effort.sweeps if sweeps is None else sweeps, labels)
            return anneal(ground, labels, price, allowed, rng, fixed=fixed)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            better = list(pool.map(improved, candidates, rng.spawn(len(candidates))))
        codes = [Partition(labels) for labels in better if labels is not None]
        return [
            (price.of(leakage(ground.joint, code), utility(ground.joint, code)), code.labels)
            for code in codes
        ]

    def _finals(
        self,
        ground: Ground,
        price: Price,
        found: list[Found],
        rng: np.random.Generator,
        sweeps: int,
    ) -> list[Found]:
        """A longer run for the best candidates of different sizes, and one with free size."""
        best_of_size: dict[int, Labels] = {}
        for _, labels in sorted(found, key=lambda pair: pair[0]):
            best_of_size.setdefault(int(labels.max()), labels)
        finalists = list(best_of_size.values())[: EFFORTS[self.effort].finalists]
        candidates = [(labels, True) for labels in finalists] + [(finalists[0], False)]
        return self._improve(ground, price, candidates, rng, sweeps)

    def _farthest(self, ground: Ground, target: Target, rng: np.random.Generator) -> Found:
        """The code found with most of what the target asks for; with ``min_count`` not X itself."""
        weights = (0.0, -1.0) if target.quantity == "utility" else (-1.0, 0.0)
        identity = _free([Partition.identity(ground.joint.n_x)])
        return _best(self._improve(ground, Price(weights), identity, rng))

    def _nearest(self, joint: Joint, target: Target, most: float) -> str:
        """What to say when no code meets the target: the nearest one that was found."""
        asked, whole = ("utility", joint.entropy_x)
        if target.quantity == "leakage":
            asked, whole = ("relevance", joint.entropy_s)
        rule = f" with at least {self.min_count} records per symbol" if self.min_count > 1 else ""
        return (
            f"no release has a {asked} of at least {target.bits / whole:.4g}{rule}; "
            f"the nearest found has {most / whole:.4g}."
        )


def _best(found: list[Found]) -> Found:
    return min(found, key=lambda pair: pair[0])


def _free(codes: Iterable[Partition]) -> list[Candidate]:
    """Candidates whose number of clusters may change."""
    return [(code.labels, False) for code in codes]


def _balanced(joint: Joint, sizes: Iterable[int], rng: np.random.Generator) -> list[Candidate]:
    """Random partitions into each number of clusters, which is kept while annealing."""
    sizes = sorted({min(max(size, 2), joint.n_x) for size in sizes})
    return [(rng.permutation(joint.n_x) % size, True) for size in sizes]


def _ladder(joint: Joint, target: Target, labels: Labels) -> set[int]:
    """Numbers of clusters worth trying, given the best code so far.

    The price has a valley for each number of clusters, with walls too high for single moves. n
    clusters carry at most log₂ n bits; a funnel's best code has few more than it needs, a
    bottleneck's may have many small ones.
    """
    bits = target.bits if target.quantity == "utility" else utility(joint, Partition(labels))
    least = math.ceil(2**bits - 1e-9)
    if target.problem == "funnel":
        return set(range(least, least + RUNGS))
    around = [round((labels.max() + 1) * factor) for factor in (0.8, 1.0, 1.25)]
    return {least, least + 1, least + 2, round(1.5 * least), 2 * least, *around}
