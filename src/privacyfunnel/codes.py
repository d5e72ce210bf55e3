"""Codes: what is released for each x. A Partition is hard, a ColumnCode readable, a Channel soft."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from privacyfunnel.errors import InvalidCode
from privacyfunnel.joint import Joint


@dataclass(frozen=True, eq=False, repr=False)
class Partition:
    """A hard code: symbol x is released as ``labels[x]``.

    Labels are renumbered 0, 1, ... in order of first appearance, so two partitions with
    the same clusters are equal.

    >>> Partition([7, 3, 7]).labels
    array([0, 1, 0])
    >>> Partition([7, 3, 7]) == Partition([0, 1, 0])
    True
    """

    labels: NDArray[np.int64]

    def __init__(self, labels: ArrayLike) -> None:
        given = np.asarray(labels)
        if given.ndim != 1 or given.size == 0 or not np.issubdtype(given.dtype, np.integer):
            raise InvalidCode(
                f"labels must be a nonempty list of whole numbers, got {given.dtype} "
                f"of shape {given.shape}."
            )
        _, first, inverse = np.unique(given, return_index=True, return_inverse=True)
        canonical = np.argsort(np.argsort(first))[inverse].astype(np.int64)
        canonical.flags.writeable = False
        object.__setattr__(self, "labels", canonical)

    @classmethod
    def identity(cls, n_x: int) -> Partition:
        """Every symbol is released as it is."""
        return cls(np.arange(n_x))

    @classmethod
    def trivial(cls, n_x: int) -> Partition:
        """Every symbol is released as the same one: nothing is told."""
        return cls(np.zeros(n_x, dtype=np.int64))

    @property
    def n_x(self) -> int:
        """Number of symbols that go in."""
        return len(self.labels)

    @cached_property
    def n_symbols(self) -> int:
        """Number of symbols that come out."""
        return int(self.labels.max()) + 1

    @cached_property
    def matrix(self) -> sp.csr_array:
        """p(x̂ given x), shape ``[x, xhat]``, zeros and ones."""
        parts = np.ones(self.n_x), self.labels, np.arange(self.n_x + 1)
        return sp.csr_array(parts, shape=(self.n_x, self.n_symbols))

    def clusters(self) -> list[NDArray[np.int64]]:
        """The members of each released symbol, as positions of x."""
        order = np.argsort(self.labels, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.labels))[:-1])

    def push(self, joint: Joint) -> Joint:
        """p(s,x̂): the joint after the release; a released symbol's label is its members' tuple."""
        _check_fits(self.n_x, joint)
        members = [tuple(joint.labels_x[i] for i in cluster) for cluster in self.clusters()]
        return _pushed(joint, self.matrix, members)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Partition) and np.array_equal(self.labels, other.labels)

    def __hash__(self) -> int:
        return hash(self.labels.tobytes())

    def __repr__(self) -> str:
        return f"Partition({self.n_x} symbols into {self.n_symbols})"


@dataclass(frozen=True)
class Group:
    """Values of one column that are released as one: a label, the values, an interval's bounds.

    An interval reaches from ``low`` up to, and not including, ``high``; None is open-ended. ``*`` holds
    all values of its column.
    """

    label: str
    members: tuple[Any, ...]
    low: Any = None
    high: Any = None


@dataclass(frozen=True)
class RecodedColumn:
    """A public column as it is released: its name and the groups that stand in it."""

    name: str
    groups: tuple[Group, ...]


@dataclass(frozen=True, eq=False, repr=False)
class ColumnCode(Partition):
    """A readable hard code: every public column stays a column, with groups in place of its values.

    Symbol x is released as the tuple of the groups ``cells[x, i]`` of the columns i. In a global
    recoding the group depends on the column's value only; in a local recoding each x has its own
    generalisation. Suppressed records are ``*`` in all columns.

    >>> age = RecodedColumn("age", (Group("to 39", (31,), None, 40), Group("40+", (40, 61), 40)))
    >>> code = ColumnCode([age], [[0], [1], [1]])
    >>> code.labels, code.released
    (array([0, 1, 1]), [('to 39',), ('40+',)])
    """

    columns: tuple[RecodedColumn, ...]
    cells: NDArray[np.int64]

    def __init__(self, columns: Iterable[RecodedColumn], cells: ArrayLike) -> None:
        given, tuples = tuple(columns), np.array(cells, dtype=np.int64)
        if tuples.ndim != 2 or tuples.shape[1] != len(given) or tuples.size == 0:
            raise InvalidCode(
                f"cells must have a group of each of {len(given)} columns for each x, "
                f"got shape {tuples.shape}."
            )
        labels = np.zeros(len(tuples), dtype=np.int64)
        for i, column in enumerate(given):
            if tuples[:, i].min() < 0 or tuples[:, i].max() >= len(column.groups):
                raise InvalidCode(
                    f"cells of column {column.name!r} must be positions of its "
                    f"{len(column.groups)} groups."
                )
            names = [group.label for group in column.groups]
            if len(set(names)) < len(names):
                raise InvalidCode(f"two groups of column {column.name!r} have the same label.")
            # Column by column, which is faster than rows at once.
            labels = labels * len(column.groups) + tuples[:, i]
            labels = np.unique(labels, return_inverse=True)[1]
        tuples.flags.writeable = False
        super().__init__(labels)
        object.__setattr__(self, "columns", given)
        object.__setattr__(self, "cells", tuples)

    @property
    def released(self) -> list[tuple[str, ...]]:
        """The labels that stand in the columns, a tuple for each released symbol."""
        _, first = np.unique(self.labels, return_index=True)
        return [
            tuple(c.groups[g].label for c, g in zip(self.columns, self.cells[x], strict=True))
            for x in first
        ]

    @cached_property
    def suppressed(self) -> NDArray[np.bool_]:
        """Which x are released as ``*`` in all columns."""
        stars = [[group.label == "*" for group in column.groups] for column in self.columns]
        alone = np.array([np.array(s)[self.cells[:, i]] for i, s in enumerate(stars)])
        return np.asarray(alone.all(axis=0))

    def push(self, joint: Joint) -> Joint:
        """p(s,x̂): the joint after the release, its columns named and labelled as released."""
        _check_fits(self.n_x, joint)
        rows = self.released
        labels = rows if len(self.columns) > 1 else [label for (label,) in rows]
        names = [column.name for column in self.columns]
        return _pushed(joint, self.matrix, labels, names)

    def __repr__(self) -> str:
        names = ", ".join(f"{c.name}: {len(c.groups)} groups" for c in self.columns)
        return f"ColumnCode({self.n_x} symbols into {self.n_symbols}; {names})"


@dataclass(frozen=True, eq=False, repr=False)
class Channel:
    """A soft code: symbol x is released as x̂ with probability ``matrix[x, xhat]``.

    >>> Channel([[1.0, 0.0], [0.5, 0.5]]).n_symbols
    2
    """

    matrix: sp.csr_array

    def __init__(self, matrix: Any) -> None:
        try:
            rows = sp.csr_array(matrix, dtype=float, copy=True)
        except (TypeError, ValueError):
            raise InvalidCode("a channel needs a table of numbers [x, xhat].") from None
        rows.sum_duplicates()
        if rows.ndim != 2 or rows.nnz == 0:
            raise InvalidCode(f"a channel needs two axes [x, xhat], got shape {rows.shape}.")
        if not np.isfinite(rows.data).all() or (rows.data < 0).any():
            raise InvalidCode("a channel's probabilities must be finite and not negative.")
        object.__setattr__(self, "matrix", rows)
        sums = np.bincount(self.rows, weights=rows.data, minlength=self.n_x)
        worst = sums[np.argmax(np.abs(sums - 1.0))]
        if abs(worst - 1.0) > 1e-6:
            raise InvalidCode(f"each row of a channel must sum to 1, got {worst:.6g}.")
        rows.data /= sums[self.rows]
        rows.data.flags.writeable = False

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The x of each stored cell of the matrix."""
        return np.repeat(np.arange(self.n_x), np.diff(self.matrix.indptr))

    @property
    def n_x(self) -> int:
        """Number of symbols that go in."""
        return int(self.matrix.shape[0])

    @property
    def n_symbols(self) -> int:
        """Number of symbols that can come out."""
        return int(self.matrix.shape[1])

    def push(self, joint: Joint) -> Joint:
        """p(s,x̂): the joint after the release."""
        _check_fits(self.n_x, joint)
        shares = self.matrix / joint.total
        return replace(_pushed(joint, shares, range(self.n_symbols)), n_records=None)

    def __repr__(self) -> str:
        return f"Channel({self.n_x} symbols to {self.n_symbols})"


Code = Partition | Channel


def joined(joint: Joint, code: Code) -> sp.csr_array:
    """p(x,x̂) = p(x) p(x̂ given x), shape ``[x, xhat]``.

    >>> joined(Joint.from_counts([[1, 2], [3, 2]]), Partition([0, 0])).toarray()
    array([[0.5],
           [0.5]])
    """
    return sp.csr_array(code.matrix.multiply(joint.p_x[:, None]))


def _pushed(
    joint: Joint, matrix: sp.csr_array, labels: Sequence[Any], columns: Sequence[str] = ()
) -> Joint:
    """The joint of S, and of the useful Y where there is one, with what is released."""
    use = joint.useful
    pushed = Joint.from_counts(
        joint.counts @ matrix,
        joint.labels_s,
        labels,
        columns,
        useful=None if use is None else use.counts @ matrix,
        labels_y=None if use is None else use.labels_s,
        sensitive=joint.sensitive,
    )
    # Weights that sum to whole numbers by chance are still no count of records.
    return pushed if joint.n_records is not None else replace(pushed, n_records=None)


def _check_fits(n_x: int, joint: Joint) -> None:
    if n_x != joint.n_x:
        raise InvalidCode(f"the code has {n_x} symbols but the joint has {joint.n_x}.")
