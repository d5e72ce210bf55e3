"""Set functions: the small protocol that every minimiser here works on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.random import Generator
from numpy.typing import NDArray

from privacyfunnel.information import Array, plogp
from privacyfunnel.joint import csc_columns, eta_table

Mask = NDArray[np.bool_]


class SetFunction(ABC):
    """F(W) of subsets W of {0, ..., n−1}, with F(∅) = 0.

    A subclass gives ``n`` and ``__call__``; the other methods follow and may be overridden
    with something faster.

    >>> class Card(SetFunction):
    ...     n = 3
    ...     def __call__(self, subset):
    ...         return float(np.sqrt(subset.sum()))
    >>> Card().chain(np.array([2, 0, 1])).round(3)
    array([1.   , 0.414, 0.318])
    """

    n: int

    @abstractmethod
    def __call__(self, subset: Mask) -> float:
        """F(W) of a mask."""

    def chain(self, order: NDArray[np.int64]) -> Array:
        """Gains F(W_k) − F(W_{k−1}) along the sets W_k of the first k elements of ``order``."""
        subset = np.zeros(self.n, dtype=bool)
        values = [0.0]
        for element in order:
            subset[element] = True
            values.append(self(subset))
        return np.diff(values)

    def gains(self, subset: Mask) -> Array:
        """F(W ∪ j) − F(W \\ j) of every element j."""
        result = np.empty(self.n)
        for j in range(self.n):
            inside, outside = subset.copy(), subset.copy()
            inside[j], outside[j] = True, False
            result[j] = self(inside) - self(outside)
        return result

    def values(self) -> Array:
        """F of all 2ⁿ subsets; bit j of the position says whether j is in the subset."""
        bits = np.arange(2**self.n)[:, None] >> np.arange(self.n) & 1
        return np.array([self(row) for row in bits.astype(bool)])


@dataclass(frozen=True, eq=False)
class MergeEntropy(SetFunction):
    """F(W) = Σ_rows [Σ_{i∈W} η(w_i) − η(w_W)] / total: the paper's f (one row) and g (a row per s).

    Submodular and nonincreasing, because η(y) = y log₂ y is convex. ``weights[row, symbol]`` may be
    counts; ``total`` turns them into probabilities (log total cancels).

    >>> f = MergeEntropy(sp.csc_array([[1.0, 1.0, 2.0]]), total=4.0)
    >>> f(np.array([True, True, False]))
    -0.5
    """

    weights: sp.csc_array
    total: float = 1.0
    n: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", self.weights.shape[1])

    @cached_property
    def columns(self) -> tuple[Any, ...]:
        """The weights as the compiled loops take them."""
        return csc_columns(self.weights)

    @cached_property
    def table(self) -> Array:
        """η of whole numbers, see `eta_table`."""
        return eta_table(self.weights)

    @cached_property
    def exact_columns(self) -> tuple[Any, ...]:
        """The same with whole weights as integers, which look η up without a conversion."""
        return csc_columns(self.weights, np.int64 if self.table.size else np.float64)

    def __call__(self, subset: Mask) -> float:
        from privacyfunnel._kernels.sets import set_value

        return float(set_value(*self.columns, subset)) / self.total

    def chain(self, order: NDArray[np.int64]) -> Array:
        from privacyfunnel._kernels.sets import chain_gains

        gains: Array = chain_gains(*self.columns, np.asarray(order, dtype=np.int64))
        return gains / self.total

    def gains(self, subset: Mask) -> Array:
        from privacyfunnel._kernels.sets import set_gains

        gains: Array = set_gains(*self.columns, subset)
        return gains / self.total

    def values(self) -> Array:
        values = subset_sums(plogp(self.weights.toarray()).sum(axis=0))
        for row in self.weights.toarray():
            values -= plogp(subset_sums(row))
        return values / self.total


@dataclass(frozen=True, eq=False)
class Affine(SetFunction):
    """scale · F(W) + Σ_{i∈W} shift_i; submodular with F while scale ≥ 0.

    >>> f = MergeEntropy(sp.csc_array([[1.0, 1.0, 2.0]]), total=4.0)
    >>> Affine(f, 2.0, np.array([1.0, 0.0, 0.0]))(np.array([True, True, False]))
    0.0
    """

    inner: SetFunction
    scale: float
    shift: Array
    n: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", self.inner.n)

    def __call__(self, subset: Mask) -> float:
        return self.scale * self.inner(subset) + float(self.shift[subset].sum())

    def chain(self, order: NDArray[np.int64]) -> Array:
        return self.scale * self.inner.chain(order) + self.shift[order]

    def gains(self, subset: Mask) -> Array:
        return self.scale * self.inner.gains(subset) + self.shift

    def values(self) -> Array:
        return self.scale * self.inner.values() + subset_sums(self.shift)


def scaled(function: SetFunction, scale: float) -> Affine:
    """scale · F."""
    return Affine(function, scale, np.zeros(function.n))


def subset_sums(values: Array) -> Array:
    """Σ_{i∈W} values_i of all 2ⁿ subsets, in the order of `SetFunction.values`.

    >>> subset_sums(np.array([1.0, 10.0]))
    array([ 0.,  1., 10., 11.])
    """
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums


@dataclass(frozen=True)
class SetResult:
    """A subset found, its value, the steps it took and, where proved, the gap to the optimum."""

    subset: Mask
    value: float
    steps: int
    gap: float | None = None


def best_run(runs: Iterable[SetResult]) -> SetResult:
    """The best of several runs, with the steps of all; ∅, which costs nothing, if none gains."""
    runs = list(runs)
    best = min(runs, key=lambda run: run.value)
    subset = best.subset if best.value < 0 else np.zeros_like(best.subset)
    return SetResult(subset, min(best.value, 0.0), sum(run.steps for run in runs))


def descend_by(
    candidates: Callable[[Mask], list[Mask]],
    first: SetFunction,
    second: SetFunction,
    *,
    rng: Generator,
    starts: int,
    tol: float,
) -> SetResult:
    """Lower first(W) − second(W) from random W, each step to the best candidate, while one gains."""

    def descend() -> SetResult:
        subset = rng.random(first.n) < rng.random()
        best = SetResult(subset, first(subset) - second(subset), 0)
        while True:
            found = candidates(best.subset)
            values = [first(w) - second(w) for w in found]
            better = int(np.argmin(values))
            if values[better] >= best.value - tol:
                return best
            best = SetResult(found[better], values[better], best.steps + 1)

    return best_run(descend() for _ in range(starts))


def lower_bound(function: SetFunction, order: NDArray[np.int64]) -> Array:
    """Modular lower bound of a submodular F, tight on the prefixes of ``order`` (Edmonds' greedy)."""
    bound = np.empty(function.n)
    bound[order] = function.chain(order)
    return bound


def order_from(subset: Mask, rng: Generator) -> NDArray[np.int64]:
    """A random permutation that starts with the elements of ``subset``."""
    inside, outside = np.flatnonzero(subset), np.flatnonzero(~subset)
    return np.concatenate([rng.permutation(inside), rng.permutation(outside)])


def upper_bounds(function: SetFunction, subset: Mask) -> tuple[Array, Array]:
    """Two modular upper bounds of a submodular F, tight at W up to a constant (Iyer & Bilmes 2012).

    The first prices leaving W by the gains within W and joining it by the gains on ∅, the second
    leaving by the gains on V and joining by the gains on W.
    """
    here = function.gains(subset)
    alone = function.gains(np.zeros(function.n, dtype=bool))
    last = function.gains(np.ones(function.n, dtype=bool))
    return np.where(subset, here, alone), np.where(subset, last, here)
