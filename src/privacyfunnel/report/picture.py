"""Picture: where the frontier, the limit and the chosen release of a document lie on the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from privacyfunnel.report.numbers import listed, percent

WIDTH, HEIGHT = 560, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 30, 56, 60  # margins
PARTS = (0.7, 0.85, 0.5, 0.95, 0.35, 0.2)  # of a curve, where its name may stand
Box = tuple[float, float, float, float]  # left, top, right and bottom of words
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)


class Axes:
    """Where a utility and a leakage, as shares, lie on the paper."""

    width, height = WIDTH, HEIGHT
    left, right, floor = LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM

    def __init__(self, highest: float) -> None:
        self.top = max(0.02, highest * 1.08)

    def x(self, utility: float) -> float:
        """From left to right: utility."""
        return round(LEFT + utility * (WIDTH - LEFT - RIGHT), 2)

    def y(self, leakage: float) -> float:
        """From the bottom up: leakage."""
        return round(HEIGHT - BOTTOM - leakage / self.top * (HEIGHT - TOP - BOTTOM), 2)

    def path(self, points: Sequence[tuple[float, float]]) -> str:
        """A line through points."""
        return "M" + " L".join(f"{self.x(u)},{self.y(v)}" for u, v in points)

    @property
    def ticks(self) -> list[float]:
        """Round leakages, at most six of them."""
        step = next((s for s in STEPS if self.top / s <= 6), 0.5)
        return [k * step for k in range(int(self.top / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Curve:
    """One line, with its name where it has one, which stands at a place on the paper."""

    kind: str  # its class in the style
    points: Sequence[tuple[float, float]]
    name: str = ""
    place: tuple[float, float] = (0.0, 0.0)


def named(axes: Axes, curves: Sequence[Curve], chosen: tuple[float, float]) -> list[Curve]:
    """The curves with their names beside them, where these cover no other words and no line, if possible.

    >>> line = [(0.0, 0.0), (0.5, 0.1), (1.0, 0.5)]
    >>> both = named(Axes(0.5), [Curve("a", line, "a"), Curve("b", line, "b")], (0.9, 0.4))
    >>> both[0].place != both[1].place
    True
    """
    x, y = axes.x(chosen[0]), axes.y(chosen[1])
    taken: list[Box] = [(x - 130, y - 30, x + 12, y + 10), (x - 3, y, x + 3, axes.floor)]
    found = []
    for curve in curves:
        wide = 11 * len(curve.name)
        ends = curve.points[0][0], curve.points[-1][0]
        boxes: list[Box] = []
        for part in PARTS:
            u = ends[0] + part * (ends[1] - ends[0])
            right, height = axes.x(u), axes.y(_height(curve.points, u))
            boxes.append((right + 6, height - 2, right + 6 + wide, height + 22))  # below the line
            boxes.append((right - 6 - wide, height - 28, right - 6, height - 4))  # above it
        best = min(boxes, key=lambda box: _covered(axes, box, taken, curves))
        taken.append(best)
        found.append(replace(curve, place=(best[0], best[3] - 6)))
    return found


def _covered(
    axes: Axes, box: Box, taken: Sequence[Box], curves: Sequence[Curve]
) -> tuple[int, int]:
    """How many words, and how many lines, a box on the paper lies on; none may stick out."""
    outside = box[0] < axes.left or box[2] > axes.width or box[3] > axes.floor
    across = (np.linspace(box[0], box[2], 13) - axes.left) / (axes.right - axes.left)
    lines = 0
    for curve in curves:
        inside = [u for u in across if curve.points[0][0] <= u <= curve.points[-1][0]]
        lines += any(box[1] < axes.y(_height(curve.points, u)) < box[3] for u in inside)
    words = [box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in taken]
    return outside + sum(words), lines


def _height(points: Sequence[tuple[float, float]], u: float) -> float:
    """The height of a line through points, by rising u."""
    xs, ys = zip(*points, strict=True)
    return float(np.interp(u, xs, ys))


@dataclass(frozen=True)
class Picture:
    """What `frontier_picture` of templates/pictures.html draws; shares of what is kept and given away."""

    axes: Axes
    label: str  # for those who cannot see it
    across: str  # what is kept
    curves: list[Curve]
    chosen: tuple[float, float]
    whole: float  # what is given away as it is
    dots: Sequence[Mapping[str, Any]] = ()
    edge: Sequence[tuple[float, float]] = ()  # the limit; empty where none is drawn

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Picture:
        """Of a document that has a frontier."""
        return _recodings(document) if document["recoding"] is not None else _symbols(document)

    @property
    def has_room(self) -> bool:
        """Whether words have room below the limit."""
        return bool(self.edge) and self.edge[1][0] <= 0.6


def _symbols(document: Mapping[str, Any]) -> Picture:
    m, stakes, frontier = document["measured"], document["stakes"], document["frontier"]
    whole, chosen = stakes["given_away"], (m["utility"], m["leakage"])
    found = sorted([*((p["utility"], p["leakage"]) for p in frontier), chosen])
    return Picture(
        Axes(max(whole, m["leakage"])),
        f"Leakage against utility. This release keeps {percent(m['utility'])} and gives away "
        f"{percent(m['leakage'])}; the limit there is {percent(m['limit'])}.",
        "utility: public information kept →",
        [Curve("", found)],
        chosen,
        whole,
        frontier,
        [(0.0, 0.0), (stakes["free_utility"], 0.0), (1.0, whole)],
    )


def _recodings(document: Mapping[str, Any]) -> Picture:
    """The curves of all recodings over the mean share that is kept of the columns."""
    recoding, leakage = document["recoding"], document["measured"]["leakage"]
    curves = [
        Curve(
            f"{kind} own" if kind == recoding["kind"] else kind,
            [(point["kept"], point["leakage"]) for point in points],
            kind,
        )
        for kind, points in recoding["frontiers"].items()
    ]
    mean = sum(column["kept"] for column in recoding["columns"]) / len(recoding["columns"])
    whole = document["stakes"]["given_away"]
    axes = Axes(max(whole, leakage))
    return Picture(
        axes,
        f"Leakage against the share kept of the columns, for {listed([c.name for c in curves])}. This "
        f"release keeps {percent(mean)} and gives away {percent(leakage)}.",
        "kept: share of each column, on average →",
        named(axes, curves, (mean, leakage)),
        (mean, leakage),
        whole,
    )
