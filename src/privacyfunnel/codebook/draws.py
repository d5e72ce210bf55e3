"""Draws: the lot of a soft code, the same for a row whatever the order and the engine.

A row's draw is a hash of the codebook's salt and the row's key. Who knows both can redo the draw
and narrow down the row's value, so the salt is a secret and never in a public codebook.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from hashlib import sha256
from itertools import accumulate

from privacyfunnel.columns import literal

HEX_DIGITS = 13
RANGE = 16**HEX_DIGITS  # 2^52: a draw is a whole number below it, exact in every engine


def thresholds(probabilities: Sequence[float]) -> list[int]:
    """Where each outcome's share of the draws ends: rising whole numbers, the last is the range.

    >>> [end / RANGE for end in thresholds([0.25, 0.75])]
    [0.25, 1.0]
    """
    ends = [min(RANGE, round(total * RANGE)) for total in accumulate(probabilities)]
    return [*ends[:-1], RANGE]


def draw(salt: str, key: int | str) -> int:
    """The draw of a row: the first 52 bits of a hash of the salt and the row's key.

    >>> 0 <= draw("secret", 17) < RANGE and draw("secret", 17) == draw("secret", "17")
    True
    """
    return int(sha256(f"{salt}:{key}".encode()).hexdigest()[:HEX_DIGITS], 16)


def outcome(salt: str, key: int | str, probabilities: Sequence[float]) -> int:
    """The outcome that a row's draw picks."""
    return bisect_right(thresholds(probabilities), draw(salt, key))


def draw_sql(salt: str, key: str) -> str:
    """The draw in DuckDB's SQL; ``key`` is the SQL of the row's key."""
    text = f"{literal(salt + ':')} || CAST({key} AS VARCHAR)"
    return f"CAST('0x' || substr(sha256({text}), 1, {HEX_DIGITS}) AS BIGINT)"
