"""Column rules: coarsening in the words of the user, fixed against a table once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from privacyfunnel.columns.coarsening import MOST_BINS, UNITS, Bins, Calendar, Round
from privacyfunnel.columns.kinds import KINDS, clean
from privacyfunnel.columns.missing import MISSING, USUAL
from privacyfunnel.columns.roles import Column
from privacyfunnel.columns.spelling import read_by_column
from privacyfunnel.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class ColumnRules:
    """How columns are to be coarsened and what a missing value means, as the user asks for it.

    ``bins`` holds a number of quantile bins or the edges themselves, ``round`` a step, or of dates
    "day", "month", "quarter" or "year"; ``missing``
    is ``symbol`` (a value of its own), ``drop`` (leave the record out) or ``error``.

    >>> ColumnRules.parse(bins=["age=0,18,65", "chol=4"], round=["bmi=0.5"])
    ColumnRules(bins={'age': (0, 18, 65), 'chol': 4}, round={'bmi': 0.5}, missing='symbol')
    """

    bins: Mapping[str, int | Sequence[Any]] = field(default_factory=dict)
    round: Mapping[str, float | str] = field(default_factory=dict)
    missing: str = USUAL

    def __post_init__(self) -> None:
        from privacyfunnel.validation import check_choice

        check_choice("missing", self.missing, MISSING)
        for name in self.bins:
            if name in self.round:
                raise InvalidInput(f"column {name!r} has both bins and rounding; choose one.")

    @classmethod
    def parse(
        cls,
        bins: Iterable[str] = (),
        round: Iterable[str] = (),  # noqa: A002 (the option's name)
        missing: str = USUAL,
    ) -> ColumnRules:
        """From the words of the command line: ``chol=10`` or ``age=0,18,40,65``."""
        binned, rounded = _pairs("bins", bins), _pairs("round", round)
        for name, values in rounded.items():
            if len(values) != 1 or isinstance(values[0], date):
                raise InvalidInput(
                    f"round needs one step, as in {name}=10 or {name}=month; got {len(values)}."
                )
        counts = {
            n: v[0] if len(v) == 1 and isinstance(v[0], int) else v for n, v in binned.items()
        }
        steps = {n: v[0] if isinstance(v[0], str) else float(v[0]) for n, v in rounded.items()}
        return cls(counts, steps, missing)

    @property
    def names(self) -> list[str]:
        """The columns that have a rule."""
        return [*self.bins, *self.round]

    def column(self, name: str, kind: str, quantiles: Callable[[int], Sequence[Any]]) -> Column:
        """The column with its rule settled; ``quantiles(n)`` gives the n - 1 values between n parts."""
        if name not in self.names:
            return Column(name, kind)
        wanted = self.bins.get(name)
        if not KINDS[kind].is_ordered:
            bins = "quantile bins need" if isinstance(wanted, int) else "bins need"
            what = bins if wanted is not None else "rounding needs"
            raise InvalidInput(f"{what} numbers, but column {name!r} holds {KINDS[kind]}.")
        if wanted is None:
            step = self.round[name]
            if KINDS[kind].is_dated:
                return Column(name, kind, Calendar(str(step), kind == "datetime"))
            if isinstance(step, str):
                raise InvalidInput(
                    f"column {name!r} holds {KINDS[kind]}, which are not rounded to a {step}."
                )
            return Column(name, kind, Round(step))
        if isinstance(wanted, int):
            return Column(name, kind, Bins(_quantile_edges(name, kind, wanted, quantiles)))
        return Column(name, kind, Bins(tuple(_edge(name, kind, edge) for edge in wanted)))


def quantiles_of_counts(
    values: Sequence[Any], weights: ArrayLike, shares: Sequence[float]
) -> list[Any]:
    """The least of the rising values up to which each share of the weight lies.

    >>> quantiles_of_counts([180, 200, 289], [1, 2, 1], [0.25, 0.5, 0.75])
    [180, 200, 200]
    """
    import numpy as np

    if len(values) == 0:
        return [None] * len(shares)
    reached = np.cumsum(weights)
    return [values[i] for i in np.searchsorted(reached, np.asarray(shares) * reached[-1])]


def _quantile_edges(
    name: str, kind: str, n: int, quantiles: Callable[[int], Sequence[Any]]
) -> tuple[Any, ...]:
    if not 2 <= n <= MOST_BINS:
        raise InvalidInput(f"bins of {name!r} must be 2 to {MOST_BINS:,}, got {n:,}.")
    as_edge: Callable[[Any], Any] = int if kind == "integer" else lambda q: clean(float(q))
    if KINDS[kind].is_dated:
        as_edge = clean
    edges = sorted({as_edge(q) for q in quantiles(n) if q is not None})
    if not edges:
        raise InvalidInput(f"column {name!r} has no values to take quantiles of.")
    return tuple(edges)


def _edge(name: str, kind: str, edge: Any) -> Any:
    dated = KINDS[kind].is_dated
    if isinstance(edge, date) != dated:
        wanted = "dates (1950-01-31)" if dated else "numbers"
        raise InvalidInput(f"column {name!r} holds {KINDS[kind]}; its edges must be {wanted}.")
    if kind == "datetime" and not isinstance(edge, datetime):
        return datetime(edge.year, edge.month, edge.day)
    return edge


def _pairs(option: str, words: Iterable[str]) -> dict[str, tuple[Any, ...]]:
    return {
        name: tuple(_number_or_date(option, value.strip()) for value in values.split(","))
        for name, values in read_by_column(option, words, str).items()
    }


def _number_or_date(option: str, word: str) -> Any:
    if option == "round" and word in UNITS:
        return word
    for read in (int, float, date.fromisoformat):
        try:
            value = read(word)
        except ValueError:
            continue
        if not isinstance(value, float) or math.isfinite(value):
            return value
    cure = "; a = within a column's name is doubled" if "=" in word else ""
    raise InvalidInput(f"{option} needs numbers or dates (1950-01-31), got {word!r}{cure}.")
