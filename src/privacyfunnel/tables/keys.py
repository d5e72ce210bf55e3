"""Keys: a column as the engine groups and joins it, in SQL and in narwhals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privacyfunnel.columns import Column

if TYPE_CHECKING:
    import narwhals as nw


def key_sql(column: Column, name: str) -> str:
    """The SQL of a column's value or index; missing values and NaN are NULL, -0 is 0.

    >>> key_sql(Column("age", "integer"), "c3")
    'CAST(c3 AS BIGINT)'
    """
    number = f"CAST({name} AS DOUBLE)"
    value = {
        "boolean": f"CAST({name} AS BOOLEAN)",
        "integer": f"CAST({name} AS BIGINT)",
        "number": f"CASE WHEN isnan({number}) THEN NULL WHEN {number} = 0 THEN 0 ELSE {number} END",
        "text": f"CAST({name} AS VARCHAR)",
        "date": f"CAST({name} AS DATE)",
        "datetime": f"make_timestamp(epoch_us({name}))",  # UTC for times with a zone
    }[column.kind]
    return column.rule.sql(f"({value})") if column.rule else value


def key_expr(column: Column, name: str) -> nw.Expr:
    """The same in narwhals."""
    import narwhals as nw

    value = nw.col(name)
    if column.kind == "number":
        number = value.cast(nw.Float64)
        known = nw.when(~number.is_nan()).then(number)
        value = nw.when(number == 0).then(nw.lit(0.0)).otherwise(known)
    elif column.kind == "integer":
        value = value.cast(nw.Int64)
    elif column.kind == "text":
        value = value.cast(nw.String)
    return column.rule.expr(value) if column.rule else value
