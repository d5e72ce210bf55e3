"""What several scripts measure on: the paper's patients, Adult, made-up joints, a release by lot."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

import privacyfunnel as pf
from privacyfunnel.codes import Code

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"  # beside the repository
ADULT = DATA / "arx_adult"


def patients() -> pd.DataFrame:
    """The paper's table: from the path that was given, else from beside the repository, else fetched."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA / "hungarian.data"
    return pf.datasets.read_hungarian(path) if path.exists() else pf.datasets.fetch_hungarian()


def setting(number: int) -> pf.Joint:
    """The paper's setting 1 or 2."""
    public = {1: ["sex", "chol"], 2: ["age", "chol"]}[number]
    return pf.Joint.from_table(patients(), ["age", "sex"], public)


def adult(folder: Path = ADULT) -> pd.DataFrame:
    """The Adult census as ARX ships it."""
    if not folder.exists():
        sys.exit(f"the Adult census with ARX's hierarchies is not at {folder}")
    return pd.read_csv(folder / "adult.csv", sep=";")


def hierarchies(columns: Iterable[str], folder: Path = ADULT) -> dict[str, str]:
    """The files of ARX's hierarchies of some columns of Adult."""
    return {name: str(folder / f"adult_hierarchy_{name}.csv") for name in columns}


def drawn(joint: pf.Joint, code: Code, seed: int = 0) -> pf.Joint:
    """The counted release of a code by lot: every record's symbol drawn once."""
    rng = np.random.default_rng(seed)
    cells, matrix = joint.counts.tocoo(), code.matrix.toarray()
    counts = np.zeros((joint.n_s, matrix.shape[1]))
    for s, x, n in zip(cells.row, cells.col, cells.data, strict=True):
        counts[s] += rng.multinomial(int(n), matrix[x] / matrix[x].sum())
    return pf.Joint.from_counts(counts[:, counts.any(axis=0)])


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
