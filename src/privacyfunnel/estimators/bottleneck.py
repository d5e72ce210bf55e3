"""InformationBottleneck: a supervised encoder that groups rows by what they say about y."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from privacyfunnel.errors import InvalidInput
from privacyfunnel.estimators.base import CodeEstimator
from privacyfunnel.estimators.scores import explained


@dataclass(eq=False, repr=False)
class InformationBottleneck(CodeEstimator):
    """Group rows of X, such as postcodes or products, by what they say about y.

    A row of X is one symbol x. With ``n_symbols`` a grouping X̂ of at most so many groups and most
    I(Y;X̂) is searched; or, with I(X;X̂)/H(X) ≤ ``rate``, one of most I(Y;X̂); or, with
    I(Y;X̂)/H(Y) ≥ ``relevance``, one of least I(X;X̂); or one that lowers ``lam`` I(X;X̂) − I(Y;X̂)
    (Tishby, Pereira & Bialek 2000; for hard codes, Slonim & Tishby 1999).

    A symbol of few rows looks more telling than it is; ``min_count`` and fewer symbols guard
    against it, and `score` on held-out rows shows it.

    Parameters
    ----------
    n_symbols : int, optional
        The most groups.
    rate, relevance, lam : float in [0, 1], optional
        The target instead, at most one in all. Without any: ``rate=0.5``.
    method : str
        A method of `privacyfunnel.solve`; "annealing" draws the group of each row by lot.
        ``n_symbols`` goes with "best" and "agglomerative".
    effort, min_count, bins, handle_unknown, random_state
        As for `PrivacyFunnel`. Whole numbers that are names (postcodes) must be text or categories,
        or ``bins=None``: a column of numbers is binned. So is a y of many distinct numbers.

    Attributes
    ----------
    codebook_, code_
        As for `PrivacyFunnel`.
    rate_, relevance_, limit_ : float
        I(X;X̂)/H(X), I(Y;X̂)/H(Y), and the most I(Y;X̂)/H(Y) that any code of this rate has.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"city": ["Bonn", "Rom", "Pisa", "Oslo"] * 2})
    >>> y = [0, 1, 1, 0, 0, 1, 0, 0]
    >>> encoder = InformationBottleneck(n_symbols=2).fit(X, y)
    >>> [encoder.codebook_.stands_for(label)[0] for label in encoder.codebook_.labels]
    ['Bonn | Oslo', 'Pisa | Rom']
    """

    problem: ClassVar[str] = "bottleneck"
    targets: ClassVar[tuple[str, ...]] = ("n_symbols", "rate", "relevance", "lam")
    usual: ClassVar[Mapping[str, float]] = {"rate": 0.5}

    n_symbols: int | None = None
    rate: float | None = None
    relevance: float | None = None
    lam: float | None = None
    method: str = "best"

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> InformationBottleneck:
        """Search the code; y is the relevant variable, of one column or several."""
        self._fit(X, _relevant(y), "y", sample_weight)
        self.relevance_, self.rate_ = self._shares
        return self

    def score(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> float:
        """The share of the rows' y that p(y given x̂) of the fitted rows explains; at most 1.

        Σ log₂ (q(y given x̂) / p(y)) / Σ log₂ (1 / p(y)), see `explained`: a log-loss, so that groups
        which only remember the fitted rows score low on others, even below 0.
        """
        _, s, xhat, weights = self._rows_of(X, _relevant(y), "y", sample_weight)
        return explained(self._counts, s, xhat, weights)


def _relevant(y: Any) -> Any:
    if y is None:
        raise InvalidInput(
            "InformationBottleneck requires y to be passed, but the target y is None; "
            "y is what the groups are to tell."
        )
    return y
