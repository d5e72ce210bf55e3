"""Hierarchies: which values of a column may be released as one, and the best cut of such a tree."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from privacyfunnel.codes import Group
from privacyfunnel.columns import known, known_places, show
from privacyfunnel.columns.missing import ABOVE
from privacyfunnel.errors import DataUnavailable, InvalidInput
from privacyfunnel.information import Array
from privacyfunnel.recodings.column_cells import ColumnCells, Ints
from privacyfunnel.recodings.cuts import cut_between, interval_label


@dataclass(frozen=True)
class Hierarchy:
    """A tree over the values of a column, given as the labels above each value up to a common top.

    >>> hierarchy = Hierarchy({"Bonn": ("Rhine", "*"), "Koeln": ("Rhine", "*"), "Rom": ("Tiber", "*")})
    >>> [group.label for group in hierarchy.tree(("Bonn", "Koeln", "Rom")).groups]
    ['Bonn', 'Koeln', 'Rom', 'Rhine', '*']
    """

    levels: Mapping[str, tuple[str, ...]]
    source: str = "the hierarchy"  # for messages

    def __post_init__(self) -> None:
        if not self.levels:
            raise InvalidInput(f"{self.source} is empty; give a line for each value.")
        depth = len(next(iter(self.levels.values())))
        above: dict[tuple[int, str], tuple[str, str]] = {}
        for value, labels in self.levels.items():
            if len(labels) != depth or depth == 0:
                raise InvalidInput(
                    f"{self.source} must have the same number of levels for all values, at least one; "
                    f"{value!r} has {len(labels)}, the first has {depth}."
                )
            for level, (label, parent) in enumerate(pairwise(labels)):
                known, first = above.setdefault((level, label), (parent, value))
                if known != parent:
                    raise InvalidInput(
                        f"{self.source} gives {label!r} two parents, {known!r} (at {first!r}) and "
                        f"{parent!r} (at {value!r}); a group lies within one larger group."
                    )
        tops = sorted({labels[-1] for labels in self.levels.values()})
        if len(tops) > 1:
            raise InvalidInput(
                f"{self.source} has no common top, but {', '.join(map(repr, tops[:3]))}; "
                "end every line with *."
            )

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Hierarchy:
        """From a file as ARX writes it: value;level 1;level 2;...;* on each line, no header.

        The separator is ``;``, a comma or a tab, whichever the first line has.
        """
        if not isinstance(path, str | PathLike):
            raise InvalidInput(
                "a hierarchy must be the path of its file or a Hierarchy({value: (group, ..., '*')}), "
                f"got a {type(path).__name__}."
            )
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise DataUnavailable(f"cannot read the hierarchy {path}: {error}.") from None
        head = text.split("\n", 1)[0]
        separator = next((mark for mark in ";,\t" if mark in head), ";")
        levels: dict[str, tuple[str, ...]] = {}
        for row in csv.reader(text.splitlines(), delimiter=separator):
            if not any(cell.strip() for cell in row):
                continue
            value, *labels = (cell.strip() for cell in row)
            if levels.setdefault(value, tuple(labels)) != tuple(labels):
                raise InvalidInput(f"{path} has two different lines for {value!r}; keep one.")
        return cls(levels, str(path))

    def tree(self, values: Sequence[Any]) -> Tree:
        """The tree over the values that a column holds; a missing value hangs from the top."""
        seen = {show(value) for value in values}
        absent = [value for value in known(values) if show(value) not in self.levels]
        if absent:
            raise InvalidInput(
                f"{self.source} lacks {len(absent)} of the values, such as "
                f"{', '.join(repr(show(value)) for value in absent[:3])}; add a line for each."
            )
        whole = all(isinstance(value, int) for value in known(values))
        typed: Callable[[str], Any] = int if whole else str
        members: dict[tuple[int, str], list[Any]] = {}  # unseen ones too, for rows that come later
        below: dict[tuple[int, str], list[int]] = {}
        for value, labels in self.levels.items():
            if value not in seen:
                try:
                    unseen = typed(value)
                except ValueError:
                    continue
                for level, label in enumerate(labels[:-1]):
                    members.setdefault((level, label), []).append(unseen)
        for v, value in enumerate(values):
            for level, label in enumerate(self.levels.get(show(value), ABOVE)[:-1]):
                members.setdefault((level, label), []).append(value)
                below.setdefault((level, label), []).append(v)
        keys = sorted(below, key=itemgetter(0))  # the lower levels first
        return Tree.of(values, [(below[key], Group(key[1], tuple(members[key]))) for key in keys])


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree over the values of one column: leaves first, children before parents, the root last.

    Node k holds the values ``order[low[k]:high[k]]`` and is released as ``groups[k]``; node v < n is
    value v alone, the last node is ``*``. A node with the same values as a lower one is left out.
    """

    groups: tuple[Group, ...]
    parent: Ints
    order: Ints
    low: Ints
    high: Ints
    exact = True  # `best` is optimal among all cuts of the tree

    @classmethod
    def of(cls, values: Sequence[Any], nodes: Sequence[tuple[Sequence[int], Group]] = ()) -> Tree:
        """From nested sets of positions of ``values``, smaller ones first where they are nested.

        Without any, a value is released as itself or as ``*``.
        """
        n = len(values)
        groups = [Group(show(value), (value,)) for value in values]
        inside = [[v] for v in range(n)]
        top = list(range(n))  # the highest node so far over each value
        children: dict[int, list[int]] = {}
        inner = [(members, group) for members, group in nodes if len(members) < n]
        whole = next((members for members, _ in nodes if len(members) == n), range(n))
        for members, group in [*inner, (whole, Group("*", tuple(values)))]:
            parts = list(dict.fromkeys(top[v] for v in members))
            if len(parts) == 1 and len(members) < n:
                continue  # the same values as a node below
            node = len(groups)
            groups.append(group)
            inside.append([v for part in parts for v in inside[part]])
            children[node] = parts
            for v in members:
                top[v] = node
        parent = np.full(len(groups), -1, dtype=np.int64)
        for node, parts in children.items():
            parent[parts] = node
        order = np.array(inside[-1], dtype=np.int64)
        place = np.empty(n, dtype=np.int64)
        place[order] = np.arange(n)
        low = np.array([place[members].min() for members in inside])
        high = low + np.array([len(members) for members in inside])
        return cls(distinct(groups), parent, order, low, high)

    @classmethod
    def of_order(cls, values: Sequence[Any], weights: Array, order: Sequence[int]) -> Tree:
        """A balanced binary tree of runs in the order given, as positions of the known values."""
        known = list(order)

        def group(low: int, high: int) -> Group:
            run = tuple(values[v] for v in known[low:high])
            return Group(run_label(run), run)

        return cls.of(values, _halves(known, weights, np.zeros(len(known) + 1), group))

    @classmethod
    def of_ranges(cls, values: Sequence[Any], weights: Array) -> Tree:
        """A balanced binary tree of ranges of numbers or dates, cut at round points, missing apart.

        >>> tree = Tree.of_ranges((17, 19, 20, 24, 31, 38), np.ones(6))
        >>> [group.label for group in tree.groups[6:]]
        ['20-29', 'under 20', '30 or more', 'under 30', '*']
        """
        known = known_places(values)
        ordered = [values[v] for v in known]
        pairs = pairwise(ordered)
        cuts = [(None, 0), *(cut_between(a, b) for a, b in pairs), (None, 0)]
        whole = all(isinstance(value, int) for value in ordered)

        def group(low: int, high: int) -> Group:
            members, bounds = tuple(ordered[low:high]), (cuts[low][0], cuts[high][0])
            return Group(interval_label(*bounds, members, whole=whole), members, *bounds)

        roundness = np.array([roundness for _, roundness in cuts], dtype=float)
        return cls.of(values, _halves(known, weights, roundness, group))

    @property
    def n_values(self) -> int:
        """Number of leaves."""
        return len(self.order)

    @cached_property
    def chains(self) -> list[list[int]]:
        """The nodes above each value, itself first and the root last."""
        found = []
        for v in range(self.n_values):
            chain = [v]
            while self.parent[chain[-1]] >= 0:
                chain.append(int(self.parent[chain[-1]]))
            found.append(chain)
        return found

    def best(self, cells: ColumnCells, start: Ints, rng: np.random.Generator) -> Ints:
        """The cheapest cut: the node that each value is released as. Exact, bottom up."""
        return self._cut(cells)[1]

    def within(
        self, cells: ColumnCells, bound: float, start: Ints, rng: np.random.Generator
    ) -> Ints | None:
        """The cheapest cut that loses at most ``bound`` bits; None if there is none."""
        price, nodes = self._cut(cells, bound)
        return None if np.isinf(price) else nodes

    def _cut(self, cells: ColumnCells, bound: float | None = None) -> tuple[float, Ints]:
        """The price of the cheapest cut, see `ColumnCells.cut`, and the node of each value."""
        from privacyfunnel._kernels.cells import cut_tree

        layout = self.low, self.high, self.parent
        price, bins, whole, part = cells.cut(cut_tree, self.order, layout, bound)
        nodes = np.empty(self.n_values, dtype=np.int64)
        children: dict[int, list[int]] = {}
        for node, up in enumerate(self.parent):
            children.setdefault(int(up), []).append(node)
        stack = [(len(self.parent) - 1, bins)]
        while stack:
            node, b = stack.pop()
            if node < self.n_values or whole[node, b]:
                nodes[self.order[self.low[node] : self.high[node]]] = node
                continue
            for child in reversed(children[node]):
                share = int(part[child, b]) if b else 0
                stack.append((child, share))
                b -= share
        return price, nodes

    def ends(self) -> tuple[Ints, Ints]:
        """The finest and the coarsest labels."""
        fine = np.arange(self.n_values)
        return fine, np.full(self.n_values, len(self.parent) - 1)

    @property
    def n_codes(self) -> int:
        """The number of cuts: of a node itself whole, or one cut of each of its parts."""
        parts = [1] * len(self.parent)
        for node, up in enumerate(self.parent[:-1]):
            parts[up] *= parts[node] + (node >= self.n_values)
        return parts[-1] + (len(self.parent) > self.n_values)

    def every(self) -> Iterator[Ints]:
        """All cuts."""
        # Of each node: value -> node that it is released as.
        found: dict[int, list[dict[int, int]]] = {}
        for node, up in enumerate(self.parent):
            inside = self.order[self.low[node] : self.high[node]].tolist()
            cuts = [*found.pop(node, []), dict.fromkeys(inside, node)]
            before = found.get(int(up), [{}])
            found[int(up)] = [{**a, **b} for a in before for b in cuts]
        for cut in found[-1]:
            yield np.array([cut[v] for v in range(self.n_values)], dtype=np.int64)

    @property
    def listing(self) -> Ints:
        """The values in the order in which their groups are listed."""
        return np.arange(self.n_values)

    def released(self, labels: Ints) -> tuple[Group, ...]:
        """The group of each value."""
        return tuple(self.groups[node] for node in labels)


def _halves(
    known: list[int], weights: Array, roundness: Array, group: Callable[[int, int], Group]
) -> list[tuple[list[int], Group]]:
    """Runs of a balanced binary tree, smaller ones first; of balanced cuts the roundest."""
    sums = np.concatenate([[0.0], np.cumsum(weights[known])])
    runs = [(0, len(known))]
    for low, high in runs:  # grows while it is walked
        if high - low > 1:
            at = np.arange(low + 1, high)
            left = (sums[at] - sums[low]) / (sums[high] - sums[low])
            balance = np.minimum(left, 1.0 - left)
            fair = balance >= min(0.3, balance.max())
            cut = int(max(at[fair], key=lambda i: (roundness[i], balance[i - low - 1])))
            runs += [(low, cut), (cut, high)]
    return [(known[low:high], group(low, high)) for low, high in reversed(runs) if high - low > 1]


def run_label(members: Sequence[Any]) -> str:
    """A run of ordered values in words.

    >>> run_label(("10th",)), run_label(("10th", "11th")), run_label(("9th", "10th", "11th"))
    ('10th', '10th or 11th', '9th to 11th')
    """
    first, last = show(members[0]), show(members[-1])
    if len(members) == 1:
        return first
    return f"{first} or {last}" if len(members) == 2 else f"{first} to {last}"


def distinct(groups: Sequence[Group]) -> tuple[Group, ...]:
    """The same groups, no two with one label; ``*`` is kept for the last.

    >>> [group.label for group in distinct([Group("a", (1,)), Group("*", (2,)), Group("*", (1, 2))])]
    ['a', '* (2)', '*']
    """
    taken = {groups[-1].label}
    found = []
    for group in groups[:-1]:
        label, again = group.label, 1
        while label in taken:
            again += 1
            label = f"{group.label} ({again})"
        taken.add(label)
        found.append(Group(label, group.members, group.low, group.high))
    return (*found, groups[-1])
