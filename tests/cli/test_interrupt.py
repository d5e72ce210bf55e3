"""Ctrl-C at any moment: one line, exit 130, nothing left behind; no traceback, not even a worker's."""

import os
import signal
import subprocess
import sys
import time

import pytest

import privacyfunnel as pf


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.4, 1.5, 4, 7])
def test_an_interrupt_ends_in_one_line(tmp_path, seconds):
    pf.datasets.load_demo().to_csv(tmp_path / "demo.csv", index=False)
    args = ["frontier", "demo.csv", "-s", "age,sex", "-x", "sex,chol", "--effort", "thorough"]
    run = "import sys; from privacyfunnel.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", run, *args, "-o", "out"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it too
    _, errors = process.communicate(timeout=60)
    assert process.returncode in (130, -signal.SIGINT)
    assert process.returncode == 130 or seconds < 1  # Python itself was still starting
    assert errors == "funnel: interrupted\n" or seconds < 1
    assert [path.name for path in tmp_path.iterdir()] == ["demo.csv"]
