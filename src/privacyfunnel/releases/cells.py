"""Cells: what every released combination must have: people enough, and different sensitive values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privacyfunnel.audits.features import gathered, numbered, parts_of
from privacyfunnel.codes import Channel, Code, ColumnCode, Group, Partition, RecodedColumn, joined
from privacyfunnel.columns import Column
from privacyfunnel.errors import TargetUnreachable
from privacyfunnel.information import Array, plogp
from privacyfunnel.joint import Joint

ENOUGH = 1e-9  # of a person that rounding may take
NOT_EVEN_ALL = "even all records together lack what each released combination must have."


@dataclass(frozen=True, eq=False)
class CellRule:
    """No released combination stands for fewer people, or for fewer values of a sensitive column.

    ``people[x]`` counts those behind a value of X; the sum over a cell must be ``least``. Where rows
    are weighted these are the records, and of a person with several rows each counts for its share,
    so that the sum is never more than the people in the cell. ``diversity`` is the least number of
    different values in a cell, of each of the columns that are ``sensitive``.
    """

    people: Array
    least: float
    diversity: int
    sensitive: Sequence[Column]

    def applied(self, joint: Joint, code: Code) -> Code:
        """The code with cells put together, or suppressed, until none lacks anything.

        >>> joint = Joint.from_counts([[4, 0, 1, 3], [4, 2, 1, 3]])
        >>> rule = CellRule(np.array([8.0, 2.0, 2.0, 6.0]), 3.0, 2, [Column("s", "text")])
        >>> rule.applied(joint, Partition([0, 1, 2, 3])).labels
        array([0, 1, 1, 2])
        """
        cells = Cells.of(self, joint, code.matrix)
        if not cells.lacking(self).any():
            return code
        if isinstance(code, ColumnCode):
            return self._suppressed(joint, code, cells)
        return self._merged(joint, code, cells)

    def _merged(self, joint: Joint, code: Code, cells: Cells) -> Code:
        """Symbols that lack something, the smallest first, join the one that costs least of I(X;X̂).

        One with which nothing is lacking any more is preferred.
        """
        mass = np.asarray(joint.p_x @ code.matrix).ravel()
        z = None  # p(x,x̂) of a code by lot; the clusters of a hard one do not overlap
        if isinstance(code, Channel):
            z = joined(joint, code).toarray()
        owner, alive = np.arange(len(mass)), mass > 0
        while (lacking := np.flatnonzero(cells.lacking(self) & alive)).size:
            a = int(lacking[np.argmin(mass[lacking])])
            others = np.flatnonzero(alive & (np.arange(len(mass)) != a))
            if not len(others):
                raise TargetUnreachable(NOT_EVEN_ALL)
            cost = plogp(mass[others] + mass[a]) - plogp(mass[others]) - plogp(mass[a])
            if z is not None:
                both = plogp(z[:, others] + z[:, [a]]) - plogp(z[:, others]) - plogp(z[:, [a]])
                cost = cost - both.sum(axis=0)
            b = int(others[np.lexsort((cost, cells.lacking(self, a)[others]))[0]])
            mass[b], mass[a] = mass[b] + mass[a], 0.0
            if z is not None:
                z[:, b], z[:, a] = z[:, b] + z[:, a], 0.0
            cells.merge(a, b)
            alive[a] = False
            owner[owner == a] = b
        symbols = np.unique(owner, return_inverse=True)[1]
        if isinstance(code, Partition):
            return Partition(np.unique(symbols[code.labels], return_inverse=True)[1])
        into = sp.csr_array((np.ones(len(symbols)), (range(len(symbols)), symbols)))
        return Channel(code.matrix @ into)

    def _suppressed(self, joint: Joint, code: ColumnCode, cells: Cells) -> ColumnCode:
        """Cells that lack something become *, with the next smallest until * itself lacks nothing."""
        gone = cells.lacking(self)
        gone[np.unique(code.labels[code.suppressed])] = True
        for cell in np.argsort(cells.people, kind="stable"):
            together = sp.csr_array(gone[code.labels].astype(float)[:, None])
            if not Cells.of(self, joint, together).lacking(self)[0]:
                break
            if gone.all():
                raise TargetUnreachable(NOT_EVEN_ALL)
            gone[cell] = True
        hidden = gone[code.labels]
        columns, groups_of = [], code.cells.copy()
        for i, (column, public) in enumerate(zip(code.columns, joint.public, strict=True)):
            groups = column.groups
            if not any(group.label == "*" for group in groups):
                groups = (*groups, Group("*", public.values))
            groups_of[hidden, i] = [group.label for group in groups].index("*")
            columns.append(RecodedColumn(column.name, groups))
        return ColumnCode(columns, groups_of)


@dataclass(eq=False)
class Cells:
    """The people and the sensitive values of each released symbol, which may be put together."""

    people: Array
    values: list[NDArray[np.bool_]]  # [value of the sensitive column, symbol]

    @classmethod
    def of(cls, rule: CellRule, joint: Joint, matrix: sp.csr_array) -> Cells:
        """Those of p(x̂ given x); of a lot, the people on average."""
        values = []
        if rule.diversity > 1:
            p_sxhat = sp.csr_array(joint.counts @ matrix)
            for part in parts_of(joint.labels_s, len(rule.sensitive)):
                values.append(gathered(numbered(part), p_sxhat).toarray() > 0)
        return cls(np.asarray(rule.people @ matrix).ravel(), values)

    def lacking(self, rule: CellRule, a: int | None = None) -> NDArray[np.bool_]:
        """Which symbols have too few people or values; with ``a``, still would were it put to them."""
        people = self.people if a is None else self.people + self.people[a]
        few = people < rule.least - ENOUGH
        for there in self.values:
            together = there if a is None else there | there[:, [a]]
            few = few | (together.sum(axis=0) < rule.diversity)
        return np.asarray(few)

    def merge(self, a: int, b: int) -> None:
        """Put a to b; a is empty after that."""
        self.people[b] += self.people[a]
        self.people[a] = 0.0
        for there in self.values:
            there[:, b] |= there[:, a]
            there[:, a] = False
