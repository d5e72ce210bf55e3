"""Tables: count the sensitive and public symbols of a user's table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from privacyfunnel.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd


def count(
    table: pd.DataFrame, sensitive: Sequence[str], public: Sequence[str]
) -> tuple[sp.coo_array, list[Any], list[Any]]:
    """Counts ``[s, x]`` of a pandas table with the labels of both alphabets, in order of appearance.

    A symbol of one column is its value, of several columns the tuple of their values; missing
    values are None.
    """
    codes_s, labels_s = _symbols(table, "sensitive", sensitive)
    codes_x, labels_x = _symbols(table, "public", public)
    if len(table) == 0:
        raise InvalidInput("the table has no rows; at least one record is needed.")
    ones = np.ones(len(table))
    counts = sp.coo_array((ones, (codes_s, codes_x)), shape=(len(labels_s), len(labels_x)))
    return counts, labels_s, labels_x


def _symbols(
    table: pd.DataFrame, role: str, columns: Sequence[str]
) -> tuple[np.ndarray[Any, Any], list[Any]]:
    columns = [columns] if isinstance(columns, str) else list(columns)
    if not columns:
        raise InvalidInput(f"name at least one {role} column.")
    missing = [c for c in columns if c not in table.columns]
    if missing:
        known = ", ".join(map(str, table.columns))
        raise InvalidInput(f"no {role} column {missing[0]!r}; the table has {known}.")
    ambiguous = [c for c in columns if list(table.columns).count(c) > 1]
    if ambiguous:
        raise InvalidInput(f"the table has two columns named {ambiguous[0]!r}; rename one.")
    groups = table.groupby(columns, dropna=False, sort=False, observed=True)
    codes = groups.ngroup().to_numpy()
    firsts = table[columns].iloc[np.unique(codes, return_index=True)[1]]
    rows = [
        tuple(None if _is_missing(v) else v for v in row) for row in firsts.itertuples(False, None)
    ]
    return codes, rows if len(columns) > 1 else [row[0] for row in rows]


def _is_missing(value: Any) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_scalar(value) and pd.isna(value))
