"""Recodings, slow and obvious: every cut, every tree cut, every partition, every product of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import log2

import numpy as np

import reference
from privacyfunnel import Joint
from privacyfunnel.measures import Measure


def partitions(items: list) -> Iterator[list[list]]:
    """All partitions of a list."""
    if not items:
        yield []
        return
    first, *rest = items
    for smaller in partitions(rest):
        yield [[first], *smaller]
        for i, part in enumerate(smaller):
            yield [*smaller[:i], [first, *part], *smaller[i + 1 :]]


def interval_cuts(items: list) -> Iterator[list[list]]:
    """All ways to cut a list into runs."""
    for marks in itertools.product([False, True], repeat=len(items) - 1):
        runs = [[items[0]]]
        for mark, item in zip(marks, items[1:], strict=True):
            if mark:
                runs.append([item])
            else:
                runs[-1].append(item)
        yield runs


def tree_cuts(children: dict, leaves: dict, node) -> Iterator[list[list]]:
    """All cuts of the tree below a node: itself whole, or cuts of all its children."""
    yield [leaves[node]]
    if children.get(node):
        for choice in itertools.product(
            *(list(tree_cuts(children, leaves, child)) for child in children[node])
        ):
            yield [part for cut in choice for part in cut]


def measure(joint: Joint, cells: list[tuple], groups: list[dict], weights=None) -> tuple:
    """Leakage in bits and the share kept of a code: ``cells[x]`` are the groups that x is released in.

    ``groups[i]`` gives the values of each group of column i.
    """
    counts, total = joint.counts.toarray(), joint.total
    weights = weights or [1.0] * len(joint.public)
    sums: dict[tuple, dict[int, float]] = {}
    for x, cell in enumerate(cells):
        for s in range(joint.n_s):
            if counts[s, x]:
                row = sums.setdefault(cell, {})
                row[s] = row.get(s, 0.0) + counts[s, x]
    of_s = counts.sum(axis=1)
    leakage = 0.0
    for row in sums.values():
        mass = sum(row.values())
        for s, weight in row.items():
            leakage += weight / total * log2(weight * total / (mass * of_s[s]))
    kept, norm = 0.0, 0.0
    for i, column in enumerate(joint.public):
        share = dict.fromkeys(column.values, 0.0)
        for x in range(joint.n_x):
            share[column.values[column.codes[x]]] += counts[:, x].sum() / total
        whole = -sum(p * log2(p) for p in share.values())
        if whole < 1e-12:
            continue
        norm += weights[i]
        lost = 0.0
        for x, cell in enumerate(cells):
            p_group = sum(share[value] for value in groups[i][cell[i]])
            p_value = share[column.values[column.codes[x]]]
            lost += counts[:, x].sum() / total * log2(p_group / p_value)
        kept += weights[i] * (1.0 - lost / whole)
    return leakage, kept / norm


def global_measure(joint: Joint, choice: list[list[list]], weights=None) -> tuple:
    """Leakage and share kept of one partition of each column's values."""
    of_value = [{value: k for k, part in enumerate(parts) for value in part} for parts in choice]
    cells = [
        tuple(of_value[i][c.values[c.codes[x]]] for i, c in enumerate(joint.public))
        for x in range(joint.n_x)
    ]
    return measure(joint, cells, [dict(enumerate(parts)) for parts in choice], weights)


def global_told(joint: Joint, choice: list[list[list]], measure: Measure) -> float:
    """What one partition of each column's values tells about S, by the definition of the measure."""
    of_value = [{value: k for k, part in enumerate(parts) for value in part} for parts in choice]
    sums: dict[tuple, np.ndarray] = {}
    for x in range(joint.n_x):
        cell = tuple(of_value[i][c.values[c.codes[x]]] for i, c in enumerate(joint.public))
        sums[cell] = sums.get(cell, 0.0) + joint.p_sx.toarray()[:, x]
    told = reference.measure(measure.name, np.array(list(sums.values())).T, measure.order)
    return measure.amount(told, joint.p_s)
