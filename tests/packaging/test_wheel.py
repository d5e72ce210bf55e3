"""The wheel, built from the source distribution, installed from nothing and used outside of the clone."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import urllib.request
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

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
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    (source,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return source, wheel


@pytest.fixture(scope="module")
def installed(
    distributions: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """The commands of an environment that holds the wheel alone, and a folder to work in."""
    place, wheel = tmp_path_factory.mktemp("clean"), distributions[1]
    venv.create(place / "env", with_pip=True)
    commands = place / "env" / "bin"
    pip = [commands / "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    run(*pip, f"{wheel}[all]", cwd=place)
    return commands, place


def test_the_source_holds_what_a_build_needs_and_no_more(distributions: tuple[Path, Path]) -> None:
    with tarfile.open(distributions[0]) as source:
        tops = {name.split("/")[1] for name in source.getnames() if "/" in name}
    assert {"src", "hatch_build.py", "LICENSE", "README.md"} <= tops
    assert not {"tests", "docs", ".ci", "benchmarks"} & tops


def test_the_core_is_light_and_the_bill_of_materials_lists_it(
    distributions: tuple[Path, Path],
) -> None:
    with zipfile.ZipFile(distributions[1]) as wheel:
        (metadata,) = (n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
        (place,) = (n for n in wheel.namelist() if ".dist-info/sboms/" in n)
        described = Parser().parsestr(wheel.read(metadata).decode())
        bill = json.loads(wheel.read(place))
    asked = described.get_all("Requires-Dist") or []
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
