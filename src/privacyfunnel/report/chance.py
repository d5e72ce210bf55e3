"""Chance: how much S and X would seem to share if S were dealt out to the records at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from privacyfunnel.codes import Code, Partition
from privacyfunnel.information import mutual_information
from privacyfunnel.joint import Joint

SHUFFLES = 20
MOST_RECORDS = 100_000  # larger tables are not shuffled; chance is small there, or shown otherwise


@dataclass(frozen=True)
class Chance:
    """The mean and the spread of an information over the shuffles, in bits."""

    mean_bits: float
    spread_bits: float
    shuffles: int


def shuffled(
    joint: Joint, code: Code | None = None, *, seed: int = 0, shuffles: int = SHUFFLES
) -> Chance | None:
    """I(S;X), or I(S;X̂) of a hard code, with S shuffled among the records.

    None where there are no records to shuffle (weights, probabilities) or too many of them.

    >>> joint = Joint.from_counts(np.eye(50))
    >>> shuffled(joint).mean_bits == joint.information  # all values differ: chance explains all
    True
    """
    n = joint.n_records
    if n is None or n > MOST_RECORDS or (code is not None and not isinstance(code, Partition)):
        return None
    cells = joint.counts.tocoo()
    times = np.rint(cells.data).astype(np.int64)
    s, x = np.repeat(cells.row, times), np.repeat(cells.col, times)
    if isinstance(code, Partition):
        x = code.labels[x]
    rng = np.random.default_rng(seed)
    shape = (joint.n_s, int(x.max()) + 1)
    found = []
    for _ in range(shuffles):
        dealt = sp.coo_array((np.full(n, 1.0 / n), (rng.permutation(s), x)), shape=shape)
        found.append(mutual_information(dealt.tocsr()))
    return Chance(float(np.mean(found)), float(np.std(found)), shuffles)
