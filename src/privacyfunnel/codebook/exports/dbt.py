"""dbt: a codebook as a project with a model, which is the statement, and seeds, which it looks up.

Seeds are csv, in which an empty text is a missing value and a text of digits a number. So a text is
written behind a mark, which the model takes away again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from privacyfunnel import __version__
from privacyfunnel.codebook.exports.listing import csv_text
from privacyfunnel.codebook.exports.sql import Lookup, Statement, spell
from privacyfunnel.codebook.output import output_names
from privacyfunnel.columns import KINDS, quoted

if TYPE_CHECKING:
    from privacyfunnel.codebook.codebook import Codebook

MARK = "="
MODEL = "funnel_release"
TABLE = "funnel_table_of_yours"  # in place of the table, until the model names it


def to_dbt(
    book: Codebook, dialect: str = "duckdb", *, table: str = "table", **options: Any
) -> dict[str, str]:
    """The files of the project, by their paths in it; options are those of :meth:`Codebook.to_sql`.

    The model ``funnel_release`` reads the table that the variable ``funnel_table`` names, by default
    ``table``; dbt quotes nothing of it, so that it may be ``schema.table``.
    """
    made = Statement(book, dialect, TABLE, **options)
    files = {f"seeds/{lookup.name}.csv": _seed(lookup) for lookup in made.lookups}
    sql = spell(made.with_lookups(dict(map(_read_seed, made.lookups))), dialect)
    sql = (made.head + sql).replace("{", "{{ '{' }}")  # no value may speak to dbt
    calls = {f"seed_{lookup.name}": f"ref('{lookup.name}')" for lookup in made.lookups}
    for name, call in (calls | {TABLE: "var('funnel_table')"}).items():
        for mark in '"`':  # as the dialect quotes
            sql = sql.replace(f"{mark}{name}{mark}", f"{{{{ {call} }}}}")
    files[f"models/{MODEL}.sql"] = sql + "\n"
    files["models/schema.yml"] = _json(_models(book, made.numbers))
    files["seeds/schema.yml"] = _json(_seeds(made.lookups, dialect))
    files["dbt_project.yml"] = _json(
        {
            "name": "funnel_release",
            "version": __version__,
            "config-version": 2,
            "profile": "funnel_release",
            "model-paths": ["models"],
            "seed-paths": ["seeds"],
            "vars": {"funnel_table": _spelled(table, dialect)},
        }
    )
    return files


def _spelled(table: str, dialect: str) -> str:
    """The name of a table as the dialect quotes it."""
    name = ".".join(map(quoted, table.split(".")))
    return " ".join(spell(f"SELECT * FROM {name}", dialect).rpartition("FROM ")[2].split())


def _read_seed(lookup: Lookup) -> tuple[str, str]:
    """A lookup as it is read from its seed, texts without their mark."""
    columns = [
        f"SUBSTRING({name}, {1 + len(MARK)}) AS {name}" if kind == "text" else name
        for name, kind in lookup.columns.items()
    ]
    return lookup.name, f"SELECT {', '.join(columns)} FROM seed_{lookup.name}"


def _seed(lookup: Lookup) -> str:
    kinds = lookup.columns.values()
    rows = [
        [
            f"{MARK}{v}" if kind == "text" else str(v).lower()
            for v, kind in zip(row, kinds, strict=True)
        ]
        for row in lookup.rows
    ]
    return csv_text([list(lookup.columns), *rows])


def _seeds(lookups: Sequence[Lookup], dialect: str) -> dict[str, Any]:
    entries = [
        {
            "name": lookup.name,
            "config": {
                "quote_columns": False,
                "column_types": {
                    name: _type(kind, dialect) for name, kind in lookup.columns.items()
                },
            },
        }
        for lookup in lookups
    ]
    return {"version": 2, "seeds": entries}


def _type(kind: str, dialect: str) -> str:
    if KINDS[kind].is_dated and dialect == "sqlite":
        return "TEXT"
    cast = spell(f"SELECT CAST(x AS {KINDS[kind].sql[0]})", dialect)
    return cast.rpartition(" AS ")[2].rstrip(")").strip()


def _models(book: Codebook, numbers: str) -> dict[str, Any]:
    names = output_names(book.roles.public, numbers if book.columns else None)
    text = "The rows of a table as they are released: each value as its group, or symbol."
    columns: list[dict[str, Any]] = [{"name": name, "quote": True} for name in names]
    return {"version": 2, "models": [{"name": MODEL, "description": text, "columns": columns}]}


def _json(value: Any) -> str:
    """JSON is YAML, and knows how to quote; a brace that dbt would read as its own is spelled out."""
    text = json.dumps(value, indent=2, ensure_ascii=True)
    return (
        text.replace("{{", "\\u007b\\u007b").replace("{%", "\\u007b%").replace("{#", "\\u007b#")
        + "\n"
    )
