"""Balance: what is kept on average is not had by giving a column up."""

from __future__ import annotations

import numpy as np
import pytest

import privacyfunnel as pf
from privacyfunnel.errors import TargetUnreachable
from privacyfunnel.recodings import column_utilities


def table(seed: int, n: int = 3000) -> pf.Joint:
    """S goes with the age and hardly with the town, so that age is what one would give up."""
    rng = np.random.default_rng(seed)
    age, town, ill = rng.integers(20, 60, n), rng.integers(0, 9, n), rng.random(n)
    s = (ill < (age - 20) / 40).astype(int)
    values, x = np.unique(np.array([age, town]), axis=1, return_inverse=True)
    counts = np.zeros((2, values.shape[1]))
    np.add.at(counts, (s, x.ravel()), 1)
    labels = [(int(a), f"t{t}", bool(t % 2)) for a, t in values.T]
    return pf.Joint.from_counts(counts, labels_x=labels, columns=["age", "town", "odd"])


@pytest.mark.parametrize("target", [{"kept": 0.3}, {"kept": 0.6}, {"leakage": 0.3}])
def test_every_column_keeps_its_part(target: dict[str, float]) -> None:
    joint = table(1)
    free, even = (
        pf.frontier(joint, recoding="global", n_points=2, balance=balance) for balance in (0.0, 0.5)
    )
    given_up, found = free.at(**target), even.at(**target)
    alone = column_utilities(joint, found.code)
    asked = target.get("kept", found.kept)
    assert alone["age"] >= 0.5 * asked - 1e-9
    assert alone["town"] >= 0.5 * asked - 1e-9
    if "kept" in target:
        assert column_utilities(joint, given_up.code)["age"] < 0.5 * asked  # it would be given up
        assert found.kept >= target["kept"] - 1e-9
        assert found.leakage >= given_up.leakage - 1e-9
    else:
        assert 0 < found.kept <= given_up.kept + 1e-9
        assert found.leakage <= 0.3 * joint.entropy_s + 1e-9


def test_what_no_balanced_code_keeps_is_refused_with_a_cure() -> None:
    joint = table(2, n=200)
    frontier = pf.frontier(joint, recoding="global", n_points=2, balance=1.0, min_count=20)
    with pytest.raises(TargetUnreachable, match="of every column") as refused:
        frontier.at(kept=0.45)
    assert refused.value.hint == "balance"


def test_local_recoding_has_no_balance() -> None:
    with pytest.raises(pf.errors.InvalidInput, match="global recoding"):
        pf.frontier(table(1, 100), recoding="local", balance=0.5)
