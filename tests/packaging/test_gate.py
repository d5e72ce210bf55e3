"""The gate of action.yml: its script run as a workflow would run it; the other recipes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))


def step(tmp_path: Path, **given: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """Run the action's second step with its inputs, and read what it put out."""
    table = tmp_path / "published.csv"
    table.write_text("sex,town\n" + "f,a\nm,a\nf,b\nm,b\n" * 10, encoding="utf-8")
    inputs = {name: about.get("default", "") for name, about in ACTION["inputs"].items()}
    inputs |= {"table": str(table), "sensitive": "sex", "public": "town"}
    inputs |= {name.replace("_", "-"): value for name, value in given.items()}
    gate = ACTION["runs"]["steps"][1]
    env = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: inputs[m.group(1)], value)
        for name, value in gate["env"].items()
    }
    commands = Path(sys.executable).parent
    output, summary = tmp_path / "output", tmp_path / "summary"
    done = subprocess.run(
        ["bash", "-c", gate["run"]],
        env=os.environ
        | env
        | {
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = output.read_text("utf-8").splitlines() if output.exists() else []
    return done, dict(line.split("=", 1) for line in lines)


def test_limits_that_are_kept_pass(tmp_path: Path) -> None:
    done, output = step(tmp_path, max_leakage="0.01", min_k="5")
    assert done.returncode == 0, done.stdout + done.stderr
    assert output == {"verdict": "kept", "report": "privacyfunnel-audit.html"}
    assert (tmp_path / "privacyfunnel-audit.html").exists()
    assert "All 2 limits are kept." in (tmp_path / "summary").read_text("utf-8")


def test_a_broken_limit_fails_the_step(tmp_path: Path) -> None:
    done, output = step(tmp_path, min_k="50")
    assert done.returncode == 3
    assert output["verdict"] == "broken"
    assert "limit broken" in (tmp_path / "summary").read_text("utf-8")


def test_a_column_s_name_is_never_a_command(tmp_path: Path) -> None:
    done, output = step(tmp_path, public="$(touch taken)`touch taken`")
    assert done.returncode == 2
    assert not output
    assert not (tmp_path / "taken").exists()


def test_every_input_reaches_the_script() -> None:
    steps = yaml.safe_dump(ACTION["runs"]["steps"])
    assert {name for name in ACTION["inputs"] if f"inputs.{name} " not in steps} == set()


def test_the_conda_recipe_asks_for_what_the_package_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"]]
    for extra in ("audit", "export", "plots", "studio"):
        asked += extras[extra]
    recipe = yaml.safe_load((ROOT / "packaging" / "recipe.yaml").read_text("utf-8"))
    renamed = {"python-duckdb": "duckdb", "matplotlib-base": "matplotlib"}
    parts = [line.split() for line in recipe["requirements"]["run"]]
    assert {f"{renamed.get(name, name)}{bound}" for name, bound in parts} == {
        *asked,
        f"python{project['requires-python']}",
    }


def _docker_runs() -> bool:
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not _docker_runs(), reason="no Docker engine runs here")
def test_the_image_is_built_and_runs_as_nobody_special() -> None:
    build = ["docker", "build", "-q", "-f", "packaging/Dockerfile", "."]
    image = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=True)
    done = subprocess.run(
        ["docker", "run", "--rm", "--entrypoint", "id", image.stdout.strip(), "-un"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "curator"
