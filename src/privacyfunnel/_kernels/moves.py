"""Moves of single symbols between clusters: heat bath, descent and swaps.

A code's informations are linear in sums over its clusters c of η of its rows' weights, η(w_rc), and of
its own, F = Σ_c η(w_c). So a price is (rows, f): G + f F with G = Σ_c Σ_r rows[r] η(w_rc), and a limit on
such a sum likewise, H + f F. Rows are those of S, and below them those of a useful Y where there is
one; the ``weights`` of symbols are given apart. Clusters are slots as in `_kernels.clusters`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from privacyfunnel._kernels.clusters import close_slot, put, shift
from privacyfunnel._kernels.eta import eta_of

BUSY, RUSH = 0.8, 4  # where more symbols than that move, so many sweeps are left out
STILL = 10  # sweeps without a change after which it is frozen


@njit(cache=True, nogil=True)
def masses_of(columns):
    """The weight of each symbol."""
    indptr, _, data, _ = columns
    weights = np.zeros(indptr.size - 1)
    for x in range(weights.size):
        for cell in range(indptr[x], indptr[x + 1]):
            weights[x] += data[cell]
    return weights


@njit(cache=True, nogil=True)
def fill_slots(columns, weights, labels, table, price, limit, sums, masses, sizes):
    """Sums of all clusters; returns their number, G, H and F."""
    sums[:], masses[:], sizes[:] = 0.0, 0.0, 0
    n_clusters = 0
    for x in range(labels.size):
        put(columns, x, weights[x], labels[x], sums, masses, sizes)
        n_clusters = max(n_clusters, labels[x] + 1)
    total_g, total_h, total_f = 0.0, 0.0, 0.0
    for c in range(n_clusters):
        total_f += eta_of(masses[c], table)
        for r in range(sums.shape[0]):
            total_g += price[0][r] * eta_of(sums[r, c], table)
            total_h += limit[0][r] * eta_of(sums[r, c], table)
    return n_clusters, total_g, total_h, total_f


@njit(cache=True)
def _price_moves(
    columns, x, mass, home, n_slots, table, price, limit, sums, masses, change_g, change_h, change_f
):
    """Changes of G, H and F when x leaves ``home`` for each of the first ``n_slots`` slots."""
    indptr, indices, data, _ = columns
    left = masses[home] - mass
    out_g, out_h, out_f = 0.0, 0.0, eta_of(left, table) - eta_of(masses[home], table)
    for cell in range(indptr[x], indptr[x + 1]):
        r = indices[cell]
        out = eta_of(sums[r, home] - data[cell], table) - eta_of(sums[r, home], table)
        out_g += price[0][r] * out
        out_h += limit[0][r] * out
    for c in range(n_slots):
        change_f[c] = out_f + eta_of(masses[c] + mass, table) - eta_of(masses[c], table)
        change_g[c] = out_g
        change_h[c] = out_h
    for cell in range(indptr[x], indptr[x + 1]):
        r, weight = indices[cell], data[cell]
        in_g, in_h = price[0][r], limit[0][r]
        if in_g != 0.0:  # a row seldom has a part in both
            for c in range(n_slots):
                change_g[c] += in_g * (
                    eta_of(sums[r, c] + weight, table) - eta_of(sums[r, c], table)
                )
        if in_h != 0.0:
            for c in range(n_slots):
                change_h[c] += in_h * (
                    eta_of(sums[r, c] + weight, table) - eta_of(sums[r, c], table)
                )
    change_g[home] = change_h[home] = change_f[home] = 0.0


@njit(cache=True)
def cheapest(cost, n_slots, home, tol):
    """The slot with the lowest cost; ``home`` unless another one is really lower."""
    cheapest = home
    for c in range(n_slots):
        if cost[c] < cost[cheapest] - tol:
            cheapest = c
    return cheapest


@njit(cache=True)
def heat_bath(cost, n_slots, temperature, rng):
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


@njit(cache=True, nogil=True)
def price_swap(columns, x, y, a, b, mass_x, mass_y, table, price, limit, sums, masses):
    """Changes of G, H and F when x leaves cluster a for b and y leaves b for a; rows are sorted."""
    indptr, indices, data, n_rows = columns
    i, end_i, j, end_j = indptr[x], indptr[x + 1], indptr[y], indptr[y + 1]
    change_g, change_h = 0.0, 0.0
    while i < end_i or j < end_j:
        r = min(indices[i] if i < end_i else n_rows, indices[j] if j < end_j else n_rows)
        to_a = 0.0
        if i < end_i and indices[i] == r:
            to_a -= data[i]
            i += 1
        if j < end_j and indices[j] == r:
            to_a += data[j]
            j += 1
        change_a = eta_of(sums[r, a] + to_a, table) - eta_of(sums[r, a], table)
        change_b = eta_of(sums[r, b] - to_a, table) - eta_of(sums[r, b], table)
        change_g += price[0][r] * change_a
        change_g += price[0][r] * change_b
        change_h += limit[0][r] * change_a
        change_h += limit[0][r] * change_b
    to_a = mass_y - mass_x
    change_f = eta_of(masses[a] + to_a, table) - eta_of(masses[a], table)
    change_f += eta_of(masses[b] - to_a, table) - eta_of(masses[b], table)
    return change_g, change_h, change_f


@njit(cache=True, nogil=True)
def anneal(
    columns, weights, labels, table, price, limit, bound, schedule, swaps, least, fixed, tol, rng
):
    """Move symbols one by one, by heat bath at each temperature and by descent at zero.

    At a temperature, ``swaps`` random pairs for each symbol are proposed to change places after each
    sweep (Metropolis): where symbols are of uneven weight, no single move keeps the balance.

    Lowers the price + penalty · max(0, what is limited − ``bound``), where ``schedule``
    gives the temperature and the penalty of each sweep of n symbols, the cold ones last. No cluster
    falls below the mass ``least``; with ``fixed`` none is made or emptied. A gain of ``tol`` is none.
    Where nearly all symbols move it is too hot to learn anything, and some sweeps are left out; once
    all sums stay as they are it is frozen, and the rest of the warm ones is.
    Returns the best labels seen that keep the limit and their price, infinite if there were none.
    """
    n = labels.size
    labels = labels.copy()
    sums, masses = np.zeros((columns[3], n + 1)), np.zeros(n + 1)
    sizes = np.zeros(n + 1, dtype=np.int64)
    n_clusters, total_g, total_h, total_f = fill_slots(
        columns, weights, labels, table, price, limit, sums, masses, sizes
    )
    change_g, change_h = np.zeros(n + 1), np.zeros(n + 1)
    change_f, cost = np.zeros(n + 1), np.zeros(n + 1)
    best_labels, best_value, unchanged = labels.copy(), np.inf, 0
    if total_h + limit[1] * total_f <= bound:
        best_value = total_g + price[1] * total_f
    n_warm, next_sweep = 0, 0
    while n_warm < schedule.shape[0] and schedule[n_warm, 0] > 0.0:
        n_warm += 1
    while next_sweep < schedule.shape[0]:
        temperature, penalty = schedule[next_sweep, 0], schedule[next_sweep, 1]
        next_sweep += 1
        unchanged += 1
        if table.size == 0:  # sums of fractions drift
            _, total_g, total_h, total_f = fill_slots(
                columns, weights, labels, table, price, limit, sums, masses, sizes
            )
        moved = 0
        first = int(rng.random() * n)
        for step in range(n):
            # By lot while it is warm; then all in turn, so that a sweep without a move is the end.
            x = int(rng.random() * n) if temperature > 0.0 else (first + step) % n
            home, mass = labels[x], weights[x]
            alone = sizes[home] == 1
            if (fixed and alone) or (not alone and masses[home] - mass < least):
                continue
            n_slots = n_clusters
            if not (alone or fixed or mass < least):
                n_slots += 1  # a cluster of its own
            _price_moves(
                columns, x, mass, home, n_slots, table, price, limit, sums, masses,
                change_g, change_h, change_f,
            )  # fmt: skip
            excess = total_h + limit[1] * total_f - bound
            for c in range(n_slots):
                after = excess + change_h[c] + limit[1] * change_f[c]
                cost[c] = change_g[c] + price[1] * change_f[c]
                cost[c] += penalty * (max(0.0, after) - max(0.0, excess))
            if temperature > 0.0:
                goal = heat_bath(cost, n_slots, temperature, rng)
            else:
                goal = cheapest(cost, n_slots, home, tol)
            if goal == home:
                continue
            moved += 1
            shift(columns, x, mass, home, goal, sums, masses, sizes)
            labels[x] = goal
            total_g += change_g[goal]
            total_h += change_h[goal]
            total_f += change_f[goal]
            if abs(change_g[goal]) + abs(change_h[goal]) + abs(change_f[goal]) > tol:
                unchanged = 0
            if goal == n_clusters:
                n_clusters += 1
            if alone:
                n_clusters -= 1
                close_slot(home, n_clusters, labels, sums, masses, sizes)
            value = total_g + price[1] * total_f
            if value < best_value - tol and total_h + limit[1] * total_f <= bound:
                best_value = value
                for y in range(n):  # array to array takes seconds to compile
                    best_labels[y] = labels[y]
        if temperature <= 0.0:
            if moved == 0:
                break
            continue
        if moved > BUSY * n:
            next_sweep = max(next_sweep, min(next_sweep + RUSH, n_warm - 1))
        for _ in range(swaps * n):
            x, y = int(rng.random() * n), int(rng.random() * n)
            a, b = labels[x], labels[y]
            to_a = weights[y] - weights[x]
            if a == b or min(masses[a] + to_a, masses[b] - to_a) < least:
                continue
            g, h, f = price_swap(
                columns, x, y, a, b, weights[x], weights[y], table, price, limit, sums, masses
            )
            excess = total_h + limit[1] * total_f - bound
            after = excess + h + limit[1] * f
            rise = g + price[1] * f + penalty * (max(0.0, after) - max(0.0, excess))
            if rise > 0.0 and rng.random() >= math.exp(-rise / temperature):
                continue
            shift(columns, x, weights[x], a, b, sums, masses, sizes)
            shift(columns, y, weights[y], b, a, sums, masses, sizes)
            labels[x], labels[y] = b, a
            total_g += g
            total_h += h
            total_f += f
            if abs(g) + abs(h) + abs(f) > tol:
                unchanged = 0
            value = total_g + price[1] * total_f
            if value < best_value - tol and after <= 0.0:
                best_value = value
                for z in range(n):
                    best_labels[z] = labels[z]
        if unchanged >= STILL:
            next_sweep = n_warm
    return best_labels, best_value


@njit(cache=True, nogil=True)
def swap_descent(columns, weights, labels, table, price, limit, bound, least, tol):
    """Exchange two symbols wherever that lowers the price and keeps the limit, until none does."""
    n = labels.size
    labels = labels.copy()
    sums, masses = np.zeros((columns[3], n + 1)), np.zeros(n + 1)
    sizes = np.zeros(n + 1, dtype=np.int64)
    improved = True
    while improved:
        improved = False
        # Afresh in each pass: sums of fractions drift.
        _, _, total_h, total_f = fill_slots(
            columns, weights, labels, table, price, limit, sums, masses, sizes
        )
        for x in range(n):
            for y in range(x + 1, n):
                a, b = labels[x], labels[y]
                if a == b:
                    continue
                g, h, f = price_swap(
                    columns, x, y, a, b, weights[x], weights[y], table, price, limit, sums, masses
                )
                if g + price[1] * f >= -tol:
                    continue
                after = total_h + h + limit[1] * (total_f + f)
                to_a = weights[y] - weights[x]
                if after > bound or min(masses[a] + to_a, masses[b] - to_a) < least:
                    continue
                shift(columns, x, weights[x], a, b, sums, masses, sizes)
                shift(columns, y, weights[y], b, a, sums, masses, sizes)
                labels[x], labels[y] = b, a
                total_h += h
                total_f += f
                improved = True
    return labels
