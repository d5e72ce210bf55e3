"""Roles: the columns that are sensitive and those that are public, with their rules settled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privacyfunnel.columns.kinds import clean
from privacyfunnel.columns.rules import Rule


@dataclass(frozen=True)
class Column:
    """A column of the table: its name, the kind of its values and its rule, if it has one.

    >>> from privacyfunnel.columns import Bins
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
