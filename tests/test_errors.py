"""Errors are facts with hints: one table words them for each front end, and none names another's."""

import ast
import pickle
import re
from pathlib import Path
from string import Formatter

import pandas as pd
import pytest

import privacyfunnel
from privacyfunnel import errors
from privacyfunnel.cli import hints as of_the_command
from privacyfunnel.studio import hints as of_the_page

SOURCE = Path(privacyfunnel.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
OPTION = re.compile(r"(?<![\w-])--[a-z]")
TABLES = {"python": errors.HINTS, "cli": of_the_command.HINTS, "studio": of_the_page.HINTS}


def constants(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def hints_raised():
    """Every code that is passed as ``hint=`` somewhere in the source; never one that is computed."""
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                for keyword in node.keywords:
                    if keyword.arg == "hint":
                        found = [n for n in ast.walk(keyword.value) if isinstance(n, ast.Constant)]
                        yield from (n.value for n in found if isinstance(n.value, str) and n.value)


def test_no_message_outside_the_command_and_the_studio_names_an_option():
    outside = [p for p in FILES if p.relative_to(SOURCE).parts[0] not in ("cli", "studio")]
    assert len(outside) > 100
    named = {p.name: [t for t in constants(p) if OPTION.search(t)] for p in outside}
    assert {name: texts for name, texts in named.items() if texts} == {}


@pytest.mark.parametrize("table", TABLES)
def test_every_hint_that_is_raised_has_words_and_every_word_is_raised(table):
    assert set(TABLES[table]) == set(hints_raised())


@pytest.mark.parametrize("hint", errors.HINTS)
def test_words_need_no_more_fields_than_the_library_has(hint):
    fields = {
        name: {field for _, field, _, _ in Formatter().parse(words[hint]) if field}
        for name, words in TABLES.items()
    }
    assert fields["cli"] | fields["studio"] <= fields["python"]


def test_the_page_names_no_option_and_no_argument():
    for words in of_the_page.HINTS.values():
        assert not OPTION.search(words)
        assert "=" not in words


@pytest.mark.parametrize(
    "kind", [errors.InvalidInput, errors.UnknownSymbol, errors.DataUnavailable]
)
def test_a_fact_with_its_cure_survives_a_process(kind):
    error = pickle.loads(pickle.dumps(kind("a.csv is cut.", hint="by-hand", url="http://a")))
    assert error.fact == "a.csv is cut."
    assert str(error) == "a.csv is cut; download http://a by hand and pass its path."
    assert error.in_words(of_the_command.HINTS).endswith("pass it with --data.")


def test_the_hint_about_attackers_says_where_an_audit_takes_it():
    few = {"s": [0, 1, 0], "x": [1, 2, 3]}
    trials = privacyfunnel.Trials(permutations=0, bootstraps=0)
    with pytest.raises(
        errors.InvalidInput, match=r"attackers=False .*trials=Trials\(\.\.\.\)\)\.$"
    ):
        privacyfunnel.audit(pd.DataFrame(few), "s", "x", trials=trials)
