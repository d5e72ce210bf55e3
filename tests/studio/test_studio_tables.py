"""Tables and choices that the studio takes, and what it says of those that it cannot use."""

from __future__ import annotations

import time
from html import escape

import httpx
import pandas as pd
import pytest

from privacyfunnel.errors import InvalidInput
from privacyfunnel.studio.forms import Choices, ColumnChoice, guess, read_choices, read_search
from privacyfunnel.studio.server import running
from privacyfunnel.studio.settings import Settings
from privacyfunnel.studio.sources import safe_name
from studio_client import DEMO_FORM, EVIL, Visitor, attributes, demo_csv


@pytest.fixture(scope="module")
def at_demo(studio):
    with Visitor(studio) as visitor:
        visitor.demo()
        yield visitor


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("big.csv", b"a,b\n" + b"1,2\n" * 30_000, "larger than the 0.1 MB"),
        ("table.xlsx", b"PK", "must end in .csv"),
        ("", b"a,b\n1,2\n", "must end in .csv"),
        ("empty.csv", b"", "is empty"),
    ],
)
def test_an_upload_that_cannot_be_is_refused_in_words(visitor, name, content, words):
    answer = visitor.upload(name, content)
    assert answer.status_code == 400
    assert words in answer.json()["error"]
    assert visitor.get("/columns").url.path == "/"


def test_an_upload_that_does_not_say_how_long_it_is_is_cut_off(studio, visitor):
    def endless():
        for _ in range(1000):
            yield b"1,2\n" * 1000

    try:
        answer = visitor.upload("endless.csv", endless())
        assert "larger than" in answer.json()["error"]
    except httpx.TransportError:  # the server has hung up, which is as well
        pass
    assert not list(studio.folder.rglob("endless.csv"))


def test_an_upload_that_is_broken_off_leaves_nothing(studio, visitor):
    def broken():
        yield b"a,b\n1,2\n"
        raise ConnectionError

    with pytest.raises(ConnectionError):
        visitor.upload("half.csv", broken())
    for _ in range(200):
        if not list(studio.folder.rglob("half.csv")):
            break
        time.sleep(0.05)
    assert not list(studio.folder.rglob("half.csv"))
    assert visitor.get("/columns").url.path == "/"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("bad.csv", b"a,b\n1,2\n3\n", "bad.csv"),
        ("latin.csv", "a,b\n\xe9,2\n".encode("latin-1"), "UTF-8"),
        ("fake.parquet", b"no parquet at all", "fake.parquet"),
        ("blank.csv", b"\n\n", "is empty"),
    ],
)
def test_a_bad_table_is_told_in_words_without_our_paths(studio, visitor, name, content, words):
    assert visitor.upload(name, content).status_code == 200
    page = visitor.finished("/columns")
    assert words in page
    assert "Choose another table" in page
    assert str(studio.folder) not in page
    assert "Traceback" not in page


def test_a_file_that_is_not_there_is_told(visitor):
    visitor.post("/path", data={"path": "/nowhere/at/all.csv"})
    assert "No such file: /nowhere/at/all.csv." in visitor.finished("/columns")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sensitive-0": None, "sensitive-1": None}, "at least one column as sensitive"),
        ({"public-1": None, "public-2": None}, "at least one column as to publish"),
        ({"treat-0": "identifier"}, "choose one of the two"),
        ({"treat-0": "bins", "how-0": ""}, "needs a number of bins"),
        ({"treat-0": "bins", "how-0": "ten"}, "needs numbers or dates"),
        ({"treat-0": "magic"}, "magic"),
        ({"missing": "never"}, "never"),
    ],
)
def test_answers_that_make_no_sense_are_told_on_the_page(at_demo, change, words):
    form = {k: v for k, v in {**DEMO_FORM, **change}.items() if v is not None}
    answer = at_demo.post("/columns", data=form)
    assert words in answer.text
    assert attributes(answer.text, "data-job") == []  # nothing was started


def test_names_and_values_are_shown_and_never_run(visitor):
    table = pd.DataFrame({EVIL: ["<b>", "\u202ex", "y"] * 20, "two": [0, 1, 1, 0] * 15})
    visitor.upload("evil.csv", table.to_csv(index=False))
    page = visitor.finished("/columns")
    assert escape(EVIL, quote=False) in page.replace("&#34;", '"').replace("&#39;", "'")
    assert "&lt;b&gt;" in page
    assert "\\u202ex" in page  # what turns the direction of text is spelled out
    visitor.searched(
        {"treat-0": "category", "treat-1": "category", "sensitive-1": "on", "public-0": "on"}
    )
    visitor.released()
    for address in ("/columns", "/tradeoff", "/chosen", "/release"):
        text = visitor.get(address).text
        assert "<img" not in text
        assert "<b>\\u202e" not in text
    assert visitor.get("/files/report.html").headers["content-disposition"].startswith("attachment")


def test_a_table_of_the_command_line_is_open_at_once(tmp_path):
    (tmp_path / "t.csv").write_text(demo_csv())
    with running(Settings(table=str(tmp_path / "t.csv"), workers=1)) as studio:
        with Visitor(studio) as visitor:
            assert visitor.first.url.path == "/columns"
            assert "442 rows" in visitor.finished("/columns")
        with Visitor(studio, token=False) as guest:
            assert "t.csv" not in guest.first.text


def test_guesses_follow_what_the_columns_hold():
    def column(kind, distinct, nearly_unique=False, usable=True):
        return {"name": f"{kind}{distinct}", "kind": kind, "distinct": distinct,
                "nearly_unique": nearly_unique, "usable": usable}  # fmt: skip

    columns = [
        column("integer", 58), column("integer", 300), column("integer", 999, True),
        column("number", 900, True), column("text", 900, True), column("text", 900),
        column("date", 900, True), column("BLOB", None, usable=False),
    ]  # fmt: skip
    found = [(c.treat, c.how) for c in guess(columns).columns]
    bins = ("bins", "10")
    plain, left_out = ("category", ""), ("identifier", "")
    assert found == [plain, bins, left_out, bins, left_out, plain, left_out]


def test_only_used_columns_have_rules():
    before = Choices((ColumnChoice("a", "integer"), ColumnChoice("b=c", "number")))
    form = {"treat-0": "bins", "how-0": "4", "treat-1": "round", "how-1": "0.5", "public-1": "on"}
    rules = read_choices(form, before).rules
    assert (rules.bins, rules.round) == ({}, {"b=c": 0.5})


@pytest.mark.parametrize(
    "form",
    [{"points": "0"}, {"points": "1e9"}, {"seed": "-1"}, {"min_count": "x"}, {"effort": "?"}],
)
def test_a_search_that_makes_no_sense_is_refused(form):
    with pytest.raises(InvalidInput):
        read_search(form)


@pytest.mark.parametrize(
    "name", ["a.csv", "a.CSV.gz", "größe.tsv", ".hidden.csv", "-o.csv", "x/..csv"]
)
def test_names_of_uploads_are_harmless(name):
    safe = safe_name(name)
    assert "/" not in safe
    assert safe[0] not in ".-"
    assert safe.lower().endswith((".csv", ".csv.gz", ".tsv"))
