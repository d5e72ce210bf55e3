"""Attacks on what a killed studio leaves behind: uploads on the disk, and processes that go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import httpx
import psutil

from privacyfunnel.studio.private_folder import remove_orphans
from studio_client import DEMO_FORM, PATIENCE, QUICK, demo_csv


def start(folder):
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "privacyfunnel", "studio", "--no-browser", "--jobs", "1"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )  # fmt: skip
    return server, server.stdout.readline().split()[-1]


def stop(server, how=signal.SIGTERM) -> None:
    server.send_signal(how)
    server.communicate(timeout=60)


def begin(address: str) -> None:
    """A table uploaded, and a long search begun."""
    base = address.split("/?")[0]
    with httpx.Client(
        base_url=base, headers={"Origin": base}, follow_redirects=True, timeout=PATIENCE
    ) as visitor:
        visitor.get(address)
        visitor.post("/upload", params={"name": "mine.csv"}, content=demo_csv())
        for form, page in (
            (DEMO_FORM, "/columns"),
            ({**QUICK, "effort": "thorough", "points": "200"}, "/search"),
        ):
            while 'data-job="' in visitor.get("/columns").text:
                time.sleep(0.1)
            visitor.post(page, data=form)


def test_after_a_kill_nothing_is_left_by_the_next_start(tmp_path):
    killed, address = start(tmp_path)
    begin(address)
    children = psutil.Process(killed.pid).children(recursive=True)
    stop(killed, signal.SIGKILL)
    (left,) = {path.parent.parent for path in tmp_path.rglob("mine.csv")}
    _, alive = psutil.wait_procs(children, timeout=PATIENCE)
    assert alive == []  # no process goes on with a search that nobody waits for
    living, _ = start(tmp_path)
    try:
        assert not left.exists()
        (own,) = tmp_path.glob("funnel-studio-*")
        remove_orphans(tmp_path)  # as another studio would
        assert own.exists()
    finally:
        stop(living)
    assert os.listdir(tmp_path) == []
