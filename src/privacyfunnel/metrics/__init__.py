"""Metrics: what a release tells about S, measured from a joint and nothing else.

joint p(s,x̂) -> leaks, anonymity -> evaluate -> Metrics;  chance and estimates: what is chance
"""

from privacyfunnel.metrics.anonymity import (
    k_anonymity,
    l_diversity,
    lone_records,
    t_closeness,
    unique_share,
)
from privacyfunnel.metrics.by_person import (
    bootstrap_by_person,
    informed_guess_by_person,
    shuffled_by_person,
)
from privacyfunnel.metrics.chance import Chance, shuffled
from privacyfunnel.metrics.estimates import (
    Interval,
    bootstrap,
    miller_madow,
    records_per_pair,
    shrinkage,
)
from privacyfunnel.metrics.evaluation import ColumnMetrics, Metrics, by_column, evaluate
from privacyfunnel.metrics.informed import informed_guess
from privacyfunnel.metrics.leaks import (
    best_guess,
    blind_guess,
    entropy_after,
    given_away,
    largest_lift,
    largest_log_lift,
    maximal_leakage,
    surest_guess,
)
from privacyfunnel.metrics.population import PopulationBound, population_bound

__all__ = [
    "Chance",
    "ColumnMetrics",
    "Interval",
    "Metrics",
    "PopulationBound",
    "best_guess",
    "blind_guess",
    "bootstrap",
    "bootstrap_by_person",
    "by_column",
    "entropy_after",
    "evaluate",
    "given_away",
    "informed_guess",
    "informed_guess_by_person",
    "k_anonymity",
    "l_diversity",
    "largest_lift",
    "largest_log_lift",
    "lone_records",
    "maximal_leakage",
    "miller_madow",
    "population_bound",
    "records_per_pair",
    "shrinkage",
    "shuffled",
    "shuffled_by_person",
    "surest_guess",
    "t_closeness",
    "unique_share",
]
