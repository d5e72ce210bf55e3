"""Columns: what kind of values they hold and how they are coarsened before they are counted.

A rule turns a value into a whole index inside the engine (SQL or narwhals), and the index into a
label here; the codebook stores the rule, so that new rows are treated exactly as the first were.
"""

from privacyfunnel.columns.column_rules import MISSING, ColumnRules, quantiles_of_counts
from privacyfunnel.columns.kinds import KINDS, Kind, clean, show, sql_kind
from privacyfunnel.columns.roles import Column, Roles
from privacyfunnel.columns.rules import Bins, Round, Rule

__all__ = [
    "KINDS",
    "MISSING",
    "Bins",
    "Column",
    "ColumnRules",
    "Kind",
    "Roles",
    "Round",
    "Rule",
    "clean",
    "quantiles_of_counts",
    "show",
    "sql_kind",
]
