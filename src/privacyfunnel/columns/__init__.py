"""Columns: what kind of values they hold and how they are coarsened before they are counted.

A rule turns a value into a whole index inside the engine (SQL or narwhals), and the index into a
label here; the codebook stores the rule, so that new rows are treated exactly as the first were.
"""

from privacyfunnel.columns.coarsening import UNITS, Bins, Calendar, Round, Rule
from privacyfunnel.columns.column_rules import ColumnRules, quantiles_of_counts
from privacyfunnel.columns.kinds import (
    KINDS,
    clean,
    literal,
    quoted,
    show,
    show_below,
    show_from,
    sql_kind,
)
from privacyfunnel.columns.missing import (
    AS_VALUE,
    MISSING,
    USUAL,
    check_never_missing,
    complete_groups,
    complete_rows,
    is_known,
    known,
    known_places,
    missing_last,
    null_if_missing_sql,
    required,
    where_complete,
)
from privacyfunnel.columns.roles import Column, Roles

__all__ = [
    "AS_VALUE",
    "KINDS",
    "MISSING",
    "UNITS",
    "USUAL",
    "Bins",
    "Calendar",
    "Column",
    "ColumnRules",
    "Roles",
    "Round",
    "Rule",
    "check_never_missing",
    "clean",
    "complete_groups",
    "complete_rows",
    "is_known",
    "known",
    "known_places",
    "literal",
    "missing_last",
    "null_if_missing_sql",
    "quantiles_of_counts",
    "quoted",
    "required",
    "show",
    "show_below",
    "show_from",
    "sql_kind",
    "where_complete",
]
