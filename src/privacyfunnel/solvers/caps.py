"""Caps: several secrets, each with a bound of its own; every cap is met and the most is kept."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from privacyfunnel.codes import Partition
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.information import share
from privacyfunnel.joint import Joint
from privacyfunnel.measures import Measure, make_measure
from privacyfunnel.objectives import Funnel, View
from privacyfunnel.solvers.base import Solution, Status
from privacyfunnel.solvers.effort import MOVES, check_effort
from privacyfunnel.solvers.exhaustive import SMALL, best_of_all
from privacyfunnel.solvers.large.blocks import LargeRun
from privacyfunnel.solvers.large.measured import MeasuredSearch
from privacyfunnel.solvers.measured_layout import MeasuredLayout
from privacyfunnel.solvers.moves import JointLayout, Labels, cooling
from privacyfunnel.solvers.target import MET, Halving, Price, rank, reaches
from privacyfunnel.validation import check_records, check_rng, check_share, check_whole

SLOPES = 4.0 ** np.arange(-3, 6)  # prices of what is told, in units of its cap
SIZES = 8  # numbers of clusters of random starts
QUICK = 0.25  # of the sweeps, for a first look at each start
FINALISTS = 2  # starts that get them all


@dataclass(frozen=True)
class Cap:
    """A bound on what may be told of one sensitive column: a share of what there is to tell.

    Of Shannon's information that is H(S), of guessing the part that the blind guess leaves.

    >>> Cap.read("sex", 0.01), Cap.read("race", "guessing:0.02").most
    (Cap(name='sex', most=0.01, measure=Shannon()), 0.02)
    """

    name: str
    most: float
    measure: Measure

    @classmethod
    def read(cls, name: str, given: float | str) -> Cap:
        """From a share, or from the text of a measure and a share with a colon between them."""
        words, _, number = str(given).rpartition(":")
        try:
            most = float(number)
        except ValueError:
            most = np.nan
        if not 0.0 <= most <= 1.0:
            raise InvalidInput(
                f"a cap is a share in [0, 1] such as 0.01 or guessing:0.01; got {given!r} for {name!r}."
            )
        return cls(name, most, make_measure(words or "shannon"))

    def bound(self, alone: Joint) -> float:
        """The amount that may be told."""
        return self.measure.amount(self.most * self.measure.whole(alone.p_s), alone.p_s)

    def told(self, alone: Joint, code: Partition) -> float:
        """The share that a code tells."""
        reading = self.measure(alone.p_sx @ code.matrix)
        return float(share(reading, self.measure.whole(alone.p_s)))


def price_within(bounds: Sequence[float], least: float | None = None) -> Price:
    """The most kept within all caps: amounts of each secret first, then of what is kept.

    Where ``least`` is to be kept nothing is priced: a code is only to be found.
    """
    n = len(bounds)
    caps = tuple((tuple(float(i == k) for i in range(n + 1)), b) for k, b in enumerate(bounds))
    kept = (*(0.0 for _ in bounds), -1.0)
    if least is None:
        return Price(kept, caps)
    return Price((0.0,) * (n + 1), (*caps, (kept, -least)))


@dataclass(frozen=True)
class CappedSolution(Solution):
    """A code within all caps; ``told`` is the share of each secret that it tells, by its measure."""

    told: Mapping[str, float] | None = None


def solve_capped(
    joint: Joint,
    caps: Mapping[str, float | str],
    *,
    keep: str = "x",
    utility: float | None = None,
    effort: str = "normal",
    min_count: int = 1,
    seed: int = 0,
) -> CappedSolution:
    """The code found that keeps most while every cap is met.

    ``caps`` bounds what may be told of sensitive columns, each by a share in [0, 1], or by the name of
    a measure and a share, "guessing:0.02". ``keep`` is what is kept, as in `Funnel`; with
    ``utility`` at least this share of it is asked for, and `TargetUnreachable` names the nearest
    that can be had.

    >>> joint = Joint.from_counts(
    ...     [[3, 0, 1, 2], [0, 3, 2, 1], [2, 2, 2, 2]],
    ...     labels_s=[("f", "a"), ("m", "a"), ("m", "b")], sensitive=["sex", "race"])
    >>> found = solve_capped(joint, {"sex": 0.1, "race": "guessing:0.3"})
    >>> found.told["sex"] <= 0.1, found.told["race"] <= 0.3
    (True, True)
    """
    check_effort(effort)
    check_whole("min_count", min_count, 1)
    check_records(min_count, joint.n_records)
    if utility is not None:
        check_share("utility", utility)
    if not caps:
        raise InvalidInput("name at least one cap.")
    listed = [Cap.read(name, given) for name, given in caps.items()]
    secrets = [(cap, joint.secret(cap.name)) for cap in listed]
    objective = Funnel(0.0, keep=keep)
    told_of = (((1.0, View(alone, cap.measure)),) for cap, alone in secrets)
    quantities = (*told_of, objective.quantities(joint)[1])
    bounds = [cap.bound(alone) for cap, alone in secrets]
    least = float(min_count) if min_count > 1 else 0.0
    layout = JointLayout(joint, least, MeasuredLayout(joint, quantities))
    code = Partition(_CapSearch(layout, bounds, effort, check_rng(seed)).best())
    told = {cap.name: cap.told(alone, code) for cap, alone in secrets}
    found = replace(CappedSolution.measured(joint, objective, code, Status.CONVERGED), told=told)
    whole = objective.whole_utility(joint)
    if utility is not None and not reaches(found.utility, utility * whole, MET):
        raise TargetUnreachable(
            f"no release was found that keeps {utility:.4g} within all caps; the nearest keeps "
            f"{float(share(found.utility, whole)):.4g}."
        )
    return found


class _CapSearch:
    """Annealing within all caps, and codes of ever more utility that are still within them."""

    def __init__(
        self, layout: JointLayout, bounds: list[float], effort: str, rng: Generator
    ) -> None:
        self.layout, self.rng, self.budget = layout, rng, MOVES[effort]
        self.bounds, self.price = bounds, price_within(bounds)
        self.large = MeasuredSearch(layout, LargeRun.of(layout.joint.n_x, effort), rng)
        self.measured = self.large.measured

    def best(self) -> Labels:
        """The labels found that keep most; of small alphabets the best of all within the caps."""
        n = self.layout.joint.n_x
        if n <= SMALL:
            quantities, least = self.measured.quantities, int(self.layout.least)
            labels = best_of_all(self.layout.joint, quantities, self.price, least)
            return np.zeros(n, dtype=np.int64) if labels is None else labels
        starts = [np.zeros(n, dtype=np.int64)]
        if self.layout.least == 0:
            # What is told in units of its caps, against what is kept.
            ladder = [Price((*(k / unit for unit in self._units()), -1.0)) for k in SLOPES]
            starts += [np.arange(n), *map(self.large.insert, ladder)]
        small = n <= self.budget.largest
        if small or self.layout.least > 0:  # else nothing but one symbol keeps the least count
            sizes = np.unique(np.geomspace(2, n, SIZES).round().astype(int))
            starts += [self.rng.permutation(n) % size for size in sizes if size <= n]
        if not small:
            near = sorted(starts[1:], key=self._far)[:FINALISTS]
            found = [starts[0], *self._each(near, self.price, 1.0)]
        else:
            found = [starts[0], *self._each(starts[1:], self.price, QUICK)]
            best = sorted(found, key=self._rank)[:FINALISTS]
            found += self._each(best, self.price, 1.0)
        return self._climb(min(found, key=self._rank))

    def _climb(self, best: Labels) -> Labels:
        """More is asked for, halfway to all there is, as long as codes within the caps are found."""
        whole = self.measured.amounts(Partition.identity(self.layout.joint.n_x))[-1]
        halving = Halving(self._kept(best), whole)
        for asked in halving:
            (found,) = self._each([best], price_within(self.bounds, asked), QUICK)
            if reaches(self._kept(found), asked, MET):
                best = found
                halving.reached(self._kept(found))
        (last,) = self._each([best], self.price, 1.0)
        return min(best, last, key=self._rank)

    def _units(self) -> list[float]:
        """The caps, or a little of what there is to tell where less than that is allowed."""
        secrets = zip(self.bounds, self.measured.quantities, strict=False)
        return [max(bound, 1e-3 * view.most, 1e-12) for bound, ((_, view),) in secrets]

    def _rank(self, labels: Labels) -> tuple[float, float]:
        """What labels are taken by, the lowest first; infinite below the least count too."""
        if not self.layout.is_heavy(labels):
            return np.inf, np.inf
        return rank(self.price, self.measured.amounts(Partition(labels)))

    def _kept(self, labels: Labels) -> float:
        """What is kept, minus infinity beyond a cap or below the least count."""
        return -self._rank(labels)[0]

    def _far(self, labels: Labels) -> float:
        """How far a code is beyond the caps, in units of them; within them, minus what it keeps."""
        amounts = self.measured.amounts(Partition(labels))
        limits = zip(amounts, self.bounds, self._units(), strict=False)
        over = [max(0.0, amount - bound) / unit for amount, bound, unit in limits]
        return sum(over) if sum(over) > 0 else -amounts[-1]

    def _each(self, starts: list[Labels], price: Price, part: float) -> list[Labels]:
        """Each of some labels after a part of the sweeps; they share the cores, as in `BestSearch`."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            rngs = self.rng.spawn(len(starts))
            return list(pool.map(lambda s, r: self._improve(s, price, part, r), starts, rngs))

    def _improve(self, labels: Labels, price: Price, part: float, rng: Generator) -> Labels:
        """The labels after annealing within the caps; as they were where none was met."""
        if self.layout.joint.n_x > self.budget.largest:
            return self.large.improve(labels, price, rng)
        sweeps = int(part * self.budget.sweeps)
        sweeps = self.budget.within(sweeps, labels.size, int(labels.max()) + 1)
        schedule = cooling(sweeps, self.layout.joint)
        labels = Partition(labels).labels
        better = self.measured.anneal(labels, price, schedule, 1, self.layout.least, False, rng)
        return labels if better is None else better
