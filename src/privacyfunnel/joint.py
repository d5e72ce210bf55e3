"""Joint: the frozen distribution p(s,x) that every other room works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privacyfunnel.errors import InvalidInput, InvalidJoint
from privacyfunnel.information import Array, entropy, mutual_information, plogp
from privacyfunnel.notebook import card
from privacyfunnel.validation import LARGEST_WHOLE, check_counts, check_labels

if TYPE_CHECKING:
    from privacyfunnel.columns import ColumnRules


@dataclass(frozen=True, eq=False)
class PublicColumn:
    """One column of X: its distinct values, rising where they can be compared, missing last.

    ``codes[x]`` is the position in ``values`` of the value behind symbol x.
    """

    name: str
    values: tuple[Any, ...]
    codes: NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Joint:
    """The joint distribution of the sensitive S and the publishable X.

    Held as weights ``counts[s, x]`` (CSC, read-only) and their sum ``total``, so that
    p(s,x) = counts / total. Sums of whole counts are exact, which keeps ties ties.
    Build one with :meth:`from_counts`, :meth:`from_probabilities` or :meth:`from_table`.

    >>> joint = Joint.from_counts([[2, 0, 1], [0, 2, 1]])
    >>> joint.n_s, joint.n_x, joint.n_records
    (2, 3, 6)
    >>> round(joint.information, 4)
    0.6667
    """

    counts: sp.csc_array
    labels_s: tuple[Any, ...]
    labels_x: tuple[Any, ...]
    n_records: int | None  # None where the weights are not a count of records
    columns: tuple[str, ...] = ()  # names of the public columns, where they are known
    useful: Joint | None = None  # p(y,x) of what the release is for, Y in the place of S
    sensitive: tuple[str, ...] = ()  # names of the columns of S, where they are known

    @classmethod
    def from_counts(
        cls,
        counts: Any,
        labels_s: Sequence[Any] | None = None,
        labels_x: Sequence[Any] | None = None,
        columns: Sequence[str] | None = None,
        *,
        useful: Any = None,
        labels_y: Sequence[Any] | None = None,
        sensitive: Sequence[str] | None = None,
    ) -> Joint:
        """From counts ``[s, x]``, dense or scipy.sparse; all-zero rows and columns are dropped.

        Labels of NumPy and pandas become Python's own values. ``columns`` names the public columns: one,
        or as many as each label of X has values; ``sensitive`` names those of S likewise. ``useful`` are
        counts ``[y, x]`` of the same records: what the release is for.

        >>> Joint.from_counts([[3, 0], [1, 0]], labels_x=["a", "b"]).labels_x
        ('a',)
        """
        matrix = check_counts(counts)
        names_s = check_labels("labels_s", labels_s, matrix.shape[0])
        names_x = check_labels("labels_x", labels_x, matrix.shape[1])
        names = _check_columns("columns", columns, "labels_x", names_x)
        secrets = _check_columns("sensitive", sensitive, "labels_s", names_s)
        use = None if useful is None else _check_useful(useful, labels_y, matrix, names_x, names)
        rows = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[0]))
        filled = np.flatnonzero(np.diff(matrix.indptr))
        if len(rows) < matrix.shape[0]:
            matrix, names_s = sp.csc_array(matrix[rows]), tuple(names_s[i] for i in rows)
        if len(filled) < matrix.shape[1]:
            matrix, names_x = sp.csc_array(matrix[:, filled]), tuple(names_x[j] for j in filled)
        whole = matrix.data.sum() < LARGEST_WHOLE and (matrix.data == np.rint(matrix.data)).all()
        n_records = int(matrix.sum()) if whole else None
        matrix.sort_indices()
        for part in (matrix.data, matrix.indices, matrix.indptr):
            part.flags.writeable = False
        return cls(matrix, names_s, names_x, n_records, names, use, secrets)

    @classmethod
    def from_probabilities(
        cls,
        p_sx: Any,
        labels_s: Sequence[Any] | None = None,
        labels_x: Sequence[Any] | None = None,
        columns: Sequence[str] | None = None,
        *,
        useful: Any = None,
        labels_y: Sequence[Any] | None = None,
        sensitive: Sequence[str] | None = None,
    ) -> Joint:
        """From probabilities ``p_sx[s, x]`` that sum to 1; ``useful`` are those ``[y, x]`` of Y.

        >>> Joint.from_probabilities([[0.5, 0.0], [0.0, 0.5]]).information
        1.0
        """
        total = float(check_counts(p_sx).sum())
        if abs(total - 1.0) > 1e-6:
            raise InvalidJoint(
                f"p_sx must sum to 1, got {total:.6g}; pass counts to Joint.from_counts to normalise."
            )
        joint = cls.from_counts(
            p_sx, labels_s, labels_x, columns, useful=useful, labels_y=labels_y, sensitive=sensitive
        )
        return replace(joint, n_records=None)

    @classmethod
    def from_table(
        cls,
        table: Any,
        sensitive: str | Sequence[str],
        public: str | Sequence[str],
        *,
        useful: str | Sequence[str] = (),
        columns: ColumnRules | None = None,
        weight: str | None = None,
        memory: str | None = None,
    ) -> Joint:
        """Count a table: a path, a ``duckdb://FILE#TABLE`` address or any narwhals frame.

        A symbol of several columns is the tuple of its values; missing values are a symbol of
        their own (None), last in the rising order of symbols. The columns may overlap. ``useful`` names
        what the release is for, which need not be published. ``columns`` coarsens,
        ``weight`` names a column of weights, ``memory`` bounds DuckDB ("2GB").

        >>> import pandas as pd
        >>> table = pd.DataFrame({"age": [40, 40, 61], "city": ["Bonn", None, "Bonn"]})
        >>> Joint.from_table(table, sensitive=["age"], public=["city"]).labels_x
        ('Bonn', None)
        """
        from privacyfunnel.tables import count, open_table

        opened = open_table(table, memory=memory)
        return count(
            opened, sensitive, public, useful=useful, columns=columns, weight=weight
        ).joint()

    @property
    def n_s(self) -> int:
        """Number of sensitive symbols."""
        return int(self.counts.shape[0])

    @property
    def n_x(self) -> int:
        """Number of publishable symbols."""
        return int(self.counts.shape[1])

    @cached_property
    def public(self) -> tuple[PublicColumn, ...]:
        """The columns that X consists of; one named "x" where their names are not known.

        >>> joint = Joint.from_counts([[1, 2]], labels_x=[(40, "f"), (31, "f")], columns=["age", "sex"])
        >>> [(column.name, column.values, column.codes.tolist()) for column in joint.public]
        [('age', (31, 40), [1, 0]), ('sex', ('f',), [0, 0])]
        """
        names = self.columns or ("x",)
        rows = self.labels_x if len(names) > 1 else [(label,) for label in self.labels_x]
        return tuple(_public_column(name, [row[i] for row in rows]) for i, name in enumerate(names))

    def without_labels(self) -> Joint:
        """The same counts and columns without a label for each symbol, which take most of the room.

        >>> joint = Joint.from_counts([[1, 2]], labels_x=[(40, "f"), (31, "f")], columns=["age", "sex"])
        >>> joint.without_labels().public[0].values, joint.without_labels().labels_x
        ((31, 40), ())
        """
        bare = replace(self, labels_s=(), labels_x=())
        vars(bare)["public"] = self.public  # which is read from the labels
        return bare

    @cached_property
    def total(self) -> float:
        """The sum of all weights."""
        return float(self.counts.sum())

    @cached_property
    def p_s(self) -> Array:
        """p(s), shape ``[s]``."""
        return np.asarray(self.counts.sum(axis=1)).ravel() / self.total

    @cached_property
    def masses(self) -> Array:
        """The weight of each x, p(x) · total."""
        return np.asarray(self.counts.sum(axis=0), dtype=float).ravel()

    @cached_property
    def p_x(self) -> Array:
        """p(x), shape ``[x]``."""
        return self.masses / self.total

    @cached_property
    def p_sx(self) -> sp.csc_array:
        """p(s,x), shape ``[s, x]``, sparse; ``.toarray()`` for a dense one."""
        return sp.csc_array(self.counts / self.total)

    @cached_property
    def entropy_s(self) -> float:
        """H(S) in bits."""
        return entropy(self.p_s)

    @cached_property
    def entropy_x(self) -> float:
        """H(X) in bits."""
        return entropy(self.p_x)

    @property
    def entropy_y(self) -> float | None:
        """H(Y) in bits of what the release is for; None where no use is named.

        >>> Joint.from_counts([[1, 1], [1, 1]], useful=[[2, 0], [0, 2]]).entropy_y
        1.0
        """
        return None if self.useful is None else self.useful.entropy_s

    def secret(self, name: str) -> Joint:
        """The joint of one column of S alone with X.

        >>> joint = Joint.from_counts(
        ...     [[1, 0], [0, 1], [0, 2]], [(40, "f"), (40, "m"), (61, "m")], sensitive=["age", "sex"])
        >>> joint.secret("age").counts.toarray().tolist()
        [[1.0, 1.0], [0.0, 2.0]]
        """
        if name not in self.sensitive:
            known = ", ".join(self.sensitive) or "not named"
            raise InvalidInput(f"there is no sensitive column {name!r}; they are: {known}.")
        if len(self.sensitive) == 1:
            return replace(self, useful=None)
        behind = [label[self.sensitive.index(name)] for label in self.labels_s]
        column = _public_column(name, behind)
        return replace(self.with_s(column.codes, column.values), sensitive=(name,))

    def with_s(self, codes: Any, values: Sequence[Any]) -> Joint:
        """The joint of X with what S is of: the value of symbol s is ``values[codes[s]]``."""
        into = sp.csr_array((np.ones(self.n_s), (codes, range(self.n_s))))
        alone = Joint.from_counts(into @ self.counts, values, self.labels_x, self.columns)
        return replace(alone, n_records=self.n_records)

    @cached_property
    def information(self) -> float:
        """I(S;X) in bits: what publishing X as it is would tell about S."""
        return mutual_information(self.p_sx)

    def _repr_html_(self) -> str:
        facts = {
            "records": "weighted" if self.n_records is None else f"{self.n_records:,}",
            "sensitive values": f"{self.n_s:,}",
            "public values": f"{self.n_x:,}",
        }
        bits = (("H(S)", self.entropy_s), ("H(X)", self.entropy_x), ("I(S;X)", self.information))
        rows = [(name, f"{value:.3f}") for name, value in bits]
        return card("Joint", facts, ("", "bits"), rows)

    def __repr__(self) -> str:
        records = "" if self.n_records is None else f", {self.n_records} records"
        return (
            f"Joint({self.n_s} sensitive x {self.n_x} public symbols{records}; "
            f"H(S)={self.entropy_s:.3f}, H(X)={self.entropy_x:.3f}, I(S;X)={self.information:.3f} bits)"
        )


def _check_useful(
    useful: Any,
    labels_y: Sequence[Any] | None,
    counts: sp.csc_array,
    labels_x: tuple[Any, ...],
    columns: tuple[str, ...],
) -> Joint:
    """p(y,x) of the same records: every x weighs the same as in the counts of S."""
    matrix = check_counts(useful)
    if matrix.shape[1] != counts.shape[1]:
        raise InvalidJoint(
            f"useful must have a column for each x: {counts.shape[1]} wanted, got {matrix.shape[1]}."
        )
    masses, others = (np.asarray(part.sum(axis=0)).ravel() for part in (counts, matrix))
    if not np.allclose(masses, others, rtol=1e-9, atol=1e-12 * masses.sum()):
        worst = int(np.argmax(np.abs(masses - others)))
        raise InvalidJoint(
            f"useful must count the same records: x = {labels_x[worst]!r} weighs {masses[worst]:g} with "
            f"S and {others[worst]:g} with Y."
        )
    return Joint.from_counts(matrix, labels_y, labels_x, columns)


def _check_columns(
    what: str, columns: Sequence[str] | None, which: str, labels: tuple[Any, ...]
) -> tuple[str, ...]:
    """Names of columns that fit the labels of their symbols; none where they are not known."""
    given = () if columns is None else columns
    names = (given,) if isinstance(given, str) else tuple(given)
    if len(set(names)) < len(names):
        raise InvalidJoint(f"{what} must have different names, got {', '.join(map(str, names))}.")
    if len(names) > 1:
        for label in labels:
            if not isinstance(label, tuple) or len(label) != len(names):
                raise InvalidJoint(
                    f"{which} must be tuples of {len(names)} values, one for each column; got {label!r}."
                )
    return names


def _public_column(name: str, behind: list[Any]) -> PublicColumn:
    from privacyfunnel.columns import missing_last

    distinct = dict.fromkeys(behind)
    try:
        values = tuple(sorted(distinct, key=missing_last))
    except TypeError:  # values of several kinds have no order, and stay as they came
        values = tuple(sorted(distinct, key=lambda value: missing_last(value)[0]))
    place = {value: i for i, value in enumerate(values)}
    return PublicColumn(name, values, np.array([place[value] for value in behind], dtype=np.int64))


def digest(joint: Joint, *more: Any) -> str:
    """A fingerprint of the counts and of whatever else is given, as text of hexadecimal digits."""
    counts = joint.counts
    found = sha256(repr((counts.shape, *more)).encode())
    tables = [counts] if joint.useful is None else [counts, joint.useful.counts]
    for part in (part for one in tables for part in (one.indptr, one.indices, one.data)):
        found.update(part.astype("<f8").tobytes())
    return found.hexdigest()


def csc_columns(matrix: sp.csc_array, kind: Any = np.float64) -> tuple[Any, ...]:
    """``indptr``, ``indices``, ``data`` and the number of rows, as every compiled loop takes them.

    Always fresh arrays of the same types, because a loop is compiled anew for each combination of
    types and flags that it meets.
    """
    return (
        np.array(matrix.indptr, dtype=np.int64),
        np.array(matrix.indices, dtype=np.int64),
        np.array(matrix.data, dtype=kind),
        int(matrix.shape[0]),
    )


def eta_table(weights: Any, most: int = 1_000_000) -> Array:
    """η(0), η(1), ... where all weights of a sparse matrix are whole, else empty.

    Compiled loops look η up there instead of computing a logarithm: of any sum of weights, and also of
    all of them and one symbol again, since they price its move to where it is like every other. Empty
    also where the weights sum to more than ``most``.

    >>> eta_table(sp.csc_array([[1.0, 1.0]]))
    array([0.       , 0.       , 2.       , 4.7548875])
    >>> eta_table(sp.csc_array([[0.5, 1.0]])).size
    0
    """
    total = float(weights.sum())
    if total > most or not (weights.data == np.rint(weights.data)).all():
        return np.zeros(0)
    return plogp(np.arange(int(total + weights.sum(axis=0).max(initial=0.0)) + 1))
