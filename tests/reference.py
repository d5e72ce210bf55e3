"""Slow and obvious twins of everything fast: what the words of the definitions say, in loops."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np

from privacyfunnel import Joint, Partition


def eta(t: float) -> float:
    return t * math.log2(t) if t > 0 else 0.0


def mutual_information(p_xy: np.ndarray) -> float:
    total = 0.0
    for x in range(p_xy.shape[0]):
        for y in range(p_xy.shape[1]):
            if p_xy[x, y] > 0:
                total += p_xy[x, y] * math.log2(p_xy[x, y] / (p_xy[x].sum() * p_xy[:, y].sum()))
    return total


def leakage(joint: Joint, code: Partition) -> float:
    return mutual_information(joint.p_sx.toarray() @ code.matrix.toarray())


def utility(joint: Joint, code: Partition) -> float:
    return mutual_information(joint.p_x[:, None] * code.matrix.toarray())


def lagrangian(joint: Joint, labels: Sequence[int], weights: tuple[float, float]) -> float:
    code = Partition(np.asarray(labels))
    return weights[0] * leakage(joint, code) + weights[1] * utility(joint, code)


def boltzmann(costs: Sequence[float], temperature: float) -> np.ndarray:
    weights = np.array([math.exp(-cost / temperature) for cost in costs])
    return weights / weights.sum()


def f(joint: Joint, subset: Sequence[int]) -> float:
    p = [joint.p_x[i] for i in subset]
    return sum(eta(v) for v in p) - eta(sum(p))


def g(joint: Joint, subset: Sequence[int]) -> float:
    p_sx = joint.p_sx.toarray()
    return sum(
        sum(eta(p_sx[s, i]) for i in subset) - eta(sum(p_sx[s, i] for i in subset))
        for s in range(joint.n_s)
    )


def set_function(weights: np.ndarray, subset: Sequence[int]) -> float:
    return sum(
        sum(eta(row[i]) for i in subset) - eta(sum(row[i] for i in subset)) for row in weights
    )


def subsets(n: int) -> Iterator[tuple[int, ...]]:
    for size in range(n + 1):
        yield from combinations(range(n), size)


def partitions(n: int) -> Iterator[list[int]]:
    """All partitions of n elements, as labels in order of first appearance."""

    def extend(labels: list[int]) -> Iterator[list[int]]:
        if len(labels) == n:
            yield labels
            return
        for label in range(max(labels, default=-1) + 2):
            yield from extend([*labels, label])

    yield from extend([])


@cache
def clusters_of_all_partitions(n: int) -> np.ndarray:
    """Every partition as the clusters it has, each the number whose binary digits are its members."""
    found = []
    for labels in partitions(n):
        masks = [sum(1 << x for x in range(n) if labels[x] == c) for c in set(labels)]
        found.append(masks + [0] * (n - len(masks)))
    return np.array(found)


def of_all_partitions(price: Callable[[list[int]], float], n: int) -> np.ndarray:
    """A sum over clusters, for every partition of n symbols, from the price of each set of symbols."""
    sets = [[x for x in range(n) if mask >> x & 1] for mask in range(1, 1 << n)]
    prices = np.array([0.0, *(price(members) for members in sets)])
    return prices[clusters_of_all_partitions(n)].sum(axis=1)


def merge_path(
    joint: Joint,
    weights: tuple[float, float],
    keep: tuple[float, float] = (0.0, 0.0),
    threshold: float = -math.inf,
) -> list[tuple[int, int]]:
    """Merge by brute force: every pair priced from scratch at every step, ties to the lowest ids."""
    clusters = {i: [i] for i in range(joint.n_x)}
    merges: list[tuple[int, int]] = []

    def informations(groups: list[list[int]]) -> tuple[float, float]:
        labels = np.zeros(joint.n_x, dtype=int)
        for label, members in enumerate(groups):
            labels[members] = label
        code = Partition(labels)
        return leakage(joint, code), utility(joint, code)

    while len(clusters) > 1:
        best = None
        for i, j in combinations(sorted(clusters), 2):
            others = [members for k, members in clusters.items() if k not in (i, j)]
            leak, util = informations([*others, clusters[i] + clusters[j]])
            if keep[0] * leak + keep[1] * util < threshold - 1e-12:
                continue
            value = weights[0] * leak + weights[1] * util
            if best is None or value < best[0] - 1e-12:
                best = (value, i, j)
        if best is None:
            break
        _, i, j = best
        clusters[joint.n_x + len(merges)] = clusters.pop(i) + clusters.pop(j)
        merges.append((i, j))
    return merges


def conditional_entropy(p_sx: np.ndarray) -> float:
    """H(S given X): the entropy of S within each x, weighted by how often x is."""
    total = 0.0
    for x in range(p_sx.shape[1]):
        p_x = p_sx[:, x].sum()
        total += p_x * -sum(eta(p / p_x) for p in p_sx[:, x])
    return total


def guess(p_sx: np.ndarray) -> tuple[float, float]:
    """Try every rule from x to s: how often the best is right, and for its surest x."""
    n_s, n_x = p_sx.shape
    best = max(
        sum(p_sx[rule[x], x] for x in range(n_x)) for rule in product(range(n_s), repeat=n_x)
    )
    surest = max(p_sx[s, x] / p_sx[:, x].sum() for s in range(n_s) for x in range(n_x))
    return best, surest


def maximal_leakage(p_sx: np.ndarray) -> float:
    """By its definition: the largest log-ratio of guessing with and without x over guessable U.

    The worst U splits each s into as many equally likely parts as makes p(s) a multiple of one size
    (Issa et al. 2020, Theorem 1), which for counts is a part for each record of the smallest unit.
    """
    n_s, n_x = p_sx.shape
    p_s = p_sx.sum(axis=1)
    unit = p_s.min() / 1000  # parts of one size, nearly: each s has p(s)/unit of them
    parts = [max(1, round(p / unit)) for p in p_s]
    blind = max(p / k for p, k in zip(p_s, parts, strict=True))
    seeing = sum(max(p_sx[s, x] / parts[s] for s in range(n_s)) for x in range(n_x))
    return math.log2(seeing / blind)


def log_lifts(p_sx: np.ndarray) -> list[float]:
    """log₂ p(s given x)/p(s) of every pair; −inf where x rules s out."""
    found = []
    for s in range(p_sx.shape[0]):
        for x in range(p_sx.shape[1]):
            lift = p_sx[s, x] / p_sx[:, x].sum() / p_sx[s].sum()
            found.append(math.log2(lift) if lift > 0 else -math.inf)
    return found


def shrinkage(counts: np.ndarray) -> float:
    """Hausser & Strimmer (2009), equations 2, 3 and 6, over the full table."""
    n, t = counts.sum(), 1.0 / counts.size
    p = counts / n
    apart = (n - 1) * ((t - p) ** 2).sum()
    weight = 1.0 if apart < 1e-15 else min(1.0, (1 - (p**2).sum()) / apart)
    return mutual_information(weight * t + (1 - weight) * p)


def interval_costs(sums: np.ndarray, end: int, lam: float) -> np.ndarray:
    """The cost −Σ_s η(q_s) + (1−λ) η(q) of every interval [i, end) of prefix sums ``[j, s]``."""
    q = np.maximum(sums[end] - sums[:end], 0.0)
    q = np.column_stack([q, q.sum(axis=1)])
    costs = q * np.log2(np.where(q > 0.0, q, 1.0))
    return (1.0 - lam) * costs[:, 2] - costs[:, 0] - costs[:, 1]


def best_intervals(sums: np.ndarray, lam: float) -> float:
    """The least cost of a partition into intervals: every last interval of every prefix."""
    best = np.zeros(len(sums))
    for end in range(1, len(sums)):
        best[end] = np.min(best[:end] + interval_costs(sums, end, lam))
    return float(best[-1])


def intervals_of_size(sums: np.ndarray, n_intervals: int) -> list[float]:
    """The least cost at λ = 0 of exactly 1, 2, ..., ``n_intervals`` intervals."""
    best, found = np.full(len(sums), np.inf), []
    best[0] = 0.0
    for _ in range(n_intervals):
        ends = range(1, len(sums))
        best = np.array([np.inf, *(np.min(best[:j] + interval_costs(sums, j, 0.0)) for j in ends)])
        found.append(float(best[-1]))
    return found


def informed_guess(counts) -> float:
    """Leave out each record, put it back under each s, take what tells least, or is most frequent."""
    n = np.asarray(counts.toarray(), dtype=float)
    right = {"balance": 0.0, "frequent": 0.0}
    for s, x in zip(*np.nonzero(n), strict=True):
        others = n.copy()
        others[s, x] -= 1
        prices = {"balance": [], "frequent": -others[:, x]}
        for guess in range(len(n)):
            whole = others.copy()
            whole[guess, x] += 1
            prices["balance"].append(mutual_information(whole / whole.sum()))
        for how, price in prices.items():
            least = np.flatnonzero(np.asarray(price) <= np.min(price) + 1e-11)
            right[how] += n[s, x] * (s in least) / len(least)
    return max(right.values()) / n.sum()


def informed_by_person(s: list[int], xhat: list[int]) -> float:
    """Each person in turn is not known: try every s for them, see which release tells least."""
    values, right = sorted(set(s)), {"balance": 0.0, "frequent": 0.0}
    for i, own in enumerate(s):
        scores = {"balance": [], "frequent": []}
        for guess in values:
            tried = [guess if j == i else other for j, other in enumerate(s)]
            pairs = Counter(zip(tried, xhat, strict=True))
            by_s, by_x, n = Counter(tried), Counter(xhat), len(s)
            told = sum(
                m / n * math.log2(m * n / (by_s[a] * by_x[b])) for (a, b), m in pairs.items()
            )
            scores["balance"].append(told)
            scores["frequent"].append(-(pairs[guess, xhat[i]] - 1))
        for how, score in scores.items():
            best = [v for v, x in zip(values, score, strict=True) if x <= min(score) + 1e-11]
            right[how] += (own in best) / len(best)
    return max(right.values()) / len(s)


def swap_descent(
    joint: Joint, labels: Sequence[int], price: Any, least: float = 0.0, tol: float = 1e-11
) -> list[int]:
    """Exchange two symbols wherever that lowers the price within its limit, until none does."""
    labels = list(labels)

    def cost(labels: list[int]) -> float:
        code = Partition(labels)
        return price.of(leakage(joint, code), utility(joint, code))

    improved = True
    while improved:
        improved = False
        for x, y in combinations(range(joint.n_x), 2):
            swapped = labels.copy()
            swapped[x], swapped[y] = labels[y], labels[x]
            light = joint.total * min(Partition(swapped).push(joint).p_x) < least
            if labels[x] != labels[y] and cost(swapped) < cost(labels) - tol and not light:
                labels, improved = swapped, True
    return labels


def move_in_block(
    joint: Joint, labels: Sequence[int], weights: tuple[float, float], rng: np.random.Generator
) -> list[int]:
    """One visit for each symbol on average, each to the cheapest cluster, a new one included; then
    the cheapest pair of clusters merged as long as that lowers the price."""
    labels = list(labels)
    for _ in range(joint.n_x):
        x = int(rng.random() * joint.n_x)
        here = lagrangian(joint, labels, weights)
        costs = {}
        alone = labels.count(labels[x]) == 1
        for goal in sorted(set(labels)) + ([] if alone else [max(labels) + 1]):
            moved = labels.copy()
            moved[x] = goal
            costs[goal] = lagrangian(joint, moved, weights) - here
        goal = min(costs, key=lambda slot: costs[slot])
        if costs[goal] < -1e-11:
            rng.random()  # the lot among the cheapest, of which there is one
            labels[x] = goal
    while True:
        here, merged = lagrangian(joint, labels, weights), []
        for a, b in combinations(sorted(set(labels)), 2):
            together = [a if label == b else label for label in labels]
            merged.append((lagrangian(joint, together, weights) - here, together))
        if not merged or min(merged)[0] >= -1e-11:
            return labels
        labels = min(merged)[1]


def halves_by_similarity(
    counts: np.ndarray, rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    """The first cut of a random tree: columns nearer to one of two random members, and the others."""
    roots, n = np.sqrt(counts / counts.sum(axis=0)), counts.shape[1]
    direction = np.zeros(len(counts))
    while not direction.any():
        one, other = (int(rng.random() * n) for _ in range(2))
        direction = roots[:, one] - roots[:, other]
    ranked = sorted(range(n), key=lambda c: float(roots[:, c] @ direction))
    return ranked[: n // 2], ranked[n // 2 :]


def equal_profiles(counts: np.ndarray) -> list[int]:
    """Labels of the columns whose p(s given x) agree to twelve digits."""
    seen: dict[tuple[float, ...], int] = {}
    profiles = counts / counts.sum(axis=0)
    return [seen.setdefault(tuple(np.round(p, 12)), len(seen)) for p in profiles.T]


def insert_in_order(
    joint: Joint, order: Sequence[int], weights: tuple[float, float]
) -> dict[int, int]:
    """Each symbol into the cluster, or a new one, where α I(S;X̂) + β I(X;X̂) rises least.

    As sums over clusters of α Σ_s η − (α+β) η, of the symbols that are in already.
    """
    counts = joint.counts.toarray()

    def cost(members: Sequence[int]) -> float:
        inside = counts[:, list(members)].sum(axis=1)
        alpha, beta = weights
        return alpha * sum(eta(v) for v in inside) - (alpha + beta) * eta(inside.sum())

    clusters: list[list[int]] = []
    for x in order:
        rises = [cost([*c, x]) - cost(c) for c in clusters] + [cost([x])]
        goal = int(np.argmin(rises))
        if goal == len(clusters):
            clusters.append([])
        clusters[goal].append(x)
    return {x: k for k, members in enumerate(clusters) for x in members}


def descend_by_proposals(
    joint: Joint, labels: Sequence[int], price: Any, penalty: float, rng: np.random.Generator
) -> list[int]:
    """One sweep of random swaps and moves, taken where they lower price and penalty together."""
    labels, n = list(labels), joint.n_x

    def cost(labels: list[int]) -> float:
        leak, kept = leakage(joint, Partition(labels)), utility(joint, Partition(labels))
        (told, stays), most = price.limit
        over = told * leak + stays * kept - most - 1e-12
        return price.weights[0] * leak + price.weights[1] * kept + penalty * max(0.0, over)

    for step in range(2 * n):
        x, y = int(rng.random() * n), int(rng.random() * n)
        tried = labels.copy()
        if step % 2 == 0:
            tried[x], tried[y] = labels[y], labels[x]
        elif rng.random() < 0.1:
            tried[x] = max(labels) + 1
        else:
            tried[x] = labels[y]
        if cost(tried) < cost(labels) - 1e-11:
            labels = Partition(tried).labels.tolist()
    return labels


def measure(name: str, p_vc: np.ndarray, order: float = 2.0) -> float:
    """What a joint distribution tells about v, by the words of each definition."""
    n_v, n_c = p_vc.shape
    p_v, p_c = p_vc.sum(axis=1), p_vc.sum(axis=0)
    pairs = [(v, c) for v in range(n_v) for c in range(n_c) if p_v[v] > 0 and p_c[c] > 0]
    if name == "shannon":
        return mutual_information(p_vc)
    if name == "guessing":
        return sum(max(p_vc[:, c]) for c in range(n_c)) - max(p_v)
    if name == "chi-square":
        return sum((p_vc[v, c] - p_v[v] * p_c[c]) ** 2 / (p_v[v] * p_c[c]) for v, c in pairs)
    if name == "total-variation":
        return sum(abs(p_vc[v, c] - p_v[v] * p_c[c]) for v, c in pairs) / 2
    if name == "maximal-leakage":
        return math.log2(
            sum(max(p_vc[v, c] / p_v[v] for v in range(n_v) if p_v[v] > 0) for c in range(n_c))
        )
    assert name == "arimoto"

    def norm(q: np.ndarray) -> float:
        return sum(float(t) ** order for t in q if t > 0) ** (1 / order)

    # H_a(V) − H_a(V given C) with H_a = a/(1−a) log of the norm.
    before, after = norm(p_v), sum(norm(p_vc[:, c]) for c in range(n_c))
    return order / (1 - order) * (math.log2(before) - math.log2(after))
