"""Attacks on a studio's time, memory, disk and log by visitors without the token, or by half requests."""

from __future__ import annotations

import gzip
import os
import resource
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

import httpx
import pytest

from privacyfunnel.studio.guard import HEADERS
from privacyfunnel.studio.server import running
from privacyfunnel.studio.settings import Settings
from privacyfunnel.studio.worker import queue
from studio_client import DEMO_FORM, PATIENCE, QUICK, Visitor, demo_csv

FILES = 160  # that the server may have open: a thousand half-open requests were enough for 1024


@pytest.fixture
def small():
    """A studio with one worker that takes little."""
    with running(Settings(max_upload=20_000, workers=1)) as studio:
        yield studio


@contextmanager
def process(folder):
    """The address of a studio in a process of its own, with few open files."""
    with (folder / "log").open("w") as log, subprocess.Popen(
        [sys.executable, "-u", "-m", "privacyfunnel", "studio", "--no-browser"],
        stdout=subprocess.PIPE, stderr=log, text=True,
        env={**os.environ, "TMPDIR": str(folder)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES)),
    ) as server:  # fmt: skip
        try:
            yield server.stdout.readline().split()[-1]
        finally:
            server.terminate()
            server.wait(60)


def connect(address: str) -> socket.socket:
    host, port = httpx.URL(address).host, httpx.URL(address).port
    return socket.create_connection((host, port), timeout=PATIENCE)


def test_half_open_requests_and_bad_ones_do_not_lock_the_owner_out(tmp_path):
    with process(tmp_path) as address, ExitStack() as held:
        for k in range(2 * FILES):
            half = held.enter_context(connect(address))
            head = (
                "GET / HTTP/1.1\r\nHost: "
                if k % 2
                else f"POST /demo HTTP/1.1\r\nHost: {address}\r\n"
            )
            half.sendall(head.encode() + (b"" if k % 2 else b"Content-Length: 99\r\n\r\n"))
        page = httpx.get(address, follow_redirects=True, timeout=PATIENCE)
        assert page.status_code == 200
        assert 'action="/path"' in page.text
        for _ in range(300):
            with connect(address) as bad:
                bad.sendall(b"no request at all\r\n\r\n")
                bad.recv(100)
    log = (tmp_path / "log").read_text()
    assert "Traceback" not in log
    assert log.count("\n") <= 110


def test_who_sends_too_slowly_is_hung_up_on(small, monkeypatch):
    from privacyfunnel.studio import connections

    monkeypatch.setattr(connections, "FOR_HEADERS", 0.5)
    monkeypatch.setattr(connections, "FOR_BODY", 0.5)
    host = small.settings.address.split("/")[2]
    with connect(small.settings.address) as head, connect(small.settings.address) as body:
        head.sendall(b"GET / HTTP/1.1\r\n")
        body.sendall(
            f"POST /upload HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n"
            "Content-Length: 9000\r\n\r\na,b\n".encode()
        )
        assert head.recv(1) == b""
        while body.recv(1000):  # an answer that it is not known, then the end
            pass
    with Visitor(small) as owner:  # one who sends is not cut off
        time.sleep(1.0)
        assert owner.upload("t.csv", demo_csv()).status_code == 200


def test_strangers_do_not_push_out_the_owner(small, monkeypatch):
    monkeypatch.setattr("privacyfunnel.studio.sessions.MOST", 20)
    with Visitor(small) as owner:
        with httpx.Client(timeout=PATIENCE) as stranger:
            for _ in range(30):
                stranger.cookies.clear()
                stranger.get(str(owner.base_url))
        assert 'action="/path"' in owner.get("/").text
        assert owner.upload("t.csv", demo_csv()).status_code == 200


def test_strangers_at_work_are_only_so_many_and_all_stay(small, monkeypatch):
    # So few that they come faster than one worker is done with them, on a quiet machine too.
    monkeypatch.setattr(queue, "GUESTS_WAITING", 5)
    with Visitor(small, token=False) as first, httpx.Client(timeout=PATIENCE) as stranger:
        first.post("/demo")
        codes = set()
        for _ in range(600):
            stranger.cookies.clear()
            codes.add(stranger.get(str(first.base_url)).status_code)
            if (
                "Too many"
                in stranger.post(
                    f"{first.base_url}/demo", headers=dict(first.headers), follow_redirects=True
                ).text
            ):
                break
        else:
            pytest.fail("600 strangers could each put a task into the queue")
        assert first.get("/columns").url.path == "/columns"


def test_what_strangers_upload_is_bounded_together_and_the_owner_is_not_in_it(small):
    table = b"a,b\n" + b"1,2\n" * 4_000
    with ExitStack() as stack:
        answers = []
        for _ in range(10):
            guest = stack.enter_context(Visitor(small, token=False))
            answers.append(guest.upload("t.csv", table))
        assert {answer.status_code for answer in answers[:5]} == {200}
        assert "too much of others" in answers[-1].json()["error"]
        held = sum(path.stat().st_size for path in small.folder.rglob("t.csv"))
        assert held <= 5 * small.settings.max_upload
        owner = stack.enter_context(Visitor(small))
        assert owner.upload("t.csv", table).status_code == 200


def test_a_stranger_who_uploads_twice_at_once_holds_only_one(small):
    def first_half(size: int):
        yield b"a,b\n" * (size // 8)
        with Visitor(small, token=False) as same:
            same.cookies = guest.cookies
            assert same.upload("second.csv", demo_csv()).status_code == 200
        yield b"1,2\n" * (size // 8)

    with Visitor(small, token=False) as guest:
        answer = guest.upload("first.csv", first_half(16_000))
        assert answer.status_code == 400
        assert [path.name for path in small.folder.rglob("*.csv")] == ["second.csv"]


def test_the_owner_does_not_wait_for_strangers(small):
    with Visitor(small, token=False) as guest, Visitor(small) as owner:
        guest.demo()
        guest.post("/columns", data=DEMO_FORM)
        guest.finished("/columns")
        guest.post("/search", data={**QUICK, "effort": "thorough", "points": "200"})
        search = guest.job("/tradeoff", "search")
        while guest.get(f"/jobs/{search}").json()["state"] != "running":
            time.sleep(0.05)
        owner.post("/demo")
        look, end = owner.job("/columns"), time.monotonic() + 20
        while owner.get(f"/jobs/{look}").json()["state"] in ("queued", "running"):
            assert time.monotonic() < end
            time.sleep(0.1)
        assert guest.get(f"/jobs/{search}").json()["state"] == "running"
        guest.post("/reset")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://[::1"}, 400),
        ({"Host": "localhost:" + "9" * 5000}, 403),
    ],
)
def test_headers_that_make_no_sense_are_refused_with_the_policy(visitor, headers, status):
    answer = visitor.post("/demo", headers=headers)
    assert answer.status_code == status
    for name, value in HEADERS.items():
        assert answer.headers[name] == value


def test_a_number_of_five_thousand_digits_is_refused(visitor):
    visitor.demo()
    visitor.post("/columns", data=DEMO_FORM)
    visitor.finished("/columns")
    assert "whole number" in visitor.post("/search", data={"seed": "9" * 5000}).text


def test_more_bins_than_anybody_reads_are_refused(visitor):
    visitor.demo()
    form = {**DEMO_FORM, "treat-0": "bins", "how-0": "200000"}
    visitor.post("/columns", data=form)
    assert "bins" in (told := visitor.finished("/columns")), told
    assert 'id="search"' not in told


def test_a_first_line_without_end_is_refused_before_it_is_read(studio, visitor):
    with Visitor(studio) as visitor:
        visitor.upload("t.csv.gz", gzip.compress(b"a" * 60_000_000, 9))
        assert "first line" in visitor.finished("/columns")
