"""Codebook: the code in the words of the table, with what was asked and what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privacyfunnel import __version__
from privacyfunnel.codebook.checks import check_book, check_values
from privacyfunnel.codebook.draws import check_secret, make_salt, outcome
from privacyfunnel.codebook.names import named
from privacyfunnel.codebook.output import ANY
from privacyfunnel.codebook.recoded import (
    as_code,
    groups_in_use,
    holds,
    is_global,
    mean_of_groups,
    recode,
    recode_values,
)
from privacyfunnel.codebook.tallies import (
    Decoded,
    Tally,
    decode,
    public_counts,
    public_tallies,
    tally_columns,
    tidy,
)
from privacyfunnel.codebook.words import stands_for, typical
from privacyfunnel.codes import Channel, Code, ColumnCode, Partition, RecodedColumn, joined
from privacyfunnel.columns import Column, Roles, show
from privacyfunnel.errors import InvalidInput, UnknownSymbol
from privacyfunnel.files import write_text
from privacyfunnel.information import share
from privacyfunnel.joint import Joint
from privacyfunnel.notebook import card, in_short

if TYPE_CHECKING:
    from privacyfunnel.solvers.base import Solution

Row = tuple[tuple[int, float], ...]  # the released symbols of one value and their probabilities
SECRET = ("leakage", "leakage_bits", "entropy_s_bits", "information_bits")  # statistics about S
COARSE = 2  # decimals of a share of which more would give away how S was hidden


@dataclass(frozen=True)
class Symbol:
    """A released symbol: its label, its probability and, for a hard code, its weight in records.

    For a soft code ``stands_for`` says, for each public column, what is typical of it; in a readable
    code ``cells`` are the positions of the groups that stand in its columns.
    """

    label: str
    probability: float
    count: float | None = None
    stands_for: tuple[str, ...] | None = None
    cells: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Codebook:
    """How values of the public columns are released; build one with :meth:`from_solution`.

    ``values[i]`` is a tuple of the public columns' symbols and ``rows[i]`` what it is released as.
    ``salt`` is the secret of a soft code's draws; a public codebook has none, nor has it the
    channel. Whatever is released by it, no label goes out with fewer than ``min_count`` records.

    ``counts[i]`` is how many records have ``values[i]``, None where that is not told.

    A readable codebook has a ``recoding``, "global" or "local", instead of "symbols": ``columns`` are
    the groups of each public column, ``means`` what the groups of numbers are on average and
    ``tallies`` how many records each group has, and each value in it.

    >>> import pandas as pd, privacyfunnel as pf
    >>> from privacyfunnel.tables import count
    >>> table = pd.DataFrame({"sick": [0, 0, 1, 1], "city": ["Bonn", "Rom", "Rom", "Pisa"]})
    >>> counted = count(table, "sick", "city")
    >>> solution = pf.solve(counted.joint(), pf.Funnel(0.4), method="exhaustive")
    >>> book = Codebook.from_solution(counted.joint(), solution, counted.roles, target={"lam": 0.4})
    >>> [book.encode(city) for city in ("Bonn", "Pisa", "Rom")]
    ['r1', 'r1', 'r2']
    """

    roles: Roles
    symbols: tuple[Symbol, ...]
    values: tuple[tuple[Any, ...], ...]
    rows: tuple[Row, ...]
    soft: bool
    problem: str
    target: Mapping[str, float]
    measured: Mapping[str, float]
    n_records: int | None
    seed: int | None = None
    salt: str | None = None
    min_count: int = 1
    recoding: str = "symbols"
    columns: tuple[RecodedColumn, ...] = ()
    means: tuple[tuple[float | None, ...], ...] = ()
    counts: tuple[float | None, ...] = ()
    tallies: tuple[tuple[Tally, ...], ...] = ()
    is_public: bool = False
    tool: str = field(default=f"privacyfunnel {__version__}")

    def __post_init__(self) -> None:
        check_book(self)

    @classmethod
    def from_solution(
        cls,
        joint: Joint,
        solution: Solution,
        roles: Roles,
        *,
        target: Mapping[str, float] | None = None,
        seed: int | None = None,
        secret: str | None = None,
        min_count: int = 1,
    ) -> Codebook:
        """The codebook of a solution for the joint that was counted under these roles.

        Released symbols are called r01, r02, ... in order of their first value. A soft code draws
        by a ``secret``, by default a random one; draws are repeated by handing in the secret of an
        earlier, private codebook.
        """
        code = solution.code
        if isinstance(code, ColumnCode):
            code = named(code, roles.public)
        soft = isinstance(code, Channel)
        weights = joint.masses @ code.matrix
        used = np.flatnonzero(weights > 0)
        width = len(str(len(used)))
        values = [_as_tuple(label, len(roles.public)) for label in joint.labels_x]
        words = _typical(roles.public, values, joint, code, used) if soft else [None] * len(used)
        readable = _readable(joint, code, used) if isinstance(code, ColumnCode) else {}
        cells = readable.pop("cells", [None] * len(used))
        symbols = tuple(
            Symbol(f"r{place:0{width}d}", w / joint.total, None if soft else tidy(w), *told)
            for place, (w, *told) in enumerate(
                zip(weights[used].tolist(), words, cells, strict=True), start=1
            )
        )
        return cls(
            roles=roles,
            symbols=symbols,
            **in_order(
                roles.public, values, _rows(code, used), [*map(tidy, joint.masses.tolist())]
            ),
            soft=soft,
            problem=solution.objective.problem,
            target=dict({"lam": solution.objective.lam} if target is None else target),
            measured=_measured(joint, solution),
            n_records=joint.n_records,
            seed=seed,
            salt=(check_secret(secret) if secret else make_salt()) if soft else None,
            min_count=min_count,
            **readable,
        )

    @property
    def labels(self) -> list[str]:
        """The labels of the released symbols."""
        return list(self._place_of)

    @cached_property
    def _place_of(self) -> dict[str, int]:
        """Where the symbol of each label stands."""
        return {symbol.label: j for j, symbol in enumerate(self.symbols)}

    @property
    def labels_x(self) -> list[Any]:
        """The values as tables are counted: of one column itself, of several the tuple of them."""
        return [v for (v,) in self.values] if len(self.roles.public) == 1 else list(self.values)

    @cached_property
    def symbol_of(self) -> NDArray[np.int64]:
        """The symbol that a hard code releases each of ``values`` as."""
        return np.array([row[0][0] for row in self.rows], dtype=np.int64)

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """The groups that stand in a readable release for each symbol, ``[symbol, column]``."""
        return np.array([symbol.cells for symbol in self.symbols], dtype=np.int64)

    @cached_property
    def code(self) -> Code:
        """The code over ``values``: a partition or a channel."""
        if not self.soft:
            return Partition(self.symbol_of)
        cells = [(p, i, j) for i, row in enumerate(self.rows) for j, p in row]
        p, i, j = zip(*cells, strict=True)
        return Channel(sp.csr_array((p, (i, j)), shape=(len(self.rows), len(self.symbols))))

    def places(self, values: Sequence[Any]) -> NDArray[np.int64]:
        """Where each value, as tables are counted, stands in ``values``; -1 for one not covered."""
        one = len(self.roles.public) == 1
        known = self._place
        found = (known.get((v,) if one and not isinstance(v, tuple) else v, -1) for v in values)
        return np.fromiter(found, dtype=np.int64, count=len(values))

    def over(self, joint: Joint) -> Code:
        """The code over the joint's own values; those not covered are one more symbol, the last."""
        if self.columns:
            return as_code(self, self.cells_of(joint))
        places = self.places(joint.labels_x)
        if not self.soft:
            return Partition(np.append(self.symbol_of, len(self.symbols))[places])
        matrix = self.code.matrix
        if (places < 0).any():
            matrix = sp.block_diag([matrix, sp.csr_array([[1.0]])], format="csr")
        return Channel(sp.csr_array(matrix[places]))

    def uncovered(self, joint: Joint) -> NDArray[np.bool_]:
        """Which of the joint's values the codebook does not cover."""
        if self.columns:
            return np.asarray((self.cells_of(joint) < 0).any(axis=1))
        return self.places(joint.labels_x) < 0

    def cells_of(self, joint: Joint) -> NDArray[np.int64]:
        """The groups of a readable codebook that the joint's values are released as, ``[x, column]``."""
        codes = np.column_stack([column.codes for column in joint.public])
        return recode(self, [column.values for column in joint.public], codes)

    @cached_property
    def members(self) -> tuple[tuple[tuple[Any, ...], ...], ...]:
        """The values that are, or may be, released as each symbol."""
        members: list[list[tuple[Any, ...]]] = [[] for _ in self.symbols]
        for value, row in zip(self.values, self.rows, strict=True):
            for j, _ in row:
                members[j].append(value)
        return tuple(map(tuple, members))

    @cached_property
    def _place(self) -> dict[tuple[Any, ...], int]:
        if self.soft:
            self.check_salt()
        return {value: i for i, value in enumerate(self.values)}

    def encode(self, values: Any, key: int | str | None = None) -> str:
        """The released label of one row: the public columns' values as they are in the table.

        A soft code needs the row's ``key`` for its draw.
        """
        given = _as_tuple(values, len(self.roles.public))
        value = tuple(c.encode(v) for c, v in zip(self.roles.public, given, strict=True))
        if self.columns:
            return " | ".join(self.recoded(value))
        if value not in self._place:
            raise UnknownSymbol(f"{self.unknown(value)}.", hint="unseen")
        row = self.rows[self._place[value]]
        if not self.soft:
            return self.symbols[row[0][0]].label
        if key is None:
            raise InvalidInput("a soft code needs the key of the row to draw its symbol.")
        chosen = outcome(self.check_salt(), key, [p for _, p in row])
        return self.symbols[row[chosen][0]].label

    def recoded(self, value: tuple[Any, ...]) -> tuple[str, ...]:
        """What a readable code releases a value as: the label that stands in each column."""
        [cell] = recode_values(self, [value])
        if (cell < 0).any():
            raise UnknownSymbol(f"{self.unknown(value)}.", hint="unseen")
        labels = [[*(group.label for group in column.groups), ANY] for column in self.columns]
        return tuple(names[g] for names, g in zip(labels, cell, strict=True))

    def check_salt(self) -> str:
        """The secret of a soft code's draws; a public codebook does not have it."""
        if self.salt is None or self.is_public:
            raise InvalidInput("a public codebook cannot draw a soft code; use the private one.")
        return self.salt

    def unknown(self, value: Sequence[Any], n_rows: int = 1, n_values: int = 1) -> str:
        """A value that the codebook does not cover, in words: which column, what, how often."""
        names = [column.name for column in self.roles.public]
        pairs = list(zip(names, map(show, value), strict=True))
        what = f"the combination {', '.join(f'{name} = {v}' for name, v in pairs)} occurs"
        news = [pair for i, pair in enumerate(pairs) if not self._knows(i, value[i])]
        if news:
            what = f"column {news[0][0]!r} has the value {news[0][1]}"
        rows = "1 row" if n_rows == 1 else f"{n_rows} rows"
        others = f" (and {n_values - 1} other unknown values)" if n_values > 1 else ""
        return f"{what}, which was not there when the codebook was made{others}: {rows}"

    def _knows(self, i: int, value: Any) -> bool:
        """Whether a public column has had this value, or has a group for it."""
        if self.columns:
            return any(holds(group, value) for group in self.columns[i].groups)
        return any(known[i] == value for known in self.values)

    def stands_for(self, label: str) -> tuple[str, ...]:
        """What a symbol stands for, in words, per public column.

        The set or range of its values; of a soft code, whose symbols any value may be released as,
        only what is typical, because the sets would tell who differs in S.
        """
        place = self._place_of[label]
        symbol = self.symbols[place]
        if symbol.stands_for is not None:
            return symbol.stands_for
        if symbol.cells is not None:
            pairs = zip(self.columns, symbol.cells, strict=True)
            return tuple(column.groups[g].label for column, g in pairs)
        members = self.members[place]
        columns = zip(self.roles.public, zip(*members, strict=True), strict=True)
        return tuple(stands_for(column, values) for column, values in columns)

    def decode(self, label: str, column: str | None = None) -> Decoded:
        """What a released label stands for: how many records, and each value with its share of them.

        A symbol stands for combinations of the public columns, or with ``column`` for values of that
        one; a group of a readable release is one of a ``column``.

        >>> import pandas as pd, privacyfunnel as pf
        >>> from privacyfunnel.tables import count
        >>> table = pd.DataFrame({"sick": [0, 1, 1, 0], "age": [31, 31, 33, 58]})
        >>> counted = count(table, "sick", "age")
        >>> solution = pf.solve(counted.joint(), pf.Funnel(0.0), recoding="global")
        >>> book = Codebook.from_solution(counted.joint(), solution, counted.roles)
        >>> found = book.decode(book.encode(31), "age")
        >>> found.count, found.values, found.mean
        (4, ((31, 0.5), (33, 0.25), (58, 0.25)), 38.25)
        """
        return decode(self, label, column)

    def to_sql(
        self,
        dialect: str = "duckdb",
        *,
        table: str | Sequence[str] = "table",
        keep: Sequence[str] = (),
        numbers: str = "label",
        unseen: str = "suppress",
        key: str | None = None,
        has_sensitive: bool = False,
    ) -> str:
        """One statement that gives a table's rows as they are released, for a warehouse to run.

        ``dialect`` is duckdb, sqlite, postgres, spark, bigquery or snowflake; ``table`` the table's name,
        or its parts (``["schema", "table"]``); ``keep`` and ``numbers`` are as in ``write_release``.
        Values that the codebook does not know are suppressed, or with ``unseen="null"`` NULL, which a
        NOT NULL constraint then refuses: a statement cannot end in an error. A soft code draws by the
        column ``key``. ``has_sensitive``: where records with a missing value are left out, whether the
        table has the sensitive columns, which count for that.

        >>> import pandas as pd, privacyfunnel as pf
        >>> from privacyfunnel.tables import count
        >>> table = pd.DataFrame({"sick": [0, 1, 1, 0], "city": ["Bonn", "Rom", "Rom", "Pisa"]})
        >>> counted = count(table, "sick", "city")
        >>> solution = pf.solve(counted.joint(), pf.Funnel(0.4), method="exhaustive")
        >>> book = Codebook.from_solution(counted.joint(), solution, counted.roles)
        >>> "LEFT JOIN" in book.to_sql("postgres", table="people"), "CASE" in book.to_sql("sqlite")
        (False, True)
        """
        from privacyfunnel.codebook.exports.sql import to_sql

        return to_sql(
            self, dialect, table, keep=keep, numbers=numbers, unseen=unseen, key=key,
            has_sensitive=has_sensitive,
        )  # fmt: skip

    def to_dbt(self, dialect: str = "duckdb", **options: Any) -> dict[str, str]:
        """The files of a dbt project, by path: the model of :meth:`to_sql` and seeds that it looks up."""
        from privacyfunnel.codebook.exports.dbt import to_dbt

        return to_dbt(self, dialect, **options)

    def to_arx(self) -> dict[str, str]:
        """The groups of each public column as hierarchy files of ARX's, by the files' names."""
        from privacyfunnel.codebook.exports.arx import to_arx

        return to_arx(self)

    def to_csv(self) -> str:
        """A csv with a line for each value of each group or symbol, its records and its share."""
        from privacyfunnel.codebook.exports.listing import to_csv

        return to_csv(self)

    def public(self) -> Codebook:
        """The codebook without any statistic about S, without the seed and without the salt.

        The channel of a soft code was made to hide S and so tells of it: where nothing leaks,
        the equations between the two can be solved for the counts of S and X. It is left out, and
        with it the means to compute from a symbol how likely each value is; what stays is what each
        symbol typically stands for. A readable code is told by its groups, without the combinations
        of values that were in the table. Counts are those about X alone, none below the least count.
        """
        bare = tuple(Column(column.name, column.kind) for column in self.roles.sensitive)
        measured = {k: v for k, v in self.measured.items() if k not in SECRET}
        if self.soft or self.roles.is_shared:
            measured = {"utility": round(measured["utility"], COARSE)}
        hidden: dict[str, Any] = {"values": (), "rows": (), "counts": ()}
        if not self.soft and not self.columns:
            hidden = {"counts": public_counts(self)}
        return replace(
            self,
            roles=replace(self.roles, sensitive=bare),
            symbols=_coarse(self.symbols) if self.soft else self.symbols,
            target={k: v for k, v in self.target.items() if k not in SECRET},
            measured=measured,
            seed=None,
            salt=None,
            is_public=True,
            tallies=public_tallies(self) if self.tallies else (),
            **hidden,
        )

    def _repr_html_(self) -> str:
        kept = {name: f"{value:.1%}" for name, value in self.measured.items() if name == "utility"}
        facts = {
            "form": "soft symbols" if self.soft else self.recoding,
            "released symbols": f"{len(self.symbols):,}",
            "records": "weighted" if self.n_records is None else f"{self.n_records:,}",
        }
        if self.columns:
            rows = [
                (c.name, len(c.groups), in_short(g.label for g in c.groups)) for c in self.columns
            ]
            return card("Codebook", facts | kept, ("column", "groups", "released as"), rows)
        members = [in_short(" ".join(map(str, value)) for value in of) for of in self.members]
        lines = list(zip(self.labels, members, strict=True))
        return card("Codebook", facts | kept, ("released", "stands for"), lines)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the codebook as JSON, whole or not at all; a private one for its owner's eyes only."""
        from privacyfunnel.codebook.file import write

        write_text(path, write(self), force, is_private=not self.is_public)

    @classmethod
    def load(cls, path: str | Path) -> Codebook:
        """Read a codebook; one that cannot be verified is refused in one line."""
        from privacyfunnel.codebook.file import read

        return read(path)


def in_order(
    columns: Sequence[Column],
    values: Sequence[tuple[Any, ...]],
    rows: Sequence[Row],
    counts: Sequence[float | None],
) -> dict[str, Any]:
    """Values in the order in which tables are counted, each with its row and count, if any."""
    check_values(columns, values, counts)
    order = sorted(
        range(len(values)),
        key=lambda i: [c.rank(v) for c, v in zip(columns, values[i], strict=True)],
    )
    return {
        "values": tuple(values[i] for i in order),
        "rows": tuple(rows[i] for i in order),
        "counts": tuple(counts[i] for i in order) if counts else (),
    }


def _coarse(symbols: Sequence[Symbol]) -> tuple[Symbol, ...]:
    """The symbols with their probabilities in steps of a percent, or finer where they are many."""
    steps = max(10**COARSE, 4 * len(symbols))
    exact = np.array([symbol.probability for symbol in symbols]) * steps
    units = np.maximum(np.floor(exact), 1.0)
    while units.sum() < steps:
        units[np.argmax(exact - units)] += 1.0
    while units.sum() > steps:  # because none is told to be impossible
        units[np.argmax(units)] -= 1.0
    pairs = zip(symbols, (units / steps).tolist(), strict=True)
    return tuple(replace(symbol, probability=share) for symbol, share in pairs)


def _typical(
    columns: Sequence[Column],
    values: Sequence[tuple[Any, ...]],
    joint: Joint,
    code: Code,
    used: Any,
) -> list[tuple[str, ...]]:
    """For each symbol that is used, what is typical of it in each column, from p(x given x̂) alone."""
    weights = joined(joint, code).tocsc()
    found = []
    for j in used:
        places = weights.indices[weights.indptr[j] : weights.indptr[j + 1]]
        w = weights.data[weights.indptr[j] : weights.indptr[j + 1]].tolist()
        found.append(
            tuple(typical(c, [values[x][i] for x in places], w) for i, c in enumerate(columns))
        )
    return found


def _readable(joint: Joint, code: ColumnCode, used: Any) -> dict[str, Any]:
    """The groups of a readable code, their means, and those of each symbol that is used."""
    columns, cells = groups_in_use(code)
    n_groups = [len(column.groups) for column in columns]
    first = np.unique(code.labels, return_index=True)[1]
    return {
        "recoding": "global" if is_global(code, joint) else "local",
        "columns": columns,
        "means": mean_of_groups(joint, cells, n_groups, ~code.suppressed),
        "tallies": tally_columns(joint, cells, columns),
        "cells": [tuple(cells[first[j]].tolist()) for j in used],
    }


def _rows(code: Code, used: Any) -> tuple[Row, ...]:
    place = {int(j): i for i, j in enumerate(used)}
    matrix = code.matrix.sorted_indices()
    bounds = zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    cells = [(matrix.indices[a:b].tolist(), matrix.data[a:b].tolist()) for a, b in bounds]
    return tuple(tuple((place[j], p) for j, p in zip(*row, strict=True) if p > 0) for row in cells)


def _measured(joint: Joint, solution: Solution) -> dict[str, float]:
    return {
        "leakage": share(solution.leakage, joint.entropy_s),
        "leakage_bits": solution.leakage,
        "utility": share(solution.utility, joint.entropy_x),
        "utility_bits": solution.utility,
        "entropy_s_bits": joint.entropy_s,
        "entropy_x_bits": joint.entropy_x,
        "information_bits": joint.information,
    }


def _as_tuple(value: Any, n: int) -> tuple[Any, ...]:
    parts = (value,) if n == 1 and not isinstance(value, tuple) else tuple(value)
    if len(parts) != n:
        raise InvalidInput(f"a value of {n} public columns is needed, got {len(parts)}.")
    return tuple(part.item() if isinstance(part, np.generic) else part for part in parts)
