"""Any additive measure: what clusters tell, and what moves and swaps of symbols change in it.

A code's amounts are sums over its clusters c, T_v = Σ_c m_v(q_c), one for each view v: S by some measure,
the useful Y, one of several secrets, or X itself. A price is ``price · T``, a limit is
``limits[k] · T ≤ most[k]``.

The rows of all views are stacked in one CSC matrix: ``columns`` = (indptr, indices, data, n_rows), whose
rows ``first[v]`` to ``first[v + 1]`` are those of view v, and whose cells of symbol x in them are
``cells[x, v]:cells[x, v + 1]``. ``views`` = (first, kinds, orders, p, tables, starts, table): the
measures by number, Arimoto's orders, the p(v) of each row, tables of powers (empty where weights are not
whole), where each view's starts, and that of η. A view of kind `WHOLE` has no rows: it is H(X̂).

Clusters are ``slots`` = (sums, masses, sizes, state, told): as in `_kernels.clusters`, and for each view
``told[v, c]`` = m_v and ``state[v, c]``, from which it is updated.
"""

from __future__ import annotations

import heapq
import math

import numpy as np
from numba import njit

from privacyfunnel._kernels.clusters import close_slot, put, shift
from privacyfunnel._kernels.eta import eta_of
from privacyfunnel._kernels.moves import BUSY, RUSH, STILL, cheapest, heat_bath
from privacyfunnel._kernels.proposals import ALONE
from privacyfunnel.measures.measure import (
    ARIMOTO,
    CHI_SQUARE,
    GUESSING,
    MAXIMAL_LEAKAGE,
    SHANNON,
    TOTAL_VARIATION,
)

WHOLE = 100  # X itself
LOST = 1e-4  # of a sum of powers, below which what is left of it is rounding
HIGH = 101  # Arimoto of a high order, whose powers would overflow: computed in units of the largest


@njit(cache=True, nogil=True, forceinline=True)
def _power(t, order, table):
    """t to the power of an order, from a table where weights are whole."""
    if table.size > 0:
        return table[np.uint64(np.int64(t))]
    if order == 2.0:
        return t * t
    return t**order if t > 0.0 else 0.0


@njit(cache=True, nogil=True, forceinline=True)
def _norm(powers, order):
    """Arimoto's m of a sum of powers: the norm, its negative below order 1."""
    if powers <= 0.0:
        return 0.0
    if order == 2.0:
        return math.sqrt(powers)
    root = powers ** (1.0 / order)
    return root if order > 1.0 else -root


@njit(cache=True, nogil=True)
def tell(v, views, column, mass):
    """(state, told) of view v for a cluster whose summed rows are ``column``."""
    first, kinds, orders, p, tables, starts, table = views
    kind, low, high = kinds[v], first[v], first[v + 1]
    if mass <= 0.0:
        return 0.0, 0.0
    if kind == WHOLE:
        return 0.0, -eta_of(mass, table)
    state = 0.0
    if kind == SHANNON:
        for r in range(low, high):
            state += eta_of(column[r], table)
        return 0.0, state - eta_of(mass, table)
    if kind == GUESSING:
        for r in range(low, high):
            state = max(state, column[r])
        return state, state
    if kind == MAXIMAL_LEAKAGE:
        for r in range(low, high):
            state = max(state, column[r] / p[r])
        return state, state
    if kind == TOTAL_VARIATION:
        for r in range(low, high):
            state += max(0.0, column[r] - p[r] * mass)
        return 0.0, state
    if kind == CHI_SQUARE:
        for r in range(low, high):
            state += column[r] * column[r] / p[r]
        return state, state / mass
    if kind == ARIMOTO:
        powers = tables[starts[v] : starts[v + 1]]
        for r in range(low, high):
            state += _power(column[r], orders[v], powers)
        return state, _norm(state, orders[v])
    most = 0.0
    for r in range(low, high):
        most = max(most, column[r])
    for r in range(low, high):
        if column[r] > 0.0:
            state += (column[r] / most) ** orders[v]
    return 0.0, most * state ** (1.0 / orders[v])


@njit(cache=True, nogil=True)
def fill_measured(columns, weights, labels, views, slots):
    """Lay out all clusters; returns their number and T."""
    sums, masses, sizes, state, told = slots
    sums[:], masses[:], sizes[:], told[:], state[:] = 0.0, 0.0, 0, 0.0, 0.0
    n_clusters = 0
    for x in range(labels.size):
        put(columns, x, weights[x], labels[x], sums, masses, sizes)
        n_clusters = max(n_clusters, labels[x] + 1)
    totals = np.zeros(told.shape[0])
    for c in range(n_clusters):
        for v in range(totals.size):
            state[v, c], told[v, c] = tell(v, views, sums[:, c], masses[c])
            totals[v] += told[v, c]
    return n_clusters, totals


@njit(cache=True, nogil=True, forceinline=True)
def _state_of(v, views, told, mass):
    """The state that goes with what a cluster tells."""
    kind = views[1][v]
    if kind == CHI_SQUARE:
        return told * mass
    if kind == ARIMOTO:
        return abs(told) ** views[2][v]
    return told


@njit(cache=True, nogil=True, forceinline=True)
def told_after(columns, cells, weights, minus, plus, c, v, views, slots):
    """What cluster c tells in view v after symbol ``minus`` left and ``plus`` came; −1 is none."""
    _, indices, data, _ = columns
    first, kinds, orders, p, tables, starts, table = views
    sums, masses, _, state, told = slots
    kind, mass, found, lowered, largest = kinds[v], masses[c], state[v, c], False, 0.0
    i, end_i, j, end_j = 0, 0, 0, 0
    if minus >= 0:
        mass -= weights[minus]
        i, end_i = cells[minus, v], cells[minus, v + 1]
    if plus >= 0:
        mass += weights[plus]
        j, end_j = cells[plus, v], cells[plus, v + 1]
    if mass <= 0.0:
        return 0.0
    if kind == WHOLE:
        return -eta_of(mass, table)
    powers = tables[starts[v] : starts[v + 1]]
    if kind not in (TOTAL_VARIATION, HIGH):
        if kind == SHANNON:
            found = told[v, c] + eta_of(masses[c], table) - eta_of(mass, table)
        a, b, end = i, j, first[v + 1]
        while a < end_i or b < end_j:
            r = min(indices[a] if a < end_i else end, indices[b] if b < end_j else end)
            here = sums[r, c]
            new = here
            if a < end_i and indices[a] == r:
                new -= data[a]
                a += 1
            if b < end_j and indices[b] == r:
                new += data[b]
                b += 1
            if kind == SHANNON:
                found += eta_of(new, table) - eta_of(here, table)
            elif kind == CHI_SQUARE:
                found += (new * new - here * here) / p[r]
            elif kind == ARIMOTO:
                found += _power(new, orders[v], powers) - _power(here, orders[v], powers)
            else:
                scale = 1.0 if kind == GUESSING else p[r]
                largest = max(largest, new / scale)
                lowered = lowered or (new < here and here / scale >= found * (1.0 - 1e-14))
        if kind == SHANNON:
            return found
        if kind == CHI_SQUARE:
            return found / mass
        if kind == ARIMOTO:
            if found >= LOST * state[v, c]:
                return _norm(found, orders[v])
        elif not lowered:
            return max(found, largest)
    # Every row counts, powers nearly cancel and have few digits left, or the largest went down.
    again, most = 0.0, 0.0
    for scan in range(2):  # of a high order the largest comes first
        a, b = i, j
        for r in range(first[v], first[v + 1]):
            here = sums[r, c]
            if a < end_i and indices[a] == r:
                here -= data[a]
                a += 1
            if b < end_j and indices[b] == r:
                here += data[b]
                b += 1
            if kind == TOTAL_VARIATION:
                again += max(0.0, here - p[r] * mass)
            elif kind == ARIMOTO:
                again += _power(here, orders[v], powers)
            elif kind != HIGH:
                again = max(again, here if kind == GUESSING else here / p[r])
            elif scan == 0:
                most = max(most, here)
            elif here > 0.0:
                again += (here / most) ** orders[v]
        if kind == ARIMOTO:
            return _norm(again, orders[v])
        if kind != HIGH:
            return again
    return most * again ** (1.0 / orders[v])


@njit(cache=True, nogil=True, forceinline=True)
def _join_view(columns, cells, weights, x, n_slots, v, views, slots, after, scratch):
    """Fill ``after[v, c]``: what slot c tells in view v when x has joined it."""
    _, indices, data, _ = columns
    first, kinds, orders, p, tables, starts, table = views
    sums, masses, _, state, told = slots
    kind, mass, order = kinds[v], weights[x], orders[v]
    low, high, powers = cells[x, v], cells[x, v + 1], tables[starts[v] : starts[v + 1]]
    if kind == WHOLE:
        for c in range(n_slots):
            after[v, c] = -eta_of(masses[c] + mass, table)
    elif kind == HIGH:
        for c in range(n_slots):
            after[v, c] = told_after(columns, cells, weights, -1, x, c, v, views, slots)
    elif kind == TOTAL_VARIATION:
        for c in range(n_slots):
            after[v, c] = 0.0
            scratch[c] = masses[c] + mass
        cell = low
        for r in range(first[v], first[v + 1]):
            weight = 0.0
            if cell < high and indices[cell] == r:
                weight = data[cell]
                cell += 1
            share = p[r]
            for c in range(n_slots):
                after[v, c] += max(0.0, sums[r, c] + weight - share * scratch[c])
    elif kind == SHANNON:
        for c in range(n_slots):
            after[v, c] = told[v, c] + eta_of(masses[c], table) - eta_of(masses[c] + mass, table)
        for cell in range(low, high):
            r, weight = indices[cell], data[cell]
            for c in range(n_slots):
                after[v, c] += eta_of(sums[r, c] + weight, table) - eta_of(sums[r, c], table)
    else:
        for c in range(n_slots):
            after[v, c] = state[v, c]
        for cell in range(low, high):
            r, weight = indices[cell], data[cell]
            if kind == CHI_SQUARE:
                scale = weight / p[r]
                for c in range(n_slots):
                    after[v, c] += (2.0 * sums[r, c] + weight) * scale
            elif kind == ARIMOTO:
                for c in range(n_slots):
                    after[v, c] += _power(sums[r, c] + weight, order, powers)
                    after[v, c] -= _power(sums[r, c], order, powers)
            else:
                scale = 1.0 if kind == GUESSING else 1.0 / p[r]
                for c in range(n_slots):
                    after[v, c] = max(after[v, c], (sums[r, c] + weight) * scale)
        if kind == CHI_SQUARE:
            for c in range(n_slots):
                after[v, c] /= masses[c] + mass
        elif kind == ARIMOTO:
            for c in range(n_slots):
                after[v, c] = _norm(after[v, c], order)


@njit(cache=True, nogil=True, forceinline=True)
def _dot(weights, totals):
    """A price, without an array in between."""
    found = 0.0
    for v in range(totals.size):
        found += weights[v] * totals[v]
    return found


@njit(cache=True, nogil=True, forceinline=True)
def _add(totals, change_of, sign):
    """Totals after a change, in place."""
    for v in range(totals.size):
        totals[v] += sign * change_of[v]


@njit(cache=True, nogil=True, forceinline=True)
def _over(totals, limits, most, excess):
    """Fill by how much each limit is exceeded; returns whether none is."""
    met = True
    for k in range(most.size):
        excess[k] = -most[k]
        for v in range(totals.size):
            excess[k] += limits[k, v] * totals[v]
        met = met and excess[k] <= 0.0
    return met


@njit(cache=True, nogil=True, forceinline=True)
def _penalised(change_of, excess, limits, penalty):
    """What changes of T cost for the limits that they exceed more, or less, than before."""
    rise = 0.0
    for k in range(excess.size):
        after = excess[k]
        for v in range(change_of.size):
            after += limits[k, v] * change_of[v]
        rise += penalty * (max(0.0, after) - max(0.0, excess[k]))
    return rise


@njit(cache=True, nogil=True, forceinline=True)
def _best_so_far(totals, price, limits, most, excess, labels, tol, best_labels, best_value):
    """The lowest price within all limits, its labels kept."""
    if _over(totals, limits, most, excess):
        value = _dot(price, totals)
        if value < best_value - tol:
            best_value = value
            for x in range(labels.size):  # array to array takes seconds to compile
                best_labels[x] = labels[x]
    return best_value


@njit(cache=True, nogil=True)
def slots_for(n_rows, n_views, room):
    """Empty slots."""
    return (
        np.zeros((n_rows, room)),
        np.zeros(room),
        np.zeros(room, dtype=np.int64),
        np.zeros((n_views, room)),
        np.zeros((n_views, room)),
    )


@njit(cache=True, nogil=True)
def _close(slot, last, labels, slots):
    """Let the last slot take the place of one that has become empty."""
    sums, masses, sizes, state, told = slots
    close_slot(slot, last, labels, sums, masses, sizes)
    for v in range(told.shape[0]):
        state[v, slot], told[v, slot] = state[v, last], told[v, last]
        state[v, last], told[v, last] = 0.0, 0.0


@njit(cache=True, nogil=True, forceinline=True)
def _swap_changes(columns, cells, weights, x, y, a, b, views, slots, told_a, told_b, change_of):
    """What each view tells of both clusters, and in all, after x went from a to b and y from b to a."""
    told = slots[4]
    for v in range(change_of.size):
        told_a[v] = told_after(columns, cells, weights, x, y, a, v, views, slots)
        told_b[v] = told_after(columns, cells, weights, y, x, b, v, views, slots)
        change_of[v] = told_a[v] + told_b[v] - told[v, a] - told[v, b]


@njit(cache=True, nogil=True, forceinline=True)
def _exchange(columns, weights, x, y, a, b, views, slots, told_a, told_b, labels):
    """Move x from a to b and, unless it is −1, y from b to a."""
    sums, masses, sizes, state, told = slots
    shift(columns, x, weights[x], a, b, sums, masses, sizes)
    labels[x] = b
    if y >= 0:
        shift(columns, y, weights[y], b, a, sums, masses, sizes)
        labels[y] = a
    for v in range(told.shape[0]):
        told[v, a], told[v, b] = told_a[v], told_b[v]
        state[v, a] = _state_of(v, views, told_a[v], masses[a])
        state[v, b] = _state_of(v, views, told_b[v], masses[b])


@njit(cache=True, nogil=True)
def anneal_measured(
    columns, cells, weights, labels, views, price, limits, most, schedule, swaps, least, fixed, tol, rng
):  # fmt: skip
    """As `moves.anneal`, for any views; what exceeds each limit costs the penalty."""
    n, n_views = labels.size, price.size
    labels = labels.copy()
    slots = slots_for(columns[3], n_views, n + 1)
    masses, sizes, told = slots[1], slots[2], slots[4]
    n_clusters, totals = fill_measured(columns, weights, labels, views, slots)
    after, change = np.zeros((n_views, n + 1)), np.zeros((n_views, n + 1))
    cost, scratch, excess = np.zeros(n + 1), np.zeros(n + 1), np.zeros(most.size)
    told_a, told_b, change_of = np.zeros(n_views), np.zeros(n_views), np.zeros(n_views)
    best_labels, unchanged = labels.copy(), 0
    best_value = _dot(price, totals) if _over(totals, limits, most, excess) else np.inf
    n_warm, next_sweep = 0, 0
    while n_warm < schedule.shape[0] and schedule[n_warm, 0] > 0.0:
        n_warm += 1
    while next_sweep < schedule.shape[0]:
        temperature, penalty = schedule[next_sweep, 0], schedule[next_sweep, 1]
        next_sweep += 1
        unchanged += 1
        moved = 0
        _, totals = fill_measured(columns, weights, labels, views, slots)  # sums drift
        for _ in range(n):
            x = int(rng.random() * n)
            home, mass = labels[x], weights[x]
            alone = sizes[home] == 1
            if (fixed and alone) or (not alone and masses[home] - mass < least):
                continue
            n_slots = n_clusters
            if not (alone or fixed or mass < least):
                n_slots += 1  # a cluster of its own
            cost[:n_slots] = 0.0
            for v in range(n_views):
                _join_view(columns, cells, weights, x, n_slots, v, views, slots, after, scratch)
                told_a[v] = told_after(columns, cells, weights, x, -1, home, v, views, slots)
                out = told_a[v] - told[v, home]
                for c in range(n_slots):
                    change[v, c] = out + after[v, c] - told[v, c]
                change[v, home] = 0.0
                if price[v] != 0.0:
                    weight = price[v]
                    for c in range(n_slots):
                        cost[c] += weight * change[v, c]
            _over(totals, limits, most, excess)
            for k in range(most.size):
                over = excess[k]
                for c in range(n_slots):
                    scratch[c] = over
                for v in range(n_views):
                    if limits[k, v] != 0.0:
                        weight = limits[k, v]
                        for c in range(n_slots):
                            scratch[c] += weight * change[v, c]
                for c in range(n_slots):
                    cost[c] += penalty * (max(0.0, scratch[c]) - max(0.0, over))
            if temperature > 0.0:
                goal = heat_bath(cost, n_slots, temperature, rng)
            else:
                goal = cheapest(cost, n_slots, home, tol)
            if goal == home:
                continue
            moved += 1
            for v in range(n_views):
                told_b[v] = after[v, goal]
                totals[v] += change[v, goal]
                if abs(change[v, goal]) > tol:
                    unchanged = 0
            _exchange(columns, weights, x, -1, home, goal, views, slots, told_a, told_b, labels)
            if goal == n_clusters:
                n_clusters += 1
            if alone:
                n_clusters -= 1
                _close(home, n_clusters, labels, slots)
            best_value = _best_so_far(
                totals, price, limits, most, excess, labels, tol, best_labels, best_value
            )
        if temperature <= 0.0:
            continue
        if moved > BUSY * n:
            next_sweep = max(next_sweep, min(next_sweep + RUSH, n_warm - 1))
        for _ in range(swaps * n):
            x, y = int(rng.random() * n), int(rng.random() * n)
            a, b = labels[x], labels[y]
            to_a = weights[y] - weights[x]
            if a == b or min(masses[a] + to_a, masses[b] - to_a) < least:
                continue
            _swap_changes(
                columns, cells, weights, x, y, a, b, views, slots, told_a, told_b, change_of
            )
            _over(totals, limits, most, excess)
            rise = _dot(price, change_of) + _penalised(change_of, excess, limits, penalty)
            if rise > 0.0 and rng.random() >= math.exp(-rise / temperature):
                continue
            _exchange(columns, weights, x, y, a, b, views, slots, told_a, told_b, labels)
            _add(totals, change_of, 1.0)
            for v in range(n_views):
                if abs(change_of[v]) > tol:
                    unchanged = 0
            best_value = _best_so_far(
                totals, price, limits, most, excess, labels, tol, best_labels, best_value
            )
        if unchanged >= STILL:
            next_sweep = n_warm
    return best_labels, best_value


@njit(cache=True, nogil=True)
def swap_descent_measured(
    columns, cells, weights, labels, views, price, limits, most, least, tol
):  # fmt: skip
    """As `moves.swap_descent`, for any views."""
    n, n_views = labels.size, price.size
    labels = labels.copy()
    slots = slots_for(columns[3], n_views, n + 1)
    masses = slots[1]
    told_a, told_b, change_of = np.zeros(n_views), np.zeros(n_views), np.zeros(n_views)
    excess = np.zeros(most.size)
    improved = True
    while improved:
        improved = False
        _, totals = fill_measured(columns, weights, labels, views, slots)
        for x in range(n):
            for y in range(x + 1, n):
                a, b = labels[x], labels[y]
                to_a = weights[y] - weights[x]
                if a == b or min(masses[a] + to_a, masses[b] - to_a) < least:
                    continue
                _swap_changes(
                    columns, cells, weights, x, y, a, b, views, slots, told_a, told_b, change_of
                )
                if _dot(price, change_of) >= -tol:
                    continue
                _add(totals, change_of, 1.0)
                if not _over(totals, limits, most, excess):
                    _add(totals, change_of, -1.0)
                    continue
                _exchange(columns, weights, x, y, a, b, views, slots, told_a, told_b, labels)
                improved = True
    return labels


@njit(cache=True, nogil=True)
def proposals_measured(
    columns, cells, weights, labels, views, price, limits, most, schedule, least, room, tol, rng
):
    """As `proposals.anneal_by_proposals`, for any views: never more than ``room`` clusters."""
    n, n_views = labels.size, price.size
    labels = labels.copy()
    slots = slots_for(columns[3], n_views, room + 1)
    masses, sizes = slots[1], slots[2]
    n_clusters, totals = fill_measured(columns, weights, labels, views, slots)
    told_a, told_b, change_of = np.zeros(n_views), np.zeros(n_views), np.zeros(n_views)
    excess = np.zeros(most.size)
    best_labels = labels.copy()
    best_value = _dot(price, totals) if _over(totals, limits, most, excess) else np.inf
    for sweep in range(schedule.shape[0]):
        temperature, penalty = schedule[sweep, 0], schedule[sweep, 1]
        _, totals = fill_measured(columns, weights, labels, views, slots)
        for step in range(2 * n):
            x, y = int(rng.random() * n), int(rng.random() * n)
            a, b = labels[x], labels[y]
            swapping = step % 2 == 1
            if not swapping and n_clusters < room and rng.random() < ALONE:
                b = n_clusters
            if a == b or (b == n_clusters and sizes[a] == 1):
                continue
            out = weights[x] - (weights[y] if swapping else 0.0)
            leaves_none = not swapping and sizes[a] == 1
            if (not leaves_none and masses[a] - out < least) or masses[b] + out < least:
                continue
            other = y if swapping else -1
            _swap_changes(
                columns, cells, weights, x, other, a, b, views, slots, told_a, told_b, change_of
            )
            _over(totals, limits, most, excess)
            rise = _dot(price, change_of) + _penalised(change_of, excess, limits, penalty)
            if rise > -tol and (
                temperature <= 0.0 or rng.random() >= math.exp(-max(rise, 0.0) / temperature)
            ):
                continue
            _exchange(columns, weights, x, other, a, b, views, slots, told_a, told_b, labels)
            _add(totals, change_of, 1.0)
            if b == n_clusters:
                n_clusters += 1
            if sizes[a] == 0:
                n_clusters -= 1
                _close(a, n_clusters, labels, slots)
        best_value = _best_so_far(
            totals, price, limits, most, excess, labels, tol, best_labels, best_value
        )
    return best_labels, best_value


@njit(cache=True, nogil=True)
def insert_measured(columns, cells, weights, order, views, price, labels):
    """As `proposals.insert_in_order`, for any views."""
    n, n_views, n_clusters = order.size, price.size, 0
    slots = slots_for(columns[3], n_views, n)
    sums, masses, sizes, state, told = slots
    after, rise, scratch = np.zeros((n_views, n)), np.zeros(n), np.zeros(n)
    for x in order:
        n_slots = n_clusters + 1
        rise[:n_slots] = 0.0
        for v in range(n_views):
            if price[v] != 0.0:
                _join_view(columns, cells, weights, x, n_slots, v, views, slots, after, scratch)
                for c in range(n_slots):
                    rise[c] += price[v] * (after[v, c] - told[v, c])
        goal = cheapest(rise, n_slots, 0, 0.0)
        labels[x] = goal
        n_clusters = max(n_clusters, goal + 1)
        put(columns, x, weights[x], goal, sums, masses, sizes)
        for v in range(n_views):
            state[v, goal], told[v, goal] = tell(v, views, sums[:, goal], masses[goal])
    return n_clusters


@njit(cache=True)
def _pair_told(sums, masses, views, i, j, column, told_of):
    """What the merged clusters i and j tell in each view; ``sums[cluster, row]``."""
    for r in range(column.size):
        column[r] = sums[i, r] + sums[j, r]
    for v in range(told_of.size):
        told_of[v] = tell(v, views, column, masses[i] + masses[j])[1]


@njit(cache=True)
def merge_path_measured(sums, masses, views, price, stop_change):
    """As `merges.merge_path` without a slack: the merges, and the change of T by each."""
    n, n_views = (masses.size + 1) // 2, price.size
    alive = np.zeros(masses.size, dtype=np.bool_)
    alive[:n] = True
    told, told_of = np.zeros((masses.size, n_views)), np.zeros(n_views)
    column = np.zeros(sums.shape[1])
    for i in range(n):
        for v in range(n_views):
            told[i, v] = tell(v, views, sums[i], masses[i])[1]
    heap = [(0.0, np.int32(0), np.int32(0)) for _ in range(n * (n - 1) // 2)]
    entry = 0
    for i in range(n):
        for j in range(i + 1, n):
            _pair_told(sums, masses, views, i, j, column, told_of)
            change = (price * (told_of - told[i] - told[j])).sum()
            heap[entry] = (change, np.int32(i), np.int32(j))
            entry += 1
    heapq.heapify(heap)
    merges, changes = np.empty((n - 1, 2), dtype=np.int64), np.empty((n - 1, n_views))
    n_merges = 0
    while len(heap) > 0 and n_merges < n - 1:
        change, one, two = heapq.heappop(heap)
        i, j = np.int64(one), np.int64(two)  # else all below is compiled for both types
        if not (alive[i] and alive[j]):
            continue
        if change >= stop_change:
            break
        new = n + n_merges
        _pair_told(sums, masses, views, i, j, column, told_of)
        alive[i] = alive[j] = False
        sums[new] = column
        masses[new] = masses[i] + masses[j]
        for v in range(n_views):
            told[new, v] = told_of[v]
            changes[n_merges, v] = told_of[v] - told[i, v] - told[j, v]
        for other in range(new):
            if alive[other]:
                _pair_told(sums, masses, views, other, new, column, told_of)
                value = (price * (told_of - told[other] - told[new])).sum()
                heapq.heappush(heap, (value, np.int32(other), np.int32(new)))
        alive[new] = True
        merges[n_merges, 0], merges[n_merges, 1] = i, j
        n_merges += 1
    return merges[:n_merges], changes[:n_merges]
