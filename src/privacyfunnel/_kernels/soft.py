"""Compiled loops for soft codes: mirror descent on channels and on single posteriors.

``profile`` is p(s given x) as the parts of a CSC matrix ``[s, x]``: ``indptr``, ``indices``, ``data``
and the number of rows. A channel comes as ``channel[xhat, x]`` = p(x̂ given x), a posterior as
``posterior[x]`` = p(x given x̂); both may hold exact zeros, which stay zero. Logs are natural.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

TINY = 1e-300  # stands for zero inside a logarithm
LOG_TINY = math.log(TINY)
GONE = -45.0  # a probability below e^GONE of the largest one of its row becomes an exact zero
LARGEST_STEP = 16.0
CHECK = 20  # steps between two looks at the progress


@njit(cache=True, inline="always")
def _xlogx(t):
    return t * math.log(t) if t > 0.0 else 0.0


@njit(cache=True)
def gather(profile, where, row, count, sums):
    """``sums[s]`` = Σ_x p(s given x) row[x] over the first ``count`` entries; returns Σ_x row[x]."""
    indptr, indices, data, _ = profile
    sums[:] = 0.0
    total = 0.0
    for i in range(count):
        x, weight = where[i], row[i]
        total += weight
        for cell in range(indptr[x], indptr[x + 1]):
            sums[indices[cell]] += data[cell] * weight
    return total


@njit(cache=True)
def logs_of(values, out):
    for i in range(values.size):
        out[i] = math.log(values[i]) if values[i] > TINY else LOG_TINY


@njit(cache=True, inline="always")
def _pull(profile, x, log_sums):
    """Σ_s p(s given x) log_sums[s]."""
    indptr, indices, data, _ = profile
    pull = 0.0
    for cell in range(indptr[x], indptr[x + 1]):
        pull += data[cell] * log_sums[indices[cell]]
    return pull


@njit(cache=True)
def _squeeze(where, logs, row, count):
    """Drop the exact zeros from a row's list of entries; returns how many are left."""
    kept = 0
    for i in range(count):
        if row[i] > 0.0:
            where[kept], logs[kept], row[kept] = where[i], logs[i], row[i]
            kept += 1
    return kept


@njit(cache=True)
def _value(profile, where, logs, z, counts, sums, masses, lam):
    """Σ_y [Σ_s η(p(s,y)) − λ Σ_x η(z_xy) − (1−λ) η(z_y)] in nats; fills ``sums`` and ``masses``."""
    value = 0.0
    for y in range(masses.size):
        masses[y] = gather(profile, where[y], z[y], counts[y], sums[y])
        value -= (1.0 - lam) * _xlogx(masses[y])
        for s in range(sums.shape[1]):
            value += _xlogx(sums[y, s])
        for i in range(counts[y]):
            value -= lam * z[y, i] * logs[y, i] if z[y, i] > 0.0 else 0.0
    return value


@njit(cache=True)
def _step(profile, where, logs, counts, sums, masses, log_p, lam, size, new_logs, new_z):
    """One multiplicative step of ``size`` on every symbol; each x's weights again sum to p(x)."""
    n = log_p.size
    top, total = np.full(n, -np.inf), np.zeros(n)
    log_sums = np.empty(sums.shape[1])
    for y in range(masses.size):
        logs_of(sums[y], log_sums)
        log_mass = (1.0 - lam) * math.log(max(masses[y], TINY))
        for i in range(counts[y]):
            x = where[y, i]
            slope = _pull(profile, x, log_sums) - lam * logs[y, i] - log_mass
            new_logs[y, i] = logs[y, i] - size * slope
            top[x] = max(top[x], new_logs[y, i])
    for y in range(masses.size):
        for i in range(counts[y]):
            x = where[y, i]
            new_logs[y, i] -= top[x]
            new_z[y, i] = math.exp(new_logs[y, i]) if new_logs[y, i] > GONE else 0.0
            total[x] += new_z[y, i]
    for x in range(n):  # from here on: what to add to the logs and to multiply the weights with
        top[x] = log_p[x] - math.log(total[x])
        total[x] = math.exp(top[x])
    for y in range(masses.size):
        for i in range(counts[y]):
            new_logs[y, i] += top[where[y, i]]
            new_z[y, i] *= total[where[y, i]]


@njit(cache=True)
def descend(profile, log_p, channel, lam, max_iter, tol):
    """Mirror descent of L = I(S;X̂) − λ I(X;X̂) on a channel; L never rises.

    With z_xy = p(x,y), z ← z exp(−t ∂L/∂z), each x's row scaled back to p(x). A step t = 1 always
    descends: I(S;X̂) is convex in z and 1-smooth relative to its negative entropy, −λ I(X;X̂) is concave.
    Longer steps are tried first and halved where L would rise.
    Returns the channel, L in nats up to its constant, the steps taken and whether ``CHECK`` steps
    gained less than ``tol``.
    """
    k, n = channel.shape
    n_s = profile[3]
    where, counts = np.zeros((k, n), dtype=np.int32), np.zeros(k, dtype=np.int64)
    logs, z = np.zeros((k, n)), np.zeros((k, n))
    for y in range(k):
        for x in range(n):
            if channel[y, x] > 0.0:
                i = counts[y]
                where[y, i] = x
                logs[y, i] = math.log(channel[y, x]) + log_p[x]
                z[y, i] = math.exp(logs[y, i])
                counts[y] += 1
    new_logs, new_z = np.zeros((k, n)), np.zeros((k, n))
    sums, masses = np.zeros((k, n_s)), np.zeros(k)
    new_sums, new_masses = np.zeros((k, n_s)), np.zeros(k)
    value = _value(profile, where, logs, z, counts, sums, masses, lam)
    size, mark, steps, converged = 1.0, value, 0, False
    while steps < max_iter:
        _step(profile, where, logs, counts, sums, masses, log_p, lam, size, new_logs, new_z)
        new = _value(profile, where, new_logs, new_z, counts, new_sums, new_masses, lam)
        steps += 1
        if new > value:
            if size <= 1.0:  # only rounding is left
                converged = True
                break
            size = max(1.0, 0.5 * size)
            continue
        value = new
        logs, new_logs = new_logs, logs
        z, new_z = new_z, z
        sums, new_sums = new_sums, sums
        masses, new_masses = new_masses, masses
        for y in range(k):
            counts[y] = _squeeze(where[y], logs[y], z[y], counts[y])
        size = min(1.5 * size, LARGEST_STEP)
        if steps % CHECK == 0:
            if mark - value < tol:
                converged = True
                break
            mark = value
    out = np.zeros((k, n))
    for y in range(k):
        for i in range(counts[y]):
            x = where[y, i]
            out[y, x] = math.exp(logs[y, i] - log_p[x])
    return out, value, steps, converged


@njit(cache=True)
def _posterior_step(profile, where, logs, count, sums, reward, lam, size, new_logs, new_q):
    """One multiplicative step of ``size`` on a posterior, scaled back to sum 1."""
    log_sums = np.empty(sums.size)
    logs_of(sums, log_sums)
    top = -np.inf
    for i in range(count):
        slope = _pull(profile, where[i], log_sums) - lam * logs[i] - reward[where[i]]
        new_logs[i] = logs[i] - size * slope
        top = max(top, new_logs[i])
    total = 0.0
    for i in range(count):
        new_logs[i] -= top
        new_q[i] = math.exp(new_logs[i]) if new_logs[i] > GONE else 0.0
        total += new_q[i]
    log_total = math.log(total)
    for i in range(count):
        new_logs[i] -= log_total
        new_q[i] /= total


@njit(cache=True)
def _posterior_value(profile, where, logs, q, count, sums, reward, lam):
    gather(profile, where, q, count, sums)
    value = 0.0
    for s in range(sums.size):
        value += _xlogx(sums[s])
    for i in range(count):
        if q[i] > 0.0:
            value -= q[i] * (lam * logs[i] + reward[where[i]])
    return value


@njit(cache=True)
def price(profile, posteriors, reward, lam, max_iter, tol):
    """Mirror descent of −H(S) + λ H(X) − Σ_x reward[x] q[x] on single posteriors q, in nats.

    Each row of ``posteriors`` is a start and is replaced by where it ends; returns the values there.
    """
    n_s = profile[3]
    k, n = posteriors.shape
    values = np.zeros(k)
    where, logs, new_logs = np.zeros(n, dtype=np.int32), np.zeros(n), np.zeros(n)
    q, new_q, sums, new_sums = np.zeros(n), np.zeros(n), np.zeros(n_s), np.zeros(n_s)
    for row in range(k):
        count = 0
        for x in range(n):
            if posteriors[row, x] > 0.0:
                where[count], q[count] = x, posteriors[row, x]
                logs[count] = math.log(q[count])
                count += 1
        value = _posterior_value(profile, where, logs, q, count, sums, reward, lam)
        size, mark = 1.0, value
        for step in range(1, max_iter + 1):
            _posterior_step(profile, where, logs, count, sums, reward, lam, size, new_logs, new_q)
            new = _posterior_value(profile, where, new_logs, new_q, count, new_sums, reward, lam)
            if new > value:
                if size <= 1.0:
                    break
                size = max(1.0, 0.5 * size)
                continue
            value = new
            logs, new_logs = new_logs, logs
            q, new_q = new_q, q
            sums, new_sums = new_sums, sums
            count = _squeeze(where, logs, q, count)
            size = min(1.5 * size, LARGEST_STEP)
            if step % CHECK == 0:
                if mark - value < tol:
                    break
                mark = value
        posteriors[row] = 0.0
        for i in range(count):
            posteriors[row, where[i]] = q[i]
        values[row] = value
    return values
