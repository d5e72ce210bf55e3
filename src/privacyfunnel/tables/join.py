"""Join: what each row of a table is joined to, and which columns go out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.codebook.draws import thresholds
from privacyfunnel.codebook.output import SUPPRESSED, check_distinct, output_names
from privacyfunnel.columns import KINDS, Column, Roles, complete_groups, required
from privacyfunnel.errors import InvalidInput
from privacyfunnel.tables.encoding import Places, encode_column

if TYPE_CHECKING:
    import pyarrow as pa

    from privacyfunnel.codebook import Codebook
    from privacyfunnel.tables.table import Table

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Join:
    """A table read as a codebook needs it, and the columns that go out; build with :meth:`of`."""

    table: Table
    book: Codebook
    columns: tuple[Column, ...]  # the public ones, in the kind that table and codebook share
    required: tuple[Column, ...]  # rows that lack one of these are left out
    names: tuple[str, ...]  # the columns of the output
    expand: bool
    keep: tuple[str, ...]
    suppress: bool
    key: str | None
    numbers: str | None  # how a readable release writes groups of numbers; None releases symbols
    rare: frozenset[str] = frozenset()  # labels that would go out with too few records

    @classmethod
    def of(
        cls,
        table: Table,
        book: Codebook,
        *,
        expand: bool,
        keep: Sequence[str],
        suppress: bool,
        key: str | None,
        numbers: str,
    ) -> Join:
        """Check what is wanted against the table and the codebook."""
        table = _read_as(table, book.roles)
        columns = tuple(_shared(table, column) for column in book.roles.public)
        complete = tuple(_shared(table, c) for c in required(book.roles, table.names))
        how = numbers if book.columns else None
        names = output_columns(table, book.roles, expand=expand, keep=keep, key=key, numbers=how)
        if book.soft:
            book.check_salt()
        out = tuple(names), expand, tuple(keep), suppress, key, how
        return cls(table, book, columns, complete, *out)

    @property
    def outputs(self) -> list[str]:
        """The columns of the lookup table that go out."""
        return ["label", *(f"e{i}" for i in range(len(self.columns)) if self.expand)]

    @property
    def needed(self) -> list[str]:
        """The columns that are read."""
        key = [] if self.key is None else [self.key]
        return [*(c.name for c in (*self.columns, *self.required)), *self.keep, *key]

    def value(self, keys: Sequence[Any]) -> tuple[Any, ...]:
        """The value whose keys the engine hands back."""
        return tuple(column.symbol(key) for column, key in zip(self.columns, keys, strict=True))

    def lookup(self) -> pa.Table:
        """One row per value: its keys k0, k1, ..., its place, and the label that it is released as.

        With ``expand`` come e0, e1, ...: what the label stands for. For a soft code these are lists
        over the outcomes, and ``ends`` says where each outcome's share of the draws ends.
        """
        import pyarrow as pa

        book = self.book
        outcomes = [[j for j, _ in row] for row in book.rows]
        data: dict[str, Any] = {}
        for i, column in enumerate(self.columns):
            raw = [column.raw(value[i]) for value in book.values]
            data[f"k{i}"] = pa.array(raw, type=arrow_type(column.key_kind))
        data["place"] = pa.array(range(len(book.values)), type=pa.int64())
        shown = [SUPPRESSED if label in self.rare else label for label in book.labels]
        texts: Mapping[str, Sequence[str | None]] = {"label": shown}
        if self.expand:
            nothing = (None,) * len(self.columns)
            words = (
                nothing if label in self.rare else book.stands_for(label) for label in book.labels
            )
            columns = enumerate(zip(*words, strict=True))
            texts = {**texts, **{f"e{i}": column for i, column in columns}}
        for name, text in texts.items():
            lists = [[text[j] for j in row] for row in outcomes]
            data[name] = lists if book.soft else [row[0] for row in lists]
        if book.soft:
            data["ends"] = [thresholds([p for _, p in row]) for row in book.rows]
        return pa.table(data)

    def counted(self) -> tuple[list[Places], Ints]:
        """The values of the public columns in each group of equal rows that goes out, and its rows."""
        columns = list(dict.fromkeys([*self.columns, *self.required]))
        groups = self.table.group(columns, None)
        n = groups["n"].to_numpy().astype(np.int64)
        coded = {c.name: encode_column(c, groups[f"k{i}"]) for i, c in enumerate(columns)}
        required = {column.name: coded[column.name] for column in self.required}
        complete = complete_groups(self.book.roles, required, n)
        own = (coded[column.name] for column in self.columns)
        return [(places[complete], symbols) for places, symbols in own], n[complete]

    def without_rare(self) -> Join:
        """The same with every label suppressed that fewer rows than the least count would get.

        Where the suppressed rows would themselves be too few, the next smallest label joins them.
        """
        if self.book.min_count <= 1 or self.book.soft:  # a lot is known when it is drawn
            return self
        counts, unseen = self._label_counts()
        if self.suppress:
            return self._suppressed(counts, unseen)
        few = np.flatnonzero(self._is_few(counts))
        if len(few):
            j = few[np.argmin(counts[few])]
            words = f"the label {self.book.labels[j]!r} would go out with {counts[j]} records"
            self.refuse(words, hint="unseen")
        return self

    def after_draw(self, drawn: Mapping[str | None, int]) -> Join:
        """The same with every label suppressed that the lot has given to too few rows."""
        counts = np.array([drawn.get(label, 0) for label in self.book.labels])
        return self._suppressed(counts, sum(drawn.values()) - int(counts.sum()))

    def _suppressed(self, counts: Ints, unseen: int) -> Join:
        rare = np.flatnonzero(self._hide(counts, unseen))
        return replace(self, rare=frozenset(self.book.labels[j] for j in rare))

    def _is_few(self, counts: Ints) -> NDArray[np.bool_]:
        """Which counts of what goes out are below the least count."""
        return (counts > 0) & (counts < self.book.min_count)

    def _hide(self, counts: Ints, hidden: int) -> NDArray[np.bool_]:
        """Which of these, released so often each, to hide beside the rows that are hidden already.

        Those that are too few; while all that are hidden are too few themselves, the next smallest joins
        them, of equal ones the first.
        """
        least, rare = self.book.min_count, self._is_few(counts)
        hidden += int(counts[rare].sum())
        for j in np.argsort(counts, kind="stable"):
            if not 0 < hidden < least:
                break
            if counts[j] >= least:
                rare[j] = True
                hidden += int(counts[j])
        if 0 < hidden < least:
            self.refuse(f"{hidden} records would be released")
        return rare

    def refuse(self, too_few: str, hint: str = "") -> NoReturn:
        """Refuse to write fewer records than the codebook promises."""
        least = self.book.min_count
        raise InvalidInput(
            f"{too_few}, fewer than the {least} that the codebook promises.", hint=hint
        )

    def _label_counts(self) -> tuple[Ints, int]:
        """How many rows would get each symbol, and how many are of no known value."""
        coded, rows = self.counted()
        values = zip(*([symbols[p] for p in places] for places, symbols in coded), strict=True)
        places = self.book.places(list(values))
        known = places >= 0
        counts = np.zeros(len(self.book.symbols), dtype=np.int64)
        np.add.at(counts, self.book.symbol_of[places[known]], rows[known])
        return counts, int(rows[~known].sum())


def output_columns(
    table: Table,
    roles: Roles,
    *,
    expand: bool,
    keep: Sequence[str],
    key: str | None,
    numbers: str | None,
) -> list[str]:
    """The names of the columns that go out; wrong ones are refused.

    ``numbers`` says how a readable release writes groups of numbers; None is a release of symbols.
    """
    for name in keep:
        table.position(name, "kept")
    if key is not None and not KINDS[table.kind(key, "key")].names_rows:
        raise InvalidInput(f"the key column {key!r} must hold whole numbers or text.")
    own = output_names(roles.public, numbers)
    if numbers is None and expand:
        own += [column.name for column in roles.public]
    names = [*own, *keep]
    if "" in names:
        raise InvalidInput("a column without a name cannot go out; give it one first.")
    check_distinct(names)
    return names


def arrow_type(kind: str) -> Any:
    import pyarrow as pa

    return pa.type_for_alias(KINDS[kind].arrow)


def match_roles(table: Table, roles: Roles) -> tuple[Table, Roles]:
    """Another table read as these roles need it, and the roles in the kinds that both share."""
    table = _read_as(table, roles)
    return table, replace(
        roles,
        sensitive=tuple(_shared(table, column) for column in roles.sensitive),
        public=tuple(_shared(table, column) for column in roles.public),
    )


def _read_as(table: Table, roles: Roles) -> Table:
    """A csv's kinds are guessed from its own rows: read it as the codebook's columns are."""
    kinds = table.columns
    differ = {
        column.name: column.kind
        for column in roles.columns.values()
        if kinds.get(column.name, column.kind) != column.kind
    }
    return table.read_as(differ)


def _shared(table: Table, column: Column) -> Column:
    """The column in the kind in which both sides compare; whole numbers compare with numbers."""
    kind = table.kind(column.name, "public")
    if kind == column.kind:
        return column
    if KINDS[kind].is_numeric and KINDS[column.kind].is_numeric:
        return replace(column, kind="number")
    raise InvalidInput(
        f"column {column.name!r} holds {KINDS[kind]} here, but the codebook was made for "
        f"{KINDS[column.kind]}."
    )
