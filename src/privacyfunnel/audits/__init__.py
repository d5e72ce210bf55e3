"""Auditing: what a release really tells an attacker, with how much of it is chance.

table -> audit -> Audit: measures, estimates, attackers;  Limits and broken: a gate in a pipeline
"""

from privacyfunnel.audits.attacks import Attack, attack
from privacyfunnel.audits.audit import Audit, audit, audit_joint
from privacyfunnel.audits.gate import Limits, broken
from privacyfunnel.audits.holdout import hold_out
from privacyfunnel.audits.meanings import CATALOGUE, Measure
from privacyfunnel.audits.trials import Trials
from privacyfunnel.audits.unseen_rows import Generalisation, generalise, generalise_joint

__all__ = [
    "CATALOGUE",
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
