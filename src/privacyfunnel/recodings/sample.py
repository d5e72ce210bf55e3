"""Sample: some of the records, for a search that could not look at all of them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from privacyfunnel.joint import Joint

MOST = 60_000  # combinations of S and X that are searched as they are
RECORDS = 40_000  # that are drawn where there are more


def sampled(joint: Joint, rng: np.random.Generator) -> Joint:
    """The joint itself, or where it is too large a draw of its records that has every column's values.

    A value that was not drawn comes with one record of the first x that has it: the codes of the columns
    are about the same values as in the whole table.

    >>> joint = Joint.from_counts([[3, 4], [5, 1]], labels_x=[20, 30], columns=["age"])
    >>> sampled(joint, np.random.default_rng(0)) is joint
    True
    """
    if joint.counts.nnz <= MOST:
        return joint
    cells = joint.counts.tocoo()
    times = rng.multinomial(RECORDS, cells.data / cells.data.sum()).astype(float)
    drawn = np.zeros(joint.n_x, dtype=bool)
    drawn[cells.col[times > 0]] = True
    _, first_cell = np.unique(cells.col, return_index=True)
    for column in joint.public:
        met = np.zeros(len(column.values), dtype=bool)
        met[column.codes[drawn]] = True
        values, first = np.unique(column.codes, return_index=True)
        absent = first[~met[values]]
        times[first_cell[absent]] += 1.0
        drawn[absent] = True
    found = sp.coo_array((times, (cells.row, cells.col)), shape=cells.shape).tocsc()
    found.eliminate_zeros()
    return Joint.from_counts(found, joint.labels_s, joint.labels_x, joint.columns)
