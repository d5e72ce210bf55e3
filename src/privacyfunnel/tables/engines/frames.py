"""Frames: tables of other libraries, counted by their own engine where they are lazy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from privacyfunnel.errors import FunnelError, InvalidInput
from privacyfunnel.tables.table import Table, sql_kind

if TYPE_CHECKING:
    import duckdb
    import narwhals as nw
    import pyarrow as pa


def open_frame(frame: Any, memory: str | None) -> Table:
    """A frame that narwhals understands, or a DuckDB relation."""
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    if nw.dependencies.is_duckdb_relation(frame):
        # Not through narwhals: it keeps DuckDB's types alive, which then complains on exit.
        return _open_relation(frame, memory)
    try:
        wrapped = nw.from_native(frame)
        if isinstance(wrapped, nw.DataFrame):
            return _open_eager(wrapped, memory)
        return _open_lazy(wrapped, memory)
    except DuplicateError as error:
        raise InvalidInput(
            f"the table has two columns of one name; rename one ({_one_line(error)})."
        ) from error
    except TypeError as error:
        if isinstance(error, FunnelError) or "nsupported" not in str(error):
            raise
        raise InvalidInput(
            f"cannot read a table from {type(frame).__name__}; pass a path or a data frame."
        ) from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _open_eager(frame: nw.DataFrame[Any], memory: str | None) -> Table:
    data, kinds = arrow_of(frame)
    return Table(
        source=type(frame.to_native()).__name__,
        names=tuple(map(str, frame.columns)),
        kinds=kinds,
        attach=lambda con, _: con.register("t", data),
        memory=memory,
        length=len(data),
    )


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


def _arrow_kind(kind: pa.DataType) -> str:
    """The kind of an Arrow type; the type itself where it is none that we can count."""
    import pyarrow.types as of

    if of.is_dictionary(kind):
        return _arrow_kind(kind.value_type)
    tests = {
        "boolean": (of.is_boolean,),
        "integer": (of.is_integer,),
        "number": (of.is_floating, of.is_decimal),
        "text": (of.is_string, of.is_large_string, of.is_string_view, of.is_null),
        "date": (of.is_date,),
        "datetime": (of.is_timestamp,),
    }
    return next((name for name, fits in tests.items() if any(f(kind) for f in fits)), str(kind))


def _open_relation(relation: duckdb.DuckDBPyRelation, memory: str | None) -> Table:
    safe = ", ".join(f"c{i}" for i in range(len(relation.columns)))
    renamed: Any = relation.query("t", f"SELECT * FROM t AS s({safe})")
    return Table(
        source="DuckDB relation",
        names=tuple(relation.columns),
        kinds=tuple(sql_kind(str(t)) for t in relation.types),
        attach=lambda con, names: con.register(
            "t", renamed.project(", ".join(names)).to_arrow_reader()
        ),
        memory=memory,
    )


def _open_lazy(frame: nw.LazyFrame[Any], memory: str | None) -> Table:
    import narwhals as nw

    names = frame.collect_schema().names()
    engine = frame.implementation
    spark = None
    if engine.is_pyspark() or engine.is_pyspark_connect():
        from privacyfunnel.tables.engines.spark import with_safe_names

        spark = with_safe_names(frame.to_native())
        frame = nw.from_native(spark)
    else:
        frame = frame.rename({name: f"c{i}" for i, name in enumerate(names)})
    return Table(
        source=f"{engine.value} frame",
        names=tuple(names),
        kinds=tuple(_lazy_kind(dtype) for dtype in frame.collect_schema().dtypes()),
        attach=lambda con, chosen: con.register("t", _batches(frame.select(*chosen))),
        memory=memory,
        # Polars streams its rows to our DuckDB: it divides by multiplying with the inverse, so its
        # own rounding is not everyone's.
        lazy=None if engine.is_polars() else frame,
        spark=spark,
    )


def _lazy_kind(dtype: Any) -> str:
    import narwhals as nw

    kinds: list[tuple[str, Any]] = [
        ("boolean", nw.Boolean),
        ("text", (nw.String, nw.Categorical, nw.Enum)),
        ("date", nw.Date),
        ("datetime", nw.Datetime),
        ("number", nw.Decimal),
    ]
    if dtype.is_integer():
        return "integer"
    if dtype.is_float():
        return "number"
    return next((kind for kind, types in kinds if isinstance(dtype, types)), str(dtype))


def _batches(frame: nw.LazyFrame[Any]) -> pa.RecordBatchReader | pa.Table:
    """The rows on this machine: as a stream from Polars, whole from engines that cannot stream."""
    import pyarrow as pa

    if not frame.implementation.is_polars():
        return frame.collect("pyarrow").to_native()
    native = frame.to_native()
    schema = native.collect_schema().to_frame().to_arrow().schema
    batches = (b for part in native.collect_batches() for b in part.to_arrow().to_batches())
    return pa.RecordBatchReader.from_batches(schema, (b.cast(schema) for b in batches))
