"""Input columns: whatever scikit-learn's users hand in, as Arrow columns with a name and a kind each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data

from privacyfunnel.columns import KINDS
from privacyfunnel.errors import InvalidInput
from privacyfunnel.tables.engines.narwhals import arrow_of


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns c0, c1, ... of an Arrow table, with the name and the kind of each."""

    data: pa.Table
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    categorical: tuple[bool, ...]  # of a dtype of categories, whose values have no order

    def __len__(self) -> int:
        return len(self.data)

    @property
    def parts(self) -> Iterator[tuple[str, str, bool, pa.ChunkedArray]]:
        """The name, the kind, whether it is categorical and the data of each."""
        return zip(self.names, self.kinds, self.categorical, self.data.columns, strict=True)

    def rows(self, kept: NDArray[np.bool_]) -> Columns:
        """Only the rows that are marked."""
        return self if kept.all() else replace(self, data=self.data.filter(kept))


def read_public(estimator: Any, X: Any, *, reset: bool) -> Columns:
    """The table X, checked as scikit-learn checks it; each column keeps its own type.

    ``reset`` remembers names and number of the columns on the estimator, else they must agree.
    """
    frame = _framed(X)
    if isinstance(frame, nw.DataFrame):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        for size, what in zip(frame.shape, ("sample", "feature"), strict=True):
            if size == 0:
                raise InvalidInput(
                    f"Found array with 0 {what}(s) (shape={frame.shape}) while a minimum of 1 is "
                    f"required by {type(estimator).__name__}."
                )
    else:
        checks = {"reset": reset, "dtype": _dtype(X), "ensure_all_finite": False}
        frame = _from_array(validate_data(estimator, X, **checks))
    names = getattr(estimator, "feature_names_in_", None)
    return _columns(frame, [f"x{i}" for i in range(frame.shape[1])] if names is None else names)


def read_sensitive(S: Any, word: str) -> Columns:
    """The variable S of one column or several: an array, a list, a series or a frame.

    Columns without a name are called by ``word``.
    """
    given = _framed(S)
    if isinstance(given, nw.DataFrame):
        return _columns(given, given.columns)
    if isinstance(given, nw.Series):
        return _columns(given.alias("s").to_frame(), [given.name or word])
    array = check_array(
        S, dtype=_dtype(S), ensure_2d=False, ensure_all_finite=False, input_name=word
    )
    frame = _from_array(array if array.ndim == 2 else array.reshape(-1, 1))
    several = frame.shape[1] > 1
    return _columns(frame, [f"{word}{i}" if several else word for i in range(frame.shape[1])])


def _dtype(values: Any) -> Any:
    """None keeps an array's dtype; a list that holds text is read cell by cell, not as text all."""
    if hasattr(values, "dtype") or hasattr(values, "__array__"):
        return None
    flat = values if isinstance(values, list | tuple) else ()
    cells = (cell for row in flat for cell in (row if isinstance(row, list | tuple) else (row,)))
    return object if any(isinstance(cell, str) for cell in cells) else None


def _framed(given: Any) -> Any:
    """A narwhals frame or series of what is one in some library; anything else as it is."""
    try:
        return nw.from_native(given, eager_only=True, allow_series=True, pass_through=True)
    except DuplicateError:
        raise InvalidInput("two columns have one name; rename one.") from None


def _from_array(array: NDArray[Any]) -> nw.DataFrame[Any]:
    import pandas as pd

    names = [f"x{i}" for i in range(array.shape[1])]
    return nw.from_native(pd.DataFrame(array, columns=names), eager_only=True)


def _columns(frame: nw.DataFrame[Any], names: Any) -> Columns:
    data, kinds = arrow_of(frame)
    names = tuple(map(str, names))
    for name, kind in zip(names, kinds, strict=True):
        if kind not in KINDS:
            raise InvalidInput(
                f"column {name!r} holds values of type {kind}, which cannot be counted; "
                "make it text, numbers or dates first."
            )
    categorical = tuple(pa.types.is_dictionary(kind) for kind in data.schema.types)
    plain = pa.schema([(field.name, _plain(field.type)) for field in data.schema])
    return Columns(data.cast(plain), names, kinds, categorical)


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type in which a column is handled: its categories' own, and one type of inexact numbers."""
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    return pa.float64() if pa.types.is_decimal(kind) or pa.types.is_floating(kind) else kind
