"""The one door: everything a user hands in is checked here; inner rooms trust."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Sequence
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
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer))):
        raise InvalidInput(f"seed must be a whole number, got {seed!r}.")
    if seed is not None and seed < 0:
        raise InvalidInput(f"seed must be at least 0, got {seed}.")
    return np.random.default_rng(seed)


def check_at_least(name: str, value: float, least: float) -> None:
    """``value`` is a finite number that is not below ``least``."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise InvalidInput(f"{name} must be a number, got {value!r}.")
    if not (math.isfinite(value) and value >= least):
        raise InvalidInput(f"{name} must be at least {least}, got {value}.")


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """``value`` is one of ``choices``."""
    if value not in choices:
        raise InvalidInput(f"{name} must be one of {', '.join(choices)}; got {value!r}.")


def check_counts(counts: Any) -> sp.csc_array:
    """Counts ``[s, x]`` as a canonical CSC matrix: finite, nonnegative, not all zero."""
    if sp.issparse(counts):
        if counts.ndim != 2:
            raise InvalidJoint(f"counts must have two axes [s, x], got {counts.ndim}.")
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
        dense = np.asarray(counts, dtype=float)
    except (TypeError, ValueError):
        raise InvalidJoint(
            "counts must be a table of numbers with rows of equal length, "
            "got ragged or non-numeric input."
        ) from None
    if dense.ndim != 2:
        raise InvalidJoint(f"counts must have two axes [s, x], got an array of {dense.ndim}.")
    return dense


def check_labels(name: str, labels: Sequence[Any] | None, size: int) -> tuple[Any, ...]:
    """``size`` distinct, hashable labels; the positions 0, 1, ... when none are given."""
    if labels is None:
        return tuple(range(size))
    labels = tuple(labels)
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
