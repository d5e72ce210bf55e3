"""Draws: the lot of a soft code, the same for a row whatever the order and the engine.

A row's draw is a hash of the codebook's salt and the row's key. Who knows both can redo the draw
and narrow down the row's value, so the salt is a secret and never in a public codebook.

What a row is drawn by, the hash, and what a draw picks are said here for Python, DuckDB, Spark and the
warehouses of ``exports``, which must agree. The file of the secret is ``secret.py``. Estimators draw
afresh each time.
"""

from __future__ import annotations

import secrets
from bisect import bisect_right
from collections.abc import Callable, Sequence
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.columns import literal, quoted
from privacyfunnel.errors import InvalidInput

HEX_DIGITS = 13
SHORTEST = 16  # characters of a secret
RANGE = 16**HEX_DIGITS  # 2^52: a draw is a whole number below it, exact in every engine


def make_salt() -> str:
    """A random salt: from nothing that others may know, and so not from a seed.

    >>> len(make_salt()), make_salt() == make_salt()
    (64, False)
    """
    return secrets.token_hex(32)


def check_secret(secret: str, cure: str = "leave it out, and a random one is made") -> str:
    """Refuse a secret that can be guessed, which is none."""
    if len(secret) < SHORTEST:
        raise InvalidInput(
            f"the secret has {len(secret)} characters, and {SHORTEST} are the least; {cure}."
        )
    return secret


def salt_of_table(salt: str, fingerprint: Sequence[int]) -> str:
    """The salt by which rows without a key are drawn, by their number in a table of this fingerprint.

    By the number alone, row 7 of every table would get one draw, which could be narrowed down.

    >>> draw(salt_of_table("secret", (9, 2)), 7) == draw("secret", "9:2:7")
    True
    """
    return ":".join([salt, *map(str, fingerprint)])


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


def pick_afresh(ends: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """The outcome of each row by a draw of its own; its `thresholds` are ``ends[row]``."""
    drawn = rng.integers(RANGE, size=len(ends))
    return np.asarray((ends <= drawn[:, None]).sum(axis=1))


def numbered_sql(rows: str) -> str:
    """DuckDB's rows with the number by which those without a key are drawn."""
    return f"(SELECT *, row_number() OVER () AS row FROM {rows})"


def draw_sql(
    salt: str,
    key: str | None,
    columns: Sequence[str],
    rows: str,
    ask: Callable[[str], Sequence[int]],
) -> str:
    """The draw of each row in DuckDB's SQL: by its key, else by its number and the table's fingerprint.

    ``key`` is a column's SQL; ``columns`` are those of the ``rows`` that are read, and ``ask`` runs a
    query for one row. Without a key the rows must be numbered, see `numbered_sql`.
    """
    if key is None:
        hashed = f"bit_xor(hash(row, {', '.join(columns)}))"
        fingerprint = ask(f"SELECT {hashed}, count(*) FROM {numbered_sql(rows)}")
        salt, key = salt_of_table(salt, fingerprint), "row"
    text = f"{literal(salt + ':')} || CAST({key} AS VARCHAR)"
    return f"CAST('0x' || substr(sha256({text}), 1, {HEX_DIGITS}) AS BIGINT)"


def picked_sql(outcomes: str, ends: str, drawn: str) -> str:
    """The outcome that a draw picks from a list, in DuckDB's SQL."""
    return f"{outcomes}[1 + len(list_filter({ends}, lambda e: e <= {drawn}))]"


def draw_spark(salt: str, column: str | None) -> Any:
    """The draw as a column of Spark's; ``column`` names the one of the row's key."""
    if column is None:
        raise InvalidInput("rows on a cluster have no number; name a key column for the draws.")
    from pyspark.sql import functions as F  # noqa: N812

    text = F.concat(F.lit(f"{salt}:"), F.col(column).cast("string"))
    hashed = F.substring(F.sha2(text, 256), 1, HEX_DIGITS)
    return F.conv(hashed, 16, 10).cast("bigint")


def picked_spark(outcomes: str, ends: str, drawn: str) -> Any:
    """The outcome that a draw picks from a list, as a column of Spark's; all are columns' names."""
    from pyspark.sql import functions as F  # noqa: N812

    place = F.size(F.filter(ends, lambda end: end <= F.col(drawn))) + 1
    return F.try_element_at(F.col(outcomes), place)


def digits_sql(salt: str, column: str | None, dialect: str) -> str:
    """The draw's digits in a warehouse's SQL, which as text sort as the number does.

    ``column`` names the one of the row's key.
    """
    if column is None:
        raise InvalidInput(
            "a release by lot draws by a column that names the row; say which it is.", hint="key"
        )
    if dialect == "sqlite":
        raise InvalidInput(
            "sqlite has no sha256, by which a release by lot draws; apply the codebook instead."
        )
    text = f"{literal(salt + ':')} || CAST({quoted(column)} AS TEXT)"
    if dialect == "postgres":
        text = f"CONVERT_TO({text}, 'UTF8')"
    digest = f"SHA256({text})"
    if dialect == "bigquery":
        digest = f"TO_HEX({digest})"
    return f"SUBSTRING({digest}, 1, {HEX_DIGITS})"


def parts_in_digits(probabilities: Sequence[float]) -> list[tuple[int, str, str]]:
    """Each outcome that can be drawn, and between which digits its draws lie (`picked_by_digits`).

    >>> parts_in_digits([0.25, 0.0, 0.75])
    [(0, '0000000000000', '4000000000000'), (2, '4000000000000', 'g')]
    """
    ends = [0, *thresholds(probabilities)]
    parts = enumerate(pairwise(ends))
    return [(j, _digits(low), _digits(high)) for j, (low, high) in parts if high > low]


def picked_by_digits(drawn: str, low: str, high: str) -> str:
    """A warehouse's SQL for whether a draw lies between these digits."""
    return f"{drawn} >= {low} AND {drawn} < {high}"


def _digits(number: int) -> str:
    """A threshold as digits to compare with; what ends the range comes after all digits."""
    return "g" if number >= RANGE else f"{number:0{HEX_DIGITS}x}"
