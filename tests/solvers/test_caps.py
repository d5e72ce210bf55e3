"""Several secrets with caps: every cap is met, small cases keep the most that can be kept."""

from __future__ import annotations

import numpy as np
import pytest

import reference
from privacyfunnel import Joint, Partition
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.solvers.caps import Cap, solve_capped


def two_secrets(rng: np.random.Generator, n_x: int) -> Joint:
    labels = [(sex, race) for sex in "fm" for race in "abc"]
    return Joint.from_counts(
        rng.integers(0, 6, size=(6, n_x)) + 1, labels, sensitive=["sex", "race"]
    )


@pytest.mark.parametrize("seed", range(4))
def test_every_cap_is_met_and_no_code_within_them_keeps_more(seed: int):
    rng = np.random.default_rng(seed)
    joint = two_secrets(rng, 6)
    caps = {"sex": float(0.02 * rng.random()), "race": f"guessing:{0.2 * rng.random():.4f}"}
    found = solve_capped(joint, caps, effort="fast", seed=seed)
    listed = [Cap.read(name, given) for name, given in caps.items()]
    for cap in listed:
        assert found.told[cap.name] <= cap.most + 1e-9
        alone = joint.secret(cap.name)
        p = alone.p_sx.toarray() @ found.code.matrix.toarray()
        reading = reference.measure(cap.measure.name, p)
        assert found.told[cap.name] == pytest.approx(reading / cap.measure.whole(alone.p_s))
    codes = [Partition(np.array(labels)) for labels in reference.partitions(joint.n_x)]
    within = [
        code for code in codes
        if all(cap.told(joint.secret(cap.name), code) <= cap.most + 1e-12 for cap in listed)
    ]  # fmt: skip
    most = max(reference.utility(joint, code) for code in within)
    assert found.utility == pytest.approx(most, abs=1e-9)


def test_a_looser_cap_never_keeps_less():
    joint = two_secrets(np.random.default_rng(8), 8)
    caps = (0.001, 0.01, 0.05)
    kept = np.array(
        [[solve_capped(joint, {"sex": a, "race": b}).utility for b in caps] for a in caps]
    )
    assert (np.diff(kept, axis=0) >= -1e-12).all()
    assert (np.diff(kept, axis=1) >= -1e-12).all()


def test_what_is_asked_beside_caps_is_checked():
    joint = Joint.from_counts([[3, 0, 1, 2], [0, 3, 2, 1]], sensitive=["sex"])
    for options, words in (
        ({"min_count": 1000}, "at most the number of records, 12"),
        ({"min_count": -1}, "at least 1"),
        ({"utility": -1.0}, "utility must lie in"),
        ({"utility": "x"}, "utility must lie in"),
    ):
        with pytest.raises(InvalidInput, match=words):
            solve_capped(joint, {"sex": 0.5}, **options)


def test_what_cannot_be_had_is_refused_with_the_nearest():
    joint = two_secrets(np.random.default_rng(5), 7)
    with pytest.raises(TargetUnreachable, match=r"within all caps; the nearest keeps 0\.\d+"):
        solve_capped(joint, {"sex": 0.02, "race": 0.1}, utility=0.99, effort="fast")
    with pytest.raises(InvalidInput, match="no sensitive column 'age'"):
        solve_capped(joint, {"age": 0.1})
    for wrong in (-1, 1.5, "guessing", "guess:0.1", "x"):
        with pytest.raises(InvalidInput, match=r"a cap is a share|measure must be"):
            solve_capped(joint, {"sex": wrong})
    with pytest.raises(InvalidInput, match="at least one cap"):
        solve_capped(joint, {})


def test_large_alphabets_and_least_counts_keep_the_caps():
    joint = two_secrets(np.random.default_rng(6), 520)
    found = solve_capped(joint, {"sex": 0.001, "race": 0.002}, effort="fast")
    assert found.told["sex"] <= 0.001 + 1e-9
    assert found.told["race"] <= 0.002 + 1e-9
    assert found.utility > 0.3 * joint.entropy_x
    joint = two_secrets(np.random.default_rng(7), 20)
    found = solve_capped(joint, {"sex": 0.01}, effort="fast", min_count=60)
    assert np.bincount(found.code.labels, weights=joint.p_x * joint.total).min() >= 60


def test_many_values_keep_more_than_nothing_within_caps_and_a_least_count():
    rng = np.random.default_rng(0)
    x, sex = rng.integers(0, 600, 3000), rng.integers(0, 2, 3000)
    counts = np.zeros((4, 600))
    np.add.at(counts, (sex + 2 * (x % 7 < 3), x), 1)
    labels = [(a, b) for b in "no" for a in "fm"]
    joint = Joint.from_counts(counts, labels_s=labels, sensitive=["sex", "race"])
    found = solve_capped(joint, {"sex": 0.02, "race": 0.02}, effort="fast", min_count=5)
    assert found.utility > 0.1 * joint.entropy_x
    assert max(found.told.values()) <= 0.02 + 1e-9
    assert np.bincount(found.code.labels, weights=joint.counts.sum(axis=0)).min() >= 5
