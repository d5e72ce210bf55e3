"""Columns kept: what a codebook keeps of each public column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from privacyfunnel.information import entropy, mutual_information

if TYPE_CHECKING:
    from privacyfunnel.codebook import Codebook
    from privacyfunnel.joint import Joint


def columns_kept(joint: Joint, book: Codebook) -> list[dict[str, Any]]:
    """For each public column I(column;X̂) and H(column): how much of it is kept."""
    code = book.over(joint)
    p_xxhat = sp.csr_array(code.matrix.multiply(joint.p_x[:, None]))
    found = []
    for i, column in enumerate(book.roles.public):
        values = [x if len(book.roles.public) == 1 else x[i] for x in joint.labels_x]
        place = {value: k for k, value in enumerate(dict.fromkeys(values))}
        rows = [place[value] for value in values]
        into = sp.csr_array((np.ones(len(rows)), (rows, range(len(rows)))))
        p = into @ p_xxhat
        whole = entropy(np.asarray(p.sum(axis=1)).ravel())
        kept = mutual_information(p)
        found.append(
            {
                "name": column.name,
                "distinct": len(place),
                "entropy_bits": whole,
                "kept_bits": kept,
                "kept": kept / whole if whole else 1.0,
            }
        )
    return found
