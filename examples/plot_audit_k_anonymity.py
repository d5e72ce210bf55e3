"""
What k-anonymous data still tell
================================

A table is k-anonymous when every combination of published values is shared by at least k records. A
common way there is generalisation: cholesterol is published in fewer and wider classes until each group
is large enough. Nobody can be singled out by it, but k says nothing about what a group as a whole tells
of its members. ``pf.audit`` measures that, on any tool's output.

The bundled table again: age and sex are sensitive, sex and cholesterol are published. For each k the
generalised columns are audited, and beside them stands the funnel's release with the same utility and
the same k (``min_count``).
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import privacyfunnel as pf
from privacyfunnel.limits import least_leakage

SENSITIVE, PUBLIC, KS = ["age", "sex"], ["sex", "chol"], [5, 10, 20, 40]
patients = pf.datasets.load_demo()
patients["age"] = patients["age"] // 10 * 10  # ages are sensitive by the decade here
patients["chol"] = patients["chol"] // 4 * 4  # fewer values are searched faster
joint = pf.Joint.from_table(patients, SENSITIVE, PUBLIC)


def k_anonymous(k: int) -> pd.DataFrame:
    """The patients with cholesterol in as many classes of equal size as leave groups of at least k."""
    for n_classes in range(30, 0, -1):
        classes = pd.qcut(patients["chol"], n_classes, labels=False, duplicates="drop")
        published = patients.assign(classes=classes)
        if published.groupby(["sex", "classes"]).size().min() >= k:
            return published
    raise ValueError(f"no generalisation gives k = {k}")


# %%
# Both kinds of release for each k. The audit needs the sensitive columns beside the published ones; its
# shuffles and attackers are left out here to be quick.

quick = pf.Trials(permutations=0, bootstraps=0, attackers=False)
rows = []
for k in KS:
    table = k_anonymous(k)
    audit = pf.audit(table, SENSITIVE, ["sex", "classes"], trials=quick)
    # The classes are a function of X, so I(X;X̂) = H(X̂).
    utility = pf.Joint.from_table(table, SENSITIVE, ["sex", "classes"]).entropy_x
    share = utility / joint.entropy_x
    funnel = pf.frontier(joint, targets=[share], effort="fast", min_count=k).at(utility=share)
    rows.append(
        {
            "k": k,
            "utility": share,
            "k found": audit["k"].value,
            "generalised": audit["leakage"].value,
            "guess": audit["guess_seeing"].value,
            "funnel": funnel.leakage / joint.entropy_s,
            "limit": least_leakage(joint, utility) / joint.entropy_s,
        }
    )
results = pd.DataFrame(rows)
print(results.round(3).to_string(index=False))

# %%
# With k = 5 nine tenths of X are kept, and much of what X tells must then be told by any release. A
# larger k keeps less and less of X, but the generalised columns go on to tell most of what they told:
# they keep the sex as it is, which is sensitive, and k-anonymity has no way to know that it should not.
# The funnel's releases of the same utility and the same k soon give away a small fraction of it.

BLUE, ORANGE, INK = "#0072b2", "#d55e00", "#333333"  # told apart by the colour-blind too
figure, axes = plt.subplots(figsize=(8, 4.4), layout="constrained")
places = np.arange(len(KS))
bars = axes.bar(
    places - 0.2, results["generalised"], 0.38, color=ORANGE, label="generalised classes"
)
axes.bar_label(bars, fmt="%.2g", padding=2)
bars = axes.bar(
    places + 0.2, results["funnel"], 0.38, color=BLUE, label="funnel, same k and utility"
)
axes.bar_label(bars, fmt="%.2g", padding=2)
axes.plot(
    places + 0.2, results["limit"], "_", ms=26, mew=2, color=INK, label="limit at this utility"
)
names = [
    f"k = {k}\nkeeps {share:.0%} of X" for k, share in zip(KS, results["utility"], strict=True)
]
axes.set_xticks(places, names)
axes.set_ylabel("share of age and sex given away, I(S;X̂)/H(S)")
axes.set_ylim(0, 1.2 * results["generalised"].max())
axes.set_title("k-anonymity limits the size of a group, not what the group tells", fontsize=11)
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False)
plt.show()
