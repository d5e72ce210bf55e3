"""Compiled loops: contiguous arrays in, arrays or scalars out.

Weights come as the parts of a CSC matrix ``[row, symbol]``: ``indptr``, ``indices``, ``data``, and
the number of rows. Each loop has a slow, obvious twin in ``tests/reference*.py``.
"""

import privacyfunnel._kernels.cache_place  # noqa: F401  (before anything is compiled)
