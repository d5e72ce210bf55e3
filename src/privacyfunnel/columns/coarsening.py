"""Coarsening: how a value is coarsened, in SQL, in narwhals and in Python alike."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from privacyfunnel.columns.kinds import literal, show, show_below, show_from
from privacyfunnel.columns.missing import SHOWN
from privacyfunnel.errors import InvalidInput

if TYPE_CHECKING:
    import narwhals as nw

UNITS = {"day": "1d", "month": "1mo", "quarter": "1q", "year": "1y"}  # as narwhals calls them
MOST_BINS = 1_000  # an engine's expression grows with each


@dataclass(frozen=True)
class Bins:
    """Intervals between edges, closed on the left; the first and the last are open-ended.

    >>> rule = Bins((18, 40))
    >>> [rule.label(rule.index(age)) for age in (17, 18, 40)]
    ['under 18', '[18, 40)', '40 or more']
    """

    edges: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not self.edges or any(not a < b for a, b in pairwise(self.edges)):
            shown = ", ".join(map(show, self.edges[:20])) + (
                ", ..." if len(self.edges) > 20 else ""
            )
            raise InvalidInput(f"bins need edges that rise, got {shown or 'none'}.")
        if len(self.edges) >= MOST_BINS:
            raise InvalidInput(f"{MOST_BINS:,} bins are the most, got {len(self.edges) + 1:,}.")

    @property
    def told(self) -> str:
        """What it does to a column, in words."""
        return f"in bins at {', '.join(map(show, self.edges))}"

    def sql(self, column: str) -> str:
        """The index in SQL: how many edges the value has reached; NULL stays NULL."""
        index = self._halves(
            lambda edge, left, right: (
                f"CASE WHEN {column} < {literal(edge)} THEN {left} ELSE {right} END"
            ),
            lambda index: f"CAST({index} AS BIGINT)",
        )
        return f"CASE WHEN {column} IS NOT NULL THEN {index} END"

    def expr(self, column: nw.Expr) -> nw.Expr:
        """The index in narwhals."""
        import narwhals as nw

        index = self._halves(
            lambda edge, left, right: nw.when(column < edge).then(left).otherwise(right),
            lambda index: nw.lit(index, nw.Int64),
        )
        return nw.when(~column.is_null()).then(index)

    def _halves(self, branch: Callable[[Any, Any, Any], Any], leaf: Callable[[int], Any]) -> Any:
        """A search by halves: a value is compared with few of the edges, however many there are."""

        def between(low: int, high: int) -> Any:
            if low == high:
                return leaf(low)
            middle = (low + high) // 2
            return branch(self.edges[middle], between(low, middle), between(middle + 1, high))

        return between(0, len(self.edges))

    def index(self, value: Any) -> int:
        """The index in Python."""
        return bisect_right(self.edges, value)

    def label(self, index: Any) -> str:
        """The interval in words."""
        return self.span(int(index), int(index))

    def span(self, first: int, last: int) -> str:
        """Neighbouring bins as one interval, in words.

        >>> Bins((18, 40, 65)).span(0, 1), Bins((18, 40, 65)).span(1, 2), Bins((18, 40, 65)).span(0, 3)
        ('under 40', '[18, 65)', 'not missing')
        """
        low = self.edges[first - 1] if first > 0 else None
        high = self.edges[last] if last < len(self.edges) else None
        if low is None:
            return f"not {SHOWN}" if high is None else show_below(high)
        return show_from(low) if high is None else f"[{show(low)}, {show(high)})"

    def raw(self, label: Any) -> int:
        """The index of a label."""
        if label not in self.places:
            shown = ", ".join([*self.places][:20]) + (", ..." if len(self.places) > 20 else "")
            raise InvalidInput(f"{label!r} is no bin; the bins are {shown}.")
        return self.places[label]

    @cached_property
    def places(self) -> dict[str, int]:
        """The labels in their order, each with its index."""
        return {self.label(i): i for i in range(len(self.edges) + 1)}


@dataclass(frozen=True)
class Round:
    """The nearest multiple of a step; halves go up.

    >>> rule = Round(0.1)
    >>> rule.label(rule.index(0.349)), Round(10).label(Round(10).index(285))
    (0.3, 290)
    """

    step: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.step) and self.step > 0):
            raise InvalidInput(f"a rounding step must be above 0, got {self.step}.")

    @property
    def told(self) -> str:
        """What it does to a column, in words."""
        return f"rounded to multiples of {show(self.step)}"

    def sql(self, column: str) -> str:
        """The index in SQL: how many steps the value is from 0."""
        return f"CAST(floor({column} / {literal(float(self.step))} + 0.5) AS DOUBLE)"

    def expr(self, column: nw.Expr) -> nw.Expr:
        """The index in narwhals."""
        import narwhals as nw

        steps = column.cast(nw.Float64) / float(self.step) + 0.5
        small = steps.abs() < 2**52  # beyond, it is whole; some engines floor to a 64-bit integer
        return nw.when(small).then(steps.floor().cast(nw.Float64)).otherwise(steps)

    def index(self, value: Any) -> float:
        """The index in Python."""
        steps = value / float(self.step) + 0.5
        return float(math.floor(steps)) if math.isfinite(steps) else steps

    def label(self, index: Any) -> Any:
        """The multiple, without the dust that floating point leaves on it."""
        if not math.isfinite(index):
            return index
        if float(self.step).is_integer() and abs(index * self.step) < 2**53:
            return int(index) * int(self.step)
        exponent = Decimal(repr(float(self.step))).normalize().as_tuple().exponent
        return round(index * self.step, max(0, -int(exponent))) + 0.0

    def raw(self, label: Any) -> float:
        """The index of a multiple."""
        return float(round(label / self.step)) if math.isfinite(label) else float(label)


@dataclass(frozen=True)
class Calendar:
    """The day, month, quarter or year that a date or a time lies in, told by its first day.

    ``is_timed`` says that the column holds times: the first day is then told by its midnight.

    >>> from datetime import date
    >>> rule = Calendar("quarter")
    >>> rule.label(rule.index(date(1950, 5, 17)))
    datetime.date(1950, 4, 1)
    """

    unit: str
    is_timed: bool = False

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise InvalidInput(f"dates are rounded to {', '.join(UNITS)}; got {self.unit!r}.")

    @property
    def told(self) -> str:
        """What it does to a column, in words."""
        return f"by {self.unit}"

    def sql(self, column: str) -> str:
        """The first day in SQL."""
        kind = "TIMESTAMP" if self.is_timed else "DATE"
        return f"CAST(date_trunc('{self.unit}', {column}) AS {kind})"

    def expr(self, column: nw.Expr) -> nw.Expr:
        """The first day in narwhals."""
        import narwhals as nw

        # Ibis cuts times alone to a quarter, and Spark gives what it has cut a time zone.
        first = column.cast(nw.Datetime).dt.truncate(UNITS[self.unit])
        return first.cast(nw.Datetime if self.is_timed else nw.Date)

    def index(self, value: Any) -> Any:
        """The first day in Python."""
        month = {"year": 1, "quarter": 3 * ((value.month - 1) // 3) + 1}.get(self.unit, value.month)
        day = value.day if self.unit == "day" else 1
        if self.is_timed:
            return value.replace(month=month, day=day, hour=0, minute=0, second=0, microsecond=0)
        return value.replace(month=month, day=day)

    def label(self, index: Any) -> Any:
        """The first day, as it is."""
        return index

    def raw(self, label: Any) -> Any:
        """The first day, as it is."""
        return label

    def period(self, first: Any) -> str:
        """The day, month, quarter or year that a first day begins, in words.

        >>> from datetime import date
        >>> [Calendar(unit).period(date(2024, 10, 1)) for unit in UNITS]
        ['2024-10-01', '2024-10', '2024-Q4', '2024']
        """
        text = first.isoformat()
        if self.unit == "quarter":
            return f"{text[:4]}-Q{(first.month + 2) // 3}"
        return str(text[: {"day": 10, "month": 7, "year": 4}[self.unit]])


Rule = Bins | Round | Calendar
