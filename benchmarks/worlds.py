"""Made-up joints of any size: symbols of some kinds, each with a handful of cells."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import privacyfunnel as pf


def world(n_x: int, n_s: int = 20, cells: int = 5, kinds: int = 300, seed: int = 0) -> pf.Joint:
    """n_x symbols, each with ``cells`` nonzero counts drawn around the profile of its kind."""
    rng = np.random.default_rng(seed)
    profiles = rng.dirichlet(np.full(n_s, 5.0 / n_s), size=kinds)
    rows, data = np.empty((n_x, cells), dtype=np.int64), np.empty((n_x, cells))
    for start in range(0, n_x, 50_000):  # in parts: the draw needs a number for each s
        kind = profiles[rng.integers(kinds, size=min(50_000, n_x - start))]
        keys = np.log(kind + 1e-4) + rng.gumbel(size=kind.shape)
        part = slice(start, start + len(kind))
        rows[part] = np.argpartition(-keys, cells, axis=1)[:, :cells]
        data[part] = 1 + rng.poisson(20 * np.take_along_axis(kind, rows[part], axis=1))
    indptr = np.arange(n_x + 1) * cells
    return pf.Joint.from_counts(
        sp.csc_array((data.ravel(), rows.ravel(), indptr), shape=(n_s, n_x))
    )
