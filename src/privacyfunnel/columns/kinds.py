"""Values: the kinds that a column may hold, and what a value is as a symbol."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

KINDS = {
    "boolean": "true or false",
    "integer": "whole numbers",
    "number": "numbers",
    "text": "text",
    "date": "dates",
    "datetime": "dates with a time",
}


def clean(value: Any) -> Any:
    """A value as the symbol it is: missing is None, NaN is missing, decimals are floats.

    A time with a zone becomes its time in UTC, so that one instant is one symbol.

    >>> clean(float("nan")), clean(Decimal("1.5")), clean(-0.0), clean("")
    (None, 1.5, 0.0, '')
    """
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float):
        return None if math.isnan(value) else value + 0.0
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value


def show(value: Any) -> str:
    """A value in words, for labels and messages.

    >>> show(40), show(40.0), show(None), show(date(1950, 1, 1))
    ('40', '40', 'missing', '1950-01-01')
    """
    if value is None:
        return "missing"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return value.isoformat() if isinstance(value, date) else str(value)
