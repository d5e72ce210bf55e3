"""Codebook: kept whole through its file, refused when it cannot be verified."""

from __future__ import annotations

import json
import math
from datetime import date, datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacyfunnel import Channel, Funnel, Joint, Partition, Solution, Status, objectives, solve
from privacyfunnel.codebook import VERSION, Codebook, schema
from privacyfunnel.codebook.checks import checksum
from privacyfunnel.codebook.file import from_document, write
from privacyfunnel.codebook.schema import compiled
from privacyfunnel.columns import MISSING, Bins, Column, ColumnRules, Roles, Round
from privacyfunnel.errors import DataUnavailable, InvalidInput, UnknownSymbol
from privacyfunnel.tables import count

TABLE = pd.DataFrame(
    {
        "age": [30, 41, 52, 63, 30, 41, 52, 63],
        "sex": ["f", "m", "f", "m", None, "m", "f", "f"],
        "chol": [180.5, 200.0, None, 289.0, 180.5, 350.0, 289.0, 200.0],
    }
)


def solved(code_of, rules=None, **options):
    counted = count(TABLE, "age", ["sex", "chol"], columns=rules)
    joint = counted.joint()
    solution = Solution.measured(joint, Funnel(0.5), code_of(joint.n_x), Status.CONVERGED)
    return joint, Codebook.from_solution(joint, solution, counted.roles, **options)


def hard(n_x):
    return Partition(np.arange(n_x) % 3)


def soft(n_x):
    matrix = np.random.default_rng(1).dirichlet(np.ones(4) / 3, size=n_x)
    matrix[0] = [0, 1, 0, 0]
    matrix[matrix < 0.02] = 0
    return Channel(matrix / matrix.sum(axis=1, keepdims=True))


BOOKS = {
    "hard": lambda: solved(hard, target={"utility": 0.4}, seed=7)[1],
    "soft": lambda: solved(soft, target={"leakage": 0.1}, seed=7)[1],
    "coarse": lambda: solved(hard, ColumnRules.parse(bins=["chol=3", "age=40,60"]))[1],
    "rounded": lambda: solved(hard, ColumnRules.parse(round=["chol=0.5"], missing="drop"))[1],
}


@pytest.fixture(params=BOOKS)
def book(request):
    return BOOKS[request.param]()


# --- what it says -----------------------------------------------------------------------------


def test_it_says_what_was_asked_and_measured():
    joint, book = solved(hard, target={"utility": 0.4}, seed=7)
    code = hard(joint.n_x)
    assert book.target == {"utility": 0.4}
    assert (book.seed, book.n_records, book.problem) == (7, 8, "funnel")
    assert book.measured["leakage_bits"] == objectives.leakage(joint, code)
    assert book.measured["utility"] == objectives.utility(joint, code) / joint.entropy_x
    assert book.tool.startswith("privacyfunnel ")
    assert [s.label for s in book.symbols] == ["r1", "r2", "r3"]
    assert sum(s.count for s in book.symbols) == 8
    for symbol, cluster in zip(book.symbols, code.clusters(), strict=True):
        assert symbol.probability == pytest.approx(joint.p_x[cluster].sum())
    assert book.code == code


def test_labels_sort_as_they_are_numbered():
    joint = Joint.from_counts(np.eye(12, 120) + 1, labels_x=range(120))
    solution = solve(joint, Funnel(1.0), method="greedy")
    roles = Roles((Column("s", "integer"),), (Column("x", "integer"),))
    labels = Codebook.from_solution(joint, solution, roles).labels
    assert labels == sorted(labels)
    assert labels[0] == "r" + "1".zfill(len(str(len(labels))))


def test_encode_is_the_code_in_words():
    joint, book = solved(hard)
    for value, label in zip(joint.labels_x, hard(joint.n_x).labels, strict=True):
        assert book.encode(value) == f"r{label + 1}"
    assert book.encode(("f", float("nan"))) == book.encode(("f", None))
    with pytest.raises(UnknownSymbol, match="column 'sex' has the value x"):
        book.encode(("x", 200.0))
    with pytest.raises(UnknownSymbol, match="the combination sex = missing, chol = 200"):
        book.encode((None, 200.0))
    with pytest.raises(InvalidInput, match="2 public columns"):
        book.encode(("f",))


def test_encode_draws_a_soft_code_by_key():
    joint, book = solved(soft, secret="a secret for tests")
    value = joint.labels_x[2]
    drawn = [book.encode(value, key=k) for k in range(4000)]
    shares = [drawn.count(label) / 4000 for label in book.labels]
    assert np.abs(np.array(shares) - book.code.matrix.toarray()[2]).max() < 0.03
    assert drawn == [book.encode(value, key=str(k)) for k in range(4000)]
    with pytest.raises(InvalidInput, match="key"):
        book.encode(value)


def test_salts_are_secret_by_default():
    salts = {solved(soft)[1].salt for _ in range(3)}
    assert len(salts) == 3
    assert all(len(salt) == 64 for salt in salts)
    assert solved(hard)[1].salt is None


def test_no_seed_decides_the_draws_but_an_earlier_secret_does():
    first = solved(soft, seed=0)[1]
    assert first.salt != solved(soft, seed=0)[1].salt
    assert solved(soft, secret=first.salt)[1].salt == first.salt
    with pytest.raises(InvalidInput, match="5 characters, and 16 are the least"):
        solved(soft, secret="guess")


def test_what_a_symbol_stands_for():
    _, book = solved(lambda n_x: Partition.trivial(n_x))
    assert book.stands_for("r1") == ("f | m | missing", "180.5 | 200 | 289 | 350 | missing")
    roles = Roles((Column("s", "integer"),), (Column("x", "integer"),))
    joint = Joint.from_counts(np.ones((2, 9)), labels_x=[*range(8), None])
    solution = Solution.measured(joint, Funnel(0.5), Partition.trivial(9), Status.CONVERGED)
    assert Codebook.from_solution(joint, solution, roles).stands_for("r1") == ("0 to 7 | missing",)


# --- the public view --------------------------------------------------------------------------


def test_the_public_view_says_nothing_about_s(book, tmp_path):
    public = book.public()
    text = write(public)
    for word in ("leakage", "entropy_s", "information"):
        assert word not in text
    document = json.loads(text)
    assert document["seed"] is None
    assert document["salt"] is None
    assert all(set(column) == {"name", "kind"} for column in document["sensitive"])
    assert public.rows == (() if book.soft else book.rows)
    public.save(tmp_path / "public.json")
    assert Codebook.load(tmp_path / "public.json") == public


# --- the file ---------------------------------------------------------------------------------


def test_a_codebook_comes_back_as_it_went(book, tmp_path):
    book.save(tmp_path / "codebook.json")
    again = Codebook.load(tmp_path / "codebook.json")
    assert again == book
    assert repr(again) == repr(book)  # the types too: 1 is not 1.0 is not True
    for row in again.rows:
        assert abs(math.fsum(p for _, p in row) - 1) <= 1e-12
    with pytest.raises(InvalidInput, match="force=True"):
        book.save(tmp_path / "codebook.json")


def test_the_file_is_as_its_schema_says(book):
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(json.loads(write(book)), schema())


def test_our_check_of_the_schema_is_the_standard_one(book):
    jsonschema = pytest.importorskip("jsonschema")
    standard = jsonschema.Draft202012Validator(schema())
    assert schema()["properties"]["version"]["const"] == VERSION
    assert schema()["properties"]["missing"]["enum"] == list(MISSING)
    odd = (None, True, -1, 2, 0.5, 1.5, "", "x", [], [1], {}, {"date": "x"}, {"number": "1"})
    for path in _paths(json.loads(write(book))):
        for value in (*odd, "gone"):
            document = json.loads(write(book))
            inner = document
            for step in path[:-1]:
                inner = inner[step]
            if value == "gone":
                del inner[path[-1]]
            else:
                inner[path[-1]] = value
            assert _accepted(document) == standard.is_valid(document), (path, value)


def _paths(value, path=()):
    inside = value.items() if isinstance(value, dict) else enumerate(value[:2])
    for step, part in inside:
        yield (*path, step)
        if isinstance(part, dict | list):
            yield from _paths(part, (*path, step))


FORM = compiled(schema())


def _accepted(document):
    try:
        FORM(document, "the document")
    except InvalidInput:
        return False
    return True


VALUES = {
    "boolean": st.booleans(),
    "integer": st.integers(-(2**63), 2**63 - 1),
    "number": st.floats(allow_nan=False).map(lambda v: v + 0.0),
    "text": st.text(st.characters(codec="utf-8")),
    "date": st.dates(),
    "datetime": st.datetimes().map(lambda v: v.replace(fold=0)),
}


@settings(max_examples=80)
@given(st.data())
def test_values_keep_their_types(data):
    kinds = data.draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=3))
    value = st.tuples(*(st.none() | VALUES[kind] for kind in kinds))
    values = data.draw(st.lists(value, min_size=2, max_size=6, unique=True))
    labels = [v[0] for v in values] if len(kinds) == 1 else values
    joint = Joint.from_counts(np.ones((2, len(values))), labels_x=labels)
    solution = Solution.measured(joint, Funnel(0.5), hard(len(values)), Status.CONVERGED)
    columns = tuple(Column(f"x{i}", kind) for i, kind in enumerate(kinds))
    book = Codebook.from_solution(joint, solution, Roles((Column("s", "integer"),), columns))
    again = from_document(json.loads(write(book)))
    assert repr(again.values) == repr(book.values)
    assert again == book


def test_ambiguous_values_are_told_apart():
    roles = Roles((Column("s", "integer"),), (Column("x", "text"),))
    joint = Joint.from_counts(np.ones((2, 4)), labels_x=["1", "null", "true", None])
    solution = Solution.measured(joint, Funnel(0.5), hard(4), Status.CONVERGED)
    book = from_document(json.loads(write(Codebook.from_solution(joint, solution, roles))))
    assert sorted(v for (v,) in book.values if v is not None) == ["1", "null", "true"]
    assert (None,) in book.values


# --- refusing ---------------------------------------------------------------------------------


def tampered(book, change, sign=True):
    document = json.loads(write(book))
    change(document)
    if sign:
        document["checksum"] = checksum(document)
    return document


def edit(**fields):
    return lambda document: document.update(fields)


def member_twice(document):
    document["symbols"][1]["members"].append(document["symbols"][0]["members"][0])
    document["symbols"][1]["counts"].append(1.0)


def member(value):
    return lambda d: d["symbols"][0].update(members=[value], counts=[1.0])


def bad_row(document):
    label = next(iter(document["rows"][1]["released"]))
    document["rows"][1]["released"][label] *= 0.5


HARD = {
    "edited by hand": (edit(n_records=9), False, "edited by hand"),
    "newer": (edit(version=VERSION + 1), True, "upgrade"),
    "newer unsigned": (edit(version=VERSION + 1), False, "upgrade"),
    "version of a kind": (edit(version="1"), True, "version"),
    "other format": (edit(format="something"), True, "format"),
    "missing field": (lambda d: d.pop("symbols"), True, "'symbols' is missing"),
    "unknown field": (edit(extra=1), True, "'extra' is unknown"),
    "wrong form": (edit(symbols={}), True, "'symbols' has the wrong form"),
    "wrong figures": (edit(target={"lam": "high"}), True, "'lam' has the wrong form"),
    "other code": (edit(code="pickle"), True, "'code' has the wrong form"),
    "other rule for missing": (edit(missing="maybe"), True, "'missing' has the wrong form"),
    "covered twice": (member_twice, True, "covered twice"),
    "no members": (
        lambda d: d["symbols"][0].update(members=[]),
        True,
        "'members' has the wrong form",
    ),
    "members of a kind": (member([1, 2]), True, "no value of"),
    "members too long": (member(["f", 1.0, 2]), True, "3 parts"),
    "members no list": (lambda d: d["symbols"][0].update(members=5), True, "wrong form"),
    "nested": (member([["f"], 1.0]), True, "wrong form"),
    "tag": (member(["f", {"pickle": "x"}]), True, "wrong form"),
    "tagged": (member(["f", {"date": "x"}]), True, "no date"),
    "a count more": (
        lambda d: [s.update(counts=[1.0] * (len(s["members"]) + 1)) for s in d["symbols"]],
        True,
        "not one count per member",
    ),
    "written otherwise": (member(["f", {"number": "1.5"}]), True, "no number"),
    "probability below 0": (
        lambda d: [
            s.update(probability=p) for s, p in zip(d["symbols"], (1.5, -0.5), strict=False)
        ],
        True,
        "outside 0 to 1",
    ),
    "count below 0": (lambda d: d["symbols"][0].update(count=-1.0), True, "no number of records"),
    "step of 0": (lambda d: d["public"][1].update(round=0), True, "above 0"),
    "twin labels": (lambda d: d["symbols"][0].update(label="r2"), True, "not distinct"),
    "probabilities": (lambda d: d["symbols"][0].update(probability=0.9), True, "sum to"),
    "kind": (lambda d: d["public"][0].update(kind="blob"), True, "'kind' has the wrong form"),
    "no column": (edit(public=[]), True, "it names no public column"),
    "column field": (lambda d: d["public"][0].update(code="x"), True, "'code' is unknown"),
    "column name": (lambda d: d["public"][0].update(name=3), True, "'name' has the wrong form"),
    "salted": (edit(salt="x"), True, "no salt"),
    "falling edges": (lambda d: d["sensitive"][0].update(bins=[3, 2]), True, "rise"),
    "two rules": (lambda d: d["sensitive"][0].update(bins=[3], round=1), True, "two rules"),
}


@pytest.mark.parametrize("case", HARD)
def test_what_cannot_be_verified_is_refused(case, tmp_path):
    change, sign, complaint = HARD[case]
    (tmp_path / "c.json").write_text(json.dumps(tampered(BOOKS["hard"](), change, sign)))
    with pytest.raises(InvalidInput, match=complaint) as info:
        Codebook.load(tmp_path / "c.json")
    assert "\n" not in str(info.value)
    assert "c.json" in str(info.value)


SOFT = {
    "rows": (bad_row, "sum to"),
    "label": (lambda d: d["rows"][0].update(released={"r9": 1.0}), "no field 'r9'"),
    "negative": (lambda d: d["rows"][0].update(released={"r1": -1.0, "r2": 2.0}), "outside 0 to 1"),
    "nothing": (lambda d: d["rows"][0].update(released={}), "released as nothing"),
    "twice": (lambda d: d["rows"].append(d["rows"][0]), "covered twice"),
    "salt": (edit(salt=None), "needs a salt"),
}


@pytest.mark.parametrize("case", SOFT)
def test_what_cannot_be_verified_of_a_soft_code_is_refused(case):
    change, complaint = SOFT[case]
    with pytest.raises(InvalidInput, match=complaint):
        from_document(tampered(BOOKS["soft"](), change))


@pytest.mark.parametrize(
    "text",
    ["", "nonsense", "[1]", "{}", '{"a": 1, "a": 2}', '{"a": NaN}', "[" * 100_000, "null"],
)
def test_other_files_are_refused(text, tmp_path):
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(InvalidInput, match="codebook") as info:
        Codebook.load(tmp_path / "c.json")
    assert "\n" not in str(info.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(DataUnavailable, match="cannot read"):
        Codebook.load(tmp_path / "none.json")
    (tmp_path / "c.json").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match="not a text file"):
        Codebook.load(tmp_path / "c.json")


def test_spacing_and_order_of_fields_do_not_matter(book, tmp_path):
    document = json.loads(write(book))
    shuffled = dict(sorted(document.items()))
    (tmp_path / "c.json").write_text(json.dumps(shuffled, indent=4))
    assert Codebook.load(tmp_path / "c.json") == book


def test_values_must_fit_their_columns():
    joint = Joint.from_counts(np.ones((2, 2)), labels_x=["a", 1])
    solution = Solution.measured(joint, Funnel(0.5), hard(2), Status.CONVERGED)
    for column in (Column("x", "text"), Column("x", "integer"), Column("x", "number", Round(1))):
        with pytest.raises(InvalidInput):
            Codebook.from_solution(joint, solution, Roles((Column("s", "text"),), (column,)))
    roles = Roles((Column("s", "text"),), (Column("x", "integer", Bins((1,))),))
    with pytest.raises(InvalidInput, match="no value of"):
        Codebook.from_solution(joint, solution, roles)


def test_dates_and_infinity_in_the_file():
    values = [date(1950, 1, 31), date(2000, 2, 29)]
    joint = Joint.from_counts(np.ones((2, 2)), labels_x=values)
    solution = Solution.measured(joint, Funnel(0.5), hard(2), Status.CONVERGED)
    roles = Roles((Column("s", "integer"),), (Column("x", "date"),))
    assert '"members": [{"date": "1950-01-31"}]' in write(
        Codebook.from_solution(joint, solution, roles)
    )
    edges = Roles(
        (Column("s", "datetime", Bins((datetime(2020, 1, 1),))),), (Column("x", "number"),)
    )
    joint = Joint.from_counts(np.ones((2, 2)), labels_x=[-math.inf, 1.0])
    book = Codebook.from_solution(joint, solution, edges)
    assert from_document(json.loads(write(book))) == book
