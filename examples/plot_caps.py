"""
Several secrets, each with its cap
==================================

A made-up survey: sex and region are both sensitive, the occupation is to be published. One bound on both
together says nothing about either. Each secret gets a cap of its own, in its own measure if need
be, and as much of the occupation is kept as the caps allow.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

import privacyfunnel as pf

rng = np.random.default_rng(4)
jobs = [f"job {k}" for k in range(10)]
secrets = [(sex, region) for sex in ("f", "m") for region in ("north", "south", "islands")]
leaning = np.concatenate([rng.dirichlet(np.full(10, 2.0)) for _ in secrets]).reshape(6, 10)
counts = np.array(
    [rng.multinomial(n, p) for n, p in zip((900, 500, 90, 800, 600, 110), leaning, strict=True)]
)
joint = pf.Joint.from_counts(
    counts, secrets, jobs, columns=["occupation"], sensitive=["sex", "region"]
)

# %%
# One demand: at most 1% of the information about the sex, and the best guess of the region hardly
# better than a blind one.

found = pf.solve_capped(joint, {"sex": 0.01, "region": "guessing:0.02"}, effort="fast")
for name, told in found.told.items():
    print(f"{name}: {told:.2%} given away")
print(f"kept: {found.utility / joint.entropy_x:.1%} of the occupation in {found.n_symbols} groups")

# %%
# A table of demands. Where a cap is tight, loosening the other one gains little.

caps = [0.002, 0.01, 0.03, 0.1]
kept = np.array(
    [
        [
            pf.solve_capped(joint, {"sex": a, "region": b}, effort="fast").utility / joint.entropy_x
            for b in caps
        ]
        for a in caps
    ]
)
print(kept.round(2))

# %%
figure, axes = plt.subplots(figsize=(5.6, 4.4), layout="constrained")
image = axes.imshow(kept, origin="lower", cmap="viridis", vmin=0, vmax=1)
axes.set_xticks(range(len(caps)), [f"{c:.1%}" for c in caps])
axes.set_yticks(range(len(caps)), [f"{c:.1%}" for c in caps])
axes.set(xlabel="cap of the region", ylabel="cap of the sex")
figure.colorbar(image, label="kept of the occupation")
plt.show()
