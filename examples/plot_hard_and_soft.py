"""
A release with groups and a release by lot
==========================================

A hard release puts every value of X into one group. A soft release draws a symbol by lot, with odds that
depend on the value. For the same utility it gives away less. Both are shown here with at least half of
the information in X kept, and what one draw of 442 records shows beside what the rule promises.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

import privacyfunnel as pf

bins = pf.ColumnRules.parse(bins=["chol=10", "age=6"])
table = pf.datasets.load_demo()
joint = pf.Joint.from_table(table, ["age", "sex"], ["sex", "chol"], columns=bins)

# %%
# The two releases that keep at least half of H(X).

hard = pf.frontier(joint, targets=[0.4, 0.5, 0.6], effort="fast").at(utility=0.5)
soft = pf.frontier(joint, method="soft", targets=[0.4, 0.5, 0.6], effort="fast").at(utility=0.5)
for name, release in (("hard", hard), ("soft", soft)):
    print(
        f"{name}: keeps {release.utility / joint.entropy_x:.3f} of H(X), gives away "
        f"{release.leakage / joint.entropy_s:.4f} of H(S) with {release.n_symbols} symbols"
    )

# %%
# What is promised is about the rule. One file with 442 draws has an accidental share on top, the more
# symbols there are the more, so the report of ``funnel release --soft`` gives both figures.

rng = np.random.default_rng(0)
rule = soft.code.matrix.toarray()


def drawn_leakage() -> float:
    """I(S;X̂)/H(S) as counted in one table of draws."""
    counts = np.zeros((joint.n_s, rule.shape[1]))
    cells = joint.counts.tocoo()
    for s, x, n in zip(*cells.coords, cells.data, strict=True):
        counts[s] += rng.multinomial(int(n), rule[x])
    return pf.Joint.from_counts(counts).information / joint.entropy_s


draws = [drawn_leakage() for _ in range(20)]
print(f"in one file of draws: {np.mean(draws):.3f} of H(S), {min(draws):.3f} to {max(draws):.3f}")

# %%
# The two codes as odds: a row for every value of X, a column for every released symbol. Each group and
# each lot brings together values from all over: that is how a symbol comes to look like everybody.

names = [f"{chol}" for _, chol in joint.labels_x]
figure, panels = plt.subplots(1, 2, figsize=(10, 5.6), layout="constrained", sharey=True)
for axes, title, release in zip(panels, ("hard", "soft"), (hard, soft), strict=True):
    odds = release.code.matrix.toarray()
    odds = odds[:, np.argsort(odds.argmax(axis=0), kind="stable")]
    image = axes.imshow(odds, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    share = release.leakage / joint.entropy_s
    axes.set_title(f"{title}: {100 * share:.2f}% of S given away", fontsize=11)
    axes.set_xlabel(f"released symbol (of {release.n_symbols})")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_yticks(range(joint.n_x), names, fontsize=8)
    axes.axhline(joint.n_x / 2 - 0.5, color="#d55e00", lw=1.5)
panels[0].set_ylabel("cholesterol of X (above the line sex 1, below sex 2)")
figure.colorbar(image, ax=panels, label="odds of the symbol, p(x̂ given x)", shrink=0.7)
figure.suptitle("At least half of the information in X is kept", fontsize=11)
plt.show()
