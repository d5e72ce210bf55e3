"""Frontier: the best trade-offs between utility and leakage, and the release for any target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from privacyfunnel.codes import Channel
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.information import Array, share
from privacyfunnel.joint import Joint
from privacyfunnel.limits import PROVED, limit
from privacyfunnel.measures import INFORMATION, Measure
from privacyfunnel.notebook import MOST_ROWS, card
from privacyfunnel.objectives import PROBLEMS, Objective
from privacyfunnel.solvers.base import Solution, Solver, Status
from privacyfunnel.solvers.target import MET, Target, meet, stays_within
from privacyfunnel.solvers.tradeoff import slope_at, undominated
from privacyfunnel.validation import check_share

if TYPE_CHECKING:
    import pandas as pd

NEAR = 8  # codes of the archive that a search for one target sets out from
TARGETS = {"funnel": ("utility", "leakage"), "bottleneck": ("rate", "relevance")}


@dataclass(frozen=True)
class Frontier:
    """Solutions that no other found beats, by rising utility; `at` gives one for an exact target.

    For the bottleneck read rate for utility and relevance for leakage.
    """

    joint: Joint
    problem: str
    method: str
    solver: Solver
    seed: int
    solutions: tuple[Solution, ...]
    measure: Measure = field(default=INFORMATION, kw_only=True)  # of what is told about S
    keep: str = field(default="x", kw_only=True)  # see `Objective`
    archive: tuple[Solution, ...] = field(default=(), kw_only=True, repr=False)  # more, for `at`

    @property
    def aim(self) -> Objective:
        """What every solution trades off, at λ = 0."""
        return PROBLEMS[self.problem](0.0, self.measure, self.keep)

    def __len__(self) -> int:
        return len(self.solutions)

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.solutions)

    @property
    def known(self) -> tuple[Solution, ...]:
        """The solutions, and what else was found."""
        return (*self.solutions, *self.archive)

    @property
    def points(self) -> Array:
        """I(X;X̂) and I(S;X̂) in bits, or what else is kept and told, a row for each solution."""
        return np.array([(s.utility, s.leakage) for s in self.solutions])

    @property
    def proved(self) -> list[bool]:
        """Which solutions meet the limit, and so are proved optimal."""
        return [s.status is Status.AT_LIMIT for s in self.solutions]

    @property
    def is_soft(self) -> bool:
        """Whether some codes are channels."""
        return any(isinstance(s.code, Channel) for s in self.solutions)

    def to_frame(self) -> pd.DataFrame:
        """The points as a pandas table.

        ``utility`` is I(X;X̂)/H(X) and ``leakage`` I(S;X̂)/H(S); ``limit`` is what no release of that
        utility can beat and ``gap`` the distance to it, both as fractions of H(S) too. Another measure
        or use stands in the same columns: shares of what telling S itself, or keeping X
        itself, would read; ``limit`` and ``gap`` are missing where no limit is proved.
        """
        import pandas as pd

        joint, aim = self.joint, self.aim
        limits = self.limits([s.utility for s in self.solutions])
        told, kept = aim.whole_leakage(joint), aim.whole_utility(joint)
        points = self.points
        gaps = np.abs(points[:, 1] - limits)
        return pd.DataFrame(
            {
                "lam": [s.objective.lam for s in self.solutions],
                "utility_bits": points[:, 0],
                "leakage_bits": points[:, 1],
                "utility": share(points[:, 0], kept),
                "leakage": share(points[:, 1], told),
                "n_symbols": [s.n_symbols for s in self.solutions],
                "limit": share(limits, told),
                "gap": share(np.where(gaps <= PROVED, 0.0, gaps), told),
            }
        )

    def _repr_html_(self) -> str:
        x, y = TARGETS[self.problem]
        frame, proved = self.to_frame(), self.proved
        facts = {"method": self.method, "releases": len(self), "proved optimal": sum(proved)}
        shown = np.unique(np.linspace(0, len(self) - 1, MOST_ROWS).round().astype(int))
        rows = [
            (
                f"{row.utility:.1%}",
                f"{row.leakage:.2%}",
                "" if np.isnan(row.limit) else f"{row.limit:.2%}",
                int(row.n_symbols),
                "proved optimal" if proved[i] else "",
            )
            for i in shown.tolist()
            for row in [frame.iloc[i]]
        ]
        return card(f"Frontier of the {self.problem}", facts, (x, y, "limit", "symbols", ""), rows)

    def limits(self, utilities: Iterable[float]) -> Array:
        """What no release of these utilities can beat; missing where no limit is proved."""
        bounds = [
            limit(self.joint, self.problem, float(u), measure=self.measure, keep=self.keep)
            for u in utilities
        ]
        return np.array(bounds)

    def at(
        self,
        *,
        utility: float | None = None,
        leakage: float | None = None,
        rate: float | None = None,
        relevance: float | None = None,
        kept: float | None = None,
    ) -> Solution:
        """The best release for one exact target, given as a share of H(X) or H(S) in [0, 1].

        Funnel: least leakage with I(X;X̂)/H(X) ≥ ``utility``, or most utility with
        I(S;X̂)/H(S) ≤ ``leakage``. Bottleneck: most relevance with I(X;X̂)/H(X) ≤ ``rate``, or
        least rate with I(S;X̂)/H(S) ≥ ``relevance``. Recodings: least leakage that keeps the share
        ``kept`` of the columns, or most kept at ``leakage``. By another measure or for another use a
        share is one of what telling S itself, or keeping all, reads. Raises `TargetUnreachable` if
        none is found.
        """
        given = {
            "utility": utility,
            "leakage": leakage,
            "rate": rate,
            "relevance": relevance,
            "kept": kept,
        }
        return self._meeting({name: v for name, v in given.items() if v is not None})

    def _meeting(self, given: dict[str, float]) -> Solution:
        """The best release for the one target given, searched from the frontier."""
        target = self.target(given)
        near = sorted(self.archive, key=lambda s: abs(target.bounded(*s.amounts) - target.bits))
        found = meet(
            target,
            self.joint,
            self.solver,
            known=self.known,
            starts=[s.code for s in (*self.solutions, *near[:NEAR])],
            rng=np.random.default_rng([self.seed, round(target.bits * 1e6)]),
        )
        if found is None:
            raise TargetUnreachable(self._nothing(target))
        return found

    def target(self, given: dict[str, float]) -> Target:
        """The demand in bits for one target given as a share."""
        names = TARGETS[self.problem]
        if len(given) != 1 or next(iter(given)) not in names:
            got = " and ".join(given) or "none"
            raise InvalidInput(
                f"a {self.problem} takes exactly one target, {names[0]} or {names[1]}; got {got}."
            )
        ((name, value),) = given.items()
        value = check_share(name, value)
        quantity = "utility" if name == names[0] else "leakage"
        joint, aim = self.joint, self.aim
        if quantity == "utility":
            whole = aim.whole_utility(joint)
            amount = min(value * whole, whole)  # the end of the scale is met exactly
        else:
            whole, most = aim.whole_leakage(joint), self.measure(joint.p_sx)
            if name == "relevance" and not stays_within(value * whole, most, MET):
                raise TargetUnreachable(
                    f"no release has relevance {value}; X itself has {most / whole:.6f} of "
                    f"{'H(S)' if aim.plain else 'what there is'}."
                )
            reading = min(value * whole, most if name == "relevance" else whole)
            amount = self.measure.amount(reading, joint.p_s)
        (slope,) = slopes(self.solutions, aim, [amount], quantity)
        return Target(self.problem, quantity, amount, slope, self.measure, self.keep)

    def _nothing(self, target: Target) -> str:
        known = np.array([target.bounded(*s.amounts) for s in self.solutions])
        nearest = float(known[np.argmin(np.abs(known - target.bits))])
        return (
            f"no release of this frontier meets {target.share(self.joint, target.bits):.4g}; "
            f"the nearest has {target.share(self.joint, nearest):.4g}."
        )


def slopes(
    solutions: Iterable[Solution], aim: Objective, at: Iterable[float], quantity: str = "utility"
) -> list[float]:
    """The λ of the solutions' hull where it has each of these amounts, see `slope_at`."""
    points = np.array([s.amounts[::-1] for s in solutions])
    steepest = 1.0 if aim.plain else np.inf
    return [slope_at(points, aim.problem, amount, quantity, steepest) for amount in at]


def pareto(
    joint: Joint, problem: str, solutions: Iterable[Solution], kept: str = "utility"
) -> tuple[Solution, ...]:
    """Those that no other beats, by rising utility, each marked if it meets the limit."""
    given = list(solutions)
    best = undominated(np.array([(getattr(s, kept), s.leakage) for s in given]), problem)
    return tuple(marked(joint, given[i]) for i in best)


def marked(joint: Joint, solution: Solution) -> Solution:
    """The same solution, its status saying so if it meets the limit."""
    aim = solution.objective
    bound = limit(joint, aim.problem, solution.utility, measure=aim.measure, keep=aim.keep)
    proved = abs(solution.leakage - bound) <= PROVED
    return replace(solution, status=Status.AT_LIMIT) if proved else solution
