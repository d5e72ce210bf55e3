"""Compiled loops: contiguous arrays in, arrays or scalars out.

Weights come as the parts of a CSC matrix ``[row, symbol]``: ``indptr``, ``indices``, ``data``, and
the number of rows. Each loop has a slow, obvious twin in ``tests/reference.py``.
"""

import privacyfunnel._kernels.cache_place  # noqa: F401  (before anything is compiled)
from privacyfunnel._kernels.merges import best_pair, final_clusters, merge_path
from privacyfunnel._kernels.moves import anneal, swap_descent
from privacyfunnel._kernels.partitions import best_partition, best_within
from privacyfunnel._kernels.sets import (
    chain_gains,
    set_gains,
    set_value,
    ssp_in_closed_form,
    workspace_for,
)

__all__ = [
    "anneal",
    "best_pair",
    "best_partition",
    "best_within",
    "chain_gains",
    "final_clusters",
    "merge_path",
    "set_gains",
    "set_value",
    "ssp_in_closed_form",
    "swap_descent",
    "workspace_for",
]
