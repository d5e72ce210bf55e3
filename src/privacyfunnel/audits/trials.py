"""Trials: how hard an audit tries, as the user asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privacyfunnel.audits.attackers import ATTACKERS
from privacyfunnel.errors import InvalidInput
from privacyfunnel.parallel import check_jobs
from privacyfunnel.validation import check_rng, check_whole

MOST_WORK = 5_000_000  # records, or combinations if fewer, that are shuffled again and again


@dataclass(frozen=True)
class Trials:
    """Shuffles, resamples and attackers of an audit; 0 leaves shuffles or resamples out.

    Tables with more records and combinations than ``most_work`` are neither shuffled nor resampled.
    ``attack_rows`` is the number of records that attackers get, drawn at random; without it they get
    all, and a table that is too large for that is not attacked. The result does not depend on
    ``n_jobs``.

    >>> Trials(permutations=100, attackers=False).count(n_sensitive=2)
    500
    """

    permutations: int = 200
    bootstraps: int = 200
    attackers: bool = True
    folds: int = 5
    attack_rows: int | None = None
    seed: int = 0
    n_jobs: int = 1
    most_work: int = MOST_WORK

    def __post_init__(self) -> None:
        for name, value, least in (
            ("permutations", self.permutations, 19),  # fewer cannot reach a p-value of 0.05
            ("bootstraps", self.bootstraps, 20),
        ):
            if isinstance(value, bool) or not isinstance(value, int) or (value and value < least):
                raise InvalidInput(f"{name} must be 0 or at least {least}, got {value!r}.")
        if self.attackers:
            check_whole("folds", self.folds, 2)
        if self.attack_rows is not None:
            check_whole("attack rows", self.attack_rows, 2)
        check_rng(self.seed)
        check_jobs(self.n_jobs)

    @property
    def of_draws(self) -> dict[str, Any]:
        """How shuffles and resamples are drawn, as all that draw take it."""
        return {"seed": self.seed, "n_jobs": self.n_jobs}

    @property
    def of_attacks(self) -> dict[str, Any]:
        """How attackers are tried, as ``attack`` takes it."""
        return {"folds": self.folds, "records": self.attack_rows, **self.of_draws}

    def count(self, n_sensitive: int, n_attacked: int = 1) -> int:
        """How many pieces of work there are at most."""
        attacks = n_attacked * n_sensitive * len(ATTACKERS) * self.folds if self.attackers else 0
        shuffled = 1 if n_sensitive == 1 else 1 + n_sensitive  # all columns together, and each
        return self.permutations * shuffled + self.bootstraps + attacks
