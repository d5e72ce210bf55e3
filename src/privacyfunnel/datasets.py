"""Datasets: toy joints with known answers, a bundled table, and the paper's table from UCI."""

from __future__ import annotations

import csv
import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from privacyfunnel.errors import DataUnavailable, InvalidInput, from_extra
from privacyfunnel.files import atomic_path, in_words
from privacyfunnel.joint import Joint

if TYPE_CHECKING:
    import pandas as pd

HUNGARIAN_URL = (
    "https://archive.ics.uci.edu/ml/machine-learning-databases/heart-disease/hungarian.data"
)
HUNGARIAN_SHA256 = "377a43c5b1184295ce6da6f4cf9e12019ba4a0c2415901ed0e6596f709b80eb8"
COLUMNS = ("age", "sex", "chol")

_N_ATTRIBUTES = 76  # of a raw record; the last is always the word "name"
_POSITIONS = (2, 3, 11)  # of COLUMNS among them
_MAX_BYTES = 10_000_000  # far above any real file, so that a wrong address cannot fill the memory
_TIMEOUT = 30.0  # seconds
_WANTED = "pass UCI's raw hungarian.data or a csv whose first line names age, sex and chol"


def load_demo() -> pd.DataFrame:
    """The bundled table: age, sex and serum cholesterol of 442 diabetes patients.

    They are scikit-learn's ``load_diabetes(scaled=False)``, columns age, sex and s1 (Efron, Hastie,
    Johnstone & Tibshirani 2004). Its description does not say which sex is 1 and which is 2, so
    the codes stay as they are.

    >>> load_demo().head(2)
       age  sex  chol
    0   59    2   157
    1   48    1   183
    """
    with from_extra("audit", "the demo's table"):
        from sklearn.datasets import load_diabetes

    table = load_diabetes(as_frame=True, scaled=False).data[["age", "sex", "s1"]]
    return table.set_axis(COLUMNS, axis="columns").astype(np.int64)  # type: ignore[no-any-return]


def read_hungarian(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Age, sex and cholesterol of the 294 patients of the Hungarian Institute of Cardiology.

    ``path`` is UCI's raw ``hungarian.data`` (records of 76 values over several lines, each ending
    in the word ``name``) or a csv with the columns age, sex and chol. A missing value is -9 there
    and stays -9: to the paper it is a symbol like any other.
    """
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise DataUnavailable(f"no file {os.fspath(path)!r}; check the path.") from None
    except OSError as error:
        raise DataUnavailable(f"cannot read {os.fspath(path)!r}: {in_words(error)}.") from None
    return _parse_hungarian(content, os.fspath(path))


def fetch_hungarian(
    cache_dir: str | os.PathLike[str] | None = None, url: str = HUNGARIAN_URL
) -> pd.DataFrame:
    """The table of `read_hungarian`, downloaded from UCI the first time and cached after that.

    The cache is ``cache_dir``, else the environment's ``PRIVACYFUNNEL_DATA``, else
    ``~/.cache/privacyfunnel``. A file whose SHA-256 is not the known one is never used: in the
    cache it is fetched again, from the network it is refused.
    """
    directory = cache_dir or os.environ.get("PRIVACYFUNNEL_DATA")
    path = Path(directory or Path.home() / ".cache" / "privacyfunnel") / "hungarian.data"
    try:
        content = path.read_bytes() if path.is_file() else b""
        if not _is_genuine(content):
            content = _download(url)
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_path(path, force=True) as part:
                part.write_bytes(content)
    except DataUnavailable:
        raise
    except OSError as error:
        raise DataUnavailable(
            f"cannot use the cache {str(path)!r}: {in_words(error)}; "
            "set PRIVACYFUNNEL_DATA to a folder that can be written."
        ) from None
    return _parse_hungarian(content, str(path))


def toy_joints() -> dict[str, Joint]:
    """Small joints whose answers are known, for tests and documentation.

    ========================  ========================================================
    ``binary symmetric``      X is S flipped with probability 0.1: I(S;X) = 1 − h(0.1)
    ``independent``           I(S;X) = 0: X can be published as it is
    ``copy``                  X = S, four symbols: every code leaks all it tells
    ``one symbol``            |X| = 1: there is nothing to tell
    ``disjoint``              merging x0, x1 and x2, x3 tells 1 bit of X and nothing of S
    ``random``                a sparse table of random counts, 6 × 9, always the same
    ========================  ========================================================

    In ``disjoint`` the columns of each merged pair have disjoint supports, so that X is a function
    of (S, X̂): the funnel's limit is met.

    >>> from privacyfunnel.codes import Partition
    >>> from privacyfunnel.limits import gap
    >>> from privacyfunnel.objectives import leakage, utility
    >>> joint, code = toy_joints()["disjoint"], Partition([0, 0, 1, 1])
    >>> leakage(joint, code), utility(joint, code), gap(joint, code)
    (0.0, 1.0, 0.0)
    """
    rng = np.random.default_rng(2019)
    return {
        "binary symmetric": Joint.from_probabilities([[0.45, 0.05], [0.05, 0.45]]),
        "independent": Joint.from_counts(np.outer([1, 2, 3], [2, 1, 1, 4])),
        "copy": Joint.from_counts(np.diag([1, 1, 2, 4])),
        "one symbol": Joint.from_counts([[3], [1]]),
        "disjoint": Joint.from_counts([[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]]),
        "random": Joint.from_counts(rng.poisson(0.7, size=(6, 9))),
    }


def _is_genuine(content: bytes) -> bool:
    return hashlib.sha256(content).hexdigest() == HUNGARIAN_SHA256


def _download(url: str) -> bytes:
    unavailable = partial(DataUnavailable, hint="by-hand", url=HUNGARIAN_URL)
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as response:
            content: bytes = response.read(_MAX_BYTES)
    except (OSError, ValueError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # it holds the connection
        reason = str(error).strip("<>") or type(error).__name__
        raise unavailable(f"cannot download {url}: {reason}.") from None
    if not _is_genuine(content):
        size = f"{len(content)} bytes, wrong SHA-256"
        raise unavailable(f"what {url} sent is not the known file ({size}).")
    return content


def _parse_hungarian(content: bytes, source: str) -> pd.DataFrame:
    """Rows of either format; ``source`` names the file in messages."""
    import pandas as pd

    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:  # UCI's older files hold stray bytes; latin-1 reads any
        text = content.decode("latin-1")
    if not text.strip():
        raise InvalidInput(f"{source!r} is empty; UCI's hungarian.data has 294 records.")
    is_csv = "," in text.lstrip().splitlines()[0]
    rows = _csv_rows(text, source) if is_csv else _raw_rows(text, source)
    numbers = [
        [
            _whole(value, f"{source!r}, record {i}, {column}")
            for value, column in zip(row, COLUMNS, strict=True)
        ]
        for i, row in enumerate(rows, start=1)
    ]
    if not numbers:
        raise InvalidInput(f"{source!r} has a header but no records.")
    return pd.DataFrame(np.array(numbers, dtype=np.int64), columns=list(COLUMNS))


def _csv_rows(text: str, source: str) -> Iterator[list[str | None]]:
    reader = csv.DictReader(text.lstrip().splitlines())
    names = [name.strip() for name in reader.fieldnames or ()]
    reader.fieldnames = names
    missing = [column for column in COLUMNS if column not in names]
    if missing:
        raise InvalidInput(
            f"{source!r} has no column {missing[0]!r}, got {', '.join(names[:8])}; {_WANTED}."
        )
    try:
        for row in reader:
            yield [row[column] for column in COLUMNS]
    except csv.Error as error:
        raise InvalidInput(f"{source!r}, line {reader.line_num} is not csv: {error}.") from None


def _raw_rows(text: str, source: str) -> Iterator[list[str | None]]:
    record: list[str] = []
    number = 1
    for value in text.split():
        record.append(value)
        if value == "name" and len(record) == _N_ATTRIBUTES:
            yield [record[position] for position in _POSITIONS]
            record = []
            number += 1
        elif value == "name" or len(record) == _N_ATTRIBUTES:
            break
    if record:
        raise InvalidInput(
            f"{source!r}, record {number}: {_N_ATTRIBUTES} values that end in 'name' wanted, got "
            f"{len(record)} up to {record[-1]!r}; {_WANTED}."
        )


def _whole(value: str | None, where: str) -> int:
    try:
        number = float(value or "")
    except ValueError:
        number = np.nan
    if not (number.is_integer() and abs(number) < 2**31):
        raise InvalidInput(f"{where}: whole number wanted, got {value!r}; -9 stands for missing.")
    return int(number)
