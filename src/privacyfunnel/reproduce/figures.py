"""The pictures of the paper's figures, with the paper's points, where there are any, beside ours.

``docs/images/paper-*.png`` are copies of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from privacyfunnel.information import share
from privacyfunnel.joint import Joint
from privacyfunnel.limits import limit
from privacyfunnel.reproduce.runs import FIGURES, PROBLEMS, THETA, paper_points, select

# A problem has one colour and one marker everywhere, pale for its pairwise method; the paper's
# points are grey and hollow, drawn on top, so that where they agree both are seen.
COLOURS = {"pf": "#b2182b", "ib": "#2166ac"}
PALE = {"pf": "#f4a582", "ib": "#92c5de"}
MARKERS = {"pf": "o", "ib": "s"}
TITLES = {"pf": "privacy funnel (PF)", "ib": "information bottleneck (IB)"}
PAPER: dict[str, Any] = {"color": "#606060", "markerfacecolor": "none", "zorder": 5}


def draw(figure: str, joint: Joint, ours: pd.DataFrame) -> Figure:
    """The figure with the paper's points beside ours."""
    paper, plan = paper_points(figure), FIGURES[figure]
    canvas = Figure(figsize=(9.0, 4.6), dpi=160, layout="constrained")
    lam = "" if plan.lam is None else f", λ = {plan.lam}"
    canvas.suptitle(plan.setting + lam, fontsize=11)
    if figure == "fig3":
        draw_merging(canvas.subplots(), ours, paper)
        return canvas
    same_axes = figure.startswith("fig2")
    panels = canvas.subplots(1, 2, sharex=same_axes, sharey=same_axes)
    for axes, problem in zip(panels, PROBLEMS, strict=True):
        axes.set_title(TITLES[problem], fontsize=10)
        mine, theirs = select(ours, problem=problem), select(paper, problem=problem)
        if same_axes:
            draw_frontier(axes, joint, problem, mine, theirs)
        else:
            draw_convergence(axes, problem, mine, theirs)
    panels[0].set_ylabel(
        r"$I(S;\hat{X})\,/\,H(S)$"
        if same_axes
        else r"$L = I(S;\hat{X}) - \lambda\, I(X;\hat{X})$ in bits"
    )
    return canvas


def draw_convergence(axes: Axes, problem: str, ours: pd.DataFrame, paper: pd.DataFrame) -> None:
    """Figure 1: the run of the first seed in full colour, those of other seeds pale behind it."""
    shown = ours["seed"].iloc[0]
    marker = MARKERS[problem]
    for variant, style, label in (("default", "-", "default"), ("paper", ":", "one start")):
        for seed, trace in select(ours, variant=variant).groupby("seed"):
            x, y = trace["k"], trace["lagrangian_bits"]
            if seed == shown:
                line: dict[str, Any] = {"label": f"ours, {label}", "zorder": 4}
                axes.plot(x, y, style, marker=marker, markersize=4, color=COLOURS[problem], **line)
            else:
                axes.plot(x, y, style, color=PALE[problem], linewidth=0.8)
    if ours["seed"].nunique() > 1:
        axes.plot([], [], color=PALE[problem], linewidth=0.8, label="ours, other seeds")
    if len(paper):
        x, y = paper["k"], paper["lagrangian_bits"]
        axes.plot(x, y, marker=marker, markersize=7, linewidth=1.0, label="paper", **PAPER)
    first, later = ours["lagrangian_bits"].iloc[0], ours.loc[ours["k"] > 1, "lagrangian_bits"]
    low, high = later.min(), later.max()
    if problem == "ib" and low < high:  # the first merge does nearly all: show what comes after it
        axes.set_ylim(low - 0.15 * (high - low), high + 0.08 * (high - low))
        note = f"not shown: {first:.3f} at $k = 1$".replace("-", "−")
        axes.text(0.03, 0.97, note, transform=axes.transAxes, va="top", fontsize=9)
    axes.set_xlabel("iteration $k$ (1 = before the first merge)")
    axes.set_xlim(left=0.3)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper right" if problem == "pf" else "lower right", frameon=False, fontsize=9)


def draw_frontier(
    axes: Axes, joint: Joint, problem: str, ours: pd.DataFrame, paper: pd.DataFrame
) -> None:
    """Figure 2: what the methods reach, and the limit."""
    margin = 0.03
    utility = np.linspace(-margin, 1.0 + margin, 500)
    name = PROBLEMS[problem].problem
    bound = [share(limit(joint, name, u * joint.entropy_x), joint.entropy_s) for u in utility]
    edge = -margin if problem == "pf" else 1.0 + margin
    axes.fill_between(-utility, bound, edge, color="#ececec", linewidth=0, zorder=0)
    axes.plot(-utility, bound, color="black", linewidth=1.0, label="limit: no code in the shade")
    for method, marker, label in (
        ("pairwise", "D", "pairwise"),
        ("iac-mdsf", MARKERS[problem], "IAC-MDSF"),
    ):
        colour = (PALE if method == "pairwise" else COLOURS)[problem]
        mine, theirs = select(ours, method=method), select(paper, method=method)
        style: dict[str, Any] = {"marker": marker, "markersize": 5, "linestyle": "none"}
        x, y = -mine["utility_over_HX"], mine["leakage_over_HS"]
        axes.plot(x, y, color=colour, markeredgewidth=0, label=f"ours, {label}", **style)
        if len(theirs):
            x, y = -theirs["utility_over_HX"], theirs["leakage_over_HS"]
            axes.plot(x, y, markeredgewidth=0.8, label=f"paper, {label}", **style, **PAPER)
    axes.set_xlabel(r"$-I(X;\hat{X})\,/\,H(X)$")
    axes.set_xlim(-1.0 - margin, margin)
    axes.set_ylim(-margin, 1.0 + margin)
    axes.legend(loc="upper right" if problem == "pf" else "lower left", frameon=False, fontsize=9)


def draw_merging(axes: Axes, ours: pd.DataFrame, paper: pd.DataFrame) -> None:
    """Figure 3: pairwise merging, merge by merge."""
    for problem, quantity in (("pf", r"$I(S;\hat{X})$"), ("ib", r"$I(X;\hat{X})$")):
        mine, theirs = (select(table, problem=problem) for table in (ours, paper))
        label = f"{quantity}, {problem.upper()}"
        own_label = f"ours, {label}, θ = {THETA[problem]} bits"
        axes.plot(mine["k"], mine["information_bits"], color=COLOURS[problem], label=own_label)
        style: dict[str, Any] = {"marker": MARKERS[problem], "markersize": 4, "linestyle": "none"}
        if len(theirs):
            x, y = theirs["k"], theirs["information_bits"]
            axes.plot(x, y, markeredgewidth=0.6, label=f"paper, {label}", **style, **PAPER)
    axes.set_xlabel("iteration $k$ (1 = before the first merge)")
    axes.set_ylabel("bits")
    axes.set_ylim(bottom=0.0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9)
