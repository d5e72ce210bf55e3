"""The studio's safety: who is served, what can be read, and what goes at the end."""

from __future__ import annotations

import httpx
import pytest

from privacyfunnel.errors import InvalidInput
from privacyfunnel.studio.guard import HEADERS
from privacyfunnel.studio.server import running
from privacyfunnel.studio.sessions import MOST, Sessions
from privacyfunnel.studio.settings import Settings
from privacyfunnel.studio.sources import Source
from privacyfunnel.studio.worker.queue import JobQueue
from studio_client import PATIENCE, Visitor, attributes, demo_csv


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "[::1]:1", ""])
def test_a_foreign_host_is_refused(studio, visitor, host):
    answer = visitor.get("/", headers={"Host": host})
    assert answer.status_code == 403
    assert "terminal" in answer.text


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://127.0.0.1:1"])
def test_a_post_from_another_page_is_refused(visitor, origin):
    headers = {} if origin is None else {"Origin": origin}
    if origin is None:
        del visitor.headers["Origin"]
    assert visitor.post("/demo", headers=headers).status_code == 403
    assert "Start over" not in visitor.get("/").text  # nothing was opened


def test_every_answer_has_the_security_headers(visitor):
    for address in ("/", "/nowhere", "/static/studio.js", "/static/plotly.min.js", "/jobs/x"):
        headers = visitor.get(address).headers
        for name, value in HEADERS.items():
            assert headers[name] == value
    policy = HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "script-src 'self';" in policy


def test_no_page_runs_a_script_of_its_own_or_loads_anything_from_elsewhere(visitor):
    visitor.demo()
    for address in ("/", "/columns"):
        text = visitor.get(address).text
        assert all(src.startswith("/static/") for src in attributes(text, "src"))
        assert all(
            href.startswith(("/", "#")) and not href.startswith("//")
            for href in attributes(text, "href")
        )
        assert not [name for name in ("onclick", "onload", "style") if attributes(text, name)]


def test_the_cookie_is_for_our_pages_only(studio, visitor):
    with httpx.Client(timeout=PATIENCE) as fresh:
        cookie = fresh.get(studio.settings.address).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert len(cookie.split("=")[1].split(";")[0]) >= 43  # 32 random bytes


def test_the_token_leaves_the_address_and_a_wrong_one_is_refused(studio, visitor):
    assert "token" not in str(visitor.first.url)
    assert visitor.get("/", params={"token": "wrong"}).status_code == 403


def test_without_the_token_no_file_of_the_machine_can_be_named(studio, tmp_path):
    table = tmp_path / "secret.csv"
    table.write_text(demo_csv())
    with Visitor(studio, token=False) as guest:
        assert 'action="/path"' not in guest.first.text
        assert "address with the token" in guest.post("/path", data={"path": str(table)}).text
        assert guest.get("/columns").url.path == "/"
    with Visitor(studio) as owner:
        assert 'action="/path"' in owner.first.text
        owner.post("/path", data={"path": str(table)})
        assert "442 rows" in owner.finished("/columns")


def test_beyond_this_machine_nothing_goes_without_the_token():
    with running(Settings(host="0.0.0.0", workers=1)) as studio:
        base = f"http://127.0.0.1:{studio.settings.port}"
        with httpx.Client(base_url=base, headers={"Origin": base}, timeout=PATIENCE) as stranger:
            for address in ("/", "/columns", "/jobs/x", "/files/release.csv"):
                assert stranger.get(address).status_code == 403
            assert stranger.post("/demo").status_code == 403
            page = stranger.get("/", params={"token": studio.settings.token}, follow_redirects=True)
            assert page.status_code == 200
            assert 'action="/path"' not in page.text  # files are never named from afar
            refused = stranger.post("/path", data={"path": __file__}, follow_redirects=True)
            assert "upload the file instead" in refused.text
            assert stranger.get("/", headers={"Host": "evil.example"}).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_can_neither_load_nor_send_anything(visitor, site):
    here = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}
    with httpx.Client(base_url=visitor.base_url, timeout=PATIENCE) as foreign:
        answer = foreign.get("/", headers=here)
        assert (answer.status_code, answer.cookies) == (
            403,
            httpx.Cookies(),
        )  # no session is opened
    assert visitor.post("/demo", headers={"Sec-Fetch-Site": site}).status_code == 403
    own = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "no-cors"}
    assert visitor.get("/static/studio.js", headers=own).status_code == 200


def test_a_link_from_another_site_does_not_replace_the_session(studio):
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    for address in (studio.settings.address, studio.settings.address.split("?")[0]):
        answer = httpx.get(address, headers=link, timeout=PATIENCE)
        assert answer.status_code == 200
        assert "set-cookie" not in answer.headers
        assert (
            'http-equiv="refresh"' in answer.text
        )  # our own page then asks again, with the cookie


def test_many_visitors_do_not_push_out_one_who_works(tmp_path):
    sessions = Sessions(tmp_path, JobQueue(workers=1))
    owner, _ = sessions.open(is_trusted=True)
    busy, session = sessions.open(is_trusted=False)
    session.source = Source("t.csv", "t.csv", "upload")
    idle, _ = sessions.open(is_trusted=False)
    for _ in range(MOST - 1):
        sessions.open(is_trusted=False)
    assert sessions.find(busy) is session
    assert sessions.find(owner) is not None
    assert sessions.find(idle) is None
    for held in sessions:
        held.source = session.source
    with pytest.raises(InvalidInput, match="too many visitors"):
        sessions.open(is_trusted=False)
    assert sessions.open(is_trusted=True)  # there is always room for the owner


def test_the_host_may_be_an_ipv6_address():
    studio = Settings(host="::1", port=8000, token="t")
    assert studio.address == "http://[::1]:8000/?token=t"
    assert studio.serves("[::1]:8000")
    assert not studio.serves("[::1]")
    assert not studio.serves("[::2]:8000")


def test_files_and_jobs_are_for_their_own_session_only(studio, visitor):
    visitor.demo()
    assert visitor.searched()["state"] == "done"
    visitor.released()
    job = visitor.job("/tradeoff", "search")
    assert visitor.get(f"/jobs/{job}").status_code == 200
    assert visitor.get("/files/codebook.json").status_code == 200
    with Visitor(studio) as other:
        assert other.get(f"/jobs/{job}").status_code == 404
        assert other.post(f"/jobs/{job}/cancel").status_code == 404
        assert other.get("/tradeoff").url.path == "/"
        assert other.get("/files/codebook.json").status_code == 404
    names = ("../../../etc/passwd", "result.pickle", "..%2f..%2fdemo.csv", "demo.csv")
    for address in (*(f"/files/{name}" for name in names), "/static/%2e%2e/app.py"):
        assert visitor.get(address).status_code == 404


def test_uploads_are_private_and_go_when_the_studio_ends():
    with running(Settings(workers=1)) as studio:
        with Visitor(studio) as visitor:
            assert visitor.upload("../t.csv", demo_csv()).status_code == 200
            visitor.finished("/columns")
        (kept,) = studio.folder.rglob("t.csv")
        for folder in [kept.parent, studio.folder]:
            assert folder.stat().st_mode & 0o077 == 0
    assert not studio.folder.exists()


def test_starting_over_removes_the_table(studio, visitor):
    visitor.upload("mine-alone.csv", demo_csv())
    visitor.finished("/columns")
    assert list(studio.folder.rglob("mine-alone.csv"))
    visitor.post("/reset")
    assert not list(studio.folder.rglob("mine-alone.csv"))


def test_who_is_not_known_is_sent_to_the_first_page(studio):
    base = studio.settings.address.split("/?")[0]
    with httpx.Client(base_url=base, timeout=PATIENCE) as stranger:
        page = stranger.get("/release", headers={"Accept": "text/html"})
        assert (page.status_code, page.headers["location"]) == (303, "/")
        assert stranger.get("/jobs/x").status_code == 403
