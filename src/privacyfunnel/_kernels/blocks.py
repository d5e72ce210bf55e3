"""Moves inside small blocks of clusters: what a search over a large alphabet is made of.

A price is a sum over clusters, ``price · (G, F)`` as in `_kernels.moves`, so clusters that are dealt
out to blocks can be rearranged block by block, in any order and at the same time, and what one block
gains the whole gains. A cluster's members are ``members[starts[c]:starts[c + 1]]``; block b holds the
clusters ``clusters[bounds[b]:bounds[b + 1]]``. Nothing here is larger than the nonzeros or a block.

A cluster of very many symbols can hardly be met in one block, so the heaviest may be hubs: they are
the whole of block 0, and a copy of them stands in every other block, to be joined but not left.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from privacyfunnel._kernels.clusters import close_slot, put, shift
from privacyfunnel._kernels.eta import eta_of

MANY = 1 << 40  # members of a hub, seen from another block


@njit(cache=True, nogil=True)
def members_of(labels, n_clusters):
    """Symbols sorted by cluster, and where each cluster starts."""
    starts = np.zeros(n_clusters + 1, dtype=np.int64)
    for x in range(labels.size):
        starts[labels[x] + 1] += 1
    for c in range(n_clusters):
        starts[c + 1] += starts[c]
    place, members = starts[:-1].copy(), np.empty(labels.size, dtype=np.int64)
    for x in range(labels.size):
        members[place[labels[x]]] = x
        place[labels[x]] += 1
    return members, starts


@njit(cache=True, nogil=True)
def fill_groups(masses, least):
    """Numbers of groups that are closed as soon as they weigh ``least``; a light rest joins the last."""
    labels, group, mass = np.empty(masses.size, dtype=np.int64), 0, 0.0
    for k in range(masses.size):
        labels[k] = group
        mass += masses[k]
        if mass >= least:
            group, mass = group + 1, 0.0
    if mass > 0.0 and group > 0:
        labels[labels == group] = group - 1
    return labels


@njit(cache=True, nogil=True)
def _price_slots(columns, x, mass, home, n_slots, table, price, sums, masses, cost):
    """What it costs to move x from ``home`` to each slot."""
    indptr, indices, data, _ = columns
    out = price[1] * (eta_of(masses[home] - mass, table) - eta_of(masses[home], table))
    for cell in range(indptr[x], indptr[x + 1]):
        here = sums[indices[cell], home]
        out += price[0] * (eta_of(here - data[cell], table) - eta_of(here, table))
    for c in range(n_slots):
        cost[c] = out + price[1] * (eta_of(masses[c] + mass, table) - eta_of(masses[c], table))
    for cell in range(indptr[x], indptr[x + 1]):
        row, weight = sums[indices[cell]], data[cell]
        for c in range(n_slots):
            cost[c] += price[0] * (eta_of(row[c] + weight, table) - eta_of(row[c], table))
    cost[home] = 0.0


@njit(cache=True, nogil=True)
def _pick(cost, n_slots, home, temperature, tol, rng):
    """The cheapest slot; at a temperature any whose cost is within a random excess of it.

    The excess is exponential with mean T: one logarithm, where a heat bath takes one for each slot.
    """
    lowest = cost[0]
    for c in range(1, n_slots):
        lowest = min(lowest, cost[c])
    if temperature <= 0.0 and lowest >= -tol:
        return home
    top = lowest
    if temperature > 0.0:
        top -= temperature * math.log(1.0 - rng.random())
    n = 0
    for c in range(n_slots):
        n += cost[c] <= top
    skip = int(rng.random() * n)
    for c in range(n_slots):
        skip -= cost[c] <= top
        if skip < 0:
            return c
    return home


@njit(cache=True, nogil=True)
def _sweep(
    columns, masses_x, table, price, temperature, least, rules, symbols, labels, sums, masses, sizes,
    tol, rng,
):  # fmt: skip
    """One visit for each symbol of a block, on average; returns the number of slots in use.

    ``rules`` are the slots in use, how many of them are hubs, which must not be emptied, and whether
    their number is fixed.
    """
    n_slots, n_hubs, fixed = rules
    cost = np.empty(masses.size)
    for _ in range(symbols.size):
        k = int(rng.random() * symbols.size)
        x, home = symbols[k], labels[k]
        mass = masses_x[x]
        alone = sizes[home] == 1
        if (alone and (fixed or home < n_hubs)) or (not alone and masses[home] - mass < least):
            continue
        more = n_slots < masses.size and not (alone or fixed or mass < least)
        _price_slots(columns, x, mass, home, n_slots + more, table, price, sums, masses, cost)
        goal = _pick(cost, n_slots + more, home, temperature, tol, rng)
        if goal == home:
            continue
        shift(columns, x, mass, home, goal, sums, masses, sizes)
        labels[k] = goal
        n_slots += goal == n_slots
        if alone:
            n_slots -= 1
            close_slot(home, n_slots, labels, sums, masses, sizes)
    return n_slots


@njit(cache=True, nogil=True)
def _compare(rows, masses, a, b, table, price, mates, prices):
    """Let slot b be the mate of slot a if merging the two is cheaper than with the mate it has."""
    both = eta_of(masses[a] + masses[b], table)
    value = price[1] * (both - eta_of(masses[a], table) - eta_of(masses[b], table))
    for s in range(rows.shape[1]):
        u, v = rows[a, s], rows[b, s]
        if u > 0 and v > 0:
            value += price[0] * (eta_of(u + v, table) - eta_of(u, table) - eta_of(v, table))
    if value < prices[a]:
        mates[a], prices[a] = b, value


@njit(cache=True, nogil=True)
def _find_mate(rows, masses, a, table, price, mates, prices):
    """The later slot that is cheapest to merge with slot a; ``rows[slot, s]``."""
    mates[a], prices[a] = -1, np.inf
    for b in range(a + 1, masses.size):
        if masses[b] > 0:
            _compare(rows, masses, a, b, table, price, mates, prices)


@njit(cache=True, nogil=True)
def _merge_slots(sums, masses, n_slots, table, price, tol, labels):
    """Merge the cheapest pair of slots as long as that lowers the price."""
    rows, masses = sums[:, :n_slots].T.copy(), masses[:n_slots].copy()
    into, mates, prices = np.arange(n_slots), np.empty(n_slots, dtype=np.int64), np.empty(n_slots)
    for a in range(n_slots):
        _find_mate(rows, masses, a, table, price, mates, prices)
    while True:
        a = np.argmin(prices)
        if prices[a] >= -tol:
            break
        b = mates[a]
        rows[a] += rows[b]
        masses[a] += masses[b]
        masses[b], prices[b], into[b] = 0, np.inf, a
        for c in range(b):
            # What pointed at the two looks again, and all before the new one may prefer it.
            if masses[c] > 0 and (c <= a or mates[c] == b):
                if c == a or mates[c] == a or mates[c] == b:
                    _find_mate(rows, masses, c, table, price, mates, prices)
                else:
                    _compare(rows, masses, c, a, table, price, mates, prices)
    for k in range(labels.size):
        while into[labels[k]] != labels[k]:
            labels[k] = into[labels[k]]


@njit(cache=True, nogil=True)
def move_in_blocks(
    columns, masses_x, table, price, grouped, hubs, chosen, how, least, tol, offsets, rng, labels
):
    """Rearrange blocks first .. last − 1 and write the new ``labels`` of their symbols.

    ``grouped`` is (members, starts, clusters, bounds), ``hubs`` the (sums, masses) of block 0 as
    they are now, or empty; ``chosen`` is (first, last) and ``how`` is (temperature, sweeps, whether
    to merge, whether the number of clusters is fixed). Slot k of block b becomes cluster
    offsets[b] + k, and each block has room for twice its clusters and one more. A gain of
    ``tol`` is none.
    """
    members, starts, clusters, bounds = grouped
    temperature, sweeps, merging, fixed = how
    n_hubs = hubs[1].size
    for b in range(chosen[0], chosen[1]):
        block = clusters[bounds[b] : bounds[b + 1]]
        shown = n_hubs if b > 0 else 0
        n, n_slots = 0, shown + block.size
        for c in block:
            n += starts[c + 1] - starts[c]
        room = shown + offsets[b + 1] - offsets[b]
        symbols, slots = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        sums = np.zeros((columns[3], room), dtype=columns[2].dtype)
        masses, sizes = np.zeros(room, dtype=masses_x.dtype), np.zeros(room, dtype=np.int64)
        sums[:, :shown] = hubs[0][:, :shown]
        masses[:shown] = hubs[1][:shown]
        sizes[:shown] = MANY  # its members are elsewhere
        n = 0
        for i in range(block.size):
            for k in range(starts[block[i]], starts[block[i] + 1]):
                symbols[n], slots[n] = members[k], shown + i
                put(columns, members[k], masses_x[members[k]], shown + i, sums, masses, sizes)
                n += 1
        for _ in range(sweeps):
            n_slots = _sweep(
                columns, masses_x, table, price, temperature, least, (n_slots, n_hubs, fixed),
                symbols, slots, sums, masses, sizes, tol, rng,
            )  # fmt: skip
        if merging and not fixed and n_hubs == 0:
            _merge_slots(sums, masses, n_slots, table, price, tol, slots)
        for k in range(n):
            joined = slots[k] < shown
            labels[symbols[k]] = offsets[0] + slots[k] if joined else offsets[b] + slots[k] - shown
