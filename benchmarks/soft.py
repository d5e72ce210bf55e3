"""How good and how fast are soft releases, and how does the bottleneck compare with embo?

Prints, for three seeds, the leakage of the soft funnel at the utilities of the paper's figure 2
beside the hard frontier's and the limit; what can be told without any leakage; and, from one run,
relevance and time of the soft bottleneck beside embo's at embo's own rates.
"""

from __future__ import annotations

import time

import numpy as np
from data import setting

import privacyfunnel as pf

UTILITIES = [0.20, 0.23, 0.255, 0.29, 0.327, 0.376, 0.41, 0.446, 0.5, 0.6, 0.7, 0.8, 0.9]
RATES = [0.11, 0.41, 0.58, 0.68, 0.79]
SEEDS = [0, 1, 2]


def row(name: str, target: float, values: list[float], more: str = "") -> None:
    print(f"  {name} {target:5.3f}  " + "  ".join(f"{v:9.6f}" for v in values) + more)


def funnel(joint: pf.Joint) -> None:
    """Leakage by seed, the hard frontier's and the limit; utility without leakage."""
    hard = pf.frontier(joint, n_jobs=2)
    fronts = []
    for seed in SEEDS:
        start = time.perf_counter()
        fronts.append(pf.frontier(joint, method="soft", n_jobs=2, seed=seed))
        print(f"  seed {seed}: 20 targets in {time.perf_counter() - start:.1f} s on 2 processes")
    h = joint.entropy_s
    for target in UTILITIES:
        found = [front.at(utility=target).leakage / h for front in fronts]
        beside = hard.at(utility=target).leakage / h
        bound = pf.limits.limit(joint, "funnel", target * joint.entropy_x) / h
        row("utility", target, found, f"  hard {beside:.6f}  limit {bound:.6f}")
    private = [pf.perfect_privacy(joint, seed=s).utility / joint.entropy_x for s in SEEDS]
    row("leakage", 0.0, private, "  utility without any leakage")


def bottleneck(joint: pf.Joint) -> None:
    """Relevance by seed, and the hard frontier's."""
    hard = pf.frontier(joint, "bottleneck", targets=RATES, n_jobs=2)
    fronts = [
        pf.frontier(joint, "bottleneck", "annealing", targets=RATES, seed=seed) for seed in SEEDS
    ]
    h = joint.entropy_s
    for target in RATES:
        found = [front.at(rate=target).leakage / h for front in fronts]
        row("rate", target, found, f"  hard {hard.at(rate=target).leakage / h:.6f}")


def against_embo(joint: pf.Joint, n_points: int = 30) -> None:
    """Relevance at embo's rates, and the ratio of the times; both in one process."""
    from embo import InformationBottleneck

    start = time.perf_counter()
    # β from 1, below which the best code tells nothing.
    embo = InformationBottleneck(
        pxy=joint.p_sx.toarray().T, minbeta=1.0, maxbeta=5.0, numbeta=n_points
    )
    rates, relevances = (np.asarray(values) for values in embo.get_bottleneck()[:2])
    theirs = time.perf_counter() - start
    start = time.perf_counter()
    shares = np.clip(rates / joint.entropy_x, 0.0, 1.0).tolist()
    front = pf.frontier(joint, "bottleneck", "annealing", targets=shares)
    ours = time.perf_counter() - start
    found = np.interp(rates, *front.points.T)
    worst, most = (found - relevances).min(), (found - relevances).max()
    print(
        f"  {len(rates)} points: embo {theirs:.2f} s, ours {ours:.2f} s: {theirs / ours:.1f} times"
    )
    print(f"  relevance, ours less embo's, in bits: from {worst:+.6f} to {most:+.6f}")


def main() -> None:
    pf.frontier(setting(1), method="soft", targets=[0.4], effort="fast")  # compile
    pf.frontier(setting(1), "bottleneck", "annealing", targets=[0.4], effort="fast")
    for number in (1, 2):
        print(f"Setting {number}, soft funnel: leakage by seed")
        funnel(setting(number))
        print(f"Setting {number}, soft bottleneck: relevance by seed")
        bottleneck(setting(number))
        print(f"Setting {number}, soft bottleneck beside embo")
        against_embo(setting(number))


if __name__ == "__main__":
    main()
