"""What does the time of one large search go to? |X| = 100,000, both problems.

The blocks of a round, which otherwise run in threads, are moved here one after the other: a profiler sees
one thread only. The result is the same, the time that of one core.
"""

from __future__ import annotations

import cProfile
import pstats
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from unittest import mock

from data import world

import privacyfunnel as pf


class OneAfterTheOther(ThreadPoolExecutor):
    """A pool that does each task at once, in the thread that asks for it."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


def main() -> None:
    joint = world(100_000)
    for objective in (pf.Funnel(0.8), pf.Bottleneck(0.15)):
        pf.solve(world(3_000), objective, effort="fast")  # compile
        profile = cProfile.Profile()
        start = time.perf_counter()
        with mock.patch("privacyfunnel.solvers.large.blocks.ThreadPoolExecutor", OneAfterTheOther):
            profile.runcall(pf.solve, joint, objective)
        whole = time.perf_counter() - start
        rows = pstats.Stats(profile).stats.items()
        print(f"{objective}: {whole:.1f} s")
        for (file, _, name), (_, calls, own, _, _) in sorted(rows, key=lambda r: -r[1][2])[:8]:
            print(f"  {own / whole:6.1%}  {name} ({file.rsplit('/', 1)[-1]}), {calls} calls")


if __name__ == "__main__":
    main()
