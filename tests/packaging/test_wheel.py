"""The wheel, built from the source distribution, installed beside what it asks for, used elsewhere."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import urllib.request
import venv
import zipfile
from email.message import Message
from email.parser import Parser
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.install


def run(*command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command away from the clone, with nothing of it in the environment."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source distribution and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    is_here = importlib.util.find_spec("hatchling") is not None  # else it is fetched, twice
    how = ["--no-isolation"] if is_here else []
    run(sys.executable, "-m", "build", *how, "--outdir", folder, ROOT, cwd=folder)
    (source,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return source, wheel


@pytest.fixture(scope="module")
def installed(
    distributions: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """The commands of an environment that holds the wheel and what it asks for, and a folder to work in.

    What it asks for is linked from the environment of the tests: that and nothing else can be imported.
    `benchmarks/install.py` installs all of it from the package index.
    """
    place, wheel = tmp_path_factory.mktemp("clean"), distributions[1]
    venv.create(place / "env", with_pip=False)
    commands = place / "env" / "bin"
    (packages,) = (place / "env" / "lib").glob("python*/site-packages")
    for found in asked_by(wheel, {"all"}).values():
        for top in {Path(file).parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(Path(found.locate_file(top)))
    pip = [sys.executable, "-m", "pip", "--python", commands / "python"]
    run(*pip, "install", "--quiet", "--no-index", "--no-deps", "--no-compile", wheel, cwd=place)
    run(*pip, "check", cwd=place)
    share_compiled_loops(packages / "privacyfunnel")
    return commands, place


def asked_by(wheel: Path, extras: set[str]) -> dict[str, Distribution]:
    """The distributions of this environment that the wheel needs, and those that they need."""
    found: dict[str, Distribution] = {}
    waiting = [(metadata_of(wheel).get_all("Requires-Dist") or [], {"", *extras})]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        lines, wanted = waiting.pop()
        for needed in map(Requirement, lines):
            if needed.marker and not any(needed.marker.evaluate({"extra": e}) for e in wanted):
                continue
            more = {"", *needed.extras}
            if (needed.name, frozenset(more)) in seen:
                continue
            seen.add((needed.name, frozenset(more)))
            if needed.name == "privacyfunnel":
                waiting.append((lines, more))
                continue
            found[needed.name] = here = distribution(needed.name)
            assert needed.specifier.contains(here.version, prereleases=True), needed
            waiting.append((here.requires or [], more))
    return found


def share_compiled_loops(package: Path) -> None:
    """What the tests have compiled of the very same sources need not be compiled again."""
    source = ROOT / "src" / "privacyfunnel"
    for module in package.rglob("*.py"):
        own = source / module.relative_to(package)
        assert module.read_bytes() == own.read_bytes()
        shutil.copystat(own, module)  # by which Numba knows a source
    for compiled in source.rglob("__pycache__/*.nb[ic]"):
        copy = package / compiled.relative_to(source)
        copy.parent.mkdir(exist_ok=True)
        shutil.copy2(compiled, copy)


def metadata_of(wheel: Path) -> Message:
    """What a wheel says about itself."""
    with zipfile.ZipFile(wheel) as parts:
        (name,) = (n for n in parts.namelist() if n.endswith(".dist-info/METADATA"))
        return Parser().parsestr(parts.read(name).decode())


def test_the_source_holds_what_a_build_needs_and_no_more(distributions: tuple[Path, Path]) -> None:
    with tarfile.open(distributions[0]) as source:
        tops = {name.split("/")[1] for name in source.getnames() if "/" in name}
    assert {"src", "hatch_build.py", "LICENSE", "README.md"} <= tops
    assert not {"tests", "docs", ".ci", "benchmarks"} & tops


def test_the_core_is_light_and_the_bill_of_materials_lists_it(
    distributions: tuple[Path, Path],
) -> None:
    with zipfile.ZipFile(distributions[1]) as wheel:
        (place,) = (n for n in wheel.namelist() if ".dist-info/sboms/" in n)
        bill = json.loads(wheel.read(place))
    asked = metadata_of(distributions[1]).get_all("Requires-Dist") or []
    core = {re.split(r"[^\w-]", line)[0] for line in asked if "extra ==" not in line}
    assert not {"matplotlib", "plotly", "scikit-learn", "starlette", "pyspark", "dask"} & core
    listed = {part["name"] for part in bill["components"] if part["scope"] == "required"}
    assert bill["bomFormat"] == "CycloneDX"
    assert listed == core


def test_the_package_is_the_installed_one(installed: tuple[Path, Path]) -> None:
    commands, place = installed
    done = run(
        commands / "python", "-c", "import privacyfunnel as pf; print(pf.__file__)", cwd=place
    )
    assert Path(done.stdout.strip()).is_relative_to(place)


def test_the_demo_runs(installed: tuple[Path, Path]) -> None:
    commands, place = installed
    done = run(commands / "funnel", "demo", "-o", "demo", cwd=place)
    assert "442 patients" in done.stdout
    assert (place / "demo" / "frontier.png").stat().st_size > 10_000


def test_the_studio_answers(installed: tuple[Path, Path]) -> None:
    commands, place = installed
    studio = subprocess.Popen(
        [commands / "funnel", "studio", "--no-browser"],
        cwd=place,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert studio.stdout is not None
        address = re.search(r"http://\S+", studio.stdout.readline())
        assert address is not None
        with urllib.request.urlopen(address.group()) as page:
            assert b"privacyfunnel" in page.read()
    finally:
        studio.send_signal(signal.SIGINT)
        studio.communicate(timeout=60)
