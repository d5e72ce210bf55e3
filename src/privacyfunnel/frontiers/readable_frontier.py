"""ReadableFrontier: the trade-offs of recodings, between what is kept of the columns and leakage."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from privacyfunnel.errors import InvalidInput
from privacyfunnel.frontiers.frontier import Frontier, pareto
from privacyfunnel.joint import Joint
from privacyfunnel.measures import Measure
from privacyfunnel.parallel import Progress, tell
from privacyfunnel.recodings import RecodedSolution, RecodingSearch, make_recoding
from privacyfunnel.solvers.base import Solution
from privacyfunnel.solvers.target import Price, best_of, told_and_kept
from privacyfunnel.validation import check_share

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ReadableFrontier(Frontier):
    """Recodings that no other found beats, by rising share kept; `at` gives one for an exact target."""

    search: RecodingSearch

    @property
    def codes(self) -> list[RecodedSolution]:
        """The solutions, which are recodings all."""
        return [s for s in self.solutions if isinstance(s, RecodedSolution)]

    def to_frame(self) -> pd.DataFrame:
        """The points as a pandas table: that of `Frontier`, and the shares kept and suppressed."""
        frame = super().to_frame()
        frame.insert(1, "kept", [s.kept for s in self.codes])
        frame["suppressed"] = [s.suppressed for s in self.codes]
        return frame

    def _meeting(self, given: dict[str, float]) -> Solution:
        """The least leakage that keeps the share ``kept``, or the most kept at ``leakage``."""
        if len(given) != 1 or not given.keys() <= {"kept", "leakage"}:
            got = " and ".join(given) or "none"
            raise InvalidInput(f"a recoding takes exactly one target, kept or leakage; got {got}.")
        ((name, value),) = given.items()
        value = check_share(name, value)
        rng = np.random.default_rng([self.seed, round(value * 1e6), name == "leakage"])
        search = self.search.copy()  # so that a target gives the same after any others
        if name == "kept":
            price, ask = Price.keeping(value), partial(search.at, rng, kept=value)
        else:
            price = Price.telling(value * self.aim.whole_leakage(self.joint))
            ask = partial(search.at, rng, leakage=search.told(value))
        found = best_of(self.codes, ask, price, told_and_kept)
        assert found is not None  # the search would have said so
        return found


def readable_frontier(
    joint: Joint,
    recoding: str,
    *,
    n_points: int,
    targets: Sequence[float] | None,
    n_jobs: int,
    seed: int,
    progress: Progress | None,
    options: dict[str, Any],
    measure: Measure,
) -> ReadableFrontier:
    """Recodings for shares to keep, evenly spaced unless ``targets`` gives them."""
    solver = make_recoding(recoding, **options)
    search = solver.on(joint, measure)
    rng = np.random.default_rng(seed)
    given = np.linspace(0.0, 1.0, n_points) if targets is None else targets
    shares = [check_share("a target", share) for share in given]
    least = shares.index(min(shares))  # where nothing keeps even that, nothing will keep more
    found: list[RecodedSolution] = []
    with closing(search.along(shares, rng, n_jobs=n_jobs)) as along:
        for done, one in enumerate(along):
            if isinstance(one, RecodedSolution):
                found.append(one)
            elif done == least:
                raise one
            tell(progress, done + 1, len(shares))
    solutions = pareto(joint, "funnel", found, kept="kept")
    return ReadableFrontier(
        joint, "funnel", recoding, solver, seed, solutions, search, measure=measure
    )
