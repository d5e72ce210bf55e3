"""Cut points that people choose, and what an interval between them is called."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

from privacyfunnel.columns import known, show, show_below, show_from

Cut = tuple[Any, int]  # the value that opens the upper interval, and how round it is
# How round the first day of a century, a decade, five years, a year, a quarter, a month is: the
# years and months that lie between two such days.
PERIODS = {6: (100, 12), 5: (10, 12), 4: (5, 12), 3: (1, 12), 2: (1, 3), 1: (1, 1)}


def is_ordered(values: Sequence[Any]) -> bool:
    """Whether known values are numbers, or dates, or times, so that they can be cut into intervals.

    >>> is_ordered((3, 4.5)), is_ordered((False, True)), is_ordered(("a", "b"))
    (True, False, False)
    """
    kinds = {type(value) for value in known(values)}
    numbers = bool(kinds) and all(issubclass(kind, int | float) for kind in kinds)
    return bool not in kinds and (numbers or len(kinds & {date, datetime}) == 1)


def cut_between(low: Any, high: Any) -> Cut:
    """The roundest value above ``low`` and not above ``high``; larger is rounder.

    Numbers: multiples of 10, then of 5, then of 1, and so on down; dates: decades, years, months.

    >>> cut_between(19, 20), cut_between(17, 23), cut_between(0.131, 0.187)
    ((20, 2), (20, 2), (0.15, -3))
    >>> cut_between(date(1999, 3, 1), date(2003, 5, 2))
    (datetime.date(2000, 1, 1), 6)
    """
    if isinstance(high, date):
        return _cut_dates(low, high)
    if not (math.isfinite(low) and math.isfinite(high)):
        return high, -99
    if low < 0 <= high:
        return 0, 99
    whole = isinstance(low, int) and isinstance(high, int)
    largest = max(abs(low), abs(high), high - low)
    power = math.floor(math.log10(largest)) if largest > 0 else 0
    # Roundness counts halves of a decade: 2k for multiples of 10^k, 2k + 1 for 5 times 10^k.
    for roundness in range(2 * power, 2 * power - 36, -1):
        exponent, half = divmod(roundness, 2)
        if whole and exponent < 0:
            return high, 0
        cut = _multiple_above(low, 5 if half else 1, exponent)
        if low < cut <= high:
            return (int(cut) if whole else cut), roundness
    return high, -99


def _multiple_above(low: float, factor: int, exponent: int) -> float:
    """The least multiple of factor times 10^exponent above ``low``."""
    if exponent >= 0:
        step = factor * int(10**exponent)
        return (math.floor(low / step) + 1) * step
    steps = math.floor(low * 10.0**-exponent / factor) + 1
    return round(steps * factor * 10.0**exponent, -exponent)


def _cut_dates(low: date, high: date) -> Cut:
    midnight = high
    if isinstance(high, datetime):
        midnight = high.replace(hour=0, minute=0, second=0, microsecond=0)
    since_midnight = high - midnight
    for roundness, (years, months) in PERIODS.items():
        year, month = high.year // years * years, (high.month - 1) // months * months + 1
        cut = midnight.replace(max(year, 1), month, 1)
        if cut > low:
            return cut, roundness
    if not isinstance(high, datetime):
        return high, 0
    for fineness, unit in enumerate((timedelta(days=1), timedelta(hours=1), timedelta(minutes=1))):
        cut = midnight + since_midnight // unit * unit
        if cut > low:
            return cut, -fineness
    return high, -99


def interval_label(low: Any, high: Any, members: Sequence[Any], *, whole: bool) -> str:
    """What an interval from ``low`` up to ``high``, not included, is called; None is open-ended.

    ``whole`` says that the column holds whole numbers only. One value is called by itself.

    >>> interval_label(25, 35, (25, 30), whole=True), interval_label(None, 25, (17, 18), whole=True)
    ('25-34', 'under 25')
    >>> interval_label(2.5, 5, (2.5, 3.0), whole=False), interval_label(-9, 0, (-9, -3), whole=True)
    ('2.5 to under 5', '-9 to -1')
    >>> interval_label(None, date(2021, 7, 1), (date(2020, 1, 1), date(2021, 5, 2)), whole=False)
    'before 2021-07-01'
    """
    if len(members) == 1:
        return show(members[0])
    if low is None:
        return "*" if high is None else show_below(high)
    if high is None:
        return show_from(low)
    if isinstance(low, date):
        if isinstance(low, datetime):
            return f"{show(low)} to before {show(high)}"
        return f"{show(low)} to {show(high - timedelta(days=1))}"
    if whole:
        return f"{low}-{high - 1}" if low >= 0 else f"{low} to {high - 1}"
    return f"{show(low)} to under {show(high)}"
