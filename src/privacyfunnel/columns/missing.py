"""Missing: what is done about missing values, in words too, and which records count because of it.

Which columns a row must have is :func:`required`; that it has them is said here for SQL, frames and
arrays, and nowhere else. What counts as missing, NaN say, is in ``kinds.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.errors import InvalidInput

if TYPE_CHECKING:
    import narwhals as nw

    from privacyfunnel.columns.roles import Column


@dataclass(frozen=True)
class Policy:
    """What is done about missing values, in words: to choose it, for the curator, for receivers."""

    choice: str  # missing values are ...
    fact: str  # missing values: ...
    told: str
    is_symbol: bool = False  # whether a missing value is released like any other


MISSING = {
    "symbol": Policy(
        "a value of their own",
        "a value of their own",
        "A missing value was treated as a value of its own.",
        is_symbol=True,
    ),
    "drop": Policy(
        "a reason to leave the record out",
        "records that lack one are left out",
        "Records with a missing value were left out.",
    ),
    "error": Policy(
        "a reason to refuse the table",
        "not allowed; there are none",
        "There were no missing values.",
    ),
}


def required(missing: str, columns: Sequence[Column]) -> Sequence[Column]:
    """The columns without which a row is left out: with ``drop`` all of these, else none.

    >>> required("drop", ["age", "city"]), required("symbol", ["age", "city"])
    (['age', 'city'], ())
    """
    return columns if missing == "drop" else ()


def where_complete(keys: Iterable[str]) -> str:
    """The SQL that leaves out rows in which one of these is missing.

    >>> where_complete(["k0", "k1"]), where_complete([])
    (' WHERE (k0) IS NOT NULL AND (k1) IS NOT NULL', '')
    """
    known = " AND ".join(f"({key}) IS NOT NULL" for key in keys)
    return f" WHERE {known}" if known else ""


def complete_rows(frame: nw.LazyFrame[Any], keys: Iterable[nw.Expr]) -> nw.LazyFrame[Any]:
    """The frame without rows in which one of these is missing."""
    for key in keys:
        frame = frame.filter(~key.is_null())
    return frame


def complete_groups(
    missing: str,
    columns: Mapping[str, tuple[NDArray[np.int64], Sequence[Any]]],
    n: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Which groups of equal records count: all, or with ``drop`` those that lack no value.

    ``columns`` holds, by name, the place of each group's value among the column's symbols, of which
    a missing one, None, comes last; ``n`` is the number of rows of each group.

    >>> cities = np.array([0, 1, 0]), ["Bonn", None]
    >>> complete_groups("drop", {"city": cities}, np.array([3, 1, 2]))
    array([ True, False,  True])
    """
    complete = np.ones(len(n), dtype=bool)
    if MISSING[missing].is_symbol:
        return complete
    for name, (places, symbols) in columns.items():
        if symbols and symbols[-1] is None:
            known = places != len(symbols) - 1
            if missing == "error":
                raise InvalidInput(
                    f"column {name!r} is missing in {n[~known].sum()} rows.", hint="missing"
                )
            complete &= known
    return complete
