"""What a clean machine waits for: from `pip install` to the first release, and what each extra costs.

    python benchmarks/install.py [core] [all] [extras]

Builds the wheel and installs it into a fresh virtual environment, without pip's cache, as on a machine
that has nothing; then runs the command for the first time, when loops are compiled, and again. The extras
are installed one by one on top of the core and removed again.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import privacyfunnel as pf

ROOT = Path(__file__).parents[1]
LOADED = {  # what each extra's first use loads
    "audit": "sklearn.ensemble, sklearn.linear_model",
    "export": "sqlglot",
    "plots": "matplotlib.figure, plotly.graph_objects",
    "studio": "starlette.applications, uvicorn",
    "dask": "distributed",
    "spark": "pyspark.sql",
}
RELEASE = ["release", "patients.csv", "-s", "sex", "-x", "age,chol", "--kept", "0.3", "-o", "out"]
ENV = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}


def main(parts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        build = [sys.executable, "-m", "build", "--wheel", "--outdir", name, str(ROOT)]
        subprocess.run(build, check=True, capture_output=True)
        (wheel,) = place.glob("*.whl")
        print(f"the wheel: {wheel.stat().st_size / 1e6:.2f} MB")
        pf.datasets.load_demo().to_csv(place / "patients.csv", index=False)
        for part in parts or ("core", "all", "extras"):
            if part == "extras":
                extras(place, wheel)
            else:
                timeline(place, part, f"{wheel}" if part == "core" else f"{wheel}[{part}]")


def timeline(place: Path, name: str, asked: str) -> None:
    """From nothing to the first release, and the second."""
    print(f"\n{name}\n seconds  of the processor")
    commands = environment(place, name)
    pip = [commands / "pip", "install", "--quiet", "--no-cache-dir", asked]
    told("pip install", timed(pip, place))
    print(f"{megabytes(place / name):8.0f}  MB on disk")
    helps = [timed([commands / "funnel", "--help"], place) for _ in range(11)]
    told("funnel --help, the first time", helps[0])
    told("funnel --help, the middle of ten more", sorted(helps[1:])[5])
    for what in ("the first, which compiles", "the second"):
        told(f"a release, {what}", timed([commands / "funnel", *RELEASE, "--force"], place))
    if name == "all":
        told("funnel demo", timed([commands / "funnel", "demo", "-o", "demo", "--force"], place))


def told(what: str, took: tuple[float, float, float]) -> None:
    """One line of the timeline."""
    seconds, back, processor = took
    print(
        f"{seconds:8.2f}  {processor:6.2f}  {what}; over {back:.2f} s after its last line",
        flush=True,
    )


def extras(place: Path, wheel: Path) -> None:
    """Each extra on top of the core, then removed again."""
    commands = environment(place, "extras")
    timed([commands / "pip", "install", "--quiet", wheel], place)
    print("\nseconds of the processor\nextra       MB more  packages  install  load")
    python = min(timed([commands / "python", "-c", ""], place)[2] for _ in range(5))
    for extra, modules in LOADED.items():
        before, names = megabytes(place / "extras"), installed(commands, place)
        install = timed([commands / "pip", "install", "--quiet", f"{wheel}[{extra}]"], place)
        new = sorted(installed(commands, place) - names)
        more = megabytes(place / "extras") - before
        load = [commands / "python", "-c", f"import {modules}"]
        loads = [timed(load, place)[2] - python for _ in range(4)]
        print(
            f"{extra:10}  {more:7.0f}  {len(new):8}  {install[2]:7.1f}  {min(loads):5.2f}",
            flush=True,
        )
        timed([commands / "pip", "uninstall", "--quiet", "-y", *new], place)


def environment(place: Path, name: str) -> Path:
    """A fresh virtual environment's commands."""
    venv.create(place / name, with_pip=True)
    return place / name / "bin"


def installed(commands: Path, place: Path) -> set[str]:
    """The names of what an environment has."""
    listing = [str(commands / "pip"), "list", "--format", "json"]
    listed = subprocess.run(listing, cwd=place, env=ENV, capture_output=True, check=True)
    return {package["name"] for package in json.loads(listed.stdout)}


def megabytes(place: Path) -> float:
    """What a folder takes on disk."""
    return sum(path.stat().st_size for path in place.rglob("*") if not path.is_symlink()) / 1e6


def timed(command: list[object], cwd: Path) -> tuple[float, float, float]:
    """Seconds until a command has ended, how many of them after its last line, and of the processor."""
    start = last = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(
        list(map(str, command)), cwd=cwd, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        while os.read(process.stdout.fileno(), 65536):
            last = time.perf_counter()
        assert process.wait() == 0, command
    end, after = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return end - start, end - last, processor


if __name__ == "__main__":
    main(sys.argv[1:])
