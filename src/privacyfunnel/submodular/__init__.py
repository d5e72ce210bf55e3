"""Set functions and their minimisers, one file each."""

from privacyfunnel.submodular.exhaustive import exhaustive
from privacyfunnel.submodular.functions import (
    Affine,
    MergeEntropy,
    SetFunction,
    SetResult,
    scaled,
)
from privacyfunnel.submodular.minnorm import min_norm_point
from privacyfunnel.submodular.modmod import modmod
from privacyfunnel.submodular.prefix import best_prefix
from privacyfunnel.submodular.ssp import ssp
from privacyfunnel.submodular.supsub import supsub

__all__ = [
    "Affine",
    "MergeEntropy",
    "SetFunction",
    "SetResult",
    "best_prefix",
    "exhaustive",
    "min_norm_point",
    "modmod",
    "scaled",
    "ssp",
    "supsub",
]
