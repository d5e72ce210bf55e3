"""Alphabet: how rows become symbols, settled on the fitted rows and re-applied to new ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from privacyfunnel.columns import KINDS, Bins, Column, ColumnRules, is_known, quantiles_of_counts
from privacyfunnel.errors import InvalidInput
from privacyfunnel.estimators.input_columns import Columns
from privacyfunnel.information import Array
from privacyfunnel.joint import Joint
from privacyfunnel.tables.encoding import combine_columns, encode_column
from privacyfunnel.validation import check_whole

AskedBins = int | Mapping[str, int | Sequence[Any]] | None
Value = tuple[Any, ...]  # a row as a symbol: one part for each column
Places = NDArray[np.int64]
Rows = tuple[Places, list[Value]]  # the place of each row among the distinct ones, and these


@dataclass(frozen=True)
class Alphabet:
    """The columns of X (or of S) with their bins."""

    columns: tuple[Column, ...]
    ordered: tuple[bool, ...]  # whether a column's values have an order, which text has not

    @classmethod
    def fit(cls, table: Columns, bins: AskedBins, weights: Array) -> Alphabet:
        """Bins from the rows at hand, a row of weight w counting w times.

        A number of bins is for every column of numbers with more distinct values; a mapping names
        the columns and gives each its number of quantile bins or its edges.
        """
        if isinstance(bins, Mapping):
            rules = ColumnRules({name: n for name, n in bins.items() if name in table.names})
        else:
            rules = ColumnRules({} if bins is None else dict.fromkeys(_crowded(table, bins), bins))
        columns, ordered = [], []
        for name, kind, categorical, data in table.parts:
            columns.append(rules.column(name, kind, partial(_quantiles, data, weights)))
            ordered.append(KINDS[kind].is_ordered and not categorical)
        return cls(tuple(columns), tuple(ordered))

    def values(self, table: Columns) -> Rows:
        """The distinct rows in rising order, and the place of each row among them."""
        parts = []
        for column, (_, kind, _, data) in zip(self.columns, table.parts, strict=True):
            _check_kind(column, kind, data)
            parts.append(encode_column(column, _keys(column, data)))
        codes, labels = combine_columns(parts, np.ones(len(table), dtype=bool))
        return codes, [(label,) for label in labels] if len(parts) == 1 else labels


def count_rows(s: Rows, x: Rows, w: Array, names: Sequence[str]) -> Joint:
    """The joint p(s,x) of rows with their weights; X's names.

    >>> rows = np.array([0, 1, 1]), [("a",), ("b",)]
    >>> count_rows(rows, rows, np.array([1.0, 1.0, 2.0]), ["town"]).counts.toarray()
    array([[1., 0.],
           [0., 3.]])
    """
    counts = sp.coo_array((w, (s[0], x[0])), shape=(len(s[1]), len(x[1])))
    labels = x[1] if len(names) > 1 else [value for (value,) in x[1]]
    return Joint.from_counts(counts, s[1], labels, names)


def check_bins(bins: Any, names: Sequence[str]) -> None:
    """A number of at least 2, None, or a mapping whose keys are all columns."""
    if isinstance(bins, Mapping):
        unknown = [name for name in bins if name not in names]
        if unknown:
            raise InvalidInput(
                f"bins names the column {unknown[0]!r}, which is not there; got {', '.join(names)}."
            )
    elif bins is not None:
        check_whole("bins", bins, 2)


def _crowded(table: Columns, bins: int) -> list[str]:
    """Columns of numbers with more distinct values than there would be bins."""
    return [
        name
        for name, kind, categorical, data in table.parts
        if KINDS[kind].is_numeric
        and not categorical
        and pc.count_distinct(data.filter(is_known(data))).as_py() > bins
    ]


def _keys(column: Column, data: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as it is grouped: the index of the bin where there are bins, else as it is."""
    if not isinstance(column.rule, Bins):
        return data
    known = is_known(data)
    values = pc.if_else(known, data, pa.scalar(column.rule.edges[0]).cast(data.type, safe=False))
    numbers = values.to_numpy()
    edges = np.asarray(column.rule.edges)
    if KINDS[column.kind].is_dated:
        edges = edges.astype("datetime64[us]")
    index = np.searchsorted(edges, numbers, side="right")
    return pa.chunked_array([pa.array(index, mask=~known.to_numpy())])


def _quantiles(data: pa.ChunkedArray, weights: Array, n: int) -> list[Any]:
    """The n − 1 values that cut a column into n parts of equal weight, see `quantiles_of_counts`."""
    known = is_known(data)
    values, places = np.unique(data.filter(known).to_numpy(), return_inverse=True)
    sums = np.bincount(places, weights=weights[known.to_numpy()], minlength=len(values))
    return quantiles_of_counts(values.tolist(), sums, [i / n for i in range(1, n)])


def _check_kind(column: Column, kind: str, data: pa.ChunkedArray) -> None:
    numeric = KINDS[kind].is_numeric and KINDS[column.kind].is_numeric
    if kind != column.kind and not numeric and pc.any(is_known(data)).as_py():
        raise InvalidInput(
            f"column {column.name!r} holds {KINDS[kind]} here, but {KINDS[column.kind]} when fitted."
        )
