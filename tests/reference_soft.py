"""Slow and obvious twins of the compiled loops for soft codes, and of what they are for."""

from itertools import combinations, product

import numpy as np
from scipy.optimize import linprog

GONE = -45.0


def xlogx(t):
    t = np.asarray(t, dtype=float)
    return np.where(t > 0, t * np.log(np.where(t > 0, t, 1.0)), 0.0)


def funnel_nats(profile, z, lam):
    """I(S;X̂) − λ I(X;X̂) up to its constant, in nats; ``z[xhat, x]`` = p(x, x̂)."""
    value = 0.0
    for row in z:
        value += xlogx(profile @ row).sum() - xlogx(row.sum())
        value -= lam * (xlogx(row).sum() - xlogx(row.sum()))
    return value


def log(t):
    with np.errstate(divide="ignore"):
        return np.log(t)


def normalised(logs, axis):
    """exp(logs) scaled to sum 1 along an axis, tiny entries as zeros."""
    logs = logs - logs.max(axis=axis, keepdims=True)
    weights = np.where(logs > GONE, np.exp(logs), 0.0)
    return weights / weights.sum(axis=axis, keepdims=True)


def descend(profile, p, channel, lam, max_iter):
    """Mirror descent on a channel ``[xhat, x]``; a step that would raise L is tried at half the size."""
    value, size = funnel_nats(profile, channel * p, lam), 1.0
    for _ in range(max_iter):
        z = channel * p
        sums, masses = z @ profile.T, z.sum(axis=1, keepdims=True)
        slopes = np.log(np.maximum(sums, 1e-300)) @ profile
        slopes -= (1 - lam) * np.log(np.maximum(masses, 1e-300)) + lam * np.where(z > 0, log(z), 0)
        new = normalised(log(channel) - size * slopes, axis=0)
        new_value = funnel_nats(profile, new * p, lam)
        if new_value > value:
            if size <= 1.0:
                break
            size = max(1.0, size / 2)
            continue
        channel, value, size = new, new_value, min(1.5 * size, 16.0)
    return channel, value


def price(profile, q, reward, lam, max_iter):
    """Mirror descent of −H(S) + λ H(X) − reward·q on one posterior."""

    def cost(q):
        return xlogx(profile @ q).sum() - lam * xlogx(q).sum() - reward @ q

    value, size = cost(q), 1.0
    for _ in range(max_iter):
        slopes = np.log(np.maximum(profile @ q, 1e-300)) @ profile - reward
        slopes -= lam * np.where(q > 0, log(q), 0)
        new = normalised(log(q) - size * slopes, axis=0)
        if cost(new) > value:
            if size <= 1.0:
                break
            size = max(1.0, size / 2)
            continue
        q, value, size = new, cost(new), min(1.5 * size, 16.0)
    return q, value


def self_consistent(profile, p, masses, centroids, beta, max_iter):
    """p(x̂ given x) ∝ p(x̂) exp(β Σ_s p(s given x) log p(s given x̂)), and back."""
    for _ in range(max_iter):
        logs = log(masses)[:, None] + beta * (np.log(np.maximum(centroids, 1e-300)) @ profile)
        weights = normalised(logs, axis=0)
        log_z = log(np.exp(logs - logs.max(axis=0)).sum(axis=0)) + logs.max(axis=0)
        z = weights * p
        masses = z.sum(axis=1)
        centroids = (z @ profile.T) / masses[:, None]
    return masses, centroids, weights, log_z


def climb(profile, log_weights, centroid, beta, max_iter):
    """Mean shift of one centroid."""
    for _ in range(max_iter):
        powers = log_weights + beta * (np.log(np.maximum(centroid, 1e-300)) @ profile)
        weights = np.exp(powers)
        centroid = profile @ weights / weights.sum()
    return centroid, weights.sum()


def envelope(profile, p, cost, steps):
    """min Σ w cost(q) over all mixtures Σ w q = p of posteriors on a grid of the simplex."""
    grid = [g for g in product(range(steps + 1), repeat=len(p)) if sum(g) == steps]
    q = np.vstack([np.array(grid) / steps, p])
    found = linprog([cost(row) for row in q], A_eq=q.T, b_eq=p)
    return found.fun


def entropy_bits(q):
    return -xlogx(q).sum() / np.log(2.0)


def private_vertices(profile, p_s):
    """Every vertex of {q >= 0, profile q = p_s}: a solution on each set of independent columns."""
    n, found = profile.shape[1], []
    for size in range(1, np.linalg.matrix_rank(profile) + 1):
        for support in combinations(range(n), size):
            columns = profile[:, support]
            if np.linalg.matrix_rank(columns) < size:
                continue
            values = np.linalg.lstsq(columns, p_s, rcond=None)[0]
            if (values > 1e-12).all() and np.abs(columns @ values - p_s).max() < 1e-11:
                found.append(np.zeros(n))
                found[-1][list(support)] = values
    return np.array(found)


def most_private_utility(profile, p_s, p_x):
    """The most I(X;X^) with I(S;X^) = 0: the best mixture of all vertices."""
    vertices = private_vertices(profile, p_s)
    costs = [entropy_bits(q) for q in vertices]
    return entropy_bits(p_x) - linprog(costs, A_eq=vertices.T, b_eq=p_x).fun
