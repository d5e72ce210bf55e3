"""Written file: its utility and leakage, measured from its own rows beside those of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from privacyfunnel.codebook.output import RELEASED, SUPPRESSED
from privacyfunnel.codes import Channel, Code, Partition
from privacyfunnel.columns import Column, Roles, required, where_complete
from privacyfunnel.columns.missing import WRITTEN
from privacyfunnel.information import entropy, mutual_information
from privacyfunnel.joint import Joint
from privacyfunnel.persons import Persons
from privacyfunnel.tables.encoding import combine_columns, encode_column
from privacyfunnel.tables.paths import read_paths
from privacyfunnel.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

    from privacyfunnel.codebook import Codebook

AGREE = 1e-9  # bits that the written file may differ from what the search has measured


class NotAsMeasured(RuntimeError):
    """The written file does not hold what the search has measured: a fault of ours."""


@dataclass(frozen=True)
class Measured:
    """What the rows of a release tell: I(S;X̂) and I(X;X̂) in bits."""

    columns: tuple[str, ...]  # of the file
    joint: Joint  # of S and the released labels, with the columns that are kept beside them
    unkept: Joint  # of S and the labels alone
    values_as: frozenset[tuple[Any, str]]  # values of X, each with a label it was released as
    utility_bits: float
    entropy_x_bits: float
    kept: tuple[str, ...] = ()  # the columns passed through that are measured
    persons: Persons | None = None  # whose rows those of the joint are
    beside: Joint | None = None  # of S and X with the kept columns, as they were in the table

    @property
    def public(self) -> list[Column]:
        """What the joint's labels are made of: the released symbol, then the columns that are kept."""
        return [Column(name, "text") for name in (RELEASED, *self.kept)]


def measure(
    table: Table,
    roles: Roles,
    path: Path,
    n_columns: int | None = None,
    kept: Sequence[str] = (),
    person: str | None = None,
) -> Measured:
    """Read a release beside the table it was made from, row by row, and measure it.

    Its first column is the label that each row is released as; of a readable release its first
    ``n_columns`` all together are. Its columns ``kept`` were passed through and are measured too. The
    table's column ``person`` says whose row it is.

    Nothing of the search is used: only S and X of the table's rows and the labels in the file, which
    are in the same order.
    """
    groups, columns = _group(table, roles, path, n_columns, kept, person)
    weights = groups["w"].to_numpy().astype(float)
    every = np.ones(len(weights), dtype=bool)
    codes = {
        name: encode_column(column, groups[f"k{i}"])
        for i, (name, column) in enumerate(roles.columns.items())
    }
    s, labels_s = combine_columns([codes[c.name] for c in roles.sensitive], every)
    x, values = combine_columns([codes[c.name] for c in roles.public], every)
    xhat, labels = encode_column(Column("released", "text"), groups["label"])
    if labels[-1] is None:
        raise RuntimeError("the written file has fewer rows than the table.")
    p_xxhat = _counts(x, xhat, weights / weights.sum())

    def with_s(codes: Any, labels_x: list[Any]) -> Joint:
        found = Joint.from_counts(_counts(s, codes, weights), labels_s, labels_x)
        # Whole weights are no count of records.
        return found if roles.weight is None else replace(found, n_records=None)

    unkept = with_s(xhat, labels)
    parts: dict[str, Any] = {"joint": unkept, "unkept": unkept, "kept": tuple(kept)}
    if kept:
        more = [encode_column(Column(name, "text"), groups[f"m{i}"]) for i, name in enumerate(kept)]
        out, out_labels = combine_columns([(xhat, labels), *more], every)
        as_it_was, was_labels = combine_columns([(x, values), *more], every)
        parts |= {"joint": with_s(out, out_labels), "beside": with_s(as_it_was, was_labels)}
    if person is not None:
        who, _ = encode_column(Column(person, "text"), groups["person"])
        parts["persons"] = Persons.of(who, s, out if kept else xhat, groups["n"].to_numpy())
    return Measured(
        columns=columns,
        **parts,
        values_as=frozenset((values[i], labels[j]) for i, j in zip(*p_xxhat.coords, strict=True)),
        utility_bits=mutual_information(p_xxhat),
        entropy_x_bits=entropy(np.asarray(p_xxhat.sum(axis=1)).ravel()),
    )


def with_kept(beside: Joint, joint: Joint, code: Code) -> Code:
    """A code over X as one over X and the kept columns, which it passes through.

    ``beside`` counts S and X with the kept columns, ``joint`` is what the code was made over.

    >>> from privacyfunnel.codes import Partition
    >>> beside = Joint.from_counts([[2, 1], [0, 1]], labels_x=[("a", "Rom"), ("b", "Bonn")])
    >>> joint = Joint.from_counts([[2, 1], [0, 1]], labels_x=["a", "b"])
    >>> with_kept(beside, joint, Partition([0, 0])).push(beside).counts.toarray().tolist()
    [[2.0, 1.0], [0.0, 1.0]]
    """
    place = {label: x for x, label in enumerate(joint.labels_x)}
    rows = [place[label[0]] for label in beside.labels_x]
    kept: dict[Any, int] = {}
    which = np.array([kept.setdefault(label[1:], len(kept)) for label in beside.labels_x])
    chosen = sp.coo_array(code.matrix.tocsr()[rows])
    pairs = which[chosen.row] * chosen.shape[1] + chosen.col
    used, columns = np.unique(pairs, return_inverse=True)
    if not isinstance(code, Channel):
        labels = np.empty(len(rows), dtype=np.int64)
        labels[chosen.row] = columns
        return Partition(labels)
    into = (chosen.data, (chosen.row, columns))
    return Channel(sp.csr_array(into, shape=(len(rows), len(used))))


def check_same(book: Codebook, measured: Measured) -> None:
    """A hard code's file has the very bits of the search; a soft one's only what may be drawn."""
    if book.soft:
        allowed = {
            (value, book.labels[j])
            for value, row in zip(book.labels_x, book.rows, strict=True)
            for j, _ in row
        }
        strange = [pair for pair in measured.values_as - allowed if pair[1] != SUPPRESSED]
        if strange:
            raise NotAsMeasured(
                f"the written file has {len(strange)} values under symbols that the codebook does "
                "not allow for them; nothing was released. Please report this."
            )
        return
    for name, found in (
        ("utility_bits", measured.utility_bits),
        ("leakage_bits", measured.unkept.information),
    ):
        if not abs(book.measured[name] - found) <= AGREE:
            raise NotAsMeasured(
                f"the written file has {name.replace('_bits', '')} {found!r} bits instead of "
                f"{book.measured[name]!r}; nothing was released. Please report this."
            )


def _counts(rows: Any, columns: Any, weights: Any) -> sp.coo_array:
    counts = sp.coo_array((weights, (rows, columns)))
    counts.sum_duplicates()
    return counts


def _group(
    table: Table,
    roles: Roles,
    path: Path,
    n_columns: int | None,
    kept: Sequence[str],
    person: str | None,
) -> tuple[pa.Table, tuple[str, ...]]:
    """Rows of the table and of the file side by side, grouped: keys k0, ..., label, m0, ..., n and w.

    With them come the names of the file's columns.
    """
    columns = list(roles.columns.values())
    keys = [f"k{i}" for i in range(len(columns))]
    select = [f"{c.sql(table.place(c.name))} AS {k}" for k, c in zip(keys, columns, strict=True)]
    needed = [column.name for column in columns]
    weight = "CAST(1 AS DOUBLE)"
    if roles.weight is not None:
        needed.append(roles.weight)
        weight = Column(roles.weight, "number").sql(table.place(roles.weight))
    if person is not None:
        needed.append(person)
        select.append(f"CAST({table.place(person)} AS VARCHAR) AS person")
    rows = f"SELECT {', '.join(select)}, {weight} AS w FROM funnel_rows"
    complete = where_complete(keys[columns.index(c)] for c in required(roles))
    if complete:
        rows = f"SELECT * FROM ({rows}){complete}"
    whose = [] if person is None else ["person"]
    by = ", ".join([*keys, *whose, "label", *(f"m{i}" for i in range(len(kept)))])
    with table.in_duckdb(needed, [path]) as con:
        con.execute("SET threads = 1")  # rows keep their order
        written = read_paths(con, path, {}, missing=[WRITTEN])
        names = ", ".join(f"f{i}" for i in range(len(written.names)))
        label = "CAST(f0 AS VARCHAR)"
        if n_columns is not None:
            parts = ", ".join(f"CAST(f{i} AS VARCHAR)" for i in range(n_columns))
            label = f"CAST(to_json([{parts}]) AS VARCHAR)"
        places = [len(written.names) - 1 - written.names[::-1].index(name) for name in kept]
        more = "".join(f", CAST(f{j} AS VARCHAR) AS m{i}" for i, j in enumerate(places))
        file = f"SELECT {label} AS label{more} FROM {written.sql} AS s({names})"
        side_by_side = f"(({rows}) AS r POSITIONAL JOIN ({file}) AS f)"
        sql = f"SELECT {by}, count(*) AS n, sum(w) AS w FROM {side_by_side} GROUP BY {by}"
        return con.sql(sql).to_arrow_table(), written.names
