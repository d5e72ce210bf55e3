"""Receivers: how much those for whom a release is made can do with it, measured beside attackers.

p(x,x̂) -> each original column: how well it can be told; each pair: how much of their link is left
p(y,x̂) -> a column Y that was named: how well a classifier guesses it on records not learnt from
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp

from privacyfunnel.audits.attacks import Attack
from privacyfunnel.audits.features import gathered, numbered, parts_of
from privacyfunnel.columns import KINDS, Bins, Column, quantiles_of_counts
from privacyfunnel.information import Array, entropy, mutual_information, share

MOST_COLUMNS = 12  # of which pairs are compared
MOST_CELLS = 4_000_000  # of a pair's table


@dataclass(frozen=True)
class ToldColumn:
    """How well a receiver can tell one original column.

    ``kept`` is I(X_i;X̂)/H(X_i). ``error`` is the mean distance of a number from the best guess for its
    X̂, the median, and ``error_blind`` from that of all records; None where values are no numbers.
    """

    name: str
    kept: float
    error: float | None = None
    error_blind: float | None = None


@dataclass(frozen=True)
class LinkedPair:
    """How much of the link of two columns is left: I(X_i;X_j), and the share of it that X̂ gives back.

    Given X̂ alone a receiver takes the two for independent: q(a,b) = Σ_x̂ p(x̂) p(a given x̂) p(b given x̂).
    """

    first: str
    second: str
    bits: float
    kept: float


@dataclass(frozen=True)
class Receivers:
    """What receivers can do: column by column, pair by pair, and with a column Y that was named.

    ``uses`` are classifiers of Y from the published columns, ``uses_original`` from the original ones.
    """

    columns: tuple[ToldColumn, ...] = ()
    pairs: tuple[LinkedPair, ...] = ()
    uses: tuple[Attack, ...] = ()
    uses_original: tuple[Attack, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The same with stable keys."""
        uses = (("published", self.uses), ("original", self.uses_original))
        return {
            "columns": [asdict(column) for column in self.columns],
            "pairs": [asdict(pair) for pair in self.pairs],
            "uses": [{"sees": sees} | asdict(use) for sees, found in uses for use in found],
        }


def receive(
    p_xxhat: Any, values: Sequence[Any], columns: Sequence[Column]
) -> tuple[tuple[ToldColumn, ...], tuple[LinkedPair, ...]]:
    """Columns and pairs, from the joint ``p_xxhat[x, xhat]`` of original values and what is released.

    ``values[x]`` are the original columns' symbols: tuples, where they are several.

    >>> told, pairs = receive(np.eye(4) / 4, [(1, "a"), (1, "b"), (2, "a"), (2, "b")],
    ...     [Column("n", "integer"), Column("t", "text")])
    >>> [(column.name, column.kept, column.error, column.error_blind) for column in told]
    [('n', 1.0, 0.0, 0.5), ('t', 1.0, None, None)]
    """
    joint = sp.csr_array(p_xxhat)
    p_x = np.asarray(joint.sum(axis=1)).ravel()
    parts = parts_of(values, len(columns))
    codes, symbols = [numbered(part) for part in parts], [list(dict.fromkeys(p)) for p in parts]
    tables = [sp.csc_array(gathered(code, joint)) for code in codes]
    told = tuple(
        _told(column, table, known)
        for column, table, known in zip(columns, tables, symbols, strict=True)
    )
    pairs = []
    p_xhat = np.asarray(joint.sum(axis=0)).ravel()
    inverse = sp.diags_array(np.divide(1.0, p_xhat, out=np.zeros_like(p_xhat), where=p_xhat > 0))
    for i, j in combinations(range(min(len(columns), MOST_COLUMNS)), 2):
        if len(symbols[i]) * len(symbols[j]) > MOST_CELLS:
            continue
        true = mutual_information(sp.csr_array((p_x, (codes[i], codes[j]))))
        if true > 1e-9:
            left = mutual_information(sp.csr_array(tables[i] @ inverse @ tables[j].T))
            pairs.append(LinkedPair(columns[i].name, columns[j].name, true, min(1.0, left / true)))
    return told, tuple(pairs)


def _told(column: Column, table: sp.csc_array, values: Sequence[Any]) -> ToldColumn:
    p = np.asarray(table.sum(axis=1)).ravel()
    whole = entropy(p)
    kept = float(share(mutual_information(sp.csr_array(table)), whole)) if whole else 1.0
    if not KINDS[column.kind].is_numeric or isinstance(column.rule, Bins):
        return ToldColumn(column.name, kept)
    numbers = np.array([column.number(value) for value in values], dtype=float)
    known = np.isfinite(numbers)
    order = np.flatnonzero(known)[np.argsort(numbers[known], kind="stable")]
    rising, rows = numbers[order], sp.csc_array(table.tocsr()[order])
    if not len(rising):
        return ToldColumn(column.name, kept)
    total = float(p[order].sum())
    error = 0.0
    for k in range(rows.shape[1]):
        start, end = rows.indptr[k], rows.indptr[k + 1]
        error += _distance(rising[rows.indices[start:end]], rows.data[start:end])
    return ToldColumn(column.name, kept, error / total, _distance(rising, p[order]) / total)


def _distance(values: Array, weights: Array) -> float:
    """The weighted sum of distances of rising values to the median."""
    if not len(values):
        return 0.0
    [middle] = quantiles_of_counts(values.tolist(), weights, [0.5])
    return float(weights @ np.abs(values - middle))
