"""How long until the first result on the paper's setting 1, with and without compiled loops?

A process of its own each: first with an empty cache, so that everything is compiled, then with what
that one left behind. The start of Python and reading the table, a csv file, are part of the time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from first_merge import patients

CALLS = {
    "iac-mdsf": "pf.solve(joint, pf.Funnel(0.8), 'iac-mdsf')",
    "best, fast": "pf.solve(joint, pf.Funnel(0.8), effort='fast')",
    "best": "pf.solve(joint, pf.Funnel(0.8))",
}
READ = "joint = pf.Joint.from_table('patients.csv', ['age', 'sex'], ['sex', 'chol'])"


def main() -> None:
    print(f"{'first result of':>16}  {'compiling':>10}  {'later':>6}   seconds")
    for name, call in CALLS.items():
        code = f"import privacyfunnel as pf; {READ}; {call}"
        with tempfile.TemporaryDirectory() as folder:
            patients().to_csv(Path(folder) / "patients.csv", index=False)
            times = []
            for _ in range(3):
                start = time.perf_counter()
                subprocess.run(
                    [sys.executable, "-c", code],
                    check=True,
                    cwd=folder,
                    env={**os.environ, "NUMBA_CACHE_DIR": folder},
                )
                times.append(time.perf_counter() - start)
        print(f"{name:>16}  {times[0]:10.1f}  {min(times[1:]):6.2f}")


if __name__ == "__main__":
    main()
