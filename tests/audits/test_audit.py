"""The audit as a whole: its rows, the gate, the document and page, and rows a codebook has not seen."""

import json
import math
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import privacyfunnel as pf
from privacyfunnel.audits import (
    CATALOGUE,
    Limits,
    audit_joint,
    broken,
    generalise,
)
from privacyfunnel.columns import Column, ColumnRules
from privacyfunnel.errors import InvalidInput
from privacyfunnel.report import attacker_words
from privacyfunnel.report import audit_words as words
from privacyfunnel.report.page import audit_page
from privacyfunnel.tables import count

QUICK = pf.Trials(permutations=19, bootstraps=20, folds=2)
NONE = pf.Trials(permutations=0, bootstraps=0, attackers=False)


def patients(n: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(8)
    table = pd.DataFrame({"age": rng.integers(30, 36, n), "sex": rng.choice(["f", "m"], n)})
    table["chol"] = 10 * (table.age // 2) + rng.integers(0, 3, n)
    table["group"] = np.where(table.chol > 165, "high", "low")
    table["bmi"] = rng.normal(25, 4, n)
    return table


@pytest.fixture(scope="module")
def found() -> pf.Audit:
    return pf.audit(patients(), ["age", "sex"], "group", original=["sex", "chol"], trials=QUICK)


def test_every_measure_has_a_value_or_a_reason_and_says_what_it_means(found):
    by_row = [key for key in CATALOGUE if not key.startswith("person_")]
    assert [row.key for row in found.rows] == by_row
    for row in found.rows:
        assert (row.value is None) == bool(row.note) or math.isinf(row.value)
        assert row.meaning.text.endswith(".")
        assert row.meaning.safer in ("", "less", "more")
    with pytest.raises(InvalidInput, match="no measure 'luck'"):
        found["luck"]


def test_what_is_published_is_compared_with_the_original(found):
    joint = pf.Joint.from_table(patients(), ["age", "sex"], ["sex", "chol"])
    assert found["information"].original == pytest.approx(joint.information)
    assert found["information"].value < found["information"].original
    sees = {(a["sees"], a["column"]) for a in found.as_dict()["attackers"]}
    assert sees == {(x, s) for x in ("published", "original") for s in ("age", "sex")}


def test_a_link_shows_in_its_column(found):
    by_name = {column.name: column for column in found.columns}
    assert by_name["age"].chance.p_value == pytest.approx(1 / 20)
    assert by_name["sex"].chance.p_value > 0.05
    assert found["beyond_chance"].value > 0.3


def test_the_document_is_json_and_does_not_depend_on_the_processes(found):
    again = pf.audit(
        patients(), ["age", "sex"], "group", original=["sex", "chol"],
        trials=pf.Trials(permutations=19, bootstraps=20, folds=2, n_jobs=2),
    )  # fmt: skip
    text = json.dumps(found.as_dict(), allow_nan=False)
    assert text == json.dumps(again.as_dict(), allow_nan=False)
    assert json.loads(text)["measures"][0]["key"] == "leakage"


def test_an_infinite_lift_is_not_a_missing_one():
    table = pd.DataFrame({"s": list("aabb"), "x": list("ppqq")})
    found = pf.audit(table, "s", "x", trials=NONE)
    row = found["log_lift"].as_dict()
    assert row["infinite"]
    assert row["value"] is None
    assert words.figure(row["value"], row["unit"], row["infinite"]) == "infinite"


def test_continuous_s_without_bins_is_marked_and_with_bins_measured():
    plain = pf.audit(patients(), "bmi", "group", trials=QUICK)
    for row in plain.rows:
        if row.meaning.about_s:
            assert row.value is None
            assert "coarsen it with bins" in row.note
    assert plain["k"].value > 1
    assert plain.columns == ()
    assert all(a.accuracy is None for a in plain.attacks)
    binned = pf.audit(
        patients(), "bmi", "group", columns=ColumnRules(bins={"bmi": 4}), trials=QUICK
    )
    assert binned["information"].value is not None
    assert binned.attacks[0].accuracy is not None


def test_estimates_that_need_more_records_are_marked():
    few = pf.audit(patients(60), ["age", "sex"], ["chol", "sex"], trials=QUICK)
    assert few["miller_madow"].value is None
    assert few["interval_low"].value is None
    assert "too few" in few["miller_madow"].note
    assert few["shrinkage"].value is not None
    many = pf.audit(patients(), "sex", "group", trials=QUICK)
    assert many["interval_low"].value <= many["miller_madow"].value <= many["interval_high"].value


def test_what_was_not_asked_for_is_marked():
    found = pf.audit(patients(), "age", "group", trials=NONE)
    assert found["p_value"].value is None
    assert "no shuffles" in found["p_value"].note
    assert "no resamples" in found["interval_low"].note
    assert found.attacks == ()


def test_weights_are_marked():
    found = pf.audit(patients(), "age", "group", weight="bmi", trials=QUICK)
    assert found.n_records is None
    assert found["leakage"].value > 0
    for key in ("k", "unique", "chance", "shrinkage", "miller_madow"):
        assert found[key].value is None
        assert "weighted" in found[key].note


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sensitive": "one"}, "nothing to protect"),
        ({"sensitive": "aeg"}, "did you mean 'age'"),
        ({"columns": ColumnRules(bins={"height": 3})}, "a rule for 'height'"),
        ({"trials": pf.Trials(folds=500)}, r"at most the number of records \(240\)"),
        ({"public": "age"}, "are the same"),
    ],
)
def test_bad_requests_are_refused(change, words):
    asked = {"sensitive": "age", "public": "group", "trials": NONE} | change
    table = patients().assign(one=1)
    with pytest.raises(InvalidInput, match=words):
        pf.audit(table, asked.pop("sensitive"), asked.pop("public"), **asked)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"permutations": 5}, "permutations must be 0 or at least 19"),
        ({"bootstraps": -1}, "bootstraps must be 0 or at least 20"),
        ({"folds": 1}, "folds must be at least 2"),
        ({"attack_rows": 1}, "attack rows must be at least 2"),
        ({"seed": -3}, "seed must be at least 0"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
    ],
)
def test_bad_settings_are_refused(settings, words):
    with pytest.raises(InvalidInput, match=words):
        pf.Trials(**settings)


def test_rules_for_original_columns_are_theirs_alone():
    found = pf.audit(
        patients(),
        "age",
        "group",
        original="bmi",
        columns=ColumnRules(bins={"bmi": 3}),
        trials=NONE,
    )
    assert found.original[0].rule is not None
    assert found["k"].original == pytest.approx(80, abs=2)  # a third of the records


def test_a_constant_release_is_safe_and_a_constant_column_no_obstacle():
    table = patients().assign(one=1)
    found = pf.audit(table, ["age", "one"], "one", trials=QUICK)
    assert (found["leakage"].value, found["k"].value) == (0, 240)
    assert found["t_closeness"].value == pytest.approx(0)
    assert [a.accuracy is None for a in found.attacks] == [False] * 3 + [True] * 3


def test_limits_are_inclusive_and_name_what_is_broken(found):
    k, t = found["k"].value, found["t_closeness"].value
    kept = Limits(max_leakage=found["leakage"].value, min_k=k, max_t=t, min_l=1, max_guess=1)
    assert broken(found, kept) == []
    failed = broken(found, Limits(max_leakage=0.0, min_k=k + 1, max_guess=0.01))
    assert [words.split()[-3:] for words in failed] == [
        ["at", "most", "0"],
        ["at", "most", "0.01"],
        ["at", "least", str(k + 1)],
    ]


def test_a_limit_that_cannot_be_checked_is_broken():
    weighted = pf.audit(patients(), "age", "group", weight="bmi", trials=NONE)
    (words,) = broken(weighted, Limits(min_k=2))
    assert "cannot be checked" in words


@pytest.mark.parametrize("limits", [{"max_leakage": 2}, {"min_k": 0}, {"max_t": -0.1}])
def test_limits_out_of_range_are_refused(limits):
    with pytest.raises(InvalidInput, match="must"):
        Limits(**limits)


def test_attackers_are_compared_in_words():
    def tried(sees, gain):
        known = {"column": "age", "sees": sees, "note": "", "gain_error_bits": 0.01}
        prior = known | {"attacker": "most frequent", "accuracy": 0.25, "gain_bits": 0.0}
        return [prior, known | {"attacker": "naive Bayes", "accuracy": 0.5, "gain_bits": gain}]

    def told(published, original):
        attacks = tried("published", published) + tried("original", original)
        document = {"attackers": attacks, "original": ["chol"], "public": ["group"]}
        return attacker_words.attackers(document)[0]

    assert told(0.3, 0.4).endswith(
        "gains 0.30 bits. From chol it would be 50% and 0.40 bits (naive Bayes)."
    )
    assert told(0.3, 0.01).endswith("gains 0.30 bits. From chol attackers gain nothing.")
    assert told(0.01, 0.01).endswith("right. From chol attackers gain nothing either.")


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen, self.text = set(), []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_holds_no_tag_of_the_tables():
    table = patients().rename(columns={"group": "<img src=x>", "sex": "</table><script>"})
    found = pf.audit(table, "</table><script>", "<img src=x>", trials=QUICK)
    document = {**found.as_dict(), "limits": {"asked": {"min_k": 9}, "broken": ["k is <b>1</b>"]}}
    reader = Tags()
    reader.feed(audit_page(document))
    assert not reader.seen & {"img", "script"}
    assert "<img src=x>" in "".join(reader.text)
    assert "Limit broken: k is <b>1</b>." in reader.text


def test_a_release_is_audited_from_its_joints():
    counts = count(patients(), ["age", "sex"], ["sex", "chol"])
    joint = counts.joint()
    code = pf.solve(joint, pf.Funnel(0.8), effort="fast").code
    found = audit_joint(
        (code.push(joint), [Column("released", "text")]),
        counts.roles.sensitive,
        original=(joint, counts.roles.public),
        trials=QUICK,
    )
    assert found["information"].value == pytest.approx(pf.metrics.evaluate(joint, code).information)
    assert found["information"].value <= found["information"].original
    assert found.attacks[0].accuracy is not None


def test_a_codebook_on_its_own_rows_shows_what_it_was_made_with():
    counts = count(patients(), ["age", "sex"], ["sex", "chol"])
    joint = counts.joint()
    solution = pf.solve(joint, pf.Funnel(0.8), effort="fast")
    book = pf.Codebook.from_solution(joint, solution, counts.roles)
    found = generalise(patients(), book)
    assert found.n_suppressed == 0
    assert found.utility_bits == pytest.approx(solution.utility, abs=1e-9)
    assert found.leakage_bits == pytest.approx(solution.leakage, abs=1e-9)


def test_unseen_rows_are_coded_by_hand_alike(tmp_path):
    old, new = patients(), patients(300).iloc[100:].assign(sex="x")
    new.loc[new.index[:150], "sex"] = "f"
    counts = count(old, "age", ["sex", "chol"])
    book = pf.Codebook.from_solution(
        counts.joint(), pf.solve(counts.joint(), pf.Funnel(0.8), effort="fast"), counts.roles
    )
    new.to_csv(tmp_path / "new.csv", index=False)
    found = generalise(tmp_path / "new.csv", book)
    known = set(book.values)
    labels = [
        book.encode(pair) if pair in known else "suppressed"
        for pair in zip(new.sex, new.chol.tolist(), strict=True)
    ]
    new = new.assign(label=labels)
    assert found.n_suppressed == labels.count("suppressed") > 0
    assert found.leakage_bits == pytest.approx(pf.Joint.from_table(new, "age", "label").information)
    both = pf.Joint.from_table(new, "label", ["sex", "chol"])
    assert found.utility == pytest.approx(both.information / both.entropy_x)
    assert found.chance_bits is not None


def test_a_soft_codebook_is_measured_as_the_channel_it_is():
    counts = count(patients(), "age", ["sex", "chol"])
    joint = counts.joint()
    solution = pf.solve(joint, pf.Funnel(0.6), method="soft", starts=1)
    book = pf.Codebook.from_solution(joint, solution, counts.roles)
    found = generalise(patients(), book)
    assert found.leakage_bits == pytest.approx(solution.leakage, abs=1e-6)
    assert found.chance_bits == pytest.approx(pf.metrics.shuffled(joint, book.code).mean_bits)


def test_the_patients_sex_is_safe_in_a_release_and_their_age_anywhere(hungarian):
    """Held-out attackers on the paper's data: X gives sex away, the release at utility 0.4 does not."""
    counts = count(hungarian, ["age", "sex"], ["sex", "chol"])
    joint = counts.joint()
    code = pf.frontier(joint, targets=[0.4], effort="fast").at(utility=0.4).code
    found = audit_joint(
        (code.push(joint), [Column("released", "text")]),
        counts.roles.sensitive,
        original=(joint, counts.roles.public),
        trials=pf.Trials(permutations=50, bootstraps=0),
    )
    gains = {
        (sees, a.column): max(b.gain_bits for b in attacks if b.column == a.column)
        for sees, attacks in (("x", found.attacks_original), ("release", found.attacks))
        for a in attacks
    }
    assert gains["x", "sex"] > 0.8
    assert gains["release", "sex"] < 0.05
    assert gains["x", "age"] < 0.02
    assert gains["release", "age"] < 0.02
    as_it_is = pf.metrics.shuffled(joint, shuffles=50)
    assert as_it_is.mean_bits == pytest.approx(4.795, abs=0.014)
    assert as_it_is.p_value > 0.05
