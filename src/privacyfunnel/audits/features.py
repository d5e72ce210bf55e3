"""Features: the public columns of a joint as numbers that classifiers can learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privacyfunnel.columns import KINDS, Column
from privacyfunnel.information import Array
from privacyfunnel.joint import Joint

MOST_CATEGORIES = 250  # of a column without order that gradient boosting takes apart


@dataclass(frozen=True)
class Features:
    """Each public symbol x as a row: by category codes, and as boosting wants it.

    ``codes[x, column]`` numbers the values of every column. ``values[x, column]`` is the number
    itself where values have an order (missing is NaN), else a code again, marked in ``is_category``.
    """

    codes: NDArray[np.int64]
    values: Array
    is_category: NDArray[np.bool_]


def features(joint: Joint, columns: Sequence[Column]) -> Features:
    """The features of each public symbol of a joint that was counted over these columns.

    >>> joint = Joint.from_counts([[1, 1, 1]], labels_x=[("f", 180), ("m", 180), ("m", None)])
    >>> made = features(joint, [Column("sex", "text"), Column("chol", "integer")])
    >>> made.codes.tolist(), made.values.tolist()
    ([[0, 0], [1, 0], [1, 1]], [[1.0, 180.0], [0.0, 180.0], [0.0, nan]])
    """
    parts = parts_of(joint.labels_x, len(columns))
    codes = np.column_stack([numbered(part) for part in parts])
    is_category = np.array([not KINDS[column.kind].is_ordered for column in columns])
    values = [
        _common(codes[:, i], joint.masses)
        if is_category[i]
        else np.array([column.number(value) for value in parts[i]])
        for i, column in enumerate(columns)
    ]
    return Features(codes, np.column_stack(values).astype(float), is_category)


def parts_of(labels: Sequence[Any], n_columns: int) -> list[list[Any]]:
    """The values of each column, of labels that are tuples of them where columns are several.

    >>> parts_of([("f", 180), ("m", 190)], 2), parts_of(["f", "m"], 1)
    ([['f', 'm'], [180, 190]], [['f', 'm']])
    """
    if n_columns == 1:
        return [list(labels)]
    return [[label[i] for label in labels] for i in range(n_columns)]


def gathered(numbers: NDArray[np.int64], table: Any) -> sp.csr_array:
    """The table with its rows of one number added up, in order of the numbers."""
    into = (np.ones(len(numbers)), (numbers, np.arange(len(numbers))))
    return sp.csr_array(into) @ table


def numbered(values: Sequence[Any]) -> NDArray[np.int64]:
    """Each value's number, 0, 1, ... in order of first appearance."""
    place: dict[Any, int] = {}
    return np.array([place.setdefault(value, len(place)) for value in values], dtype=np.int64)


def _common(codes: NDArray[np.int64], sizes: Array) -> NDArray[np.int64]:
    """Codes by falling frequency; the rarest beyond the most that boosting takes share one code."""
    order = np.argsort(-np.bincount(codes, weights=sizes), kind="stable")
    return np.minimum(np.argsort(order), MOST_CATEGORIES)[codes]
