"""
The paper's points, our frontiers and the limit
===============================================

One picture of what there is to gain. Along the axis, how much of the public columns X a release keeps;
upwards, how much of the sensitive S it gives away. In the shaded part no release can be, whoever makes
it. *Hard* releases give every value of X one symbol, *soft* ones draw a symbol by lot.

With the patients of Ding & Sadeghi (2019) the paper's own points are shown as well. Their table is not
part of this package: download ``hungarian.data`` from UCI (Janosi, Steinbrunn, Pfisterer & Detrano
1989) and run

    python examples/plot_frontiers.py hungarian.data frontiers.png

which takes a minute or two. Without a table the bundled one is used, with its numbers in bins, and the
picture is there in seconds.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import privacyfunnel as pf
from privacyfunnel.plots import limit_curve
from privacyfunnel.reproduce.runs import paper_points

# Arguments count where this script is the command, not where something else runs it.
ARGUMENTS = sys.argv[1:] if Path(sys.argv[0]).name == Path(__file__).name else []
SENSITIVE, PUBLIC = ["age", "sex"], ["sex", "chol"]

if ARGUMENTS:
    patients = pf.datasets.read_hungarian(ARGUMENTS[0])
    joint = pf.Joint.from_table(patients, SENSITIVE, PUBLIC)
    targets, effort, paper = np.linspace(0.04, 0.64, 21), "normal", paper_points("fig2a")
else:
    bins = pf.ColumnRules.parse(bins=["chol=10", "age=6"])
    joint = pf.Joint.from_table(pf.datasets.load_demo(), SENSITIVE, PUBLIC, columns=bins)
    targets, effort, paper = np.linspace(0.15, 0.85, 5), "fast", paper_points("fig2b")  # no rows

# %%
# The two frontiers. A soft frontier starts from the codes of a hard one and is never above it.

jobs = 2 if ARGUMENTS else 1  # processes; starting them pays for long searches only
hard = pf.frontier(joint, targets=targets, effort=effort, n_jobs=jobs)
soft = pf.frontier(joint, method="soft", targets=targets, effort=effort, n_jobs=jobs)
nothing = pf.perfect_privacy(joint, effort=effort)
for name, found in (("hard", hard), ("soft", soft)):
    print(name, found.to_frame()[["utility", "leakage", "gap"]].round(4).to_string(), sep="\n")
private = nothing.utility / joint.entropy_x
print(f"kept without giving anything away: {private:.3f} of H(X)")

# %%
# The picture. Filled points meet the limit: these releases are proved optimal. Where all is proved,
# nothing more happens up to X itself, so the picture ends there.

BLUE, ORANGE, INK = "#0072b2", "#d55e00", "#333333"  # told apart by the colour-blind too
free = 1 - joint.information / joint.entropy_x  # below this utility the limit is zero
right = min(1.0, 1.87 * free)
x, limit = limit_curve(joint, "funnel")
top = 1.2 * np.interp(right, x, limit)

figure, axes = plt.subplots(figsize=(8.4, 5.0), layout="constrained")
axes.fill_between(x, limit, -1, color="#e9e9e9", lw=0)
axes.text(0.9 * right, 0.15 * top, "no release\ncan be here", ha="center", color=INK)
PAPER = (("pairwise", "D", "paper, pairwise merging"), ("iac-mdsf", "o", "paper, IAC-MDSF"))
for method, marker, words in PAPER if len(paper) else ():
    points = paper[(paper["problem"] == "pf") & (paper["method"] == method)]
    where = points["utility_over_HX"], points["leakage_over_HS"]
    axes.plot(*where, marker, ms=5, mfc="none", mec="#6a6a6a", mew=0.9, label=words)
axes.plot(x, limit, color=INK, lw=1.2, zorder=1, label="limit (filled points meet it)")
# Soft points are larger and behind the hard ones, so that both are seen where they agree.
OURS = (
    (soft, ORANGE, "s", 7.5, "ours, soft releases"),
    (hard, BLUE, "o", 4.5, "ours, hard releases"),
)
for found, colour, marker, size, words in OURS:
    frame, proved = found.to_frame(), np.array(found.proved)
    start = [0.0, private] if found is soft else [0.0]  # nothing is given away up to there
    line = np.append(start, frame.utility), np.append(np.zeros(len(start)), frame.leakage)
    axes.plot(*(values[np.argsort(line[0], kind="stable")] for values in line), color=colour, lw=2)
    look = {"ms": size, "color": colour}
    axes.plot([], [], f"{marker}-", mfc="white", lw=2, label=words, **look)
    axes.plot(frame.utility[proved], frame.leakage[proved], marker, **look)
    axes.plot(frame.utility[~proved], frame.leakage[~proved], marker, mfc="white", **look)
axes.legend(frameon=False, loc="upper left")
axes.set_xlim(0, right)
axes.set_ylim(-0.03 * top, top)
axes.set_xlabel("utility: share of the information in X that is kept, I(X;X̂)/H(X)")
axes.set_ylabel("leakage: share of S given away, I(S;X̂)/H(S)")
axes.set_title(
    f"{joint.n_records} patients: hide age and sex, publish sex and cholesterol", fontsize=11
)
axes.spines[["top", "right"]].set_visible(False)
if len(ARGUMENTS) > 1:
    figure.savefig(Path(ARGUMENTS[1]), dpi=150)
plt.show()
