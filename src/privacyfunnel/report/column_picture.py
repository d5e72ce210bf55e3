"""Column picture: where the bars of a column's values lie, and the cuts between its groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT, FLOOR, TOP = 560, 150, 116, 12
WIDEST = 140  # of a bar
LONGEST = 14  # characters of a value below the bars


@dataclass(frozen=True)
class Bar:
    """One value, or some that stand together; neighbouring groups alternate in shade."""

    x: float
    y: float
    width: float
    height: float
    shade: int
    label: str
    share: float


@dataclass(frozen=True)
class ColumnPicture:
    """What `column_picture` of templates/pictures.html draws."""

    bars: list[Bar]
    cuts: list[float]
    labels: list[tuple[float, str]]  # the first value of each group below its cut
    width, height, top, floor = WIDTH, HEIGHT, TOP - 8, FLOOR + 6
    below = FLOOR + 22

    @classmethod
    def of(cls, column: Mapping[str, Any]) -> ColumnPicture:
        """Of a column with its ``bars``.

        >>> bars = [{"label": "a", "share": 0.75, "group": 0}, {"label": "b", "share": 0.25, "group": 1}]
        >>> found = ColumnPicture.of({"bars": bars})
        >>> found.cuts, [bar.shade for bar in found.bars], found.labels
        ([140], [0, 1], [(2.0, 'a'), (142, 'b')])
        """
        given = column["bars"]
        width = min(WIDTH / len(given), WIDEST)
        highest = max(bar["share"] for bar in given) or 1.0
        bars: list[Bar] = []
        starts = [(0.0, given[0]["label"])]  # of the groups
        for i, bar in enumerate(given):
            if i and bar["group"] != given[i - 1]["group"]:
                starts.append((round(i * width, 1), bar["label"]))
            height = round((FLOOR - TOP) * bar["share"] / highest, 1)
            place = (round(i * width, 1), round(FLOOR - height, 1), round(max(width - 0.6, 0.8), 1))
            bars.append(Bar(*place, height, (len(starts) - 1) % 2, bar["label"], bar["share"]))
        return cls(bars, [x for x, _ in starts[1:]], _labels(starts))


def _labels(starts: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Where there is room for them."""
    found, free = [], -1.0
    for x, text in starts:
        shown = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
        room = 12 * len(shown) + 8  # on a phone, where letters are larger
        if x >= free and x + room <= WIDTH:
            found.append((x + 2, shown))
            free = x + room
    return found
