"""Objects in a notebook: what they say, escaped, and a bar that follows the work."""

from __future__ import annotations

import re

import pandas as pd
import pytest

import privacyfunnel as pf
from privacyfunnel.notebook import MOST_ROWS, card, progress_bar
from privacyfunnel.tables import count

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    """A table whose names and values are hostile, as each object shows it."""
    table = pd.DataFrame({f"s{HOSTILE}": [0, 0, 1, 1] * 6, HOSTILE: [HOSTILE, "b", "c", "d"] * 6})
    counted = count(table, f"s{HOSTILE}", HOSTILE)
    joint = counted.joint()
    frontier = pf.frontier(joint, n_points=4, effort="fast")
    symbols, readable = frontier.at(utility=0.5), pf.solve(joint, pf.Funnel(0.5), recoding="global")
    trials = pf.Trials(permutations=0, bootstraps=0, attackers=False)
    objects = {
        "joint": joint,
        "frontier": frontier,
        "solution": symbols,
        "readable": readable,
        "codebook": pf.Codebook.from_solution(joint, symbols, counted.roles),
        "readable codebook": pf.Codebook.from_solution(joint, readable, counted.roles),
        "audit": pf.audit(table, f"s{HOSTILE}", HOSTILE, trials=trials),
    }
    return {name: thing._repr_html_() for name, thing in objects.items()}


def test_hostile_names_and_values_are_text(shown: dict[str, str]) -> None:
    for name, html in shown.items():
        assert "<img" not in html, name
        tags = set(re.findall(r"</?([a-z]+)", html))
        assert tags <= {"div", "strong", "b", "table", "thead", "tbody", "tr", "th", "td"}, name
    assert "&lt;img" in shown["codebook"]
    assert "&lt;img" in shown["audit"]


def test_colours_are_those_of_the_notebook(shown: dict[str, str]) -> None:
    for html in shown.values():
        assert not re.search(r"#[0-9a-f]{3,6}\b|(?<!-)color: (?!inherit)", html)


def test_what_they_say(shown: dict[str, str]) -> None:
    assert "<b>24</b>" in shown["joint"]
    assert "<td" in shown["readable"]
    assert "released as" in shown["readable codebook"]
    assert "k-anonymity" in shown["audit"]
    assert "limit" in shown["frontier"]


def test_long_tables_are_cut_and_counted() -> None:
    html = card("t", {}, ("n",), [(i,) for i in range(MOST_ROWS + 30)])
    assert html.count("<tr>") == MOST_ROWS + 1
    assert "and 30 more" in html


def test_a_bar_ends_full(monkeypatch: pytest.MonkeyPatch) -> None:
    display = pytest.importorskip("IPython.display")
    drawn: list[str] = []

    class Handle:
        def update(self, html: object) -> None:
            drawn.append(html.data)  # type: ignore[attr-defined]

    monkeypatch.setattr(display, "display", lambda *_, **__: Handle())
    bar = progress_bar("Searching <now>")
    for done in range(1, 101):
        bar(done, 100)
    assert "100 of 100" in drawn[-1]
    assert len(drawn) < 100
    assert "&lt;now&gt;" in drawn[-1]


@pytest.mark.parametrize(
    ("asked", "told", "kept"),
    [
        ({}, r"I\(S;X̂\) <b>0\.\d{4} bits</b>", r"I\(X;X̂\) <b>\d\.\d{4} bits</b>"),
        ({"measure": "guessing"}, r"guessing gain of S <b>[\d.]+%</b>", r"I\(X;X̂\)"),
        ({"measure": "chi-square"}, r"χ²-information of S <b>0\.\d{4}</b>", r"I\(X;X̂\)"),
        ({"keep": "useful"}, r"I\(S;X̂\)", r"I\(Y;X̂\) <b>0\.\d{4} bits</b>"),
        ({"keep": "both"}, r"I\(S;X̂\)", r"kept of X and of its use <b>0\.\d{4} bits</b>"),
    ],
)
def test_a_solution_names_its_measure_and_what_it_keeps(asked, told, kept) -> None:
    joint = pf.Joint.from_counts([[3, 0, 1], [0, 3, 2]], useful=[[2, 1, 1], [1, 2, 2]])
    html = pf.solve(joint, pf.Funnel(0.3, **asked))._repr_html_()
    assert re.search(told, html)
    assert re.search(kept, html)
    if "measure" in asked:
        assert "I(S;X̂)" not in html
    if "keep" in asked:
        assert "I(X;X̂)" not in html
