"""Who knows every other record: the audit's figure is that of a plain simulation, person by person."""

import numpy as np
import pandas as pd
import pytest

import privacyfunnel as pf
import reference
from privacyfunnel.releases.request import ReleaseRequest
from privacyfunnel.releases.search import find
from privacyfunnel.report.attacker_words import who_knows_all_others
from privacyfunnel.report.page import page
from privacyfunnel.report.words import summary
from privacyfunnel.tables import count

NONE = pf.Trials(permutations=0, bootstraps=0, attackers=False)
KINDS = {
    "symbols": {"target": {"utility": 0.5}},
    "by lot": {"target": {"leakage": 0.02}, "soft": True},
    "global": {"target": {"kept": 0.5}, "recoding": "global"},
    "local": {"target": {"kept": 0.5}, "recoding": "local"},
}


def table_of(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 70))
    table = pd.DataFrame({"s": rng.integers(0, int(rng.integers(2, 4)), n)})
    table["a"], table["b"] = rng.integers(0, 4, n) + table.s, rng.integers(0, 3, n)
    return table


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_the_audit_subtracts_as_a_plain_simulation_does(kind, seed):
    table = table_of(10 * seed + list(KINDS).index(kind))
    joint = count(table, "s", ["a", "b"]).joint()
    code = find(joint, ReleaseRequest(**KINDS[kind], effort="fast", points=2)).code
    matrix = code.matrix.toarray() / code.matrix.sum(axis=1)[:, None]
    place = {x: i for i, x in enumerate(joint.labels_x)}
    rng = np.random.default_rng(seed)
    table["out"] = [
        int(rng.choice(matrix.shape[1], p=matrix[place[x]]))
        for x in zip(table.a, table.b, strict=True)
    ]
    found = pf.audit(table, "s", "out", trials=NONE)["guess_informed"].value
    assert found == pytest.approx(
        reference.informed_by_person(table.s.tolist(), table.out.tolist())
    )


def test_a_rare_value_is_no_balance():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"rare": rng.random(3000) < 0.02, "region": rng.integers(0, 5, 3000)})
    found = pf.audit(table, "rare", "region", trials=NONE)
    blind, guess = (found[f"guess_{key}"].value for key in ("blind", "informed"))
    assert blind > 0.95
    for told in (guess, blind + 0.3 * (1 - blind)):
        assert "balanced" not in who_knows_all_others(told, blind, "rare")[0]
    assert "balanced" in who_knows_all_others(1.0, blind, "rare")[0]


def test_a_balanced_release_is_found_and_said(tmp_path):
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"ill": rng.integers(0, 2, 400), "ward": rng.integers(0, 40, 400)})
    asked = {"utility": 0.4, "effort": "fast", "points": 2, "attackers": False}
    document = pf.release(table, "ill", "ward", out=tmp_path / "out", **asked).document
    assert document["measured"]["leakage"] < 0.001
    rows = {row["key"]: row["value"] for row in document["audit"]["measures"]}
    assert rows["guess_informed"] > 0.95
    said = [line for line in summary(document) if "every other record" in line]
    assert "balanced to the last record" in said[0]
    assert "who knows only the release" in page(document).lower().replace("one knows", "who knows")
