"""
Bits, guesses and the worst case
================================

Few bits are no promise about one guess, and a rare guess may be nearly certain although few bits are
given away. The same table is searched by three measures: Shannon's information, the gain of the best
guess, and maximal leakage, which bounds the gain for all that depends on S. Each is the best by its
own measure, and what it costs by the others is shown.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

import privacyfunnel as pf

rng = np.random.default_rng(1)
p_s = np.array([0.62, 0.3, 0.08])
given_s = rng.dirichlet(np.full(9, 0.8), size=3)
joint = pf.Joint.from_counts(np.round(4000 * p_s[:, None] * given_s) + 1)
MEASURES = ("shannon", "guessing", "maximal-leakage")

# %%
# Nine values are few enough for all partitions, so that each release is the very best of its measure.

shares = np.linspace(0.1, 1.0, 10)
frontiers = {measure: pf.frontier(joint, measure=measure, targets=shares) for measure in MEASURES}
at_half = {measure: frontier.at(utility=0.6) for measure, frontier in frontiers.items()}
for asked, found in at_half.items():
    for judged in MEASURES:
        measure = pf.measures.make_measure(judged)
        reading = measure(joint.p_sx @ found.code.matrix)
        print(f"searched by {asked}: {measure.sentence('S', reading, joint.p_s)}")

# %%
figure, panels = plt.subplots(1, 3, figsize=(10.5, 3.6), layout="constrained")
for panel, judged in zip(panels, MEASURES, strict=True):
    measure = pf.measures.make_measure(judged)
    for asked, frontier in frontiers.items():
        points = [(s.code, joint.p_sx @ s.code.matrix) for s in frontier]
        kept = [pf.Funnel(0.0).utility(joint, code) / joint.entropy_x for code, _ in points]
        panel.plot(kept, [measure(p) for _, p in points], "o-", ms=3, label=f"searched by {asked}")
    panel.set(title=measure.title, xlabel="utility kept")
panels[0].legend(fontsize=8)
plt.show()
