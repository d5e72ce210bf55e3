"""Missing: what is done about missing values, in words too, and which records count because of it.

What is missing, which columns a row must have (:func:`required`) and that it has them is said here for
Python, SQL, frames and Arrow, and nowhere else. A new policy is one entry of ``MISSING``; the codebook's
schema, the commands' help and the pages name those that are there. A missing value that is released is
None, like any other value but in an order, where it has no place (:func:`known_places`): in a list it
comes last (:func:`missing_last`), beside runs it is a group of its own (:func:`beside_runs`) unless all
is one (:func:`all_in_one`), in a tree it lies under ``ABOVE``, and ``AWAY`` is how far it is from known
values.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

from privacyfunnel.errors import InvalidInput

if TYPE_CHECKING:
    import narwhals as nw
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Policy:
    """What is done about missing values, in words: to choose it, for the curator, for receivers."""

    choice: str  # missing values are ...
    fact: str  # missing values: ...
    told: str
    is_symbol: bool = False  # whether a missing value is released like any other
    leaves_out: bool = False  # whether a record that lacks a value is not released
    refuses: bool = False  # whether a table in which a value is missing is not taken


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
        leaves_out=True,
    ),
    "error": Policy(
        "a reason to refuse the table",
        "not allowed; there are none",
        "There were no missing values.",
        refuses=True,
    ),
}

READ = ("",)  # what stands for a missing value in a csv that is given
WRITTEN = ""  # what stands for one in a csv that is released, which is read again by it
SHOWN = "missing"  # what a missing value is called among the others
ABOVE = ("*",)  # the groups of a missing value that a hierarchy does not name: the top alone
AWAY = 1.0  # from a missing value of an ordered column to any known one, of the largest distance there is
USUAL = "symbol"  # what is done where nothing else is asked for
AS_VALUE = next(name for name, policy in MISSING.items() if policy.is_symbol)
ALLOWING = " or ".join(name for name, policy in MISSING.items() if not policy.refuses)


class Treated(Protocol):
    """Columns with their roles, and what is done about missing values in them (`Roles`)."""

    @property
    def missing(self) -> str: ...
    @property
    def columns(self) -> Mapping[str, Any]: ...


def required(roles: Treated, present: Container[str] | None = None) -> list[Any]:
    """Of the columns that are present, all unless named, those without which a row is left out.

    >>> from privacyfunnel.columns.roles import Column, Roles
    >>> roles = Roles((Column("ill", "boolean"),), (Column("age", "integer"),), missing="drop")
    >>> [column.name for column in required(roles)], required(roles, ["city"])
    (['ill', 'age'], [])
    """
    if not MISSING[roles.missing].leaves_out:
        return []
    return [c for name, c in roles.columns.items() if present is None or name in present]


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
    roles: Treated,
    columns: Mapping[str, tuple[NDArray[np.int64], Sequence[Any]]],
    n: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Which groups of equal records count: all, or where others are left out those that lack no value.

    ``columns`` holds, by name, the place of each group's value among the column's symbols, of which
    a missing one, None, comes last; ``n`` is the number of rows of each group. A column without a
    role, such as a use, decides nothing: where it is not known that is a value of its own.

    >>> import numpy as np
    >>> from privacyfunnel.columns.roles import Column, Roles
    >>> roles = Roles((), (Column("city", "text"),), missing="drop")
    >>> cities = np.array([0, 1, 0]), ["Bonn", None]
    >>> complete_groups(roles, {"city": cities}, np.array([3, 1, 2]))
    array([ True, False,  True])
    """
    import numpy as np  # here, so that the help of the commands need not wait for it

    complete, needed = np.ones(len(n), dtype=bool), {column.name for column in required(roles)}
    for name, (places, symbols) in columns.items():
        if name not in roles.columns:
            continue
        known = places != (len(symbols) - 1 if None in symbols[-1:] else -1)
        if MISSING[roles.missing].refuses and not known.all():
            raise InvalidInput(
                f"column {name!r} is missing in {n[~known].sum()} rows.",
                hint="missing",
                allowing=ALLOWING,
            )
        if name in needed:
            complete &= known
    return complete


def check_never_missing(role: str, column: str, n: int) -> None:
    """Refuse a column that must have a value in every row, a person's name say, and lacks ``n``."""
    if n:
        raise InvalidInput(f"the {role} column {column!r} is missing in {n} rows.")


def is_missing(value: Any) -> bool:
    """Whether a value of the table is missing: there is none, or it is NaN."""
    return value is None or (isinstance(value, float | Decimal) and math.isnan(value))


def null_if_missing_sql(value: str, kind: str, dialect: str | None = None) -> str:
    """The SQL of a value of this kind that is NULL where it is missing, in DuckDB or a warehouse.

    >>> null_if_missing_sql("bmi", "number")
    'CASE WHEN isnan(bmi) THEN NULL ELSE bmi END'
    """
    if kind != "number" or dialect == "sqlite":  # which knows no NaN
        return value
    is_nan = {None: f"isnan({value})", "bigquery": f"IS_NAN({value})"}
    test = is_nan.get(dialect, f"{value} = CAST('NaN' AS DOUBLE)")
    return f"CASE WHEN {test} THEN NULL ELSE {value} END"


def null_if_missing_expr(value: nw.Expr, kind: str) -> nw.Expr:
    """The same of a frame's column."""
    import narwhals as nw

    return nw.when(~value.is_nan()).then(value) if kind == "number" else value


def is_known(data: pa.ChunkedArray) -> pa.ChunkedArray:
    """Where a value of Arrow's is not missing; NaN is."""
    import pyarrow.compute as pc

    return pc.invert(pc.is_null(data, nan_is_null=True))


def missing_last(value: Any) -> tuple[bool, Any]:
    """What values are listed by: rising, a missing one last.

    >>> sorted([3, None, 1], key=missing_last)
    [1, 3, None]
    """
    return value is None, value


def known(values: Iterable[Any]) -> list[Any]:
    """The values without the missing one.

    >>> known([18, None, 65])
    [18, 65]
    """
    return [value for value in values if value is not None]


def known_places(values: Iterable[Any]) -> list[int]:
    """Where the values stand that have a place in an order; the missing one has none.

    >>> known_places([18, None, 65])
    [0, 2]
    """
    return [place for place, value in enumerate(values) if value is not None]


def beside_runs(
    runs: NDArray[np.int64], order: Sequence[int] | NDArray[np.int64], n_values: int
) -> NDArray[np.int64]:
    """The groups of all values of an ordered column from those, above 0, of the values in the order.

    A missing value, which is not among them, is a group of its own, 0.

    >>> import numpy as np
    >>> beside_runs(np.array([1, 1, 2]), [0, 2, 3], 4)
    array([1, 0, 1, 2])
    """
    import numpy as np

    groups = np.zeros(n_values, dtype=np.int64)
    groups[order] = runs
    return groups


def all_in_one(order: Sequence[int] | NDArray[np.int64], n_values: int) -> NDArray[np.int64] | None:
    """The groups where a missing value is not beside the runs: all are one. None if none is missing.

    >>> all_in_one([0, 2], 3), all_in_one([0, 1], 2)
    (array([0, 0, 0]), None)
    """
    import numpy as np

    return np.zeros(n_values, dtype=np.int64) if len(order) < n_values else None


def is_beside_runs(groups: NDArray[np.int64], order: Sequence[int]) -> bool:
    """Whether a missing value shares its group with none in the order."""
    import numpy as np

    return not np.isin(np.delete(groups, order), groups[order]).any()
