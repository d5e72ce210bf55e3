"""Claims about figure 2: who dominates whom, and how far the limit is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from privacyfunnel.information import Array
from privacyfunnel.joint import Joint
from privacyfunnel.limits import limit
from privacyfunnel.reproduce.claims import BETTER, EXACT, FEW, Claim
from privacyfunnel.reproduce.runs import PROBLEMS, select


def judge_frontier(joint: Joint, ours: pd.DataFrame, paper: pd.DataFrame) -> Iterator[Claim]:
    """Figure 2: IAC-MDSF against pairwise merging, against the paper's points, against the limit."""
    for problem in PROBLEMS:
        name = problem.upper()
        iac, pairs, one_start = (
            select(ours, problem=problem, method=method)
            for method in ("iac-mdsf", "pairwise", "iac-mdsf-paper")
        )
        iac_paper, pairs_paper = (
            select(paper, problem=problem, method=method) for method in ("iac-mdsf", "pairwise")
        )
        if len(paper):
            yield _same_pairwise(name, pairs, pairs_paper)
            yield _outperforms(problem, "the paper's", iac, pairs_paper, iac_paper)
        yield _outperforms(problem, "our", iac, pairs)
        yield _lower_lagrangian(joint, problem, iac, pairs)
        if len(paper):
            yield from _against_paper(joint, problem, iac, one_start, iac_paper)
        most, most_once = int(iac["iterations"].max()), int(one_start["iterations"].max())
        yield Claim(
            f"{name}: few iterations at every λ (at most {FEW})",
            "a few",
            f"most {most}; more than {FEW} at {(iac['iterations'] > FEW).sum()} of {len(iac)} λ "
            f"(one start: most {most_once})",
            most <= FEW,
        )
        crossing, meeting = _limit_counts(joint, problem, iac)
        crossing_paper, meeting_paper = _limit_counts(joint, problem, iac_paper)
        yield Claim(
            f"{name}: no point crosses the limit",
            f"{crossing_paper} cross, {meeting_paper} meet it" if len(paper) else "not published",
            f"{crossing} cross, {meeting} meet it and are proved optimal",
            crossing + crossing_paper == 0,
        )


def _outperforms(
    problem: str,
    whose: str,
    iac: pd.DataFrame,
    pairs: pd.DataFrame,
    iac_paper: pd.DataFrame | None = None,
) -> Claim:
    """Dominance both ways; a λ sweep leaves gaps in utility where nothing can be compared."""
    beaten, beating = _dominated(pairs, iac, problem), _dominated(iac, pairs, problem)
    paper = "in general"
    if iac_paper is not None:
        back = _dominated(iac_paper, pairs, problem)
        paper = (
            f"dominates {_dominated(pairs, iac_paper, problem)} of {len(pairs)}; "
            f"{back} of {len(iac_paper)} are dominated"
        )
    return Claim(
        f"{problem.upper()}: IAC-MDSF outperforms {whose} pairwise points (dominates most of them)",
        paper,
        f"dominates {beaten} of {len(pairs)}; {beating} of {len(iac)} are dominated",
        2 * beaten > len(pairs) and beating < beaten,
    )


def _lower_lagrangian(joint: Joint, problem: str, iac: pd.DataFrame, pairs: pd.DataFrame) -> Claim:
    lams = iac["lam"].to_numpy()
    own = BETTER[problem] * _lagrangians(joint, _points(iac), lams)
    best = np.array(
        [(BETTER[problem] * _lagrangians(joint, _points(pairs), lam)).max() for lam in lams]
    )
    as_good = int((own >= best - EXACT).sum())
    return Claim(
        f"{problem.upper()}: at each λ, L is as good as at the best of our pairwise points",
        "in general",
        f"at {as_good} of {len(lams)} λ; worst shortfall {max(0.0, (best - own).max()):.4f} bits",
        10 * as_good >= 9 * len(lams),
    )


def _lagrangians(joint: Joint, points: Array, lam: Array | float) -> Array:
    """L = I(S;X̂) − λ I(X;X̂) of normalised points."""
    value: Array = points[:, 1] * joint.entropy_s - lam * points[:, 0] * joint.entropy_x
    return value


def _same_pairwise(name: str, ours: pd.DataFrame, paper: pd.DataFrame) -> Claim:
    """Ours at the paper's thresholds come first, in its order."""
    differences = np.abs(_points(ours)[: len(paper)] - _points(paper)).max(axis=1)
    same = int((differences <= EXACT).sum())
    return Claim(
        f"{name}: pairwise merging gives the paper's points at their own thresholds",
        f"{len(paper)} points",
        f"{same} the same, largest difference {differences.max():.1e}",
        same == len(paper),
    )


def _against_paper(
    joint: Joint,
    problem: str,
    mine: pd.DataFrame,
    one_start: pd.DataFrame,
    paper: pd.DataFrame,
) -> Iterator[Claim]:
    """Per λ: the paper's IAC-MDSF points are in the order λ = 0, 0.01, ..., 1."""
    lams = mine["lam"].to_numpy()
    theirs = paper.iloc[np.rint(100 * lams).astype(int)]
    gains = [
        BETTER[problem] * _lagrangians(joint, _points(run) - _points(theirs), lams)
        for run in (mine, one_start)
    ]
    as_good = [int((gain >= -EXACT).sum()) for gain in gains]
    yield Claim(
        f"{problem.upper()}: L as good as the paper's at nine of ten λ",
        f"{len(lams)} λ",
        f"at {as_good[0]} of {len(lams)} λ (one start: {as_good[1]})",
        10 * as_good[0] >= 9 * len(lams),
    )
    stuck_paper, stuck, stuck_once = (
        int((run["utility_over_HX"].to_numpy()[(lams > 0) & (lams < 1)] > 1 - EXACT).sum())
        for run in (theirs, mine, one_start)
    )
    yield Claim(
        f"{problem.upper()}: λ strictly between 0 and 1 at which nothing is merged",
        f"{stuck_paper}",
        f"{stuck} (one start: {stuck_once})",
        stuck <= stuck_paper,
    )


def _points(table: pd.DataFrame) -> Array:
    return table[["utility_over_HX", "leakage_over_HS"]].to_numpy(dtype=float)


def _dominated(points: pd.DataFrame, by: pd.DataFrame, problem: str) -> int:
    """How many points have one of ``by`` that is nowhere worse and somewhere better."""
    # PF wants utility and no leakage, IB the reverse.
    good = np.array([1.0, -1.0]) * -BETTER[problem]
    gains: Array = (_points(by)[None, :, :] - _points(points)[:, None, :]) * good
    dominating = (gains.min(axis=2) >= -EXACT) & (gains.max(axis=2) > EXACT)
    return int(np.any(dominating, axis=1).sum())


def _limit_counts(joint: Joint, problem: str, table: pd.DataFrame) -> tuple[int, int]:
    """How many points lie beyond the limit, and how many on it apart from telling nothing or all."""
    crossing = meeting = 0
    for utility, leakage in _points(table):
        bound = limit(joint, PROBLEMS[problem].problem, utility * joint.entropy_x)
        room = -BETTER[problem] * (leakage * joint.entropy_s - bound)
        crossing += room < -EXACT
        meeting += abs(room) <= EXACT < utility < 1 - EXACT
    return int(crossing), int(meeting)
