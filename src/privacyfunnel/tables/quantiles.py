"""Quantiles: the edges between equal parts of a column, taken in the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from privacyfunnel.columns import Column
from privacyfunnel.tables.keys import key_expr, key_sql

if TYPE_CHECKING:
    from privacyfunnel.tables.table import Table


def quantiles(table: Table, column: Column, n: int) -> list[Any]:
    """The n - 1 values that cut a column into n parts; all None where it has no values.

    The q-quantile is the least value that at least a share q of the values does not exceed: a
    value of the column itself, so that every engine gives the same.

    >>> from privacyfunnel.tables.open import open_table
    >>> import pandas as pd
    >>> table = open_table(pd.DataFrame({"chol": [180, 200, 220, 289]}))
    >>> quantiles(table, Column("chol", "integer"), 4)
    [180, 200, 220]
    """
    shares = [i / n for i in range(1, n)]
    name = f"c{table.position(column.name)}"
    if table.spark is not None:
        from privacyfunnel.tables.engines.spark import spark_quantiles

        return spark_quantiles(table.spark, key_expr(column, name), shares)
    if table.lazy is not None:
        return _from_counts(table, column, name, shares)
    with table.duckdb([column.name]) as con:
        sql = f"SELECT quantile_disc({key_sql(column, name)}, {shares}) FROM t"
        found = con.execute(sql).fetchall()[0][0]
    return list(found) if found is not None else [None] * len(shares)


def _from_counts(table: Table, column: Column, name: str, shares: list[float]) -> list[Any]:
    """From the counts of the distinct values: for engines without such a quantile."""
    import narwhals as nw

    assert table.lazy is not None
    keys = table.lazy.select(k=key_expr(column, name)).filter(~nw.col("k").is_null())
    counted = keys.group_by("k").agg(n=nw.len()).collect("pyarrow").to_native().sort_by("k")
    return reaching(counted["k"].to_pylist(), counted["n"].to_numpy(), shares)


def reaching(values: Sequence[Any], weights: ArrayLike, shares: Sequence[float]) -> list[Any]:
    """The least of the rising values up to which each share of the weight lies.

    >>> reaching([180, 200, 289], [1, 2, 1], [0.25, 0.5, 0.75])
    [180, 200, 200]
    """
    if len(values) == 0:
        return [None] * len(shares)
    reached = np.cumsum(weights)
    return [values[i] for i in np.searchsorted(reached, np.asarray(shares) * reached[-1])]
