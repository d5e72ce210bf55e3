"""How does the bottleneck compare with sib-clustering and embo as the alphabet grows?

sib-clustering (hard, k clusters, one start) and embo (soft, one β) beside the same of ours, from one
run and one process each; and what searching in blocks loses against the whole search at 5,000
symbols.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from data import world

import privacyfunnel as pf
from privacyfunnel.objectives import leakage
from privacyfunnel.solvers.best import BestSearch
from privacyfunnel.solvers.moves import JointLayout, anneal
from privacyfunnel.solvers.target import Price


def timed(run):
    """The result and its seconds."""
    start = time.perf_counter()
    return run(), time.perf_counter() - start


def against_sib(joint: pf.Joint, k: int = 50) -> None:
    from sib import SIB

    rows = joint.counts.toarray().T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sib = SIB(n_clusters=k, n_init=10, random_state=0, n_jobs=1, uniform_prior=False)
        labels, theirs = timed(lambda: sib.fit(rows).labels_)
    found, ours = timed(lambda: BestSearch().solve_size(joint, k, rng=np.random.default_rng(0)))
    told = leakage(joint, pf.Partition(np.asarray(labels, dtype=np.int64)))
    print(
        f"  sib-clustering, k = {k}, ten starts: I(S;X̂) {told:.4f} in {theirs:.2f} s; "
        f"ours {found.leakage:.4f} in {ours:.2f} s: {theirs / ours:.1f} times faster"
    )


def against_embo(joint: pf.Joint, beta: float = 3.0) -> None:
    from embo import InformationBottleneck

    p_xs = joint.p_sx.toarray().T
    embo = InformationBottleneck(pxy=p_xs, minbeta=beta, maxbeta=beta, numbeta=1, restarts=1)
    (rate, relevance, *_), theirs = timed(embo.get_bottleneck)
    lam, rate, relevance = 1.0 / beta, np.ravel(rate)[0], np.ravel(relevance)[0]
    found, ours = timed(lambda: pf.solve(joint, pf.Bottleneck(lam), "annealing"))
    value = float(lam * rate - relevance)
    print(
        f"  embo, β = {beta:g}: λI(X;X̂) − I(S;X̂) = {value:.4f} in {theirs:.2f} s; "
        f"ours {found.value:.4f} in {ours:.2f} s: {theirs / ours:.1f} times faster"
    )


def against_the_whole(n_x: int = 5_000) -> None:
    """Blocks beside annealed moves over the whole alphabet, from the exact greedy end."""
    joint = world(n_x)
    layout = JointLayout(joint)
    print(f"|X| = {n_x}: search in blocks beside the unblocked one")
    for objective in (
        pf.Funnel(0.2), pf.Funnel(0.4), pf.Funnel(0.8), pf.Bottleneck(0.1), pf.Bottleneck(0.15),
        pf.Bottleneck(0.2),
    ):  # fmt: skip
        found, ours = timed(lambda objective=objective: pf.solve(joint, objective))

        def whole(objective=objective):
            greedy = pf.solve(joint, objective, "greedy")
            labels = anneal(
                layout, greedy.code.labels, Price(objective.weights), 60,
                np.random.default_rng(0), hot=0.3,
            )  # fmt: skip
            return min(greedy.value, objective.value(joint, pf.Partition(labels)))

        value, theirs = timed(whole)
        print(
            f"  {objective}: blocks {found.value:.5f} in {ours:.1f} s, whole {value:.5f} in "
            f"{theirs:.1f} s; L differs by {(found.value - value) / abs(value):+.2%}"
        )


def main() -> None:
    small = world(600)
    pf.solve(small, pf.Bottleneck(0.3), "annealing")  # compile
    BestSearch(effort="fast").solve_size(world(3_000), 5, rng=np.random.default_rng(0))
    for n_x in (200, 1_000, 5_000):
        joint = world(n_x)
        print(f"|X| = {n_x}, |S| = 20, I(S;X) = {joint.information:.4f}")
        against_sib(joint)
        if n_x <= 1_000:  # embo takes minutes beyond
            against_embo(joint)
    against_the_whole()


if __name__ == "__main__":
    main()
