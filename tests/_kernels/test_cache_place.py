"""What is compiled is kept, and one can see whether it is there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
from privacyfunnel._kernels.cache_place import is_filled
from privacyfunnel._kernels.moves import anneal
print(is_filled())
print(anneal.stats.cache_path, anneal.py_func.__code__.co_firstlineno)
"""


@pytest.mark.parametrize("line", ["that of the loop", "another"])
def test_what_was_compiled_from_this_source_is_seen(tmp_path, line):
    def asked() -> tuple[str, str, str]:
        env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", CODE], env=env, capture_output=True, text=True, check=True
        )
        filled, place = done.stdout.splitlines()
        return filled, *place.rsplit(" ", 1)

    filled, folder, number = asked()
    assert filled == "False"
    Path(folder).mkdir(parents=True, exist_ok=True)
    number = number if line == "that of the loop" else "1"
    (Path(folder) / f"moves.anneal-{number}.py311.nbi").touch()
    assert asked()[0] == str(line == "that of the loop")
