"""Groups of one column's values: intervals, cuts of a tree and subsets, priced from their cells.

Given what the other columns are released as (r), a group of values of one column fills the cells r with
summed vectors over s, and its price is a sum over them (additive measures, `cell_measure`), plus what
is kept of the column. ``cells`` = (indptr, r, s, weight) lists for each value the weights of its cells,
those of one r together. ``costs`` = (depth, least, keep, total, unit, each): a cell that weighs less than
``least`` is not released but suppressed, which costs ``depth[r]`` and the column's own loss for each unit
of its weight; ``keep`` is the price of one bit of the column, ``total`` the weight of all; a budget is
spent by every group, ``each``, and for every bit of the column that it loses, ``unit``.
``measure`` = (kind, weights, table, chance, n_s[, views]): the number of a measure, or `WEIGHED`, where
the rows of a use stand below those of S and each row has its weight, the last one being that of the
cell's mass; the table of η; what each cell costs for what it would tell by chance; the number of rows
that make up the mass; and, of all but Shannon's, the measure as `_kernels.measured` takes it, one view.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from privacyfunnel._kernels.eta import eta_of
from privacyfunnel._kernels.measured import tell
from privacyfunnel._kernels.partitions import least_costs

REACH = 128  # places between cuts that an interval between any two of them holds
WEIGHED = 102  # next to the numbers of the measures


@njit(cache=True)
def cell_measure(row, mass, measure):
    """What one released cell tells about S: the m(q) of an additive measure, homogeneous in q.

    Shannon: Σ_s η(q_s) − η(q). With a use, what is told about it is taken off: Σ_r w_r η(q_r) + w₀ η(q).
    """
    if len(measure) == 6:  # known when it is compiled: Shannon's loops do not even carry the views
        return measure[3] + tell(0, measure[5], row, mass)[1]
    table = measure[2]
    if measure[0] == WEIGHED:
        told = measure[3] + measure[1][row.size] * eta_of(mass, table)
        for r in range(row.size):
            told += measure[1][r] * eta_of(row[r], table)
        return told
    told = measure[3] - eta_of(mass, table)
    for s in range(row.size):
        told += eta_of(row[s], table)
    return told


@njit(cache=True)
def _add(cells, value, sign, group, small, costs, measure):
    """Add a value to a group (sign 1) or take it out; the change of what its cells tell.

    ``group`` = (sums[r, s], masses[r], told[r]) are its cells and what each tells, nothing where it is
    too small; ``small`` the weight of its cells below the least and what suppressing them costs.
    """
    indptr, rows, symbols, weights = cells
    sums, masses, told = group
    depth, least = costs[0], costs[1]
    more = 0.0
    cell, end = indptr[value], indptr[value + 1]
    while cell < end:
        r = rows[cell]
        more -= told[r]
        if masses[r] < least:
            small[0] -= masses[r]
            small[1] -= masses[r] * depth[r]
        while cell < end and rows[cell] == r:
            sums[r, symbols[cell]] += sign * weights[cell]
            if symbols[cell] < measure[4]:
                masses[r] += sign * weights[cell]
            cell += 1
        told[r] = 0.0
        if masses[r] < least:
            small[0] += masses[r]
            small[1] += masses[r] * depth[r]
        elif masses[r] > 0.0:
            told[r] = cell_measure(sums[r], masses[r], measure)
        more += told[r]
    return more


@njit(cache=True)
def _no_cells(n_r, n_s):
    """The cells of a group without values."""
    return np.zeros((n_r, n_s)), np.zeros(n_r), np.zeros(n_r)


@njit(cache=True)
def _clear(cells, value, group):
    """Forget the cells of a value."""
    indptr, rows, symbols, _ = cells
    sums, masses, told = group
    for cell in range(indptr[value], indptr[value + 1]):
        sums[rows[cell], symbols[cell]] = 0.0
        masses[rows[cell]] = told[rows[cell]] = 0.0


@njit(cache=True)
def _price(told, small, weight, costs):
    """The price of a group of that weight: what is told less what is kept, and what is suppressed."""
    keep, total = costs[2], costs[3]
    if weight <= 0.0:
        return 0.0
    loss = math.log2(weight / total)  # of one unit of weight: log p(group)
    return told + keep * loss * (weight - small[0]) + small[1]


@njit(cache=True)
def _spent(weight, losses, low, high, costs):
    """Units of a budget that the values low to high of an order take as one group."""
    total, unit, each = costs[3], costs[4], costs[5]
    if unit == 0.0:  # nothing is lost that counts, and no losses are given
        return each
    share = weight / total
    return each + max(0.0, (share * math.log2(share) - (losses[high] - losses[low])) * unit)


@njit(cache=True)
def cut_intervals(cells, order, weights, n_r, n_s, cut_price, far, losses, n_bins, costs, measure):
    """The cheapest cuts of values in a given order into intervals, exactly, for every budget.

    ``cut_price[j]`` is added where a cut stands before position j of ``order``, infinite where none
    may. An interval of more than `REACH` of the places between cuts begins and ends where ``far``
    is true. One that starts at position i and ends before j loses ``losses[j] - losses[i]`` less than
    η of its share: of values on their own nothing is lost. The budget is counted in ``n_bins``. Returns
    the price and what is spent, not rounded, for each bin at the end; starts and bins to walk back by.
    """
    n = order.size
    best = np.full((n + 1, n_bins + 1), np.inf)
    exact = np.zeros((n + 1, n_bins + 1))
    start = np.zeros((n + 1, n_bins + 1), dtype=np.int64)
    spent = np.zeros((n + 1, n_bins + 1), dtype=np.int64)
    best[0, 0] = 0.0
    group, small = _no_cells(n_r, n_s), np.zeros(2)
    for j in range(1, n + 1):
        if j < n and math.isinf(cut_price[j]):
            continue
        told, weight = 0.0, 0.0
        small[:] = 0.0
        low, places = j, 0
        while low > 0 and (far[j] or places < REACH):
            low -= 1
            value = order[low]
            told += _add(cells, value, 1.0, group, small, costs, measure)
            weight += weights[value]
            if low > 0 and math.isinf(cut_price[low]):
                continue
            places += 1
            if places > REACH and not far[low]:
                continue
            price = _price(told, small, weight, costs)
            if low > 0:
                price += cut_price[low]
            loss = _spent(weight, losses, low, j, costs)
            bins = int(loss + 0.5)
            if bins > n_bins:
                break  # a wider interval loses more
            for b in range(n_bins + 1 - bins):
                if best[low, b] + price < best[j, b + bins]:
                    best[j, b + bins] = best[low, b] + price
                    exact[j, b + bins] = exact[low, b] + loss
                    start[j, b + bins] = low
                    spent[j, b + bins] = bins
        for i in range(low, j):
            _clear(cells, order[i], group)
    return best[n], exact[n], start, spent


@njit(cache=True)
def cut_tree(cells, order, weights, n_r, n_s, low, high, parent, losses, n_bins, costs, measure):
    """The cheapest cut of a tree, exactly, bottom up, for every budget; see `cut_intervals`.

    Node k holds the values ``order[low[k]:high[k]]``; children come before their parents, the root is
    last. Returns the price and what is spent for each bin at the root; of each node and bin, whether the
    node is whole if nothing above it is, and the bins that it has of its parent's.
    """
    n_nodes = parent.size
    best = np.full((n_nodes, n_bins + 1), np.inf)
    exact = np.zeros((n_nodes, n_bins + 1))
    whole = np.zeros((n_nodes, n_bins + 1), dtype=np.bool_)
    part = np.zeros((n_nodes, n_bins + 1), dtype=np.int64)
    begun = np.zeros(n_nodes, dtype=np.bool_)
    group, small = _no_cells(n_r, n_s), np.zeros(2)
    merged, merged_exact = np.zeros(n_bins + 1), np.zeros(n_bins + 1)
    for node in range(n_nodes):
        told, weight = 0.0, 0.0
        small[:] = 0.0
        for i in range(low[node], high[node]):
            told += _add(cells, order[i], 1.0, group, small, costs, measure)
            weight += weights[order[i]]
        for i in range(low[node], high[node]):
            _clear(cells, order[i], group)
        price = _price(told, small, weight, costs)
        loss = _spent(weight, losses, low[node], high[node], costs)
        bins = int(loss + 0.5)
        if bins <= n_bins and price <= best[node, bins]:
            best[node, bins], exact[node, bins], whole[node, bins] = price, loss, True
        up = parent[node]
        if up < 0:
            continue
        if not begun[up]:
            begun[up] = True
            for b in range(n_bins + 1):
                best[up, b], exact[up, b], part[node, b] = best[node, b], exact[node, b], b
            continue
        merged[:] = np.inf
        for b in range(n_bins + 1):
            if math.isinf(best[node, b]):
                continue
            for a in range(n_bins + 1 - b):
                if best[up, a] + best[node, b] < merged[a + b]:
                    merged[a + b] = best[up, a] + best[node, b]
                    merged_exact[a + b] = exact[up, a] + exact[node, b]
                    part[node, a + b] = b
        for b in range(n_bins + 1):
            best[up, b], exact[up, b] = merged[b], merged_exact[b]
    return best[n_nodes - 1], exact[n_nodes - 1], whole, part


@njit(cache=True)
def best_groups(cells, weights, n_r, n_s, costs, measure):
    """The cheapest partition of a few values into groups, exactly: 3^n steps over subsets.

    Returns for each set of values (as bits) its group that holds the lowest of them.
    """
    n = weights.size
    sums, small = _no_cells(n_r, n_s), np.zeros(2)
    prices = np.zeros(1 << n)
    told, weight, members = 0.0, 0.0, 0
    for step in range(1, 1 << n):  # Gray code: one value comes or goes at each step
        bit = 0
        while not (step >> bit) & 1:
            bit += 1
        sign = -1.0 if (members >> bit) & 1 else 1.0
        members ^= 1 << bit
        told += _add(cells, bit, sign, sums, small, costs, measure)
        weight += sign * weights[bit]
        prices[members] = _price(told, small, weight, costs)
    return least_costs(prices, n)[1]


@njit(cache=True)
def _with(cells, value, sign, group, row, costs, measure):
    """What a group of cells (sums, masses, told) would change by if a value came or went.

    Returns the changes of what it tells, of its small weight and of what suppressing that costs.
    """
    indptr, rows, symbols, weights = cells
    sums, masses, told = group
    depth, least = costs[0], costs[1]
    more, small, cost = 0.0, 0.0, 0.0
    cell, end = indptr[value], indptr[value + 1]
    while cell < end:
        r = rows[cell]
        mass = masses[r]
        if mass < least:
            small -= mass
            cost -= mass * depth[r]
        row[:] = sums[r]
        while cell < end and rows[cell] == r:
            row[symbols[cell]] += sign * weights[cell]
            if symbols[cell] < measure[4]:
                mass += sign * weights[cell]
            cell += 1
        more -= told[r]
        if mass < least:
            small += mass
            cost += mass * depth[r]
        elif mass > 0.0:
            more += cell_measure(row, mass, measure)
    return more, small, cost


@njit(cache=True)
def move_groups(cells, labels, weights, n_r, n_s, n_groups, costs, measure, orders):
    """Lower the price of a partition of values by moving one at a time, in each of ``orders``.

    ``labels[v]`` below ``n_groups`` are changed in place; a move may open a new group while there is
    an empty one. Returns the price.
    """
    sums = np.zeros((n_groups, n_r, n_s))
    masses, told = np.zeros((n_groups, n_r)), np.zeros((n_groups, n_r))
    totals = np.zeros((n_groups, 3))  # what the group tells, its small weight, what that costs
    weight, price = np.zeros(n_groups), np.zeros(n_groups)
    row, small = np.zeros(n_s), np.zeros(2)
    for v in range(labels.size):
        g = labels[v]
        group = (sums[g], masses[g], told[g])
        totals[g, 0] += _add(cells, v, 1.0, group, totals[g, 1:], costs, measure)
        weight[g] += weights[v]
    for g in range(n_groups):
        price[g] = _price(totals[g, 0], totals[g, 1:], weight[g], costs)
    for sweep in range(orders.shape[0]):
        moved = False
        for v in orders[sweep]:
            home = labels[v]
            group = (sums[home], masses[home], told[home])
            alone = weight[home] <= weights[v] * (1.0 + 1e-12)
            left = 0.0
            if not alone:
                more, small[0], small[1] = _with(cells, v, -1.0, group, row, costs, measure)
                small += totals[home, 1:]
                left = _price(totals[home, 0] + more, small, weight[home] - weights[v], costs)
            cheapest, change = home, price[home] - left - 1e-12 * costs[3]
            tried_empty = alone
            for g in range(n_groups):
                if g == home:
                    continue
                if weight[g] <= 0.0:
                    if tried_empty:
                        continue
                    tried_empty = True
                group = (sums[g], masses[g], told[g])
                more, small[0], small[1] = _with(cells, v, 1.0, group, row, costs, measure)
                small += totals[g, 1:]
                joined = _price(totals[g, 0] + more, small, weight[g] + weights[v], costs)
                if joined - price[g] < change:
                    cheapest, change = g, joined - price[g]
            if cheapest == home:
                continue
            moved = True
            labels[v] = cheapest
            for g, sign in ((home, -1.0), (cheapest, 1.0)):
                group = (sums[g], masses[g], told[g])
                totals[g, 0] += _add(cells, v, sign, group, totals[g, 1:], costs, measure)
                weight[g] += sign * weights[v]
                price[g] = _price(totals[g, 0], totals[g, 1:], weight[g], costs)
            if alone:
                sums[home], masses[home], told[home] = 0.0, 0.0, 0.0
                totals[home], weight[home], price[home] = 0.0, 0.0, 0.0
        if not moved:
            break
    return price.sum()
