"""PrivacyFunnel: a transformer that keeps much of X and gives away little of S."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

from privacyfunnel.errors import InvalidInput
from privacyfunnel.estimators.base import CodeEstimator
from privacyfunnel.estimators.scores import explained, kept
from privacyfunnel.estimators.search import search_recoding, search_target
from privacyfunnel.joint import Joint
from privacyfunnel.recodings import RECODINGS, RecodedSolution
from privacyfunnel.solvers.base import Solution
from privacyfunnel.solvers.caps import CappedSolution, solve_capped
from privacyfunnel.validation import check_choice

SETTINGS = ("hierarchies", "orders", "cuts", "importance")  # of a recoding


@dataclass(eq=False, repr=False)
class PrivacyFunnel(CodeEstimator):
    """Release rows of X so that they give away little about the sensitive S.

    A row of X is one symbol x, and rows are released in groups x̂. Of all groupings with
    I(X;X̂)/H(X) ≥ ``utility`` one of least I(S;X̂) is searched (Makhdoumi et al. 2014); or, with
    I(S;X̂)/H(S) ≤ ``leakage``, one of most I(X;X̂); or one that lowers I(S;X̂) − ``lam`` I(X;X̂).

    Parameters
    ----------
    utility, leakage, lam : float in [0, 1], optional
        The target, at most one of them. Without any: ``utility=0.5``.
    recoding : {"symbols", "global", "local"}
        "symbols" releases one column of groups of whole rows. "global" and "local" give back the
        columns of X, coarsened: the same way in all rows, or each row as little as needed.
    kept : float in [0, 1], optional
        The target with a recoding: the mean share that is kept of the columns. Without any: 0.5.
    keep : {"x", "y"}
        "y" keeps what X says about ``y`` in place of X itself: ``utility`` is I(Y;X̂)/I(Y;X). It takes
        both ``y`` and ``sensitive_features``, and ``recoding`` "symbols" or "global".
    measure : str
        How what is given away is measured (see `privacyfunnel.measures`).
    caps : mapping of sensitive columns, optional
        The most that may be told of each, as a share, or by the name of a measure and a share:
        ``{"sex": 0.01, "race": "guessing:0.02"}``. Every cap is met and the most is kept, at least
        ``utility`` if that is given; with symbols and ``method`` "best".
    hierarchies, orders, cuts, importance : mapping of column names, optional
        What a column may become and how much it counts, as for `privacyfunnel.recodings.Recoding`.
    method : str
        A method of `privacyfunnel.solve`. "soft" draws each row's symbol by lot, anew in every
        call; who sees many draws of one record sees more than one tells, so release it once.
    effort : {"fast", "normal", "thorough"}
        What the search may spend. Alphabets above 500, 600 or 1200 symbols are searched in blocks.
    min_count : int
        Least number of records that every released symbol covers.
    bins : int, mapping or None
        A number of quantile bins for each column of numbers, of X and of S, that has more distinct
        values; or for the columns of a mapping only, a number or the edges. Categories, text and
        dates are never binned unasked; None bins nothing.
    handle_unknown : {"nearest", "suppress", "error"}
        What becomes of a row that was not there in ``fit``. "nearest" releases it as the fitted
        rows most like it: least sum over columns of the difference of ranks (numbers, dates, bins)
        or of 1 where values differ (text, categories, missing); equally near ones vote by weight.
        "suppress" gives −1. With a recoding, a new number falls into its interval, and of what no
        group covers "nearest" says ``*`` in its column, "suppress" in all. The measured figures are
        of the fitted rows and do not cover such rows.
    random_state : int, RandomState or None
        The seed of the search.

    Attributes
    ----------
    codebook_ : Codebook
        Which values are released as which symbol; ``codebook_.public()`` is the one to publish. The
        fitted estimator holds counts of S and is the curator's; `public` gives the form to ship.
    code_ : Partition or Channel
        The code over ``codebook_.values``.
    leakage_, utility_, limit_ : float
        I(S;X̂)/H(S), I(X;X̂)/H(X), and the least I(S;X̂)/H(S) that any release of this utility has.
        By another ``measure``, or with ``keep="y"``, shares of what was asked for; the limit is NaN
        where none is proved. ``codebook_.measured`` has the former always.
    kept_ : float
        With a recoding, the mean share kept of the columns.
    told_ : dict
        With ``caps``, the share told of each column.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"city": ["Bonn", "Rom", "Rom", "Pisa"], "sick": [0, 0, 1, 1]})
    >>> funnel = PrivacyFunnel(utility=0.6).fit(table[["city"]], sensitive_features=table["sick"])
    >>> funnel.transform(table[["city"]]).ravel(), funnel.leakage_
    (array([0, 1, 1, 0]), 0.0)
    >>> funnel.codebook_.stands_for("r1")
    ('Bonn | Pisa',)

    Columns that people can read, new rows included:

    >>> ages = [23, 31, 38, 44, 52, 60, 67, 71]
    >>> X = pd.DataFrame({"age": 2 * ages, "sex": list("fmfmfmfmmfmfmfmf")})
    >>> ill = 2 * [0, 1, 0, 0, 1, 0, 1, 1]
    >>> funnel = PrivacyFunnel(recoding="global", kept=0.4).set_output(transform="pandas")
    >>> funnel.fit(X, sensitive_features=ill).transform(pd.DataFrame({"age": [33], "sex": ["m"]}))
            age sex
    0  under 35   m
    """

    problem: ClassVar[str] = "funnel"
    targets: ClassVar[tuple[str, ...]] = ("utility", "leakage", "lam", "kept")
    usual: ClassVar[Mapping[str, float]] = {"utility": 0.5}

    utility: float | None = None
    leakage: float | None = None
    lam: float | None = None
    method: str = "best"
    _: KW_ONLY
    recoding: str = "symbols"
    kept: float | None = None
    keep: str = "x"
    measure: str = "shannon"
    caps: Mapping[str, float | str] | None = None
    hierarchies: Mapping[str, Any] | None = None
    orders: Mapping[str, Sequence[Any]] | None = None
    cuts: Mapping[str, Sequence[Any]] | None = None
    importance: Mapping[str, float] | None = None

    def fit(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> PrivacyFunnel:
        """Search the code; S is ``sensitive_features``, of one column or several, else ``y``.

        A row of ``sample_weight`` w counts as w equal rows.
        """
        check_choice("keep", self.keep, ("x", "y"))
        if self.keep == "y" and (y is None or sensitive_features is None):
            raise InvalidInput(
                "keep='y' takes both y, to be kept, and sensitive_features, to be hidden."
            )
        useful = y if self.keep == "y" else None
        found = self._fit(X, *_sensitive(y, sensitive_features), sample_weight, useful)
        if isinstance(found, RecodedSolution):
            self.kept_ = found.kept
        if isinstance(found, CappedSolution):
            self.told_ = dict(found.told or {})
        self.leakage_, self.utility_ = self._shares
        return self

    def _target(self) -> dict[str, float]:
        check_choice("recoding", self.recoding, RECODINGS)
        readable = self.recoding != "symbols" and self.keep == "x"
        other, free = ("utility", "kept") if readable else ("kept", "utility")
        if getattr(self, other) is not None:
            raise InvalidInput(f"recoding={self.recoding!r} goes with {free}=, not with {other}=.")
        target = super()._target()
        if self.caps:
            return self._within_caps(target)
        return {"kept": 0.5} if readable and target == self.usual else target

    def _within_caps(self, target: dict[str, float]) -> dict[str, float]:
        """The least utility beside the caps, none where it is not given."""
        if self.recoding != "symbols" or self.method != "best" or self.measure != "shannon":
            raise InvalidInput(
                "caps= goes with recoding='symbols' and method='best', and each cap names its measure."
            )
        if list(target) != ["utility"]:
            raise InvalidInput(
                f"caps= takes no other target than utility=; got {next(iter(target))}=."
            )
        return target if self.utility is not None else {}

    def _search(self, joint: Joint, target: Mapping[str, float], seed: int) -> Solution:
        keep = "useful" if self.keep == "y" else "x"
        settings = {name: getattr(self, name) for name in SETTINGS}
        given = [name for name in SETTINGS if settings[name]]
        if self.recoding == "symbols" and given:
            raise InvalidInput(f"{given[0]}= is for recoding='global' or 'local'.")
        how: dict[str, Any] = {"effort": self.effort, "min_count": self.min_count, "seed": seed}
        if self.caps:
            joint = replace(joint, sensitive=tuple(c.name for c in self._hidden.columns))
            least = target.get("utility")
            return solve_capped(joint, self.caps, keep=keep, utility=least, **how)
        if self.recoding == "symbols":
            how |= {"method": self.method, "measure": self.measure, "keep": keep}
            return search_target(joint, self.problem, target, **how)
        if self.method != "best":
            raise InvalidInput(
                f"recoding={self.recoding!r} has one search: method must be 'best', "
                f"got {self.method!r}."
            )
        how |= {"settings": settings, "measure": self.measure}
        return search_recoding(joint, self._public, self.recoding, target, **how)

    def score(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> float:
        """Utility less leakage of the given rows, both as shares; more is better.

        Utility is their I(X;X̂)/H(X). Leakage is the share of their S that p(s given x̂) of the
        fitted rows explains (see `explained`): what somebody gains who knows those. A search over
        ``utility`` or ``lam`` by this score finds where one more share of X costs a share of S.
        """
        x, s, xhat, weights = self._rows_of(X, *_sensitive(y, sensitive_features), sample_weight)
        return kept(x, xhat, weights) - explained(self._counts, s, xhat, weights)


def _sensitive(y: Any, sensitive_features: Any) -> tuple[Any, str]:
    """S, and the word for it."""
    if sensitive_features is not None:
        return sensitive_features, "sensitive_features"
    if y is None:
        raise InvalidInput(
            "PrivacyFunnel requires y to be passed, but the target y is None, and so are "
            "sensitive_features; one of them must say what is to be hidden."
        )
    return y, "y"
