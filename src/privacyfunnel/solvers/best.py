"""Best: a portfolio of starts, polished by moves, for one λ, one exact target or one size."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.random import Generator

from privacyfunnel.codes import Code, Partition
from privacyfunnel.errors import TargetUnreachable
from privacyfunnel.joint import Joint
from privacyfunnel.limits import gap
from privacyfunnel.objectives import Bottleneck, Objective, utility
from privacyfunnel.parallel import Progress
from privacyfunnel.solvers.base import Solution, Status
from privacyfunnel.solvers.effort import MOVES, REFINE, MoveBudget, check_effort
from privacyfunnel.solvers.equal_profiles import equal_profiles, lift, merged_profiles
from privacyfunnel.solvers.exhaustive import SMALL, ExhaustiveSearch
from privacyfunnel.solvers.fixed_size import ANNEALED, most_relevant
from privacyfunnel.solvers.iac_mdsf import IacMdsf
from privacyfunnel.solvers.large.blocks import LargeRun, solve_in_blocks
from privacyfunnel.solvers.large.measured import solve_measured
from privacyfunnel.solvers.large.proposals import solve_by_proposals
from privacyfunnel.solvers.large.targets import solve_in_blocks_at
from privacyfunnel.solvers.merge_path import EXACT, WHOLE, greedy_cuts
from privacyfunnel.solvers.moves import (
    JointLayout,
    Labels,
    MoveSearch,
    anneal,
    layout_for,
    merge_light,
    polish,
    swap,
)
from privacyfunnel.solvers.pairwise import GreedyMerge
from privacyfunnel.solvers.pareto_set import pareto_set
from privacyfunnel.solvers.quantizer import OptimalQuantizer, quantizable, quantize, supporting
from privacyfunnel.solvers.target import Halving, Price, Target, ranked, stays_within
from privacyfunnel.validation import check_at_least, check_records, check_whole

ARCHIVED = 40  # up to here undominated codes that are passed through are kept
MOST_ARCHIVED = 1500  # of them
NEAR_LIMIT = 1e-4  # bits from the limit at which a search for one λ has no more to gain
NEAR_TARGET = 2e-6  # the same for a target, which may allow very little leakage
BESIDE = 0.02  # bits from its target at which a code on the limit is good enough
SIZES = (1.0, 1.15, 1.3, 1.5, 1.8, 2.2, 2.8)  # numbers of clusters, of the least that can do
LAM_SHARE = 0.2  # of the moves, for one λ
LAM_WHOLE = 300  # symbols from which on there are fewer, so that cost grows smoothly into blocks
STARTS = 4  # most codes to anneal for a target
EACH_SIDE = 2  # of the codes given, taken from below and from above a target
FINE = 300  # intervals of p(s given x) that are as good as all values, where S is binary
REPEATS = 3  # of the random starts and last runs, at most, for a target that is alone
REPEATED = 1000  # cells of p(s, x), of all repeats together

PORTFOLIO = (GreedyMerge(), MoveSearch())
IAC_MDSF = 300  # symbols up to which it is tried too: it takes longest and is rarely the best

Candidate = tuple[Labels, bool]  # labels to start from, and whether to keep their number
Found = tuple[tuple[float, float], Labels]  # amounts, and the labels that have them


@dataclass(frozen=True)
class BestSearch:
    """The default method: greedy, IAC-MDSF and random starts, annealed and polished by moves.

    Never worse than greedy or moves alone with the same seed, up to 6,000 symbols and without
    ``max_seconds``, nor than IAC-MDSF up to 300. Alphabets of up to 12 symbols are searched
    exhaustively, those of more than 600 in blocks (`BlockSearch`).
    ``effort`` ("fast", "normal" or "thorough") is the budget; ``min_count`` the least number of
    records that every released symbol must cover. In blocks, ``max_seconds`` ends the search early
    with the best found so far, and ``progress`` is called with (done, all). ``alone``: the target is
    the only one, as in `Frontier.at`, and its last runs are longer than those of many.
    """

    effort: str = "normal"
    min_count: int = 1
    max_seconds: float | None = None
    progress: Progress | None = field(default=None, compare=False, repr=False)
    alone: bool = field(default=False, repr=False)

    any_measure = True

    def __post_init__(self) -> None:
        check_effort(self.effort)
        check_whole("min_count", self.min_count, 1)
        if self.max_seconds is not None:
            check_at_least("max_seconds", self.max_seconds, 0.0)

    @property
    def budget(self) -> MoveBudget:
        """What the effort allows."""
        return MOVES[self.effort].alone() if self.alone else MOVES[self.effort]

    def for_one_target(self) -> BestSearch:
        """The search for a target that is asked for by itself."""
        return replace(self, alone=True)

    def prefers_lam(self, joint: Joint, problem: str) -> bool:
        """Whether a frontier is better drawn by λ: a bottleneck in blocks takes many λ for a target."""
        return joint.n_x > self.budget.largest and problem == "bottleneck"

    def refined(self, joint: Joint) -> BestSearch | None:
        """The search that visits the targets of a frontier again, from their neighbours' codes."""
        large = joint.n_x > self.budget.largest
        return None if large else replace(self, effort=REFINE[self.effort])

    def solve(
        self, joint: Joint, objective: Objective, *, start: Partition | None = None, rng: Generator
    ) -> Solution:
        """The best code found for one λ."""
        layout, price = self.layout(joint, objective), Price(objective.weights)
        if joint.n_x <= SMALL:
            return ExhaustiveSearch(self.min_count).solve(joint, objective, rng=rng)
        if objective.plain and quantizable(joint, objective.problem) and layout.least == 0:
            return OptimalQuantizer().solve(joint, objective, rng=rng)
        if joint.n_x > self.budget.largest:
            most = EXACT if objective.plain else WHOLE
            if joint.n_x > most or layout.least > 0 or self.max_seconds is not None:
                return self._in_blocks(joint, objective, rng)
            moved = MoveSearch().solve(joint, objective, rng=deepcopy(rng))
            blocks = self._in_blocks(joint, objective, rng, [moved.code])
            return min(blocks, moved, key=lambda solution: solution.value)
        # Each method gets the generator as it is now, and so does what it would do on its own.
        with_iac = objective.plain and joint.n_x <= IAC_MDSF
        methods = (*PORTFOLIO, IacMdsf()) if with_iac else PORTFOLIO
        alone = [solver.solve(joint, objective, rng=deepcopy(rng)).code for solver in methods]
        codes = [code for code in (*alone, start) if isinstance(code, Partition)]
        greedy = alone[0]
        groups = merged_profiles(joint, objective.problem)
        if groups is not None:
            grouped = self.solve(groups.push(joint), objective, rng=rng)
            codes.append(lift(grouped, groups))
        found = self._improve(layout, price, _free([*codes, Partition.trivial(joint.n_x)]), rng)
        if groups is None:
            sweeps = self.budget.final_sweeps
            if _gap(joint, _ranked(found, price)[0][1], objective) > NEAR_LIMIT:
                around = {round(greedy.n_symbols * factor) for factor in (0.5, 0.75, 1.0, 1.5)}
                found += self._improve(layout, price, _balanced(joint, around, rng), rng)
            else:  # on the limit a longer run gained 0.00004 bits, on average of 49 joints
                sweeps //= 4
            found += self._finals(layout, price, found, rng, sweeps)
        labels = _ranked(found, price)[0][1]
        if layout.least == 0:
            labels = polish(layout, labels, price, rng)
        return Solution.measured(joint, objective, Partition(labels), Status.CONVERGED)

    def solve_at(
        self, joint: Joint, target: Target, *, starts: Sequence[Code] = (), rng: Generator
    ) -> Solution:
        """The best code found that meets the target; `TargetUnreachable` where none does.

        Sets out from those of the ``starts`` that are near the target, and from greedy merge paths.
        """
        layout, price = self.layout(joint, target.objective), target.price
        if joint.n_x <= SMALL:
            return ExhaustiveSearch(self.min_count).solve_at(joint, target, rng=rng)
        plain = target.objective.plain
        if plain and quantizable(joint, target.problem) and layout.least == 0:
            corners = supporting(joint, target)
            if len(corners) == 1:
                return replace(corners[0], objective=target.objective)
            if joint.n_x > self.budget.largest:
                return self._between_corners(joint, target, corners, rng)
            starts = [*starts, *(corner.code for corner in corners)]
        if joint.n_x > self.budget.largest:
            return self._in_blocks(joint, target, rng, starts)
        codes = [*_nearest(joint, starts, target), *greedy_cuts(joint, target)]
        if not target.is_floor and target.problem == "funnel":
            codes += self._below_ceiling(joint, target, rng)
        groups = merged_profiles(joint, target.problem)
        if groups is not None:
            codes.append(lift(self.solve_at(groups.push(joint), target, rng=rng), groups))
        ends = [Partition.identity(joint.n_x), Partition.trivial(joint.n_x)]
        found = self._improve(layout, price, _free([*codes, *ends]), rng, sweeps=0)
        if not found:
            farthest = self._farthest(layout, target, rng)
            found = self._improve(layout, price, _free([Partition(farthest[1])]), rng, sweeps=0)
        if not found:
            most = target.bounded(*farthest[0])
            raise target.unreached(joint, self.min_count, most)
        found = _ranked(found, price)
        if price.of(*found[0][0]) > target.floor(joint) + NEAR_TARGET:
            nearest = [Partition(labels) for _, labels in found[:STARTS]]
            found += self._improve(layout, price, _free(nearest), rng)
        repeats = min(max(REPEATED // joint.counts.nnz, 1), REPEATS) if self.alone else 1
        for _ in range(repeats if groups is None else 0):
            best = _ranked(found, price)[0][1]
            if _nothing_to_gain(joint, target, best):
                break
            sizes = _sizes(joint, target, best)
            found += self._improve(layout, price, _balanced(joint, sizes, rng), rng)
            found += self._finals(layout, price, found, rng, self.budget.final_sweeps)
        labels = swap(layout, _ranked(found, price)[0][1], price)
        return Solution.measured(joint, target.objective, Partition(labels), Status.CONVERGED)

    def archive(self, joint: Joint, aim: Objective) -> list[Partition]:
        """What a local search of a small alphabet passes through (`pareto_set`): in a second it has codes
        for all targets at once that are as good as those searched one by one, and often better.
        """
        if self.effort == "fast" or not aim.plain or not SMALL < joint.n_x <= ARCHIVED:
            return []
        least = self.layout(joint, aim).least
        return pareto_set(joint, aim.problem, [], least=least, most=MOST_ARCHIVED)

    def solve_size(self, joint: Joint, n_symbols: int, *, rng: Generator) -> Solution:
        """The most relevant code found of at most ``n_symbols`` symbols: max I(S;X̂), |X̂| ≤ n.

        Symbols of one p(s given x) stay together, which loses nothing.

        >>> joint = Joint.from_counts([[9, 8, 1, 0, 4], [1, 2, 9, 8, 6]])
        >>> BestSearch().solve_size(joint, 2, rng=np.random.default_rng(0)).code.labels
        array([0, 0, 1, 1, 1])
        """
        if quantizable(joint, "bottleneck") and self.min_count == 1:
            return quantize(joint, n_symbols)
        groups = equal_profiles(joint)
        layout = self.layout(groups.push(joint), Bottleneck(0.0))
        if layout.joint.n_x <= SMALL:
            every = ExhaustiveSearch(self.min_count).solve_size(layout.joint, n_symbols, rng=rng)
            return Solution.measured(joint, every.objective, lift(every, groups), every.status)
        few = joint.n_x <= ANNEALED
        labels = most_relevant(layout, n_symbols, self.effort, rng, annealed=few)
        code = Partition(labels[groups.labels])
        return Solution.measured(joint, Bottleneck(0.0), code, Status.CONVERGED)

    def _in_blocks(
        self, joint: Joint, demand: Objective | Target, rng: Generator, starts: Iterable[Code] = ()
    ) -> Solution:
        """The search for large alphabets, over groups of equal p(s given x) where there are any."""
        run = LargeRun.of(joint.n_x, self.effort, self.max_seconds, self.progress)
        objective = demand.objective if isinstance(demand, Target) else demand
        groups = merged_profiles(joint, demand.problem)
        layout = self.layout(joint if groups is None else groups.push(joint), objective)
        if layout.measured is not None:
            found = solve_measured(layout, demand, run, rng=rng)
        elif isinstance(demand, Target) and demand.problem == "funnel":
            return solve_by_proposals(layout, demand, run, starts=starts, rng=rng)
        elif isinstance(demand, Target):
            found = solve_in_blocks_at(layout, demand, run, rng=rng)
        else:
            labels = [code.labels for code in starts if isinstance(code, Partition)]
            if groups is not None:  # a group goes where its first member is
                first = np.unique(groups.labels, return_index=True)[1]
                labels = [Partition(each[first]).labels for each in labels]
            found = solve_in_blocks(layout, demand, run, known=labels, rng=rng)
        if groups is None:
            return found
        return Solution.measured(joint, found.objective, lift(found, groups), found.status)

    def _between_corners(
        self, joint: Joint, target: Target, corners: Sequence[Solution], rng: Generator
    ) -> Solution:
        """A target between two supporting codes of a binary S: searched over a few hundred intervals."""
        fine = quantize(joint, FINE).code
        found = [replace(corner, objective=target.objective) for corner in corners]
        with suppress(TargetUnreachable):
            coarse = self.solve_at(fine.push(joint), target, rng=rng)
            assert isinstance(fine, Partition)
            code = lift(coarse, fine)
            found.append(Solution.measured(joint, target.objective, code, Status.CONVERGED))
        best = ranked(found, target.price, lambda solution: solution.amounts)[0]
        return replace(best, status=Status.CONVERGED)

    def layout(self, joint: Joint, objective: Objective) -> JointLayout:
        """The joint laid out for the kernels, with the rule of ``min_count``."""
        if self.min_count == 1:
            return layout_for(joint, objective)
        check_records(self.min_count, joint.n_records)
        return layout_for(joint, objective, float(self.min_count))

    def _improve(
        self,
        layout: JointLayout,
        price: Price,
        candidates: Sequence[Candidate],
        rng: Generator,
        sweeps: int | None = None,
    ) -> list[Found]:
        """Anneal each candidate; those that met a code within the limit, with what it tells and keeps.

        They share the cores, whose number changes nothing: each has a generator of its own.
        """
        budget = self.budget
        if not price.limits:  # one λ is easier than a target
            fewer = min(1.0, LAM_WHOLE / layout.joint.n_x) ** 2
            budget = budget._replace(moves=budget.moves * LAM_SHARE * fewer)
        asked = int((budget.sweeps if sweeps is None else sweeps) * layout.pace)

        def improved(candidate: Candidate, rng: Generator) -> Labels | None:
            labels, fixed = merge_light(layout, candidate[0], price), candidate[1]
            allowed = budget.within(asked, labels.size, int(labels.max()) + 1)
            return anneal(layout, labels, price, allowed, rng, fixed=fixed)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            better = list(pool.map(improved, candidates, rng.spawn(len(candidates))))
        codes = [Partition(labels) for labels in better if labels is not None]
        return [(layout.amounts(code), code.labels) for code in codes]

    def _finals(
        self, layout: JointLayout, price: Price, found: list[Found], rng: Generator, sweeps: int
    ) -> list[Found]:
        """A longer run for the best candidates of different sizes, and one with free size."""
        best_of_size: dict[int, Labels] = {}
        for _, labels in _ranked(found, price):
            best_of_size.setdefault(int(labels.max()), labels)
        finalists = list(best_of_size.values())[: self.budget.finalists]
        candidates = [(labels, True) for labels in finalists] + [(finalists[0], False)]
        return self._improve(layout, price, candidates, rng, sweeps)

    def _below_ceiling(self, joint: Joint, target: Target, rng: Generator) -> list[Partition]:
        """Codes of more and more utility that leak no more than the funnel's target allows.

        Around a code that leaks hardly anything every single move leaks too much, see `Halving`.
        """
        quick, codes = replace(self, effort="fast", alone=False), [Partition.trivial(joint.n_x)]
        halving = Halving(0.0, target.floor(joint) / target.price.weights[1])
        for bits in halving:
            asked = replace(target, quantity="utility", bits=bits)
            with suppress(TargetUnreachable):
                found = quick.solve_at(joint, asked, starts=codes[-1:], rng=rng)
                if stays_within(found.amounts[0], target.bits):
                    assert isinstance(found.code, Partition)
                    halving.reached(found.utility)
                    codes.append(found.code)
        return codes[1:]

    def _farthest(self, layout: JointLayout, target: Target, rng: Generator) -> Found:
        """The code found with most of what the target asks for; with ``min_count`` not X itself."""
        weights = (0.0, -1.0) if target.quantity == "utility" else (-1.0, 0.0)
        identity = _free([Partition.identity(layout.joint.n_x)])
        return self._improve(layout, Price(weights), identity, rng)[0]


def _ranked(found: Iterable[Found], price: Price) -> list[Found]:
    return ranked(found, price, lambda one: one[0])


def _free(codes: Iterable[Partition]) -> list[Candidate]:
    """Candidates whose number of clusters may change."""
    return [(code.labels, False) for code in codes]


def _balanced(joint: Joint, sizes: Iterable[int], rng: Generator) -> list[Candidate]:
    """Random partitions into each number of clusters, which is kept while annealing."""
    sizes = sorted({min(max(size, 2), joint.n_x) for size in sizes})
    return [(rng.permutation(joint.n_x) % size, True) for size in sizes]


def _nearest(joint: Joint, codes: Iterable[Code], target: Target) -> list[Partition]:
    """The partitions among some codes that are next to a target, a few below it and a few above."""
    hard = [code for code in codes if isinstance(code, Partition)]
    values = [target.bounded(*target.objective.amounts(joint, code)) for code in hard]
    order = np.argsort(values, kind="stable")
    k = int(np.searchsorted(np.array(values)[order], target.bits))
    return [hard[i] for i in order[max(0, k - EACH_SIDE) : k + EACH_SIDE]]


def _nothing_to_gain(joint: Joint, target: Target, labels: Labels) -> bool:
    """Whether a code is on the limit and next to the target: a fraction of a symbol's share is left."""
    code = Partition(labels)
    told = target.bounded(*target.objective.amounts(joint, code))
    beside = abs(told - target.bits) <= BESIDE
    return beside and _gap(joint, labels, target.objective) <= NEAR_TARGET


def _gap(joint: Joint, labels: Labels, objective: Objective) -> float:
    """How far a code is from the limit of its objective."""
    measure, keep = objective.measure, objective.keep
    return gap(joint, Partition(labels), objective.problem, measure=measure, keep=keep)


def _sizes(joint: Joint, target: Target, labels: Labels) -> set[int]:
    """Numbers of clusters worth trying, given the best code so far.

    The price has a valley for each number of clusters, with walls too high for single moves. n
    clusters carry at most log₂ n bits; where p(x) is even a funnel's best code has few more than it
    needs, where it is skewed up to three times as many. A bottleneck's may have many small ones.
    """
    of_x = target.quantity == "utility" and target.keep == "x"
    bits = target.bits if of_x else utility(joint, Partition(labels))
    least = math.ceil(2**bits - 1e-9)
    if target.problem == "funnel":
        return {least + 1, least + 2, *(math.ceil(factor * least) for factor in SIZES)}
    around = [round((labels.max() + 1) * factor) for factor in (0.8, 1.0, 1.25)]
    return {least, least + 1, least + 2, round(1.5 * least), 2 * least, *around}
