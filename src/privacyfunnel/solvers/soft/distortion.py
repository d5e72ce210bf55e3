"""Least leakage within a distortion budget: the convex problem that the privacy funnel grew from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.codes import Channel
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.information import Array
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import leakage
from privacyfunnel.solvers.base import Status
from privacyfunnel.solvers.soft.posteriors import LN2, profile
from privacyfunnel.validation import check_at_least, check_whole

LARGEST_STEP = 1e4
CHECK = 10  # steps between two looks at the gap
EXACT = 1e-13  # how exactly the budget is met, as a share of the matrix's range


@dataclass(frozen=True)
class DistortionSolution:
    """A channel, what it leaks and distorts, and how far from optimal it can be at most.

    No channel within the budget leaks less than ``leakage`` − ``gap`` bits.
    """

    channel: Channel
    leakage: float
    distortion: float
    gap: float
    iterations: int
    status: Status


def minimise_leakage(
    joint: Joint, distortion: Any, budget: float, *, max_iter: int = 20_000, tol: float = 1e-8
) -> DistortionSolution:
    """Minimise I(S;X̂) over p(x̂ given x) subject to E[d(X,X̂)] ≤ ``budget``.

    The problem of du Pin Calmon & Fawaz (2012); ``distortion[x, xhat]`` = d(x, x̂) also fixes the
    released alphabet. I(S;X̂) is convex in the channel and 1-smooth relative to its negative
    entropy, so p(x̂ given x) ← p(x̂ given x) exp(−t g − b d), normalised, descends for t = 1; longer
    steps are kept where they do. g = Σ_s p(s given x) log p(s given x̂) is the gradient and b ≥ 0 is
    set so that the budget is met. Since g · p(x̂ given x) lies below I(S;X̂) everywhere, the linear
    program at g bounds the optimum from below: ``gap`` (bits) is what is left, and ends the run at
    ``tol``.

    >>> joint = Joint.from_counts([[4, 1], [1, 4]])
    >>> found = minimise_leakage(joint, [[0, 1], [1, 0]], budget=0.25)
    >>> round(found.leakage, 4), round(found.distortion, 6), found.gap <= 1e-8
    (0.0659, 0.25, True)
    """
    problem = _Problem(joint, _check_distortion(joint, distortion), _check_budget(budget))
    check_whole("max_iter", max_iter, 1)
    check_at_least("tol", tol, 0.0)
    alike = np.where(problem.allowed, 0.0, -np.inf)
    logs, tilt = problem.project(alike, 1.0)
    value, slopes = problem.evaluate(logs)
    size, gap, steps = 1.0, problem.gap(logs, slopes), 0
    while steps < max_iter and gap > tol:
        trial, new_tilt = problem.project(logs - size * slopes, tilt)
        new_value, new_slopes = problem.evaluate(trial)
        steps += 1
        if new_value > value and size > 1.0:
            size = max(1.0, 0.5 * size)
        else:
            logs, value, slopes, tilt = trial, new_value, new_slopes, new_tilt
            size = min(1.5 * size, LARGEST_STEP)
        if steps % CHECK == 0 or steps == max_iter:
            gap = problem.gap(logs, slopes)
    matrix = np.exp(logs)
    channel = Channel(matrix / matrix.sum(axis=1, keepdims=True))
    return DistortionSolution(
        channel,
        leakage(joint, channel),
        float((problem.p[:, None] * channel.matrix.toarray() * problem.d).sum()),
        max(0.0, gap),
        steps,
        Status.CONVERGED if gap <= tol else Status.MAX_ITER,
    )


def _check_distortion(joint: Joint, distortion: Any) -> Array:
    try:
        d = np.array(distortion, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput("distortion must be a table of numbers [x, xhat].") from None
    if d.ndim != 2 or d.shape[0] != joint.n_x or d.shape[1] < 1:
        raise InvalidInput(
            f"distortion must have a row for each of the {joint.n_x} symbols of X and a column for "
            f"each released one, got shape {d.shape}."
        )
    if not np.isfinite(d).all():
        bad = "NaN" if np.isnan(d).any() else "an infinite value"
        raise InvalidInput(f"distortion must be finite, got {bad}; use a large number to forbid.")
    return d


def _check_budget(budget: float) -> float:
    if isinstance(budget, bool) or not isinstance(budget, (int, float, np.number)):
        raise InvalidInput(f"budget must be a number, got {budget!r}.")
    if not math.isfinite(budget):
        raise InvalidInput(f"budget must be finite, got {budget}.")
    return float(budget)


class _Problem:
    """The channel in logarithms ``logs[x, xhat]``: a symbol on its way out keeps its posterior."""

    def __init__(self, joint: Joint, d: Array, budget: float) -> None:
        self.p, self.d, self.budget, self.entropy_s = joint.p_x, d, budget, joint.entropy_s
        self.log_p = np.log(np.maximum(joint.p_x, 1e-300))[:, None]
        self.profile = profile(joint)
        self.range = max(float(np.ptp(d)), 1e-300)
        least = float((self.p * d.min(axis=1)).sum())
        if budget < least - EXACT * self.range:
            raise TargetUnreachable(
                f"no channel has an expected distortion of {budget}; the least is {least:.6g}."
            )
        # At the least distortion each x goes to its nearest symbols, and the budget is spent.
        self.tight = budget <= least + EXACT * self.range
        nearest = d <= d.min(axis=1, keepdims=True) + EXACT * self.range
        self.allowed: NDArray[np.bool_] = nearest if self.tight else np.ones(d.shape, dtype=bool)

    def project(self, logs: Array, tilt: float) -> tuple[Array, float]:
        """The nearest channel within the budget, logs − b d normalised, and b; ``tilt`` is a guess.

        The expected distortion falls with b, and its slope is minus the variance of d: Newton's
        method, kept between the b known to be too small and too large.
        """
        free = _normalised(logs)
        if self.tight or self._excess(free)[0] <= 0.0:
            return free, 0.0
        low, high, b, best = 0.0, np.inf, max(tilt, 1e-3 / self.range), free
        for _ in range(200):
            tilted = _normalised(logs - b * self.d)
            excess, variance = self._excess(tilted)
            low, high = (b, high) if excess > 0.0 else (low, b)
            best = tilted
            if -EXACT * self.range <= excess <= 0.0 or high <= low * (1.0 + 1e-15):
                break
            b += (excess + 0.5 * EXACT * self.range) / max(variance, 1e-300)
            if not low < b < high:
                b = 2.0 * low if np.isinf(high) else 0.5 * (low + high)
        return best, b

    def _excess(self, logs: Array) -> tuple[float, float]:
        """Expected distortion over the budget, and the mean variance of d given x."""
        matrix = np.exp(logs)
        means = (matrix * self.d).sum(axis=1)
        squares = (matrix * self.d**2).sum(axis=1)
        variance = float((self.p * (squares - means**2)).sum())
        return float((self.p * means).sum()) - self.budget, variance

    def evaluate(self, logs: Array) -> tuple[float, Array]:
        """−H(S given X̂) and its gradient Σ_s p(s given x) log p(s given x̂), in nats."""
        joint_logs = self.log_p + logs
        tops = joint_logs.max(axis=0)
        used = np.isfinite(tops)
        weights = np.exp(joint_logs - np.where(used, tops, 0.0))
        sums = weights.sum(axis=0)
        posterior = np.asarray(self.profile @ (weights / np.where(used, sums, 1.0)))
        log_posterior = np.log(np.maximum(posterior, 1e-300))
        masses = np.where(used, np.exp(np.where(used, tops, 0.0)) * sums, 0.0)
        slopes = np.asarray(self.profile.T @ log_posterior)
        return float((masses * (posterior * log_posterior).sum(axis=0)).sum()), slopes

    def gap(self, logs: Array, slopes: Array) -> float:
        """Bits between the channel and the linear program's bound max_b Σ p min_x̂ (g + b d) − b D."""
        here = float((self.p[:, None] * np.exp(logs) * slopes).sum())
        slopes = np.where(self.allowed, slopes, np.inf)

        def bound(b: float) -> tuple[float, float]:
            reduced = slopes + b * (self.d * self.allowed)
            choice = reduced.argmin(axis=1)[:, None]
            spent = float((self.p * np.take_along_axis(self.d, choice, 1)[:, 0]).sum())
            cost = float((self.p * np.take_along_axis(reduced, choice, 1)[:, 0]).sum())
            return cost - b * self.budget, spent - self.budget

        told = max(0.0, here / LN2 + self.entropy_s)  # no channel tells less than nothing
        if self.tight:
            return min(told, (here - float((self.p * slopes.min(axis=1)).sum())) / LN2)
        low, high = 0.0, 1.0 / self.range
        best, over = bound(0.0)
        while over > 0.0 and high < 1e12 / self.range:
            value, over = bound(high)
            best, high = max(best, value), 2.0 * high
        for _ in range(100):
            middle = 0.5 * (low + high)
            value, over = bound(middle)
            best = max(best, value)
            low, high = (middle, high) if over > 0.0 else (low, middle)
        return min(told, (here - best) / LN2)


def _normalised(logs: Array) -> Array:
    tops = logs.max(axis=1, keepdims=True)
    shifted = logs - tops
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))
