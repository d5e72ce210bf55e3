"""The bundled, the read and the fetched table, and the toy joints' known answers."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privacyfunnel import datasets
from privacyfunnel.codes import Partition
from privacyfunnel.errors import DataUnavailable, InvalidInput
from privacyfunnel.limits import gap
from privacyfunnel.objectives import leakage, utility

DATA = Path(__file__).parents[2] / "shared" / "data"
needs_data = pytest.mark.skipif(
    not (DATA / "hungarian.data").is_file(), reason="the patients' data is not in the repository"
)


def record(age: object = 40, sex: object = 1, chol: object = 289) -> str:
    """One raw record of 76 values over several lines."""
    values = ["1254", "0", age, sex, *["-9"] * 7, chol, *["-9"] * 63, "name"]
    assert len(values) == 76
    lines = [" ".join(map(str, values[i : i + 8])) for i in range(0, 76, 8)]
    return "\n".join(lines) + "\n"


def test_demo_is_whole_numbers_of_442_patients() -> None:
    table = datasets.load_demo()
    assert list(table.columns) == ["age", "sex", "chol"]
    assert table.shape == (442, 3)
    assert (table.dtypes == np.int64).all()
    assert set(table["sex"]) == {1, 2}


class TestRead:
    @needs_data
    def test_raw_file_and_csv_are_the_same_294_records(self) -> None:
        raw = datasets.read_hungarian(DATA / "hungarian.data")
        pd.testing.assert_frame_equal(
            raw, datasets.read_hungarian(DATA / "hungarian_age_sex_chol.csv")
        )
        assert raw.shape == (294, 3)
        assert (raw["chol"] == -9).sum() > 0

    @needs_data
    def test_checksum_is_the_raw_files(self) -> None:
        content = (DATA / "hungarian.data").read_bytes()
        assert hashlib.sha256(content).hexdigest() == datasets.HUNGARIAN_SHA256

    def test_raw_records_and_missing_values(self, tmp_path: Path) -> None:
        path = tmp_path / "hungarian.data"
        path.write_text(record() + record(51, 0, -9) + "\n")
        assert datasets.read_hungarian(path).to_numpy().tolist() == [[40, 1, 289], [51, 0, -9]]

    @pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig"])
    def test_encodings(self, tmp_path: Path, encoding: str) -> None:
        path = tmp_path / "file"
        path.write_text(record().replace("1254", "é"), encoding=encoding)
        assert datasets.read_hungarian(path).to_numpy().tolist() == [[40, 1, 289]]
        path.write_text("city, age ,sex,chol\r\nKöln,40,1,289\r\n", encoding=encoding)
        assert datasets.read_hungarian(str(path)).to_numpy().tolist() == [[40, 1, 289]]

    def test_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(DataUnavailable, match=r"no file .*gone"):
            datasets.read_hungarian(tmp_path / "gone")
        with pytest.raises(DataUnavailable, match="cannot read"):
            datasets.read_hungarian(tmp_path)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("", "is empty"),
            (" \n\n", "is empty"),
            ("age,sex\n40,1\n", "no column 'chol', got age, sex"),
            ("age,sex,chol\n", "no records"),
            ("age,sex,chol\n40,1\n", "record 1, chol: whole number wanted, got None"),
            ("age,sex,chol\n40,1,289\n40,1,\n", "record 2, chol: whole number wanted, got ''"),
            ("age,sex,chol\n40,F,289\n", "sex: whole number wanted, got 'F'"),
            ("age,sex,chol\n40.5,1,289\n", "age: whole number wanted, got '40.5'"),
            ("age,sex,chol\n40,1,1e300\n", "chol: whole number wanted"),
            ("age,sex,chol\n40,1,nan\n", "chol: whole number wanted"),
            ("age;sex;chol\n40;1;289\n", "record 1: 76 values that end in 'name' wanted, got 2"),
            ("age,sex,chol\n40,1," + "1" * 200_000, "not csv"),
            (record() + record()[:60], "record 2: 76 values"),
            (record()[8:], "record 1: 76 values"),
            (record() + record() * 2 + record().replace("name", "Jane"), "record 4: 76 values"),
            (record(chol="high"), "chol: whole number wanted, got 'high'"),
        ],
    )
    def test_bad_content(self, tmp_path: Path, content: str, message: str) -> None:
        path = tmp_path / "bad"
        path.write_text(content)
        with pytest.raises(InvalidInput, match=message) as error:
            datasets.read_hungarian(path)
        assert "\n" not in str(error.value)


class Server:
    """A local web server that answers with what it is told and counts the questions."""

    def __init__(self) -> None:
        self.status, self.content, self.asked, self.delay = 200, b"", 0, 0.0
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked += 1
                time.sleep(server.delay)
                self.send_response(server.status)
                self.send_header("Content-Length", str(len(server.content)))
                self.end_headers()
                self.wfile.write(server.content)

            def log_message(self, *args: object) -> None:
                pass

        self.http = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/hungarian.data"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    server = Server()
    server.content = record().encode()
    monkeypatch.setattr(datasets, "HUNGARIAN_SHA256", hashlib.sha256(server.content).hexdigest())
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.http.shutdown()
    thread.join()
    server.http.server_close()


class TestFetch:
    def test_downloads_once(self, server: Server, tmp_path: Path) -> None:
        cache = tmp_path / "deep" / "cache"
        first = datasets.fetch_hungarian(cache, server.url)
        second = datasets.fetch_hungarian(cache, server.url)
        assert first.to_numpy().tolist() == [[40, 1, 289]]
        pd.testing.assert_frame_equal(first, second)
        assert server.asked == 1
        assert [path.name for path in cache.iterdir()] == ["hungarian.data"]

    def test_corrupt_cache_is_fetched_again(self, server: Server, tmp_path: Path) -> None:
        (tmp_path / "hungarian.data").write_bytes(server.content[:50])
        datasets.fetch_hungarian(tmp_path, server.url)
        assert server.asked == 1
        assert (tmp_path / "hungarian.data").read_bytes() == server.content

    def test_cache_comes_from_the_environment(
        self, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PRIVACYFUNNEL_DATA", str(tmp_path))
        datasets.fetch_hungarian(url=server.url)
        assert (tmp_path / "hungarian.data").is_file()

    def test_cache_defaults_to_the_home(
        self, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("PRIVACYFUNNEL_DATA", raising=False)
        monkeypatch.setattr(Path, "home", lambda: tmp_path)
        datasets.fetch_hungarian(url=server.url)
        assert (tmp_path / ".cache" / "privacyfunnel" / "hungarian.data").is_file()

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda server: setattr(server, "content", b"something else"), "wrong SHA-256"),
            (lambda server: setattr(server, "status", 404), "404"),
            (lambda server: setattr(server, "url", "http://127.0.0.1:9/x"), "refused"),
            (lambda server: setattr(server, "url", "no address"), "unknown url"),
        ],
        ids=["checksum", "404", "refused", "address"],
    )
    def test_failures_say_what_to_do(
        self, server: Server, tmp_path: Path, change: Callable[[Server], None], message: str
    ) -> None:
        change(server)
        with pytest.raises(DataUnavailable, match=message) as error:
            datasets.fetch_hungarian(tmp_path, server.url)
        assert "by hand and pass its path" in str(error.value)
        assert "\n" not in str(error.value)
        assert list(tmp_path.iterdir()) == []

    def test_slow_server(
        self, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(datasets, "_TIMEOUT", 0.1)
        server.delay = 0.5
        with pytest.raises(DataUnavailable, match="timed out"):
            datasets.fetch_hungarian(tmp_path, server.url)

    def test_cache_that_cannot_be_written(self, server: Server, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("in the way")
        with pytest.raises(DataUnavailable, match="PRIVACYFUNNEL_DATA"):
            datasets.fetch_hungarian(tmp_path / "file", server.url)


class TestToyJoints:
    def test_known_informations(self) -> None:
        toys = datasets.toy_joints()
        h = -(0.1 * np.log2(0.1) + 0.9 * np.log2(0.9))
        assert toys["binary symmetric"].information == pytest.approx(1 - h)
        assert toys["independent"].information == pytest.approx(0, abs=1e-12)
        assert toys["copy"].information == pytest.approx(1.75)
        assert toys["one symbol"].entropy_x == 0
        assert toys["disjoint"].information == pytest.approx(1)

    def test_disjoint_supports_meet_the_limit(self) -> None:
        joint, code = datasets.toy_joints()["disjoint"], Partition([0, 0, 1, 1])
        assert utility(joint, code) == pytest.approx(1)
        assert leakage(joint, code) == pytest.approx(0, abs=1e-12)
        assert gap(joint, code) == pytest.approx(0, abs=1e-12)

    def test_random_is_always_the_same(self) -> None:
        first, second = datasets.toy_joints()["random"], datasets.toy_joints()["random"]
        assert (first.counts != second.counts).nnz == 0
        assert first.counts.nnz < 6 * 9
