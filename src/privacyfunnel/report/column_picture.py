"""Column picture: the values of a column as bars, with the cuts between its groups, as inline SVG."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import escape

from privacyfunnel.report.escape import visible
from privacyfunnel.report.numbers import percent

WIDTH, HEIGHT, FLOOR, TOP = 560, 150, 116, 12
LONGEST = 14  # characters of a value below the bars


def draw_column(column: Mapping[str, Any], *, can_be_cut: bool = False) -> str:
    """The SVG of a column: neighbouring groups alternate in shade, and lines are the cuts.

    Where it ``can_be_cut``, a script finds the value of each bar.
    """
    bars = column["bars"]
    width = WIDTH / len(bars)
    highest = max(bar["share"] for bar in bars) or 1.0
    parts, shade = [], 0
    ends: list[tuple[float, str]] = [(0.0, bars[0]["label"])]
    for i, bar in enumerate(bars):
        if i and bar["group"] != bars[i - 1]["group"]:
            shade = 1 - shade
            x = round(i * width, 1)
            parts.append(f'<path class="cut" d="M{x},{TOP - 8} L{x},{FLOOR + 6}"/>')
            ends.append((x, bar["label"]))
        high = round((FLOOR - TOP) * bar["share"] / highest, 1)
        value = f'data-value="{_safe(bar["label"])}" ' if can_be_cut else ""
        box = (
            f'{value}x="{i * width:.1f}" y="{FLOOR - high:.1f}" width="{max(width - 0.6, 0.8):.1f}"'
        )
        title = f"<title>{_safe(bar['label'])}: {percent(bar['share'])}</title>"
        parts.append(f'<rect class="bar{shade}" {box} height="{high}">{title}</rect>')
    parts += _labels(ends)
    groups = len(column["groups"])
    label = _safe(f"{column['name']}: {len(bars)} bars in {groups} groups")
    body = "\n".join(parts)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">\n{body}\n</svg>'


def _labels(ends: list[tuple[float, str]]) -> list[str]:
    """The first value of each group below its cut, where there is room for it."""
    found, free = [], -1.0
    for x, text in ends:
        shown = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
        room = 10.5 * len(shown) + 8
        if x >= free and x + room <= WIDTH:
            place = f'x="{x + 2}" y="{FLOOR + 22}" text-anchor="start"'
            found.append(f"<text {place}>{_safe(shown)}</text>")
            free = x + room
    return found


def _safe(text: str) -> str:
    return str(escape(visible(text)))
