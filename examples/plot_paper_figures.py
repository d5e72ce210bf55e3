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
from privacyfunnel.plots import limit_curve
from privacyfunnel.reproduce.runs import by_appearance, convergence, merging, paper_points, select

# Arguments count where this script is the command, not where something else runs it.
ARGUMENTS = sys.argv[1:] if Path(sys.argv[0]).name == Path(__file__).name else []
SENSITIVE, PUBLIC = ["age", "sex"], ["sex", "chol"]
# The paper's λ is 0.8; there the bottleneck of the bundled table would merge everything at once.
LAM = {"pf": 0.8, "ib": 0.8 if ARGUMENTS else 0.55}
COLOURS = {"pf": "#d55e00", "ib": "#0072b2"}  # told apart by the colour-blind too
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

points = {
    (problem, method): pf.frontier(joint, NAMES[problem], method, lams=lams, **options).to_frame()
    for problem in NAMES
    for method, lams, options in (
        ("iac-mdsf", np.linspace(0.1, 0.95, 12), {"runs": 1, "starts": 2}),
        ("pairwise", None, {"n_points": 12}),
    )
}

# %%
# Figure 3: one pair at a time, it takes many merges to get to the threshold.

merges = merging(ordered)
for problem in NAMES:
    many = select(merges, problem=problem)["k"].max() - 1
    few = select(traces, problem=problem, variant="default")["k"].max() - 1
    print(f"{NAMES[problem]}: {many} pairwise merges, {few} of IAC-MDSF")

# %%
# The pictures. Grey marks are the paper's, where there are any. One start can be unlucky: with the
# bundled table the bottleneck's finds no merge and ends where it began, although merges would help.

figure, panels = plt.subplot_mosaic(
    [["1pf", "1ib"], ["2pf", "2ib"], ["3", "3"]], figsize=(10, 10.5), layout="constrained"
)
GREY = {"color": "0.4", "mfc": "none"}
for problem in NAMES:
    axes = panels[f"1{problem}"]
    for variant, style, words in (
        ("default", "o-", "several starts"),
        ("paper", "s:", "one start"),
    ):
        trace = select(traces, problem=problem, variant=variant)
        look = {"ms": 4, "color": COLOURS[problem], "label": words}
        axes.plot(trace["k"], trace["lagrangian_bits"], style, **look)
    theirs = select(paper["fig1a"], problem=problem)
    if len(theirs):
        axes.plot(theirs["k"], theirs["lagrangian_bits"], "o-", label="paper", **GREY)
    axes.set_title(f"{NAMES[problem]}: L while IAC-MDSF merges, λ = {LAM[problem]}", fontsize=10)
    axes.set_xlabel("iteration (1 = before the first merge)")
    axes.set_ylabel("L in bits")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(frameon=False, loc="upper right" if problem == "pf" else "lower right")
for problem in NAMES:
    axes = panels[f"2{problem}"]
    x, limit = limit_curve(joint, NAMES[problem])
    axes.fill_between(x, limit, 0 if problem == "pf" else 1, color="#e9e9e9", lw=0)
    axes.plot(x, limit, color="#333333", lw=1.2, label="limit")
    for method, marker, face in (("iac-mdsf", "o", COLOURS[problem]), ("pairwise", "D", "white")):
        found = points[problem, method]
        look = {"ms": 5.5, "color": COLOURS[problem], "mfc": face, "label": method}
        axes.plot(found.utility, found.leakage, marker, **look)
        theirs = select(paper["fig2a"], problem=problem, method=method)
        if len(theirs):
            where = theirs["utility_over_HX"], theirs["leakage_over_HS"]
            axes.plot(*where, marker, ms=4, label=f"paper, {method}", **GREY)
    axes.set_title(f"{NAMES[problem]}: what a sweep reaches", fontsize=10)
    axes.set_xlabel("I(X;X̂)/H(X)")
    axes.set_ylabel("I(S;X̂)/H(S)")
    axes.set_ylim(0, 1.1 * joint.information / joint.entropy_s)
    axes.legend(frameon=False, loc="upper left" if problem == "pf" else "lower right")
axes = panels["3"]
for problem, quantity in (("pf", "I(S;X̂), funnel"), ("ib", "I(X;X̂), bottleneck")):
    mine, theirs = (select(table, problem=problem) for table in (merges, paper["fig3"]))
    axes.plot(mine["k"], mine["information_bits"], color=COLOURS[problem], lw=2, label=quantity)
    axes.plot(theirs["k"], theirs["information_bits"], "o", ms=3, **GREY)
axes.set_title("pairwise merging, merge by merge", fontsize=10)
axes.set_xlabel("iteration (1 = before the first merge)")
axes.set_ylabel("bits")
axes.legend(frameon=False)
plt.show()
