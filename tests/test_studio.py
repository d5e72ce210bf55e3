"""The studio as programs see it: safety, sessions, jobs, bad tables, and that its recipe is true."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pandas as pd
import pytest

from privacyfunnel import datasets
from privacyfunnel.errors import InvalidInput
from privacyfunnel.report import Asked
from privacyfunnel.studio import recipe
from privacyfunnel.studio.answers import Answers, ColumnAnswer, guess, read_answers, read_search
from privacyfunnel.studio.guard import HEADERS
from privacyfunnel.studio.jobs import DIED, Job, Jobs
from privacyfunnel.studio.server import running
from privacyfunnel.studio.settings import Settings
from privacyfunnel.studio.sources import Source, safe_name

EVIL = "<img src=x onerror=\"document.title='owned'\">"
DEMO_FORM = {
    "treat-0": "category", "treat-1": "category", "treat-2": "category",
    "sensitive-0": "on", "sensitive-1": "on", "public-1": "on", "public-2": "on",
}  # fmt: skip
QUICK = {"effort": "fast", "points": "2"}
FILES = ["release.parquet", "codebook.json", "report.html", "report.json"]


class Visitor(httpx.Client):
    """A browser without a screen: keeps cookies, names its origin, follows redirects."""

    def __init__(self, studio, token: bool = True) -> None:
        base = studio.settings.address.split("/?")[0]
        super().__init__(base_url=base, headers={"Origin": base}, timeout=60, follow_redirects=True)
        self._start = studio.settings.address if token else "/"

    def __enter__(self):
        super().__enter__()
        self.first = self.get(self._start)
        return self

    def upload(self, name: str, content: bytes | str) -> httpx.Response:
        return self.post("/upload", params={"name": name}, content=content)

    def job(self, page: str, key: str = "job") -> str:
        """The id of the task that a page waits for."""
        return attributes(self.get(page).text, f"data-{key}")[0]

    def wait(self, job_id: str) -> dict:
        for _ in range(3600):
            job = self.get(f"/jobs/{job_id}").json()
            if job["state"] not in ("queued", "running"):
                return job
            time.sleep(0.05)
        raise AssertionError(f"not done after three minutes: {job}")

    def settle(self, page: str) -> str:
        """The page once it waits for nothing."""
        for job_id in attributes(self.get(page).text, "data-job"):
            self.wait(job_id)
        return self.get(page).text

    def demo(self) -> None:
        self.post("/demo")
        self.settle("/columns")

    def searched(self, form=DEMO_FORM, settings=QUICK) -> dict:
        """The columns marked and the frontier searched."""
        self.post("/columns", data=form)
        self.settle("/columns")
        self.post("/search", data=settings)
        return self.wait(self.job("/tradeoff", "search"))

    def released(self, target=("utility", "0.3"), options=()) -> str:
        """A release chosen and made; the page that shows it."""
        by, value = target
        started = self.post("/choose", data={"by": by, "value": value}).json()
        assert self.wait(started["job"])["state"] == "done"
        self.post("/release", data=dict(options))
        return self.settle("/release")


def attributes(page: str, name: str) -> list[str]:
    """The values of an attribute, in the order of the page."""
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            found.extend(value for key, value in attrs if key == name)

    Reader().feed(page)
    return found


def element(page: str, wanted: str) -> str:
    """The text of the element with an id."""
    found, inside = [], []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            if dict(attrs).get("id") == wanted:
                inside.append(tag)

        def handle_endtag(self, tag):
            if inside and inside[-1] == tag:
                inside.pop()

        def handle_data(self, data):
            if inside:
                found.append(data)

    Reader().feed(page)
    return "".join(found)


@pytest.fixture(scope="module")
def studio():
    with running(Settings(max_upload=100_000, workers=2)) as studio:
        yield studio


@pytest.fixture
def visitor(studio):
    with Visitor(studio) as visitor:
        yield visitor


def demo_csv() -> str:
    return datasets.load_demo().to_csv(index=False)


# Safety


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
    with httpx.Client() as fresh:
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
        assert "442 rows" in owner.settle("/columns")


def test_beyond_this_machine_nothing_goes_without_the_token():
    with running(Settings(host="0.0.0.0", workers=1)) as studio:
        base = f"http://127.0.0.1:{studio.settings.port}"
        with httpx.Client(base_url=base, headers={"Origin": base}) as stranger:
            for address in ("/", "/columns", "/jobs/x", "/files/release.csv"):
                assert stranger.get(address).status_code == 403
            assert stranger.post("/demo").status_code == 403
            page = stranger.get("/", params={"token": studio.settings.token}, follow_redirects=True)
            assert page.status_code == 200
            assert 'action="/path"' not in page.text  # files are never named from afar
            refused = stranger.post("/path", data={"path": __file__}, follow_redirects=True)
            assert "upload the file instead" in refused.text
            assert stranger.get("/", headers={"Host": "evil.example"}).status_code == 403


def test_one_session_cannot_see_or_stop_the_work_of_another(studio):
    with Visitor(studio) as one, Visitor(studio) as two:
        one.demo()
        assert one.searched()["state"] == "done"
        job = one.job("/tradeoff", "search")
        assert one.get(f"/jobs/{job}").status_code == 200
        assert two.get(f"/jobs/{job}").status_code == 404
        assert two.post(f"/jobs/{job}/cancel").status_code == 404
        assert two.get("/tradeoff").url.path == "/"
        one.released()
        assert one.get("/files/release.parquet").status_code == 200
        assert two.get("/files/release.parquet").status_code == 404


def test_only_the_files_of_the_release_can_be_downloaded(visitor):
    visitor.demo()
    visitor.searched()
    visitor.released()
    assert visitor.get("/files/codebook.json").status_code == 200
    for name in ("../../../etc/passwd", "kept.pickle", "..%2f..%2fdemo.csv", "demo.csv"):
        assert visitor.get(f"/files/{name}").status_code == 404


def test_uploads_are_private_and_go_when_the_studio_ends():
    with running(Settings(workers=1)) as studio:
        with Visitor(studio) as visitor:
            assert visitor.upload("../t.csv", demo_csv()).status_code == 200
            visitor.settle("/columns")
        (kept,) = studio.folder.rglob("t.csv")
        for folder in [kept.parent, studio.folder]:
            assert folder.stat().st_mode & 0o077 == 0
    assert not studio.folder.exists()


def test_starting_over_removes_the_table(studio, visitor):
    visitor.upload("mine-alone.csv", demo_csv())
    visitor.settle("/columns")
    assert list(studio.folder.rglob("mine-alone.csv"))
    visitor.post("/reset")
    assert not list(studio.folder.rglob("mine-alone.csv"))


def test_who_is_not_known_is_sent_to_the_first_page(studio):
    base = studio.settings.address.split("/?")[0]
    with httpx.Client(base_url=base) as stranger:
        page = stranger.get("/release", headers={"Accept": "text/html"})
        assert (page.status_code, page.headers["location"]) == (303, "/")
        assert stranger.get("/jobs/x").status_code == 403


# Uploads and tables that cannot be used


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("big.csv", b"a,b\n" + b"1,2\n" * 30_000, "larger than the 0.1 MB"),
        ("table.xlsx", b"PK", "must end in .csv"),
        ("", b"a,b\n1,2\n", "must end in .csv"),
        ("empty.csv", b"", "is empty"),
    ],
)
def test_an_upload_that_cannot_be_is_refused_in_words(visitor, name, content, words):
    answer = visitor.upload(name, content)
    assert answer.status_code == 400
    assert words in answer.json()["error"]
    assert visitor.get("/columns").url.path == "/"


def test_an_upload_that_does_not_say_how_long_it_is_is_cut_off(studio, visitor):
    def endless():
        for _ in range(1000):
            yield b"1,2\n" * 1000

    try:
        answer = visitor.upload("endless.csv", endless())
        assert "larger than" in answer.json()["error"]
    except httpx.TransportError:  # the server has hung up, which is as well
        pass
    assert not list(studio.folder.rglob("endless.csv"))


def test_an_upload_that_is_broken_off_leaves_nothing(studio, visitor):
    def broken():
        yield b"a,b\n1,2\n"
        raise ConnectionError

    with pytest.raises(ConnectionError):
        visitor.upload("half.csv", broken())
    for _ in range(200):
        if not list(studio.folder.rglob("half.csv")):
            break
        time.sleep(0.05)
    assert not list(studio.folder.rglob("half.csv"))
    assert visitor.get("/columns").url.path == "/"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("bad.csv", b"a,b\n1,2\n3\n", "bad.csv"),
        ("latin.csv", "a,b\n\xe9,2\n".encode("latin-1"), "UTF-8"),
        ("fake.parquet", b"no parquet at all", "fake.parquet"),
        ("blank.csv", b"\n\n", "is empty"),
    ],
)
def test_a_bad_table_is_told_in_words_without_our_paths(studio, visitor, name, content, words):
    assert visitor.upload(name, content).status_code == 200
    page = visitor.settle("/columns")
    assert words in page
    assert "Choose another table" in page
    assert str(studio.folder) not in page
    assert "Traceback" not in page


def test_a_file_that_is_not_there_is_told(visitor):
    visitor.post("/path", data={"path": "/nowhere/at/all.csv"})
    assert "No such file: /nowhere/at/all.csv." in visitor.settle("/columns")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sensitive-0": None, "sensitive-1": None}, "at least one column as sensitive"),
        ({"public-1": None, "public-2": None}, "at least one column as to publish"),
        ({"treat-0": "identifier"}, "choose one of the two"),
        ({"treat-0": "bins", "how-0": ""}, "needs a number of bins"),
        ({"treat-0": "bins", "how-0": "ten"}, "needs numbers or dates"),
        ({"treat-0": "magic"}, "magic"),
        ({"missing": "never"}, "never"),
    ],
)
def test_answers_that_make_no_sense_are_told_on_the_page(visitor, change, words):
    visitor.demo()
    form = {k: v for k, v in {**DEMO_FORM, **change}.items() if v is not None}
    answer = visitor.post("/columns", data=form)
    assert words in answer.text
    assert attributes(answer.text, "data-job") == []  # nothing was started


def test_names_and_values_are_shown_and_never_run(visitor):
    table = pd.DataFrame({EVIL: ["<b>", "\u202ex", "y"] * 20, "two": [0, 1, 1, 0] * 15})
    visitor.upload("evil.csv", table.to_csv(index=False))
    page = visitor.settle("/columns")
    assert escape(EVIL, quote=False) in page.replace("&#34;", '"').replace("&#39;", "'")
    assert "&lt;b&gt;" in page
    assert "\\u202ex" in page  # what turns the direction of text is spelled out
    visitor.searched(
        {"treat-0": "category", "treat-1": "category", "sensitive-1": "on", "public-0": "on"}
    )
    visitor.released()
    for address in ("/columns", "/tradeoff", "/chosen", "/release"):
        text = visitor.get(address).text
        assert "<img" not in text
        assert "<b>\\u202e" not in text
    assert visitor.get("/files/report.html").headers["content-disposition"].startswith("attachment")


# Jobs


def test_jobs_wait_their_turn_and_can_be_stopped_in_the_queue(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text(demo_csv())
    jobs = Jobs(workers=1)
    arguments = {"table": str(table)}
    several = [jobs.start(Job("look", arguments, tmp_path)) for _ in range(4)]
    jobs.cancel(several[2])
    for job in several:
        job.future.result(timeout=60)
        assert sum(other.state == "running" for other in several) <= 1
    assert [job.state for job in several] == ["done", "done", "cancelled", "done"]
    assert several[2].process is None
    jobs.close(several)


def test_a_running_job_can_be_stopped_and_its_process_ends(visitor, studio):
    visitor.demo()
    visitor.post("/columns", data=DEMO_FORM)
    visitor.settle("/columns")
    visitor.post("/search", data={"effort": "thorough", "points": "200"})
    job_id = visitor.job("/tradeoff", "search")
    while not (seen := visitor.get(f"/jobs/{job_id}").json())["told"].get("points"):
        assert seen["state"] in ("queued", "running")
        time.sleep(0.05)
    assert seen["total"] == 400
    job = next(s.job(job_id) for s in studio.sessions if s.job(job_id))
    assert visitor.post(f"/jobs/{job_id}/cancel").json() == {"state": "cancelled"}
    job.future.result(timeout=30)
    assert job.process is None
    assert visitor.get(f"/jobs/{job_id}").json()["state"] == "cancelled"
    assert "wait until" in visitor.post("/choose", data={"by": "utility", "value": "0.4"}).text


def test_a_killed_process_and_a_fault_of_ours_are_told(tmp_path):
    jobs = Jobs(workers=2)
    broken = jobs.start(Job("no such task", {}, tmp_path))
    broken.future.result(timeout=60)
    assert broken.state == "failed"
    assert "went wrong in the studio itself (KeyError)" in broken.error
    table = tmp_path / "t.csv"
    table.write_text(demo_csv())
    killed = Job("look", {"table": str(table)}, tmp_path)
    watched = jobs.start(killed)
    while killed.process is None and killed.is_active:
        time.sleep(0.001)
    killed.process.kill()  # as the system does when memory is short
    watched.future.result(timeout=60)
    assert (killed.state, killed.error) == ("failed", DIED)
    jobs.close([broken, killed])


def test_twenty_sessions_run_the_demo_at_once_and_all_finish(studio):
    def one(_: int) -> tuple[str, int]:
        with Visitor(studio) as visitor:
            visitor.demo()
            job = visitor.searched()
            return job["state"], len(job["told"]["points"])

    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(one, range(20)))
    assert {state for state, _ in found} == {"done"}
    assert len(set(found)) == 1  # the same table and seed, the same frontier


# The whole job, and its recipe


def run(folder: Path, command: str) -> None:
    words = shlex.split(command)
    program = {"funnel": [sys.executable, "-m", "privacyfunnel"], "python": [sys.executable]}
    done = subprocess.run(
        [*program[words[0]], *words[1:]], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("is_soft", [False, True])
def test_the_command_and_the_code_make_the_same_files(visitor, tmp_path, is_soft):
    rows = datasets.load_demo().iloc[:150]
    rows["name, it's"] = ["a", "b", None] * 50
    upload = rows.to_csv(index=False)
    assert visitor.upload("some patients.csv", upload).json() == {"go": "/columns"}
    visitor.settle("/columns")
    form = {
        "treat-0": "bins", "how-0": "30, 50, 60", "sensitive-0": "on",
        "treat-1": "category", "public-1": "on",
        "treat-2": "bins", "how-2": "5", "public-2": "on",
        "treat-3": "category", "public-3": "on", "missing": "drop",
    }  # fmt: skip
    settings = {**QUICK, "seed": "3", **({"compare": "on"} if is_soft else {"min_count": "4"})}
    assert visitor.searched(form, settings)["state"] == "done"
    if is_soft:
        compared = visitor.wait(visitor.job("/tradeoff", "compare"))
        assert compared["state"] == "done", compared
        assert len(compared["told"]["noise"]) == 80
    fields = {"by": "leakage", "value": "0.12", **({"soft": "on"} if is_soft else {})}
    started = visitor.post("/choose", data=fields).json()
    assert visitor.wait(started["job"])["state"] == "done"
    chosen = visitor.get("/chosen").text
    visitor.post("/release", data={"format": "parquet", "expand": "on"})
    page = visitor.settle("/release")
    (tmp_path / "some patients.csv").write_text(upload)
    run(tmp_path, element(page, "command"))
    for name in FILES:
        mine = visitor.get(f"/files/{name}").content
        assert mine == (tmp_path / "release" / name).read_bytes(), name
    report = json.loads((tmp_path / "release" / "report.json").read_text())
    for name in ("utility", "leakage"):  # what was shown before is what was made
        shown = float(attributes(chosen, f"data-{name}")[0])
        assert shown == pytest.approx(report["measured"][name], rel=1e-12)
    again = tmp_path / "again"
    again.mkdir()
    (again / "some patients.csv").write_text(upload)
    (again / "make.py").write_text(element(page, "code"))
    run(again, "python make.py")
    for name in FILES[:2]:
        assert (again / "release" / name).read_bytes() == visitor.get(f"/files/{name}").content


def test_the_demo_has_a_recipe_too(visitor, tmp_path):
    visitor.demo()
    visitor.searched()
    page = visitor.released(options={"format": "csv", "is_public": "on"})
    run(tmp_path, element(page, "before"))
    run(tmp_path, element(page, "command"))
    for name in ["release.csv", *FILES[1:]]:
        assert visitor.get(f"/files/{name}").content == (tmp_path / "release" / name).read_bytes()
    assert pd.read_csv(io.BytesIO(visitor.get("/files/release.csv").content)).shape == (442, 1)


def test_a_column_that_the_command_line_cannot_name_is_said(visitor):
    answers = Answers(
        (ColumnAnswer(" a", "text", sensitive=True), ColumnAnswer("b", "text", public=True))
    )
    asked, source = Asked("t.csv", {"utility": 0.5}), Source("t.csv", "t.csv", "upload")
    command, why = recipe.command_or_why(source, answers, asked)
    assert command == ""
    assert "Python code" in why


def test_a_table_of_the_command_line_is_open_at_once(tmp_path):
    (tmp_path / "t.csv").write_text(demo_csv())
    with running(Settings(table=str(tmp_path / "t.csv"), workers=1)) as studio:
        with Visitor(studio) as visitor:
            assert visitor.first.url.path == "/columns"
            assert "442 rows" in visitor.settle("/columns")
        with Visitor(studio, token=False) as guest:
            assert "t.csv" not in guest.first.text


# Answers


def test_guesses_follow_what_the_columns_hold():
    def column(kind, distinct, nearly_unique=False, usable=True):
        return {"name": f"{kind}{distinct}", "kind": kind, "distinct": distinct,
                "nearly_unique": nearly_unique, "usable": usable}  # fmt: skip

    columns = [
        column("integer", 58), column("integer", 300), column("integer", 999, True),
        column("number", 900, True), column("text", 900, True), column("text", 900),
        column("date", 900, True), column("BLOB", None, usable=False),
    ]  # fmt: skip
    found = [(c.treat, c.how) for c in guess(columns).columns]
    bins = ("bins", "10")
    plain, left_out = ("category", ""), ("identifier", "")
    assert found == [plain, bins, left_out, bins, left_out, plain, plain]


def test_only_used_columns_have_rules():
    before = Answers((ColumnAnswer("a", "integer"), ColumnAnswer("b=c", "number")))
    form = {"treat-0": "bins", "how-0": "4", "treat-1": "round", "how-1": "0.5", "public-1": "on"}
    rules = read_answers(form, before).rules
    assert (rules.bins, rules.round) == ({}, {"b=c": 0.5})


@pytest.mark.parametrize(
    "form",
    [{"points": "0"}, {"points": "1e9"}, {"seed": "-1"}, {"min_count": "x"}, {"effort": "?"}],
)
def test_a_search_that_makes_no_sense_is_refused(form):
    with pytest.raises(InvalidInput):
        read_search(form)


@pytest.mark.parametrize(
    "name", ["a.csv", "a.CSV.gz", "größe.tsv", ".hidden.csv", "-o.csv", "x/..csv"]
)
def test_names_of_uploads_are_harmless(name):
    safe = safe_name(name)
    assert "/" not in safe
    assert safe[0] not in ".-"
    assert safe.lower().endswith((".csv", ".csv.gz", ".tsv"))


# The command


def test_the_command_says_where_it_is_and_ends_cleanly(tmp_path):
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
        assert httpx.get(address, follow_redirects=True).status_code == 200
        assert len(list(tmp_path.glob("funnel-studio-*"))) == 1
    finally:
        process.send_signal(2)
        _, errors = process.communicate(timeout=30)
    assert process.returncode in (0, 130), errors
    assert "Traceback" not in errors
    assert list(tmp_path.glob("funnel-studio-*")) == []


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--port", "70000"], "--port must be 65535 or less"),
        (["--jobs", "0"], "--jobs must be 1 or more"),
        (["--host", "203.0.113.9"], "cannot listen on 203.0.113.9"),
        (["t.csv", "--host", "0.0.0.0"], "leave it out and upload it"),
    ],
)
def test_a_wrong_command_is_told_in_one_line(words, complaint):
    command = [sys.executable, "-m", "privacyfunnel", "studio", "--no-browser", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1
