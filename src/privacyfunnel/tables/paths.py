"""Paths: which files a user means, and the SQL that reads them."""

from __future__ import annotations

import csv
import difflib
import glob
import gzip
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from privacyfunnel.columns import KINDS, literal
from privacyfunnel.columns.missing import READ
from privacyfunnel.errors import DataUnavailable, InvalidInput
from privacyfunnel.files import in_words
from privacyfunnel.tables.engines import ADDRESSES, ENDINGS, FILES, is_address

if TYPE_CHECKING:
    import duckdb

PLAIN = "hive_partitioning=false"  # a folder called year=2020 is a folder, not a column
LONGEST_HEADER = 1_000_000  # characters of a first line


def nearest(name: str, names: Sequence[str]) -> str:
    """A hint at the name that was meant.

    >>> nearest("chlo", ["age", "chol"]), nearest("zip", ["age", "chol"])
    ("; did you mean 'chol'?", '; there are age, chol.')
    """
    close = difflib.get_close_matches(name.lower(), [n.lower() for n in names], n=1, cutoff=0.6)
    if close:
        return f"; did you mean {next(n for n in names if n.lower() == close[0])!r}?"
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"; there are {shown}." if names else "; there are none."


@dataclass(frozen=True)
class Reading:
    """What DuckDB is to read: the SQL of the source, its column names, and the files behind it."""

    sql: str
    names: tuple[str, ...]
    files: tuple[Path, ...]
    setup: str = ""  # a statement to run first, e.g. ATTACH
    is_text: bool = False  # the kinds of a csv are our reading of it, not its own


def read_paths(
    con: duckdb.DuckDBPyConnection,
    source: str | Path,
    kinds: Mapping[str, str],
    form: str | None = None,
    missing: Iterable[str] = READ,
) -> Reading:
    """How to read a path, a glob or a folder; ``kinds`` fixes the kind of some csv columns.

    ``form`` is csv, tsv, parquet or json, where the names of the files do not tell; ``missing`` is what
    stands for a missing value in a csv.
    """
    files = find_files(source)
    if form is None:
        form = _format(files[0])
        if any(_format(file) != form for file in files):
            raise InvalidInput(f"{source} mixes formats; name files of one format.")
    listed = listed_sql(files)
    if form in ("csv", "tsv"):
        return _read_csv(con, listed, files, "\t" if form == "tsv" else None, kinds, missing)
    if form == "json":
        sql = f"read_json({listed}, {PLAIN}, format='newline_delimited', sample_size=-1)"
        return Reading(sql, tuple(con.sql(f"FROM {sql}").columns), files)
    sql = f"read_parquet({listed}, {PLAIN})"
    return Reading(sql, _parquet_names(con, sql, files), files)


def listed_sql(files: Iterable[Path]) -> str:
    """Files as DuckDB's readers take them."""
    return f"[{', '.join(literal(glob.escape(str(file))) for file in files)}]"


def find_files(source: str | Path) -> tuple[Path, ...]:
    """The files that a path, a glob or a folder stands for, in order of name."""
    text = str(source)
    if is_address(text):
        raise InvalidInput(
            f"cannot open the address {text}; open it with your own engine and pass the frame, "
            f"or use a local path or {ADDRESSES}."
        )
    path = Path(text).expanduser()
    try:
        if path.is_dir():
            shown = (p for p in sorted(path.rglob("*")) if not p.name.startswith((".", "_")))
            found = [p for p in shown if p.is_file() and _known_format(p)]
            if not found:
                raise DataUnavailable(f"the folder {path} holds no file of {FILES}.")
        elif path.exists():
            found = [path]
        else:
            found = [Path(p) for p in sorted(glob.glob(str(path), recursive=True))]
        for file in found:
            if file.exists() and not file.is_file():  # a pipe would be waited for
                raise InvalidInput(f"{file} is no file; copy what it gives to one first.")
            file.open("rb").close()
    except DataUnavailable:
        raise
    except OSError as error:
        raise DataUnavailable(f"cannot read {path}: {in_words(error)}.") from error
    if not found:
        raise DataUnavailable(f"no such file: {path}.")
    return tuple(found)


def _known_format(path: Path) -> str | None:
    """The format that a file's name tells, compressed or not."""
    suffixes = [s.lower() for s in path.suffixes if s.lower() != ".gz"]
    return ENDINGS.get(suffixes[-1] if suffixes else "")


def _format(path: Path) -> str:
    form = _known_format(path)
    if form is None:
        known = ", ".join(ENDINGS)
        raise InvalidInput(
            f"cannot tell the format of {path}; its name ends in none of {known}.",
            hint="input-format",
        )
    return form


def _read_csv(
    con: duckdb.DuckDBPyConnection,
    listed: str,
    files: tuple[Path, ...],
    delimiter: str | None,
    kinds: Mapping[str, str],
    missing: Iterable[str],
) -> Reading:
    # DuckDB guesses only the types. Left to guess the dialect too, it skips lines that do not fit.
    names, delimiter = _header(files[0], delimiter)
    for file in files[1:]:
        if _header(file, delimiter)[0] != names:
            raise InvalidInput(f"{file} has other columns than {files[0]}.")
    nulls = ", ".join(map(literal, missing))
    dialect = (
        f"delim={literal(delimiter)}, quote='\"', escape='\"', header=true, skip=0, comment='', "
        f"strict_mode=true, null_padding=false, nullstr=[{nulls}], dateformat='%Y-%m-%d', {PLAIN}"
    )
    guess = (
        f"read_csv({listed}, {dialect}, sample_size=-1, auto_type_candidates="
        "['BOOLEAN', 'BIGINT', 'DOUBLE', 'DATE', 'TIMESTAMP', 'VARCHAR'])"
    )
    guessed = [str(t) for t in con.sql(f"FROM {guess}").types]
    if len(guessed) != len(names):
        raise InvalidInput(
            f"{files[0]} has rows of {len(guessed)} values under {len(names)} names."
        )

    def reading(types: Sequence[str]) -> str:
        columns = ", ".join(f"'c{i}': '{t}'" for i, t in enumerate(types))
        return f"read_csv({listed}, {dialect}, auto_detect=false, columns={{{columns}}})"

    types = [
        KINDS[kinds[n]].sql[0] if n in kinds else t for n, t in zip(names, guessed, strict=True)
    ]
    unsure = [i for i, n in enumerate(names) if types[i] == "BOOLEAN" and n not in kinds]
    if unsure:  # yes and no, t and f are words, which are released as they are
        tests = ", ".join(f"bool_and(lower(c{i}) IN ('true', 'false'))" for i in unsure)
        plain = con.sql(f"SELECT {tests} FROM {reading(['VARCHAR'] * len(names))}").fetchall()[0]
        for i, is_plain in zip(unsure, plain, strict=True):
            types[i] = "BOOLEAN" if is_plain else "VARCHAR"
    return Reading(reading(types), names, files, is_text=True)


def _header(file: Path, delimiter: str | None) -> tuple[tuple[str, ...], str]:
    """The names in the first line, and the delimiter that splits it into most of them."""
    try:
        unpack = gzip.open if file.suffix.lower() == ".gz" else open
        with unpack(file, "rt", encoding="utf-8-sig", newline="") as text:
            lines = _first_record(text)
    except UnicodeDecodeError:
        raise InvalidInput(f"{file} is not text in UTF-8; save it as UTF-8 first.") from None
    except (EOFError, zlib.error):
        raise DataUnavailable(f"cannot read {file}: it is damaged or cut off.") from None
    except OSError as error:
        raise DataUnavailable(f"cannot read {file}: {in_words(error)}.") from error
    if sum(map(len, lines)) >= LONGEST_HEADER:
        raise InvalidInput(
            f"{file} has a first line of {LONGEST_HEADER:,} characters or more; one with the column "
            "names is needed."
        )
    if not "".join(lines).strip():
        raise InvalidInput(f"{file} is empty; a first line with the column names is needed.")
    rows = {}
    for d in [delimiter] if delimiter else ",;\t|":
        try:
            rows[d] = next(csv.reader(lines, delimiter=d))
        except csv.Error:  # a name of more than 131,072 characters
            continue
    if not rows:
        raise InvalidInput(f"{file} has no column names in its first line that can be read.")
    best = max(rows, key=lambda d: len(rows[d]))
    if any("\r" in name for name in rows[best]):  # DuckDB would take it for the end of a line
        raise InvalidInput(f"{file} has a line end within a column name; rename it.")
    return told_apart(rows[best]), best


def told_apart(names: Sequence[str]) -> tuple[str, ...]:
    """Names with a number after those that came before.

    >>> told_apart(["age", "score", "score", "score_1"])
    ('age', 'score', 'score_2', 'score_1')
    """
    given, found = set(names), dict[str, None]()
    last: dict[str, int] = {}  # the number each name had last: thousands of one name are quick
    for name in names:
        new, again = name, last.get(name, 0)
        while new in found or (again and new in given):
            again += 1
            new = f"{name}_{again}"
        found[new], last[name] = None, again
    return tuple(found)


def _first_record(text: TextIO) -> list[str]:
    """The lines of the first record, or as much of it as a header may have."""
    lines: list[str] = []
    room, quotes = LONGEST_HEADER, 0
    while room > 0 and (line := text.readline(room)):
        lines.append(line)
        room -= len(line)
        quotes += line.count('"')
        if quotes % 2 == 0:
            break
    return lines


def _parquet_names(
    con: duckdb.DuckDBPyConnection, sql: str, files: tuple[Path, ...]
) -> tuple[str, ...]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = con.sql(f"FROM {sql}").columns  # DuckDB tells names apart that differ only in case
    try:
        own = pq.read_schema(files[0]).names
    except (pa.ArrowException, OSError) as error:
        raise DataUnavailable(
            f"cannot read {files[0]}: it is damaged ({str(error).splitlines()[0].rstrip('.')})."
        ) from error
    return (*own, *found[len(own) :])
