"""Recoded rows: the groups that stand in each column for a row, whether it was fitted or is new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.codes import ColumnCode, Group, RecodedColumn
from privacyfunnel.columns import Bins, Column
from privacyfunnel.errors import InvalidInput
from privacyfunnel.estimators.alphabet import Alphabet, Value
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import Funnel
from privacyfunnel.recodings import RecodedSolution, make_recoding
from privacyfunnel.solvers.effort import LOCAL_MOVES, check_effort

CELLS = 20_000_000  # rows times released combinations that are compared at once


def search_recoding(
    joint: Joint,
    alphabet: Alphabet,
    kind: str,
    target: Mapping[str, float],
    *,
    effort: str,
    min_count: int,
    settings: Mapping[str, Any],
    seed: int,
) -> RecodedSolution:
    """The readable code for one target: kept, leakage (a share of H(S)) or lam.

    Binned columns keep the order of their bins; a run of them is named as one interval.
    """
    check_effort(effort)
    orders = {
        column.name: list(column.rule.places)
        for column in alphabet.columns
        if isinstance(column.rule, Bins)
    }
    both = sorted(set(orders) & {name for given in settings.values() for name in given or ()})
    if both and both != [name for name in both if name in (settings.get("importance") or {})]:
        raise InvalidInput(f"{both[0]!r} is binned and has a recoding of its own; leave one out.")
    options = {name: dict(given) for name, given in settings.items() if given}
    options["orders"] = {**orders, **options.get("orders", {})}
    recoding = make_recoding(kind, min_count=min_count, moves=LOCAL_MOVES[effort], **options)
    rng = np.random.default_rng(seed)
    if "lam" in target:
        found = recoding.on(joint).best(Funnel(target["lam"]), rng)
    elif "leakage" in target:
        found = recoding.on(joint).at(rng, leakage=target["leakage"] * joint.entropy_s)
    else:
        found = recoding.on(joint).at(rng, kept=target["kept"])
    code = found.code
    assert isinstance(code, ColumnCode)
    columns = [
        _in_intervals(column, recoded)
        for column, recoded in zip(alphabet.columns, code.columns, strict=True)
    ]
    return replace(found, code=ColumnCode(columns, code.cells))


def _in_intervals(column: Column, recoded: RecodedColumn) -> RecodedColumn:
    """Runs of bins named as one interval each."""
    if not isinstance(column.rule, Bins):
        return recoded
    rule, groups = column.rule, []
    bounds = [None, *rule.edges, None]
    for group in recoded.groups:
        bins = sorted(rule.raw(label) for label in group.members if label is not None)
        if group.label == "*" or not bins or None in group.members:
            groups.append(group)
            continue
        low, high = bounds[bins[0]], bounds[bins[-1] + 1]
        edges = tuple(edge for edge in (low, high) if edge is not None)
        label = Bins(edges).label(int(low is not None)) if edges else "not missing"
        groups.append(Group(label, group.members))  # bins are its members; numbers fall into them
    return RecodedColumn(recoded.name, tuple(groups))


@dataclass(frozen=True, eq=False)
class RecodedRows:
    """What rows are released as: fitted values by the code, new ones by what is true of them.

    A new value of X is released as the least general combination that was released and that covers
    it: a number in its interval, a category among its group. In a global recoding without a least
    count the columns are looked up one by one instead.
    """

    code: ColumnCode
    places: Mapping[Value, int]  # of the fitted values among the code's x
    one_by_one: bool

    @classmethod
    def of(cls, values: Sequence[Value], code: ColumnCode, *, one_by_one: bool) -> RecodedRows:
        """From the values of X in the code's order."""
        return cls(code, {value: x for x, value in enumerate(values)}, one_by_one)

    def labels(self, values: Sequence[Value]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The labels of each value, shape ``[value, column]``, and which are covered in full.

        What is not covered is ``*``: nothing is said about it.
        """
        names = [np.array([g.label for g in c.groups], dtype=object) for c in self.code.columns]
        found = np.full((len(values), len(names)), -1, dtype=np.int64)
        new = []
        for row, value in enumerate(values):
            if value in self.places:
                found[row] = self.code.cells[self.places[value]]
            else:
                new.append(row)
        if new:
            found[new] = self._new([values[row] for row in new])
        covered = np.asarray((found >= 0).all(axis=1))
        text = [np.where(found[:, i] >= 0, name[found[:, i]], "*") for i, name in enumerate(names)]
        return np.column_stack(text), covered

    def symbols(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """The released symbol of each row of labels; −1 for a combination that was not released."""
        known = {released: j for j, released in enumerate(self.code.released)}
        return np.array([known.get(tuple(row), -1) for row in labels], dtype=np.int64)

    def _new(self, values: Sequence[Value]) -> NDArray[np.int64]:
        """The groups of values that were not fitted; −1 where nothing covers them."""
        columns = self.code.columns
        parts, covers = [], []
        for i, column in enumerate(columns):
            known = dict.fromkeys(value[i] for value in values)
            distinct = {part: place for place, part in enumerate(known)}
            parts.append(np.array([distinct[value[i]] for value in values]))
            covers.append(np.array([[_holds(g, part) for g in column.groups] for part in distinct]))
        if self.one_by_one:
            return np.column_stack(
                [_least_general(c, columns[i])[parts[i]] for i, c in enumerate(covers)]
            )
        cells = np.unique(self.code.cells, axis=0)
        general = sum(_sizes(column)[cells[:, i]] for i, column in enumerate(columns))
        cells = cells[np.argsort(general, kind="stable")]
        found = np.full((len(values), len(columns)), -1, dtype=np.int64)
        step = max(1, CELLS // len(cells))
        for start in range(0, len(values), step):
            fits = np.ones((len(values[start : start + step]), len(cells)), dtype=bool)
            for i, cover in enumerate(covers):
                fits &= cover[parts[i][start : start + step]][:, cells[:, i]]
            first, any_fits = fits.argmax(axis=1), fits.any(axis=1)
            found[start : start + step][any_fits] = cells[first[any_fits]]
        return found


def _sizes(column: RecodedColumn) -> NDArray[np.float64]:
    """How general each group is: the logarithm of its number of values; ``*`` is the most."""
    most = len({value for group in column.groups for value in group.members}) + 1
    sizes = [most if g.label == "*" else max(1, len(g.members)) for g in column.groups]
    return np.asarray(np.log(sizes))


def _least_general(covers: NDArray[np.bool_], column: RecodedColumn) -> NDArray[np.int64]:
    """Of the groups that cover each value the smallest; −1 where there is none."""
    sizes = np.where(covers, _sizes(column), np.inf)
    return np.where(covers.any(axis=1), sizes.argmin(axis=1), -1)


def _holds(group: Group, value: Any) -> bool:
    """Whether what a group's label says is true of a value."""
    if group.label == "*" or value in group.members:
        return True
    bounded = group.low is not None or group.high is not None
    if value is None or isinstance(value, str) or not bounded or len(group.members) < 2:
        return False  # a bin or a category is among the members; one value is called by itself
    return bool(
        (group.low is None or group.low <= value) and (group.high is None or value < group.high)
    )
