"""Does the studio's page answer while many people use it at once?

Twenty sessions run the demo at the same time, from opening it to the finished frontier, while another
visitor asks for pages all along. Prints how long those took to come, and how many sessions finished.
"""

from __future__ import annotations

import argparse
import re
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import httpx
import numpy as np

from privacyfunnel.studio.server import running
from privacyfunnel.studio.settings import Settings
from privacyfunnel.studio.studio import Studio

MARKS = {
    "sensitive-0": "on",
    "sensitive-1": "on",
    "public-1": "on",
    "public-2": "on",
}
PAUSE = 0.1  # seconds between two questions
ACTIVE = ("queued", "running")


def visit(address: str) -> httpx.Client:
    """A visitor with a session of its own."""
    base = address.split("/?")[0]
    visitor = httpx.Client(
        base_url=base, headers={"Origin": base}, timeout=600, follow_redirects=True
    )
    visitor.get(address)
    return visitor


def ended(visitor: httpx.Client, job: str) -> str:
    """Wait for a task; how it ended."""
    state = "running"
    while state in ACTIVE:
        time.sleep(PAUSE)
        state = visitor.get(f"/jobs/{job}").json()["state"]
    return state


def wait(visitor: httpx.Client, address: str) -> str:
    """Wait for the task that a page shows; how it ended."""
    found = re.search(r'data-(?:job|search)="([\w-]+)"', visitor.get(address).text)
    return ended(visitor, found[1]) if found else "done"


def run_demo(studio: Studio, points: int) -> str:
    """The demo from its opening to its frontier; how the search ended."""
    with closing(visit(studio.settings.address)) as visitor:
        visitor.post("/demo")
        wait(visitor, "/columns")
        visitor.post("/columns", data=MARKS)
        wait(visitor, "/columns")
        visitor.post("/search", data={"effort": "fast", "points": str(points)})
        return wait(visitor, "/tradeoff")


def main() -> None:
    """Run all sessions and ask for pages meanwhile."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--points", type=int, default=6)
    asked = parser.parse_args()
    took: list[float] = []
    with running(Settings()) as studio, ThreadPoolExecutor(asked.sessions) as pool:
        start = time.perf_counter()
        runs = [pool.submit(run_demo, studio, asked.points) for _ in range(asked.sessions)]
        with closing(visit(studio.settings.address)) as bystander:
            bystander.post("/demo")
            while not all(run.done() for run in runs):
                for address in ("/", "/columns"):
                    before = time.perf_counter()
                    bystander.get(address).raise_for_status()
                    took.append(time.perf_counter() - before)
                time.sleep(PAUSE)
        whole = time.perf_counter() - start
    states = [run.result() for run in runs]
    print(
        f"{states.count('done')} of {len(states)} sessions finished in {whole:.1f} s, "
        f"{studio.settings.workers} tasks at a time"
    )
    median, high, most = np.quantile(took, [0.5, 0.99, 1.0])
    print(
        f"{len(took)} pages meanwhile: median {1e3 * median:.0f} ms, "
        f"99% within {1e3 * high:.0f} ms, slowest {1e3 * most:.0f} ms"
    )


if __name__ == "__main__":
    main()
