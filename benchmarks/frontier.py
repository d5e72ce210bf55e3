"""How good and how fast is the hard frontier, and how does the bottleneck compare with sib-clustering?

Prints the leakage at the utilities of the paper's figure 2, for three seeds, with the limit; the
time of a whole frontier; and, for the bottleneck, relevance and time beside sib-clustering's at the
same number of clusters, from one run.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from data import setting

import privacyfunnel as pf
from privacyfunnel.objectives import leakage
from privacyfunnel.solvers.equal_profiles import equal_profiles
from privacyfunnel.solvers.moves import JointLayout, anneal
from privacyfunnel.solvers.target import Price

UTILITIES = [0.20, 0.255, 0.29, 0.327, 0.376, 0.41, 0.446, *np.arange(0.45, 0.96, 0.05).round(2)]
RATES = [0.31, 0.40, 0.53, 0.63, 0.70, 0.80]
SEEDS = [0, 1, 2]


def at_targets(joint: pf.Joint, problem: str, name: str, targets: list[float]) -> None:
    """What each target costs, by seed."""
    fronts = []
    for seed in SEEDS:
        start = time.perf_counter()
        fronts.append(pf.frontier(joint, problem, n_jobs=2, seed=seed))
        print(f"  seed {seed}: 40 targets in {time.perf_counter() - start:.1f} s on 2 processes")
    for target in targets:
        found = [front.at(**{name: target}).leakage / joint.entropy_s for front in fronts]
        bound = pf.limits.limit(joint, problem, target * joint.entropy_x) / joint.entropy_s
        print(
            f"  {name} {target:5.3f}  "
            + "  ".join(f"{v:.4f}" for v in found)
            + f"  limit {bound:.4f}"
        )


def against_sib(joint: pf.Joint) -> None:
    """Relevance at an equal number of clusters, and the ratio of the times."""
    from sib import SIB

    p_xs = joint.counts.toarray().T
    groups = equal_profiles(joint)
    layout = JointLayout(groups.push(joint))
    print("   k   sib-clustering      ours   time of sib / ours")
    for k in (5, 10, 20, 40, 60):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.perf_counter()
            labels = SIB(n_clusters=k, n_init=10, random_state=0, n_jobs=1).fit(p_xs).labels_
        theirs = time.perf_counter() - start
        start = time.perf_counter()
        rng = np.random.default_rng(0)
        best = max(
            leakage(layout.joint, pf.Partition(found))
            for _ in range(10)
            if (found := anneal(
                layout, rng.permutation(groups.n_symbols) % k, Price((-1.0, 0.0)), 100, rng, fixed=True
            )) is not None
        )  # fmt: skip
        ours = time.perf_counter() - start
        sib = leakage(joint, pf.Partition(np.asarray(labels, dtype=np.int64)))
        h = joint.entropy_s
        print(f"  {k:2d}   {sib / h:14.4f}  {best / h:8.4f}   {theirs / ours:18.1f}")


def main() -> None:
    pf.frontier(setting(1), targets=[0.4], n_jobs=2, effort="fast")  # compile
    pf.frontier(setting(1), "bottleneck", targets=[0.4], n_jobs=2, effort="fast")
    for number in (1, 2):
        print(f"Setting {number}, privacy funnel: leakage by seed")
        at_targets(setting(number), "funnel", "utility", UTILITIES)
        print(f"Setting {number}, information bottleneck: relevance by seed")
        at_targets(setting(number), "bottleneck", "rate", RATES)
    print("Setting 1, bottleneck at k clusters, ten starts each: relevance I(S;X̂)/H(S)")
    against_sib(setting(1))


if __name__ == "__main__":
    main()
