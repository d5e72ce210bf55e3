"""The README's Python runs as it stands."""

import re
from pathlib import Path

import matplotlib
import pytest

README = Path(__file__).parents[1] / "README.md"


def test_the_readmes_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 2
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
    assert names["release"].utility / names["joint"].entropy_x == pytest.approx(0.4, abs=0.01)
    assert names["encoder"].relevance_ > 0.1


def test_its_commands_exist():
    from privacyfunnel.cli import app

    commands = {command.name for command in app.registered_commands}
    used = set(re.findall(r"(?:^\$ |`)funnel ([a-z]+)", README.read_text("utf-8"), re.MULTILINE))
    assert {"release", "audit"} <= used <= commands
