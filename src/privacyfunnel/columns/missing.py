"""Missing: what a missing value means, and which records count because of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privacyfunnel.errors import InvalidInput

MISSING = ("symbol", "drop", "error")  # a value of its own; leave the record out; refuse the table


def complete_groups(
    missing: str,
    columns: Mapping[str, tuple[NDArray[np.int64], Sequence[Any]]],
    n: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Which groups of equal records count: all, or with ``drop`` those that lack no value.

    ``columns`` holds, by name, the place of each group's value among the column's symbols, of which
    a missing one, None, comes last; ``n`` is the number of rows of each group.

    >>> cities = np.array([0, 1, 0]), ["Bonn", None]
    >>> complete_groups("drop", {"city": cities}, np.array([3, 1, 2]))
    array([ True, False,  True])
    """
    complete = np.ones(len(n), dtype=bool)
    if missing == "symbol":
        return complete
    for name, (places, symbols) in columns.items():
        if symbols and symbols[-1] is None:
            known = places != len(symbols) - 1
            if missing == "error":
                raise InvalidInput(
                    f"column {name!r} is missing in {n[~known].sum()} rows.", hint="missing"
                )
            complete &= known
    if not complete.any():
        raise InvalidInput("every row has a missing value; none is left to count.")
    return complete
