"""Frontier: the best trade-offs between utility and leakage, and the release for any target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from privacyfunnel.codes import Channel
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.information import Array, share
from privacyfunnel.joint import Joint
from privacyfunnel.limits import limit
from privacyfunnel.notebook import MOST_ROWS, card
from privacyfunnel.solvers.base import Solution, Solver, Status, TargetSolver
from privacyfunnel.solvers.target import Target
from privacyfunnel.solvers.tradeoff import slope_at, undominated

if TYPE_CHECKING:
    import pandas as pd

PROVED = 1e-9  # bits from the limit that count as none
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

    def __len__(self) -> int:
        return len(self.solutions)

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.solutions)

    @property
    def points(self) -> Array:
        """I(X;X̂) and I(S;X̂) in bits, a row for each solution."""
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
        utility can beat and ``gap`` the distance to it, both as fractions of H(S) too.
        """
        import pandas as pd

        joint = self.joint
        limits = np.array([limit(joint, self.problem, s.utility) for s in self.solutions])
        points = self.points
        gaps = np.abs(points[:, 1] - limits)
        return pd.DataFrame(
            {
                "lam": [s.objective.lam for s in self.solutions],
                "utility_bits": points[:, 0],
                "leakage_bits": points[:, 1],
                "utility": share(points[:, 0], joint.entropy_x),
                "leakage": share(points[:, 1], joint.entropy_s),
                "n_symbols": [s.n_symbols for s in self.solutions],
                "limit": share(limits, joint.entropy_s),
                "gap": share(np.where(gaps <= PROVED, 0.0, gaps), joint.entropy_s),
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
                f"{row.limit:.2%}",
                int(row.n_symbols),
                mark,
            )
            for i, mark in ((int(i), "proved optimal" if proved[i] else "") for i in shown)
            for row in [frame.iloc[i]]
        ]
        return card(f"Frontier of the {self.problem}", facts, (x, y, "limit", "symbols", ""), rows)

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
        least rate with I(S;X̂)/H(S) ≥ ``relevance``. Raises `TargetUnreachable` if none is found.
        """
        given = {
            "utility": utility,
            "leakage": leakage,
            "rate": rate,
            "relevance": relevance,
            "kept": kept,
        }
        target = self.target({name: v for name, v in given.items() if v is not None})
        price = target.price
        allowed = [s for s in self.solutions if price.of(s.leakage, s.utility) < np.inf]
        if isinstance(self.solver, TargetSolver) and self.joint.n_x > 1:
            allowed += self._search(self.solver, target)
        if not allowed:
            raise TargetUnreachable(self._nothing(target))
        best = min(allowed, key=lambda s: price.of(s.leakage, s.utility))
        return proved_for(target, self.joint, best)

    def _search(self, solver: TargetSolver, target: Target) -> list[Solution]:
        """A few tries at one target, each from the frontier and from what was found before."""

        def met(solution: Solution) -> bool:
            return target.price.of(solution.leakage, solution.utility) < np.inf

        rng = np.random.default_rng([self.seed, round(target.bits * 1e6)])
        codes, found = [s.code for s in self.solutions], list[Solution]()
        tries = getattr(solver, "tries", None)
        for _ in range(1 if tries is None else tries(self.joint, target)):
            try:
                solution = solver.solve_at(self.joint, target, starts=codes, rng=rng)
            except TargetUnreachable:
                if not any(met(s) for s in self.solutions):
                    raise
                break
            found.append(proved_for(target, self.joint, solution))
            if found[-1].status in (Status.AT_LIMIT, Status.OPTIMAL):
                break
            codes.append(solution.code)
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
        if isinstance(value, bool) or not 0.0 <= value <= 1.0:
            raise InvalidInput(f"{name} must lie in [0, 1], a share of all there is; got {value}.")
        quantity = "utility" if name == names[0] else "leakage"
        whole = self.joint.entropy_x if quantity == "utility" else self.joint.entropy_s
        if name == "relevance" and value * whole > self.joint.information + PROVED:
            most = self.joint.information / whole
            raise TargetUnreachable(
                f"no release has relevance {value}; X itself has {most:.6f} of H(S)."
            )
        # The ends of the scale are met exactly, not up to the rounding of the product.
        bits = min(value * whole, self.joint.information if name == "relevance" else whole)
        return Target(
            self.problem, quantity, bits, slope_at(self.points, self.problem, bits, quantity)
        )

    def _nothing(self, target: Target) -> str:
        column = 0 if target.quantity == "utility" else 1
        nearest = self.points[np.argmin(np.abs(self.points[:, column] - target.bits)), column]
        whole = self.joint.entropy_x if column == 0 else self.joint.entropy_s
        return (
            f"no release of this frontier meets {target.bits / whole:.4g}; "
            f"the nearest has {nearest / whole:.4g}."
        )


def pareto(joint: Joint, problem: str, solutions: Iterable[Solution]) -> tuple[Solution, ...]:
    """Those that no other beats, by rising utility, each marked if it meets the limit."""
    given = list(solutions)
    kept = undominated(np.array([(s.utility, s.leakage) for s in given]), problem)
    return tuple(marked(joint, given[i]) for i in kept)


def proved_for(target: Target, joint: Joint, solution: Solution) -> Solution:
    """The same solution, its status saying whether no release whatever meets the target better.

    A code that meets the limit at its own utility need not be the best for what was asked.
    """
    price = target.price.of(solution.leakage, solution.utility)
    if price <= target.floor(joint) + PROVED:
        return replace(solution, status=Status.AT_LIMIT)
    claims = solution.status is Status.AT_LIMIT
    return replace(solution, status=Status.CONVERGED) if claims else solution


def marked(joint: Joint, solution: Solution) -> Solution:
    """The same solution, its status saying so if it meets the limit."""
    bound = limit(joint, solution.objective.problem, solution.utility)
    proved = abs(solution.leakage - bound) <= PROVED
    return replace(solution, status=Status.AT_LIMIT) if proved else solution
