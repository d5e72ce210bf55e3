"""
The figures of Ding & Sadeghi (2019), in small
==============================================

The paper shows three things: how L = I(S;X̂) − λ I(X;X̂) changes while IAC-MDSF merges symbols (its
figure 1), the points that a sweep over λ reaches beside those of pairwise merging (figure 2), and how
slowly pairwise merging gets there (figure 3). Here they are for the bundled table with its cholesterol
in bins, in seconds.

With the paper's own patients, ``python examples/plot_paper_figures.py hungarian.data`` draws the paper's
points as well. ``funnel reproduce`` does all of it in full, with ten seeds and a verdict on each claim.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import privacyfunnel as pf
from privacyfunnel.reproduce.figures import draw_convergence, draw_frontier, draw_merging
from privacyfunnel.reproduce.runs import by_appearance, convergence, merging, paper_points, select

# Arguments count where this script is the command, not where something else runs it.
ARGUMENTS = sys.argv[1:] if Path(sys.argv[0]).name == Path(__file__).name else []
SENSITIVE, PUBLIC = ["age", "sex"], ["sex", "chol"]
# The paper's λ is 0.8; there the bottleneck of the bundled table would merge everything at once.
LAM = {"pf": 0.8, "ib": 0.8 if ARGUMENTS else 0.55}
NAMES = {"pf": "funnel", "ib": "bottleneck"}

if ARGUMENTS:
    patients = pf.datasets.read_hungarian(ARGUMENTS[0])
    joint = pf.Joint.from_table(patients, SENSITIVE, PUBLIC)
    # Where merges cost the same, the order of the symbols decides; that of the records comes near.
    ordered = by_appearance(joint, patients, PUBLIC)
    paper = {figure: paper_points(figure) for figure in ("fig1a", "fig2a", "fig3")}
else:
    bins = pf.ColumnRules.parse(bins=["chol=30"])
    joint = pf.Joint.from_table(pf.datasets.load_demo(), SENSITIVE, PUBLIC, columns=bins)
    ordered = joint
    paper = {figure: paper_points(figure).iloc[:0] for figure in ("fig1a", "fig2a", "fig3")}
print(joint)

# %%
# Figure 1: every iteration merges the best set of symbols that was found, so L falls for the funnel and
# rises for the bottleneck. One random start for each merge is the paper's way; the default takes several.

runs = {lam: convergence(joint, lam, [0], n_jobs=1, tick=lambda: None) for lam in LAM.values()}
traces = pd.concat([select(runs[LAM[problem]], problem=problem) for problem in NAMES])

# %%
# Figure 2: the points that IAC-MDSF reaches over λ, and those of pairwise merging over its threshold.

swept = [
    pf.frontier(joint, NAMES[problem], method, **options)
    .to_frame()
    .assign(problem=problem, method=method)
    for problem in NAMES
    for method, options in (
        ("iac-mdsf", {"lams": np.linspace(0.1, 0.95, 12), "runs": 1, "starts": 2}),
        ("pairwise", {"n_points": 12}),
    )
]
paper_names = {"utility": "utility_over_HX", "leakage": "leakage_over_HS"}
points = pd.concat(swept).rename(columns=paper_names)

# %%
# Figure 3: one pair at a time, it takes many merges to get to the threshold.

merges = merging(ordered)
for problem in NAMES:
    many = select(merges, problem=problem)["k"].max() - 1
    few = select(traces, problem=problem, variant="default")["k"].max() - 1
    print(f"{NAMES[problem]}: {many} pairwise merges, {few} of IAC-MDSF")

# %%
# The pictures, drawn as those of ``funnel reproduce``; grey marks are the paper's, where there are any.
# One start can be unlucky: with the bundled table the bottleneck's finds no merge and ends where it
# began, at the point that is not shown, although merges would help.

figure, panels = plt.subplot_mosaic(
    [["1pf", "1ib"], ["2pf", "2ib"], ["3", "3"]], figsize=(10, 12), layout="constrained"
)
for problem, name in NAMES.items():
    axes = panels[f"1{problem}"]
    theirs = select(paper["fig1a"], problem=problem)
    draw_convergence(axes, problem, select(traces, problem=problem), theirs)
    axes.set_title(f"{name}: L while IAC-MDSF merges, λ = {LAM[problem]}", fontsize=10)
    axes.set_ylabel("L in bits")
    axes = panels[f"2{problem}"]
    theirs = select(paper["fig2a"], problem=problem)
    draw_frontier(axes, joint, problem, select(points, problem=problem), theirs)
    axes.set_title(f"{name}: what a sweep reaches", fontsize=10)
    axes.set_ylabel("I(S;X̂)/H(S)")
draw_merging(panels["3"], merges, paper["fig3"])
panels["3"].set_title("pairwise merging, merge by merge", fontsize=10)
plt.show()
