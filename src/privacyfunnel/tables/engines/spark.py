"""Spark: the same count and release on a cluster; a release is a folder of files there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privacyfunnel.codebook.draws import draw_spark, picked_spark
from privacyfunnel.codebook.output import SUPPRESSED
from privacyfunnel.columns import Column, complete_rows
from privacyfunnel.columns.missing import WRITTEN
from privacyfunnel.tables.engines.narwhals import FrameTable, lazy_table
from privacyfunnel.tables.join import Join
from privacyfunnel.tables.table import Table


def opens(source: Any) -> bool:
    """Whether this is a frame of PySpark's, of its own or in narwhals' coat."""
    import narwhals as nw

    native = nw.to_native(source, pass_through=True)
    return nw.dependencies.is_pyspark_dataframe(
        native
    ) or nw.dependencies.is_pyspark_connect_dataframe(native)


def open_source(source: Any, memory: str | None) -> Table:
    """A table of a Spark frame; times without a zone are the session's wall clock."""
    import narwhals as nw
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.types import TimestampType

    native = nw.to_native(source, pass_through=True)
    types = [field.dataType for field in native.schema.fields]
    safe = native.toDF(*(f"c{i}" for i in range(len(types)))).select(
        *(
            F.col(f"c{i}").cast("timestamp_ntz").alias(f"c{i}")
            if isinstance(kind, TimestampType)
            else F.col(f"c{i}")
            for i, kind in enumerate(types)
        )
    )
    return lazy_table(nw.from_native(safe), native.columns, memory, SparkTable)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SparkTable(FrameTable):
    """A frame whose rows never leave the cluster: its workers join and write them."""

    def quantiles(self, column: Column, n: int) -> list[Any]:
        from pyspark.sql import functions as F  # noqa: N812

        keys = self.frame.select(k=column.expr(self.place(column.name))).to_native()
        wanted = (f"percentile_disc({i / n!r}D) WITHIN GROUP (ORDER BY k)" for i in range(1, n))
        return list(keys.select(*(F.expr(sql) for sql in wanted)).collect()[0])

    def count_complete(self, columns: Sequence[Column]) -> int:
        return int(self._complete_rows(columns).to_native().count())

    def write_join(self, join: Join, part: Path, fmt: str, ordered: bool) -> None:
        """Let the workers write, each its part of the folder.

        A broadcast join keeps the order within a part, and parts are numbered: ``ordered`` costs nothing.
        """
        from pyspark.sql import functions as F  # noqa: N812

        joined = self._joined_rows(join)
        columns = [
            picked_spark(name, "ends", "draw") if join.book.soft else F.col(name)
            for name in join.outputs
        ]
        if join.suppress and join.outputs[0] == "label":
            columns[0] = F.coalesce(columns[0], F.lit(SUPPRESSED))
        columns += [F.col(self.place(name)) for name in join.keep]
        writer = joined.select(*columns).toDF(*join.names).write.mode("errorifexists")
        address = part.absolute().as_uri()
        if fmt == "csv":
            writer.csv(address, header=True, quote='"', escape='"', nullValue=WRITTEN)
        else:
            writer.parquet(address)

    def commonest_unknown(self, join: Join) -> tuple[tuple[Any, ...], int, int] | None:
        from pyspark.sql import functions as F  # noqa: N812

        keys = [f"r{i}" for i in range(len(join.columns))]
        unknown = self._joined_rows(join).where(F.col("place").isNull()).groupBy(*keys).count()
        total, n_values = unknown.select(F.sum("count"), F.count("*")).collect()[0]
        if not n_values:
            return None
        *raw, _ = unknown.orderBy(F.desc("count"), *map(F.asc_nulls_last, keys)).first()
        return join.value(raw), int(total), int(n_values)

    def _complete_rows(self, columns: Sequence[Column]) -> Any:
        return complete_rows(self.frame, (c.expr(self.place(c.name)) for c in columns))

    def _joined_rows(self, join: Join) -> Any:
        """The rows beside the lookup table, which every worker gets whole; NULL meets NULL."""
        from pyspark.sql import functions as F  # noqa: N812

        keys = {f"r{i}": c.expr(self.place(c.name)) for i, c in enumerate(join.columns)}
        keyed = self._complete_rows(join.required).with_columns(**keys).to_native()
        if join.book.soft:
            key = None if join.key is None else self.place(join.key)
            keyed = keyed.withColumn("draw", draw_spark(join.book.check_salt(), key))
        small = F.broadcast(keyed.sparkSession.createDataFrame(join.lookup()))
        on = [keyed[f"r{i}"].eqNullSafe(small[f"k{i}"]) for i in range(len(join.columns))]
        return keyed.join(small, on, "left")
