"""Reproduce the figures of Ding & Sadeghi (2019): numbers, pictures, and a verdict on each claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pandas as pd

from privacyfunnel.files import as_unavailable, atomic_path, write_text
from privacyfunnel.joint import Joint
from privacyfunnel.parallel import Progress, Tick, Ticks, check_jobs
from privacyfunnel.reproduce.claims import Claim, judge_complexity, judge_convergence, judge_merging
from privacyfunnel.reproduce.figures import draw
from privacyfunnel.reproduce.frontier_claims import judge_frontier
from privacyfunnel.reproduce.runs import (
    FIGURES,
    by_appearance,
    convergence,
    count_runs,
    frontier,
    merging,
    paper_points,
)
from privacyfunnel.validation import check_choice, check_rng, check_whole

__all__ = ["FIGURES", "Claim", "reproduce"]

NOTES = """

## Notes

- **What chance decides.** IAC-MDSF merges along random orders, so of figure 1 only the first point is
  determined. *One start* is the paper's own procedure (`paper=True, mdsf="ssp-minnorm"`): one random
  order for each merge, and the first search without a merge ends the run, even where merging two
  symbols would still help. The default takes several orders, keeps the best, and ends only when no
  pair helps. *Few* iterations are at most a quarter of the pairwise method's 107.
- **Figure 2.** A point dominates another if it is nowhere worse and somewhere better. The optimum for
  one λ lies on the convex hull of all points, so that a sweep over λ leaves gaps (PF: from about 0.47
  of H(X) up to 1). Pairwise points in a gap are not dominated by anything there, which is why PF
  dominates fewer of them; the rows on L compare them too. PF has the default settings; IB has one run
  of two starts for each λ, because at low λ it merges pair by pair and takes long. The numbers of
  figure 2b were not published: ours stand alone.
- **Figure 3.** PF's threshold is θ = 2.91 bits. IB's is not published; θ = 1.845 bits is inferred from
  where its curve bends. Many merges cost the same, and the order of the symbols decides which comes
  first. Ours is the order of the records in the file; how far the curve agrees in other orders is in
  the table. The IB points of the pairwise method in figure 2a depend on ties likewise.
- **Complexity.** Each step of the min-norm point tries the n prefixes of an order of the n symbols;
  these are the subsets counted. The last search, which finds nothing, is not in the count. The heap
  is our way to run the pairwise method, not the paper's.
- **Thresholds of the checks.** The paper says *few*, *in general* and *much less* without numbers. A
  quarter of 107, more than half of the points, nine of ten λ and a tenth are our readings.
- **Erratum.** The proof of the theorem calls −y log y convex; it is y log y that is convex, which is
  what the argument needs. The theorem stands.
- **Reading the leakage.** The numbers describe the records at hand, not a population: among so few
  records almost any X tells much about S by coincidence.

Files: each csv has our numbers, first in the columns of the paper's data, then in our own; each png
shows the paper's points beside ours.
"""


def reproduce(
    table: pd.DataFrame,
    directory: Path,
    figures: Sequence[str] | None = None,
    *,
    seed: int = 0,
    n_jobs: int = 1,
    progress: Progress | None = None,
    n_lams: int = 101,
    n_seeds: int = 10,
) -> list[Claim]:
    """Run the paper's experiments on ``table`` (age, sex, chol) and write them to ``directory``.

    For each of ``figures`` (default: all of fig1a, fig1b, fig2a, fig2b, fig3) a csv of our numbers
    and a png with the paper's points beside ours; then ``summary.md``. The result does not depend
    on ``n_jobs``. ``n_lams`` values of λ in figure 2 and ``n_seeds`` runs in figure 1: the
    defaults are the paper's 101 and enough to see what chance does.
    """
    for name in figures or ():
        check_choice("figure", name, list(FIGURES))
    names = [name for name in FIGURES if figures is None or name in figures]
    check_rng(seed)
    check_whole("n_lams", n_lams, 2)
    check_whole("n_seeds", n_seeds, 1)
    check_jobs(n_jobs)
    joints = {
        name: Joint.from_table(table, ["age", "sex"], list(FIGURES[name].public)) for name in names
    }
    if "fig3" in joints:  # ties decide its tail, so their order is fixed here and not by from_table
        joints["fig3"] = by_appearance(joints["fig3"], table, FIGURES["fig3"].public)
    with as_unavailable(f"cannot write to {str(directory)!r}"):
        directory.mkdir(parents=True, exist_ok=True)
    lams = [i / (n_lams - 1) for i in range(n_lams)]
    seeds = range(seed, seed + n_seeds)
    tick = Ticks(sum(count_runs(name, n_lams, n_seeds) for name in names), progress)
    frames = {}
    for name in names:
        frames[name] = _run(name, joints[name], lams, seeds, n_jobs, tick)
        _save(directory, name, joints[name], frames[name])
    judged = {f"Figure {n.removeprefix('fig')}": _judge(n, joints[n], frames[n]) for n in names}
    judged["Complexity"] = judge_complexity(frames)
    claims = [
        replace(claim, section=section) for section, found in judged.items() for claim in found
    ]
    write_text(directory / "summary.md", summary(table, joints, claims), force=True)
    return claims


def _run(
    name: str, joint: Joint, lams: Sequence[float], seeds: Sequence[int], n_jobs: int, tick: Tick
) -> pd.DataFrame:
    lam = FIGURES[name].lam
    if lam is not None:
        return convergence(joint, lam, seeds, n_jobs=n_jobs, tick=tick)
    if name == "fig3":
        return merging(joint)
    return frontier(joint, lams, seed=seeds[0], n_jobs=n_jobs, tick=tick)


def _judge(name: str, joint: Joint, ours: pd.DataFrame) -> Iterator[Claim]:
    paper = paper_points(name)
    if name == "fig3":
        return judge_merging(joint, ours, paper)
    if FIGURES[name].lam is not None:
        return judge_convergence(ours, paper)
    return judge_frontier(joint, ours, paper)


def _save(directory: Path, name: str, joint: Joint, frame: pd.DataFrame) -> None:
    path = directory / FIGURES[name].file
    write_text(path.with_suffix(".csv"), frame.to_csv(index=False, lineterminator="\n"), force=True)
    with atomic_path(path.with_suffix(".png"), force=True) as part:
        draw(name, joint, frame).savefig(part, format="png")


def summary(table: pd.DataFrame, joints: dict[str, Joint], claims: Sequence[Claim]) -> str:
    """The verdicts as a page of Markdown."""
    settings = {FIGURES[name].setting: joint for name, joint in joints.items()}
    held = sum(claim.holds for claim in claims)
    lines = [
        "# Ding & Sadeghi (2019), reproduced",
        "",
        f"{len(table)} records; {held} of {len(claims)} claims hold. Information is in bits.",
        "",
        *(
            f"- {setting}: {joint.n_s} and {joint.n_x} symbols, H(S) = {joint.entropy_s:.6f}, "
            f"H(X) = {joint.entropy_x:.6f}, I(S;X) = {joint.information:.6f}"
            for setting, joint in settings.items()
        ),
    ]
    for section, group in groupby(claims, key=lambda claim: claim.section):
        lines += [
            "",
            f"## {section}",
            "",
            "| claim | paper | ours | verdict |",
            "|---|---|---|---|",
        ]
        lines += [f"| {c.text} | {c.paper} | {c.ours} | {c.verdict} |" for c in group]
    return "\n".join(lines) + NOTES
