"""Roles: the columns that are sensitive and those that are public, with their rules settled."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from math import nan
from typing import TYPE_CHECKING, Any

from privacyfunnel.columns.coarsening import Bins, Calendar, Round, Rule
from privacyfunnel.columns.kinds import KINDS, clean, show
from privacyfunnel.columns.missing import (
    USUAL,
    missing_last,
    null_if_missing_expr,
    null_if_missing_sql,
)

if TYPE_CHECKING:
    import narwhals as nw


@dataclass(frozen=True)
class Column:
    """A column of the table: its name, the kind of its values and its rule, if it has one.

    >>> Column("age", "integer", Bins((18, 65))).encode(40)
    '[18, 65)'
    """

    name: str
    kind: str
    rule: Rule | None = None

    @property
    def key_kind(self) -> str:
        """The kind of its keys: a bin's place and the number of steps are numbers."""
        return {Bins: "integer", Round: "number"}.get(type(self.rule), self.kind)

    def symbol(self, raw: Any) -> Any:
        """What the engine hands back (a value or an index) as a symbol."""
        raw = clean(raw)
        return raw if raw is None or self.rule is None else self.rule.label(raw)

    def raw(self, symbol: Any) -> Any:
        """The engine's value or index for a symbol: the inverse of :meth:`symbol`."""
        return symbol if symbol is None or self.rule is None else self.rule.raw(symbol)

    def rank(self, symbol: Any) -> tuple[bool, Any]:
        """What symbols are ordered by."""
        return missing_last(self.raw(symbol))

    def shown(self, symbol: Any) -> str:
        """A symbol in words; a first day as the period that it begins.

        >>> Column("born", "date", Calendar("month")).shown(date(1950, 1, 1))
        '1950-01'
        """
        rule = self.rule
        if symbol is None or not isinstance(rule, Calendar) or rule.index(symbol) != symbol:
            return show(symbol)
        return rule.period(symbol)

    def number(self, symbol: Any) -> float:
        """A symbol of an ordered column as a number: days or seconds of dates, NaN where missing.

        >>> Column("born", "date").number(date(1970, 1, 1))
        719163.0
        """
        raw = self.raw(symbol)
        if raw is None:
            return nan
        if isinstance(raw, datetime):
            return (raw - datetime(1970, 1, 1)).total_seconds()
        return float(raw.toordinal() if isinstance(raw, date) else raw)

    def encode(self, value: Any) -> Any:
        """The symbol of one value of the table."""
        value = clean(value)
        if value is None or self.rule is None:
            return value
        return self.rule.label(self.rule.index(value))

    def sql(self, name: str) -> str:
        """The key that the column called ``name`` is grouped and joined by: its value or index.

        >>> Column("age", "integer").sql("c3")
        'CAST(c3 AS BIGINT)'
        """
        value = null_if_missing_sql(KINDS[self.kind].sql_key.format(name), self.kind)
        return self.rule.sql(f"({value})") if self.rule else value

    def expr(self, name: str) -> nw.Expr:
        """The same key in narwhals."""
        import narwhals as nw

        value = nw.col(name)
        if self.kind == "number":
            number = value.cast(nw.Float64)
            value = nw.when(number == 0).then(nw.lit(0.0)).otherwise(number)
        elif self.kind == "integer":
            value = value.cast(nw.Int64)
        elif self.kind == "text":
            value = value.cast(nw.String)
        value = null_if_missing_expr(value, self.kind)
        return self.rule.expr(value) if self.rule else value


@dataclass(frozen=True)
class Roles:
    """Which columns are sensitive and which public, with their rules settled.

    What was missing when the records were counted, and which column weighed them, belongs to it.
    """

    sensitive: tuple[Column, ...]
    public: tuple[Column, ...]
    missing: str = USUAL
    weight: str | None = None

    @property
    def columns(self) -> dict[str, Column]:
        """All columns by name; one that has both roles comes once."""
        return {column.name: column for column in (*self.sensitive, *self.public)}

    @property
    def is_shared(self) -> bool:
        """Whether a column has both roles: H(X) less that of the other public ones would be its own."""
        return bool({c.name for c in self.sensitive} & {c.name for c in self.public})
