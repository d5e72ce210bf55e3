"""Rules: how a value is coarsened, in SQL, in narwhals and in Python alike."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from privacyfunnel.columns.kinds import show
from privacyfunnel.errors import InvalidInput

if TYPE_CHECKING:
    import narwhals as nw


@dataclass(frozen=True)
class Bins:
    """Intervals between edges, closed on the left; the first and the last are open-ended.

    >>> rule = Bins((18, 40))
    >>> [rule.label(rule.index(age)) for age in (17, 18, 40)]
    ['under 18', '[18, 40)', '40 or more']
    """

    edges: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not self.edges or any(
            not a < b for a, b in zip(self.edges, self.edges[1:], strict=False)
        ):
            raise InvalidInput(
                f"bins need edges that rise, got {', '.join(map(show, self.edges)) or 'none'}."
            )

    def sql(self, column: str) -> str:
        """The index in SQL: how many edges the value has reached; NULL stays NULL."""
        return " + ".join(f"CAST({column} >= {_literal(e)} AS BIGINT)" for e in self.edges)

    def expr(self, column: nw.Expr) -> nw.Expr:
        """The index in narwhals."""
        import narwhals as nw

        index: nw.Expr = (column >= self.edges[0]).cast(nw.Int64)
        for edge in self.edges[1:]:
            index = index + (column >= edge).cast(nw.Int64)
        return index

    def index(self, value: Any) -> int:
        """The index in Python."""
        return bisect_right(self.edges, value)

    def label(self, index: Any) -> str:
        """The interval in words."""
        low, high = ([None, *self.edges, None][int(index) + i] for i in (0, 1))
        if low is None:
            return f"under {show(high)}"
        return f"{show(low)} or more" if high is None else f"[{show(low)}, {show(high)})"

    def raw(self, label: Any) -> int:
        """The index of a label."""
        labels = [self.label(i) for i in range(len(self.edges) + 1)]
        if label not in labels:
            raise InvalidInput(f"{label!r} is no bin; the bins are {', '.join(labels)}.")
        return labels.index(label)


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

    def sql(self, column: str) -> str:
        """The index in SQL: how many steps the value is from 0."""
        return f"CAST(floor({column} / {_literal(float(self.step))} + 0.5) AS DOUBLE)"

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


Rule = Bins | Round


def _literal(value: Any) -> str:
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    return str(value) if isinstance(value, int) else f"CAST('{value!r}' AS DOUBLE)"
