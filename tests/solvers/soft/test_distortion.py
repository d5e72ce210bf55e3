"""Least leakage within a distortion budget, against an independent solver and known answers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from test_soft import assert_sound, extreme_joints

from privacyfunnel import Joint
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.objectives import leakage
from privacyfunnel.solvers.base import Status
from privacyfunnel.solvers.soft.distortion import minimise_leakage


def problem(seed: int, share: float) -> tuple[Joint, np.ndarray, float]:
    """A random joint, distortion matrix and budget between the least useful and the most."""
    rng = np.random.default_rng(seed)
    n_s, n_x, n_xhat = rng.integers(2, 6, size=3)
    joint = Joint.from_counts(rng.dirichlet(np.full(n_s * n_x, 0.7)).reshape(n_s, n_x) + 1e-3)
    d = rng.random((joint.n_x, n_xhat))
    least, most = joint.p_x @ d.min(axis=1), (joint.p_x @ d).min()
    return joint, d, float(least + share * (most - least))


def independent(joint: Joint, d: np.ndarray, budget: float) -> float:
    """scipy's SLSQP on the channel itself, with the gradient by hand."""
    p_sx, p = joint.p_sx.toarray(), joint.p_x

    def leak(flat):
        z = p_sx @ np.maximum(flat, 1e-14).reshape(d.shape)
        return float((z * np.log2(z / (joint.p_s[:, None] * z.sum(axis=0)))).sum())

    def slope(flat):
        z = p_sx @ np.maximum(flat, 1e-14).reshape(d.shape)
        return (p_sx.T @ np.log2(z / (joint.p_s[:, None] * z.sum(axis=0)))).ravel()

    rows = {"type": "eq", "fun": lambda f: f.reshape(d.shape).sum(axis=1) - 1.0}
    cost = {"type": "ineq", "fun": lambda f: budget - (p[:, None] * f.reshape(d.shape) * d).sum()}
    # Halfway between the least distortion and none told: strictly within the budget.
    nearest = np.eye(d.shape[1])[d.argmin(axis=1)]
    start = 0.7 * nearest + 0.3 / d.shape[1]
    found = minimize(
        leak,
        start.ravel(),
        jac=slope,
        bounds=[(0.0, 1.0)] * d.size,
        constraints=[rows, cost],
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    return float(found.fun)


@pytest.mark.parametrize("share", [0.15, 0.4])
@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_an_independent_solver(seed: int, share: float):
    joint, d, budget = problem(seed, share)
    found = minimise_leakage(joint, d, budget)
    assert found.status is Status.CONVERGED
    assert found.leakage == pytest.approx(independent(joint, d, budget), abs=1e-6)
    assert found.gap <= 1e-8


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_a_conic_solver(seed: int):
    cp = pytest.importorskip("cvxpy", reason="cvxpy is not installed")
    joint, d, budget = problem(seed + 20, 0.3)
    z = cp.Variable(d.shape, nonneg=True)
    told = (joint.p_sx.toarray() / joint.p_x) @ z
    sums = np.ones((joint.n_s, 1)) @ cp.reshape(cp.sum(z, axis=0), (1, d.shape[1]), order="C")
    within = [cp.sum(z, axis=1) == joint.p_x, cp.sum(cp.multiply(d, z)) <= budget]
    conic = cp.Problem(cp.Minimize(cp.sum(cp.rel_entr(told, sums))), within)
    conic.solve(solver=cp.CLARABEL)
    expected = conic.value / np.log(2.0) + joint.entropy_s
    assert minimise_leakage(joint, d, budget).leakage == pytest.approx(expected, abs=1e-6)


@given(st.integers(0, 10_000), st.floats(0.0, 1.3))
@settings(max_examples=25)
def test_the_budget_is_kept_and_the_gap_is_a_bound(seed: int, share: float):
    joint, d, budget = problem(seed, share)
    found = minimise_leakage(joint, d, budget, max_iter=100)
    assert_sound(joint, found.channel)
    assert found.distortion <= budget + 1e-12
    assert found.leakage == pytest.approx(leakage(joint, found.channel), abs=1e-12)
    better = minimise_leakage(joint, d, budget, max_iter=1000)
    assert better.leakage >= found.leakage - found.gap - 1e-9


def test_known_answers():
    joint = Joint.from_counts([[4, 1], [1, 4]])  # a symmetric channel that errs with 1/5
    hamming = 1.0 - np.eye(2)

    def told(error):  # 1 − h of the two errors in a row
        both = 0.2 * (1 - error) + 0.8 * error
        return 1.0 + both * np.log2(both) + (1 - both) * np.log2(1 - both)

    for budget in (0.0, 0.1, 0.3):
        found = minimise_leakage(joint, hamming, budget)
        assert found.leakage == pytest.approx(told(budget), abs=1e-7)
    free = minimise_leakage(joint, hamming, 0.5)
    assert free.leakage <= 1e-8


def test_more_is_told_within_a_smaller_budget():
    joint, d, _ = problem(3, 0.5)
    least, most = joint.p_x @ d.min(axis=1), (joint.p_x @ d).min()
    leaks = [minimise_leakage(joint, d, b, tol=1e-6).leakage for b in np.linspace(least, most, 6)]
    assert (np.diff(leaks) <= 1e-5).all()
    assert (np.diff(leaks, 2) >= -1e-5).all()  # convex in the budget


@given(extreme_joints(), st.floats(0.0, 1.2))
@settings(max_examples=25)
def test_extreme_joints_are_no_trouble(joint: Joint, share: float):
    d = np.abs(np.subtract.outer(np.arange(joint.n_x), np.arange(joint.n_x + 1.0)))
    found = minimise_leakage(joint, d, share * d.max(), max_iter=200)
    assert_sound(joint, found.channel)
    assert np.isfinite([found.leakage, found.distortion, found.gap]).all()


def test_bad_input_is_refused_in_clear_words():
    joint = Joint.from_counts([[1, 0, 1], [0, 1, 1]])
    with pytest.raises(InvalidInput, match=r"a row for each of the 3 symbols.*got shape \(2, 2\)"):
        minimise_leakage(joint, np.ones((2, 2)), 1.0)
    with pytest.raises(InvalidInput, match="finite, got NaN"):
        minimise_leakage(joint, [[0.0], [np.nan], [1.0]], 1.0)
    with pytest.raises(InvalidInput, match="an infinite value"):
        minimise_leakage(joint, [[0.0], [np.inf], [1.0]], 1.0)
    with pytest.raises(InvalidInput, match="a table of numbers"):
        minimise_leakage(joint, [["a"], ["b"], ["c"]], 1.0)
    with pytest.raises(InvalidInput, match="budget must be finite"):
        minimise_leakage(joint, np.eye(3), np.inf)
    with pytest.raises(InvalidInput, match="budget must be a number"):
        minimise_leakage(joint, np.eye(3), "0.3")
    with pytest.raises(TargetUnreachable, match=r"distortion of 0.5; the least is 1"):
        minimise_leakage(joint, np.eye(3) + 1.0, 0.5)


def test_a_run_cut_short_says_so():
    joint, d, budget = problem(1, 0.4)
    found = minimise_leakage(joint, d, budget, max_iter=1, tol=0.0)
    assert found.status is Status.MAX_ITER
    assert found.iterations == 1
