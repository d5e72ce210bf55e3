"""
A release for a purpose
=======================

442 diabetes patients (the table that comes with scikit-learn). Body mass index, blood pressure and HDL
cholesterol are to be published for one purpose, to tell whose disease progresses fast, and should give
away little of the patients' sex. The plain funnel keeps bits of the three columns, whatever they
are good for; told the purpose, it keeps what they say about the progress.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import privacyfunnel as pf

patients = load_diabetes(as_frame=True, scaled=False)
table = patients.data[["sex", "bmi", "bp", "s3"]].rename(columns={"s3": "hdl"})
table["fast"] = patients.target > patients.target.median()
rules = pf.ColumnRules.parse(bins=["bmi=3", "bp=3", "hdl=3"])
joint = pf.Joint.from_table(table, "sex", ["bmi", "bp", "hdl"], useful="fast", columns=rules)
print(joint)
print(
    f"The columns tell {joint.useful.information:.3f} of {joint.entropy_y:.3f} bits of the progress."
)

# %%
# The same search twice: once it keeps the columns, once what they say about the progress. Both are then
# judged by what is left about the progress.

shares = np.linspace(0.1, 0.9, 9)
plain = pf.frontier(joint, targets=shares, effort="fast")
purpose = pf.frontier(joint, keep="useful", targets=shares, effort="fast")
use = pf.Funnel(0.0, keep="useful")


def kept_of_use(frontier: pf.Frontier) -> np.ndarray:
    """What each release keeps of what the columns say about the progress, and what it gives away."""
    whole = use.whole_utility(joint)
    rows = [(use.utility(joint, s.code) / whole, s.leakage / joint.entropy_s) for s in frontier]
    return np.array(rows)


by_columns, by_purpose = kept_of_use(plain), kept_of_use(purpose)
for share in (0.5, 0.8):
    leaks = [points[points[:, 0] >= share, 1].min() for points in (by_columns, by_purpose)]
    print(
        f"{share:.0%} of the progress kept: {leaks[0]:.2%} of the sex given away, "
        f"{leaks[1]:.2%} told the purpose"
    )

# %%
# Told what they are for, the columns can be published at a fraction of the leakage.

figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
axes.plot(*by_columns.T, "o-", label="keeps the columns")
axes.plot(*by_purpose.T, "o-", label="keeps what they say about the progress")
axes.set(xlabel="kept of what the columns say about the progress", ylabel="given away of the sex")
axes.legend()
plt.show()
