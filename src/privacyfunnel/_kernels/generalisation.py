"""Moves of symbols between generalised tuples, one by one and in blocks: local recoding.

``tree`` = (leaf, start, depth, nodes, loss, hashes, rates): ``leaf[x, i]`` numbers the value of column i
behind x; its nodes, from itself up to ``*``, are ``nodes[start[leaf] + k]`` for k < ``depth[leaf]``;
``loss[node]`` is rate · log p(node), at most 0 and 0 for ``*``; ``hashes[node]`` are random numbers whose
exclusive or names a tuple; ``rates[node]`` is above 0 where what is kept of its column i is I(X_i;X̂_i) at
that rate, and 0 where it is the sum of the losses. ``levels[x, i]`` is the state. Clusters live in slots
that are found by the tuple's hash in an open table; a slot that becomes empty is given back.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from privacyfunnel._kernels.cells import cell_measure
from privacyfunnel._kernels.eta import eta_of
from privacyfunnel.measures.measure import SHANNON

PAIRS = 0.25  # share of the moves that change two columns at once
BLOCKS = 0.2  # share of those that take other symbols of the cell along
BLOCK_SIZE = 64  # symbols of a cell beyond which blocks are proposed less often


@njit(cache=True)
def _find(key, keys, slots):
    """The place of a key in the open table, or of the empty entry where it would go."""
    mask = keys.size - 1
    place = np.int64(key & np.uint64(mask))
    while slots[place] >= 0 and keys[place] != key:
        place = (place + 1) & mask
    return place


@njit(cache=True)
def _forget(place, keys, slots):
    """Take an entry out of the open table and close the gap behind it."""
    mask = keys.size - 1
    hole = place
    slots[hole] = -1
    place = (place + 1) & mask
    while slots[place] >= 0:
        home = np.int64(keys[place] & np.uint64(mask))
        if ((place - home) & mask) >= ((place - hole) & mask):
            keys[hole], slots[hole] = keys[place], slots[place]
            slots[place] = -1
            hole = place
        place = (place + 1) & mask


@njit(cache=True)
def _told_with(columns, who, sign, row, mass, told, measure, scratch):
    """What a cell would tell if the symbols ``who`` came (sign 1) or went (−1)."""
    indptr, indices, data, _ = columns
    if who.size == 1 and measure[0] == SHANNON:  # only the symbols of x change
        table = measure[2]
        moved = 0.0
        for cell in range(indptr[who[0]], indptr[who[0] + 1]):
            here = row[indices[cell]]
            told += eta_of(here + sign * data[cell], table) - eta_of(here, table)
            moved += data[cell]
        return told - eta_of(mass + sign * moved, table) + eta_of(mass, table)
    scratch[:] = row
    for x in who:
        for cell in range(indptr[x], indptr[x + 1]):
            scratch[indices[cell]] += sign * data[cell]
            mass += sign * data[cell]
    return cell_measure(scratch, mass, measure)


@njit(cache=True)
def _place(columns, x, sign, slot, sums, masses):
    indptr, indices, data, _ = columns
    for cell in range(indptr[x], indptr[x + 1]):
        sums[slot, indices[cell]] += sign * data[cell]
        masses[slot] += sign * data[cell]


@njit(cache=True)
def _cost(told, mass, depth, least, mu):
    """The price of a cell: what it tells, or, where it is too small, what climbing to * would lose."""
    return told if mass >= least else mu * mass * depth


@njit(cache=True)
def _lost(weight, old, new, tree, spread, node_mass, table):
    """What is lost of a column if a weight goes from one level of a value to another.

    ``old`` and ``new`` are positions in the list of nodes; ``spread`` is the weight of each value at each
    of its levels, ``node_mass`` that of each node, of which I(X_i;X̂_i) is a sum.
    """
    _, _, _, nodes, loss, _, rates = tree
    a, b = nodes[old], nodes[new]
    if rates[a] == 0.0:
        return weight * (loss[b] - loss[a])
    told = eta_of(spread[old] - weight, table) + eta_of(spread[new] + weight, table)
    told -= eta_of(spread[old], table) + eta_of(spread[new], table)
    told -= eta_of(node_mass[a] - weight, table) + eta_of(node_mass[b] + weight, table)
    told += eta_of(node_mass[a], table) + eta_of(node_mass[b], table)
    return -rates[a] * told


@njit(cache=True)
def _all_lost(weights, levels, tree, spread, node_mass, table):
    """Minus what is kept of all columns; ``spread`` and ``node_mass`` are filled."""
    leaf, start, depth, nodes, loss, _, rates = tree
    spread[:] = 0.0
    node_mass[:] = 0.0
    lost, total = 0.0, 0.0
    for x in range(levels.shape[0]):
        total += weights[x]
        for i in range(levels.shape[1]):
            at = start[leaf[x, i]] + levels[x, i]
            spread[at] += weights[x]
            node_mass[nodes[at]] += weights[x]
            if rates[nodes[at]] == 0.0:
                lost += weights[x] * loss[nodes[at]]
    for at in range(spread.size):
        lost -= rates[nodes[at]] * eta_of(spread[at], table)
    for v in range(start.size):
        own = 0.0
        for k in range(depth[v]):
            own += spread[start[v] + k]
        lost += rates[nodes[start[v]]] * eta_of(own, table)
    for i in range(levels.shape[1]):
        lost -= rates[nodes[start[leaf[0, i]]]] * eta_of(total, table)
    for node in range(node_mass.size):
        lost += rates[node] * eta_of(node_mass[node], table)
    return lost


@njit(cache=True)
def _link(x, slot, chain):
    """Put a symbol at the head of a cell's list."""
    head, after, before, sizes = chain
    after[x], before[x] = head[slot], -1
    if head[slot] >= 0:
        before[head[slot]] = x
    head[slot] = x
    sizes[slot] += 1


@njit(cache=True)
def _unlink(x, slot, chain):
    head, after, before, sizes = chain
    if before[x] >= 0:
        after[before[x]] = after[x]
    else:
        head[slot] = after[x]
    if after[x] >= 0:
        before[after[x]] = before[x]
    sizes[slot] -= 1


@njit(cache=True)
def _level_at(here, node, tree):
    """How many steps above a value a node lies; −1 if it does not lie above it."""
    _, start, depth, nodes, _, _, _ = tree
    for k in range(depth[here]):
        if nodes[start[here] + k] == node:
            return k
    return -1


@njit(cache=True)
def _block(slot, moves, tree, chain, who, to):
    """All symbols of a cell that the new nodes of ``moves`` = (i, node), (j, node) cover; j may be −1.

    Fills ``who`` and their new levels ``to``; returns how many they are.
    """
    leaf, n = tree[0], 0
    (i, node), (j, node_j) = moves
    x = chain[0][slot]
    while x >= 0:
        to[n, 0] = _level_at(leaf[x, i], node, tree)
        to[n, 1] = _level_at(leaf[x, j], node_j, tree) if j >= 0 else 0
        if to[n, 0] >= 0 and to[n, 1] >= 0:
            who[n] = x
            n += 1
        x = chain[1][x]
    return n


@njit(cache=True)
def _shift(who, to, i, k, weights, levels, tree, spread, node_mass, sign):
    """Count the weights of ``who`` at the new levels of column i (sign 1), or back at the old (−1)."""
    leaf, start, _, nodes, _, _, _ = tree
    for m in range(who.size):
        x = who[m]
        first = start[leaf[x, i]]
        old, new = first + levels[x, i], first + to[m, k]
        spread[old] -= sign * weights[x]
        spread[new] += sign * weights[x]
        node_mass[nodes[old]] -= sign * weights[x]
        node_mass[nodes[new]] += sign * weights[x]


@njit(cache=True)
def _block_lost(who, to, i, k, weights, levels, tree, spread, node_mass, table):
    """What is lost of column i if the symbols go to their new levels together."""
    leaf, start, _, nodes, _, _, rates = tree
    # I(X_i;X̂_i) is no sum over symbols: one after the other, then back.
    in_turn = who.size > 1 and rates[nodes[start[leaf[who[0], i]]]] > 0.0
    lost = 0.0
    for m in range(who.size):
        x = who[m]
        first = start[leaf[x, i]]
        old, new = first + levels[x, i], first + to[m, k]
        lost += _lost(weights[x], old, new, tree, spread, node_mass, table)
        if in_turn:
            _shift(who[m : m + 1], to[m : m + 1], i, k, weights, levels, tree, spread, node_mass, 1)
    if in_turn:
        _shift(who, to, i, k, weights, levels, tree, spread, node_mass, -1)
    return lost


@njit(cache=True)
def _no_cells(n_x, n_s):
    """An open table, its keys and slots, without entries; and the sums, masses and told of no cell."""
    size = 4
    while size < 4 * (n_x + 1):
        size *= 2
    table = np.zeros(size, dtype=np.uint64), np.full(size, -1, dtype=np.int64)
    return table, (np.zeros((n_x + 1, n_s)), np.zeros(n_x + 1), np.zeros(n_x + 1))


@njit(cache=True)
def _fill(columns, tree, levels, measure, used, table, cells):
    """Put all symbols into the cells of their tuples, in slots from ``used`` on.

    Returns the key and the slot of each symbol and how many slots are used then.
    """
    leaf, start, _, nodes, _, hashes, _ = tree
    keys, slots = table
    sums, masses, told = cells
    key_of = np.zeros(levels.shape[0], dtype=np.uint64)
    slot_of = np.zeros(levels.shape[0], dtype=np.int64)
    for x in range(levels.shape[0]):
        for i in range(levels.shape[1]):
            key_of[x] ^= hashes[nodes[start[leaf[x, i]] + levels[x, i]]]
        place = _find(key_of[x], keys, slots)
        if slots[place] < 0:
            keys[place], slots[place] = key_of[x], used
            used += 1
        slot_of[x] = slots[place]
        _place(columns, x, 1.0, slot_of[x], sums, masses)
    for slot in range(used):
        if masses[slot] > 0.0:
            told[slot] = cell_measure(sums[slot], masses[slot], measure)
    return key_of, slot_of, used


@njit(cache=True, nogil=True)
def generalise(
    columns, tree, levels, weights, measure, mu, goal, ties, temperatures, least, strict, rng
):
    """Anneal the levels of all symbols in place; one temperature for each sweep of n moves.

    A move takes one symbol to another of its tuples, or with it all symbols of its cell that the new
    tuple covers: a cell as a whole, or a part of it, goes up or down a tree where one symbol
    after the other would have to pass through cells that are too small.

    Lowers Σ_cells told + ``mu`` · Σ_x weight · loss (negative: what is kept), where ``mu`` follows the
    ``goal`` = (kind, value, gain, lowest, most): kind 0 leaves it, 1 steers Σ weight · loss to the value,
    2 steers Σ told to it, between the lowest mu and the most. With ``strict`` no cell comes to weigh
    less than ``least`` and the goal is never left: a move that would overshoot it is refused, and what
    the goal does not bound is lowered alone. Among moves that change it by no more than ``ties[0]`` what
    it bounds decides; what is told has the weight ``ties[1]`` there.
    Returns mu, Σ told and Σ weight · loss.
    """
    leaf, start, depth, nodes, loss, hashes, _ = tree
    n_x, n_columns = levels.shape
    (keys, slots), (sums, masses, told) = _no_cells(n_x, columns[3])
    key_of, slot_of, used = _fill(
        columns, tree, levels, measure, 0, (keys, slots), (sums, masses, told)
    )
    free = np.arange(n_x, -1, -1)
    n_free = n_x + 1 - used
    level_of = np.zeros(n_x)  # Σ_i loss of the nodes of x
    chain = (  # the symbols of each cell
        np.full(n_x + 1, -1, dtype=np.int64),
        np.zeros(n_x, dtype=np.int64),
        np.zeros(n_x, dtype=np.int64),
        np.zeros(n_x + 1, dtype=np.int64),
    )
    who_all, to_all = np.zeros(n_x, dtype=np.int64), np.zeros((n_x, 2), dtype=np.int64)
    scratch = np.zeros(columns[3])
    for x in range(n_x):
        for i in range(n_columns):
            level_of[x] += loss[nodes[start[leaf[x, i]] + levels[x, i]]]
        _link(x, slot_of[x], chain)
    spread, node_mass, table = np.zeros(nodes.size), np.zeros(loss.size), measure[2]
    total_loss = _all_lost(weights, levels, tree, spread, node_mass, table)
    pure_told = 0.0
    for slot in range(used):
        pure_told += told[slot] - measure[3]
    kind, value, gain, lowest, most = goal
    nothing_gained, slight = ties[0] * weights.sum(), ties[1]
    for sweep in range(temperatures.size):
        temperature = temperatures[sweep]
        for _ in range(n_x):
            x = rng.integers(0, n_x)
            i = rng.integers(0, n_columns)
            here = leaf[x, i]
            level = rng.integers(0, depth[here] - 1)
            level += level >= levels[x, i]
            old, new = nodes[start[here] + levels[x, i]], nodes[start[here] + level]
            key = key_of[x] ^ hashes[old] ^ hashes[new]
            change = loss[new] - loss[old]
            j, level_j, new_j = -1, 0, 0
            if n_columns > 1 and rng.random() < PAIRS:  # one column may pay for the other
                j = rng.integers(0, n_columns)
                there = leaf[x, j]
                if j == i:
                    j = -1
                else:
                    level_j = rng.integers(0, depth[there] - 1)
                    level_j += level_j >= levels[x, j]
                    old_j, new_j = nodes[start[there] + levels[x, j]], nodes[start[there] + level_j]
                    key ^= hashes[old_j] ^ hashes[new_j]
                    change += loss[new_j] - loss[old_j]
            home = slot_of[x]
            n_who = 1
            if (
                chain[3][home] > 1
                and rng.random() < BLOCKS
                and rng.random() * chain[3][home] < BLOCK_SIZE
            ):
                n_who = _block(home, ((i, new), (j, new_j)), tree, chain, who_all, to_all)
            else:
                who_all[0], to_all[0, 0], to_all[0, 1] = x, level, level_j
            who, to = who_all[:n_who], to_all[:n_who]
            weight = 0.0
            for one in who:
                weight += weights[one]
            alone = n_who == chain[3][home]
            left = masses[home] - weight
            place = _find(key, keys, slots)
            is_new = slots[place] < 0
            away = free[n_free - 1] if is_new else slots[place]
            came = masses[away] + weight
            if strict and ((not alone and left < least) or came < least):
                continue
            lost = _block_lost(who, to, i, 0, weights, levels, tree, spread, node_mass, table)
            if j >= 0:
                lost += _block_lost(who, to, j, 1, weights, levels, tree, spread, node_mass, table)
            told_home = 0.0
            if not alone:
                told_home = _told_with(
                    columns, who, -1.0, sums[home], masses[home], told[home], measure, scratch
                )
            before = measure[3] if is_new else told[away]
            told_away = _told_with(
                columns, who, 1.0, sums[away], masses[away], before, measure, scratch
            )
            more = told_home + told_away - told[home] - told[away]
            more_cells = is_new - alone
            delta = more + mu * lost
            if strict and kind == 1:
                if total_loss + lost > value:
                    continue
                delta = more
            elif strict and kind == 2:
                if pure_told + more - more_cells * measure[3] > value:
                    continue
                delta = lost + slight * more
            elif not strict and least > 0.0:
                deep, deep_new = -level_of[x], -level_of[x] - change
                delta = mu * lost - _cost(told[home], masses[home], deep, least, mu)
                if not alone:
                    delta += _cost(told_home, left, deep, least, mu)
                delta += _cost(told_away, came, deep_new, least, mu)
                delta -= _cost(told[away], masses[away], deep_new, least, mu)
            if delta > 0.0 and (
                temperature <= 0.0 or rng.random() >= math.exp(-delta / temperature)
            ):
                continue
            if strict and temperature <= 0.0 and delta > -nothing_gained and lost >= 0.0:
                continue
            pure_told += more - more_cells * measure[3]
            total_loss += lost
            if is_new:
                n_free -= 1
                keys[place], slots[place] = key, away
            if alone:
                _forget(_find(key_of[x], keys, slots), keys, slots)
                free[n_free] = home
                n_free += 1
            _shift(who, to, i, 0, weights, levels, tree, spread, node_mass, 1.0)
            if j >= 0:
                _shift(who, to, j, 1, weights, levels, tree, spread, node_mass, 1.0)
            for m in range(n_who):
                one = who[m]
                levels[one, i] = to[m, 0]
                if j >= 0:
                    levels[one, j] = to[m, 1]
                _place(columns, one, -1.0, home, sums, masses)
                _place(columns, one, 1.0, away, sums, masses)
                _unlink(one, home, chain)
                _link(one, away, chain)
                key_of[one], slot_of[one] = key, away
                level_of[one] += change
            told[home], told[away] = told_home, told_away
            if alone:
                sums[home], masses[home], told[home] = 0.0, 0.0, 0.0
        # What drifted in the last digits is summed afresh; small cells count as if they had climbed.
        pure_told, climbed = 0.0, 0.0
        total_loss = _all_lost(weights, levels, tree, spread, node_mass, table)
        for slot in range(n_x + 1):
            if masses[slot] > 0.0 and (strict or masses[slot] >= least):
                pure_told += told[slot] - measure[3]
        for x in range(n_x):
            if masses[slot_of[x]] < least:
                climbed -= weights[x] * level_of[x]
        if not strict and kind > 0:
            miss = total_loss + climbed - value if kind == 1 else value - pure_told
            mu = min(most, max(lowest, mu * math.exp(max(-0.5, min(0.5, gain * miss)))))
    return mu, pure_told, total_loss


@njit(cache=True)
def climb(columns, tree, levels, weights, measure, mu, least):
    """Take symbols out of cells that weigh less than ``least`` to the cheapest that does not, or to *.

    Changes ``levels`` in place. All generalisations of such a symbol are looked up whose every node
    stands in some cell that is large enough: six columns have a hundred thousand others.
    """
    leaf, start, depth, nodes, loss, hashes, _ = tree
    n_x, n_columns = levels.shape
    (keys, slots), (sums, masses, told) = _no_cells(n_x, columns[3])
    level, turn = np.zeros(n_columns, dtype=np.int64), np.zeros(n_columns, dtype=np.int64)
    scratch = np.zeros(columns[3])
    one = np.zeros(1, dtype=np.int64)
    top = np.uint64(0)
    for i in range(n_columns):
        top ^= hashes[nodes[start[leaf[0, i]] + depth[leaf[0, i]] - 1]]
    place = _find(top, keys, slots)
    keys[place], slots[place] = top, 0
    _, slot_of, _ = _fill(columns, tree, levels, measure, 1, (keys, slots), (sums, masses, told))
    large = masses >= least
    stands = np.zeros(loss.size, dtype=np.bool_)
    for x in range(n_x):
        for i in range(n_columns):
            if large[slot_of[x]]:
                stands[nodes[start[leaf[x, i]] + levels[x, i]]] = True
            stands[nodes[start[leaf[x, i]] + depth[leaf[x, i]] - 1]] = True  # the *
    heights = np.zeros((n_columns, depth.max()), dtype=np.int64)  # where they stand above a symbol
    n_heights = np.zeros(n_columns, dtype=np.int64)
    for x in range(n_x):
        if large[slot_of[x]] or slot_of[x] == 0:
            continue
        n_heights[:] = 0
        for i in range(n_columns):
            for height in range(depth[leaf[x, i]]):
                if stands[nodes[start[leaf[x, i]] + height]]:
                    heights[i, n_heights[i]] = height
                    n_heights[i] += 1
        cheapest, goes_to = np.inf, 0
        turn[:] = 0
        while True:
            key, change = np.uint64(0), 0.0
            for i in range(n_columns):
                level[i] = heights[i, turn[i]]
                node = nodes[start[leaf[x, i]] + level[i]]
                key ^= hashes[node]
                change += loss[node]
            place = _find(key, keys, slots)
            if slots[place] >= 0 and (large[slots[place]] or key == top):
                slot = slots[place]
                before = told[slot] if masses[slot] > 0.0 else measure[3]
                one[0] = x
                cost = _told_with(
                    columns, one, 1.0, sums[slot], masses[slot], before, measure, scratch
                )
                cost += mu * weights[x] * change - before
                if cost < cheapest:
                    cheapest, goes_to = cost, slot
                    levels[x] = level
            i = 0
            while i < n_columns and turn[i] == n_heights[i] - 1:
                turn[i] = 0
                i += 1
            if i == n_columns:
                break
            turn[i] += 1
        _place(columns, x, 1.0, goes_to, sums, masses)
        told[goes_to] = cell_measure(sums[goes_to], masses[goes_to], measure)
