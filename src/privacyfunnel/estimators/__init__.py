"""Estimators: the funnel and the bottleneck in scikit-learn's coats.

    X, S -> input_columns -> alphabet -> joint p(s,x) -> search -> codebook -> transform

A row of X is one symbol x, whatever its number of columns; ``transform`` gives the place of the
released symbol x̂ in ``codebook_.labels``.
"""

from privacyfunnel.errors import from_extra

with from_extra("audit", "an estimator"):
    from privacyfunnel.estimators.bottleneck import InformationBottleneck
    from privacyfunnel.estimators.funnel import PrivacyFunnel

__all__ = ["InformationBottleneck", "PrivacyFunnel"]
