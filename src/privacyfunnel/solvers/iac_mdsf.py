"""IAC-MDSF: iterative agglomerative clustering by a difference of submodular functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.random import Generator

from privacyfunnel.codes import Partition
from privacyfunnel.errors import InvalidInput
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import Objective, utility
from privacyfunnel.solvers.base import FLAT, Solution, Status, Step
from privacyfunnel.solvers.large.similarity import order_by_similarity
from privacyfunnel.solvers.merge_path import WHOLE, merged_clusters
from privacyfunnel.submodular import (
    Affine,
    MergeEntropy,
    SetResult,
    cover,
    exhaustive,
    min_norm_point,
    modmod,
    scaled,
    ssp,
    supsub,
)
from privacyfunnel.validation import check_choice, check_share, check_whole

MDSF: dict[str, Callable[..., SetResult]] = {
    "ssp": ssp,
    "ssp-minnorm": partial(ssp, minimise=min_norm_point),
    "supsub": supsub,
    "modmod": modmod,
    "cover": cover,  # which takes a budget, see `_covered`
    "exhaustive": lambda first, second, **_: exhaustive(first, second),
}
BLOCK = 256  # symbols of a large alphabet that the algorithm runs on at a time


@dataclass(frozen=True)
class IacMdsf:
    """Algorithm 1 of Ding & Sadeghi (2019).

    From X̂ = X, repeat: find the subset W of the current alphabet whose merge lowers the objective
    most (minimise (1−λ) f − g for the funnel, its negative for the bottleneck) and merge it.

    ``mdsf`` names the search for W, ``starts`` how many random starts it gets in each iteration;
    the best W is kept. When no start finds a merge, all pairs are tried before the end is declared.
    The best first merge need not lead to the best end, so there are ``runs`` whole runs, each with
    half the starts of the one before, and the best end counts. ``paper=True`` is the paper's own
    behaviour: one run, one start, and the first W of at most one symbol ends it.

    The objective is a sum over clusters, so an alphabet of more than 2,000 symbols is dealt to blocks
    of some 256, the algorithm runs on each, and pairs are merged across blocks at the end.

    ``mdsf="cover"`` needs no λ: every merge is the best that `cover` finds among those that leave
    ``utility``, a share of H(X), and at λ = 0 the funnel's value is the leakage alone. Its runs spend
    what may be lost in one merge, in quarters or in sixteenths, and then in pairs.

    >>> from privacyfunnel.objectives import Funnel
    >>> joint = Joint.from_counts([[3, 0, 1, 2], [0, 3, 2, 1]])
    >>> solver = IacMdsf(mdsf="cover", utility=0.5)
    >>> solver.solve(joint, Funnel(0.0), rng=np.random.default_rng(0)).code.labels
    array([0, 0, 1, 1])
    """

    mdsf: str = "ssp"
    starts: int = 4
    runs: int = 3
    paper: bool = False
    utility: float | None = None

    def __post_init__(self) -> None:
        check_choice("mdsf", self.mdsf, list(MDSF))
        if (self.mdsf == "cover") != (self.utility is not None):
            raise InvalidInput(
                "mdsf 'cover' takes utility, the share of H(X) to keep, and nothing else does; "
                f"got mdsf {self.mdsf!r} and utility {self.utility}."
            )
        if self.utility is not None:
            check_share("utility", self.utility)
        check_whole("starts", self.starts, 1)
        check_whole("runs", self.runs, 1)

    def solve(
        self, joint: Joint, objective: Objective, *, start: Partition | None = None, rng: Generator
    ) -> Solution:
        """Run from ``start`` (default: every symbol on its own)."""
        if start is None and joint.n_x > WHOLE and self.mdsf != "cover":
            return self._in_blocks(joint, objective, rng)
        start = Partition.identity(joint.n_x) if start is None else start
        if self.mdsf == "cover":
            ends = [self._covered(joint, objective, start, 4**k, rng) for k in range(self.runs)]
        else:
            starts = [1] if self.paper else [max(1, self.starts >> k) for k in range(self.runs)]
            ends = [self._run(joint, objective, start, n, rng) for n in starts]
        return min(ends, key=lambda solution: solution.value)

    def _in_blocks(self, joint: Joint, objective: Objective, rng: Generator) -> Solution:
        if objective.problem == "bottleneck":
            order = order_by_similarity(joint.counts, BLOCK, rng)
        else:
            order = rng.permutation(joint.n_x)
        labels, n_clusters = np.empty(joint.n_x, dtype=np.int64), 0
        for block in np.array_split(order, -(-joint.n_x // BLOCK)):
            part = Joint.from_counts(joint.counts[:, np.sort(block)])
            code = self.solve(part, objective, rng=rng).code
            assert isinstance(code, Partition)
            labels[np.sort(block)] = n_clusters + code.labels
            n_clusters += code.n_symbols
        code = Partition(labels)
        merged = merged_clusters(joint, code, objective.weights, stop_change=-FLAT, exact=WHOLE)
        history = [Step(objective.value(joint, c), c.n_symbols) for c in (code, merged)]
        return Solution.measured(joint, objective, merged, Status.CONVERGED, tuple(history))

    def _run(
        self, joint: Joint, objective: Objective, start: Partition, n_starts: int, rng: Generator
    ) -> Solution:
        labels = start.labels
        counts = sp.csc_array(joint.counts @ start.matrix)
        value = objective.value(joint, start)
        history = [Step(value, counts.shape[1])]
        status = Status.CONVERGED
        while counts.shape[1] > 1:
            functions = difference(counts, joint.total, objective)
            found = MDSF[self.mdsf](*functions, rng=rng, starts=n_starts)
            if found.value > -FLAT:
                pair = _best_pair(counts, joint.total, objective)
                if pair.value > -FLAT:
                    break
                if self.paper:
                    status = Status.UNLUCKY_START
                    break
                found = SetResult(pair.subset, pair.value, found.steps + pair.steps)
            relabel = _merge_labels(found.subset)
            labels = relabel[labels]
            counts = sp.csc_array(counts @ Partition(relabel).matrix)
            value += found.value
            history.append(Step(value, counts.shape[1], int(found.subset.sum()), found.steps))
        return Solution.measured(joint, objective, Partition(labels), status, tuple(history))

    def _covered(
        self, joint: Joint, objective: Objective, start: Partition, parts: int, rng: Generator
    ) -> Solution:
        """Merges that leave the utility asked for; none loses more than one of so many parts of it."""
        assert self.utility is not None
        floor, code = self.utility * joint.entropy_x, start
        most = (utility(joint, start) - floor) / parts
        history = [Step(objective.value(joint, start), start.n_symbols)]
        while code.n_symbols > 1:
            counts = sp.csc_array(joint.counts @ code.matrix)
            first, second = difference(counts, joint.total, objective)
            f = MergeEntropy(sp.csc_array(counts.sum(axis=0).reshape(1, -1)), joint.total)
            budget = min(most, utility(joint, code) - floor)
            found = cover(first, second, f, budget, rng=rng, starts=self.starts)
            if found.value > -FLAT:
                break
            code = Partition(_merge_labels(found.subset)[code.labels])
            value, merged = objective.value(joint, code), int(found.subset.sum())
            history.append(Step(value, code.n_symbols, merged, found.steps))
        rule: dict[str, Any] = {"keep": (0.0, 1.0), "threshold": floor, "stop_change": -FLAT}
        code = merged_clusters(joint, code, objective.weights, **rule)
        history.append(Step(objective.value(joint, code), code.n_symbols))
        return Solution.measured(joint, objective, code, Status.CONVERGED, tuple(history))


def difference(counts: sp.csc_array, total: float, objective: Objective) -> tuple[Affine, Affine]:
    """The two submodular functions whose difference is the change of the objective by a merge."""
    alpha, beta = objective.weights
    masses = np.asarray(counts.sum(axis=0)).reshape(1, -1)
    f = scaled(MergeEntropy(sp.csc_array(masses), total), abs(alpha + beta))
    g = scaled(MergeEntropy(counts, total), abs(alpha))
    return (f, g) if alpha > 0 else (g, f)


def _best_pair(counts: sp.csc_array, total: float, objective: Objective) -> SetResult:
    from privacyfunnel._kernels.merges import best_pair

    alpha, beta = objective.weights
    sums = np.ascontiguousarray(counts.toarray().T)
    change, i, j = best_pair(sums, sums.sum(axis=1), alpha + beta, -alpha)
    subset = np.zeros(counts.shape[1], dtype=bool)
    subset[[i, j]] = True
    return SetResult(subset, change / total, len(subset) * (len(subset) - 1) // 2)


def _merge_labels(subset: np.ndarray) -> np.ndarray:
    """New positions of the symbols when those of ``subset`` become one."""
    labels = np.arange(len(subset))
    labels[subset] = np.flatnonzero(subset)[0]
    return Partition(labels).labels
