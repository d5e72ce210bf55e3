"""Readable codes for a use: priced as measured, exact for one column, targets met."""

from __future__ import annotations

import numpy as np
import pytest

from privacyfunnel import Funnel, Joint, Partition, PrivacyFunnel
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.recodings import Recoding, UsefulSearch


def ages_with_use(rng: np.random.Generator, n: int = 7) -> Joint:
    counts = rng.integers(1, 9, size=(3, n))
    yes = rng.binomial(counts.sum(axis=0), rng.random(n))
    useful = [yes, counts.sum(axis=0) - yes]
    return Joint.from_counts(counts, labels_x=list(range(n)), columns=["age"], useful=useful)


def intervals(n: int):
    """All cuts of n values into intervals."""
    for cut in range(1 << (n - 1)):
        yield Partition(np.cumsum([0, *((cut >> i) & 1 for i in range(n - 1))]))


@pytest.mark.parametrize("seed", range(5))
def test_one_column_is_cut_where_the_use_is_kept_at_least_leakage(seed: int):
    joint = ages_with_use(np.random.default_rng(seed))
    search = UsefulSearch(Recoding("global", rounding="free").on(joint), np.random.default_rng(0))
    aim = Funnel(0.0, keep="useful")
    whole = aim.whole_utility(joint)
    points = [
        (aim.utility(joint, code) / whole, aim.leakage(joint, code))
        for code in intervals(joint.n_x)
    ]
    hull = [
        p for p in points
        if not any(q != p and q[0] >= p[0] - 1e-12 and q[1] <= p[1] + 1e-12 for q in points)
    ]  # fmt: skip
    on_line = 0
    for nu in (0.2, 0.5, 1.0, 2.0, 5.0):
        # What is least at a price of Y lies on the hull of all cuts and must be found for its share.
        best = min(hull, key=lambda p, nu=nu: p[1] - nu * p[0] * whole)
        found = search.at(utility=best[0] - 1e-9)
        assert found.utility >= (best[0] - 1e-8) * whole
        on_line += found.leakage <= best[1] + 1e-9
    assert on_line >= 4
    under = search.at(leakage=0.5 * joint.information / joint.entropy_s)
    assert under.leakage <= 0.5 * joint.information + 1e-9


def test_what_cannot_be_kept_is_refused():
    joint = ages_with_use(np.random.default_rng(1))
    search = UsefulSearch(Recoding("global", cuts={"age": [3]}).on(joint), np.random.default_rng(0))
    with pytest.raises(TargetUnreachable, match="the nearest keeps"):
        search.at(utility=1.0)
    with pytest.raises(InvalidInput, match="exactly one target"):
        search.at()
    with pytest.raises(InvalidInput, match="global recoding or by symbols"):
        UsefulSearch(Recoding("local").on(joint), np.random.default_rng(0))


@pytest.mark.parametrize("recoding", ["symbols", "global"])
def test_an_estimator_keeps_y(recoding: str):
    rng = np.random.default_rng(2)
    x = rng.integers(0, 12, size=(900, 1))
    y = (x[:, 0] + rng.integers(0, 3, size=900) > 6).astype(int)
    s = ((x[:, 0] % 2) + (rng.random(900) < 0.2)) % 2
    funnel = PrivacyFunnel(keep="y", utility=0.9, recoding=recoding, bins=None)
    out = funnel.fit(x, y, sensitive_features=s).transform(x)

    def told(v) -> float:
        codes = np.unique(np.asarray(out).ravel().astype(str), return_inverse=True)[1]
        table = np.zeros((2, codes.max() + 1))
        np.add.at(table, (v, codes), 1)
        return Joint.from_counts(table).information

    whole = np.zeros((2, 12))
    np.add.at(whole, (y, x[:, 0]), 1)
    assert told(y) >= 0.9 * Joint.from_counts(whole).information - 1e-9
    assert told(s) < 0.05
    assert funnel.leakage_ < 0.05
    with pytest.raises(InvalidInput, match="keep='y' takes both y"):
        PrivacyFunnel(keep="y").fit(x, y)


def test_what_no_code_for_a_use_can_do_is_refused_with_the_reason():
    joint = ages_with_use(np.random.default_rng(0))
    for options, target, words in (
        ({"min_count": 10_000}, {"utility": 0.5}, "10000 records in each combination"),
        ({"min_count": 10_000}, {"leakage": 0.5}, "10000 records in each combination"),
        ({"groups": {"age": [3]}}, {"leakage": 0.0}, "the groups that are given tell more"),
    ):
        search = UsefulSearch(Recoding(**options).on(joint), np.random.default_rng(0))
        with pytest.raises(TargetUnreachable, match=words):
            search.at(**target)
