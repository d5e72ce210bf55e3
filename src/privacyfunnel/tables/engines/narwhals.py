"""Frames: tables of other libraries, by way of narwhals; lazy ones are counted by their own engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from privacyfunnel.columns import KINDS, Column, quantiles_of_counts
from privacyfunnel.errors import InvalidInput
from privacyfunnel.tables.engines.duckdb import DuckDBTable
from privacyfunnel.tables.table import Table

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa


def opens(source: Any) -> bool:
    """Whether narwhals understands it as a frame."""
    return _wrapped(source) is not None


def open_source(source: Any, memory: str | None) -> Table:
    """A table of an eager frame, shown to DuckDB, or of a lazy one."""
    import narwhals as nw

    frame = _wrapped(source)
    if isinstance(frame, nw.DataFrame):
        data, kinds = arrow_of(frame)
        return DuckDBTable(
            source=type(frame.to_native()).__name__,
            names=tuple(map(str, frame.columns)),
            kinds=kinds,
            attach=lambda con, _: con.register("funnel_rows", data),
            memory=memory,
            length=len(data),
        )
    names = frame.collect_schema().names()
    safe = frame.rename({name: f"c{i}" for i, name in enumerate(names)})
    # Polars streams its rows to our DuckDB: it divides by multiplying with the inverse, so its own
    # rounding is not everyone's.
    return lazy_table(safe, names, memory, DuckDBTable if _streams(frame) else FrameTable)


def _wrapped(source: Any) -> Any:
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        return nw.from_native(source)
    except DuplicateError as error:
        raise InvalidInput(
            f"the table has two columns of one name; rename one ({' '.join(str(error).split())})."
        ) from error
    except TypeError as error:
        if "nsupported" not in str(error) and "allow_series" not in str(error):
            raise
        return None  # a series is no table


def arrow_of(frame: nw.DataFrame[Any]) -> tuple[pa.Table, tuple[str, ...]]:
    """A frame's columns as c0, c1, ... of an Arrow table, and the kind of each.

    >>> import narwhals as nw, pandas as pd
    >>> arrow_of(nw.from_native(pd.DataFrame({"age": [40, 61], "city": ["Bonn", None]})))[1]
    ('integer', 'text')
    """
    import pyarrow as pa

    arrays, bad = [], {}
    for i in range(frame.shape[1]):
        try:
            arrays.append(frame[:, i].to_arrow())
        except (pa.ArrowException, TypeError, NotImplementedError):  # e.g. text among numbers
            bad[i] = f"mixed ({frame[:, i].dtype})"
            arrays.append(pa.nulls(len(frame)))
    names = [f"c{i}" for i in range(len(arrays))]
    data = pa.table(dict(zip(names, arrays, strict=True)))
    return data, tuple(bad.get(i, _arrow_kind(kind)) for i, kind in enumerate(data.schema.types))


def _arrow_kind(arrow_type: pa.DataType) -> str:
    """The kind of an Arrow type; the type itself where it is none that we can count."""
    import pyarrow.types as of

    if of.is_dictionary(arrow_type):
        return _arrow_kind(arrow_type.value_type)
    fits = (k.name for k in KINDS.values() if any(getattr(of, t)(arrow_type) for t in k.is_arrow))
    return next(fits, str(arrow_type))


def lazy_table(
    frame: nw.LazyFrame[Any], names: Sequence[str], memory: str | None, table: type[DuckDBTable]
) -> Table:
    """A table of a lazy frame whose columns are called c0, c1, ... by now."""
    kinds = {t: kind.name for kind in KINDS.values() for t in kind.frame}
    own: dict[str, Any] = {"frame": frame} if issubclass(table, FrameTable) else {}
    return table(
        source=f"{frame.implementation.value} frame",
        names=tuple(names),
        kinds=tuple(
            kinds.get(type(dtype).__name__, str(dtype)) for dtype in frame.collect_schema().dtypes()
        ),
        attach=lambda con, chosen: con.register("funnel_rows", _batches(frame.select(*chosen))),
        memory=memory,
        **own,
    )


def _streams(frame: nw.LazyFrame[Any]) -> bool:
    return bool(frame.implementation.is_polars())


def _batches(frame: nw.LazyFrame[Any]) -> pa.RecordBatchReader | pa.Table:
    """The rows on this machine: as a stream from Polars, whole from engines that cannot stream."""
    import pyarrow as pa

    if not _streams(frame):
        return frame.collect("pyarrow").to_native()
    native = frame.to_native()
    schema = native.collect_schema().to_frame().to_arrow().schema
    batches = (b for part in native.collect_batches() for b in part.to_arrow().to_batches())
    return pa.RecordBatchReader.from_batches(schema, (b.cast(schema) for b in batches))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FrameTable(DuckDBTable):
    """A lazy frame that its own engine counts; what it cannot do, DuckDB does with its rows."""

    frame: nw.LazyFrame[Any]

    def count_rows(self) -> int:
        import narwhals as nw

        return int(self.frame.select(n=nw.len()).collect()["n"].item())

    def group(self, columns: Sequence[Column], weight: Column | None) -> pa.Table:
        import narwhals as nw

        keys = {f"k{i}": c.expr(self.place(c.name)) for i, c in enumerate(columns)}
        chosen, sums = dict(keys), {"n": nw.len()}
        if weight:
            chosen["w"] = weight.expr(self.place(weight.name))
            w = nw.col("w")
            sums |= {"w": w.sum(), "least": w.min(), "known": w.count()}
        grouped = self.frame.select(**chosen).group_by(*keys).agg(**sums)
        return grouped.collect("pyarrow").to_native()

    def known_and_distinct(self, columns: Sequence[Column]) -> list[tuple[int, int]]:
        import narwhals as nw

        keys = [c.expr(self.place(c.name)).alias(f"k{i}") for i, c in enumerate(columns)]
        chosen = []
        for i in range(len(columns)):
            key = nw.col(f"k{i}")
            chosen += [key.count().alias(f"known{i}"), key.n_unique().alias(f"distinct{i}")]
        row = [int(v) for v in self.frame.select(*keys).select(*chosen).collect("pyarrow").row(0)]
        pairs = zip(row[0::2], row[1::2], strict=True)
        # narwhals counts missing as a value
        return [(known, distinct - (known < self.n_rows)) for known, distinct in pairs]

    def quantiles(self, column: Column, n: int) -> list[Any]:
        import narwhals as nw

        # From the counts of the distinct values: not every engine has such a quantile.
        keys = self.frame.select(k=column.expr(self.place(column.name))).filter(
            ~nw.col("k").is_null()
        )
        counted = keys.group_by("k").agg(n=nw.len()).collect("pyarrow").to_native().sort_by("k")
        shares = [i / n for i in range(1, n)]
        return quantiles_of_counts(counted["k"].to_pylist(), counted["n"].to_numpy(), shares)
