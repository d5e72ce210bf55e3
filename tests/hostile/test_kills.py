"""Runs killed at random moments: nothing looks finished that is not, nothing is left by the next run."""

import json
import multiprocessing
import os
import random
import sys
import tempfile
import time

import pytest

import privacyfunnel as pf
from privacyfunnel import datasets
from privacyfunnel.releases.request import ReleaseRequest

# A process of its own without its seconds of imports and of loading compiled loops, so that kills fall
# into the work itself.
FRESH = multiprocessing.get_context("forkserver")
FRESH.set_forkserver_preload(
    [
        *(f"privacyfunnel.{name}" for name in ("cli.app", "studio.server", "studio.worker.warm")),
        "matplotlib.figure",
        "plotly.io",
    ]
)
FRONTIER_FILES = {"frontier.csv", "frontier.png", "frontier.html"}


def run(arguments, temporary):
    """The command in a process that may be killed; what it prints goes nowhere."""
    os.environ["TMPDIR"] = tempfile.tempdir = str(temporary)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    sys.argv = ["funnel", *map(str, arguments)]
    from privacyfunnel.cli import main

    main()


def begin(arguments, temporary):
    process = FRESH.Process(target=run, args=(arguments, temporary))
    process.start()
    return process


def finish(arguments, temporary):
    """How long a run takes that nobody kills."""
    before = time.monotonic()
    process = begin(arguments, temporary)
    process.join(timeout=300)
    assert process.exitcode == 0
    return time.monotonic() - before


def kill(arguments, temporary, after):
    process = begin(arguments, temporary)
    process.join(timeout=after)
    process.kill()
    process.join()


def moments(seed, n, first, last):
    """Random moments from first to last, one in each of n equal parts."""
    rng, part = random.Random(seed), (last - first) / n
    return [first + part * (k + rng.random()) for k in range(n)]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "demo.csv"
    datasets.load_demo().to_csv(path, index=False)
    return path


def is_whole_release(folder, form):
    """Whether all files of a release are there, can be read and belong together."""
    names = ReleaseRequest({"utility": 0.5}, form=form).files
    if {path.name for path in folder.iterdir() if not path.name.startswith(".")} != set(names):
        return False
    document = json.loads((folder / "report.json").read_text("utf-8"))
    book = pf.Codebook.load(folder / "codebook.json")
    return document["release"]["file"] == f"release.{form}" and len(book.labels) > 1


@pytest.mark.slow
def test_a_killed_release_is_whole_or_not_there(tmp_path, table):
    place, temporary = tmp_path / "place", tmp_path / "temporary"
    place.mkdir()
    temporary.mkdir()
    command = ["release", table, "-s", "age,sex", "-x", "sex,chol", "--round", "age=10"]
    command += ["--round", "chol=40", "--utility", "0.5", "--effort", "fast", "--points", "2"]
    command += ["--no-attackers", "--jobs", "1"]
    finish([*command, "-o", place / "old"], temporary)  # which may have compiled its loops
    took = finish([*command, "-o", place / "old", "--force"], temporary)
    for moment in moments(1, 8, 0, took):  # into a folder of its own
        kill([*command, "-o", place / "new"], temporary, moment)
        assert not (place / "new").exists() or is_whole_release(place / "new", "parquet")
    # Over an older release, now in one format, now in the other.
    for k, moment in enumerate(moments(2, 8, 0.5 * took, 1.1 * took)):
        form = ("csv", "parquet")[k % 2]
        over = [*command, "-o", place / "old", "--force", "--format", form]
        kill(over, temporary, moment)
    for name in ("new", "old"):
        finish([*command, "-o", place / name, "--force"], temporary)
        assert is_whole_release(place / name, "parquet")
    assert sorted(path.name for path in place.iterdir()) == ["new", "old"]
    assert not list(place.rglob(".*"))
    assert os.listdir(temporary) == []


@pytest.mark.slow
def test_a_killed_frontier_is_whole_or_not_there(tmp_path, table):
    place, temporary = tmp_path / "place", tmp_path / "temporary"
    place.mkdir()
    temporary.mkdir()
    command = ["frontier", table, "-s", "age,sex", "-x", "sex,chol", "--round", "chol=40"]
    command += ["--method", "greedy", "--points", "4", "--jobs", "1", "-o", place / "out"]
    finish(command, temporary)
    took = finish([*command, "--force"], temporary)
    for moment in moments(3, 10, 0, 1.1 * took):
        kill([*command, "--force"], temporary, moment)
    finish([*command, "--force"], temporary)
    assert {path.name for path in (place / "out").iterdir()} == FRONTIER_FILES
    assert [path.name for path in place.iterdir()] == ["out"]
    assert os.listdir(temporary) == []


@pytest.mark.slow
def test_a_killed_studio_leaves_nothing_to_the_next(tmp_path):
    command = ["studio", "--no-browser", "--port", "0"]
    for moment in moments(4, 8, 0.05, 1.2):
        kill(command, tmp_path, moment)
    left = set(os.listdir(tmp_path))
    last = begin(command, tmp_path)
    deadline = time.monotonic() + 60
    while not (found := set(os.listdir(tmp_path))) or found & left:
        assert time.monotonic() < deadline, f"{found & left} of killed studios are still there"
        time.sleep(0.1)
    last.kill()
    last.join()
    assert len(found) == 1  # its own
