"""Moves of single symbols between clusters: heat bath, descent and swaps.

A code's informations are linear in two sums over its clusters c, G = Σ_c Σ_s η(w_sc) and
F = Σ_c η(w_c), so a price and a limit are given as weights of (G, F). Clusters fill the slots
0 .. n_clusters − 1 of ``sums[s, slot]`` and ``masses[slot]`` without holes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from privacyfunnel._kernels.eta import eta_of


@njit(cache=True)
def _shift(columns, x, slot, sign, sums, masses):
    """Add symbol x to a cluster (sign 1) or take it out (sign −1)."""
    indptr, indices, data, _ = columns
    for cell in range(indptr[x], indptr[x + 1]):
        sums[indices[cell], slot] += sign * data[cell]
        masses[slot] += sign * data[cell]


@njit(cache=True)
def _fill(columns, labels, table, sums, masses):
    """Sums of all clusters; returns their number, G and F."""
    n_clusters = 0
    for x in range(labels.size):
        _shift(columns, x, labels[x], 1.0, sums, masses)
        n_clusters = max(n_clusters, labels[x] + 1)
    total_g, total_f = 0.0, 0.0
    for c in range(n_clusters):
        total_f += eta_of(masses[c], table)
        for s in range(sums.shape[0]):
            total_g += eta_of(sums[s, c], table)
    return n_clusters, total_g, total_f


@njit(cache=True)
def _price_moves(columns, x, mass, home, n_slots, table, sums, masses, change_g, change_f):
    """Changes of G and F when x leaves ``home`` for each of the first ``n_slots`` slots."""
    indptr, indices, data, _ = columns
    left = masses[home] - mass
    out_g, out_f = 0.0, eta_of(left, table) - eta_of(masses[home], table)
    for cell in range(indptr[x], indptr[x + 1]):
        here = sums[indices[cell], home]
        out_g += eta_of(here - data[cell], table) - eta_of(here, table)
    for c in range(n_slots):
        change_f[c] = out_f + eta_of(masses[c] + mass, table) - eta_of(masses[c], table)
        change_g[c] = out_g
    for cell in range(indptr[x], indptr[x + 1]):
        s, weight = indices[cell], data[cell]
        for c in range(n_slots):
            change_g[c] += eta_of(sums[s, c] + weight, table) - eta_of(sums[s, c], table)
    change_g[home] = change_f[home] = 0.0


@njit(cache=True)
def _cheapest(cost, n_slots, home):
    """The slot with the lowest cost; ``home`` unless another one is really lower."""
    cheapest = home
    for c in range(n_slots):
        if cost[c] < cost[cheapest] - 1e-11:
            cheapest = c
    return cheapest


@njit(cache=True)
def _draw(cost, n_slots, temperature, rng):
    """A slot drawn with probability ∝ exp(−cost / T); the costs are lost.

    exp(t) = exp(t/64)⁶⁴ by four terms of its series and six squarings, right to 1e-4 where it is
    above 1e-5: no calls and no branches, so that several slots are done at once.
    """
    lowest = cost[0]
    for c in range(n_slots):
        lowest = min(lowest, cost[c])
    for c in range(n_slots):
        t = max((lowest - cost[c]) / temperature, -40.0) / 64.0
        power = 1.0 + t * (1.0 + t * (1 / 2 + t * (1 / 6 + t * (1 / 24))))
        power *= power
        power *= power
        power *= power
        power *= power
        power *= power
        cost[c] = power * power
    for c in range(1, n_slots):
        cost[c] += cost[c - 1]
    draw = rng.random() * cost[n_slots - 1]
    slot = 0
    while cost[slot] <= draw:
        slot += 1
    return slot


@njit(cache=True)
def _close_hole(hole, last, labels, sums, masses):
    """Let the last cluster take the slot of one that has become empty."""
    masses[hole] = masses[last]
    masses[last] = 0.0
    for s in range(sums.shape[0]):
        sums[s, hole] = sums[s, last]
        sums[s, last] = 0.0
    for y in range(labels.size):
        if labels[y] == last:
            labels[y] = hole


@njit(cache=True, nogil=True)
def anneal(columns, labels, table, price, limit, bound, schedule, least, fixed, rng):
    """Move symbols one by one, by heat bath at each temperature and by descent at zero.

    Lowers ``price · (G, F)`` + penalty · max(0, ``limit · (G, F)`` − ``bound``), where ``schedule``
    gives the temperature and the penalty of each sweep of n symbols. No cluster falls below the
    mass ``least``; with ``fixed`` none is made or emptied. Returns the best labels seen that keep
    the limit and their price, infinite if there were none.
    """
    n = labels.size
    labels = labels.copy()
    sums, masses = np.zeros((columns[3], n + 1)), np.zeros(n + 1)
    n_clusters, total_g, total_f = _fill(columns, labels, table, sums, masses)
    change_g, change_f, cost = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1)
    weights = np.zeros(n)
    for x in range(n):
        for cell in range(columns[0][x], columns[0][x + 1]):
            weights[x] += columns[2][cell]
    best_labels, best_value = labels.copy(), np.inf
    if limit[0] * total_g + limit[1] * total_f <= bound:
        best_value = price[0] * total_g + price[1] * total_f
    for sweep in range(schedule.shape[0]):
        temperature, penalty = schedule[sweep, 0], schedule[sweep, 1]
        for _ in range(n):
            x = int(rng.random() * n)
            home, mass = labels[x], weights[x]
            alone = masses[home] - mass <= 1e-12 * mass
            if (fixed and alone) or (not alone and masses[home] - mass < least):
                continue
            n_slots = n_clusters
            if not (alone or fixed or mass < least):
                n_slots += 1  # a cluster of its own
            _price_moves(columns, x, mass, home, n_slots, table, sums, masses, change_g, change_f)
            excess = limit[0] * total_g + limit[1] * total_f - bound
            for c in range(n_slots):
                after = excess + limit[0] * change_g[c] + limit[1] * change_f[c]
                cost[c] = price[0] * change_g[c] + price[1] * change_f[c]
                cost[c] += penalty * (max(0.0, after) - max(0.0, excess))
            if temperature > 0.0:
                goal = _draw(cost, n_slots, temperature, rng)
            else:
                goal = _cheapest(cost, n_slots, home)
            if goal == home:
                continue
            _shift(columns, x, home, -1.0, sums, masses)
            _shift(columns, x, goal, 1.0, sums, masses)
            labels[x] = goal
            total_g += change_g[goal]
            total_f += change_f[goal]
            if goal == n_clusters:
                n_clusters += 1
            if alone:
                n_clusters -= 1
                _close_hole(home, n_clusters, labels, sums, masses)
            value = price[0] * total_g + price[1] * total_f
            if value < best_value - 1e-9 and limit[0] * total_g + limit[1] * total_f <= bound:
                best_value = value
                for y in range(n):  # array to array takes seconds to compile
                    best_labels[y] = labels[y]
    return best_labels, best_value


@njit(cache=True)
def _move(columns, x, home, goal, table, sums, masses):
    """Move x from one cluster to another; returns the changes of G and F."""
    indptr, indices, data, _ = columns
    change_g, change_f = 0.0, -eta_of(masses[home], table) - eta_of(masses[goal], table)
    for cell in range(indptr[x], indptr[x + 1]):
        s, weight = indices[cell], data[cell]
        change_g -= eta_of(sums[s, home], table) + eta_of(sums[s, goal], table)
        change_g += eta_of(sums[s, home] - weight, table) + eta_of(sums[s, goal] + weight, table)
    _shift(columns, x, home, -1.0, sums, masses)
    _shift(columns, x, goal, 1.0, sums, masses)
    change_f += eta_of(masses[home], table) + eta_of(masses[goal], table)
    return change_g, change_f


@njit(cache=True)
def swap_descent(columns, labels, table, price, limit, bound, least):
    """Exchange two symbols wherever that lowers the price and keeps the limit, until none does."""
    n = labels.size
    labels = labels.copy()
    sums, masses = np.zeros((columns[3], n + 1)), np.zeros(n + 1)
    _, total_g, total_f = _fill(columns, labels, table, sums, masses)
    improved = True
    while improved:
        improved = False
        for x in range(n):
            for y in range(x + 1, n):
                a, b = labels[x], labels[y]
                if a == b:
                    continue
                g, f = _move(columns, x, a, b, table, sums, masses)
                g_back, f_back = _move(columns, y, b, a, table, sums, masses)
                g, f = g + g_back, f + f_back
                after = limit[0] * (total_g + g) + limit[1] * (total_f + f)
                light = min(masses[a], masses[b]) < least
                if price[0] * g + price[1] * f < -1e-9 and after <= bound and not light:
                    labels[x], labels[y] = b, a
                    total_g += g
                    total_f += f
                    improved = True
                else:
                    _move(columns, x, b, a, table, sums, masses)
                    _move(columns, y, a, b, table, sums, masses)
    return labels
