"""Shared: the paper's two settings, random joints, a studio and its visitor."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from privacyfunnel import Joint

DATA = Path(__file__).parents[2] / "shared" / "data"
PUBLIC = {1: ["sex", "chol"], 2: ["age", "chol"]}

settings.register_profile(
    "house", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("house")


@pytest.fixture(autouse=True)
def _usual_csv() -> None:
    """Libraries that some tests import lift the limit of Python's csv module for the whole process."""
    csv.field_size_limit(131_072)


@pytest.fixture(autouse=True, scope="session")
def _compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Processes of the tests wait for a loop that another compiles, and take it from there."""
    if sys.platform == "win32":  # which has no such locks
        yield
        return
    import fcntl

    from numba.core.dispatcher import Dispatcher

    folder, compile_it = tmp_path_factory.getbasetemp().parent, Dispatcher.compile
    held = set[str]()  # by this process; a loop may need another form of itself

    def compile_alone(loop: Dispatcher, signature: object) -> object:
        name = f"{loop.py_func.__module__}.{loop.py_func.__qualname__}.lock"
        if name in held:
            return compile_it(loop, signature)
        with open(folder / name, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            held.add(name)
            try:
                return compile_it(loop, signature)
            finally:
                held.remove(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dispatcher, "compile", compile_alone)
        yield


@pytest.fixture(autouse=True, scope="session")
def _few_points_of_other_recodings() -> Iterator[None]:
    """The report's picture of other recodings takes half of a readable release; commands draw it all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("privacyfunnel.releases.recoded.COMPARED_POINTS", (2, 2))
        yield


@pytest.fixture(scope="session")
def hungarian() -> pd.DataFrame:
    """The Hungarian heart data: 294 patients with age, sex and chol."""
    path = DATA / "hungarian_age_sex_chol.csv"
    if not path.exists():
        pytest.skip(f"the Hungarian heart data is not at {path}")
    return pd.read_csv(path)


@pytest.fixture(scope="session")
def settings_of_paper(hungarian: pd.DataFrame) -> dict[int, Joint]:
    """The paper's two settings of S and X."""
    return {k: Joint.from_table(hungarian, ["age", "sex"], public) for k, public in PUBLIC.items()}


@pytest.fixture(scope="module")
def studio():
    """A studio that listens on this machine."""
    from privacyfunnel.studio.server import running
    from privacyfunnel.studio.settings import Settings

    with running(Settings(max_upload=100_000, workers=2)) as studio:
        yield studio


@pytest.fixture(scope="module")
def browser():
    """Chromium, for a module whose tests are marked by `browser.NEEDED`."""
    from browser import CHROMIUM, PATIENCE, expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield chromium
        chromium.close()


@pytest.fixture
def visitor(studio):
    """A visitor of the studio, without a screen."""
    from studio_client import Visitor

    with Visitor(studio) as visitor:
        yield visitor


def random_joint(rng: np.random.Generator, n_s: int, n_x: int, *, whole: bool = True) -> Joint:
    """A random joint with some empty cells."""
    counts = rng.integers(0, 5, size=(n_s, n_x)) * (rng.random((n_s, n_x)) < 0.7)
    counts[rng.integers(n_s), :] += 1
    counts[:, rng.integers(n_x)] += 1
    return Joint.from_counts(counts if whole else counts * 0.37)


@st.composite
def joints(draw: st.DrawFn, max_s: int = 4, max_x: int = 7) -> Joint:
    """Small joints of whole counts with empty cells, no row or column of zeros."""
    n_s, n_x = draw(st.integers(1, max_s)), draw(st.integers(1, max_x))
    cells = st.lists(st.integers(0, 6), min_size=n_x, max_size=n_x)
    counts = np.array(draw(st.lists(cells, min_size=n_s, max_size=n_s)))
    if counts.sum() == 0:
        counts[0, 0] = 1
    return Joint.from_counts(counts)


# Two processes of the tests begin with what compiles nothing for the other: one with what has a place of
# its own for compiled loops and with Spark, the other with doctests. Then comes what takes long, so that
# they end together.
BEGIN = ["_kernels/test_bounds_checked.py", "src", "tables/test_spark.py"]
LONG = [
    "docs/test_docs.py", "codebook/test_sql.py", "cli/test_cli_release.py", "hostile/test_kills.py",
    "studio/test_browser_studio.py", "solvers/large/test_blocks.py", "estimators/test_estimators.py",
    "codebook/test_exports.py", "hostile/test_hostile_tables.py", "tables/test_recoded_hostile.py",
    "frontiers/test_frontier.py", "recodings/test_exactness.py", "tables/test_tables.py",
    "docs/test_notebooks.py", "studio/test_studio_jobs.py",
]  # fmt: skip


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files in the order in which processes are to take them."""
    tests = Path(__file__).parent
    files = {item.path: None for item in items}
    doctests = [path for path in files if not path.is_relative_to(tests)]
    own, spark, *long = (tests / name for name in (BEGIN[0], BEGIN[2], *LONG))
    order = [own, *doctests[:1], spark, *doctests[1:], *long, *files]
    place = {path: order.index(path) for path in files}
    items.sort(key=lambda item: place[item.path])


HEAVY = {"spark", "dask", "browser", "large", "install"}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """Where everything needed is installed (NO_SKIPS is set), a skipped heavy test is a failure."""
    outcome = yield
    report = outcome.get_result()
    must_run = bool(os.environ.get("NO_SKIPS")) and HEAVY & {m.name for m in item.iter_markers()}
    if report.skipped and must_run:
        report.outcome = "failed"
        report.longrepr = f"must run here, but was skipped: {report.longrepr}"
