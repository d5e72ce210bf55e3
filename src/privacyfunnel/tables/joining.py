"""Joining: the release as one statement of DuckDB, from the rows to the file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacyfunnel.tables.engines.duckdb import literal, quoted
from privacyfunnel.tables.keys import key_sql
from privacyfunnel.tables.plan import SUPPRESSED, Plan, lookup
from privacyfunnel.tables.sampling import draw_sql

if TYPE_CHECKING:
    import duckdb

OPTIONS = {"parquet": "FORMAT parquet", "csv": "FORMAT csv, HEADER true"}


def write_joined(plan: Plan, part: Path, fmt: str, ordered: bool) -> None:
    """Join every row to its label and stream them to a file."""
    with plan.table.duckdb(plan.needed) as con:
        _make_lookup(con, plan)
        # DuckDB 2 keeps the order of rows through a join on one thread (seen, not promised by its
        # manual; tests watch it). Labels are ENUMs, which halves the work: one thread so takes
        # about as long as two do with texts. With more cores, ordered=False is faster.
        if ordered:
            con.execute(
                "SET threads = 1; SET disabled_optimizers = 'build_side_probe_side,join_order'"
            )
        con.execute(f"COPY ({_select(plan)}) TO {literal(str(part))} ({OPTIONS[fmt]})")


def find_unknown(plan: Plan) -> tuple[tuple[Any, ...], int, int] | None:
    """The commonest value that the codebook does not cover, rows and values of that kind in all."""
    with plan.table.duckdb(plan.needed) as con:
        _make_lookup(con, plan)
        keys = ", ".join(f"r.k{i}" for i in range(len(plan.columns)))
        found = con.execute(
            f"SELECT {keys}, sum(count(*)) OVER (), count(*) OVER () FROM {_joined(plan)} "
            f"WHERE m.place IS NULL GROUP BY {keys} ORDER BY count(*) DESC, {keys} LIMIT 1"
        ).fetchall()
    if not found:
        return None
    *raw, n_rows, n_values = found[0]
    value = tuple(column.symbol(v) for column, v in zip(plan.columns, raw, strict=True))
    return value, int(n_rows), int(n_values)


def count_incomplete(plan: Plan) -> int:
    """How many rows lack a required value."""
    if not plan.required:
        return 0
    with plan.table.duckdb(plan.needed) as con:
        sql = f"SELECT count(*) FROM t WHERE NOT ({_complete(plan)})"
        return int(con.execute(sql).fetchall()[0][0])


def count_keyless(plan: Plan) -> int:
    """How many rows lack the key that a soft code draws by."""
    if plan.key is None or not plan.book.soft:
        return 0
    with plan.table.duckdb([plan.key]) as con:
        sql = f"SELECT count(*) FROM t WHERE c{plan.table.position(plan.key)} IS NULL"
        return int(con.execute(sql).fetchall()[0][0])


def _make_lookup(con: duckdb.DuckDBPyConnection, plan: Plan) -> None:
    """The table m of values and labels; its texts are ENUMs, which join and compress best."""
    data = lookup(plan)
    con.register("lookup", data)
    select = []
    for name in data.column_names:
        if name == "label" or (name.startswith("e") and name != "ends"):
            texts = "unnest(lookup.{0})" if plan.book.soft else "lookup.{0}"
            extra = f" UNION SELECT '{SUPPRESSED}'" if name == "label" else ""
            con.execute(
                f"CREATE TYPE {name}_text AS ENUM (SELECT DISTINCT x FROM "
                f"(SELECT {texts.format(name)} AS x FROM lookup{extra}) ORDER BY x)"
            )
            select.append(f"CAST({name} AS {name}_text{'[]' if plan.book.soft else ''}) AS {name}")
        else:
            select.append(name)
    con.execute(f"CREATE TEMP TABLE m AS SELECT {', '.join(select)} FROM lookup")


def _joined(plan: Plan) -> str:
    """The rows r, with their keys, beside m; NULL meets NULL."""
    keys = [
        f"{key_sql(column, f'c{plan.table.position(column.name)}')} AS k{i}"
        for i, column in enumerate(plan.columns)
    ]
    rows = "t"
    if plan.book.soft:
        if plan.key is None:
            rows = "(SELECT *, row_number() OVER () AS row FROM t)"
            key = "row"
        else:
            key = f"c{plan.table.position(plan.key)}"
        keys.append(f"{draw_sql(plan.book.check_salt(), key)} AS draw")
    where = f" WHERE {_complete(plan)}" if plan.required else ""
    on = " AND ".join(f"r.k{i} IS NOT DISTINCT FROM m.k{i}" for i in range(len(plan.columns)))
    return f"(SELECT *, {', '.join(keys)} FROM {rows}{where}) AS r LEFT JOIN m ON {on}"


def _complete(plan: Plan) -> str:
    known = (key_sql(c, f"c{plan.table.position(c.name)}") for c in plan.required)
    return " AND ".join(f"({sql}) IS NOT NULL" for sql in known)


def _select(plan: Plan) -> str:
    pick = "[1 + len(list_filter(m.ends, lambda e: e <= r.draw))]" if plan.book.soft else ""
    label = f"m.label{pick}"
    if plan.suppress:
        label = f"coalesce({label}, CAST('{SUPPRESSED}' AS label_text))"
    columns = [label]
    if plan.expand:
        columns += [f"m.e{i}{pick}" for i in range(len(plan.columns))]
    columns += [f"r.c{plan.table.position(name)}" for name in plan.keep]
    named = [f"{sql} AS {quoted(name)}" for sql, name in zip(columns, plan.names, strict=True)]
    return f"SELECT {', '.join(named)} FROM {_joined(plan)}"
