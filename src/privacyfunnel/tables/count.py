"""Counting: one group-by in the engine; only the counts come into Python."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privacyfunnel.columns import (
    KINDS,
    Column,
    ColumnRules,
    Roles,
    check_never_missing,
    complete_groups,
)
from privacyfunnel.errors import DataUnavailable, InvalidInput
from privacyfunnel.joint import Joint
from privacyfunnel.persons import Persons
from privacyfunnel.tables.encoding import combine_columns, encode_column
from privacyfunnel.tables.open import open_table
from privacyfunnel.tables.paths import nearest
from privacyfunnel.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts ``[s, x]`` of a table, the symbols of both alphabets, and how they were made.

    A symbol of one column is its value, of several the tuple of their values; a missing value is
    None. Symbols are in rising order, column by column, missing last: the same for every engine.
    """

    counts: sp.coo_array
    labels_s: list[Any]
    labels_x: list[Any]
    roles: Roles
    n_rows: int
    people: NDArray[np.float64]  # those behind each public symbol: its rows, whatever they weigh
    n_dropped: int = 0  # rows left out for a missing value, with missing="drop"
    useful: tuple[Column, ...] = ()  # what the release is for
    counts_y: sp.coo_array | None = None  # ``[y, x]`` of the same records
    labels_y: list[Any] | None = None
    persons: Persons | None = None  # whose rows they are, where a column says so

    def joint(self) -> Joint:
        """The joint distribution p(s,x), and p(y,x) where a use is named."""
        joint = Joint.from_counts(
            self.counts,
            self.labels_s,
            self.labels_x,
            [column.name for column in self.roles.public],
            useful=self.counts_y,
            labels_y=self.labels_y,
            sensitive=[column.name for column in self.roles.sensitive],
        )
        if joint.useful is not None:
            named = replace(joint.useful, sensitive=tuple(column.name for column in self.useful))
            joint = replace(joint, useful=named)
        return joint if self.roles.weight is None else replace(joint, n_records=None)

    def people_of(self, joint: Joint) -> NDArray[np.float64]:
        """The people behind each public symbol that the joint has; it has none without weight."""
        behind = dict(zip(self.labels_x, self.people, strict=True))
        return np.array([behind[label] for label in joint.labels_x])


def count(
    table: Any,
    sensitive: str | Sequence[str],
    public: str | Sequence[str],
    *,
    columns: ColumnRules | None = None,
    useful: str | Sequence[str] = (),
    weight: str | None = None,
    person: str | None = None,
    constant: bool = False,
) -> Counts:
    """Count how often each sensitive symbol meets each public one.

    ``useful`` columns are what the release is for; they need not be published. ``columns`` says how to
    coarsen and what to do with missing values; ``weight`` names a column of
    weights, ``person`` one that says whose row it is. One distinct value is an error unless ``constant``
    allows it.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [40, 61, 40], "city": ["Rom", None, "Bonn"]})
    >>> counted = count(table, "age", "city")
    >>> counted.labels_x, counted.counts.toarray().tolist()
    (['Bonn', 'Rom', None], [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    """
    table = open_table(table)
    named = _listed("useful", useful) if useful else []
    rules = columns or ColumnRules()
    roles = _roles_of(table, sensitive, public, rules, weight, named)
    hidden = [column.name for column in roles.sensitive if column.name in named]
    if hidden:
        raise InvalidInput(f"the column {hidden[0]!r} cannot be both hidden and useful.")
    use = tuple(roles.columns.get(name) or _settled(table, name, "useful", rules) for name in named)
    counts = count_roles(table, roles, use, person)
    if use and counts.labels_y is not None and len(counts.labels_y) < 2:
        raise InvalidInput("the useful columns have one distinct value: there is nothing to keep.")
    for role, labels, cure in (
        ("sensitive", counts.labels_s, "there is nothing to protect"),
        ("public", counts.labels_x, "there is nothing to publish"),
    ):
        if len(labels) < 2 and not constant:
            raise InvalidInput(f"the {role} columns have one distinct value: {cure}.")
    return counts


def _roles_of(
    table: Table,
    sensitive: str | Sequence[str],
    public: str | Sequence[str],
    rules: ColumnRules,
    weight: str | None,
    also: Sequence[str],
) -> Roles:
    """The columns with their kinds and rules; quantiles are taken from the table, once."""
    hidden, shown = _listed("sensitive", sensitive), _listed("public", public)
    if set(hidden) == set(shown):
        raise InvalidInput(
            "the sensitive and the public columns are the same: nothing could be published."
        )
    names = list(dict.fromkeys([*hidden, *shown]))
    for name in rules.names:
        if name not in names and name not in also:
            raise InvalidInput(f"a rule for {name!r}, which is not counted{nearest(name, names)}")
    if weight is not None and not KINDS[table.kind(weight, "weight")].is_numeric:
        raise InvalidInput(f"the weight column {weight!r} must hold numbers.")
    settled = {name: _settled(table, name, "sensitive", rules) for name in hidden}
    out = tuple(settled.get(name) or _settled(table, name, "public", rules) for name in shown)
    return Roles(tuple(settled.values()), out, rules.missing, weight)


def _settled(table: Table, name: str, role: str, rules: ColumnRules) -> Column:
    """A column with its kind and its rule."""
    plain = Column(name, table.kind(name, role))
    return rules.column(name, plain.kind, partial(table.quantiles, plain))


def _listed(role: str, names: str | Sequence[str]) -> list[str]:
    listed = [names] if isinstance(names, str) else [str(name) for name in names]
    if not listed:
        raise InvalidInput(f"name at least one {role} column.")
    if len(set(listed)) < len(listed):
        raise InvalidInput(f"a {role} column is named twice: {', '.join(listed)}.")
    return listed


def count_roles(
    table: Table, roles: Roles, useful: Sequence[Column] = (), person: str | None = None
) -> Counts:
    """Count a table whose roles are fixed, e.g. other records under the same rules."""
    weight = None if roles.weight is None else Column(roles.weight, "number")
    columns = roles.columns | {column.name: column for column in useful}
    grouped = list(columns.values())
    if person is not None:
        grouped.append(_person_column(table, roles, person))
    groups = table.group(grouped, weight)
    # By DLPack, since Arrow's own to_numpy imports pandas, a third of a second.
    n = np.from_dlpack(groups["n"].combine_chunks()).astype(np.int64)
    if n.sum() != table.n_rows:
        raise DataUnavailable(
            f"the table says that it has {table.n_rows} rows, but {n.sum()} can be read: it is damaged."
        )
    if n.sum() == 0:
        raise InvalidInput("the table has no rows; at least one record is needed.")
    weights = n.astype(float) if roles.weight is None else _weights(roles.weight, groups)
    keys = [groups[f"k{i}"] for i in range(len(columns))]
    with ThreadPoolExecutor() as pool:  # Arrow works outside of Python's lock
        coded = pool.map(encode_column, columns.values(), keys)
    codes = dict(zip(columns, coded, strict=True))
    complete = complete_groups(roles, codes, n)
    if not complete.any():
        raise InvalidInput("every row has a missing value; none is left to count.")
    s, labels_s = combine_columns([codes[c.name] for c in roles.sensitive], complete)
    x, labels_x = combine_columns([codes[c.name] for c in roles.public], complete)
    shape = (len(labels_s), len(labels_x))
    counts = sp.coo_array((weights[complete], (s, x)), shape=shape)
    people = np.bincount(x, weights=n[complete], minlength=len(labels_x)).astype(float)
    left_out, persons = int(n[~complete].sum()), None
    if person is not None:
        names, who = encode_column(grouped[-1], groups[f"k{len(grouped) - 1}"])
        if None in who:
            check_never_missing("person", person, int(n[names == who.index(None)].sum()))
        persons = Persons.of(names[complete], s, x, n[complete])
        people = persons.people(len(labels_x))
        counts.sum_duplicates()
    found = Counts(
        counts, labels_s, labels_x, roles, int(n.sum()), people, left_out, persons=persons
    )
    if not useful:
        return found
    y, labels_y = combine_columns([codes[c.name] for c in useful], complete)
    shape = (len(labels_y), len(labels_x))
    counts_y = sp.coo_array((weights[complete], (y, x)), shape=shape)
    return replace(found, useful=tuple(useful), counts_y=counts_y, labels_y=labels_y)


def _person_column(table: Table, roles: Roles, person: str) -> Column:
    """The column that says whose row it is."""
    if person in roles.columns:
        raise InvalidInput(
            f"the column {person!r} says whose row it is, so it is neither sensitive nor public."
        )
    if roles.weight is not None:
        raise InvalidInput("weighted rows cannot be counted by person; leave out one of the two.")
    return Column(person, table.kind(person, "person"))


def _weights(name: str, groups: pa.Table) -> NDArray[np.float64]:
    n_missing = int(groups["n"].to_numpy().sum() - groups["known"].to_numpy().sum())
    check_never_missing("weight", name, n_missing)
    least = float(groups["least"].to_numpy().min())
    weights = np.asarray(groups["w"].to_numpy(), dtype=float)
    if least < 0 or not np.isfinite(weights).all():
        raise InvalidInput(f"the weight column {name!r} must be finite and not negative.")
    if not weights.any():
        raise InvalidInput(f"the weight column {name!r} is 0 everywhere.")
    return weights
