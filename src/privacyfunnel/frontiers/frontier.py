"""Frontier: the best trade-offs between utility and leakage, and the release for any target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from privacyfunnel.codes import Channel, Partition
from privacyfunnel.errors import InvalidInput, TargetUnreachable
from privacyfunnel.information import Array, share
from privacyfunnel.joint import Joint
from privacyfunnel.limits import limit
from privacyfunnel.objectives import PROBLEMS
from privacyfunnel.solvers.base import Solution, Solver, Status
from privacyfunnel.solvers.best import BestSearch
from privacyfunnel.solvers.merge_path import MergePath
from privacyfunnel.solvers.soft.bottleneck import DeterministicAnnealing
from privacyfunnel.solvers.soft.bottleneck_frontier import annealing_at
from privacyfunnel.solvers.soft.funnel import SoftFunnel
from privacyfunnel.solvers.soft.funnel_frontier import soft_at
from privacyfunnel.solvers.starting import starts_at
from privacyfunnel.solvers.targets import Target, greedy_paths

if TYPE_CHECKING:
    import pandas as pd

PROVED = 1e-9  # bits from the limit that count as none
TRIES = 3  # searches for one target, unless one proves optimal before
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

    @cached_property
    def _paths(self) -> list[MergePath]:
        return greedy_paths(self.joint, self.problem)

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
        if isinstance(self.solver, BestSearch) and self.joint.n_x > 1:
            allowed += self._search(self.solver, target)
        if isinstance(self.solver, SoftFunnel | DeterministicAnnealing) and self.joint.n_x > 1:
            allowed.append(self._soft_at(self.solver, target))
        if not allowed:
            raise TargetUnreachable(self._nothing(target))
        return marked(self.joint, min(allowed, key=lambda s: price.of(s.leakage, s.utility)))

    def _search(self, solver: BestSearch, target: Target) -> list[Solution]:
        """A few tries at one target, each from what is near it and from what was found before."""
        rng = np.random.default_rng([self.seed, round(target.bits * 1e6)])
        codes = nearest_codes(self.solutions, target)
        codes += starts_at(self.joint, target, self._paths, solver, rng)
        found: list[Solution] = []
        for _ in range(TRIES):
            found.append(
                marked(self.joint, solver.solve_at(self.joint, target, starts=codes, rng=rng))
            )
            if found[-1].status is Status.AT_LIMIT:
                break
            codes += [s.code for s in found[-1:] if isinstance(s.code, Partition)]
        return found

    def _soft_at(self, solver: SoftFunnel | DeterministicAnnealing, target: Target) -> Solution:
        """A channel that meets the target exactly, from all codes of the frontier."""
        names = TARGETS[self.problem]
        name = names[0] if target.quantity == "utility" else names[1]
        search: Callable[..., Channel] = soft_at if self.problem == "funnel" else annealing_at
        channel = search(
            self.joint,
            **{name: target.bits},
            starts=[s.code for s in self.solutions],
            n_symbols=solver.n_symbols,
            rng=np.random.default_rng([self.seed, round(target.bits * 1e6)]),
        )
        objective = PROBLEMS[self.problem](target.slope)
        return Solution.measured(self.joint, objective, channel, Status.CONVERGED)

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
    sign = PROBLEMS[problem].leakage_weight
    kept: list[Solution] = []
    # From the most utility down (funnel) or the least rate up (bottleneck), a solution must improve
    # on all before it; of equal ones the first is kept.
    for solution in sorted(solutions, key=lambda s: (-sign * s.utility, sign * s.leakage)):
        if not kept or sign * solution.leakage < sign * kept[-1].leakage - 1e-12:
            kept.append(marked(joint, solution))
    return tuple(sorted(kept, key=lambda s: s.utility))


def marked(joint: Joint, solution: Solution) -> Solution:
    """The same solution, its status saying so if it meets the limit."""
    bound = limit(joint, solution.objective.problem, solution.utility)
    proved = abs(solution.leakage - bound) <= PROVED
    return replace(solution, status=Status.AT_LIMIT) if proved else solution


def hull(points: Array, problem: str) -> Array:
    """The convex hull's corners on the side that matters, by rising utility.

    ``points[:, 0]`` is I(X;X̂), ``points[:, 1]`` is I(S;X̂); below for the funnel, above for the
    bottleneck.

    >>> hull(np.array([[0.0, 0.0], [1.0, 0.9], [2.0, 1.0]]), "funnel")
    array([[0., 0.],
           [2., 1.]])
    """
    sign = PROBLEMS[problem].leakage_weight
    corners: list[Array] = []
    for point in points[np.lexsort((sign * points[:, 1], points[:, 0]))]:
        while len(corners) >= 2:
            (x0, y0), (x1, y1) = corners[-2], corners[-1]
            turn = (x1 - x0) * (point[1] - y0) - (y1 - y0) * (point[0] - x0)
            if sign * turn > 0:
                break
            corners.pop()
        corners.append(point)
    return np.array(corners)


def slope_at(points: Array, problem: str, bits: float, quantity: str = "utility") -> float:
    """Bits of I(S;X̂) that go with one more bit of I(X;X̂) on the hull: the λ of that place.

    >>> slope_at(np.array([[0.0, 0.0], [2.0, 1.0]]), "funnel", 0.7)
    0.5
    """
    corners = hull(points, problem)
    if len(corners) < 2:
        return 1.0
    axis = 0 if quantity == "utility" else 1
    k = int(np.clip(np.searchsorted(corners[:, axis], bits), 1, len(corners) - 1))
    run, rise = corners[k] - corners[k - 1]
    return float(np.clip(rise / run, 0.0, 1.0)) if run > 0 else 1.0


def nearest_codes(
    solutions: Sequence[Solution], target: Target, each_side: int = 2
) -> list[Partition]:
    """Codes of the solutions around a target: a few below it and a few above."""
    ordered = sorted(solutions, key=lambda s: s.utility)
    values = [s.utility if target.quantity == "utility" else s.leakage for s in ordered]
    k = int(np.searchsorted(values, target.bits))
    near = ordered[max(0, k - each_side) : k + each_side]
    return [s.code for s in near if isinstance(s.code, Partition)]
