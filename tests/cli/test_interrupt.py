"""Ctrl-C at any moment: one line, exit 130, nothing left behind; no traceback, not even a worker's."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

import privacyfunnel as pf


def busiest(process: subprocess.Popen[str]) -> float:
    """The seconds of the processor that the busiest worker has had; below zero while there is none."""
    try:
        workers = psutil.Process(process.pid).children(recursive=True)
        return max((worker.cpu_times().user for worker in workers), default=-1.0)
    except psutil.NoSuchProcess:
        return -1.0


@pytest.mark.slow
@pytest.mark.parametrize("moment", [0.4, 1.5, "workers start", "workers search"])
def test_an_interrupt_ends_in_one_line(tmp_path, moment):
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
    if isinstance(moment, float):
        time.sleep(moment)
    else:
        while busiest(process) < (0.0 if moment == "workers start" else 3.0):  # 2 s are of imports
            assert process.poll() is None
            time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it too
    _, errors = process.communicate(timeout=60)
    assert process.returncode in (130, -signal.SIGINT)
    assert process.returncode == 130 or moment == 0.4  # Python itself was still starting
    assert errors == "funnel: interrupted\n" or moment == 0.4
    assert [path.name for path in tmp_path.iterdir()] == ["demo.csv"]
