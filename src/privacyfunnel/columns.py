"""Columns: what kind of values they hold and how they are coarsened before they are counted.

A rule turns a value into a whole index inside the engine (SQL or narwhals), and the index into a
label here; the codebook stores the rule, so that new rows are treated exactly as the first were.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from privacyfunnel.errors import InvalidInput
from privacyfunnel.validation import check_choice

if TYPE_CHECKING:
    import narwhals as nw

KINDS = {
    "boolean": "true or false",
    "integer": "whole numbers",
    "number": "numbers",
    "text": "text",
    "date": "dates",
    "datetime": "dates with a time",
}
MISSING = ("symbol", "drop", "error")


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


@dataclass(frozen=True)
class Column:
    """A column of the table: its name, the kind of its values and its rule, if it has one.

    >>> Column("age", "integer", Bins((18, 65))).encode(40)
    '[18, 65)'
    """

    name: str
    kind: str
    rule: Rule | None = None

    def symbol(self, raw: Any) -> Any:
        """What the engine hands back (a value or an index) as a symbol."""
        raw = clean(raw)
        return raw if raw is None or self.rule is None else self.rule.label(raw)

    def raw(self, symbol: Any) -> Any:
        """The engine's value or index for a symbol: the inverse of :meth:`symbol`."""
        return symbol if symbol is None or self.rule is None else self.rule.raw(symbol)

    def rank(self, symbol: Any) -> tuple[bool, Any]:
        """What symbols are ordered by: rising, missing last."""
        return symbol is None, self.raw(symbol)

    def encode(self, value: Any) -> Any:
        """The symbol of one value of the table."""
        value = clean(value)
        if value is None or self.rule is None:
            return value
        return self.rule.label(self.rule.index(value))


@dataclass(frozen=True)
class Roles:
    """Which columns are sensitive and which public, with their rules settled.

    What was missing when the records were counted, and which column weighed them, belongs to it.
    """

    sensitive: tuple[Column, ...]
    public: tuple[Column, ...]
    missing: str = "symbol"
    weight: str | None = None

    @property
    def columns(self) -> dict[str, Column]:
        """All columns by name; one that has both roles comes once."""
        return {column.name: column for column in (*self.sensitive, *self.public)}


@dataclass(frozen=True)
class ColumnRules:
    """How columns are to be coarsened and what a missing value means, as the user asks for it.

    ``bins`` holds a number of quantile bins or the edges themselves, ``round`` a step; ``missing``
    is ``symbol`` (a value of its own), ``drop`` (leave the record out) or ``error``.

    >>> ColumnRules.parse(bins=["age=0,18,65", "chol=4"], round=["bmi=0.5"])
    ColumnRules(bins={'age': (0, 18, 65), 'chol': 4}, round={'bmi': 0.5}, missing='symbol')
    """

    bins: Mapping[str, int | Sequence[Any]] = field(default_factory=dict)
    round: Mapping[str, float] = field(default_factory=dict)
    missing: str = "symbol"

    def __post_init__(self) -> None:
        check_choice("missing", self.missing, MISSING)
        for name in self.bins:
            if name in self.round:
                raise InvalidInput(f"column {name!r} has both bins and rounding; choose one.")

    @classmethod
    def parse(
        cls,
        bins: Iterable[str] = (),
        round: Iterable[str] = (),  # noqa: A002 (the option's name)
        missing: str = "symbol",
    ) -> ColumnRules:
        """From the words of the command line: ``chol=10`` or ``age=0,18,40,65``."""
        binned, rounded = _pairs("bins", bins), _pairs("round", round)
        for name, values in rounded.items():
            if len(values) != 1 or isinstance(values[0], date):
                raise InvalidInput(f"round needs one step, as in {name}=10; got {len(values)}.")
        counts = {
            n: v[0] if len(v) == 1 and isinstance(v[0], int) else v for n, v in binned.items()
        }
        return cls(counts, {n: float(v[0]) for n, v in rounded.items()}, missing)

    @property
    def names(self) -> list[str]:
        """The columns that have a rule."""
        return [*self.bins, *self.round]

    def column(self, name: str, kind: str, quantiles: Callable[[int], Sequence[Any]]) -> Column:
        """The column with its rule settled; ``quantiles(n)`` gives the n - 1 values between n parts."""
        if name in self.round:
            _check_numbers(name, kind, "rounding")
            return Column(name, kind, Round(self.round[name]))
        wanted = self.bins.get(name)
        if wanted is None:
            return Column(name, kind)
        if isinstance(wanted, int):
            return Column(name, kind, Bins(_quantile_edges(name, kind, wanted, quantiles)))
        return Column(name, kind, Bins(tuple(_edge(name, kind, edge) for edge in wanted)))


def _quantile_edges(
    name: str, kind: str, n: int, quantiles: Callable[[int], Sequence[Any]]
) -> tuple[Any, ...]:
    _check_numbers(name, kind, "quantile bins")
    if n < 2:
        raise InvalidInput(f"bins of {name!r} must be 2 or more, got {n}.")
    whole = kind == "integer"
    edges = sorted({int(q) if whole else clean(float(q)) for q in quantiles(n) if q is not None})
    if not edges:
        raise InvalidInput(f"column {name!r} has no values to take quantiles of.")
    return tuple(edges)


def _edge(name: str, kind: str, edge: Any) -> Any:
    dated = kind in ("date", "datetime")
    if not dated:
        _check_numbers(name, kind, "bins")
    if isinstance(edge, date) != dated:
        wanted = "dates (1950-01-31)" if dated else "numbers"
        raise InvalidInput(f"column {name!r} holds {KINDS[kind]}; its edges must be {wanted}.")
    if kind == "datetime" and not isinstance(edge, datetime):
        return datetime(edge.year, edge.month, edge.day)
    return edge


def _check_numbers(name: str, kind: str, what: str) -> None:
    if kind not in ("integer", "number"):
        raise InvalidInput(
            f"{what} need numbers, but column {name!r} holds {KINDS.get(kind, kind)}."
        )


def _pairs(option: str, words: Iterable[str]) -> dict[str, tuple[Any, ...]]:
    pairs: dict[str, tuple[Any, ...]] = {}
    for word in words:
        name, equals, values = word.rpartition("=")  # a name may hold "=", a value never does
        if not equals or not name or not values:
            raise InvalidInput(f"{option} must look like COLUMN=VALUE, got {word!r}.")
        if name in pairs:
            raise InvalidInput(f"{option} names column {name!r} twice.")
        pairs[name] = tuple(_number_or_date(option, value.strip()) for value in values.split(","))
    return pairs


def _number_or_date(option: str, word: str) -> Any:
    for read in (int, float, date.fromisoformat):
        try:
            value = read(word)
        except ValueError:
            continue
        if not isinstance(value, float) or math.isfinite(value):
            return value
    raise InvalidInput(f"{option} needs numbers or dates (1950-01-31), got {word!r}.")


def _literal(value: Any) -> str:
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    return str(value) if isinstance(value, int) else f"CAST('{value!r}' AS DOUBLE)"
