"""How do time and memory grow with the alphabet, and how far from the bound is a large release?

One λ of ``best`` at |X| = 10³ ... 10⁶ with five nonzeros each, for the funnel and the bottleneck;
each size in a process of its own, so that the peak is its own. Prints the exponent fitted from 10⁴
on and, for the funnel, the gap to the bound −λ H(X|S) that no release can pass.
Arguments: the numbers of sensitive values (default 20 200).
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np

import privacyfunnel as pf

SIZES = [1_000, 10_000, 100_000, 1_000_000]
OBJECTIVES = {"funnel": pf.Funnel(0.8), "bottleneck": pf.Bottleneck(0.15)}


def measure(problem: str, n_x: int, n_s: int) -> None:
    """One search, after a small one that loads the compiled loops; the result as JSON."""
    from data import world

    objective = OBJECTIVES[problem]
    pf.solve(world(3_000, n_s), objective, effort="fast")
    joint = world(n_x, n_s)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    found = pf.solve(joint, objective)
    seconds = time.perf_counter() - start
    bound = -objective.lam * (joint.entropy_x - joint.information)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps([seconds, peak, before / 1e6, found.value, found.n_symbols, bound]))


def main() -> None:
    for n_s in [int(a) for a in sys.argv[1:]] or [20, 200]:
        for problem in OBJECTIVES:
            print(f"{problem}, |S| = {n_s}, 5 nonzeros for each symbol, normal effort")
            print(f"{'|X|':>9}  {'s':>7}  {'peak GB':>7}  {'symbols':>8}  {'L':>10}  gap to bound")
            points = []
            for n_x in SIZES:
                call = [sys.executable, __file__, "--one", problem, str(n_x), str(n_s)]
                done = subprocess.run(call, capture_output=True, text=True, check=True)
                seconds, peak, _, value, n_symbols, bound = json.loads(done.stdout)
                gap = f"{(value - bound) / abs(bound):.2%}" if problem == "funnel" else ""
                print(
                    f"{n_x:>9}  {seconds:7.1f}  {peak:7.2f}  {n_symbols:>8}  {value:10.5f}  {gap}",
                    flush=True,
                )
                points.append((n_x, seconds))
            logs = np.log([p for p in points if p[0] >= 10_000])
            print(
                f"time grows as |X|^{np.polyfit(logs[:, 0], logs[:, 1], 1)[0]:.2f} from 10^4 on\n"
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
