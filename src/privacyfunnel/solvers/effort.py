"""Effort: what each search may spend when asked to be fast, normal or thorough."""

from __future__ import annotations

from typing import NamedTuple

from privacyfunnel.validation import check_choice

EFFORTS = ("fast", "normal", "thorough")
REFINE = {"fast": "fast", "normal": "fast", "thorough": "normal"}  # a second look at each target


def check_effort(effort: str) -> None:
    """``effort`` is one of `EFFORTS`."""
    check_choice("effort", effort, list(EFFORTS))


class MoveBudget(NamedTuple):
    """Single-symbol moves over an alphabet that is searched as a whole."""

    sweeps: int  # over the alphabet, for each start
    finalists: int  # starts that go on
    final_sweeps: int  # for each finalist
    moves: float  # most moves priced in one run; bounds the sweeps where the alphabet is large
    starts: int  # random ones, where the number of symbols is given
    longer: int  # times longer are the last runs for a target that is asked for by itself
    largest: int  # symbols beyond which clusters are searched in blocks

    def alone(self) -> MoveBudget:
        """The budget of a target that is asked for by itself."""
        sweeps, moves = self.final_sweeps * self.longer, self.moves * self.longer
        return self._replace(final_sweeps=sweeps, moves=moves)

    def within(self, sweeps: int, n_x: int, n_clusters: int) -> int:
        """The sweeps that the budget allows for a code of so many clusters."""
        return int(min(sweeps, max(20, self.moves / (n_x * (n_clusters + 1)))))


MOVES = {
    "fast": MoveBudget(150, 1, 600, 1e7, 3, 1, 500),
    "normal": MoveBudget(300, 2, 3000, 6e7, 10, 6, 600),
    "thorough": MoveBudget(3000, 6, 20_000, 2e9, 30, 3, 1200),
}


class LargeBudget(NamedTuple):
    """Large alphabets: moves inside blocks of clusters, or at random."""

    rounds: int  # over all blocks
    pairs: float  # of a symbol and a cluster, priced in one block
    proposals: float  # random moves and swaps for one target


LARGE = {
    "fast": LargeBudget(15, 1e6, 5e6),
    "normal": LargeBudget(60, 5e6, 2e7),
    "thorough": LargeBudget(300, 2e7, 3e8),
}


LOCAL_MOVES = {"fast": 3_000_000, "normal": 6_000_000, "thorough": 60_000_000}  # of local recoding
SWEPT = {"fast": 3e8, "normal": 2e9, "thorough": 3e10}  # cells times clusters, for a given size


class SoftBudget(NamedTuple):
    """The soft funnel, perfect privacy included."""

    rounds: int  # of descent and new symbols, for one λ
    levels: int  # how often each gap of the frontier is halved
    private_rounds: int  # of column generation, for perfect privacy


SOFT = {
    "fast": SoftBudget(5, 2, 10),
    "normal": SoftBudget(10, 4, 30),
    "thorough": SoftBudget(30, 6, 100),
}


class CoolingBudget(NamedTuple):
    """The soft bottleneck."""

    steps: int  # λ of the cooling
    rounds: int  # looks for splits at each of them
    passes: int  # over the targets


COOLING = {
    "fast": CoolingBudget(12, 1, 1),
    "normal": CoolingBudget(20, 5, 3),
    "thorough": CoolingBudget(48, 12, 4),
}
