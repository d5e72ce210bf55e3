"""UsefulSearch: global recodings that keep what the columns say about a use, Y, and hide S."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.information import share
from privacyfunnel.joint import csc_columns
from privacyfunnel.measures import INFORMATION
from privacyfunnel.objectives import Funnel
from privacyfunnel.recodings.column_cells import Ints, loop_measure
from privacyfunnel.recodings.global_recoding import GlobalSearch, Recoded
from privacyfunnel.recodings.recoding import RecodedSolution, RecodingSearch
from privacyfunnel.solvers.target import Price, chosen, told_and_kept
from privacyfunnel.solvers.tradeoff import hull

PRICES = 2.0 ** np.arange(-6, 9, 1.5)  # of a bit about Y, in units of the mean slope
HALVINGS = 6  # of the price between two codes next to a target
OWN = 1e-7  # price of a column's own bits, so that a descent joins no values for nothing


@dataclass(frozen=True, eq=False)
class TiltedSearch(GlobalSearch):
    """Coordinate descent on I(S;X̂) − ν I(Y;X̂): one array of row weights, the same exact steps."""

    nu: float = 0.0

    @cached_property
    def _columns(self) -> tuple[Any, ...]:
        assert self.joint.useful is not None
        return csc_columns(sp.csc_array(sp.vstack([self.joint.counts, self.joint.useful.counts])))

    @cached_property
    def _measure(self) -> tuple[Any, ...]:
        from privacyfunnel._kernels.cells import WEIGHED

        assert self.joint.useful is not None
        n_s, n_y = self.joint.n_s, self.joint.useful.n_s
        weights = np.concatenate([np.ones(n_s), np.full(n_y, -self.nu), [self.nu - 1.0]])
        _, _, *rest = loop_measure(self.joint, INFORMATION, self.chance)
        return WEIGHED, weights, *rest


class UsefulSearch:
    """Readable codes of a joint with a use, for exact targets of I(Y;X̂)/I(Y;X) or I(S;X̂)/H(S).

    For a price ν of a bit about Y every column's step is exact as in `GlobalSearch`, since the price is
    still a sum over cells; ν is swept and halved in, from the coarse end and from the fine one.

    >>> from privacyfunnel.joint import Joint
    >>> from privacyfunnel.recodings import Recoding
    >>> joint = Joint.from_counts([[3, 1, 1, 3], [1, 3, 3, 1]], labels_x=[1, 2, 3, 4],
    ...     columns=["age"], useful=[[4, 4, 0, 0], [0, 0, 4, 4]])
    >>> search = UsefulSearch(Recoding("global").on(joint), np.random.default_rng(0))
    >>> search.at(utility=1.0).code.released
    [('under 3',), ('3 or more',)]
    """

    def __init__(self, search: RecodingSearch, rng: np.random.Generator) -> None:
        self.joint, self.columns, self.search = search.joint, search.whole, search
        if search.recoding.kind != "global":
            raise InvalidInput("a use is kept by global recoding or by symbols.")
        if search.measure != INFORMATION:
            raise InvalidInput(
                f"a use is kept by recodings that hide I(S;X̂); {search.measure.name!r} goes with symbols."
            )
        if self.columns.joint is not self.joint:
            raise InvalidInput("a use is kept on the records themselves; leave fit= out.")
        self.aim = Funnel(0.0, keep="useful")
        ((_, self.use),) = self.aim.quantities(self.joint)[1]
        self.whole = self.use.most
        self.mean = self.joint.information / max(self.whole, 1e-12)
        self.rng = rng
        self.seen = dict[bytes, Recoded]()  # ``kept`` is the share of what X says about Y
        fine, coarse = zip(*(shape.ends() for shape in self.columns.shapes), strict=True)
        for start, prices in ((coarse, PRICES), (fine, PRICES[::-1])):
            labels: Sequence[Ints] = start
            self._note(labels)
            for price in prices:
                labels = self._descend(labels, price * self.mean)

    def at(self, *, utility: float | None = None, leakage: float | None = None) -> RecodedSolution:
        """The least leakage that keeps the share ``utility``, or the most kept at a ``leakage``."""
        if utility is not None and leakage is None:
            bounded, target, price = "kept", utility, Price.keeping(utility)
        elif leakage is not None and utility is None:
            target = self.search.told(leakage)
            bounded, price = "leakage", Price.telling(target)
        else:
            raise InvalidInput("a use takes exactly one target, utility or leakage.")
        if not self._allowed():
            raise self.search._too_many_suppressed()
        for _ in range(HALVINGS):
            before = len(self.seen)
            self._between(bounded, target)
            if len(self.seen) == before:
                break
        best = chosen(self._allowed(), price, told_and_kept)
        if best is None and utility is None:
            raise self.search._too_telling()
        if best is None:
            most = max(one.kept for one in self._allowed())
            raise TargetUnreachable(
                f"no recoding found keeps {utility:.6g} of the use; the nearest keeps {most:.6g}."
            )
        found = self.search._solution(Funnel(0.0), best)
        told = self.aim.utility(self.joint, found.code)
        return replace(found, objective=self.aim, utility=told)

    def _between(self, bounded: str, target: float) -> None:
        """One more descent, at the slope of the hull around the target, from the codes beside it.

        The target is one of what is ``bounded``, "kept" or "leakage".
        """
        codes = self._allowed()
        points = np.array([(one.kept, one.leakage) for one in codes])
        corners = [codes[i] for i in hull(points, "funnel")]
        place = [getattr(one, bounded) for one in corners]
        k = int(np.clip(np.searchsorted(place, target), 1, max(1, len(corners) - 1)))
        low, high = corners[k - 1], corners[min(k, len(corners) - 1)]
        run = (high.kept - low.kept) * self.whole
        nu = max((high.leakage - low.leakage) / run if run > 1e-12 else self.mean, 1e-6 * self.mean)
        for one in (low, high):
            for factor in (0.7, 1.0, 1.4):
                self._descend(one.labels, factor * nu)

    def _descend(self, labels: Sequence[Ints], nu: float) -> Sequence[Ints]:
        c = self.columns
        tilted = TiltedSearch(
            c.joint, c.shapes, c.importance, c.min_count, c.suppress, c.chance, nu=nu
        )
        found = tilted.descend(labels, OWN * self.mean, self.rng, nu).labels
        self._note(found)
        return found

    def _note(self, labels: Sequence[Ints]) -> None:
        code = self.columns.measured(labels)
        if code.key not in self.seen:
            cells, _ = self.columns.released(labels)
            into = sp.csr_array((np.ones(len(cells)), (np.arange(len(cells)), cells)))
            told = INFORMATION.told(self.use.joint.p_sx @ into)
            self.seen[code.key] = replace(code, kept=float(share(told, self.whole)))

    def _allowed(self) -> list[Recoded]:
        return [one for one in self.seen.values() if self.columns.may_suppress(one.suppressed)]
