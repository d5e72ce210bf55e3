"""Estimates: I(S;X) of the population that the records were drawn from, as far as they can tell.

The information of a few records is too high: coincidences look like a link. What helps depends on how
many records there are for each pair (s, x) that occurs:

- five or more: Miller–Madow and the bootstrap are sound;
- fewer: they stay too high, and only the comparison with chance and the shrinkage say something.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from privacyfunnel.errors import InvalidInput
from privacyfunnel.information import Array, entropy, mutual_information, plogp
from privacyfunnel.joint import Joint
from privacyfunnel.parallel import Tick, in_parallel
from privacyfunnel.validation import check_rng, check_whole

ENOUGH_PER_PAIR = 5  # records per pair that occurs, see above


@dataclass(frozen=True)
class Interval:
    """Where the information lies with probability ``level``, in bits."""

    low_bits: float
    high_bits: float
    level: float
    resamples: int

    @classmethod
    def of(cls, found: Array, measured: float, level: float) -> Interval:
        """The basic bootstrap: [2I − q_high, 2I − q_low] with the quantiles q of I over the resamples.

        Cut at 0 (Efron 1979). A resample is as much too high against I as I is against the truth, so
        the interval lies lower.
        """
        low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
        low, high = (max(0.0, float(2 * measured - end)) for end in (high, low))
        return cls(low, high, level, len(found))


def records_per_pair(joint: Joint) -> float:
    """Records for each pair (s, x) that occurs.

    >>> records_per_pair(Joint.from_counts([[4, 0], [1, 4]]))
    3.0
    """
    return float(_records(joint) / joint.counts.nnz)


def miller_madow(joint: Joint) -> float:
    """Miller–Madow: I(S;X) less its first-order bias, never below 0 (Miller 1955).

    I − (m_sx − m_s − m_x + 1) / (2 N ln 2), where m counts the symbols and pairs that occur.

    >>> joint = Joint.from_counts([[6, 4], [4, 6]])
    >>> round(joint.information, 4), round(miller_madow(joint), 4)
    (0.029, 0.0)
    """
    excess = int(joint.counts.nnz) - joint.n_s - joint.n_x + 1
    return max(0.0, joint.information - excess / (2 * _records(joint) * math.log(2)))


def shrinkage(joint: Joint) -> float:
    """James–Stein shrinkage: I(S;X) of the counts drawn towards the uniform (Hausser & Strimmer 2009).

    p̃ = w t + (1 − w) p with t = 1/(|S||X|) and w = (1 − Σp²) / ((N − 1) Σ(t − p)²), at most 1.

    >>> round(shrinkage(Joint.from_counts([[60, 0], [0, 60]])), 3)
    0.93
    >>> shrinkage(Joint.from_counts([[1, 1], [1, 1]]))
    0.0
    """
    n, cells = _records(joint), joint.n_s * joint.n_x
    p = joint.counts.data / joint.total
    squares = float(np.dot(p, p))
    apart = (n - 1) * (squares - 1 / cells)  # Σ(t − p)² = Σp² − t
    w = min(1.0, (1 - squares) / apart) if apart > 1e-15 else 1.0
    shrunk_s = w / joint.n_s + (1 - w) * joint.p_s
    shrunk_x = w / joint.n_x + (1 - w) * joint.p_x
    empty = (cells - len(p)) * float(plogp(w / cells))
    pairs = entropy(w / cells + (1 - w) * p) - empty
    shrunk = entropy(shrunk_s) + entropy(shrunk_x) - pairs
    return shrunk if shrunk > 1e-12 else 0.0


def bootstrap(
    joint: Joint,
    *,
    resamples: int = 200,
    level: float = 0.95,
    seed: int = 0,
    n_jobs: int = 1,
    tick: Tick | None = None,
) -> Interval:
    """The basic bootstrap interval of I(S;X): the records drawn anew, with replacement.

    >>> found = bootstrap(Joint.from_counts([[60, 20], [20, 60]]), seed=1)
    >>> found.low_bits < 0.189 < found.high_bits
    True
    """
    check_whole("resamples", resamples, 20)
    if not 0 < level < 1:
        raise InvalidInput(f"level must lie between 0 and 1, got {level}.")
    _records(joint)
    tasks = [(joint, rng) for rng in check_rng(seed).spawn(resamples)]
    found = np.array(in_parallel(_resampled, tasks, n_jobs, tick, threads=True))
    return Interval.of(found, joint.information, level)


def _resampled(joint: Joint, rng: np.random.Generator) -> float:
    cells, n = joint.counts.tocoo(), _records(joint)
    drawn = rng.multinomial(n, cells.data / joint.total) / n
    return mutual_information(sp.coo_array((drawn, (cells.row, cells.col))).tocsr())


def _records(joint: Joint) -> int:
    if joint.n_records is None:
        raise InvalidInput(
            "an estimate needs records that were counted, but this joint holds weights."
        )
    return joint.n_records
