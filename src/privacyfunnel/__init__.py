"""privacyfunnel: publish data X without giving away the sensitive S.

    table -> joint p(s,x) -> solver -> code (partition | channel) -> frontier -> release

The names below are imported when first used, so that ``funnel --help`` answers at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from privacyfunnel.auditing import Audit, Trials, audit
    from privacyfunnel.codebook import Codebook
    from privacyfunnel.codes import Channel, Partition
    from privacyfunnel.columns import ColumnRules
    from privacyfunnel.estimators import InformationBottleneck, PrivacyFunnel
    from privacyfunnel.frontiers import Frontier
    from privacyfunnel.joint import Joint
    from privacyfunnel.objectives import Bottleneck, Funnel
    from privacyfunnel.solvers import Solution, Status, solve
    from privacyfunnel.solvers.perfect import perfect_privacy
    from privacyfunnel.sweep import frontier

_ROOMS = {
    "Audit": "auditing",
    "Trials": "auditing",
    "audit": "auditing",
    "Codebook": "codebook",
    "ColumnRules": "columns",
    "Joint": "joint",
    "Partition": "codes",
    "Channel": "codes",
    "Funnel": "objectives",
    "Bottleneck": "objectives",
    "solve": "solvers",
    "frontier": "sweep",
    "perfect_privacy": "solvers.perfect",
    "Frontier": "frontiers",
    "InformationBottleneck": "estimators",
    "PrivacyFunnel": "estimators",
    "Solution": "solvers",
    "Status": "solvers",
    "datasets": "",
    "errors": "",
    "information": "",
    "limits": "",
    "metrics": "",
    "plots": "",
    "submodular": "",
    "tables": "",
}

__all__ = [
    "Audit",
    "Bottleneck",
    "Channel",
    "Codebook",
    "ColumnRules",
    "Frontier",
    "Funnel",
    "InformationBottleneck",
    "Joint",
    "Partition",
    "PrivacyFunnel",
    "Solution",
    "Status",
    "Trials",
    "audit",
    "frontier",
    "perfect_privacy",
    "solve",
]


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module 'privacyfunnel' has no attribute {name!r}")
    room = _ROOMS[name]
    value = (
        getattr(import_module(f"privacyfunnel.{room}"), name)
        if room
        else import_module(f"privacyfunnel.{name}")
    )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_ROOMS])
