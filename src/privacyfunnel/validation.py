"""The one door: everything a user hands in is checked here; inner rooms trust."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any

import numpy as np
import psutil
import scipy.sparse as sp

from privacyfunnel.errors import InvalidInput, InvalidJoint, TooLarge

LARGEST_WHOLE = 2.0**53  # whole numbers from here on are not exact as floats


def check_lam(lam: float) -> float:
    """λ as a float in [0, 1]."""
    try:
        lam = float(lam)
    except (TypeError, ValueError):
        raise InvalidInput(f"lam must be a number in [0, 1], got {lam!r}.") from None
    if not 0.0 <= lam <= 1.0:
        raise InvalidInput(
            f"lam must lie in [0, 1], got {lam}; 0 asks for privacy only, 1 for utility only."
        )
    return lam


def check_rng(seed: int | np.random.Generator | None) -> np.random.Generator:
    """A generator from a seed; a generator passes through."""
    if isinstance(seed, np.random.Generator):
        return seed
    if seed is not None:
        check_seed(seed)
    return np.random.default_rng(seed)


def check_seed(seed: int) -> None:
    """A seed is a whole number that is not negative."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise InvalidInput(f"seed must be a whole number, got {seed!r}.")
    if seed < 0:
        raise InvalidInput(f"seed must be at least 0, got {seed}.")


def is_number(value: Any) -> bool:
    """Whether a value is one of Python's or NumPy's numbers, which True and False are not here."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def check_at_least(name: str, value: float, least: float) -> None:
    """``value`` is a finite number that is not below ``least``."""
    if not is_number(value):
        raise InvalidInput(f"{name} must be a number, got {value!r}.")
    if not (math.isfinite(value) and value >= least):
        raise InvalidInput(f"{name} must be at least {least}, got {value}.")


def check_whole(name: str, value: float, least: int) -> None:
    """``value`` is a whole number that is not below ``least``."""
    check_at_least(name, value, least)
    if value != int(value):
        raise InvalidInput(f"{name} must be a whole number, got {value}.")


def check_share(name: str, value: float) -> float:
    """A share in [0, 1] as a float.

    >>> check_share("kept", np.float32(0.5))
    0.5
    """
    if not (is_number(value) and 0.0 <= value <= 1.0):
        raise InvalidInput(f"{name} must lie in [0, 1], a share of all there is; got {value!r}.")
    return float(value)


def check_records(min_count: float, n_records: int | None) -> None:
    """A least number of records can be asked for where records are counted, and there are so many."""
    if min_count <= 1:
        return
    if n_records is None:
        raise InvalidInput("min_count needs whole counts of records; build with from_counts.")
    if min_count > n_records:
        raise InvalidInput(
            f"min_count must be at most the number of records, {n_records}, got {min_count}."
        )


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """``value`` is one of ``choices``."""
    if value not in choices:
        raise InvalidInput(f"{name} must be one of {', '.join(choices)}; got {value!r}.")


def check_kind(name: str, value: Any, kind: type, example: str) -> None:
    """``value`` is one of our own objects, ``kind``; ``example`` says how to make one.

    >>> check_kind("joint", 5, dict, "dict(a=1)")
    Traceback (most recent call last):
    privacyfunnel.errors.InvalidInput: joint must be a dict, such as dict(a=1); got 5.
    """
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        shown = repr(value) if isinstance(value, str | int | float) else type(value).__name__
        raise InvalidInput(
            f"{name} must be {article} {kind.__name__}, such as {example}; got {shown}."
        )


def check_counts(counts: Any) -> sp.csc_array:
    """Counts ``[s, x]`` as a canonical CSC matrix: finite, nonnegative, not all zero."""
    if sp.issparse(counts):
        if counts.ndim != 2:
            raise InvalidJoint(f"counts must have two axes [s, x], got {counts.ndim}.")
        _check_real(counts)
        matrix = sp.csc_array(counts, dtype=float, copy=True)
    else:
        matrix = sp.csc_array(_dense(counts))
    matrix.sum_duplicates()
    if not np.isfinite(matrix.data).all():
        bad = "NaN" if np.isnan(matrix.data).any() else "an infinite value"
        raise InvalidJoint(f"counts must be finite, got {bad}; drop or fill those cells first.")
    if (matrix.data < 0).any():
        raise InvalidJoint(f"counts must not be negative, got {matrix.data.min():g}.")
    matrix.eliminate_zeros()
    if matrix.nnz == 0:
        raise InvalidJoint("counts are empty or all zero; at least one cell must be positive.")
    if matrix.data.sum() >= LARGEST_WHOLE:
        warnings.warn(
            f"counts sum to {matrix.data.sum():.3g}, more than whole numbers are exact to; they are "
            "taken as weights, not as records.",
            stacklevel=3,
        )
    return matrix


def _dense(counts: Any) -> np.ndarray:
    try:
        given = np.asarray(counts)
        dense = given if given.dtype.kind == "c" else given.astype(float)
    except (TypeError, ValueError):
        raise InvalidJoint(
            "counts must be a table of numbers with rows of equal length, "
            "got ragged or non-numeric input."
        ) from None
    _check_real(dense)
    if dense.ndim != 2:
        raise InvalidJoint(f"counts must have two axes [s, x], got an array of {dense.ndim}.")
    return dense


def _check_real(counts: Any) -> None:
    if counts.dtype.kind == "c":  # as floats they would lose a part in silence
        raise InvalidJoint("counts must be real numbers, got complex ones.")


def check_labels(name: str, labels: Sequence[Any] | None, size: int) -> tuple[Any, ...]:
    """``size`` distinct, hashable labels, plain values; the positions 0, 1, ... when none are given."""
    if labels is None:
        return tuple(range(size))
    try:
        labels = plain_labels(tuple(labels))
    except TypeError:
        raise InvalidJoint(
            f"{name} must be a list with a label for each symbol, got {labels!r}."
        ) from None
    if len(labels) != size:
        raise InvalidJoint(f"{name} needs one label per symbol: {size} wanted, got {len(labels)}.")
    try:
        distinct = len(set(labels))
    except TypeError:
        raise InvalidJoint(
            f"{name} must be hashable; use tuples, not lists, for combined values."
        ) from None
    if distinct < size:
        raise InvalidJoint(f"{name} must be distinct, got {size - distinct} repeated.")
    return labels


def plain_labels(labels: tuple[Any, ...]) -> tuple[Any, ...]:
    """Labels as Python's own values, those within tuples too: NumPy's and pandas' have other types.

    Recodings tell numbers, dates and categories apart by the type, and labels are shown to people.

    >>> plain_labels((np.int64(3), (np.datetime64("2020-05-01"), np.str_("a")), None))
    (3, (datetime.date(2020, 5, 1), 'a'), None)
    """
    return tuple(map(_plain, labels)) if _has_foreign(labels) else labels


def _has_foreign(labels: Collection[Any]) -> bool:
    """Whether any label is not Python's own; looks at types only, as there may be many labels."""
    kinds = set(map(type, labels))
    if any(issubclass(kind, np.generic) or hasattr(kind, "to_pydatetime") for kind in kinds):
        return True
    if not any(issubclass(kind, tuple) for kind in kinds):
        return False
    parts = (label for label in labels if isinstance(label, tuple))
    return _has_foreign(list(chain.from_iterable(parts)))


def _plain(label: Any) -> Any:
    """One label as Python's own value; as it came where Python has none, such as for nanoseconds."""
    if isinstance(label, tuple):
        return tuple(map(_plain, label))
    if hasattr(label, "to_pydatetime"):  # pandas' Timestamp, and NaT, which is unlike itself
        if label != label:
            return None
        return label if label.nanosecond else label.to_pydatetime()
    if isinstance(label, np.datetime64 | np.timedelta64):
        return _plain_time(label)
    if isinstance(label, np.floating):
        return float(label)  # .item() of a long double is one again
    return label.item() if isinstance(label, np.generic) else label


def _plain_time(label: np.datetime64 | np.timedelta64) -> Any:
    """A date, datetime or timedelta, None for NaT."""
    in_micros = label.astype(f"{label.dtype.kind}8[us]")
    found = (in_micros if isinstance(label.item(), int) and in_micros == label else label).item()
    return label if isinstance(found, int) else found  # .item() of what does not fit is a number


def check_memory(what: str, n_bytes: float, cure: str) -> None:
    """Refuse what would not fit into memory, before anything is allocated."""
    free = free_memory()
    if n_bytes > free:
        raise TooLarge(f"{what} would need {_size(n_bytes)}, but {_size(free)} are free; {cure}.")


def free_memory() -> float:
    """Bytes that can be had without swapping, as the system says."""
    return float(psutil.virtual_memory().available)


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e6:.1f} MB"
