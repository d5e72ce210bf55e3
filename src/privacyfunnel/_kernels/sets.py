"""Gains of the set functions f and g, symbol by symbol."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from privacyfunnel._kernels.eta import eta, eta_of


@njit(cache=True)
def chain_gains(indptr, indices, data, n_rows, order):
    """Gain of each symbol when the symbols are added in ``order``.

    The set function is F(W) = Σ_rows [Σ_{i∈W} η(w_i) − η(w_W)]; result[k] belongs to order[k].
    """
    sums = np.zeros(n_rows)
    gains = np.zeros(order.size)
    for k in range(order.size):
        x = order[k]
        gain = 0.0
        for cell in range(indptr[x], indptr[x + 1]):
            row, weight = indices[cell], data[cell]
            gain += eta(weight) + eta(sums[row]) - eta(sums[row] + weight)
            sums[row] += weight
        gains[k] = gain
    return gains


@njit(cache=True)
def set_gains(indptr, indices, data, n_rows, mask):
    """F(W ∪ x) − F(W \\ x) of every symbol x, for the set W of ``mask`` and F of `chain_gains`."""
    n = indptr.size - 1
    sums = np.zeros(n_rows)
    for x in range(n):
        if mask[x]:
            for cell in range(indptr[x], indptr[x + 1]):
                sums[indices[cell]] += data[cell]
    gains = np.zeros(n)
    for x in range(n):
        for cell in range(indptr[x], indptr[x + 1]):
            row, weight = indices[cell], data[cell]
            without = sums[row] - weight if mask[x] else sums[row]
            gains[x] += eta(weight) + eta(without) - eta(without + weight)
    return gains


@njit(cache=True)
def set_value(indptr, indices, data, n_rows, mask):
    """F(W) of the set of ``mask``, for F of `chain_gains`."""
    sums = np.zeros(n_rows)
    value = 0.0
    for x in range(mask.size):
        if mask[x]:
            for cell in range(indptr[x], indptr[x + 1]):
                sums[indices[cell]] += data[cell]
                value += eta(data[cell])
    for row in range(n_rows):
        value -= eta(sums[row])
    return value


@njit(cache=True)
def _rank(values, n, ranked, equals):
    """Positions of the first n values by rising value; counting has no branches to mispredict.

    Many values are put in order by gaps (Shell 1959): to compile NumPy's sort takes seconds.
    """
    if n > 400:
        for i in range(n):
            ranked[i] = i
        gap = 1
        while 3 * gap < n:
            gap = 3 * gap + 1
        while gap > 0:
            for i in range(gap, n):
                moved, j = ranked[i], i
                while j >= gap and values[ranked[j - gap]] > values[moved]:
                    ranked[j] = ranked[j - gap]
                    j -= gap
                ranked[j] = moved
            gap //= 3
        return
    equals[:n] = 0
    for i in range(n):
        rank, value = 0, values[i]
        for j in range(n):
            rank += values[j] < value
        ranked[rank + equals[rank]] = i
        equals[rank] += 1


@njit(cache=True)
def prefix_step(columns, masses, apart, highest, table, scales, order, workspace):
    """One step of SSP in closed form: the W that minimises scales[0] f(W) − h(W).

    h is the modular lower bound of scales[1] g along ``order``. With c_i = scales[0] η(p_i) − h_i
    the minimiser of c(W) − scales[0] η(p(W)) is a prefix of the symbols by rising c_i / p_i, and
    none of them has a ratio above ``highest``, the slope of scales[0] η at the whole mass.
    ``apart`` is the part scales[0] η(p_i) − scales[1] Σ_s η(p_{s,i}) of each symbol; ``workspace`` is
    room to work in, from `workspace_for`: |W| is returned, W lies in workspace[0][:|W|].
    """
    indptr, indices, data, _ = columns
    members, candidates, ranked, cost, ratios, sums = workspace
    sums[:] = 0
    one = np.uint64(1)
    for k in range(order.size):
        x = np.uint64(order[k])  # unsigned as in `eta_of`
        rise = 0.0
        for position in range(indptr[x], indptr[x + one]):
            cell = np.uint64(position)
            row = np.uint64(indices[cell])
            before = sums[row]
            after = before + data[cell]
            sums[row] = after
            rise += eta_of(after, table) - eta_of(before, table)
        cost[x] = apart[x] + scales[1] * rise
    n = np.int64(0)  # a plain 0 would have `_rank` compiled for it as well
    for x in range(order.size):
        candidates[n], ratios[n] = x, cost[x] / masses[x]
        n += ratios[n] < highest  # no branch: one that is no candidate is overwritten by the next
    _rank(ratios, n, ranked, members)
    best, size, mass, modular = 0.0, 0, masses[0] - masses[0], 0.0
    for k in range(n):
        x = candidates[ranked[k]]
        members[k] = x
        mass += masses[x]
        modular += cost[x]
        value = modular - scales[0] * eta_of(mass, table)
        if value < best:
            best, size = value, k + 1
    return size


def workspace_for(columns: tuple[Any, ...], masses: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Room for `prefix_step`: members, candidates, their ranks, costs, ratios and row sums.

    Not compiled, which would take half a second.
    """
    n, sums = masses.size, np.zeros(columns[3], columns[2].dtype)
    return (*np.empty((3, n), np.int64), *np.empty((2, n)), sums)


@njit(cache=True)
def _difference(columns, masses, apart, table, scales, members, sums):
    """scales[0] f(W) − scales[1] g(W) of the set of ``members``; ``sums`` is room for row sums."""
    indptr, indices, data, _ = columns
    sums[:] = 0
    value, mass = 0.0, masses[0] - masses[0]  # a zero of the masses' own type
    for x in members:
        mass += masses[x]
        value += apart[x]
        for cell in range(indptr[x], indptr[x + 1]):
            row = indices[cell]
            before = sums[row]
            sums[row] = before + data[cell]
            value += scales[1] * (eta_of(sums[row], table) - eta_of(before, table))
    return value - scales[0] * eta_of(mass, table)


@njit(cache=True)
def _apart(columns, masses, table, scales):
    """What each symbol adds to scales[0] f − scales[1] g on its own, before anything is merged."""
    indptr, _, data, _ = columns
    apart = np.empty(masses.size)
    for x in range(masses.size):
        apart[x] = scales[0] * eta_of(masses[x], table)
        for cell in range(indptr[x], indptr[x + 1]):
            apart[x] -= scales[1] * eta_of(data[cell], table)
    return apart


@njit(cache=True)
def _shuffle_from(members, inside, order, state):
    """A random order of all symbols that starts with ``members``; ``inside`` is all False."""
    low = members.size
    for k in range(low):
        order[k] = members[k]
        inside[members[k]] = True
    for x in range(order.size):
        if inside[x]:
            inside[x] = False
        else:
            order[low] = x
            low += 1
    for start, stop in ((0, members.size), (members.size, order.size)):
        for k in range(stop - 1, start, -1):
            # Marsaglia's xorshift (2003): enough for shuffling, and quick.
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            room = np.uint64(k - start + 1)
            j = start + np.int64(((state >> np.uint64(32)) * room) >> np.uint64(32))
            order[k], order[j] = order[j], order[k]
    return state


@njit(cache=True)
def ssp_in_closed_form(columns, masses, table, scales, starts, patience, tol, workspace, rng):
    """SSP of the funnel's step: the best subset of all starts, its value and the steps of all."""
    n = masses.size
    order, inside = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.bool_)
    nothing = np.empty(0, dtype=np.int64)
    apart = _apart(columns, masses, table, scales)
    highest = scales[0] * (math.log2(masses.sum()) + 1.0 / math.log(2.0))
    best, best_value, steps = nothing, 0.0, 0
    state = np.uint64(rng.random() * 2.0**53) | np.uint64(1)
    for _ in range(starts):
        members, value, left = nothing, 0.0, patience
        while left > 0:
            state = _shuffle_from(members, inside, order, state)
            size = prefix_step(columns, masses, apart, highest, table, scales, order, workspace)
            found = workspace[0][:size]
            found_value = _difference(columns, masses, apart, table, scales, found, workspace[-1])
            steps += 1
            left -= 1
            if found_value < value - tol:
                members, value, left = found.copy(), found_value, patience
        if value < best_value:
            best, best_value = members, value
    subset = np.zeros(n, dtype=np.bool_)
    for x in best:
        subset[x] = True
    return subset, best_value, steps
