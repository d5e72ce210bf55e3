"""Chance: how much S and X would seem to share if S were dealt out to the records at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from privacyfunnel.codes import Channel, Code
from privacyfunnel.information import Array
from privacyfunnel.joint import Joint
from privacyfunnel.measures import INFORMATION, Measure
from privacyfunnel.parallel import Tick, in_parallel
from privacyfunnel.validation import check_rng, check_whole

SHUFFLES = 20
MOST_WORK = 100_000  # records, or cells if they are fewer; beyond it a shuffle takes too long


@dataclass(frozen=True)
class Chance:
    """The mean and the spread of an information over the shuffles, in bits, and its p-value.

    Of another measure than Shannon's they are its readings.

    ``p_value`` is (1 + shuffles that reach what was measured) / (1 + shuffles): where it is small,
    chance alone hardly explains the link of S and X.
    """

    mean_bits: float
    spread_bits: float
    shuffles: int
    p_value: float

    @classmethod
    def of(cls, found: Array, measured: float) -> Chance:
        """From what the shuffles show; equal up to rounding is reached: ties are no evidence."""
        reached, n = int(np.count_nonzero(found >= measured - 1e-9)), len(found)
        return cls(float(found.mean()), float(found.std()), n, (1 + reached) / (1 + n))


def shuffled(
    joint: Joint,
    code: Code | None = None,
    *,
    seed: int = 0,
    shuffles: int = SHUFFLES,
    measure: Measure = INFORMATION,
    most_work: int = MOST_WORK,
    n_jobs: int = 1,
    tick: Tick | None = None,
) -> Chance | None:
    """I(S;X), or I(S;X̂) of a code, with S shuffled among all records; or what another measure reads.

    A soft code's is that of its rule: the shuffled table of S and X goes through the channel. None
    where there are no records to shuffle (weights, probabilities), or where both the records and
    the cells [s, x] are more than ``most_work``. Does not depend on ``n_jobs``.

    >>> joint = Joint.from_counts(np.eye(50))
    >>> found = shuffled(joint)
    >>> found.mean_bits == joint.information, found.p_value  # all differ: chance explains all
    (True, 1.0)
    """
    check_whole("shuffles", shuffles, 1)
    n = joint.n_records
    if n is None or min(n, joint.n_s * joint.n_x) > most_work:
        return None
    channel = code if isinstance(code, Channel) else None
    released = joint if code is None else code.push(joint)
    # Shuffling S commutes with a hard code, which leaves a smaller table to shuffle; with a soft
    # one it does not: X̂ holds no records to be shuffled.
    dealt = joint if channel else released
    tasks = [(dealt, channel, measure, rng) for rng in check_rng(seed).spawn(shuffles)]
    found = np.array(in_parallel(_told, tasks, n_jobs, tick, threads=True))
    return Chance.of(found, measure(released.p_sx))


def _told(
    joint: Joint, channel: Channel | None, measure: Measure, rng: np.random.Generator
) -> float:
    """I(S;X), or I(S;X̂) behind a channel, of one shuffle."""
    if min(joint.n_s, joint.n_x) == 1:
        return 0.0  # one table has these marginals; SciPy's sampler gets it wrong
    p_sx = _dealt(joint, rng)
    return measure(p_sx if channel is None else p_sx @ channel.matrix)


def _dealt(joint: Joint, rng: np.random.Generator) -> Any:
    """One table p(s,x) with the same marginals, drawn as a shuffle of the records would."""
    n, cells = int(joint.n_records or 0), joint.counts.tocoo()
    if n <= joint.n_s * joint.n_x:
        times = np.rint(cells.data).astype(np.int64)
        s, x = np.repeat(cells.row, times), np.repeat(cells.col, times)
        pairs = (np.full(n, 1.0 / n), (rng.permutation(s), x))
        return sp.coo_array(pairs, shape=joint.counts.shape).tocsr()
    from scipy.stats import random_table  # its work grows with the cells, not with the records

    rows, columns = (np.rint(joint.counts.sum(axis=axis)).astype(np.int64) for axis in (1, 0))
    return random_table.rvs(rows, columns, method="patefield", random_state=rng) / n
