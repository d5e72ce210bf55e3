"""Measures: what a release tells about S or Y, each a sum over the released symbols, one file each."""

from __future__ import annotations

from privacyfunnel.errors import InvalidInput
from privacyfunnel.measures.arimoto import Arimoto
from privacyfunnel.measures.chi_square import ChiSquare
from privacyfunnel.measures.guessing import Guessing
from privacyfunnel.measures.maximal_leakage import MaximalLeakage
from privacyfunnel.measures.measure import Measure
from privacyfunnel.measures.shannon import Shannon
from privacyfunnel.measures.total_variation import TotalVariation

__all__ = [
    "INFORMATION",
    "MEASURES",
    "Arimoto",
    "ChiSquare",
    "Guessing",
    "MaximalLeakage",
    "Measure",
    "Shannon",
    "TotalVariation",
    "make_measure",
]

MEASURES: dict[str, type[Measure]] = {
    kind.name: kind
    for kind in (Shannon, Guessing, ChiSquare, TotalVariation, Arimoto, MaximalLeakage)
}


INFORMATION = Shannon()  # the paper's, and the default everywhere


def make_measure(given: str | Measure) -> Measure:
    """The measure of that name; ``arimoto:3`` names its order too, ``arimoto`` alone is of order 2.

    >>> make_measure("guessing"), make_measure("arimoto:0.5")
    (Guessing(), Arimoto(alpha=0.5))
    """
    if isinstance(given, Measure):
        return given
    name, _, order = str(given).partition(":")
    if name not in MEASURES or (order and name != "arimoto"):
        raise InvalidInput(
            f"measure must be one of {', '.join(MEASURES)} (arimoto:ORDER for its order); got {given!r}."
        )
    if name != "arimoto":
        return MEASURES[name]()
    try:
        alpha = float(order or 2.0)
    except ValueError:
        raise InvalidInput(f"the order of arimoto must be a number, got {order!r}.") from None
    return Arimoto(alpha)
