"""Global recoding: each column coarsened on its own, the same way for all records."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.codes import ColumnCode, Group, Partition, RecodedColumn
from privacyfunnel.information import Array, entropy
from privacyfunnel.joint import Joint, csc_columns
from privacyfunnel.measures import INFORMATION, Measure
from privacyfunnel.recodings.column_cells import ColumnCells, Ints, loop_measure, lost_bits
from privacyfunnel.recodings.kept import of_values
from privacyfunnel.solvers.target import (
    HAIR,
    Halving,
    Price,
    chosen,
    gains,
    reaches,
    stays_within,
    told_and_kept,
)
from privacyfunnel.solvers.tradeoff import hull, slope_at, undominated

ROUNDS = 30  # sweeps over the columns in one descent
LAMS = 24  # prices of what is kept, from all coarse to all fine
STARTS = 2  # codes on each side of a target that are filled up to it; one where targets are many
PATTERNS = 3  # sets of dropped columns on each side whose cheapest code is filled up too
FACTORS = (0.25, 1.0, 4.0)  # of its price: where a target looks for codes that drop no column
MANY = 10_000  # values of X beyond which a search looks at fewer prices and disturbances
GAIN = 1e-3  # of the price of all there is to keep, that another round must then bring
TRADES = 6  # rounds of disturbing the best code of a target
PATIENCE = 2  # of them that need not help
KICKS = 8  # codes made from it by shaking columns in each round
CORNERS = 256  # products of kept and dropped columns that are measured
STEPS = 6  # tries to come to a lower price
LARGEST = 2**62  # number of a tuple of groups
SPARSE = 8  # times more numbers than there are, up to which marking is quicker than sorting
EVERY = 5e6  # work up to which all products of the columns' codes are measured: a second or two


class Shape(Protocol):
    """What one column may become: intervals, nodes of a tree, or free groups."""

    @property
    def exact(self) -> bool: ...
    def best(self, cells: ColumnCells, start: Ints, rng: np.random.Generator) -> Ints: ...
    def within(
        self, cells: ColumnCells, bound: float, start: Ints, rng: np.random.Generator
    ) -> Ints | None: ...
    def ends(self) -> tuple[Ints, Ints]: ...
    @property
    def n_codes(self) -> int: ...
    def every(self) -> Iterator[Ints]: ...
    def released(self, labels: Ints) -> tuple[Group, ...]: ...
    @property
    def listing(self) -> Ints: ...


@dataclass(frozen=True, eq=False)
class Recoded:
    """A global recoding and what it costs: labels of each column's values."""

    labels: tuple[Ints, ...]
    kept: float
    leakage: float  # what is told, an amount of the measure: bits of Shannon's
    suppressed: float  # share of the records
    least: float = 1.0  # kept of the column that keeps least, of those that can be coarsened

    @property
    def key(self) -> bytes:
        """The same for the same labels."""
        return b"".join(labels.tobytes() for labels in self.labels)

    def with_column(self, i: int, labels: Ints) -> tuple[Ints, ...]:
        """The labels, other ones for column i."""
        return *self.labels[:i], labels, *self.labels[i + 1 :]


@dataclass(frozen=True, eq=False)
class GlobalSearch:
    """Coordinate descent over the columns, each step the best grouping given the others.

    Given the other columns' codes r, I(S;X̂), or what else is measured, is a sum over the groups of column
    i, with cells (s, r) in the place of s, and so is what is kept; so each step is exact where the
    column's shape is. The descent is not: it starts from the coarse and the fine end, warm along the
    price of what is kept. Where the columns have few codes, all products of them are measured instead.

    What is kept is a mean, and often the cheapest way to a mean is to give a column up. With a
    ``balance`` no column keeps less than that share of the mean; columns that can only be kept or
    dropped are left out of this.
    """

    joint: Joint
    shapes: tuple[Shape, ...]
    importance: Array  # weights of the columns that sum to 1
    min_count: float = 0.0
    suppress: float = 0.0
    chance: float = 0.0  # price of a cell for what it would tell by chance, in bits of one record
    balance: float = 0.0
    marginals: tuple[Array, ...] | None = None  # p of each column's values, if not the joint's own
    measure: Measure = INFORMATION  # of what is told about S
    seen: dict[bytes, Recoded] = field(default_factory=dict)  # every code that was measured

    @cached_property
    def _columns(self) -> tuple[Any, ...]:
        return csc_columns(self.joint.counts)

    @cached_property
    def _entries(self) -> tuple[Ints, Ints, Array]:
        """The x, the s and the weight of every combination that there is."""
        indptr, indices, data, _ = self._columns
        return np.repeat(np.arange(self.joint.n_x), np.diff(indptr)), indices, data

    @cached_property
    def _measure(self) -> tuple[Any, ...]:
        return loop_measure(self.joint, self.measure, self.chance)

    @cached_property
    def most_told(self) -> float:
        """What X itself tells about S."""
        return self.measure.told(self.joint.p_sx)

    @cached_property
    def codes(self) -> list[Ints]:
        """The value of each column behind each x."""
        return [column.codes for column in self.joint.public]

    @cached_property
    def weights(self) -> list[Array]:
        """The weight of each value of each column."""
        if self.marginals is not None:
            return [p * self.joint.total for p in self.marginals]
        mass = self.joint.p_x * self.joint.total
        return [of_values(column, mass) for column in self.joint.public]

    @cached_property
    def rates(self) -> Array:
        """The share kept that one bit of each column is."""
        bits = np.array([entropy(w / self.joint.total) for w in self.weights])
        return np.asarray(
            np.divide(self.importance, bits, out=np.zeros(len(bits)), where=bits > 1e-12)
        )

    @cached_property
    def is_small(self) -> bool:
        """Whether all products of the columns' codes can be measured."""
        n_codes = math.prod(shape.n_codes for shape in self.shapes)
        return bool(n_codes * (1000 + self.joint.counts.nnz) <= EVERY)

    @property
    def is_large(self) -> bool:
        """Whether one look at a price takes so long that there are fewer."""
        return self.joint.n_x > MANY

    @cached_property
    def coarsened(self) -> NDArray[np.bool_]:
        """Which columns can be made coarser without being dropped."""
        return np.array([s.n_codes > 2 for s in self.shapes]) & (self.rates > 0)

    def _most_lost(self, kept: float) -> Array:
        """Bits that each column may lose where so much is to be kept on average."""
        bits = np.divide(
            self.importance, self.rates, out=np.zeros(len(self.rates)), where=self.rates > 0
        )
        free = not self.balance or ~self.coarsened
        return np.where(free, np.inf, bits * (1.0 - self.balance * kept))

    def _balanced(self, code: Recoded, kept: float) -> bool:
        return bool(reaches(code.least, self.balance * kept))

    def cells(
        self, labels: Sequence[Ints], i: int, mu: float, nu: float, *, keep: bool = True
    ) -> ColumnCells:
        """Column i's cells and prices, given the labels of the others; ``keep`` prices its own bits."""
        n_r, r, depth = self._others(labels, i, mu)
        x, s, weights = self._entries
        n_s = self._columns[3]
        # What the other columns put together is one cell: the coarser they are, the fewer there are.
        cells = (self.codes[i][x] * n_r + r[x]) * n_s + s
        found, at = _dense(cells, len(self.weights[i]) * n_r * n_s)
        v_r, s = np.divmod(found, n_s)
        v, r = np.divmod(v_r, n_r)
        begins = np.searchsorted(v, np.arange(len(self.weights[i]) + 1)).astype(np.int64)
        return ColumnCells(
            (begins, r, s, np.bincount(at, weights=weights).astype(float)),
            self.weights[i],
            (n_r, n_s),
            depth + nu,
            float(self.min_count),
            mu * self.rates[i] if keep else 0.0,
            mu,
            self.joint.total,
            self._measure,
        )

    def _others(self, labels: Sequence[Ints], i: int, mu: float) -> tuple[int, Ints, Array]:
        """For each x the number of the tuple that the other columns release; their suppression's cost."""
        r, cost = np.zeros(self.joint.n_x, dtype=np.int64), np.zeros(self.joint.n_x)
        n_r = 1
        for j, own in enumerate(labels):
            if j != i:
                n, group, bits = self._groups(j, own)
                if n_r > LARGEST // n:
                    _, r = np.unique(r, return_inverse=True)
                    n_r = int(r.max()) + 1
                r, n_r = r * n + group[self.codes[j]], n_r * n
                if mu:
                    cost += mu * self.rates[j] * bits[self.codes[j]]
        found, r = _dense(r, n_r)
        depth = np.zeros(len(found))
        depth[r] = cost  # the same for every x of a tuple
        return len(found), r, depth

    @cached_property
    def _known(self) -> dict[tuple[int, bytes], tuple[int, Ints, Array]]:
        """Groups that were asked for before; not shared with searches over other records."""
        return {}

    def _groups(self, i: int, labels: Ints) -> tuple[int, Ints, Array]:
        """The number of groups of column i; each value's group and bits of it. Many codes share them."""
        key = i, labels.tobytes()
        if key not in self._known:
            groups, group = np.unique(labels, return_inverse=True)
            p = np.bincount(group, weights=self.weights[i]) / self.joint.total
            self._known[key] = len(groups), group, -np.log2(p)[group]
        return self._known[key]

    def descend(
        self,
        labels: Sequence[Ints],
        mu: float,
        rng: np.random.Generator,
        nu: float = 0.0,
        most: Array | None = None,
    ) -> Recoded:
        """Coordinate descent from ``labels`` at one price ``mu`` (bits) of what is kept.

        ``most`` is how many bits each column may lose.
        """
        now, last = list(labels), math.inf
        fixed = 0  # columns since the last change
        order = rng.permutation(len(now))
        for i in np.tile(order, ROUNDS):
            if self.rates[i] > 0:
                new = self.shapes[i].best(self.cells(now, i, mu, nu), now[i], rng)
                if most is not None and self._lost(new, i) > most[i]:
                    cells = self.cells(now, i, mu, nu, keep=False)
                    within = self.shapes[i].within(cells, most[i], now[i], rng)
                    new = now[i] if within is None else within
                fixed = fixed + 1 if Partition(new) == Partition(now[i]) else 1
                now[i] = new
            else:
                fixed += 1
            if fixed >= len(now):
                break
            if most is not None and i == order[-1]:  # bounded columns may go round in circles
                found = self.measured(now)
                price = found.leakage - mu * found.kept + nu * found.suppressed
                if not gains(price, last, GAIN * mu if self.is_large else HAIR):
                    break
                last = price
        return self.measured(now)

    def measured(self, labels: Sequence[Ints]) -> Recoded:
        """What a code keeps and tells, measured, suppressed records included; it is remembered."""
        found = Recoded(tuple(labels), 0.0, 0.0, 0.0)
        if found.key in self.seen:
            return self.seen[found.key]
        cells, gone = self.released(labels)
        told, total = self.measure.told(self._p_in(cells)), self.joint.total
        kept, p_gone, least = 0.0, self.joint.p_x[gone], 1.0
        for i, groups in enumerate(labels):
            if self.rates[i] > 0:
                bits = self._groups(i, groups)[2]
                lost = float(p_gone @ bits[self.codes[i][gone]])
                own = self.rates[i] * (float(self.weights[i] @ bits) / total - lost)
                kept += own
                if self.coarsened[i]:
                    least = min(least, float(own / self.importance[i]))
        found = Recoded(tuple(labels), kept, told, float(p_gone.sum()), least)
        self.seen[found.key] = found
        return found

    def _p_in(self, cells: Ints) -> Any:
        """p(s, cell), dense where that takes little: thousands of codes of small tables are measured."""
        n_s = self._columns[3]
        found, cells = _dense(cells, int(cells.max()) + 1)
        x, s, weights = self._entries
        if n_s * len(found) > SPARSE * len(x):
            return self.joint.p_sx @ Partition(cells).matrix
        p = np.bincount(s * len(found) + cells[x], weights, minlength=n_s * len(found))
        return p.reshape(n_s, -1) / self.joint.total

    def released(self, labels: Sequence[Ints]) -> tuple[Ints, NDArray[np.bool_]]:
        """The cell that each x is released in and whether it is suppressed, the cells then being one."""
        _, cells, _ = self._others(labels, -1, 0.0)
        n = cells.max() + 1
        masses = np.bincount(cells, weights=self.joint.p_x) * self.joint.total
        small = masses < self.min_count * (1 - 1e-12)
        # Suppressed records are a released combination themselves: it takes the next smallest cells.
        for cell in np.argsort(masses, kind="stable"):
            if not small.any() or masses[small].sum() >= self.min_count or small.all():
                break
            small[cell] = True
        gone = small[cells]
        return np.where(gone, n, cells), gone

    def sweep(self, rng: np.random.Generator) -> list[Recoded]:
        """Codes from nothing kept to everything: all, or from the coarse end and from the fine one."""
        if self.is_small:
            for every in product(*(list(shape.every()) for shape in self.shapes)):
                self.measured(every)
            return self.hull()
        fine, coarse = zip(*(shape.ends() for shape in self.shapes), strict=True)
        n_corners = 2 ** len(self.shapes)
        for corner in product(*zip(fine, coarse, strict=True)) if n_corners <= CORNERS else ():
            self.measured(corner)
        scale = max(self.most_told, 1e-9)  # the fine end may be suppressed and tell nothing
        mus = scale * np.geomspace(2.0**-9, 2.0**4, LAMS // 2 if self.is_large else LAMS)
        labels: Sequence[Ints] = self.measured(coarse).labels
        for mu in mus:
            labels = self._steered(labels, mu, rng).labels
        if self.may_suppress(self.measured(fine).suppressed):
            labels = fine  # where nearly all would be suppressed, no column alone can mend it
        for mu in mus[::-1]:
            labels = self._steered(labels, mu, rng).labels
        return self.hull()

    def _steered(
        self,
        labels: Sequence[Ints],
        mu: float,
        rng: np.random.Generator,
        most: Array | None = None,
    ) -> Recoded:
        """A descent whose suppressed records are within the share allowed, at what price it takes."""
        found = self.descend(labels, mu, rng, most=most)
        nu = mu
        while not self.may_suppress(found.suppressed) and nu < mu * 1e4:
            found, nu = self.descend(labels, mu, rng, nu, most), nu * 8.0
        return found

    def at(self, kept: float, rng: np.random.Generator, *, trades: int = TRADES) -> Recoded | None:
        """The least leakage found among codes that keep at least so much; None if none does.

        Descents at the hull's slope there; then, from the codes that come nearest, each column's
        cheapest groups within what it may lose. The best found is then disturbed, one column made
        finer or coarser than it pays, kept or dropped whole, or some shaken at random, and filled up
        again, ``trades`` times or until that helps no more.
        """
        if self.is_small:
            return self._best_at(kept)
        corners = self.hull()
        if not corners or not stays_within(kept, corners[-1].kept):
            return None
        mu, most = self.slope(kept), self._most_lost(kept) if self.balance else None
        few = (STARTS, PATTERNS) if trades else (1, 0)
        for start in self._near(kept, mu, *few):
            self._steered(start.labels, mu, rng, most)
        if self.balance:  # what the trade-off passes by on its way may have given up a column
            for end in zip(*(shape.ends() for shape in self.shapes), strict=True):
                for factor in (1.0,) if self.is_large else FACTORS:
                    self._steered(end, mu * factor, rng, most)
        for start in self._near(kept, mu, *few):
            self._fill(start, kept, mu, rng)
        best = self._best_at(kept)
        still = 0  # rounds that have not helped
        for _ in range(trades // 3 if self.is_large else trades):
            if best is None or still == PATIENCE:
                break
            for i in range(len(self.shapes)):
                for factor in (0.25, 4.0):
                    self._trade(best, i, factor, kept, mu, rng)
                self._swap(best, i, kept, mu, rng)
            for _ in range(KICKS // 4 if self.is_large else KICKS):
                self._fill(self._shaken(best, rng), kept, mu, rng)
            found = self._best_at(kept)
            still = still + 1 if found is best else 0
            best = found
        return best

    def _best_at(self, kept: float) -> Recoded | None:
        """The least leakage among the codes found that keep so much, of every column its part."""
        balanced = (c for c in self.allowed() if self._balanced(c, kept))
        return chosen(balanced, Price.keeping(kept), told_and_kept)

    def under(self, leakage: float, rng: np.random.Generator) -> Recoded | None:
        """The most kept found among codes that leak no more; None if none does."""
        corners = self.hull()
        k = int(np.searchsorted([code.leakage for code in corners], leakage, side="right"))
        # All corners may be allowed, and yet none of them leave every column its part.
        if 0 < k < len(corners) + bool(self.balance) and not self.is_small:
            low = 0.0 if self.balance else corners[k - 1].kept
            # What keeps more leaks more, nearly always.
            halving = Halving(low, corners[min(k, len(corners) - 1)].kept)
            for step, asked in enumerate(halving, 1):
                found = self.at(asked, rng, trades=TRADES if step == halving.steps else 0)
                if found is not None and stays_within(found.leakage, leakage):
                    halving.reached(max(asked, found.kept))
        balanced = (c for c in self.allowed() if self._balanced(c, c.kept))
        return chosen(balanced, Price.telling(leakage), told_and_kept)

    def best(self, mu: float, rng: np.random.Generator) -> Recoded:
        """A code of low leakage − mu · kept, from all codes that come near and from both ends."""

        def price(code: Recoded) -> float:
            return code.leakage - mu * code.kept

        for _ in range(0 if self.is_small else STEPS):
            starts = sorted(self.allowed(), key=price)[:STARTS]
            before = len(self.seen)
            for start in starts:
                self._steered(start.labels, mu, rng)
            for i, shape in enumerate(self.shapes):
                for end in shape.ends():
                    self._steered(starts[0].with_column(i, end), mu, rng)
            if len(self.seen) == before:
                break
        return min(self.allowed(), key=price)

    def slope(self, kept: float) -> float:
        """The leakage that all there is to keep would cost at the hull's slope there."""
        corners = self.hull()
        if len(corners) < 2:
            return max(self.most_told, 1e-9)
        points = np.array([(code.kept, code.leakage) for code in corners])
        return max(slope_at(points, "funnel", kept, steepest=np.inf), 1e-9)

    def _near(self, kept: float, mu: float, starts: int, patterns: int) -> list[Recoded]:
        """A few codes on each side of a share that are cheap at its price, see `_first`."""
        codes = sorted(self.allowed(), key=lambda code: code.leakage - mu * code.kept)
        if self.balance:  # balanced ones first; the others are starts as long as there are none
            codes.sort(key=lambda code: not self._balanced(code, kept))
        below = [code for code in codes if code.kept < kept]
        above = [code for code in codes if code.kept >= kept]
        return [*_first(below, starts, patterns), *_first(above, starts, patterns)]

    def _trade(
        self, code: Recoded, i: int, factor: float, kept: float, mu: float, rng: np.random.Generator
    ) -> None:
        """Solve one column as if what is kept were dearer or cheaper; let the others make up for it."""
        if self.rates[i] > 0:
            cells = self.cells(code.labels, i, mu * factor, mu)
            new = self.shapes[i].best(cells, code.labels[i], rng)
            if Partition(new) != Partition(code.labels[i]):
                order = [j for j in rng.permutation(len(code.labels)) if j != i]
                new_code = self.measured(code.with_column(i, new))
                self._fill(new_code, kept, mu, rng, [*order, i])

    def _swap(
        self, code: Recoded, i: int, kept: float, mu: float, rng: np.random.Generator
    ) -> None:
        """Keep one column as it is, or drop it, and let the others make up for it."""
        order = [int(j) for j in rng.permutation(len(self.shapes)) if j != i]
        for end in self.shapes[i].ends() if order and self.rates[i] > 0 else ():
            if Partition(end) != Partition(code.labels[i]):
                self._fill(self.measured(code.with_column(i, end)), kept, mu, rng, order)

    def _shaken(self, code: Recoded, rng: np.random.Generator) -> Recoded:
        """The same with one column, two or all solved as if some others were dropped, at any price."""
        labels = list(code.labels)
        ends = [shape.ends() for shape in self.shapes]
        chosen = rng.permutation(len(labels))[: rng.choice([1, 2, len(labels)])]
        for i in chosen:
            if self.rates[i] > 0:
                seen = [own if rng.random() < 0.5 else ends[j][1] for j, own in enumerate(labels)]
                mu = self.most_told * 2.0 ** rng.uniform(-8.0, 2.0)
                labels[i] = self.shapes[i].best(self.cells(seen, i, mu, mu), labels[i], rng)
        return self.measured(labels)

    def _fill(
        self,
        start: Recoded,
        kept: float,
        mu: float,
        rng: np.random.Generator,
        order: Sequence[int] | None = None,
    ) -> None:
        """Let each column in turn lose as much as the others leave, as cheaply as it can."""
        now, most = start, self._most_lost(kept)
        fixed = 0
        turns = rng.permutation(len(self.shapes)) if order is None else np.array(order)
        for i in np.tile(turns, ROUNDS):
            fixed += 1
            if self.rates[i] > 0:
                own = self._lost(now.labels[i], i)
                bound = min(own + (now.kept - kept) / self.rates[i], most[i])
                if bound > 0:
                    cells = self.cells(now.labels, i, mu, mu, keep=False)
                    new = self.shapes[i].within(cells, bound, now.labels[i], rng)
                    if new is not None:
                        found = self.measured(now.with_column(i, new))
                        better = gains(found.leakage, now.leakage) or not reaches(now.kept, kept)
                        fine = self.may_suppress(found.suppressed)
                        if reaches(found.kept, kept) and better and fine:
                            now, fixed = found, 1
            if fixed >= len(self.shapes):
                break

    def _lost(self, labels: Ints, i: int) -> float:
        """Bits of column i that groups of its values lose."""
        return lost_bits(labels, self.weights[i] / self.joint.total)

    def may_suppress(self, share: float) -> bool:
        """Whether so many of the records may be suppressed."""
        return bool(stays_within(share, self.suppress))

    def allowed(self) -> list[Recoded]:
        """All measured codes that suppress no more than allowed, by rising share kept."""
        found = [code for code in self.seen.values() if self.may_suppress(code.suppressed)]
        return sorted(found, key=lambda code: (code.kept, -code.leakage))

    def hull(self) -> list[Recoded]:
        """Those of `allowed` on the lower convex hull."""
        codes = self.allowed()
        points = np.array([(code.kept, code.leakage) for code in codes]).reshape(-1, 2)
        best = undominated(points, "funnel")
        return [codes[best[i]] for i in hull(points[best], "funnel")]

    def code(self, found: Recoded) -> ColumnCode:
        """The code with its groups named."""
        _, gone = self.released(found.labels)
        columns, cells = [], np.zeros((self.joint.n_x, len(self.shapes)), dtype=np.int64)
        for i, (column, shape) in enumerate(zip(self.joint.public, self.shapes, strict=True)):
            of_value = shape.released(found.labels[i])
            groups = list(dict.fromkeys(of_value[v] for v in shape.listing))
            star = Group("*", column.values)
            if gone.any() and star not in groups:
                groups.append(star)
            place = {group: k for k, group in enumerate(groups)}
            cells[:, i] = np.array([place[group] for group in of_value])[self.codes[i]]
            if gone.any():
                cells[gone, i] = place[star]
            columns.append(RecodedColumn(column.name, tuple(groups)))
        return ColumnCode(columns, cells)


def _dense(numbers: Ints, most: int) -> tuple[Ints, Ints]:
    """The different numbers below ``most``, rising, and the place of each among them.

    >>> _dense(np.array([7, 2, 7]), 9)
    (array([2, 7]), array([1, 0, 1]))
    """
    if most > SPARSE * len(numbers):
        found, at = np.unique(numbers, return_inverse=True)
        return found, at
    there = np.zeros(most, dtype=bool)
    there[numbers] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[numbers]


def _first(codes: Sequence[Recoded], starts: int, patterns: int) -> list[Recoded]:
    """The first few codes, and the first of each of some ``patterns``: sets of columns that it drops."""
    found, met = list(codes[:starts]), set[tuple[bool, ...]]()
    for code in codes:
        if len(met) == patterns:
            break
        pattern = tuple(bool((own == own[0]).all()) for own in code.labels)
        if pattern not in met:
            met.add(pattern)
            found += [code] if code not in found else []
    return found
