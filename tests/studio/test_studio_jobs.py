"""The studio's tasks in their processes, many visitors at once, and the command that starts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from privacyfunnel.cli import run
from privacyfunnel.studio.worker.queue import DIED, Job, JobQueue
from studio_client import DEMO_FORM, PATIENCE, QUICK, Visitor, demo_csv


def test_jobs_wait_their_turn_and_can_be_stopped_in_the_queue(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text(demo_csv())
    jobs = JobQueue(workers=1)
    arguments = {"table": str(table)}
    several = [jobs.start(Job("look", arguments, tmp_path)) for _ in range(4)]
    jobs.cancel(several[2])
    for job in several:
        job.answered.wait(60)
        assert sum(other.state == "running" for other in several) <= 1
    assert [job.state for job in several] == ["done", "done", "cancelled", "done"]
    assert several[2].process is None
    jobs.close()


def test_a_running_job_can_be_stopped_and_its_process_ends(visitor, studio):
    visitor.demo()
    visitor.post("/columns", data=DEMO_FORM)
    visitor.finished("/columns")
    visitor.post("/search", data={**QUICK, "points": "200"})
    job_id = visitor.job("/tradeoff", "search")
    while not (seen := visitor.get(f"/jobs/{job_id}").json())["news"].get("points"):
        assert seen["state"] in ("queued", "running")
        time.sleep(0.05)
    assert seen["total"] == 400
    job = next(s.job(job_id) for s in studio.sessions if s.job(job_id))
    assert visitor.post(f"/jobs/{job_id}/cancel").json() == {"state": "cancelled"}
    job.answered.wait(30)
    assert job.process is None
    assert visitor.get(f"/jobs/{job_id}").json()["state"] == "cancelled"
    assert "wait until" in visitor.post("/choose", data={"by": "utility", "value": "0.4"}).text


def test_a_killed_process_and_a_fault_of_ours_are_told(tmp_path):
    jobs = JobQueue(workers=2)
    broken = jobs.start(Job("no such task", {}, tmp_path))
    broken.answered.wait(60)
    assert broken.state == "failed"
    assert "went wrong in the studio itself (KeyError)" in broken.error
    table = tmp_path / "t.csv"
    table.write_text(demo_csv())
    killed = Job("look", {"table": str(table)}, tmp_path)
    watched = jobs.start(killed)
    while killed.process is None and killed.is_active:
        time.sleep(0.001)
    killed.process.kill()  # as the system does when memory is short
    watched.answered.wait(60)
    assert (killed.state, killed.error) == ("failed", DIED)
    jobs.close()


def test_twenty_sessions_run_the_demo_at_once_and_all_finish(studio):
    def one(_: int) -> tuple[str, int]:
        with Visitor(studio) as visitor:
            visitor.demo()
            job = visitor.searched()
            return job["state"], len(job["news"]["points"])

    answered = 0
    with ThreadPoolExecutor(20) as pool, Visitor(studio) as bystander:
        sessions = [pool.submit(one, k) for k in range(20)]
        while not all(session.done() for session in sessions):
            assert bystander.get("/").status_code == 200
            answered += 1
            time.sleep(0.05)
    found = [session.result() for session in sessions]
    assert {state for state, _ in found} == {"done"}
    assert len(set(found)) == 1  # the same table and seed, the same frontier
    assert answered > 50  # meanwhile; benchmarks/studio.py says how quickly


@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP"])  # the latter is passed on as SIGTERM
def test_the_command_says_where_it_is_and_ends_cleanly(tmp_path, name):
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "privacyfunnel", "studio", "--no-browser"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path), "HOME": str(tmp_path)},
    )  # fmt: skip
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        address = line.split()[-1]
        assert address.startswith("http://127.0.0.1:")
        assert httpx.get(address, follow_redirects=True, timeout=PATIENCE).status_code == 200
        assert len(list(tmp_path.glob("funnel-studio-*"))) == 1
    finally:
        process.send_signal(getattr(signal, name))
        _, errors = process.communicate(timeout=60)
    assert process.returncode in (0, 130), errors
    assert "Traceback" not in errors
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--port", "70000"], "--port must be 65535 or less"),
        (["--jobs", "0"], "--jobs must be 1 or more"),
        (["--max-upload", "nan"], "--max-upload must be a number"),
        (["--host", "203.0.113.9"], "cannot listen on 203.0.113.9"),
        (["t.csv", "--host", "0.0.0.0"], "leave it out and upload it"),
        (["/nowhere/t.csv"], "no such file: /nowhere/t.csv"),
        ([""], "name a file"),
    ],
)
def test_a_wrong_command_is_told_in_one_line(monkeypatch, capsys, words, complaint):
    monkeypatch.setattr(sys, "argv", ["funnel", "studio", "--no-browser", *words])
    monkeypatch.setattr(
        "signal.signal", lambda *_: None
    )  # the test's own process keeps its handlers
    assert run() == 2
    errors = capsys.readouterr().err
    assert complaint in errors
    assert errors.count("\n") == 1
