"""What a release keeps of the public columns, for every kind of code."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.codes import Code, ColumnCode, Partition
from privacyfunnel.errors import InvalidInput
from privacyfunnel.information import Array, cells_information, entropy, mutual_information, share
from privacyfunnel.joint import Joint, PublicColumn


def check_importance(joint: Joint, importance: Mapping[str, float] | None) -> Array:
    """The weights of the columns, 1 where none is given, as shares of those that tell anything."""
    names = [column.name for column in joint.public]
    for name, weight in (importance or {}).items():
        if name not in names:
            raise InvalidInput(f"importance names {name!r}; the columns are {', '.join(names)}.")
        if not (isinstance(weight, Real) and np.isfinite(weight) and weight >= 0):
            raise InvalidInput(
                f"the importance of {name!r} must be a number of 0 or more, got {weight!r}."
            )
    weights = np.array([float((importance or {}).get(name, 1.0)) for name in names])
    weights *= [len(column.values) > 1 for column in joint.public]
    if not weights.any():
        raise InvalidInput("no column is both important and of more than one value.")
    return np.asarray(weights / weights.sum())


def kept(joint: Joint, code: ColumnCode, importance: Mapping[str, float] | None = None) -> float:
    """The share of the columns' values that a recoding keeps: 1 for X itself, 0 for all ``*``.

    1 − E[Σ_i w_i log(p(ν_i) / p(x_i)) / H(X_i)], where the value x_i is released as the group ν_i and the
    weights w_i sum to 1: the non-uniform entropy of Gionis & Tassa (2009), normalised. It equals the
    mean of I(X_i;X̂_i)/H(X_i) for a global recoding and bounds it from below for a local one.

    >>> from privacyfunnel.codes import Group, RecodedColumn
    >>> joint = Joint.from_counts([[1, 1, 1, 1]], labels_x=list("abcd"), columns=["city"])
    >>> halves = RecodedColumn("city", (Group("a or b", ("a", "b")), Group("c or d", ("c", "d"))))
    >>> kept(joint, ColumnCode([halves], [[0], [0], [1], [1]]))
    0.5
    """
    weights = check_importance(joint, importance)
    lost = 0.0
    for i, (column, released) in enumerate(zip(joint.public, code.columns, strict=True)):
        if weights[i] > 0:
            p_v = of_values(column, joint.p_x)
            place = {value: v for v, value in enumerate(column.values)}
            masses = [
                sum(p_v[place[value]] for value in dict.fromkeys(group.members) if value in place)
                for group in released.groups
            ]
            bits = np.log2(np.array(masses)[code.cells[:, i]]) - np.log2(p_v[column.codes])
            lost += weights[i] * float(joint.p_x @ bits) / entropy(p_v)
    return float(1.0 - lost)


def column_utilities(joint: Joint, code: Code) -> dict[str, float]:
    """I(X_i;X̂_i)/H(X_i) of each public column; with symbols X̂_i is the whole symbol.

    >>> joint = Joint.from_counts(
    ...     [[1, 1, 1, 1]], labels_x=[(1, "a"), (1, "b"), (2, "a"), (2, "b")], columns=["p", "q"])
    >>> column_utilities(joint, Partition([0, 0, 1, 1]))
    {'p': 1.0, 'q': 0.0}
    """
    found = {}
    for i, column in enumerate(joint.public):
        whole = entropy(of_values(column, joint.p_x))
        if isinstance(code, Partition):
            symbols = code.cells[:, i] if isinstance(code, ColumnCode) else code.labels
            bits = labels_information(column.codes, symbols, joint.p_x)
        else:
            of_value = np.zeros((len(column.values), joint.n_x))
            of_value[column.codes, np.arange(joint.n_x)] = joint.p_x
            bits = mutual_information(of_value @ code.matrix.toarray())
        found[column.name] = float(share(bits, whole))
    return found


def of_values(column: PublicColumn, weights: Array) -> Array:
    """The weight of each value of a column, from those of each x."""
    return np.bincount(column.codes, weights, len(column.values)).astype(float)


def labels_information(one: NDArray[np.int64], other: NDArray[np.int64], p_x: Array) -> float:
    """I(A;B) in bits of two labels that each x has."""
    cells, place = np.unique(one * (other.max() + 1) + other, return_inverse=True)
    p = np.bincount(place, weights=p_x).astype(float)
    return cells_information(p, *np.divmod(cells, other.max() + 1))
