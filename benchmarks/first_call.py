"""How long until the first result on the paper's setting 1, with and without compiled loops?

A process of its own each: first with an empty cache, so that everything is compiled, then with what
that one left behind, the best of five. The start of Python and reading the table, a csv file, are part
of the time; what Python takes to end a process is told apart.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from data import patients

CALLS = {
    "iac-mdsf": "pf.solve(joint, pf.Funnel(0.8), 'iac-mdsf')",
    "best, fast": "pf.solve(joint, pf.Funnel(0.8), effort='fast')",
    "best": "pf.solve(joint, pf.Funnel(0.8))",
}
READ = "joint = pf.Joint.from_table('patients.csv', ['age', 'sex'], ['sex', 'chol'])"


def timed(call: str, folder: str) -> tuple[float, float]:
    """Seconds until a new process has printed its result, and until it has ended."""
    code = f"import privacyfunnel as pf; {READ}; print({call}.value, flush=True)"
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "NUMBA_CACHE_DIR": folder},
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert float(process.stdout.readline()) < 0.0
        result = time.perf_counter() - start
    return result, time.perf_counter() - start


def main() -> None:
    print(f"{'first result of':>16}  {'compiling':>10}  {'later':>6}  {'its end':>8}   seconds")
    for name, call in CALLS.items():
        with tempfile.TemporaryDirectory() as folder:
            patients().to_csv(Path(folder) / "patients.csv", index=False)
            compiling, _ = timed(call, folder)
            later, end = min(timed(call, folder) for _ in range(5))
        print(f"{name:>16}  {compiling:10.1f}  {later:6.2f}  {end:8.2f}")


if __name__ == "__main__":
    main()
