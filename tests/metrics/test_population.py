"""The bound for new people: its proof step by step, and that it covers known worlds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privacyfunnel as pf
from privacyfunnel.errors import InvalidInput
from privacyfunnel.metrics.population import _drift, _frequencies, population_bound

NATS = math.log(2)


def worlds() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    even = np.outer([0.3, 0.7], rng.dirichlet(np.ones(6)))
    linked = even * np.array([[1.6, 0.4, 1.2, 0.8, 1.1, 1.0], [1.0] * 6])
    many = rng.dirichlet(np.full(8, 0.5), size=40).T * rng.dirichlet(np.ones(40))
    return {"nothing": even, "a little": linked / linked.sum(), "rare values": many}


@pytest.mark.parametrize("name", worlds())
@pytest.mark.parametrize("n", [60, 600])
def test_the_bound_covers_what_is_true_of_the_population(name, n):
    p_sx, rng = worlds()[name], np.random.default_rng(n)
    true = pf.Joint.from_probabilities(p_sx).information
    found = [
        population_bound(
            pf.Joint.from_counts(rng.multinomial(n, p_sx.ravel()).reshape(p_sx.shape)),
            values=p_sx.shape,
        ).bits
        for _ in range(60)
    ]
    assert np.mean(np.array(found) >= true) >= 0.95


def test_more_people_make_it_tighter_and_more_confidence_looser():
    counts = np.array([[30, 10, 20], [20, 20, 30]])
    few, many = (population_bound(pf.Joint.from_counts(counts * k)) for k in (1, 100))
    assert few.measured_bits == pytest.approx(many.measured_bits)
    assert many.measured_bits < many.bits < few.bits
    assert many.leakage == pytest.approx(many.bits / pf.Joint.from_counts(counts).entropy_s)
    surer = population_bound(pf.Joint.from_counts(counts), confidence=0.999)
    assert surer.bits > few.bits
    values = population_bound(pf.Joint.from_counts(counts), values=(3, 3))
    assert values.bits > few.bits  # a value that nobody here has is not impossible


@given(st.floats(1e-3, 20))
def test_the_price_of_a_positive_density_holds(x):
    c = x * x / (2 * (math.exp(-x) - 1 + x))
    for part in np.linspace(0.01, 1, 20):
        y = part * x
        assert y * y / 2 <= c * (math.exp(-y) - 1 + y) * (1 + 1e-9) + 1e-12
        for theta in (0.1, 0.5, 1.0):  # below zero, the square stands before the whole
            left = math.exp(min(theta * y, 700)) - 1 - theta * y
            assert left <= theta**2 * (math.exp(min(y, 700)) - 1 - y) * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("k", [2, 5, 40])
def test_frequencies_drift_no_further_than_it_says(k):
    rng, n = np.random.default_rng(k), 200
    p = rng.dirichlet(np.ones(k))
    drawn = rng.multinomial(n, p, size=2000) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(drawn > 0, drawn * np.log(drawn / p), 0).sum(axis=1)
    assert np.mean(far > _drift(n, k, 0.05)) <= 0.05
    low, high = _frequencies(drawn[0], n, 0.05)
    assert (low <= drawn[0]).all()
    assert (drawn[0] <= high).all()
    assert low.min() >= 0
    assert high.max() <= 1


def test_by_lot_the_probabilities_stand_for_draws():
    rng = np.random.default_rng(5)
    p_sx = rng.dirichlet(np.ones(12)).reshape(2, 6)
    channel = pf.Channel(rng.dirichlet(np.ones(3), size=6))
    true = pf.Joint.from_probabilities(p_sx @ channel.matrix.toarray()).information
    found = []
    for _ in range(60):
        people = pf.Joint.from_counts(rng.multinomial(150, p_sx.ravel()).reshape(p_sx.shape))
        bound = population_bound(channel.push(people), n_people=people.n_records)
        found.append(bound.bits >= true)
    assert np.mean(found) >= 0.95


def test_weights_and_wrong_confidence_are_refused():
    with pytest.raises(InvalidInput, match="not weights"):
        population_bound(pf.Joint.from_probabilities([[0.5, 0.0], [0.25, 0.25]]))
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        population_bound(pf.Joint.from_counts([[1, 2], [2, 1]]), confidence=1)
