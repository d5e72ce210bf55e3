"""Picture: the frontier, the limit and the chosen point as inline SVG, coloured by the page's style."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privacyfunnel.report.numbers import listed, percent

WIDTH, HEIGHT = 560, 400
LEFT, RIGHT, TOP, BOTTOM = 58, 30, 56, 60  # margins
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)


class Axes:
    """Where a utility and a leakage, as shares, lie on the paper."""

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


def draw(document: Mapping[str, Any]) -> str:
    """The SVG of a document that has a frontier."""
    if document["recoding"] is not None:
        return _draw_recodings(document)
    m, stakes, frontier = document["measured"], document["stakes"], document["frontier"]
    whole, free = stakes["given_away"], stakes["free_utility"]
    axes = Axes(max(whole, m["leakage"]))
    found = [(p["utility"], p["leakage"]) for p in frontier]
    curve = axes.path(sorted([*found, (m["utility"], m["leakage"])]))
    edge = [(0.0, 0.0), (free, 0.0), (1.0, whole)]
    dots = [_dot(axes, p["utility"], p["leakage"], p["proved_optimal"]) for p in frontier]
    label = (
        f"Leakage against utility. This release keeps {percent(m['utility'])} and gives away "
        f"{percent(m['leakage'])}; the limit there is {percent(m['limit'])}."
    )
    parts = [
        f'<path class="forbidden" d="{axes.path([*edge, (1.0, 0.0)])} Z"/>',
        *_grid(axes),
        f'<path class="limit" d="{axes.path(edge)}"/>',
        f'<path class="found" d="{curve}"/>',
        *dots,
        *_whole(axes, whole),
        *_chosen(axes, m["utility"], m["leakage"]),
        *_no_release(axes, free),
    ]
    body = "\n".join(parts)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">\n{body}\n</svg>'


def _draw_recodings(document: Mapping[str, Any]) -> str:
    """The curves of all recodings over the mean share that is kept of the columns."""
    recoding, leakage = document["recoding"], document["measured"]["leakage"]
    curves = {
        kind: [(point["kept"], point["leakage"]) for point in points]
        for kind, points in recoding["frontiers"].items()
    }
    mean = sum(column["kept"] for column in recoding["columns"]) / len(recoding["columns"])
    whole = document["stakes"]["given_away"]
    axes = Axes(max(whole, leakage))
    parts = _grid(axes, "kept: share of each column, on average →")
    for kind, points in curves.items():
        own = " own" if kind == recoding["kind"] else ""
        parts.append(f'<path class="found {kind}{own}" d="{axes.path(points)}"/>')
        u, v = points[2 * len(points) // 3]
        parts.append(_text(axes.x(u) + 6, axes.y(v) + 16, kind, kind, "start"))
    parts += [*_whole(axes, whole), *_chosen(axes, mean, leakage)]
    label = (
        f"Leakage against the share kept of the columns, for {listed(list(curves))}. This release keeps "
        f"{percent(mean)} and gives away {percent(leakage)}."
    )
    body = "\n".join(parts)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">\n{body}\n</svg>'


def _text(x: float, y: float, words: str, kind: str = "", anchor: str = "middle") -> str:
    name = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}"{name}>{words}</text>'


def _grid(axes: Axes, across: str = "utility: public information kept →") -> list[str]:
    floor, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = []
    for leakage in axes.ticks:
        y = axes.y(leakage)
        parts.append(f'<path class="grid" d="M{LEFT},{y} L{right},{y}"/>')
        parts.append(_text(LEFT - 8, y + 5, f"{100 * leakage:.0f}%", anchor="end"))
    for k in range(0, 101, 20):
        parts.append(_text(axes.x(k / 100), floor + 20, f"{k}%"))
    parts.append(_text(right, HEIGHT - 10, across, "axis", "end"))
    parts.append(_text(6, 20, "↑ leakage: sensitive information given away", "axis", "start"))
    return parts


def _dot(axes: Axes, utility: float, leakage: float, proved: bool) -> str:
    kind = "dot proved" if proved else "dot"
    return f'<circle class="{kind}" cx="{axes.x(utility)}" cy="{axes.y(leakage)}" r="3.5"/>'


def _whole(axes: Axes, whole: float) -> list[str]:
    x, y = axes.x(1.0), axes.y(whole)
    return [
        f'<rect class="whole" x="{x - 5}" y="{y - 5}" width="10" height="10"/>',
        _text(x - 10, y - 8, "published as it is", anchor="end"),
    ]


def _chosen(axes: Axes, utility: float, leakage: float) -> list[str]:
    x, y = axes.x(utility), axes.y(leakage)
    left = utility > 0.25  # the words stand above the curve, on the side where there is room
    shift, anchor = (-12, "end") if left else (4, "start")
    return [
        f'<path class="drop" d="M{x},{y} L{x},{HEIGHT - BOTTOM}"/>',
        f'<circle class="chosen" cx="{x}" cy="{y}" r="7"/>',
        _text(x + shift, y - 12, "this release", "strong", anchor),
    ]


def _no_release(axes: Axes, free: float) -> list[str]:
    if free > 0.6:  # too little room for the words
        return []
    x = axes.x(free + (1 - free) * 0.66)
    return [_text(x, HEIGHT - BOTTOM - 12, "no release can be here", "forbidden-words")]
