"""Columns: what kind of values they hold and how they are coarsened before they are counted.

A rule turns a value into a whole index inside the engine (SQL or narwhals), and the index into a
label here; the codebook stores the rule, so that new rows are treated exactly as the first were.
"""

from privacyfunnel.columns.coarsening import Bins, Calendar, Round, Rule
from privacyfunnel.columns.column_rules import ColumnRules, quantiles_of_counts
from privacyfunnel.columns.kinds import KINDS, Kind, clean, is_known, literal, show, sql_kind
from privacyfunnel.columns.missing import (
    MISSING,
    complete_groups,
    complete_rows,
    required,
    where_complete,
)
from privacyfunnel.columns.roles import Column, Roles

__all__ = [
    "KINDS",
    "MISSING",
    "Bins",
    "Calendar",
    "Column",
    "ColumnRules",
    "Kind",
    "Roles",
    "Round",
    "Rule",
    "clean",
    "complete_groups",
    "complete_rows",
    "is_known",
    "literal",
    "quantiles_of_counts",
    "required",
    "show",
    "sql_kind",
    "where_complete",
]
