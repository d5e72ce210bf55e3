"""Vertices: all corners of {q ≥ 0, A q = b}, where they can be listed."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.information import Array, plogp

MOST = 200_000  # bases that are worth solving
CHUNK = 20_000  # of them at a time
SINGULAR = 1e-9  # volume of a basis of unit columns below which it counts as none
ROUNDING = 1e-12


class Vertices:
    """All vertices of {q ≥ 0, A q = b}, by solving for every basis of A's columns.

    A vertex lives on linearly independent columns, which can be completed to a basis of rank(A)
    columns; so one linear system for each choice of that many columns finds them all.

    >>> Vertices(np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]]), np.array([0.5, 0.5])).rows()
    array([[0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """

    def __init__(self, matrix: Array, b: Array) -> None:
        self.n = matrix.shape[1]
        reduced, self.goal = independent(matrix, b)
        bases = np.array(list(combinations(range(self.n), len(reduced))), dtype=np.intp)
        chunks = np.array_split(bases, -(-len(bases) // CHUNK))
        found = [self._solved(reduced, chunk) for chunk in chunks]
        supports, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
        # A degenerate vertex comes with several bases: columns without a share do not tell them apart.
        keys = np.sort(np.where(values > 0.0, supports, self.n), axis=1)
        first = np.unique(keys, axis=0, return_index=True)[1]
        self.supports: NDArray[np.intp] = supports[first]
        self.values: Array = values[first]
        self.entropy: Array = np.asarray(-plogp(self.values).sum(axis=1))

    def __len__(self) -> int:
        return len(self.values)

    @staticmethod
    def bases(matrix: Array) -> int:
        """How many systems it takes to list them."""
        singular: Array = np.asarray(np.linalg.svd(matrix, compute_uv=False), dtype=float)
        return math.comb(matrix.shape[1], _rank(singular, matrix.shape))

    def rows(self, which: NDArray[np.intp] | None = None) -> Array:
        """The vertices, or some of them, as rows of length n."""
        chosen = np.arange(len(self)) if which is None else which
        rows = np.zeros((len(chosen), self.n))
        np.put_along_axis(rows, self.supports[chosen], self.values[chosen], axis=1)
        return rows

    def prices(self, prices: Array) -> Array:
        """H(q) − prices·q of every vertex."""
        return np.asarray(self.entropy - (self.values * prices[self.supports]).sum(axis=1))

    def _solved(self, reduced: Array, bases: NDArray[np.intp]) -> tuple[NDArray[np.intp], Array]:
        """The bases among these whose solution is not negative, and the solutions."""
        columns = np.moveaxis(reduced[:, bases], 1, 0)  # [basis, row, column]
        lengths = np.linalg.norm(columns, axis=1)
        regular = np.abs(np.linalg.det(columns / lengths[:, None, :])) > SINGULAR
        bases, columns = bases[regular], columns[regular]
        goals = np.broadcast_to(self.goal[:, None], (len(columns), len(self.goal), 1))
        values = np.linalg.solve(columns, goals)
        values = (values + np.linalg.solve(columns, goals - columns @ values))[:, :, 0]
        inside = (values > -ROUNDING).all(axis=1)
        return bases[inside], np.where(values[inside] > ROUNDING, values[inside], 0.0)


def independent(matrix: Array, b: Array) -> tuple[Array, Array]:
    """The equations A q = b without those that follow from others."""
    left, singular, _ = np.linalg.svd(matrix, full_matrices=False)
    basis = left[:, : _rank(singular, matrix.shape)]
    return basis.T @ matrix, basis.T @ b


def _rank(singular: Array, shape: tuple[int, ...]) -> int:
    """The rank of a matrix from its singular values."""
    return int(np.count_nonzero(singular > singular[0] * max(shape) * np.finfo(float).eps))
