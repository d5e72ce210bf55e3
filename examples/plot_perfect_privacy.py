"""
Releases that tell nothing at all about S
=========================================

How much of X can be published with *no* leakage, S and X̂ independent? It depends on how finely S is to
be protected. Each released symbol must be a mixture of values of X whose ages and sexes together look
like those of all patients, and the finer S is, the fewer such mixtures there are.

``pf.perfect_privacy`` finds the release that keeps most. Here S is the sex alone, then age and sex with
more and more classes of age; X is sex and cholesterol of the bundled table, in bins.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

import privacyfunnel as pf

table = pf.datasets.load_demo()
CLASSES = [1, 2, 3, 4, 6]


def protected(classes: int) -> pf.Joint:
    """The joint when age is protected in so many classes, and sex with it."""
    sensitive, rules = (["sex"], ["chol=10"]) if classes == 1 else (["age", "sex"], ["chol=10"])
    rules = rules if classes == 1 else [*rules, f"age={classes}"]
    bins = pf.ColumnRules.parse(bins=rules)
    return pf.Joint.from_table(table, sensitive, ["sex", "chol"], columns=bins)


joints = [protected(classes) for classes in CLASSES]
private = [pf.perfect_privacy(joint, effort="fast") for joint in joints]
kept = np.array([s.utility / j.entropy_x for s, j in zip(private, joints, strict=True)])
for classes, joint, solution, share in zip(CLASSES, joints, private, kept, strict=True):
    print(
        f"{classes} classes of age: keeps {share:.3f} of H(X), gives away {solution.leakage:.1e} bits"
        f" where X gives away {joint.information:.3f}"
    )

# %%
# Left: what can be kept for nothing, beside the most that the limit would allow: 1 − I(S;X)/H(X).
# Right: what somebody who sees one symbol knows about S, with two classes of age. The values of X as they
# are point to one sex for certain; the released symbols leave everybody with the odds of all patients.

ceiling = [1 - joint.information / joint.entropy_x for joint in joints]
joint, solution = joints[1], private[1]
seen_x = joint.p_sx.toarray() / joint.p_x
p_released = joint.p_sx @ solution.code.matrix
seen_xhat = p_released.toarray() / p_released.toarray().sum(axis=0)

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#9a9a9a"  # told apart by the colour-blind too
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
places = np.arange(len(CLASSES))
left.bar(places, kept, 0.62, color=BLUE, label="kept with no leakage")
left.plot(places, ceiling, "_", ms=34, mew=2, color="#333333", label="no release can keep more")
left.set_xticks(places, ["sex\nalone", *(f"{c} ages,\nsex" for c in CLASSES[1:])])
left.set_ylim(0, 1)
left.set_xlabel("what is protected")
left.set_ylabel("share of the information in X, I(X;X̂)/H(X)")
left.legend(frameon=False)
rng = np.random.default_rng(0)
for k, (age, sex) in enumerate(joint.labels_s):
    for side, colour, offset in ((seen_x, GREY, -0.18), (seen_xhat, ORANGE, 0.18)):
        spread = k + offset + rng.uniform(-0.07, 0.07, side.shape[1])
        right.plot(spread, side[k], ".", ms=6, color=colour)
    print(f"age {age}, sex {sex}: {joint.p_s[k]:.3f} of all patients")
right.plot([], [], ".", ms=9, color=GREY, label="seeing a value of X")
right.plot([], [], ".", ms=9, color=ORANGE, label="seeing a released symbol")
right.set_xticks(
    range(joint.n_s), [f"age {age}\nsex {sex}" for age, sex in joint.labels_s], fontsize=8
)
right.set_ylim(-0.02, 1.02)
right.set_ylabel("chance that the patient is of this group")
right.legend(frameon=False)
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
plt.show()
