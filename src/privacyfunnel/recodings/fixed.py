"""Fixed: a column whose groups are given by hand; the search goes around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from privacyfunnel.codes import Group
from privacyfunnel.columns import show
from privacyfunnel.columns.missing import is_beside_runs
from privacyfunnel.errors import InvalidInput
from privacyfunnel.recodings.column_cells import ColumnCells, Ints, lost_bits
from privacyfunnel.recodings.cuts import is_ordered
from privacyfunnel.recodings.groups import Groups
from privacyfunnel.recodings.hierarchy import Tree, distinct
from privacyfunnel.recodings.intervals import Intervals
from privacyfunnel.solvers.target import stays_within


@dataclass(frozen=True, eq=False)
class Fixed:
    """What a column becomes where it was said which values go together: exactly these groups.

    >>> jobs = Fixed.of("job", ("clerk", "cook", "nurse"), [["cook", "nurse"]])
    >>> [group.label for group in jobs.released(jobs.labels)]
    ['clerk', 'cook or nurse', 'cook or nurse']
    >>> ages = Fixed.of("age", (17, 18, 40), [18])
    >>> [group.label for group in ages.released(ages.labels)]
    ['17', '18 or more', '18 or more']
    """

    labels: Ints
    groups: tuple[Group, ...]  # of each value
    listing: Ints  # the values in the order in which their groups are listed
    exact = True

    @classmethod
    def of(
        cls,
        name: str,
        values: Sequence[Any],
        given: Sequence[Any],
        *,
        order: Sequence[int] | None = None,
        tree: Tree | None = None,
    ) -> Fixed:
        """From the points between groups of numbers or dates, or from lists of the other values.

        A value that no list names stays by itself. Runs in the ``order`` of the column are called as
        such, and the nodes of its ``tree`` by their names.
        """
        if is_ordered(values) and order is None and tree is None:
            if any(isinstance(point, list | tuple | str) for point in given):
                raise InvalidInput(
                    f"column {name!r} holds numbers or dates: its groups are given by the points "
                    f"between them, such as [18, 65]; got {given[0]!r}."
                )
            cut = Intervals.of_numbers(values, cuts=given)
            fine, coarse = cut.ends()
            labels = fine if np.isfinite(cut.rough).any() else coarse  # no cut: all is one, *
            return cls(labels, cut.released(labels), cut.listing)
        lists = [part if isinstance(part, list | tuple) else [part] for part in given]
        if lists and not any(isinstance(part, list | tuple) for part in given):
            lists = [list(given)]  # one group
        labels = _labels(name, values, lists)
        if order is not None and _are_runs(labels, list(order)):
            runs = Intervals.of_order(values, order)
            return cls(labels, runs.released(labels), runs.listing)
        free = Groups(tuple(values))
        found = free.released(labels)
        named = found if tree is None else _by_nodes(found, tree, labels)
        return cls(labels, named, free.listing)

    def best(self, cells: ColumnCells, start: Ints, rng: np.random.Generator) -> Ints:
        """The groups that were given."""
        return self.labels

    def within(
        self, cells: ColumnCells, bound: float, start: Ints, rng: np.random.Generator
    ) -> Ints | None:
        """The groups that were given, if they lose at most ``bound`` bits."""
        lost = lost_bits(self.labels, cells.shares)
        return self.labels if stays_within(lost, bound) else None

    def ends(self) -> tuple[Ints, Ints]:
        """The finest and the coarsest labels, which are the same."""
        return self.labels, self.labels

    @property
    def n_codes(self) -> int:
        """One."""
        return 1

    def every(self) -> Iterator[Ints]:
        """The groups that were given."""
        yield self.labels

    def released(self, labels: Ints) -> tuple[Group, ...]:
        """The group of each value."""
        return self.groups


def check_named(named: Mapping[str, Sequence[Any]], values: Mapping[str, Sequence[Any]]) -> None:
    """Refuse groups that name a value which no record has: it is misspelt.

    >>> check_named({"job": [["cook", "nurze"]]}, {"job": ("cook", "nurse")})
    Traceback (most recent call last):
    privacyfunnel.errors.InvalidInput: groups of 'job' name 'nurze', which no record has.
    """
    for name, given in named.items():
        known = {*values.get(name, ()), *map(show, values.get(name, ()))}
        for part in given if not is_ordered(values.get(name, ())) else ():
            for value in part if isinstance(part, list | tuple) else [part]:
                if value not in known and show(value) not in known:
                    raise InvalidInput(f"groups of {name!r} name {value!r}, which no record has.")


def _labels(name: str, values: Sequence[Any], lists: Sequence[Sequence[Any]]) -> Ints:
    """A number for each value: the first place of its group."""
    place = {show(value): v for v, value in enumerate(values)} | {
        v: i for i, v in enumerate(values)
    }
    labels, taken = np.arange(len(values)), set[int]()
    for members in lists:
        found = [place.get(value, place.get(show(value))) for value in members]
        here = [v for v in found if v is not None]  # some records may not have all values
        again = taken.intersection(here)
        if again or len(set(here)) < len(here):
            twice = next(iter(again), here[0])
            raise InvalidInput(
                f"groups of {name!r} name {show(values[twice])!r} twice; put it in one."
            )
        taken.update(here)
        if here:
            labels[here] = min(here)
    return labels


def _are_runs(labels: Ints, order: list[int]) -> bool:
    """Whether equal labels stand side by side in the order, and a missing value where it may."""
    runs = labels[order]
    side_by_side = int(np.count_nonzero(np.diff(runs))) + 1 == len(np.unique(runs))
    return side_by_side and is_beside_runs(labels, order)


def _by_nodes(found: Sequence[Group], tree: Tree, labels: Ints) -> tuple[Group, ...]:
    """The groups of each value, a node's by its name."""
    nodes = {
        frozenset(tree.order[low:high].tolist()): group
        for low, high, group in zip(tree.low, tree.high, tree.groups, strict=True)
    }
    named = {
        int(label): nodes.get(frozenset(np.flatnonzero(labels == label).tolist()), found[label])
        for label in np.unique(labels)
    }
    star = Group("*", ())  # which no group of some values is called
    names = distinct([*named.values(), star])[:-1] if len(named) > 1 else tuple(named.values())
    own = dict(zip(named, names, strict=True))
    return tuple(own[int(label)] for label in labels)
