"""Warehouses that run a statement over a table: what each gives back, as text, in one order."""

from __future__ import annotations

import csv
import io
import os
import shutil
import sqlite3
import subprocess
import tempfile
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path

import duckdb
import pyarrow as pa

TYPES = {
    pa.int64(): ("BIGINT", "INTEGER"),
    pa.float64(): ("DOUBLE PRECISION", "REAL"),
    pa.string(): ("TEXT", "TEXT"),
    pa.bool_(): ("BOOLEAN", "INTEGER"),
    pa.date32(): ("DATE", "TEXT"),
    pa.timestamp("us"): ("TIMESTAMP", "TEXT"),
}


def as_text(value):
    """A value of a result as all engines can say it."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, float):
        return f"{value:.9g}"
    return value.isoformat() if isinstance(value, date) else str(value)


def as_rows(found):
    """The rows of a result as text, in one order."""
    return sorted((tuple(map(as_text, row)) for row in found), key=repr)


def in_duckdb(rows: pa.Table, name: str, sql: str):
    con = duckdb.connect()
    con.register("given", rows)
    con.execute(f"CREATE TABLE {quoted(name)} AS FROM given")
    return as_rows(con.execute(sql).fetchall())


def in_sqlite(rows: pa.Table, name: str, sql: str):
    con = sqlite3.connect(":memory:")
    columns = [f"{quoted(f.name)} {TYPES[f.type][1]}" for f in rows.schema]
    con.execute(f"CREATE TABLE {quoted(name)} ({', '.join(columns)})")
    marks = ", ".join("?" for _ in columns)
    values = zip(*(map(_plain, column.to_pylist()) for column in rows.columns), strict=True)
    con.executemany(f"INSERT INTO {quoted(name)} VALUES ({marks})", values)
    return as_rows(con.execute(sql).fetchall())


def _plain(value):
    return as_text(value) if isinstance(value, date) else value


def in_spark(rows: pa.Table, name: str, sql: str, session):
    import warnings

    with tempfile.TemporaryDirectory() as place:
        import pyarrow.parquet as pq

        path = Path(place) / "rows.parquet"
        pq.write_table(rows, path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            session.read.parquet(str(path)).createOrReplaceTempView(name)
            found = session.sql(sql.rstrip().rstrip(";")).collect()
    return as_rows(found)


def postgres_tools() -> Path | None:
    """The folder of PostgreSQL's own programs, as Debian installs them."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    return folders[0].parent if folders else None


@contextmanager
def postgres():
    """A server of its own on a socket in a folder that goes with it; root, whom it refuses, lends it."""
    tools = postgres_tools()
    assert tools is not None
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    user = []
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
        user = ["runuser", "-u", "postgres", "--"]

    def run(*command, **options):
        return subprocess.run(
            [*user, *map(str, command)], check=True, capture_output=True, cwd=folder, **options
        )

    run(
        tools / "initdb",
        "-D",
        folder / "data",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--locale=C.UTF-8",
        "-N",
    )
    options = f"-c listen_addresses='' -c fsync=off -k {folder}"
    # Its output goes to a file: a pipe would be held open by the server.
    run(tools / "pg_ctl", "-D", folder / "data", "-w", "-l", folder / "log", "-o", options, "start")
    try:

        def ask(script: str) -> str:
            found = run(
                tools / "psql", "-h", folder, "-d", "postgres", "-X", "-q", "-v", "ON_ERROR_STOP=1",
                input=script.encode(),
            )  # fmt: skip
            return found.stdout.decode()

        yield ask
    finally:
        run(tools / "pg_ctl", "-D", folder / "data", "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def in_postgres(rows: pa.Table, name: str, sql: str, ask):
    columns = [f"{quoted(f.name)} {TYPES[f.type][0]}" for f in rows.schema]
    names = ", ".join(quoted(f.name) for f in rows.schema)
    lines = io.StringIO()
    write = csv.writer(lines, quoting=csv.QUOTE_ALL, lineterminator="\n")
    for row in zip(*(column.to_pylist() for column in rows.columns), strict=True):
        write.writerow(
            ["\\N" if v is None else repr(v) if type(v) is float else _plain(v) for v in row]
        )
    script = (
        f"DROP TABLE IF EXISTS {quoted(name)}; CREATE TABLE {quoted(name)} ({', '.join(columns)});\n"
        f"COPY {quoted(name)} FROM STDIN (FORMAT csv, NULL '\\N', FORCE_NULL ({names}));\n"
        f"{lines.getvalue()}\\.\n"
        f"COPY ({sql.rstrip().rstrip(';')}) TO STDOUT (FORMAT csv, NULL '\\N', FORCE_QUOTE *);\n"
    )
    found = csv.reader(io.StringIO(ask(script), newline=""))
    return as_rows([None if cell == "\\N" else cell for cell in row] for row in found)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
