"""Values in JSON: each keeps its type.

JSON tells text, whole numbers, numbers, true/false and null apart by itself; dates and infinite
numbers are written as ``{"date": "1950-01-31"}``, ``{"datetime": ...}`` and ``{"number": "inf"}``.
"""

from __future__ import annotations

import math
from datetime import date, datetime
from typing import Any

from privacyfunnel.codebook.schema import refusal
from privacyfunnel.columns import KINDS


def encode(value: Any) -> Any:
    """A symbol as JSON holds it.

    >>> [encode(v) for v in (1, "1", 1.0, True, None, date(1950, 1, 31), math.inf)]
    [1, '1', 1.0, True, None, {'date': '1950-01-31'}, {'number': 'inf'}]
    """
    if isinstance(value, datetime):
        return {"datetime": value.isoformat()}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    if isinstance(value, float) and math.isinf(value):
        return {"number": repr(value)}
    return value


def decode(value: Any) -> Any:
    """The symbol that JSON holds, the inverse of :func:`encode`; refuses what that does not write.

    It has the form of a value by the schema.
    """
    if not isinstance(value, dict):
        return value
    ((tag, text),) = value.items()
    read = KINDS[tag].from_text
    assert read is not None
    try:
        found = read(text)
        if encode(found) == value:
            return found
    except ValueError:
        pass
    raise refusal(f"{value!r} is no {tag}")
