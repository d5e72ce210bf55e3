"""The house: a module imports only from rooms above it, as docs/house.md draws them; no cycles."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "privacyfunnel"
FRONT_ENDS = {"cli", "studio", "__main__"}

# Imports that break the rule all the same: modules or whole rooms, with the reason.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("joint", "columns"): "Joint.from_table is a front door; where a missing value is listed",
    ("joint", "tables"): "Joint.from_table is a front door; imported in the call",
    ("cli.studio", "studio"): "the command that starts it",
    ("tables.table", "tables.join"): "the type of what an engine is asked to carry out",
    ("codebook.codebook", "codebook"): "its file, checks, groups and counts are functions over it",
}


@cache
def modules() -> dict[str, Path]:
    """The package's modules by their names within it; the package itself is ``""``."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(name: str) -> set[tuple[str, str]]:
    """The pairs (module, name) that a module takes from the package, wherever the import stands."""
    path, found = modules()[name], set()
    package = ["privacyfunnel", *name.split(".")] if name else ["privacyfunnel"]
    package = package if path.name == "__init__.py" else package[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            taken = [(source, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            taken = [(alias.name, "") for alias in node.names]
        else:
            continue
        for source, what in taken:
            if source.split(".")[0] != "privacyfunnel":
                continue
            inner = source.removeprefix("privacyfunnel").lstrip(".")
            whole = f"{inner}.{what}".strip(".")
            found.add((whole, "") if what and whole in modules() else (inner, what))
    return found


@cache
def walk() -> dict[str, set[str]]:
    """Which modules each module imports."""
    return {name: {target for target, _ in imports_of(name)} for name in modules() if name}


def room(name: str) -> str:
    return name.split(".")[0]


def block_under(heading: str) -> list[tuple[str, str]]:
    """The lines of the block of text under a heading of the page: a place, and what it holds."""
    page = (ROOT / "docs" / "house.md").read_text("utf-8")
    (block,) = re.findall(rf"^## {heading}$.*?^```text\n(.*?)^```", page, re.M | re.S)
    lines = [re.fullmatch(r"( *\S+) {2,}(\S.*)", line) for line in block.splitlines()]
    assert all(lines), f"a line under {heading!r} is not a place, two spaces and words"
    return [(line.group(1), line.group(2)) for line in lines if line]


@cache
def rooms() -> list[str]:
    """The rooms from the top of the house to its foot; folders within rooms are left out."""
    drawn = [place for place, _ in block_under("The rooms") if not place.startswith(" ")]
    return [place.removesuffix("/").removesuffix(".py") for place in drawn]


def test_the_page_draws_every_room():
    drawn, above = [], ""
    for place, _ in block_under("The rooms"):
        inner = place.startswith(" ")
        above = above if inner else place
        drawn.append(f"{above}{place.strip()}" if inner else place)
    assert not [place for place in drawn if not (SOURCE / place).exists()]
    assert set(rooms()) | {"__main__", ""} == {room(name) for name in modules()}


def test_the_page_draws_the_folders_within_rooms():
    above, drawn = "", set()
    for place, _ in block_under("The rooms"):
        above = above if place.startswith(" ") else place
        drawn |= {f"{above}{place.strip()}"} if place.startswith(" ") else set()
    deep = {path.parent.relative_to(SOURCE) for path in SOURCE.rglob("*.py")}
    assert drawn == {f"{folder.as_posix()}/" for folder in deep if len(folder.parts) > 1}


def test_the_page_names_places_that_are_there():
    text = "\n".join(f"{a} {b}" for a, b in block_under("Where a decision stands"))
    named = re.findall(r"[\w/]+(?:\.py|/(?= ))", text)
    assert len(named) > 18
    assert not [place for place in named if not (SOURCE / place).exists()]


def within(name: str, place: str) -> bool:
    return name == place or (place != "" and name.startswith(f"{place}."))


def excepted(name: str, target: str) -> set[tuple[str, str]]:
    """The exceptions that allow this import."""
    return {(a, b) for a, b in EXCEPTIONS if within(name, a) and within(target, b)}


def breaks_of_the_rule() -> set[tuple[str, str]]:
    """Imports from rooms below, and of the whole package by another than a front end."""
    order = {name: place for place, name in enumerate(rooms())} | {"__main__": len(rooms())}
    found = {
        (name, target)
        for name, targets in walk().items()
        for target in targets - {""}
        if order[room(target)] > order[room(name)]
    }
    for name in walk():
        whole = {what for target, what in imports_of(name) if target == ""}
        if whole - {"__version__"} and room(name) not in FRONT_ENDS:
            found.add((name, ""))
    return found


def test_a_module_imports_only_from_rooms_above_it():
    wrong = [f"{a} imports {b or 'all'}" for a, b in breaks_of_the_rule() if not excepted(a, b)]
    assert not wrong, "\n".join(sorted(wrong))


def test_no_modules_import_each_other_in_a_circle():
    graph = {
        name: {target for target in targets - {"", name} if not excepted(name, target)}
        for name, targets in walk().items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_every_exception_is_needed():
    pairs = {(name, target) for name, targets in walk().items() for target in targets}
    assert {found for pair in pairs for found in excepted(*pair)} == set(EXCEPTIONS)


def test_the_path_of_a_release_is_the_one_that_the_code_walks():
    reached, todo = set(), ["releases.release"]
    while todo:
        name = todo.pop()
        if name not in reached and name in walk():
            reached.add(name)
            todo.extend(walk()[name])
    path = [place for place, _ in block_under("The path of a release")]
    assert not [place for place in path if place not in modules()]
    assert not [place for place in path if place not in reached]


@pytest.mark.parametrize("script", sorted((ROOT / "benchmarks").glob("*.py")), ids=lambda p: p.name)
def test_benchmarks_import_what_is_there(script):
    """They are not run here, so that a name which has gone would go unnoticed."""
    for node in ast.walk(ast.parse(script.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("privacyfunnel"):
            source = import_module(str(node.module))
            for alias in node.names:
                is_module = (
                    f"{node.module}.{alias.name}".removeprefix("privacyfunnel.") in modules()
                )
                assert is_module or hasattr(source, alias.name), f"{node.module}.{alias.name}"


def test_the_walk_sees_what_it_must_see():
    """Imports within functions, those for types alone, and relative ones are all seen."""
    assert "tables" in {room(target) for target in walk()["joint"]}  # within from_table
    assert ("", "__version__") in imports_of("cli.app")
    assert any(target.startswith("audits.") for target in walk()["audits"])
