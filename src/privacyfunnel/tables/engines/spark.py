"""Spark: the same count and release on a cluster; a release is a folder of files there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacyfunnel.errors import InvalidInput
from privacyfunnel.tables.keys import key_expr
from privacyfunnel.tables.plan import SUPPRESSED, Plan, lookup
from privacyfunnel.tables.sampling import HEX_DIGITS

if TYPE_CHECKING:
    import narwhals as nw


def with_safe_names(frame: Any) -> Any:
    """The frame with columns c0, c1, ...; times without a zone are the session's wall clock."""
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.types import TimestampType

    types = [field.dataType for field in frame.schema.fields]
    safe = frame.toDF(*(f"c{i}" for i in range(len(types))))
    return safe.select(
        *(
            F.col(f"c{i}").cast("timestamp_ntz").alias(f"c{i}")
            if isinstance(kind, TimestampType)
            else F.col(f"c{i}")
            for i, kind in enumerate(types)
        )
    )


def spark_quantiles(frame: Any, key: nw.Expr, shares: Sequence[float]) -> list[Any]:
    """Values of the column below which at least these shares of it lie."""
    import narwhals as nw
    from pyspark.sql import functions as F  # noqa: N812

    keys = nw.to_native(nw.from_native(frame).select(k=key))
    wanted = (f"percentile_disc({share!r}D) WITHIN GROUP (ORDER BY k)" for share in shares)
    return list(keys.select(*(F.expr(sql) for sql in wanted)).collect()[0])


def write_joined(plan: Plan, part: Path, fmt: str, ordered: bool) -> None:
    """Join every row to its label and let the workers write them, each its part of the folder.

    A broadcast join keeps the order within a part, and parts are numbered: ``ordered`` costs nothing.
    """
    from pyspark.sql import functions as F  # noqa: N812

    joined = _joined(plan)
    label, expanded = F.col("label"), [F.col(f"e{i}") for i in range(len(plan.columns))]
    if plan.book.soft:
        place = F.size(F.filter("ends", lambda end: end <= F.col("draw"))) + 1
        label, *expanded = (F.try_element_at(text, place) for text in (label, *expanded))
    if plan.suppress:
        label = F.coalesce(label, F.lit(SUPPRESSED))
    kept = [F.col(f"c{plan.table.position(name)}") for name in plan.keep]
    columns = [label, *(expanded if plan.expand else []), *kept]
    output = joined.select(*columns).toDF(*plan.names)
    writer = output.write.mode("errorifexists")
    address = part.absolute().as_uri()
    if fmt == "csv":
        writer.csv(address, header=True, quote='"', escape='"')
    else:
        writer.parquet(address)


def count_incomplete(plan: Plan) -> int:
    """How many rows lack a required value."""
    return int(plan.table.n_rows - _keyed(plan).count()) if plan.required else 0


def count_keyless(plan: Plan) -> int:
    """How many rows lack the key that a soft code draws by."""
    from pyspark.sql import functions as F  # noqa: N812

    if plan.key is None or not plan.book.soft:
        return 0
    key = F.col(f"c{plan.table.position(plan.key)}")
    return int(plan.table.spark.where(key.isNull()).count())


def find_unknown(plan: Plan) -> tuple[tuple[Any, ...], int, int] | None:
    """The commonest value that the codebook does not cover, rows and values of that kind in all."""
    from pyspark.sql import functions as F  # noqa: N812

    keys = [f"r{i}" for i in range(len(plan.columns))]
    unknown = _joined(plan).where(F.col("place").isNull()).groupBy(*keys).count()
    total, n_values = unknown.select(F.sum("count"), F.count("*")).collect()[0]
    if not n_values:
        return None
    *raw, _ = unknown.orderBy(F.desc("count"), *map(F.asc_nulls_last, keys)).first()
    value = tuple(column.symbol(v) for column, v in zip(plan.columns, raw, strict=True))
    return value, int(total), int(n_values)


def _keyed(plan: Plan) -> Any:
    """The rows with their keys r0, r1, ... and, for a soft code, their draws."""
    import narwhals as nw
    from pyspark.sql import functions as F  # noqa: N812

    frame = nw.from_native(plan.table.spark)
    for column in plan.required:
        known = key_expr(column, f"c{plan.table.position(column.name)}")
        frame = frame.filter(~known.is_null())
    keys = {
        f"r{i}": key_expr(column, f"c{plan.table.position(column.name)}")
        for i, column in enumerate(plan.columns)
    }
    keyed = frame.with_columns(**keys).to_native()
    if not plan.book.soft:
        return keyed
    if plan.key is None:
        raise InvalidInput("rows on a cluster have no number; name a key column for the draws.")
    row = F.col(f"c{plan.table.position(plan.key)}")
    text = F.concat(F.lit(plan.book.check_salt() + ":"), row.cast("string"))
    hashed = F.substring(F.sha2(text, 256), 1, HEX_DIGITS)
    return keyed.withColumn("draw", F.conv(hashed, 16, 10).cast("bigint"))


def _joined(plan: Plan) -> Any:
    """The rows beside the lookup table, which every worker gets whole; NULL meets NULL."""
    from pyspark.sql import functions as F  # noqa: N812

    keyed = _keyed(plan)
    small = F.broadcast(plan.table.spark.sparkSession.createDataFrame(lookup(plan)))
    on = [keyed[f"r{i}"].eqNullSafe(small[f"k{i}"]) for i in range(len(plan.columns))]
    return keyed.join(small, on, "left")
