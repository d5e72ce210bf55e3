"""Cover: the constrained form of one merge, by modular prices and greedy cover (Iyer & Bilmes 2013)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from privacyfunnel.information import Array
from privacyfunnel.submodular.functions import (
    Mask,
    SetFunction,
    SetResult,
    lower_bound,
    order_from,
    upper_bounds,
)

ROUNDING = 1e-12  # relative to all that there is to cover


@dataclass(frozen=True, eq=False)
class Complement(SetFunction):
    """h(Y) = F(V \\ Y) − F(V): what is left of a nonincreasing F when only Y stays out of the merge.

    Nondecreasing, zero at ∅, and submodular with F: a polymatroid.

    >>> from privacyfunnel.submodular.functions import MergeEntropy
    >>> import scipy.sparse as sp
    >>> h = Complement(MergeEntropy(sp.csc_array([[1.0, 1.0, 2.0]]), total=4.0))
    >>> h(np.zeros(3, dtype=bool)), h(np.ones(3, dtype=bool))
    (0.0, 1.5)
    """

    inner: SetFunction
    n: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", self.inner.n)

    def __call__(self, subset: Mask) -> float:
        return self.inner(~subset) - self.inner(np.ones(self.n, dtype=bool))

    def chain(self, order: NDArray[np.int64]) -> Array:
        return np.asarray(-self.inner.chain(order[::-1])[::-1])

    def gains(self, subset: Mask) -> Array:
        return -self.inner.gains(~subset)


@dataclass(frozen=True, eq=False)
class Shares(SetFunction):
    """−Σ_{i∈W} p_i: a budget of mass in the place of one of utility.

    >>> Shares(np.array([0.5, 0.25, 0.25]))(np.array([True, False, True]))
    -0.75
    """

    p: Array
    n: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", len(self.p))

    def __call__(self, subset: Mask) -> float:
        return -float(self.p[subset].sum())

    def gains(self, subset: Mask) -> Array:
        return -self.p


def cover(
    first: SetFunction,
    second: SetFunction,
    kept: SetFunction,
    budget: float,
    *,
    rng: Generator,
    starts: int = 4,
    tol: float = 1e-9,
) -> SetResult:
    """Lower first(W) − second(W) among the merges W with kept(W) ≥ −budget.

    All three are submodular and nonincreasing, such as f and g: with ``kept`` = f a merge may lose at
    most ``budget`` bits of utility, with `Shares` at most so much mass. In terms of the symbols Y that
    stay out of the merge they are polymatroids a, b, h (`Complement`), and the problem is a
    **submodular cover**: least a(Y) − b(Y) with h(Y) ≥ h(V) − budget. As in ISSC of Iyer & Bilmes
    (2013), a is replaced by a modular upper bound and b by a modular lower one, both tight at the
    current Y; the cover of least modular price is found by greedy (Wolsey 1982), and so again.

    What is guaranteed: the constraint is met, since h itself is covered and not a bound of it; no round
    raises the value; ``gap`` bounds what the best W could still gain (`_least`). Where b = 0, the first
    round alone is within n / (1 + (n−1)(1−κ)) · (1 + ln(c / r)) of the least a(Y): κ is the curvature of
    a, c what is to be covered and r what of it was missing before greedy's last step (their Theorem for
    ISSC with Wolsey's bound).

    >>> from privacyfunnel.submodular.functions import MergeEntropy, scaled
    >>> import scipy.sparse as sp
    >>> f = MergeEntropy(sp.csc_array([[1.0, 1.0, 2.0]]), total=4.0)
    >>> found = cover(f, scaled(f, 0.0), f, 0.6, rng=np.random.default_rng(0))
    >>> found.subset, found.value
    (array([ True,  True, False]), -0.5)
    """
    n = first.n
    a, b, h = Complement(first), Complement(second), Complement(kept)
    everything = np.ones(n, dtype=bool)
    merged = first(everything) - second(everything)  # the value of merging all, where Y = ∅
    demand = max(0.0, -budget - kept(everything))

    def value(out: Mask) -> float:
        return a(out) - b(out)

    best, lowest, steps = everything, value(everything), 0  # W = ∅ is always allowed
    bound = -np.inf
    for start in range(starts):
        out = np.zeros(n, dtype=bool) if start == 0 else rng.random(n) < rng.random()
        here = np.inf
        while True:
            below = lower_bound(b, order_from(out, rng))
            candidates = [greedy_cover(above - below, h, demand) for above in upper_bounds(a, out)]
            values = [value(candidate) for candidate in candidates]
            better, steps = int(np.argmin(values)), steps + 1
            if values[better] >= here - tol:
                break
            out, here = candidates[better], values[better]
        bound = max(bound, _least(a, b, h, demand, order_from(out, rng)))
        if here < lowest:
            best, lowest = out, here
    if lowest + merged > -tol:
        best, lowest = everything, value(everything)
    return SetResult(~best, lowest + merged, steps, max(0.0, lowest - bound))


def greedy_cover(prices: Array, h: SetFunction, demand: float) -> Mask:
    """A cheap Y with h(Y) ≥ demand: again and again the element of most cover for its price.

    What costs nothing is taken at once, and what turns out not to be needed is dropped in the end. At
    most 1 + ln(demand / r) times the least price, r what was missing before the last step (Wolsey 1982).

    >>> greedy_cover(np.array([1.0, 1.0, 3.0]), Complement(Shares(np.array([0.2, 0.3, 0.5]))), 0.5)
    array([ True,  True, False])
    """
    everything = np.ones(h.n, dtype=bool)
    demand = min(demand, h(everything))
    slack = ROUNDING * max(1.0, abs(demand))
    out = prices <= 0.0
    while (missing := demand - h(out)) > slack:
        useful = np.where(out, 0.0, np.minimum(h.gains(out), missing))
        useful = np.where(useful > 0.0, useful / np.where(out, 1.0, prices), -1.0)
        best = int(np.argmax(useful))
        if useful[best] <= 0.0:  # rounding hides what is left
            return everything
        out[best] = True
    for j in np.argsort(-prices, kind="stable"):
        if out[j] and prices[j] > 0.0:
            out[j] = False
            if h(out) < demand - slack:
                out[j] = True
    return out


def _least(
    a: SetFunction, b: SetFunction, h: SetFunction, demand: float, order: NDArray[np.int64]
) -> float:
    """A value that no Y with h(Y) ≥ demand goes below.

    a is bounded from below along an order, b and h from above by the sums of their single elements;
    what is left is a fractional knapsack, filled by price for cover.
    """
    nothing = np.zeros(a.n, dtype=bool)
    prices, covers = lower_bound(a, order) - b.gains(nothing), np.maximum(h.gains(nothing), 0.0)
    taken = prices <= 0.0
    total, missing = float(prices[taken].sum()), demand - float(covers[taken].sum())
    rest = np.flatnonzero(~taken & (covers > 0.0))
    for j in rest[np.argsort(prices[rest] / covers[rest], kind="stable")]:
        if missing <= 0.0:
            break
        share = min(1.0, missing / covers[j])
        total, missing = total + share * float(prices[j]), missing - covers[j]
    return total
