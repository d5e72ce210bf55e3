"""Gate: limits that an audit must keep, for use in a pipeline."""

from __future__ import annotations

from dataclasses import dataclass, fields

from privacyfunnel.audits.audit import Audit
from privacyfunnel.errors import InvalidInput
from privacyfunnel.validation import check_at_least

SLACK = 1e-12  # rounding that breaks no limit
MEASURES = {
    "max_leakage": "leakage",
    "max_population_leakage": "population_leakage",
    "max_guess": "guess_seeing",
    "min_k": "k",
    "min_l": "l_diversity",
    "max_t": "t_closeness",
}


@dataclass(frozen=True)
class Limits:
    """The most or the least of some measures; None is no limit.

    >>> Limits(max_leakage=0.1, min_k=5).asked
    {'max_leakage': 0.1, 'min_k': 5}
    """

    max_leakage: float | None = None
    max_guess: float | None = None
    min_k: int | None = None
    min_l: int | None = None
    max_t: float | None = None
    max_population_leakage: float | None = None

    def __post_init__(self) -> None:
        for name, limit in self.asked.items():
            check_at_least(name, limit, 1 if name.startswith("min") else 0)
            if name.startswith("max") and limit > 1:
                raise InvalidInput(f"{name} must lie in [0, 1], got {limit:g}.")

    @property
    def asked(self) -> dict[str, float]:
        """The limits that were set."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: limit for name, limit in given.items() if limit is not None}


def broken(audit: Audit, limits: Limits) -> list[str]:
    """The limits that the audit breaks, one sentence each; one that cannot be checked is broken.

    >>> import pandas as pd
    >>> from privacyfunnel.audits import Trials, audit
    >>> table = pd.DataFrame({"ill": [0, 0, 1, 1] * 9, "ward": ["a", "a", "b", "a"] * 9})
    >>> found = audit(table, "ill", "ward", trials=Trials(attackers=False))
    >>> broken(found, Limits(min_k=5, min_l=2))
    ['l-diversity is 1, but min_l asks for at least 2']
    """
    sentences = []
    for name, limit in limits.asked.items():
        row = audit[MEASURES[name]]
        least = name.startswith("min")
        if row.key == "population_leakage" and row.value is not None and not audit.new:
            sentences.append(
                f"{row.name}: cannot be checked against {name}, because nobody says which records "
                "the published columns were not chosen on (new=)"
            )
        elif row.value is None:
            sentences.append(f"{row.name} cannot be checked against {name}: {row.note}")
        elif row.value < limit if least else row.value > limit + SLACK:
            bound = "least" if least else "most"
            sentences.append(
                f"{row.name} is {row.value:.4g}, but {name} asks for at {bound} {limit:g}"
            )
    return sentences
