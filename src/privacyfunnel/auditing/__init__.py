"""Auditing: what a release really tells an attacker, with how much of it is chance.

table -> audit -> Audit: measures, estimates, attackers;  Limits and broken: a gate in a pipeline
"""

from privacyfunnel.auditing.attackers import Attack, attack
from privacyfunnel.auditing.catalogue import CATALOGUE, SAFER, Measure
from privacyfunnel.auditing.findings import Audit, audit, audit_joint
from privacyfunnel.auditing.gate import Limits, broken
from privacyfunnel.auditing.generalisation import Generalisation, generalise, generalise_joint
from privacyfunnel.auditing.holdout import hold_out
from privacyfunnel.auditing.trials import Trials

__all__ = [
    "CATALOGUE",
    "SAFER",
    "Attack",
    "Audit",
    "Generalisation",
    "Limits",
    "Measure",
    "Trials",
    "attack",
    "audit",
    "audit_joint",
    "broken",
    "generalise",
    "generalise_joint",
    "hold_out",
]
