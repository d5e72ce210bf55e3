"""Random grouping: what is kept by putting values together at random, the yardstick of what is kept.

When I(S;X) is small beside H(X), a random hash of X hides S nearly as well as any code. It keeps as many
bits, but nobody can use them: what it keeps of the single columns is chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from privacyfunnel.codes import Code
from privacyfunnel.information import entropy, mutual_information, share
from privacyfunnel.joint import Joint
from privacyfunnel.validation import check_rng

DRAWS = 20
MUCH = 20_000  # values of X beyond which fewer draws tell enough


@dataclass(frozen=True)
class KeptByChance:
    """Shares that a random grouping of the same sizes keeps: of the whole, and of each public column."""

    whole: float
    columns: tuple[float, ...]


def kept_by_chance(joint: Joint, code: Code, *, seed: int = 0, draws: int = DRAWS) -> KeptByChance:
    """The mean of I(X;X̂)/H(X) and of I(X_i;X̂)/H(X_i) with the values of X dealt to the symbols at random.

    As many different values go to each symbol as in the code itself.

    >>> joint = Joint.from_counts(
    ...     [[1] * 16], labels_x=[(a, b) for a in range(4) for b in range(4)], columns=["a", "b"])
    >>> from privacyfunnel.codes import Partition
    >>> found = kept_by_chance(joint, Partition([a for a in range(4) for b in range(4)]))
    >>> found.whole, [round(kept, 1) for kept in found.columns]
    (0.5, [0.3, 0.3])
    """
    rng = check_rng(seed)
    matrix = sp.csr_array(code.matrix)
    into = [
        sp.csr_array((joint.p_x, (column.codes, np.arange(joint.n_x)))) for column in joint.public
    ]
    entropies = [entropy(np.asarray(one.sum(axis=1)).ravel()) for one in into]
    whole, columns = 0.0, np.zeros(len(into))
    times = draws if joint.n_x <= MUCH else max(1, draws // 10)
    for _ in range(times):
        dealt = sp.csr_array(matrix[rng.permutation(joint.n_x)])
        whole += mutual_information(sp.csr_array(dealt.multiply(joint.p_x[:, None])))
        columns += [mutual_information(sp.csr_array(one @ dealt)) for one in into]
    return KeptByChance(
        float(share(whole / times, joint.entropy_x)),
        tuple(
            float(share(c / times, h)) if h else 1.0
            for c, h in zip(columns, entropies, strict=True)
        ),
    )
