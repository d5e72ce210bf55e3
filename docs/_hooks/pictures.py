"""The pictures of the page Concepts, drawn from real results when the site is built, light and dark."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import privacyfunnel as pf
from privacyfunnel.plots import limit_curve


@dataclass(frozen=True)
class Ink:
    """Colours of one scheme; blue and orange are told apart by everyone (Okabe & Ito 2008)."""

    text: str
    paper: str
    blue: str
    orange: str
    grey: str
    forbidden: str


INKS = {
    "light": Ink("#222222", "#ffffff", "#0072b2", "#b85000", "#767676", "#ececec"),
    "dark": Ink("#e4e6ee", "#1e2129", "#56b4e9", "#e69f00", "#9aa0ac", "#343947"),
}
TOWNS = "ABCDEFGH"
ILL, WELL = [1, 9, 3, 7, 2, 8, 4, 6], [9, 1, 7, 3, 8, 2, 6, 4]


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Draw every picture in both schemes and add it to the site."""
    for name, draw in {
        "leakage": leakage,
        "frontier": trade_off,
        "hard-and-soft": hard_and_soft,
    }.items():
        for scheme, ink in INKS.items():
            uri = f"images/{name}-{scheme}.svg"
            files.append(File.generated(config, uri, content=_svg(draw, ink)))


def _svg(draw: Callable[[Figure, Ink], None], ink: Ink) -> bytes:
    """A picture as SVG, the same bytes for the same picture."""
    style = {
        "svg.hashsalt": "privacyfunnel",
        "font.size": 11.5,
        "text.color": ink.text,
        "axes.edgecolor": ink.grey,
        "axes.facecolor": ink.paper,
        "axes.labelcolor": ink.text,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "figure.facecolor": ink.paper,
        "xtick.color": ink.text,
        "ytick.color": ink.text,
    }
    page = io.BytesIO()
    with rc_context(style):
        figure = Figure(figsize=(6.0, 3.5), layout="constrained")
        draw(figure, ink)
        figure.savefig(page, format="svg", metadata={"Date": None})
    return page.getvalue()


def towns() -> pf.Joint:
    """Eight towns of ten people each; in some most are ill, in others few."""
    return pf.Joint.from_counts([ILL, WELL], ["ill", "well"], list(TOWNS))


def leakage(figure: Figure, ink: Ink) -> None:
    """Share of the ill by town, and by group of towns."""
    joint = towns()
    found = pf.solve(joint, pf.Funnel(lam=0.01), method="exhaustive")
    assert isinstance(found.code, pf.Partition)
    groups: dict[int, list[int]] = {}
    for town, group in enumerate(found.code.labels):
        groups.setdefault(int(group), []).append(town)
    left, right = figure.subplots(1, 2, sharey=True)
    _bars(left, list(TOWNS), [n / 10 for n in ILL], ink.orange)
    names = ["+".join(TOWNS[town] for town in members) for members in groups.values()]
    shares = [float(np.mean([ILL[town] / 10 for town in members])) for members in groups.values()]
    _bars(right, names, shares, ink.blue)
    given = joint.information / joint.entropy_s
    left.set_title(f"The town: gives away {given:.0%}", loc="left", fontsize=10.5)
    gone = found.leakage / joint.entropy_s
    right.set_title(f"A group: gives away {gone:.0%}", loc="left", fontsize=10.5)
    left.set_ylabel("share of people who are ill")
    for ax in (left, right):
        ax.axhline(0.5, color=ink.text, lw=1.2, ls="--")
        ax.text(1, 0.515, "all", ha="right", transform=ax.get_yaxis_transform(), fontsize=10)


def _bars(ax: Axes, names: list[str], shares: list[float], colour: str) -> None:
    ax.bar(names, shares, color=colour, width=0.66)
    ax.set_xlim(-0.55, 1.22 * len(names) - 0.5)  # room for a word on the right
    ax.set_ylim(0, 1)
    ax.tick_params(length=0)


@cache
def searched(step: int, method: str) -> pf.Frontier:
    """A frontier of the bundled patients: age in steps of 5 years, cholesterol in those given."""
    rules = pf.ColumnRules.parse(round=["age=5", f"chol={step}"])
    table = pf.datasets.load_demo()
    joint = pf.Joint.from_table(table, ["age", "sex"], ["sex", "chol"], columns=rules)
    return pf.frontier(joint, method=method, n_points=14, effort="fast", seed=0)


def _limit(ax: Axes, joint: pf.Joint, ink: Ink, label: str = "") -> None:
    """The limit with the forbidden ground below it, and the axes in words."""
    x, y = limit_curve(joint, "funnel")
    ax.fill_between(x, y, color=ink.forbidden, lw=0)
    ax.plot(x, y, color=ink.grey, lw=1.5, label=label or None)
    ax.set_xlabel("utility: share of X that is kept")
    ax.set_ylabel("leakage: share of S given away")


def trade_off(figure: Figure, ink: Ink) -> None:
    """A frontier with its parts named."""
    found, ax = searched(20, "best"), figure.subplots()
    joint, frame, proved = found.joint, found.to_frame(), np.array(found.proved)
    _limit(ax, joint, ink)
    ax.plot(frame.utility, frame.leakage, color=ink.blue, lw=1.6)
    ax.plot(frame.utility[~proved], frame.leakage[~proved], "o", mfc=ink.paper, mec=ink.blue)
    ax.plot(frame.utility[proved], frame.leakage[proved], "o", color=ink.blue)
    whole = joint.information / joint.entropy_s
    ax.plot([1], [whole], "*", ms=15, color=ink.orange, clip_on=False)
    row = frame[frame.utility >= 0.6].iloc[0]
    ax.plot(row.utility, row.leakage, "o", ms=15, mfc="none", mec=ink.orange, mew=2)
    arrow = {"arrowstyle": "-", "color": ink.grey}
    words = f"a release: keeps {row.utility:.0%},\ngives away {row.leakage:.1%}"
    at = (row.utility, row.leakage)
    ax.annotate(words, at, (0.38, 0.33 * whole), arrowprops=arrow, ha="center")
    ax.annotate("X as it is", (1, whole), (0.86, whole), ha="right", va="center", arrowprops=arrow)
    ax.text(0.97, 0.13 * whole, "no release\ncan be here", ha="right")
    key = "filled: proved optimal, it meets the limit\nopen: the best that was found"
    ax.text(0.03, 0.84 * whole, key)
    ax.set_xlim(0, 1.02)
    ax.set_ylim(-0.01 * whole, 1.07 * whole)


def hard_and_soft(figure: Figure, ink: Ink) -> None:
    """The same table released by groups and by lot, where the two differ."""
    hard, soft, ax = searched(5, "best"), searched(5, "soft"), figure.subplots()
    _limit(ax, hard.joint, ink, "limit")
    for found, mark, colour, label in (
        (hard, "-o", ink.blue, "hard: groups"),
        (soft, "--s", ink.orange, "soft: by lot"),
    ):
        frame = found.to_frame()
        ax.plot(frame.utility, frame.leakage, mark, color=colour, ms=5, label=label)
    ax.set_xlim(0, 0.86)
    ax.set_ylim(-0.002, 0.1)
    ax.legend(loc="upper left", frameon=False)
    ax.text(0.85, 0.006, "no release\ncan be here", ha="right")
