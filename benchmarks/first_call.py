"""How long until the first result on the paper's setting 1, with and without compiled loops?

A process of its own each: first with an empty cache, so that everything is compiled, then with what
that one left behind. Reading the table is part of the time, the start of Python too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CALLS = {
    "iac-mdsf": "pf.solve(setting(1), pf.Funnel(0.8), 'iac-mdsf')",
    "best, fast": "pf.solve(setting(1), pf.Funnel(0.8), effort='fast')",
    "best": "pf.solve(setting(1), pf.Funnel(0.8))",
}


def main() -> None:
    print(f"{'first result of':>16}  {'compiling':>10}  {'later':>6}   seconds")
    for name, call in CALLS.items():
        code = f"import privacyfunnel as pf; from first_merge import setting; {call}"
        with tempfile.TemporaryDirectory() as cache:
            times = []
            for _ in range(2):
                start = time.perf_counter()
                subprocess.run(
                    [sys.executable, "-c", code],
                    check=True,
                    cwd=Path(__file__).parent,
                    env={**os.environ, "NUMBA_CACHE_DIR": cache},
                )
                times.append(time.perf_counter() - start)
        print(f"{name:>16}  {times[0]:10.1f}  {times[1]:6.2f}")


if __name__ == "__main__":
    main()
