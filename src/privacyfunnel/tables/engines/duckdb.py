"""DuckDB: files, databases and its own relations, and every table that can be shown to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacyfunnel.codebook.draws import draw_sql, numbered_sql, picked_sql
from privacyfunnel.codebook.output import SUPPRESSED
from privacyfunnel.columns import Column, literal, quoted, sql_kind, where_complete
from privacyfunnel.columns.missing import WRITTEN
from privacyfunnel.errors import DataUnavailable, InvalidInput
from privacyfunnel.tables.connection import connect, first_line, shut_in
from privacyfunnel.tables.engines import ENGINES
from privacyfunnel.tables.join import Join
from privacyfunnel.tables.paths import Reading, nearest, read_paths
from privacyfunnel.tables.table import Table
from privacyfunnel.validation import check_memory

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

BYTES = 24  # that a value of a group takes on its way to the counts
EXACT_ROWS = 1_000_000  # above this many rows distinct values are estimated, to a few percent
DATABASE = ENGINES["duckdb"].partition("FILE")[0]  # how addresses of tables in databases begin
OPTIONS = {
    "parquet": "FORMAT parquet",
    "csv": f"FORMAT csv, HEADER true, NULLSTR {literal(WRITTEN)}",
}


def opens(source: Any) -> bool:
    """Whether this is a path, an address or a relation of DuckDB's."""
    import narwhals as nw

    # A relation does not go through narwhals, which keeps its types alive: it complains on exit.
    return isinstance(source, str | Path) or nw.dependencies.is_duckdb_relation(source)


def open_source(source: Any, memory: str | None, input_format: str | None = None) -> Table:
    """A table of files, of a database or of a relation."""
    if isinstance(source, str | Path):
        return open_files(source, memory, {}, input_format)
    safe = ", ".join(f"c{i}" for i in range(len(source.columns)))
    renamed: Any = source.query("funnel_rows", f"SELECT * FROM funnel_rows AS s({safe})")
    return DuckDBTable(
        source="DuckDB relation",
        names=tuple(source.columns),
        kinds=tuple(sql_kind(str(t)) for t in source.types),
        attach=lambda con, names: con.register(
            "funnel_rows", renamed.project(", ".join(names)).to_arrow_reader()
        ),
        memory=memory,
    )


def open_files(
    source: str | Path, memory: str | None, kinds: Mapping[str, str], form: str | None = None
) -> Table:
    """A table of files, whose ``form`` their names need not tell, or of a database."""
    import duckdb

    is_database = str(source).startswith(DATABASE)
    with connect(memory) as con:
        try:
            reading = (
                _read_database(con, str(source))
                if is_database
                else read_paths(con, source, kinds, form)
            )
            types = con.sql(f"FROM {reading.sql}").types
        except duckdb.Error as error:
            raise DataUnavailable(f"cannot read {source}: {first_line(error)}") from error

    def attach(con: duckdb.DuckDBPyConnection, _: Sequence[str]) -> None:
        if reading.setup:
            con.execute(reading.setup)
        safe = ", ".join(f"c{i}" for i in range(len(reading.names)))
        con.execute(f"CREATE TEMP VIEW funnel_rows AS SELECT * FROM {reading.sql} AS s({safe})")

    return DuckDBTable(
        source=str(source),
        names=reading.names,
        kinds=tuple(sql_kind(str(t)) for t in types),
        attach=attach,
        memory=memory,
        files=reading.files,
        reopen=partial(open_files, source, memory, form=form) if reading.is_text else None,
        is_foreign=is_database,
    )


def _read_database(con: duckdb.DuckDBPyConnection, address: str) -> Reading:
    """How to read a table of a DuckDB file, opened read-only: ``duckdb://FILE#TABLE``."""
    place, mark, table = address.removeprefix(DATABASE).rpartition("#")
    place, table = (place, table) if mark else (table, "")
    path = Path(place).expanduser()
    if not path.is_file():
        raise DataUnavailable(f"no such database: {path}.")
    setup = f"ATTACH {literal(str(path))} AS source (TYPE duckdb, READ_ONLY)"
    con.execute(setup)
    shut_in(con)  # a view may name any file of this machine
    found = con.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'source' UNION "
        "SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'source' "
        "AND NOT internal ORDER BY 1, 2"
    ).fetchall()
    tables = {
        name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in found
    }
    if not table and len(tables) == 1:
        table = next(iter(tables))
    if table not in tables:
        asked = (
            f"no table {table!r} in {path}" if table else f"name a table: {DATABASE}{place}#TABLE"
        )
        raise InvalidInput(asked + nearest(table, list(tables)))
    sql = ".".join(["source", *map(quoted, tables[table])])
    return Reading(sql, tuple(con.sql(f"FROM {sql}").columns), (path,), setup)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DuckDBTable(Table):
    """A table that DuckDB counts, joins and writes.

    ``attach`` shows some columns to it as ``funnel_rows``: a name, like those of our other tables,
    that no view of a user's database is likely to use.
    """

    attach: Callable[[duckdb.DuckDBPyConnection, Sequence[str]], Any]
    memory: str | None = None
    length: int | None = None  # the number of rows, where it is known
    is_foreign: bool = False  # whether its SQL is someone else's, which must not reach other files
    reopen: Callable[[Mapping[str, str]], Table] | None = None

    @contextmanager
    def in_duckdb(
        self, names: Iterable[str], paths: Sequence[Path] = ()
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        with connect(self.memory) as con:
            self.attach(con, [f"c{i}" for i in sorted({self.names.index(name) for name in names})])
            if self.is_foreign:
                shut_in(con, paths)
            yield con

    def read_as(self, kinds: Mapping[str, str]) -> Table:
        return self.reopen(kinds) if self.reopen is not None and kinds else self

    def count_rows(self) -> int:
        if self.length is not None:
            return self.length
        return self._number("SELECT count(*) FROM funnel_rows", self.names[:1])

    def group(self, columns: Sequence[Column], weight: Column | None) -> pa.Table:
        keys, sums = self._keys(columns), "count(*) AS n"
        needed = [column.name for column in columns]
        if weight:
            needed.append(weight.name)
            keys += f", {weight.sql(self.place(weight.name))} AS w"
            sums += ", sum(w) AS w, min(w) AS least, count(w) AS known"
        by = ", ".join(f"k{i}" for i in range(len(columns)))
        with self.in_duckdb(needed) as con:
            rows = f"SELECT {keys} FROM funnel_rows"
            # Counted inside the engine first, which spills to disk where they are too many.
            con.execute(
                f"CREATE TEMP TABLE funnel_groups AS SELECT {by}, {sums} FROM ({rows}) GROUP BY {by}"
            )
            [(n_cells,)] = con.execute("SELECT count(*) FROM funnel_groups").fetchall()
            check_memory(
                f"the table has {n_cells:,} different combinations of these columns, which",
                n_cells * (len(columns) + 2) * BYTES,
                "coarsen columns with bins or rounding, or name fewer",
            )
            return con.sql("FROM funnel_groups").to_arrow_table()

    def known_and_distinct(self, columns: Sequence[Column]) -> list[tuple[int, int]]:
        few = self.n_rows <= EXACT_ROWS
        distinct = "count(DISTINCT {0})" if few else "approx_count_distinct({0})"
        figures = [f"count(k{i}), {distinct.format(f'k{i}')}" for i in range(len(columns))]
        with self.in_duckdb([column.name for column in columns]) as con:
            rows = f"SELECT {self._keys(columns)} FROM funnel_rows"
            sql = f"SELECT {', '.join(figures)} FROM ({rows})"
            row = [int(value) for value in con.execute(sql).fetchall()[0]]
        return list(zip(row[0::2], row[1::2], strict=True))

    def quantiles(self, column: Column, n: int) -> list[Any]:
        shares = [i / n for i in range(1, n)]
        with self.in_duckdb([column.name]) as con:
            key = column.sql(self.place(column.name))
            sql = f"SELECT quantile_disc({key}, {shares}) FROM funnel_rows"
            found = con.execute(sql).fetchall()[0][0]
        return list(found) if found is not None else [None] * len(shares)

    def count_complete(self, columns: Sequence[Column]) -> int:
        sql = f"SELECT count(*) FROM funnel_rows{self._where_complete(columns)}"
        return self._number(sql, [column.name for column in columns])

    def write_join(self, join: Join, part: Path, fmt: str, ordered: bool) -> None:
        with self.in_duckdb(join.needed, [part]) as con:
            _make_lookup(con, join)
            # DuckDB 2 keeps the order of rows through a join on one thread (seen, not promised by its
            # manual; tests watch it). Labels are ENUMs, which halves the work: one thread so takes
            # about as long as two do with texts. With more cores, ordered=False is faster.
            if ordered:
                con.execute(
                    "SET threads = 1; SET disabled_optimizers = 'build_side_probe_side,join_order'"
                )
            con.execute(
                f"COPY ({self._released(con, join)}) TO {literal(str(part))} ({OPTIONS[fmt]})"
            )

    def commonest_unknown(self, join: Join) -> tuple[tuple[Any, ...], int, int] | None:
        with self.in_duckdb(join.needed) as con:
            _make_lookup(con, join)
            keys = ", ".join(f"r.k{i}" for i in range(len(join.columns)))
            found = con.execute(
                f"SELECT {keys}, sum(count(*)) OVER (), count(*) OVER () FROM {self._joined(join)} "
                f"WHERE m.place IS NULL GROUP BY {keys} ORDER BY count(*) DESC, {keys} LIMIT 1"
            ).fetchall()
        if not found:
            return None
        *raw, n_rows, n_values = found[0]
        return join.value(raw), int(n_rows), int(n_values)

    def _number(self, sql: str, names: Iterable[str]) -> int:
        with self.in_duckdb(names) as con:
            return int(con.execute(sql).fetchall()[0][0])

    def _keys(self, columns: Sequence[Column]) -> str:
        """The columns' keys, as k0, k1, ..."""
        return ", ".join(f"{c.sql(self.place(c.name))} AS k{i}" for i, c in enumerate(columns))

    def _where_complete(self, columns: Sequence[Column]) -> str:
        return where_complete(c.sql(self.place(c.name)) for c in columns)

    def _released(self, con: duckdb.DuckDBPyConnection, join: Join) -> str:
        """The rows that go out."""
        columns = [f"m.{name}" for name in join.outputs]
        if join.book.soft:
            columns = [picked_sql(name, "m.ends", "r.draw") for name in columns]
        if join.suppress and join.outputs[0] == "label":
            columns[0] = f"coalesce({columns[0]}, CAST('{SUPPRESSED}' AS label_text))"
        columns += [f"r.{self.place(name)}" for name in join.keep]
        named = [f"{sql} AS {quoted(name)}" for sql, name in zip(columns, join.names, strict=True)]
        draw = self._draw(con, join) if join.book.soft else ""
        return f"SELECT {', '.join(named)} FROM {self._joined(join, draw)}"

    def _draw(self, con: duckdb.DuckDBPyConnection, join: Join) -> str:
        key = None if join.key is None else self.place(join.key)
        read = list(dict.fromkeys(map(self.place, join.needed)))

        def ask(sql: str) -> Sequence[int]:
            return con.execute(sql).fetchall()[0]

        return draw_sql(join.book.check_salt(), key, read, "funnel_rows", ask)

    def _joined(self, join: Join, draw: str = "") -> str:
        """The rows r, with their keys, beside the lookup table m; NULL meets NULL."""
        keys = self._keys(join.columns) + (f", {draw} AS draw" if draw else "")
        rows = numbered_sql("funnel_rows") if draw and join.key is None else "funnel_rows"
        on = " AND ".join(f"r.k{i} IS NOT DISTINCT FROM m.k{i}" for i in range(len(join.columns)))
        complete = self._where_complete(join.required)
        return f"(SELECT *, {keys} FROM {rows}{complete}) AS r LEFT JOIN funnel_lookup AS m ON {on}"


def _make_lookup(con: duckdb.DuckDBPyConnection, join: Join) -> None:
    """The table m of values and labels; its texts are ENUMs, which join and compress best."""
    import pyarrow as pa

    data = join.lookup()
    con.register("funnel_given", data)
    select = []
    for name, kind in zip(data.column_names, data.schema.types, strict=True):
        if name in join.outputs and kind in (pa.string(), pa.list_(pa.string())):
            texts = "unnest(g.{0})" if join.book.soft else "g.{0}"
            extra = f" UNION SELECT '{SUPPRESSED}'" if name == "label" else ""
            con.execute(
                f"CREATE TYPE {name}_text AS ENUM (SELECT DISTINCT x FROM "
                f"(SELECT {texts.format(name)} AS x FROM funnel_given AS g{extra}) "
                "WHERE x IS NOT NULL ORDER BY x)"
            )
            select.append(f"CAST({name} AS {name}_text{'[]' if join.book.soft else ''}) AS {name}")
        else:
            select.append(name)
    con.execute(f"CREATE TEMP TABLE funnel_lookup AS SELECT {', '.join(select)} FROM funnel_given")
