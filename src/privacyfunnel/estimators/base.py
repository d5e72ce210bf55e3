"""Base: what the two estimators share, from checking the input to the output's names."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import _check_feature_names_in, _check_sample_weight, check_is_fitted

from privacyfunnel.codebook import Codebook
from privacyfunnel.codebook.draws import RANGE, pick_afresh, thresholds
from privacyfunnel.codebook.output import ANY, RELEASED
from privacyfunnel.codebook.recoded import UNSEEN, recode_values
from privacyfunnel.columns import AS_VALUE, Roles, is_known
from privacyfunnel.errors import InvalidInput, UnknownSymbol
from privacyfunnel.estimators.alphabet import (
    Alphabet,
    AskedBins,
    Places,
    Rows,
    Value,
    check_bins,
    count_rows,
)
from privacyfunnel.estimators.input_columns import Columns, read_public, read_sensitive
from privacyfunnel.estimators.nearest import nearest_places
from privacyfunnel.estimators.search import search_target
from privacyfunnel.information import Array, share
from privacyfunnel.joint import Joint
from privacyfunnel.limits import limit
from privacyfunnel.solvers.base import Solution, in_bits
from privacyfunnel.validation import check_choice, check_whole, is_number

UNKNOWN = ("error", "suppress", "nearest")
SUPPRESSED = -1  # the place that a row without a symbol gets
# What the public form of a fitted estimator takes over as it is.
SHIPPED = ("n_features_in_", "feature_names_in_", "code_", "_public", "_fitted_cells")


@dataclass(eq=False, repr=False, kw_only=True)
class CodeEstimator(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Counts rows, searches a code and applies it; the problems differ in their targets."""

    problem: ClassVar[str]
    targets: ClassVar[tuple[str, ...]]
    usual: ClassVar[Mapping[str, float]]  # the target where none is given
    recoding = "symbols"  # of the bottleneck always

    effort: str = "fast"
    min_count: int = 1
    bins: AskedBins = 10
    handle_unknown: str = "nearest"
    random_state: Any = 0

    def transform(self, X: Any) -> NDArray[Any]:
        """The place of each row's released symbol in ``codebook_.labels``, shape (n_rows, 1).

        With a recoding: the columns of X, each row with the labels of its groups.

        A row that was never seen is treated as ``handle_unknown`` says; suppressed is −1. A code by
        lot draws anew in every call, from the system's own randomness: a draw that could be
        repeated would be a function of the row, and tell as much of S as that.
        """
        check_is_fitted(self)
        check_choice("handle_unknown", self.handle_unknown, UNKNOWN)
        table = read_public(self, X, reset=False)
        if self.recoding != "symbols":
            return self._labels(self._public.values(table))
        rng = np.random.default_rng(secrets.randbits(128))
        return self._release(self._public.values(table), rng).reshape(-1, 1)

    def public(self) -> Self:
        """The fitted estimator in the form to ship: it transforms, and holds nothing about S.

        A fitted estimator is the curator's: it holds the counts n(s, x̂), which one can read who
        unpickles it. Here are only the names and bins of X, the codebook's public form and the
        code; no target or figure of leakage, no seed, no counts. It cannot `score`. Where rows
        were not seen in ``fit``, the nearest values vote alike instead of by their weight.

        >>> from privacyfunnel import PrivacyFunnel
        >>> fitted = PrivacyFunnel(utility=0.6).fit([[1], [2], [2], [3]], [0, 0, 1, 1])
        >>> fitted.public().transform([[3], [2]]).ravel()
        array([0, 1])
        """
        check_is_fitted(self)
        if self.codebook_.soft:
            raise InvalidInput(
                "a code by lot cannot be shipped: its probabilities tell p(s,x); keep the "
                "estimator, and publish the rows that it releases."
            )
        asked = ("leakage", "relevance", "caps")
        params: dict[str, Any] = {name: None for name in asked if name in self.get_params()}
        if isinstance(self.bins, Mapping):
            names = {column.name for column in self._public.columns}
            params["bins"] = {name: of for name, of in self.bins.items() if name in names}
        shipped: Self = clone(self).set_params(random_state=None, **params)
        for name in SHIPPED:
            if hasattr(self, name):  # an array has no feature names
                setattr(shipped, name, getattr(self, name))
        shipped.codebook_ = self.codebook_.public()
        shipped._weights = np.ones(len(self._weights))
        return shipped

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names that come out: ``released``, or those of X with a recoding."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.asarray([RELEASED] if self.recoding == "symbols" else names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = tags.input_tags.allow_nan = True
        tags.target_tags.required = tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _fit(self, X: Any, S: Any, word: str, sample_weight: Any, Y: Any = None) -> Solution:
        """Count, search and keep what transform and score need; the joint itself is not kept."""
        target = self._target()
        check_choice("handle_unknown", self.handle_unknown, UNKNOWN)
        public, hidden, weights = self._read(X, S, word, sample_weight, reset=True)
        check_bins(self.bins, [*public.names, *hidden.names])
        self._public = Alphabet.fit(public, self.bins, weights)
        self._hidden = Alphabet.fit(hidden, self.bins, weights)
        x, s = self._public.values(public), self._hidden.values(hidden)
        _check_varied("X", x)
        _check_varied(word, s)
        joint = count_rows(s, x, weights, public.names)
        if Y is not None:
            _, use, _ = self._read(X, Y, "y", sample_weight, reset=False)
            y = Alphabet.fit(use, self.bins, weights).values(use)
            _check_varied("y", y)
            joint = replace(joint, useful=count_rows(y, x, weights, public.names))
        seed = self._seed()
        solution = self._search(joint, target, seed)
        roles = Roles(self._hidden.columns, self._public.columns, AS_VALUE)
        told = in_bits(joint, solution)
        self.codebook_ = Codebook.from_solution(joint, told, roles, target=target, seed=seed)
        self.code_ = solution.code
        aim = solution.objective
        bound = limit(joint, self.problem, solution.utility, measure=aim.measure, keep=aim.keep)
        whole, whole_utility = aim.whole_leakage(joint), aim.whole_utility(joint)
        self.limit_ = share(bound, whole)
        self._shares = share(solution.leakage, whole), share(solution.utility, whole_utility)
        self._keep(joint, solution)
        return solution

    def _search(self, joint: Joint, target: Mapping[str, float], seed: int) -> Solution:
        settings: dict[str, Any] = {"effort": self.effort, "min_count": self.min_count}
        return search_target(joint, self.problem, target, method=self.method, seed=seed, **settings)

    def _keep(self, joint: Joint, solution: Solution) -> None:
        book = self.codebook_
        pairs = zip(book.values, book.rows, strict=True) if book.columns else ()
        self._fitted_cells = {v: book.symbols[row[0][0]].cells or () for v, row in pairs}
        self._weights = np.zeros(len(book.values))
        self._weights[book.places(joint.labels_x)] = joint.p_x
        self._places_s = {value: place for place, value in enumerate(joint.labels_s)}
        counts = (joint.counts @ solution.code.matrix).toarray()
        self._counts = counts[:, counts.any(axis=0)]  # as the codebook: only symbols that occur

    def _read(
        self, X: Any, S: Any, word: str, sample_weight: Any, *, reset: bool
    ) -> tuple[Columns, Columns, Array]:
        """X, S and the weights of the rows that count, which are those of a positive weight."""
        public = read_public(self, X, reset=reset)
        hidden = read_sensitive(S, word)
        check_consistent_length(public.data, hidden.data)
        _check_known(hidden, word)
        weights = _check_sample_weight(
            sample_weight, np.zeros(len(public)), dtype=np.float64, ensure_non_negative=True
        )
        kept = weights > 0
        if not kept.any():
            raise InvalidInput("sample_weight is zero for every row; one at least must count.")
        return public.rows(kept), hidden.rows(kept), weights[kept]

    def _rows_of(
        self, X: Any, S: Any, word: str, sample_weight: Any
    ) -> tuple[Places, Places, Places, Array]:
        """Places of x, s (−1 where never seen) and x̂ for some rows, and their weights."""
        check_is_fitted(self)
        if self.codebook_.is_public:
            raise InvalidInput("a public estimator knows nothing of S; score the fitted one.")
        public, hidden, weights = self._read(X, S, word, sample_weight, reset=False)
        rows, (s, values) = self._public.values(public), self._hidden.values(hidden)
        known = np.array([self._places_s.get(value, -1) for value in values], dtype=np.int64)
        rng = np.random.default_rng(self._seed())  # nothing goes out: it may be repeated
        if self.recoding != "symbols":
            place = {symbol.cells: j for j, symbol in enumerate(self.codebook_.symbols)}
            symbols = [place.get(tuple(cell), -1) for cell in self._cells(rows[1]).tolist()]
            return rows[0], known[s], np.array(symbols, dtype=np.int64)[rows[0]], weights
        return rows[0], known[s], self._release(rows, rng), weights

    def _cells(self, values: list[Value]) -> Places:
        """The groups that stand in each column for some values: as fitted, else as the codebook says."""
        found = np.full((len(values), len(self.codebook_.columns)), UNSEEN, dtype=np.int64)
        new = []
        for row, value in enumerate(values):
            if value in self._fitted_cells:
                found[row] = self._fitted_cells[value]
            else:
                new.append(row)
        if new:
            found[new] = recode_values(self.codebook_, [values[row] for row in new])
        return found

    def _labels(self, rows: Rows) -> NDArray[Any]:
        """The labels that stand in each column for some rows; ``*`` where no group holds a value."""
        codes, values = rows
        cells = self._cells(values)
        unknown = np.flatnonzero((cells == UNSEEN).any(axis=1))
        if len(unknown) and self.handle_unknown == "error":
            raise self._unknown(rows, unknown)
        if self.handle_unknown == "suppress":
            cells[unknown] = UNSEEN
        columns = self.codebook_.columns
        names = [np.array([*(g.label for g in c.groups), ANY], dtype=object) for c in columns]
        return np.column_stack([name[cells[codes, i]] for i, name in enumerate(names)])

    def _release(self, rows: Rows, rng: np.random.Generator) -> Places:
        """For each row the place of its released symbol in the codebook's labels, −1 if it has none."""
        (codes, values), book = rows, self.codebook_
        places = book.places(values)
        unknown = np.flatnonzero(places < 0)
        if len(unknown) and self.handle_unknown == "error":
            raise self._unknown(rows, unknown)
        if len(unknown) and self.handle_unknown == "nearest":
            usual = np.array([max(row, key=lambda cell: cell[1])[0] for row in book.rows])
            news = [values[i] for i in unknown]
            places[unknown] = nearest_places(self._public, book.values, self._weights, usual, news)
        return _released(book, places[codes], rng)

    def _unknown(self, rows: Rows, unknown: Places) -> UnknownSymbol:
        """The error that names the most frequent of the values that are not known."""
        codes, values = rows
        counts = np.bincount(codes, minlength=len(values))[unknown]
        commonest = values[unknown[counts.argmax()]]
        what = self.codebook_.unknown(commonest, int(counts.sum()), len(unknown))
        return UnknownSymbol(
            f'{what}; use handle_unknown="nearest" or "suppress", or fit on more rows.'
        )

    def _target(self) -> dict[str, float]:
        """The one target that is given, else the usual one."""
        given = {name: getattr(self, name) for name in self.targets}
        given = {name: value for name, value in given.items() if value is not None}
        if len(given) > 1:
            words = ", ".join(f"{name}={value!r}" for name, value in given.items())
            raise InvalidInput(f"give one of {', '.join(self.targets)}, not several; got {words}.")
        for name, value in given.items():
            if not is_number(value):
                raise InvalidInput(f"{name} must be a number or None, got {value!r}.")
        if "n_symbols" in given:
            check_whole("n_symbols", given["n_symbols"], 1)
            return {"n_symbols": int(given["n_symbols"])}
        return {name: float(value) for name, value in (given or self.usual).items()}

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))


def _released(book: Codebook, places: Places, rng: np.random.Generator) -> Places:
    """For each row's place in the codebook's values that of its symbol; soft codes draw it."""
    rows = [*book.rows, ((SUPPRESSED, 1.0),)]  # the last is that of place −1
    if not book.soft:
        return np.array([row[0][0] for row in rows])[places]
    symbols, ends = np.full((2, len(rows), max(map(len, rows))), RANGE)
    for i, row in enumerate(rows):
        symbols[i, : len(row)] = [j for j, _ in row]
        ends[i, : len(row)] = thresholds([p for _, p in row])
    return np.asarray(symbols[places, pick_afresh(ends[places], rng)])


def _check_known(hidden: Columns, word: str) -> None:
    """scikit-learn's targets have no holes; in sensitive_features a hole is a value like others."""
    holes = sum(len(c) - (pc.sum(is_known(c)).as_py() or 0) for c in hidden.data.columns)
    if word == "y" and holes:
        raise InvalidInput(
            f"Input y contains NaN in {holes} places; drop these rows, or give y to PrivacyFunnel "
            "as sensitive_features, where missing is a value of its own."
        )


def _check_varied(word: str, rows: Rows) -> None:
    places, values = rows
    if len(values) < 2:
        raise InvalidInput(
            f"all rows of {word} are alike (n_samples={len(places)}), bins considered: X and S "
            "need two distinct values each for anything to be kept or hidden."
        )
