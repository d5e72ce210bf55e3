"""The figures of Ding & Sadeghi (2019): the paper's numbers and our runs behind each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privacyfunnel.information import share
from privacyfunnel.joint import Joint
from privacyfunnel.objectives import Bottleneck, Funnel, Objective
from privacyfunnel.parallel import Tick, in_parallel
from privacyfunnel.solvers import solve
from privacyfunnel.solvers.merge_path import merge_path

PROBLEMS: dict[str, type[Objective]] = {"pf": Funnel, "ib": Bottleneck}
THETA = {"pf": 2.91, "ib": 1.845}  # figure 3, bits; IB's is not published, see `merging`
# The paper's own procedure: one random start for each merge, the min-norm point inside.
PAPER_OPTIONS = {"paper": True, "mdsf": "ssp-minnorm"}
# Settings of figure 2's sweep where not the defaults: at low λ IB merges pair by pair, seconds a run.
EFFORT: dict[str, dict[str, int]] = {"pf": {}, "ib": {"runs": 1, "starts": 2}}
GRID = np.arange(1, 20) / 20  # thresholds of our own in figure 2, as parts of the highest


@dataclass(frozen=True)
class Plan:
    """What a figure shows: its file, the published columns of its setting, and λ where it has one."""

    file: str
    public: tuple[str, str]
    lam: float | None = None
    published: bool = True

    @property
    def setting(self) -> str:
        """What is sensitive and what is published."""
        return f"S = (age, sex), X = ({', '.join(self.public)})"


FIGURES = {
    "fig1a": Plan("fig1a_convergence", ("sex", "chol"), lam=0.8),
    "fig1b": Plan("fig1b_convergence", ("age", "chol"), lam=0.7),
    "fig2a": Plan("fig2a_frontier", ("sex", "chol")),
    "fig2b": Plan("fig2b_frontier", ("age", "chol"), published=False),
    "fig3": Plan("fig3_pairwise", ("sex", "chol")),
}


def paper_points(figure: str) -> pd.DataFrame:
    """The numbers behind a figure of the paper; no rows where it published none.

    >>> paper_points("fig1a").head(2)
      problem  k  lagrangian_bits
    0      pf  1        -1.056652
    1      pf  2        -1.271066
    """
    plan = FIGURES[figure]
    if not plan.published:
        return paper_points("fig2a").iloc[:0]
    file = resources.files("privacyfunnel.reproduce") / "paper" / f"{plan.file}.csv"
    with file.open("rb") as stream:
        return pd.read_csv(stream)


def count_runs(figure: str, n_lams: int, n_seeds: int) -> int:
    """How often a figure calls ``tick``."""
    if FIGURES[figure].lam is not None:
        return 2 * len(PROBLEMS) * n_seeds
    if figure == "fig3":
        return 0
    n_published = len(select(paper_points("fig2a"), method="pairwise"))
    return len(PROBLEMS) * (2 * n_lams + len(GRID)) + n_published


def select(table: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """The rows whose columns have these values."""
    for column, value in values.items():
        table = table[table[column] == value]
    return table


def convergence(
    joint: Joint, lam: float, seeds: Sequence[int], *, n_jobs: int, tick: Tick
) -> pd.DataFrame:
    """Figure 1: L = I(S;X̂) − λ I(X;X̂) after each iteration of IAC-MDSF.

    ``variant`` is ``default`` (ours) or ``paper`` (the paper's one random start for each merge);
    k = 1 is the untouched alphabet.
    """
    tasks = [
        (joint, problem, lam, variant, seed)
        for variant in ("default", "paper")
        for problem in PROBLEMS
        for seed in seeds
    ]
    traces: list[pd.DataFrame] = in_parallel(_trace, tasks, n_jobs, tick)
    return pd.concat(traces, ignore_index=True)


def _trace(joint: Joint, problem: str, lam: float, variant: str, seed: int) -> pd.DataFrame:
    objective = PROBLEMS[problem](lam)
    sign = objective.leakage_weight
    options = PAPER_OPTIONS if variant == "paper" else {}
    solution = solve(joint, objective, "iac-mdsf", seed=seed, **options)
    steps = [
        {
            "problem": problem,
            "k": k,
            "lagrangian_bits": sign * step.value,  # the bottleneck's value is −L
            "merged": step.merged,
            "n_symbols": step.n_symbols,
            "inner_steps": step.inner_steps,
            "lam": lam,
            "variant": variant,
            "seed": seed,
            "status": solution.status.name.lower(),
        }
        for k, step in enumerate(solution.history, start=1)
    ]
    return pd.DataFrame(steps)


def frontier(
    joint: Joint, lams: Sequence[float], *, seed: int, n_jobs: int, tick: Tick
) -> pd.DataFrame:
    """Figure 2: IAC-MDSF over λ, and the pairwise methods over their thresholds.

    The first pairwise rows have the thresholds of figure 2a's points, in its order. Method
    ``iac-mdsf-paper`` is the paper's one random start. Each λ has a seed of its own, so that a point
    depends neither on its neighbours nor on ``n_jobs``.
    """
    seeds = [int(np.random.SeedSequence([seed, i]).generate_state(1)[0]) for i in range(len(lams))]
    tasks: list[tuple[Any, ...]] = [
        (joint, problem, method, lam, own_seed, options)
        for problem in PROBLEMS
        for method, options in (("iac-mdsf", EFFORT[problem]), ("iac-mdsf-paper", PAPER_OPTIONS))
        for lam, own_seed in zip(lams, seeds, strict=True)
    ]
    tasks += [
        (joint, problem, "pairwise", np.nan, None, {"theta": theta})
        for problem in PROBLEMS
        for theta in _thetas(joint, problem)
    ]
    table = pd.DataFrame(in_parallel(_frontier_point, tasks, n_jobs, tick))
    return table.astype({"seed": "Int64"})


def _thetas(joint: Joint, problem: str) -> list[float]:
    """Where figure 2a's pairwise points lie, then a grid; in bits."""
    published = select(paper_points("fig2a"), problem=problem, method="pairwise")
    if problem == "pf":
        highest = joint.entropy_x
        given = published["utility_over_HX"].to_numpy() * joint.entropy_x
    else:
        highest = joint.information
        given = published["leakage_over_HS"].to_numpy() * joint.entropy_s
    return [float(t) for t in np.minimum(np.concatenate([given, GRID * highest]), highest)]


def _frontier_point(
    joint: Joint, problem: str, method: str, lam: float, seed: int | None, options: dict[str, Any]
) -> dict[str, Any]:
    objective = PROBLEMS[problem](0.0 if np.isnan(lam) else lam)
    solver = method.removesuffix("-paper")
    solution = solve(joint, objective, solver, seed=seed or 0, **options)
    return {
        "problem": problem,
        "method": method,
        "utility_over_HX": share(solution.utility, joint.entropy_x),
        "leakage_over_HS": share(solution.leakage, joint.entropy_s),
        "n_symbols": solution.n_symbols,
        "iterations": len(solution.history) - 1,
        "lam": lam,
        "theta_bits": options.get("theta", np.nan),
        "seed": seed,
        "status": solution.status.name.lower(),
    }


def merging(joint: Joint) -> pd.DataFrame:
    """Figure 3: I(S;X̂) (PF) and I(X;X̂) (IB) along the merges of the pairwise methods.

    The paper gives neither threshold. PF's is known from where its curve stops; IB's is inferred
    from where its curve bends, and past the bend ties leave the order of the merges open.
    """
    weights = {"pf": ((1.0, 0.0), (0.0, 1.0)), "ib": ((0.0, 1.0), (1.0, 0.0))}
    parts = []
    for problem, (lower, keep) in weights.items():
        path = merge_path(joint, lower, keep=keep, threshold=THETA[problem])
        codes = [path.cut(k) for k in range(len(path.merges) + 1)]
        leakage, utility = np.array([Funnel(0.0).amounts(joint, code) for code in codes]).T
        columns = {
            "problem": problem,
            "k": np.arange(1, len(leakage) + 1),
            "information_bits": leakage if problem == "pf" else utility,
            "leakage_bits": leakage,
            "utility_bits": utility,
            "n_symbols": joint.n_x - np.arange(len(leakage)),
            "theta_bits": THETA[problem],
        }
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def reordered(joint: Joint, order: Sequence[int] | NDArray[np.int64]) -> Joint:
    """The same joint with its public symbols in another order, which decides between ties."""
    labels = [joint.labels_x[i] for i in order]
    return Joint.from_counts(joint.counts[:, list(order)], joint.labels_s, labels)


def by_appearance(joint: Joint, table: pd.DataFrame, public: Sequence[str]) -> Joint:
    """The joint with its public symbols in the order in which the table first shows them."""
    rows = table[list(public)].itertuples(index=False, name=None)
    position = {label: i for i, label in enumerate(dict.fromkeys(rows))}
    return reordered(joint, sorted(range(joint.n_x), key=lambda i: position[joint.labels_x[i]]))
