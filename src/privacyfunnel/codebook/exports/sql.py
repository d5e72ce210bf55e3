"""SQL: a codebook as one statement that a warehouse runs by itself.

    rows with their keys -> the place of each row's groups -> those with too few records hidden -> labels

The statement is put together in DuckDB's spelling and written in another by sqlglot. Values are joined
by equalities in which no NULL is lost: a missing value has a flag of its own beside a stand-in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from privacyfunnel import __version__
from privacyfunnel.codebook.draws import digits_sql, parts_in_digits, picked_by_digits
from privacyfunnel.codebook.output import (
    ANY,
    NUMBERS,
    SUPPRESSED,
    check_distinct,
    output_names,
    shown_groups,
)
from privacyfunnel.codebook.recoded import (
    UNSEEN,
    is_interval,
    narrow_first,
    recode_values,
    star_last,
    stars_of,
)
from privacyfunnel.columns import (
    KINDS,
    Bins,
    Calendar,
    Column,
    Round,
    known,
    literal,
    null_if_missing_sql,
    quoted,
    required,
    where_complete,
)
from privacyfunnel.errors import InvalidInput, from_extra
from privacyfunnel.validation import check_choice

if TYPE_CHECKING:
    from privacyfunnel.codebook.codebook import Codebook
    from privacyfunnel.codes import Group

DIALECTS = ("duckdb", "sqlite", "postgres", "spark", "bigquery", "snowflake")
MOST_IN_CASE = 60  # values of a column that are told by CASE; more are looked up
STAND_IN: dict[str, Any] = {
    "boolean": False,
    "integer": 0,
    "number": 0.0,
    "text": "",
    "date": date(1970, 1, 1),
    "datetime": datetime(1970, 1, 1),
}


@dataclass(frozen=True)
class Lookup:
    """A small table that rows are joined to: its name, its columns with their kinds, its rows."""

    name: str
    columns: dict[str, str]
    rows: list[tuple[Any, ...]]


@dataclass
class Statement:
    """A codebook's statement in the making, in DuckDB's spelling but for what it has no words for.

    ``lookups`` are joined by their names, ``steps`` are the queries that follow one another, and
    ``query`` is the last of them.
    """

    book: Codebook
    dialect: str
    table: str  # as it is written after FROM
    keep: Sequence[str] = ()
    numbers: str = "label"
    unseen: str = "suppress"
    key: str | None = None
    has_sensitive: bool = False
    lookups: list[Lookup] = field(default_factory=list)
    steps: dict[str, str] = field(default_factory=dict)
    joins: list[str] = field(default_factory=list)  # of the last query
    query: str = ""

    def __post_init__(self) -> None:
        book = self.book
        check_choice("dialect", self.dialect, DIALECTS)
        check_choice("unseen", self.unseen, ("suppress", "null"))
        check_choice("numbers", self.numbers, NUMBERS)
        if self.unseen == "null" and book.min_count > 1:
            raise InvalidInput(
                f"a codebook that promises {book.min_count} records hides what it does not know."
            )
        self.steps["funnel_rows"] = self._rows()
        columns = [*(self._readable() if book.columns else self._symbols()), *self._kept]
        names = [*output_names(self.columns, self.numbers if book.columns else None), *self.keep]
        check_distinct(names)
        told = ", ".join(f"{sql} AS {quoted(n)}" for sql, n in zip(columns, names, strict=True))
        self.query = f"SELECT {told} FROM {self._last} AS r{''.join(self.joins)}"

    def with_lookups(self, lookups: Mapping[str, str]) -> str:
        """The whole statement, the lookups being these queries."""
        steps = ", ".join(f"{name} AS ({sql})" for name, sql in {**lookups, **self.steps}.items())
        return f"WITH {steps} {self.query}"

    @property
    def head(self) -> str:
        """What the statement does, as comments."""
        book = self.book
        hidden = "NULL" if self.unseen == "null" else repr(ANY if book.columns else SUPPRESSED)
        lines = [
            f"A coding by privacyfunnel {__version__}: the rows of a table as they are released.",
            f"Values that the codebook does not know are {hidden}: a statement cannot end in an error.",
        ]
        if book.min_count > 1:
            lines.append(
                f"What would go out with fewer than {book.min_count} records of the table is hidden too."
            )
        if book.soft:
            lines.append("It holds the secret of the draws: keep it like the private codebook.")
        return "".join(f"-- {line}\n" for line in lines)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The public columns."""
        return self.book.roles.public

    @property
    def _last(self) -> str:
        """The name of the last step."""
        return list(self.steps)[-1]

    @property
    def _places(self) -> dict[str, str]:
        """The columns of a row's groups, with their kinds."""
        return {f"g{i}": "integer" for i in range(len(self.columns))}

    @property
    def _kept(self) -> list[str]:
        return [f"r.kept{i}" for i in range(len(self.keep))]

    def literal(self, value: Any) -> str:
        """A value; what DuckDB spells in its own way is spelled so that all dialects know it."""
        if self.dialect == "sqlite" and isinstance(value, datetime):
            return f"'{value.isoformat(sep=' ')}'"
        if isinstance(value, float) and math.isinf(value):
            sign = "-" if value < 0 else ""
            return (
                f"{sign}9e999" if self.dialect == "sqlite" else f"CAST('{sign}Infinity' AS DOUBLE)"
            )
        return literal(value)

    # --- rows and keys ------------------------------------------------------------------------

    def _rows(self) -> str:
        """The table's rows: their keys k0, ..., the columns that are kept, the draw of a soft code."""
        book = self.book
        select = [f"{self._key(column)} AS k{i}" for i, column in enumerate(self.columns)]
        select += [f"{quoted(name)} AS kept{i}" for i, name in enumerate(self.keep)]
        if book.soft:
            drawn = digits_sql(book.check_salt(), self.key, self.dialect)
            select.append(f"{drawn} AS draw")
        present = None if self.has_sensitive else [column.name for column in self.columns]
        where = where_complete(self._key(c) for c in required(book.roles, present))
        return f"SELECT {', '.join(select)} FROM {self.table}{where}"

    def _key(self, column: Column) -> str:
        """What a column is joined by: its value, or the place of its bin or multiple."""
        name, kind = quoted(column.name), column.kind
        value = (
            f"CAST({name} AS {KINDS[kind].sql[0]})" if kind not in ("boolean", "integer") else name
        )
        if kind == "datetime" and self.dialect == "sqlite":
            value = f"CAST({name} AS TEXT)"
        value = null_if_missing_sql(value, kind, self.dialect)
        if isinstance(column.rule, Bins):
            whens = [
                f"WHEN {value} < {self.literal(edge)} THEN {i}"
                for i, edge in enumerate(column.rule.edges)
            ]
            last = len(column.rule.edges)
            return f"CASE WHEN {value} IS NULL THEN NULL {' '.join(whens)} ELSE {last} END"
        if isinstance(column.rule, Calendar):
            return self._first_day(column.rule, value)
        if isinstance(column.rule, Round):
            step = self.literal(float(column.rule.step))
            steps = f"(CAST({value} AS DOUBLE) / {step} + 0.5)"
            floor = f"CAST(FLOOR({steps}) AS DOUBLE)"  # a 64-bit integer in some engines
            return f"CASE WHEN ABS({steps}) < {2**52} THEN {floor} ELSE {steps} END"
        return value

    def _first_day(self, rule: Calendar, value: str) -> str:
        """The first day of the month, quarter or year; SQLite has no dates and cuts it from the text."""
        if self.dialect != "sqlite":
            return rule.sql(value)
        year, month = f"SUBSTRING({value}, 1, 4)", f"SUBSTRING({value}, 6, 2)"
        first = f"CASE WHEN {month} < '04' THEN '01' WHEN {month} < '07' THEN '04' "
        first += f"WHEN {month} < '10' THEN '07' ELSE '10' END"
        day = {
            "day": f"SUBSTRING({value}, 1, 10)",
            "month": f"{year} || '-' || {month} || '-01'",
            "quarter": f"{year} || '-' || {first} || '-01'",
            "year": f"{year} || '-01-01'",
        }[rule.unit]
        midnight = " || ' 00:00:00'" if rule.is_timed else ""
        return f"CASE WHEN {value} IS NULL THEN NULL ELSE {day}{midnight} END"

    def _join(
        self, name: str, own: Sequence[int], rows: list[tuple[Any, ...]], **extra: str
    ) -> str:
        """A lookup by the keys of some columns; each row is their values and then the extra ones."""
        kinds: dict[str, str] = {}
        on = []
        for i in own:
            kind = self.columns[i].key_kind
            kinds |= {f"k{i}": kind, f"m{i}": "integer"}
            on.append(f"COALESCE(r.k{i}, {self.literal(STAND_IN[kind])}) = {name}.k{i}")
            on.append(f"CASE WHEN r.k{i} IS NULL THEN 1 ELSE 0 END = {name}.m{i}")
        found = []
        for row in rows:
            keys: list[Any] = []
            for i, part in zip(own, row[: len(own)], strict=True):
                raw = self.columns[i].raw(part)
                keys += [STAND_IN[kinds[f"k{i}"]] if raw is None else raw, int(raw is None)]
            found.append((*keys, *row[len(own) :]))
        self.lookups.append(Lookup(name, kinds | extra, found))
        return f" LEFT JOIN {name} ON {' AND '.join(on)}"

    # --- symbols ------------------------------------------------------------------------------

    def _symbols(self) -> list[str]:
        """The place of each row's symbol, then its label."""
        book = self.book
        if len(self.columns) == 1 and len(book.values) <= MOST_IN_CASE and not book.soft:
            whens = [
                f"WHEN {self._is_one_of(0, [value for (value,) in members])} THEN {j}"
                for j, members in enumerate(book.members)
            ]
            place, join = f"CASE {' '.join(whens)} ELSE {UNSEEN} END", ""
        else:
            place, join = f"COALESCE(funnel_values.place, {UNSEEN})", self._join_values()
        self.steps["funnel_coded"] = f"SELECT r.*, {place} AS g0 FROM funnel_rows AS r{join}"
        if book.min_count > 1:
            self._hide_rare([UNSEEN], always=True)
        hidden = None if self.unseen == "null" else SUPPRESSED
        return [self._at("r.g0", {**dict(enumerate(book.labels)), UNSEEN: hidden}, "text", "label")]

    def _join_values(self) -> str:
        """The symbol of a row's values; of a soft code the one that its draw falls to."""
        book, every = self.book, range(len(self.columns))
        if not book.soft:
            rows = [(*v, j) for v, j in zip(book.values, book.symbol_of.tolist(), strict=True)]
            return self._join("funnel_values", every, rows, place="integer")
        drawn = [
            (*value, row[k][0], low, high)
            for value, row in zip(book.values, book.rows, strict=True)
            for k, low, high in parts_in_digits([p for _, p in row])
        ]
        join = self._join("funnel_values", every, drawn, place="integer", low="text", high="text")
        return f"{join} AND {picked_by_digits('r.draw', 'funnel_values.low', 'funnel_values.high')}"

    # --- readable codes -----------------------------------------------------------------------

    def _readable(self) -> list[str]:
        """The places of each row's groups g0, ..., then what stands in the columns for them."""
        book = self.book
        if book.recoding == "global":
            self._code_columns()
        else:
            self._climb()
        if book.min_count > 1:
            self._hide_rare(stars_of(book), always=False)
        columns = []
        for i in range(len(self.columns)):
            for n, (kind, values) in enumerate(shown_groups(book, i, self.numbers)):
                unseen = None if self.unseen == "null" else values[-1]
                at = {**dict(enumerate(values)), UNSEEN: unseen}
                columns.append(self._at(f"r.g{i}", at, kind, f"shown_{i}_{n}"))
        return columns

    def _code_columns(self) -> None:
        """Each column by its own groups; combinations that are not released are ``*`` all over."""
        book, stars = self.book, stars_of(self.book)
        every = range(len(self.columns))
        joins, places = "", []
        for i, column in enumerate(book.columns):
            order = star_last(column)
            members = [(v, g) for g in order for v in column.groups[g].members]
            by_name = len(members) > MOST_IN_CASE
            if by_name:
                joins += self._join(f"funnel_groups_{i}", [i], members, place="integer")
            whens = [
                f"WHEN {self._is_in(i, column.groups[g], by_name=not by_name)} THEN {g}"
                for g in order
                if not by_name or is_interval(column.groups[g]) or column.groups[g].label == ANY
            ]
            case = f"CASE {' '.join(whens)} ELSE {UNSEEN} END" if whens else str(UNSEEN)
            places.append(f"COALESCE(funnel_groups_{i}.place, {case})" if by_name else case)
        coded = ", ".join(f"{place} AS g{i}" for i, place in enumerate(places))
        self.steps["funnel_coded"] = f"SELECT r.*, {coded} FROM funnel_rows AS r{joins}"
        known = " OR ".join(f"r.g{i} = {UNSEEN}" for i in every)
        unseen = f"CASE WHEN {known} THEN 1 ELSE 0 END"
        place = [f"CASE WHEN r.g{i} = {UNSEEN} THEN {stars[i]} ELSE r.g{i} END" for i in every]
        if self.unseen == "null":
            place = [f"r.g{i}" for i in every]
        joins = ""
        if book.min_count > 1:
            cells = [(*cell, 1) for cell in book.cells.tolist()]
            kinds = self._places | {"is_released": "integer"}
            self.lookups.append(Lookup("funnel_released", kinds, cells))
            on = " AND ".join(f"r.g{i} = funnel_released.g{i}" for i in every)
            joins += f" LEFT JOIN funnel_released ON {on}"
            gone = f"{unseen} = 0 AND funnel_released.is_released IS NULL"
            place = [f"CASE WHEN {gone} THEN {stars[i]} ELSE {place[i]} END" for i in every]
        strays = self._strays()
        if strays:
            joins += self._join("funnel_strays", every, strays, **self._places)
            place = [f"COALESCE(funnel_strays.g{i}, {place[i]})" for i in every]
            unseen = f"CASE WHEN funnel_strays.g0 IS NULL THEN {unseen} ELSE 0 END"
        self._place(place, unseen, joins)

    def _strays(self) -> list[tuple[Any, ...]]:
        """Values of the table that are not released as their columns' groups say."""
        book = self.book
        if not book.values:
            return []
        bare = replace(book, values=(), rows=(), counts=(), is_public=True)
        by_rule = recode_values(bare, book.values)
        cells = book.cells[book.symbol_of]
        differ = np.flatnonzero((cells != by_rule).any(axis=1)).tolist()
        return [(*book.values[i], *cells[i].tolist()) for i in differ]

    def _climb(self) -> None:
        """Known values as they were released, others as the narrowest combination that holds them."""
        book, stars = self.book, stars_of(self.book)
        every = range(len(self.columns))
        released = book.cells.tolist()
        joins, known = "", str(UNSEEN)
        if book.values:
            joins, known = self._join_values(), "funnel_values.place"
        whens = []
        for j in narrow_first(book).tolist():
            tests = [self._is_in(i, book.columns[i].groups[released[j][i]]) for i in every]
            tests = [test for test in tests if test != "TRUE"]
            whens.append(f"WHEN {' AND '.join(tests) or 'TRUE'} THEN {j}")
        climbed = f"CASE {' '.join(whens)} ELSE {UNSEEN} END"
        symbol = f"COALESCE({known}, {climbed})" if book.values else climbed
        self.steps["funnel_coded"] = f"SELECT r.*, {symbol} AS symbol FROM funnel_rows AS r{joins}"
        cells = [(j, *cell) for j, cell in enumerate(released)]
        self.lookups.append(Lookup("funnel_cells", {"place": "integer"} | self._places, cells))
        star = [str(UNSEEN if self.unseen == "null" else s) for s in stars]
        self._place(
            [f"COALESCE(funnel_cells.g{i}, {star[i]})" for i in every],
            f"CASE WHEN r.symbol = {UNSEEN} THEN 1 ELSE 0 END",
            " LEFT JOIN funnel_cells ON r.symbol = funnel_cells.place",
        )

    def _place(self, places: Sequence[str], unseen: str, joins: str) -> None:
        select = [*self._kept, *(f"{place} AS g{i}" for i, place in enumerate(places))]
        self.steps["funnel_placed"] = (
            f"SELECT {', '.join(select)}, {unseen} AS unseen FROM funnel_coded AS r{joins}"
        )

    def _is_in(self, i: int, group: Group, by_name: bool = True) -> str:
        """Whether the key of column i belongs to a group; with ``by_name`` also by being listed."""
        if group.label == ANY:
            return "TRUE"
        tests = [self._is_one_of(i, group.members)] if by_name and group.members else []
        if is_interval(group):
            tests.append(self._is_between(i, group))
        return tests[0] if len(tests) == 1 else f"({' OR '.join(tests)})"

    def _is_one_of(self, i: int, values: Sequence[Any]) -> str:
        named = [self.literal(self.columns[i].raw(v)) for v in known(values)]
        tests = [f"r.k{i} IN ({', '.join(named)})"] if named else []
        if None in values:
            tests.append(f"r.k{i} IS NULL")
        return tests[0] if len(tests) == 1 else f"({' OR '.join(tests)})"

    def _is_between(self, i: int, group: Group) -> str:
        column, tests = self.columns[i], []
        for bound, sign in ((group.low, ">="), (group.high, "<")):
            if bound is not None:
                if isinstance(column.rule, Round):
                    bound = _first_multiple(column.rule, bound)
                tests.append(f"r.k{i} {sign} {self.literal(bound)}")
        return f"({' AND '.join(tests)})" if len(tests) > 1 else tests[0]

    # --- least counts and labels --------------------------------------------------------------

    def _hide_rare(self, stars: Sequence[int], always: bool) -> None:
        """Hide what goes out with fewer rows than promised, and more while the hidden ones are too few.

        Of the next smallest combinations one joins those hidden as long as these are some, but fewer than
        the least count; of equal ones the first. ``always``: whether those that are hidden already are
        filled up too, even if nothing is unknown or rare in this table.
        """
        last, least, every = self._last, self.book.min_count, range(len(stars))
        groups = ", ".join(f"g{i}" for i in every)
        star = " AND ".join(f"g{i} = {place}" for i, place in enumerate(stars))
        unseen = "0" if always else "MAX(unseen)"
        self.steps |= {
            "funnel_counts": f"SELECT {groups}, COUNT(*) AS n, {unseen} AS unseen, "
            f"CASE WHEN {star} THEN 1 ELSE 0 END AS is_star FROM {last} GROUP BY {groups}",
            "funnel_rare": f"SELECT {groups}, n, unseen, "
            f"CASE WHEN is_star = 0 AND n < {least} THEN 1 ELSE 0 END AS rare, "
            f"CASE WHEN is_star = 1 OR n < {least} THEN 1 ELSE 0 END AS hidden FROM funnel_counts",
            "funnel_order": f"SELECT {groups}, n, hidden, "
            "MAX(unseen) OVER () + MAX(rare) OVER () AS changed, "
            f"SUM(n) OVER (ORDER BY hidden DESC, n, {groups} ROWS BETWEEN UNBOUNDED PRECEDING AND "
            "CURRENT ROW) - n AS before FROM funnel_rare",
            "funnel_hidden": f"SELECT {groups}, "
            f"CASE WHEN {'' if always else 'changed > 0 AND '}(hidden = 1 OR "
            f"(before > 0 AND before < {least})) THEN 1 ELSE 0 END AS is_hidden FROM funnel_order",
        }
        on = " AND ".join(f"r.g{i} = h.g{i}" for i in every)
        select = [
            f"CASE WHEN h.is_hidden = 1 THEN {s} ELSE r.g{i} END AS g{i}"
            for i, s in enumerate(stars)
        ]
        self.steps["funnel_safe"] = (
            f"SELECT {', '.join([*self._kept, *select])} FROM {last} AS r "
            f"LEFT JOIN funnel_hidden AS h ON {on}"
        )

    def _at(self, place: str, values: dict[int, Any], kind: str, name: str) -> str:
        """What stands at a place: by CASE, or looked up where there are many."""
        rows = [(at, v) for at, v in values.items() if v is not None]
        if len(values) <= MOST_IN_CASE:
            whens = [f"WHEN {at} THEN {self.literal(v)}" for at, v in rows]
            nothing = f"CAST(NULL AS {KINDS[kind].sql[0]})"
            return f"CASE {place} {' '.join(whens)} END" if whens else nothing
        name = f"funnel_{name}"
        self.lookups.append(Lookup(name, {"place": "integer", "shown": kind}, rows))
        self.joins.append(f" LEFT JOIN {name} ON {place} = {name}.place")
        return f"{name}.shown"


def to_sql(book: Codebook, dialect: str, table: str | Sequence[str], **options: Any) -> str:
    """The statement in one dialect: see :meth:`Codebook.to_sql`, which has the options."""
    parts = [table] if isinstance(table, str) else table
    made = Statement(book, dialect, ".".join(map(quoted, parts)), **options)
    lookups = dict(_inline(lookup, made) for lookup in made.lookups)
    return made.head + spell(made.with_lookups(lookups), dialect) + ";\n"


def _inline(lookup: Lookup, made: Statement) -> tuple[str, str]:
    """A lookup as a step; SQLite names its columns behind the step's name and nowhere else."""
    rows = [f"({', '.join(map(made.literal, row))})" for row in lookup.rows]
    query, names = f"SELECT * FROM (VALUES {', '.join(rows)}) AS v", ", ".join(lookup.columns)
    if made.dialect == "sqlite":
        return f"{lookup.name}({names})", query
    return lookup.name, f"{query}({names})"


def spell(sql: str, dialect: str) -> str:
    """A statement of DuckDB's in another dialect, every name in quotes."""
    with from_extra("export", "SQL"):
        import sqlglot

    [done] = sqlglot.transpile(sql, read="duckdb", write=dialect, pretty=True, identify=True)
    return str(done)


def _first_multiple(rule: Round, bound: float) -> float:
    """The place of the first multiple that is not below a bound."""
    if not math.isfinite(bound):
        return bound
    place = rule.raw(bound) - 2
    while rule.label(place) < bound:
        place += 1
    return place
