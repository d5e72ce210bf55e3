"""
The funnel and the bottleneck, two sides of one region
======================================================

Every release of X has two numbers: how much it keeps of X, and how much it tells about S. The privacy
funnel asks for the release that tells least at a given rate, the information bottleneck for the one that
tells most. Between the two curves lies everything that a release can be; outside, nothing.

S here is a patient's age and sex, X the sex and the cholesterol, in bins, from the bundled table.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

import privacyfunnel as pf
from privacyfunnel.objectives import leakage, utility
from privacyfunnel.plots import limit_curve

bins = pf.ColumnRules.parse(bins=["chol=10", "age=6"])
table = pf.datasets.load_demo()
joint = pf.Joint.from_table(table, ["age", "sex"], ["sex", "chol"], columns=bins)
print(joint)

# %%
# Both frontiers over soft codes: ``soft`` for the funnel, ``annealing`` for the bottleneck.

targets = np.linspace(0.1, 0.9, 7)
funnel = pf.frontier(joint, "funnel", "soft", targets=targets, effort="fast")
bottleneck = pf.frontier(joint, "bottleneck", "annealing", targets=targets, effort="fast")

# %%
# Releases made without a plan: a few hundred random groupings of X, coarse and fine.

rng = np.random.default_rng(0)
sizes = rng.integers(2, joint.n_x + 1, size=300)
random = [pf.Partition(rng.integers(size, size=joint.n_x)) for size in sizes]
cloud = np.array([(utility(joint, code), leakage(joint, code)) for code in random])
cloud /= joint.entropy_x, joint.entropy_s

# %%
# The picture: a random release tells about S in proportion to what it keeps of X, more or less. Asked for
# little, the funnel gives away almost nothing and the bottleneck nearly as much as there is. The thin
# lines are the limits that hold whatever the search; where a curve touches its line it is proved.

LOW, HIGH = "#d55e00", "#0072b2"  # told apart by the colour-blind too
below, above = funnel.to_frame(), bottleneck.to_frame()
x = np.linspace(0, 1, 200)
floor = np.interp(x, np.append(0, below.utility), np.append(0, below.leakage))
ceiling = np.interp(x, above.utility, above.leakage)

figure, axes = plt.subplots(figsize=(7.6, 4.8), layout="constrained")
axes.fill_between(x, floor, ceiling, color="#f1f1f1", lw=0)
axes.plot(*cloud.T, ".", ms=4, color="0.55", label="random groupings")
axes.plot(x, ceiling, color=HIGH, lw=2, label="bottleneck: tell as much as possible")
axes.plot(x, floor, color=LOW, lw=2, label="funnel: tell as little as possible")
for problem, colour in (("bottleneck", HIGH), ("funnel", LOW)):
    axes.plot(*limit_curve(joint, problem), "--", color=colour, lw=1, label=f"limit, {problem}")
axes.plot(1, joint.information / joint.entropy_s, "*", ms=14, color="#222222", clip_on=False)
axes.annotate("X as it is", (1, joint.information / joint.entropy_s), (-64, 8),
              textcoords="offset points")  # fmt: skip
axes.set_xlim(0, 1.0)
axes.set_ylim(0, 1.45 * joint.information / joint.entropy_s)
axes.set_xlabel("kept of X: I(X;X̂)/H(X)")
axes.set_ylabel("told about S: I(S;X̂)/H(S)")
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False, loc="upper left", ncols=2, fontsize=9)
plt.show()
