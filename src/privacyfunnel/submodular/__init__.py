"""Set functions and their minimisers, one file each."""

from privacyfunnel.submodular.cover import Complement, Shares, cover, greedy_cover
from privacyfunnel.submodular.exhaustive import exhaustive
from privacyfunnel.submodular.functions import Affine, MergeEntropy, SetFunction, SetResult, scaled
from privacyfunnel.submodular.minnorm import min_norm_point
from privacyfunnel.submodular.modmod import modmod
from privacyfunnel.submodular.ssp import best_prefix, ssp
from privacyfunnel.submodular.supsub import supsub
from privacyfunnel.submodular.threshold import threshold

__all__ = [
    "Affine",
    "Complement",
    "MergeEntropy",
    "SetFunction",
    "SetResult",
    "Shares",
    "best_prefix",
    "cover",
    "exhaustive",
    "greedy_cover",
    "min_norm_point",
    "modmod",
    "scaled",
    "ssp",
    "supsub",
    "threshold",
]
