"""README and docs: every block of code runs, every option is written down, the site builds strictly."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import runpy
import warnings
from pathlib import Path
from unittest import mock

import matplotlib
import pandas as pd
import pytest
from doc_blocks import ROOT, blocks_of, run_funnel, run_page
from joblib import parallel_config
from mkdocs.commands.build import build
from mkdocs.config import load_config

import privacyfunnel as pf
from privacyfunnel.cli.app import app

HOOKS = ROOT / "docs" / "_hooks"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]

# Blocks that are not run, page by page, with the reason that the page gives.
NOT_RUN: dict[str, list[str]] = {
    "README.md": [
        "installs into the reader's own environment",
        "tests/packaging/test_wheel.py runs it in an environment of its own",
    ],
    "docs/guides/export.md": ["dbt lives in an environment of its own"],
    "docs/add-a-measure.md": ["it is the package's own source"],
    "docs/add-a-solver.md": ["it is the package's own source"] * 2,
    "docs/add-an-attacker.md": ["it is the package's own source"],
    "docs/guides/clusters.md": [
        "needs a Spark cluster; tests/tables/test_spark.py runs the same on a local one",
        "needs a Dask cluster; tests/frontiers/test_dask.py runs the same on a local one",
    ],
    "docs/guides/studio.md": ["waits for a browser"],
    "docs/install.md": ["installs into the reader's own environment"],
    "docs/paper.md": ["needs the patients' table and some minutes"],
}
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """A folder with the tables that pages name, a terminal of a known width, one process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    matplotlib.use("Agg")
    with parallel_config(backend="sequential"):  # results do not depend on it; starting does
        yield tmp_path


def make_tables(folder: Path) -> None:
    """The patients of the demo."""
    patients = pf.datasets.load_demo()
    patients.to_csv(folder / "patients.csv", index=False)
    patients.head(20).to_csv(folder / "new-patients.csv", index=False)
    groups = pd.cut(patients.chol, [0, 160, 200, 240, 400], labels=[1, 2, 3, 4])
    patients.assign(released=groups).to_csv(folder / "published.csv", index=False)
    (folder / "patients").mkdir()
    for part in range(2):
        patients[part::2].to_parquet(folder / "patients" / f"part-{part}.parquet", index=False)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_what_a_page_shows_runs(page, reader):
    make_tables(reader)
    run_page(page)


def test_what_is_not_run_is_listed_here():
    given = {
        name: [block.reason for block in blocks_of(page.read_text("utf-8")) if block.reason]
        for name, page in zip(NAMES, PAGES, strict=True)
    }
    assert {name: reasons for name, reasons in given.items() if reasons} == NOT_RUN


def test_every_option_is_in_the_reference():
    sections = runpy.run_path(str(HOOKS / "cli_reference.py"))["reference"]().split("\n## ")
    for command in app.registered_commands:
        (section,) = [text for text in sections if text.startswith(f"funnel {command.name}\n")]
        _, text = run_funnel([command.name, "--help"])
        options = set(OPTION.findall(text)) - {"--help"}
        assert options, f"no options in the help of {command.name}"
        missing = {option for option in options if f"`{option}`" not in section}
        assert not missing, f"{command.name}: not in the reference: {missing}"


def test_the_reference_names_what_is_there():
    for page in (ROOT / "docs" / "api").glob("*.md"):
        for name in re.findall(r"^::: (\S+)$", page.read_text("utf-8"), re.MULTILINE):
            pkgutil.resolve_name(name)


def test_links_of_the_readme_lead_somewhere():
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / "README.md").read_text("utf-8"))
    assert not [target for target in targets if not (ROOT / target).exists()]


def test_what_is_written_in_passing_exists():
    """Commands and options that are named within the text are those of the help."""
    helps = {c.name: run_funnel([c.name, "--help"])[1] for c in app.registered_commands}
    options = {"--help", "--version", *OPTION.findall(" ".join(helps.values()))}
    for name, page in zip(NAMES, PAGES, strict=True):
        inline = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", page.read_text("utf-8"))
        named = {word for code in inline for word in re.findall(r"^funnel ([a-z]+)", code)}
        assert named <= set(helps), name
        asked = {
            o for code in inline if not code.startswith("python ") for o in OPTION.findall(code)
        }
        assert asked <= options, name


@pytest.mark.parametrize("name", ["doctests", "gallery"])
def test_examples_in_the_hooks_hold(name, monkeypatch):
    monkeypatch.syspath_prepend(str(HOOKS))
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted
    assert not found.failed


@pytest.fixture
def site(tmp_path):
    """The site, built strictly: a warning, such as a broken link, ends it.

    The examples of the gallery are shown but not run; tests/docs/test_examples.py does that.
    """
    with mock.patch.dict(os.environ, NO_MKDOCS_2_WARNING="1"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of mkdocs' own libraries
        config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path / "site"))
        gallery = config.hooks["docs/_hooks/gallery.py"]
        with mock.patch.multiple(gallery, CACHE=tmp_path / "gallery", run=_not_run(gallery)):
            build(config)
    return tmp_path / "site"


def _not_run(gallery):
    """As the gallery's ``run``, with neither output nor pictures."""

    def run(path, _):
        source = path.read_text(encoding="utf-8")
        return [gallery.Part(text, code, "", ()) for text, code in gallery.split(source)]

    return run


def test_the_site_builds_strictly_and_stands_alone(site):
    made = {page.relative_to(site).parent.as_posix(): page for page in site.rglob("index.html")}
    written = [page.relative_to(ROOT / "docs").with_suffix("").as_posix() for page in PAGES[1:]]
    expected = {stem.removesuffix("index").rstrip("/") or "." for stem in written}
    assert expected | {"cli", "gallery"} <= set(made)
    loaded = r"<(?:script|img|iframe|source)[^>]*\bsrc=[\"']?(?:https?:)?//[^\s>]+"
    styled = r"<link[^>]*rel=[\"']?stylesheet[^>]*href=[\"']?(?:https?:)?//[^\s>]+"
    for name, page in made.items():
        text = page.read_text(encoding="utf-8")
        assert not re.findall(f"{loaded}|{styled}", text), f"{name} fetches from elsewhere"
        assert str(ROOT) not in text, f"{name} names a folder of the machine that built it"
    assert "ExhaustiveSearch" in made["add-a-solver"].read_text("utf-8")  # the source itself
