"""Request: what a release is asked for: one target, how to search for it and what to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from privacyfunnel.errors import InvalidInput
from privacyfunnel.releases.files import FILES, FORMATS

READABLE = ("hierarchies", "orders", "cuts", "groups", "importance")  # of columns that stay columns
TARGETS = ("kept", "leakage", "utility", "lam")
BALANCE = 0.5  # of a release for which a share to keep is asked; under a bound on leakage, none


@dataclass(frozen=True)
class ReleaseRequest:
    """One target (kept, leakage, utility or lam) and how to search, check and write.

    No target is needed where ``groups`` or ``cuts`` say what becomes of every column.

    ``recoding`` is "global" (each column coarsened the same way for all records), "local" (each record
    as little as needed) or "symbols" (any grouping of X's values, one released column). By default
    it is global; utility and lam, and draws by lot, mean symbols.

    The defaults of a release stand here and nowhere else.

    >>> ReleaseRequest({"utility": 0.5}).files[:4]
    ('release.parquet', 'codebook.json', 'report.html', 'report.json')
    """

    target: Mapping[str, float]
    source: str = ""  # the table's name in the report
    command: str = ""  # what makes the same release once more
    recoding: str | None = None  # None: as the target and the other choices mean
    hierarchies: Mapping[str, str] = field(default_factory=dict)  # a file for each column
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)  # first to last
    cuts: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # where a column may be cut
    groups: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # exactly these
    importance: Mapping[str, float] = field(default_factory=dict)
    balance: float | None = None  # share of the mean kept that every column keeps; None: `BALANCE`
    round_cuts: bool = False  # cut numbers and dates at round points only
    suppress: float | None = None  # share of the records that may be * for the least count
    fit: str | None = None  # whose leakage is lowered: these records', or a population's
    numbers: str = "label"  # intervals as text, as two columns of bounds, or as their mean
    measure: str = "shannon"  # of what is given away, see `measures`
    purpose: str = "x"  # what is kept: X, the "useful" columns' Y, or "both"
    caps: Mapping[str, float | str] = field(default_factory=dict)  # of single sensitive columns
    soft: bool = False
    min_count: int = 5  # people that each released combination stands for at least; 1 is no rule
    min_diversity: int = 1  # values of each sensitive column that it goes with at least
    effort: str = "normal"
    points: int = 20
    seed: int = 0
    expand: bool = False
    keep: Sequence[str] = ()
    key: str | None = None
    secret: str | None = field(default=None, repr=False)  # of the draws, kept apart from the table
    shuffle: bool = False  # write the rows in a random order
    form: str = "parquet"
    is_public: bool = False
    attackers: bool | None = None  # None: where they take some seconds only
    holdout: float | None = None  # the share of the records that the method is checked on
    choose_on: float | None = (
        None  # the share of the records, drawn in secret, that chooses the code
    )
    max_population_leakage: float | None = None  # of people outside of the table, 95% sure

    def __post_init__(self) -> None:
        # The command line reads the defaults of this class, and must not wait for numpy.
        from privacyfunnel.codebook.output import NUMBERS
        from privacyfunnel.validation import check_at_least, check_choice

        given = [name for name in TARGETS if name in self.target]
        if self.caps:
            self._check_caps()
        elif (len(given) != 1 or len(self.target) != 1) and not self.is_by_hand:
            got = " and ".join(self.target) or "none"
            raise InvalidInput(f"give exactly one of {', '.join(TARGETS)}; got {got}.")
        for name, value in self.target.items():
            if not 0.0 <= value <= 1.0 and (name != "lam" or self.is_plain):
                raise InvalidInput(f"{name} must lie in [0, 1], got {value:g}.")
        check_choice("format", self.form, FORMATS)
        check_choice("numbers", self.numbers, NUMBERS)
        self._check_recoding(*given)
        check_at_least("min_count", self.min_count, 0)
        check_at_least("min_diversity", self.min_diversity, 0)
        if self.choose_on is not None and not 0.0 < self.choose_on < 1.0:
            raise InvalidInput(
                f"choose_on is a share of the records between 0 and 1, got {self.choose_on:g}."
            )
        if self.max_population_leakage is not None and self.choose_on is None:
            raise InvalidInput(
                "a limit for people outside of the table needs records that do not choose the code.",
                hint="new-people",
            )
        if self.choose_on is not None and self.is_by_hand:
            raise InvalidInput(
                "groups made by hand are not chosen on records; leave choose_on out."
            )

    def _check_caps(self) -> None:
        from privacyfunnel.solvers.caps import Cap

        for name, given in self.caps.items():
            Cap.read(name, given)
        if list(self.target) not in ([], ["utility"]):
            got = " and ".join(self.target)
            raise InvalidInput(f"caps take no other target than a least utility; got {got}.")
        if self.choose_on is not None or self.soft:
            raise InvalidInput("caps are met on all records, by no lot; leave one out.")

    def _check_recoding(self, target: str = "") -> None:
        from privacyfunnel.measures import make_measure
        from privacyfunnel.objectives import KEEPS
        from privacyfunnel.validation import check_choice

        make_measure(self.measure)
        check_choice("purpose", self.purpose, KEEPS)
        check_choice("recoding", self.kind, ("global", "local", "symbols"))
        if not self.is_plain and self.soft:
            raise InvalidInput("another measure, a use and caps are searched without lots.")
        if (self.purpose != "x" or self.caps) and self.kind != "symbols":
            raise InvalidInput("a use and caps are searched with symbols.")
        if self.kind == "symbols":
            if target == "kept":
                raise InvalidInput(
                    "kept is a target of global and local recoding; symbols take utility."
                )
            named = [n for n in (*READABLE, "round_cuts", "fit") if getattr(self, n)]
            if named or self.numbers != "label":
                raise InvalidInput(
                    f"{(named or ['numbers'])[0]} is for global and local recoding, not for symbols."
                )
        elif target == "utility":
            raise InvalidInput(
                f"{self.kind} recoding takes kept, leakage or lam as its target; utility is of symbols."
            )
        elif self.soft or self.expand:
            wrong = "draws no lots" if self.soft else "has the columns already"
            raise InvalidInput(f"a {self.kind} recoding {wrong}; leave one of the two out.")

    @property
    def kind(self) -> str:
        """The recoding: the one that was named, or the one that the rest of the request means."""
        if self.recoding is not None:
            return self.recoding
        symbols = "utility" in self.target or "lam" in self.target or self.soft or self.expand
        return "symbols" if symbols or self.purpose != "x" or self.caps else "global"

    @property
    def is_plain(self) -> bool:
        """Whether I(S;X̂) is what is bounded and X what is kept."""
        return self.measure == "shannon" and self.purpose == "x" and not self.caps

    @property
    def is_by_hand(self) -> bool:
        """Whether there is no target: every column has its groups, or is cut at all its cuts."""
        return not self.target and bool(self.groups or self.cuts)

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files that the release consists of; the table comes first."""
        return (f"release.{self.form}", *FILES)

    def options(self) -> dict[str, Any]:
        """The request as arguments of ``pf.release``, without those that are as by default."""
        found = {f.name: getattr(self, f.name) for f in fields(self)[1:]}
        del found["secret"]  # what is printed must not tell it
        plain = {f.name: {} if f.default is MISSING else f.default for f in fields(self)[1:]}
        return {**self.target, **{k: v for k, v in found.items() if v != plain[k]}}
