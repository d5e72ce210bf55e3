"""What a large alphabet can afford: symbols put one by one where they cost least, then proposals.

A heat bath prices every cluster for each move; a proposal is a random symbol and a random place, one
move or one swap, so that its cost does not grow with the number of clusters. Prices and limits of
proposals are those of `_kernels.moves`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from privacyfunnel._kernels.clusters import close_slot, put, shift
from privacyfunnel._kernels.eta import eta_of
from privacyfunnel._kernels.moves import cheapest, fill_slots, price_swap

ALONE = 0.1  # of the moves proposed, to a cluster of its own


@njit(cache=True, nogil=True)
def insert_in_order(columns, weights, order, table, price, labels):
    """Put each symbol of ``order`` into the cluster where it raises ``price · (G, F)`` least.

    A cluster of its own is one of the places. Writes the ``labels`` and returns the number of clusters.
    """
    indptr, indices, data, n_rows = columns
    n, n_clusters = order.size, 0
    sums, masses = np.zeros((n_rows, n)), np.zeros(n)
    sizes, rise = np.zeros(n, dtype=np.int64), np.empty(n)
    for x in order:
        n_slots = n_clusters + 1
        for c in range(n_slots):
            after = eta_of(masses[c] + weights[x], table)
            rise[c] = price[1] * (after - eta_of(masses[c], table))
        for cell in range(indptr[x], indptr[x + 1]):
            row, weight = sums[indices[cell]], data[cell]
            for c in range(n_slots):
                rise[c] += price[0] * (eta_of(row[c] + weight, table) - eta_of(row[c], table))
        goal = cheapest(rise, n_slots, 0, 0.0)
        labels[x] = goal
        n_clusters = max(n_clusters, goal + 1)
        put(columns, x, weights[x], goal, sums, masses, sizes)
    return n_clusters


@njit(cache=True, nogil=True)
def _price_move(columns, x, mass, home, goal, table, price, limit, sums, masses):
    """Changes of G, H and F when x leaves one slot for another."""
    indptr, indices, data, _ = columns
    change_f = eta_of(masses[home] - mass, table) - eta_of(masses[home], table)
    change_f += eta_of(masses[goal] + mass, table) - eta_of(masses[goal], table)
    change_g, change_h = 0.0, 0.0
    for cell in range(indptr[x], indptr[x + 1]):
        r, weight = indices[cell], data[cell]
        out = eta_of(sums[r, home] - weight, table) - eta_of(sums[r, home], table)
        into = eta_of(sums[r, goal] + weight, table) - eta_of(sums[r, goal], table)
        change_g += price[0][r] * out
        change_g += price[0][r] * into
        change_h += limit[0][r] * out
        change_h += limit[0][r] * into
    return change_g, change_h, change_f


@njit(cache=True, nogil=True)
def anneal_by_proposals(
    columns, weights, labels, table, price, limit, bound, schedule, least, most, tol, rng
):
    """Random moves and swaps, taken if they lower the price or by Metropolis' rule.

    Lowers the price + penalty · max(0, what is limited − ``bound``); ``schedule`` gives the temperature
    and the penalty of each sweep of 2n proposals. There are never more than ``most`` clusters, and none
    weighs less than ``least``. Returns the best labels within the limit at the end of a sweep and their
    price, infinite if there were none.
    """
    n = labels.size
    labels = labels.copy()
    room = most + 1
    sums, masses = np.zeros((columns[3], room)), np.zeros(room)
    sizes = np.zeros(room, dtype=np.int64)
    n_clusters, total_g, total_h, total_f = fill_slots(
        columns, weights, labels, table, price, limit, sums, masses, sizes
    )
    best_labels, best_value = labels.copy(), np.inf
    if total_h + limit[1] * total_f <= bound:
        best_value = total_g + price[1] * total_f
    for sweep in range(schedule.shape[0]):
        temperature, penalty = schedule[sweep, 0], schedule[sweep, 1]
        if table.size == 0:  # sums of fractions drift
            _, total_g, total_h, total_f = fill_slots(
                columns, weights, labels, table, price, limit, sums, masses, sizes
            )
        for step in range(2 * n):
            x, y = int(rng.random() * n), int(rng.random() * n)
            a, b, mass = labels[x], labels[y], weights[x]
            swapping = step % 2 == 0
            if swapping:
                to_a = weights[y] - mass
                if a == b or min(masses[a] + to_a, masses[b] - to_a) < least:
                    continue
                g, h, f = price_swap(
                    columns, x, y, a, b, mass, weights[y], table, price, limit, sums, masses
                )
            else:
                if rng.random() < ALONE and n_clusters < most and mass >= least:
                    b = n_clusters
                alone = sizes[a] == 1
                if (
                    a == b
                    or (alone and b == n_clusters)
                    or (not alone and masses[a] - mass < least)
                ):
                    continue
                g, h, f = _price_move(columns, x, mass, a, b, table, price, limit, sums, masses)
            excess = total_h + limit[1] * total_f - bound
            after = excess + h + limit[1] * f
            rise = g + price[1] * f + penalty * (max(0.0, after) - max(0.0, excess))
            if rise > -tol and (
                temperature <= 0.0 or rng.random() >= math.exp(-max(rise, 0.0) / temperature)
            ):
                continue
            shift(columns, x, mass, a, b, sums, masses, sizes)
            labels[x] = b
            if swapping:
                shift(columns, y, weights[y], b, a, sums, masses, sizes)
                labels[y] = a
            total_g += g
            total_h += h
            total_f += f
            if b == n_clusters:
                n_clusters += 1
            if sizes[a] == 0:
                n_clusters -= 1
                close_slot(a, n_clusters, labels, sums, masses, sizes)
        value = total_g + price[1] * total_f
        if value < best_value - tol and total_h + limit[1] * total_f <= bound:
            best_value = value
            for y in range(n):
                best_labels[y] = labels[y]
    return best_labels, best_value
