"""Kinds: what a column may hold, in one table, and what a value is as a symbol."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from privacyfunnel.columns.missing import SHOWN, is_missing


@dataclass(frozen=True)
class Kind:
    """A kind of values: how people, Python, SQL, Arrow and frames call it, and what it allows.

    >>> KINDS["date"].is_ordered, KINDS["text"].is_ordered, str(KINDS["number"])
    (True, False, 'numbers')
    """

    name: str
    words: str
    types: tuple[type, ...]  # exactly these: True is an int to isinstance, a datetime a date
    sql: tuple[str, ...]  # DuckDB's types; the first is the one that text is read as
    sql_key: str  # the column {0} as it is grouped and joined; -0 is 0
    arrow: str  # Arrow's type of the keys
    is_arrow: tuple[str, ...]  # the tests of pyarrow.types that know the kind
    frame: tuple[str, ...]  # narwhals' types
    is_numeric: bool = False
    is_dated: bool = False
    names_rows: bool = False  # whether its values may be names of rows: exact, and many
    many: float = math.inf  # distinct values above which bins are worth proposing
    from_text: Callable[[str], Any] | None = None  # what JSON cannot hold by itself is text there

    @property
    def is_ordered(self) -> bool:
        """Whether its values lie on a line, so that a range of them means something."""
        return self.is_numeric or self.is_dated

    def __str__(self) -> str:
        return self.words


_SIGNED = ("BIGINT", "INTEGER", "SMALLINT", "TINYINT", "HUGEINT")

KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "boolean",
            "true or false",
            types=(bool,),
            sql=("BOOLEAN",),
            sql_key="CAST({0} AS BOOLEAN)",
            arrow="bool",
            is_arrow=("is_boolean",),
            frame=("Boolean",),
        ),
        Kind(
            "integer",
            "whole numbers",
            types=(int,),
            sql=(*_SIGNED, *(f"U{name}" for name in _SIGNED)),
            sql_key="CAST({0} AS BIGINT)",
            arrow="int64",
            is_arrow=("is_integer",),
            frame=tuple(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64, 128)),
            is_numeric=True,
            names_rows=True,
            many=200,
        ),
        Kind(
            "number",
            "numbers",
            types=(int, float),
            sql=("DOUBLE", "FLOAT", "DECIMAL"),
            sql_key="CASE WHEN CAST({0} AS DOUBLE) = 0 THEN 0 ELSE CAST({0} AS DOUBLE) END",
            arrow="double",
            is_arrow=("is_floating", "is_decimal"),
            frame=("Float16", "Float32", "Float64", "Decimal"),
            is_numeric=True,
            many=50,
            from_text=float,  # infinite ones
        ),
        Kind(
            "text",
            "text",
            types=(str,),
            sql=("VARCHAR", "ENUM", "UUID", "JSON", "NULL"),
            sql_key="CAST({0} AS VARCHAR)",
            arrow="string",
            is_arrow=("is_string", "is_large_string", "is_string_view", "is_null"),
            frame=("String", "Categorical", "Enum"),
            names_rows=True,
        ),
        Kind(
            "date",
            "dates",
            types=(date,),
            sql=("DATE",),
            sql_key="CAST({0} AS DATE)",
            arrow="date32",
            is_arrow=("is_date",),
            frame=("Date",),
            is_dated=True,
            many=50,
            from_text=date.fromisoformat,
        ),
        Kind(
            "datetime",
            "dates with a time",
            types=(datetime,),
            sql=(
                "TIMESTAMP",
                "TIMESTAMP_S",
                "TIMESTAMP_MS",
                "TIMESTAMP_NS",
                "TIMESTAMP WITH TIME ZONE",
            ),
            sql_key="make_timestamp(epoch_us({0}))",  # UTC for times with a zone
            arrow="timestamp[us]",
            is_arrow=("is_timestamp",),
            frame=("Datetime",),
            is_dated=True,
            many=50,
            from_text=datetime.fromisoformat,
        ),
    )
}


def sql_kind(sql_type: str) -> str:
    """The kind of a DuckDB type; the type itself where it is none that we can count.

    >>> sql_kind("DECIMAL(9,2)"), sql_kind("UINTEGER"), sql_kind("INTEGER[]")
    ('number', 'integer', 'INTEGER[]')
    """
    if sql_type.endswith("]"):
        return sql_type
    name = sql_type.split("(")[0].strip('"').upper()
    return next((kind.name for kind in KINDS.values() if name in kind.sql), sql_type)


def literal(value: Any) -> str:
    """A value as SQL's literal.

    >>> print(literal("O'Hara"), literal(date(1950, 1, 1)), literal(2.5))
    'O''Hara' DATE '1950-01-01' CAST('2.5' AS DOUBLE)
    """
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    return str(value) if isinstance(value, int) else f"CAST('{value!r}' AS DOUBLE)"


def quoted(name: str) -> str:
    """A name as SQL's identifier.

    >>> print(quoted('say "hi"; DROP TABLE t'))
    "say ""hi""; DROP TABLE t"
    """
    return '"' + name.replace('"', '""') + '"'


def clean(value: Any) -> Any:
    """A value as the symbol it is: missing is None, NaN is missing, decimals are floats.

    A time with a zone becomes its time in UTC, so that one instant is one symbol.

    >>> clean(float("nan")), clean(Decimal("1.5")), clean(-0.0), clean("")
    (None, 1.5, 0.0, '')
    """
    if is_missing(value):
        return None
    if isinstance(value, Decimal | float):
        return float(value) + 0.0
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value


def show(value: Any) -> str:
    """A value in words, for labels and messages.

    >>> show(40), show(40.0), show(None), show(date(1950, 1, 1))
    ('40', '40', 'missing', '1950-01-01')
    """
    if value is None:
        return SHOWN
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return value.isoformat() if isinstance(value, date) else str(value)


def show_below(end: Any) -> str:
    """All that lies below an end, in words.

    >>> show_below(18), show_below(date(1950, 1, 1))
    ('under 18', 'before 1950-01-01')
    """
    return f"{'before' if isinstance(end, date) else 'under'} {show(end)}"


def show_from(start: Any) -> str:
    """All from a start on, in words.

    >>> show_from(40), show_from(date(1950, 1, 1))
    ('40 or more', '1950-01-01 or later')
    """
    return f"{show(start)} or {'later' if isinstance(start, date) else 'more'}"
