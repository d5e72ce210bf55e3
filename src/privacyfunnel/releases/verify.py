"""Verify: utility and leakage of a written file, from its own rows beside those of the table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from privacyfunnel.columns import Column, Roles
from privacyfunnel.information import entropy, mutual_information
from privacyfunnel.joint import Joint
from privacyfunnel.metrics import best_guess
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
    """What the rows of a release tell: I(S;X̂) and I(X;X̂) in bits, and how often a guess is right."""

    columns: tuple[str, ...]  # of the file
    joint: Joint  # of S and the released labels
    values_as: frozenset[
        tuple[Any, str]
    ]  # the values of X, each with the labels it was released as
    utility_bits: float
    entropy_x_bits: float

    @property
    def leakage_bits(self) -> float:
        """I(S;X̂)."""
        return self.joint.information

    @property
    def entropy_s_bits(self) -> float:
        """H(S)."""
        return self.joint.entropy_s

    @property
    def guess(self) -> float:
        """How often the best guess of S from X̂ is right."""
        return best_guess(self.joint)


def measure(table: Table, roles: Roles, path: Path, n_columns: int | None = None) -> Measured:
    """Read a release beside the table it was made from, row by row, and measure it.

    Its first column is the label that each row is released as; of a readable release its first
    ``n_columns`` all together are.

    Nothing of the search is used: only S and X of the table's rows and the labels in the file, which
    are in the same order.
    """
    groups, columns = _group(table, roles, path, n_columns)
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
    return Measured(
        columns=columns,
        joint=Joint.from_counts(_counts(s, xhat, weights), labels_s=labels_s, labels_x=labels),
        values_as=frozenset((values[i], labels[j]) for i, j in zip(*p_xxhat.coords, strict=True)),
        utility_bits=mutual_information(p_xxhat),
        entropy_x_bits=entropy(np.asarray(p_xxhat.sum(axis=1)).ravel()),
    )


def check_same(book: Codebook, measured: Measured) -> None:
    """A hard code's file has the very bits of the search; a soft one's only what may be drawn."""
    if book.soft:
        strange = measured.values_as - _possible(book)
        if strange:
            raise NotAsMeasured(
                f"the written file has {len(strange)} values under symbols that the codebook does "
                "not allow for them; nothing was released. Please report this."
            )
        return
    for name, found in (
        ("utility_bits", measured.utility_bits),
        ("leakage_bits", measured.leakage_bits),
    ):
        if not abs(book.measured[name] - found) <= AGREE:
            raise NotAsMeasured(
                f"the written file has {name.replace('_bits', '')} {found!r} bits instead of "
                f"{book.measured[name]!r}; nothing was released. Please report this."
            )


def _possible(book: Codebook) -> set[tuple[Any, str]]:
    """Every value of X with each label that it may be released as."""
    one = len(book.roles.public) == 1
    return {
        (value[0] if one else value, book.labels[j])
        for value, row in zip(book.values, book.rows, strict=True)
        for j, _ in row
    }


def _counts(rows: Any, columns: Any, weights: Any) -> sp.coo_array:
    counts = sp.coo_array((weights, (rows, columns)))
    counts.sum_duplicates()
    return counts


def _group(
    table: Table, roles: Roles, path: Path, n_columns: int | None
) -> tuple[pa.Table, tuple[str, ...]]:
    """Rows of the table and of the file side by side, grouped: keys k0, ..., label, n and w.

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
    rows = f"SELECT {', '.join(select)}, {weight} AS w FROM funnel_rows"
    if roles.missing == "drop":
        known = " AND ".join(f"{k} IS NOT NULL" for k in keys)
        rows = f"SELECT * FROM ({rows}) WHERE {known}"
    by = ", ".join([*keys, "label"])
    with table.in_duckdb(needed, [path]) as con:
        con.execute("SET threads = 1")  # rows keep their order
        written = read_paths(con, path, {})
        names = ", ".join(f"f{i}" for i in range(len(written.names)))
        label = "CAST(f0 AS VARCHAR)"
        if n_columns is not None:
            parts = ", ".join(f"CAST(f{i} AS VARCHAR)" for i in range(n_columns))
            label = f"CAST(to_json([{parts}]) AS VARCHAR)"
        file = f"SELECT {label} AS label FROM {written.sql} AS s({names})"
        side_by_side = f"(({rows}) AS r POSITIONAL JOIN ({file}) AS f)"
        sql = f"SELECT {by}, count(*) AS n, sum(w) AS w FROM {side_by_side} GROUP BY {by}"
        return con.sql(sql).to_arrow_table(), written.names
