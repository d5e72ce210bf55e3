"""Tables: count a user's table and release it, in the engine that holds it.

    source -> open_table -> Table -> count -> Counts -> ... -> write_release

The only room that touches big data: a group-by brings the counts into Python, a join takes the
code back out to the rows.
"""

from privacyfunnel.tables.count import Counts, count, count_roles
from privacyfunnel.tables.open import open_table
from privacyfunnel.tables.summary import ColumnSummary, identifiers, summary
from privacyfunnel.tables.table import Table
from privacyfunnel.tables.write import Released, write_release

__all__ = [
    "ColumnSummary",
    "Counts",
    "Released",
    "Table",
    "count",
    "count_roles",
    "identifiers",
    "open_table",
    "summary",
    "write_release",
]
