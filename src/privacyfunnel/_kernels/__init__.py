"""Compiled loops: contiguous arrays in, arrays or scalars out.

Weights come as the parts of a CSC matrix ``[row, symbol]``: ``indptr``, ``indices``, ``data``, and
the number of rows. Each loop has a slow, obvious twin in ``tests/reference.py``.
"""

import privacyfunnel._kernels.cache_place  # noqa: F401  (before anything is compiled)
from privacyfunnel._kernels.merges import best_pair, best_partition, fates, merge_path
from privacyfunnel._kernels.moves import anneal, swap_descent
from privacyfunnel._kernels.sets import (
    chain_gains,
    desk_for,
    set_gains,
    set_value,
    ssp_in_closed_form,
)

__all__ = [
    "anneal",
    "best_pair",
    "best_partition",
    "chain_gains",
    "desk_for",
    "fates",
    "merge_path",
    "set_gains",
    "set_value",
    "ssp_in_closed_form",
    "swap_descent",
]
