"""Recoding: what each public column may become, and the search for a readable code."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from privacyfunnel.codes import Partition
from privacyfunnel.columns import known
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.joint import Joint, PublicColumn
from privacyfunnel.measures import INFORMATION, Measure
from privacyfunnel.objectives import Funnel, Objective
from privacyfunnel.parallel import as_they_come
from privacyfunnel.recodings.column_cells import Ints
from privacyfunnel.recodings.cuts import is_ordered
from privacyfunnel.recodings.fixed import Fixed
from privacyfunnel.recodings.global_recoding import TRADES, GlobalSearch, Recoded, Shape
from privacyfunnel.recodings.groups import Groups
from privacyfunnel.recodings.hierarchy import Hierarchy, Tree
from privacyfunnel.recodings.intervals import ROUNDING, Intervals
from privacyfunnel.recodings.kept import check_importance, of_values
from privacyfunnel.recodings.kept import kept as kept_by
from privacyfunnel.recodings.local_recoding import Generalised, LocalSearch
from privacyfunnel.recodings.sample import sampled
from privacyfunnel.recodings.smoothing import smoothed
from privacyfunnel.solvers.base import Solution, Status
from privacyfunnel.solvers.effort import LOCAL_MOVES
from privacyfunnel.solvers.target import (
    HALVINGS,
    MET,
    Halving,
    Price,
    chosen,
    reaches,
    stays_within,
)
from privacyfunnel.validation import check_at_least, check_choice, check_share, check_whole

READABLE = ("global", "local")  # whose columns stay columns
RECODINGS = ("symbols", *READABLE)
Start = tuple[Ints, float, np.random.Generator, int]  # levels, price, draws, sweeps
SHORT = 10  # times fewer moves for one of many targets
HURRIED = 2_500  # values of X beyond which columns of thousands of values are cut in a hurry
SUPPRESS = 0.02  # share of the records that global recoding may suppress for a least count


@dataclass(frozen=True)
class RecodedSolution(Solution):
    """A readable code and what it costs; ``kept`` is the utility of recodings (see `kept`)."""

    kept: float = 0.0
    kept_bits: float = 0.0  # kept · H(X)
    suppressed: float = 0.0  # share of the records released as * in all columns

    @property
    def value(self) -> float:
        """I(S;X̂) − λ · kept · H(X), which for one column's global recoding is L itself.

        Of another measure of what is told, its amount stands in the place of I(S;X̂).
        """
        alpha, beta = self.objective.weights
        return alpha * self.amounts[0] + beta * self.kept_bits


@dataclass(frozen=True)
class Recoding:
    """Settings of a readable release: how each public column may be coarsened, and how searched.

    ``kind`` is "global" or "local". Each column has the first of these that names it: ``hierarchies``
    (a `Hierarchy` or its file), ``cuts`` (the only points where it may be cut; global recoding),
    ``orders`` (its categories from first to last). ``groups`` fixes what a column becomes (global
    recoding): lists of values, or of numbers and dates the points between groups. Else numbers and dates
    become intervals, with ``rounding`` "prefer", "force" or "free", and categories free groups; for
    local recoding, balanced trees of ranges, and each category or ``*``. ``importance`` weighs what
    is kept of a column. What is kept is a mean over the columns; with a ``balance`` in [0, 1] no column
    that can be coarsened keeps less than this share of the mean that is asked for (global recoding).
    No released combination has fewer records than ``min_count``: local recoding climbs, global recoding
    suppresses up to the share ``suppress``. ``keep`` "information" has local recoding keep the columns'
    mean I(X_i;X̂_i)/H(X_i), to which the choice of level adds, in place of `kept`. ``moves`` is how long
    local recoding is annealed for one target. ``fit`` "records" lowers the leakage of these records,
    "population" that expected on others like them (see `smoothed`). ``chance`` is what each released
    combination costs in bits of one record.
    """

    kind: str = "global"
    hierarchies: Mapping[str, Hierarchy | str | PathLike[str]] = field(default_factory=dict)
    cuts: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    orders: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    groups: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    importance: Mapping[str, float] = field(default_factory=dict)
    balance: float = 0.0
    min_count: int = 1
    suppress: float = SUPPRESS
    rounding: str = "prefer"
    keep: str = "kept"
    fit: str = "records"
    chance: float = 0.0
    moves: int = LOCAL_MOVES["normal"]

    def __post_init__(self) -> None:
        check_choice("recoding", self.kind, READABLE)
        check_choice("rounding", self.rounding, ROUNDING)
        check_whole("min_count", self.min_count, 1)
        check_whole("moves", self.moves, 1)
        check_choice("fit", self.fit, ("records", "population"))
        check_choice("keep", self.keep, ("kept", "information"))
        check_at_least("chance", self.chance, 0)
        check_share("suppress", self.suppress)
        check_share("balance", self.balance)
        if self.kind == "local" and self.balance:
            raise InvalidInput("balance is for global recoding; leave it out.")
        for option in ("cuts", "groups"):
            if self.kind == "local" and getattr(self, option):
                raise InvalidInput(
                    f"{option} are for global recoding; give local recoding a hierarchy."
                )

    def on(self, joint: Joint, measure: Measure = INFORMATION) -> RecodingSearch:
        """The search on one joint, which remembers what it finds; ``measure`` is of what is told of S."""
        names = [column.name for column in joint.public]
        for option in ("hierarchies", "cuts", "orders", "groups"):
            for name in getattr(self, option):
                if name not in names:
                    raise InvalidInput(
                        f"{option} names {name!r}; the public columns are {', '.join(names)}."
                    )
        weights = check_importance(joint, self.importance)
        rng = np.random.default_rng(0)
        searched = sampled(joint, rng) if self.kind == "global" else joint
        share = searched.total / joint.total
        marginals = None
        if searched is not joint:
            marginals = tuple(of_values(column, joint.p_x) for column in joint.public)
        if self.fit == "population":
            searched = smoothed(searched, rng)
        shapes = tuple(self._shape(joint, column) for column in joint.public)
        columns = GlobalSearch(
            searched,
            shapes,
            weights,
            self.least * share,
            self.suppress,
            self.chance,
            self.balance,
            marginals,
            measure,
        )
        return RecodingSearch(joint, self, columns)

    @property
    def least(self) -> float:
        """The least weight of a released combination, 0 where any is allowed."""
        return float(self.min_count) if self.min_count > 1 else 0.0

    def _shape(self, joint: Joint, column: PublicColumn) -> Shape:
        """What a column may become."""
        name, values, local = column.name, column.values, self.kind == "local"
        weights = of_values(column, joint.p_x)
        tree = order = None
        if name in self.hierarchies:
            given = self.hierarchies[name]
            tree = (given if isinstance(given, Hierarchy) else Hierarchy.read(given)).tree(values)
        elif name in self.orders:
            order = _positions(name, values, self.orders[name])
        if name in self.groups:
            return Fixed.of(name, values, self.groups[name], order=order, tree=tree)
        if tree is not None:
            return tree
        if order is not None:
            if local:
                return Tree.of_order(values, weights, order)
            return Intervals.of_order(values, order)
        if name in self.cuts or is_ordered(values):
            if not is_ordered(values):
                raise InvalidInput(
                    f"cuts need numbers or dates, which column {name!r} does not hold."
                )
            if local:
                return Tree.of_ranges(values, weights)
            return Intervals.of_numbers(
                values,
                cuts=self.cuts.get(name),
                rounding=self.rounding,
                shares=weights if len(joint.public) > 1 else None,
                hurried=joint.n_x > HURRIED,
            )
        return Tree.of(values) if local else Groups(values)

    def solve(
        self,
        joint: Joint,
        objective: Objective,
        *,
        start: Partition | None = None,
        rng: np.random.Generator,
    ) -> Solution:
        """A readable code of low I(S;X̂) − λ · kept · H(X)."""
        if not isinstance(objective, Funnel):
            raise InvalidInput("a recoding hides S: the objective must be a Funnel.")
        if objective.keep != "x":
            raise InvalidInput(
                f"a recoding keeps the columns; keep {objective.keep!r} goes with symbols."
            )
        return self.on(joint, objective.measure).best(objective, rng)


@dataclass(frozen=True, eq=False)
class RecodingSearch:
    """A recoding of one joint: codes for a λ or for exact targets, each search building on the last."""

    joint: Joint
    recoding: Recoding
    columns: GlobalSearch  # along the same trees where the recoding is local

    @property
    def measure(self) -> Measure:
        """What is lowered: the measure of what is told about S."""
        return self.columns.measure

    def copy(self) -> RecodingSearch:
        """The same search, which keeps what it finds from now on to itself."""
        return replace(self, columns=replace(self.columns, seen=dict(self.columns.seen)))

    @cached_property
    def whole(self) -> GlobalSearch:
        """The same columns over all records, where the search has seen a sample of them."""
        if self.columns.marginals is None:
            return self.columns
        least = self.recoding.least
        return replace(self.columns, joint=self.joint, min_count=least, marginals=None, seen={})

    @cached_property
    def tuples(self) -> LocalSearch:
        """Local recoding along the columns' trees."""
        return LocalSearch(replace(self.columns, seen={}), self.recoding.keep == "information")

    def sweep(self, rng: np.random.Generator) -> None:
        """Look along the whole trade-off once, so that later searches know where they are."""
        if not self.columns.seen:
            self.columns.sweep(rng)

    def told(self, share: float) -> float:
        """The amount that a share of what there is to tell about S is, as `at` takes it."""
        p_s = self.joint.p_s
        return self.measure.amount(share * self.measure.whole(p_s), p_s)

    def finest(self) -> RecodedSolution:
        """Every cut that is allowed; where each column has groups or cuts, exactly what they say."""
        found = self.whole.measured([shape.ends()[0] for shape in self.columns.shapes])
        if not self.columns.may_suppress(found.suppressed):
            raise TargetUnreachable(
                f"{found.suppressed:.1%} of the records would be suppressed for the least count, more "
                f"than the share {self.recoding.suppress:g}; allow more, or make the groups larger."
            )
        return self._solution(Funnel(0.0, self.measure), found)

    def best(self, objective: Funnel, rng: np.random.Generator) -> RecodedSolution:
        """A code of low value; proved optimal where one column has an exact shape."""
        mu = objective.lam * self.joint.entropy_x
        self.sweep(rng)
        if not self.columns.allowed():
            raise self._too_many_suppressed()
        found = self.columns.best(mu, rng)
        if self.recoding.kind == "local":
            moved = self.tuples.best(self.tuples.levels(found.labels), mu, rng, self._sweeps())
            return self._solution(objective, moved)
        solution = self._solution(objective, found, self._status(self._is_cheapest(found, mu, rng)))
        if not self.columns.may_suppress(solution.suppressed):
            return self._wider().best(objective, rng)
        return solution

    def _is_cheapest(self, found: Recoded, mu: float, rng: np.random.Generator) -> bool:
        """Whether no code of one column costs less, one whose cuts are not round included."""
        shape = self.columns.shapes[0]
        if len(self.columns.shapes) > 1 or not shape.exact or self.columns.min_count > 0:
            return False
        if not isinstance(shape, Intervals):
            return True
        apart = replace(self.columns, seen={})  # what it finds is to be measured, not released
        labels = shape.free().best(apart.cells(found.labels, 0, mu, 0.0), found.labels[0], rng)
        free = apart.measured([labels])
        return bool(stays_within(found.leakage - mu * found.kept, free.leakage - mu * free.kept))

    def _status(self, exact: bool = False) -> Status:
        """Whether global recoding found the best there is."""
        same = self.columns.joint is self.joint and self.recoding.chance == 0
        is_proved = same and (exact or self.columns.is_small)
        return Status.OPTIMAL_RECODING if is_proved else Status.CONVERGED

    def at(
        self,
        rng: np.random.Generator,
        *,
        kept: float | None = None,
        leakage: float | None = None,
        thorough: bool = True,
    ) -> RecodedSolution:
        """The least leakage that keeps a share, or the most kept at a leakage, an amount of the measure.

        Not ``thorough`` is for many targets at once, one after the other.
        """
        if leakage is not None and self.columns.joint is not self.joint:
            return self._under(leakage, rng, thorough)
        # Random numbers of its own: global and local recoding see the same codes of the columns, so that
        # the one is never below the other.
        own, moves = rng.spawn(2)
        found = self._columns_at(own, kept, leakage, thorough)
        if self.recoding.kind == "global":
            price = self._price(self.columns.slope(found.kept))
            solution = self._solution(price, found, self._status())
            short = not reaches(solution.kept, kept or 0.0, MET)
            if short or not self.columns.may_suppress(solution.suppressed):
                return self._wider().at(rng, kept=kept, leakage=leakage, thorough=thorough)
            return solution
        start = self._start(found, moves, thorough)
        better = self.tuples.at(*start, kept=kept, leakage=leakage)
        return self._generalised(found, start, kept, better)

    def along(
        self, shares: Sequence[float], rng: np.random.Generator, *, n_jobs: int = 1
    ) -> Generator[RecodedSolution | TargetUnreachable, None, None]:
        """For each share to keep, in turn, the least leakage found, or why there is none.

        The columns' codes build on one another; the moves of local recoding run in ``n_jobs`` processes,
        or on a cluster, and what they find does not depend on it.
        """
        if self.recoding.kind == "global":
            for share in shares:
                try:
                    yield self.at(rng, kept=share, thorough=False)
                except TargetUnreachable as reason:
                    yield reason
            return
        codes, starts = [], []
        for share in shares:
            own, moves = rng.spawn(2)
            codes.append(self._columns_at(own, share, None, thorough=False))
            starts.append(self._start(codes[-1], moves, thorough=False))
        # Sent while this process goes on: a copy, to which what is computed meanwhile adds nothing.
        tuples = deepcopy(self.tuples)
        tasks = [(tuples, *task) for task in zip(starts, shares, strict=True)]
        with closing(as_they_come(_moved, tasks, n_jobs)) as moved:
            for code, (_, start, share), better in zip(codes, tasks, moved, strict=True):
                try:
                    yield self._generalised(code, start, share, better)
                except TargetUnreachable as reason:
                    yield reason

    def _columns_at(
        self,
        rng: np.random.Generator,
        kept: float | None,
        leakage: float | None,
        thorough: bool,
    ) -> Recoded:
        """The columns' code at a target, which local recoding sets out from."""
        self.sweep(rng)
        if kept is not None:
            found = self.columns.at(kept, rng, trades=TRADES if thorough else 0)
        else:
            assert leakage is not None
            found = self.columns.under(leakage, rng)
        codes = self.columns.allowed()
        if found is None and self.recoding.kind == "local" and codes:
            found = codes[-1]  # it cannot suppress as much as local recoding can climb
        if found is None and kept is not None and codes:
            most: Recoded | None = codes[-1]
            if thorough:  # what the search for the most passes through are starts nearer by
                most = self.columns.under(np.inf, rng)
                found = self.columns.at(kept, rng, trades=0)
            if found is None:
                raise self._too_much(kept, 0.0 if most is None else most.kept)
        if found is None:
            raise self._too_telling() if codes else self._too_many_suppressed()
        return found

    def _start(self, found: Recoded, rng: np.random.Generator, thorough: bool) -> Start:
        """Where the moves of local recoding begin, as `LocalSearch.at` takes it."""
        price, sweeps = self.columns.slope(found.kept), self._sweeps(thorough)
        return self.tuples.levels(found.labels), price, rng, sweeps

    def _generalised(
        self, columns: Recoded, start: Start, kept: float | None, found: Generalised | None
    ) -> RecodedSolution:
        """What moves from a columns' code have found."""
        if found is None:
            asked = "gives away so little" if kept is None else f"keeps {kept:.6g}"
            raise TargetUnreachable(
                f"no recoding found {asked}; the nearest keeps {columns.kept:.6g}."
            )
        return self._solution(self._price(start[1]), found)

    def _price(self, mu: float) -> Funnel:
        """The objective of the price ``mu`` (bits) of all there is to keep."""
        return Funnel(0.0, self.measure).at(mu / max(self.joint.entropy_x, 1e-12))

    def _too_much(self, kept: float, nearest: float) -> TargetUnreachable:
        """Nothing keeps so much, or nothing that leaves every column its part of it."""
        balance = self.recoding.balance
        if not balance or kept > self.columns.allowed()[-1].kept:
            return TargetUnreachable(
                f"no recoding found keeps {kept:.6g}; the nearest keeps {nearest:.6g}."
            )
        return TargetUnreachable(
            f"no recoding found keeps {kept:.6g} and at least {balance * kept:.6g} of every column; "
            f"the nearest keeps {nearest:.6g}.",
            hint="balance",
        )

    def _too_many_suppressed(self) -> TargetUnreachable:
        least = self.recoding.min_count
        if self.recoding.kind == "local" or least > self.joint.total:
            return TargetUnreachable(
                f"no recoding has {least} records in each combination.", hint="least-count"
            )
        return TargetUnreachable(
            f"no recoding keeps suppression within {self.recoding.suppress:g} of the records; "
            "allow more, lower the least count, or use local recoding."
        )

    def _too_telling(self) -> TargetUnreachable:
        return TargetUnreachable(
            "no recoding found gives away so little; the groups that are given tell more."
        )

    def _under(self, leakage: float, rng: np.random.Generator, thorough: bool) -> RecodedSolution:
        """The most kept whose leakage on the records themselves is within a bound, by bisection.

        The search lowers another leakage than the one that is bounded.
        """
        met = list[RecodedSolution]()
        more = 2 if self.recoding.kind == "local" else HALVINGS  # which may take their time
        halving = Halving(0.0, 1.0, HALVINGS + more)
        for step, share in enumerate(halving):
            try:
                found = self.at(rng, kept=share, thorough=thorough and step >= HALVINGS)
            except TargetUnreachable:
                if not self.columns.allowed():
                    raise
                continue
            if stays_within(found.amounts[0], leakage):
                halving.reached(share)
                met.append(found)
        # Last: what is measured is remembered, and a search that knows a code looks along no more.
        coarse = self.whole.measured([shape.ends()[1] for shape in self.columns.shapes])
        met.insert(0, self._solution(Funnel(0.0, self.measure), coarse))
        price = Price.telling(leakage)
        best = chosen(met, price, lambda found: (found.amounts[0], found.kept))
        if best is None:
            raise self._too_telling()
        return best

    def _wider(self) -> RecodingSearch:
        """The same with a larger least count in the sample, which has not met all rare combinations."""
        least = max(1.0, 2.0 * self.columns.min_count)
        if least > self.columns.joint.total:
            raise self._too_many_suppressed()
        return replace(self, columns=replace(self.columns, min_count=least, seen={}))

    def _sweeps(self, thorough: bool = True) -> int:
        moves = self.recoding.moves // (1 if thorough else SHORT)
        return int(np.clip(moves // self.joint.n_x, 20, 5000))

    def _solution(
        self,
        objective: Funnel,
        found: Recoded | Generalised,
        status: Status = Status.CONVERGED,
    ) -> RecodedSolution:
        """What was found as a code with named groups, measured afresh from the code."""
        joint = self.joint
        if isinstance(found, Recoded):
            code = self.whole.code(found)
            suppressed = self.whole.measured(found.labels).suppressed
        else:
            code = self.tuples.code(found)
            suppressed = float(joint.p_x[code.suppressed].sum())
        share = kept_by(joint, code, self.recoding.importance)
        plain = RecodedSolution.measured(joint, objective, code, status)
        bits = share * joint.entropy_x
        return replace(plain, kept=share, kept_bits=bits, suppressed=suppressed)


def _moved(tuples: LocalSearch, start: Start, kept: float) -> Generalised | None:
    """One local search, in a process of its own."""
    return tuples.at(*start, kept=kept)


def _positions(name: str, values: Sequence[Any], order: Sequence[Any]) -> list[int]:
    """Where the values of a column stand in the order given for it."""
    place = {value: v for v, value in enumerate(values)}
    absent = [value for value in known(values) if value not in set(order)]
    if absent or len(set(order)) < len(order):
        wrong = f"lacks {absent[0]!r}" if absent else "names a value twice"
        raise InvalidInput(f"the order of {name!r} {wrong}; name each value once, first to last.")
    return [place[value] for value in order if value in place]
