"""Request: what a release is asked for: one target, how to search for it and what to write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from privacyfunnel.columns.spelling import (
    read_columns,
    read_cuts,
    read_groups,
    read_order,
    spell_columns,
    spell_cuts,
    spell_groups,
    spell_order,
)
from privacyfunnel.errors import InvalidInput
from privacyfunnel.files import FORMATS
from privacyfunnel.releases.files import FILES

TARGETS = {
    "kept": "Share of each column to keep, on average, 0 to 1.",
    "leakage": "Share of the sensitive information to give at most, 0 to 1.",
    "utility": "Symbols: share of the public information to keep at least, 0 to 1.",
    "lam": "Bits given away that a bit kept is worth, 0 to 1.",
}
INSTEAD = ("groups", "cuts", "caps")  # fields of which one may stand in a target's place
BALANCE = 0.5  # of a release for which a share to keep is asked; under a bound on leakage, none


@dataclass(frozen=True)
class Asked:
    """What a curator is asked for: in one sentence, under the field's own name or another.

    Where it is typed in words, ``read`` reads them and ``spell`` writes them: the words of the whole, or
    where it is said of single columns of one column.
    """

    meaning: str
    name: str | None = None
    topic: str | None = None
    is_by_column: bool = False
    read: Callable[[Any], Any] | None = None
    spell: Callable[[Any], str] = str


def _asked(default: Any, meaning: str, **told: Any) -> Any:
    return field(default=default, metadata={"asked": Asked(meaning, **told)})


def _by_column(name: str, meaning: str, *, topic: str = "readable", **told: Any) -> Any:
    """A field that says something of single columns."""
    asked = Asked(meaning, name, topic, is_by_column=True, **told)
    return field(default_factory=dict, metadata={"asked": asked})


@dataclass(frozen=True)
class ReleaseRequest:
    """One target (kept, leakage, utility or lam) and how to search, check and write.

    No target is needed where ``groups`` or ``cuts`` say what becomes of every column.

    ``recoding`` is "global" (each column coarsened the same way for all records), "local" (each record
    as little as needed) or "symbols" (any grouping of X's values, one released column). By default
    it is global; utility and lam, and draws by lot, mean symbols.

    The defaults of a release stand here and nowhere else, and so does what each field means: the
    command line makes its options of them.

    >>> ReleaseRequest({"utility": 0.5}).files[:4]
    ('release.parquet', 'codebook.json', 'report.html', 'report.json')
    """

    target: Mapping[str, float]
    source: str = ""  # the table's name in the report
    command: str = ""  # what makes the same release once more
    measure: str = _asked(
        "shannon",
        "How what is given away is measured: shannon, guessing, chi-square, total-variation, "
        "arimoto:ORDER, maximal-leakage.",
        topic="purpose",
    )
    purpose: str = "x"  # what is kept: X, the "useful" columns' Y, or "both"
    caps: Mapping[str, float | str] = _by_column(
        "cap",
        "sex=0.01 or race=guessing:0.02: the most to give away of one sensitive column, as a share; "
        "every cap is met and the most is kept. May be repeated.",
        topic="purpose",
        read=str,
    )
    recoding: str | None = _asked(
        None,
        "global: each column coarsened alike for all records; local: each record as little as needed; "
        "symbols: any grouping, one column (the default of utility and lam).",
        topic="readable",
    )
    hierarchies: Mapping[str, str] = _by_column(
        "hierarchy",
        "education=FILE: the column's tree, a line for each value: value;level 1;...;*.",
        read=str,
    )
    orders: Mapping[str, Sequence[str]] = _by_column(
        "order",
        "education='Preschool<1st-4th<...': the column's values, first to last.",
        read=read_order,
        spell=spell_order,
    )
    cuts: Mapping[str, Sequence[Any]] = _by_column(
        "cuts",
        "age=18,25,65: the only places where a column may be cut.",
        read=read_cuts,
        spell=spell_cuts,
    )
    groups: Mapping[str, Sequence[Any]] = _by_column(
        "groups",
        "Exactly these groups: job='nurse,doctor|clerk,cook' (other values stay), age=18,65.",
        read=read_groups,
        spell=spell_groups,
    )
    importance: Mapping[str, float] = _by_column(
        "importance",
        "age=2: what is kept of age counts twice; may be repeated.",
        read=float,
        spell="{:g}".format,
    )
    balance: float | None = _asked(
        None,  # `BALANCE`, or none
        "Least that every column keeps, as a share of what is kept on average (0.5); 0 lets columns be "
        "given up.",
        topic="readable",
    )
    round_cuts: bool = _asked(
        False,
        "Cut numbers and dates at round points only; otherwise round points are preferred.",
        topic="readable",
    )
    fit: str | None = _asked(
        None,
        "Whose leakage is lowered: records (these, the default of global) or population (others like "
        "them, the default of local).",
        topic="readable",
    )
    suppress: float | None = _asked(
        None,
        "Most of the records, as a share, that become * for the least count (0.02).",
        topic="readable",
    )
    numbers: str = _asked(
        "label",
        "Intervals of numbers as label (25-34), bounds (two columns) or mean.",
        topic="readable",
    )
    soft: bool = _asked(False, "Draw each record's symbol by lot: gives away far less.")
    min_count: int = _asked(
        5,
        "Least number of people (records) that every released combination stands for; 1 for none.",
    )
    min_diversity: int = _asked(
        1,
        "Least number of different values of each sensitive column that every released combination "
        "goes with.",
    )
    effort: str = _asked("normal", "How long to search: fast, normal (by default) or thorough.")
    points: int = _asked(20, "Points of the frontier in the report.")
    seed: int = _asked(0, "Seed of all random choices.")
    expand: bool = _asked(False, "Add, per public column, what the symbol stands for.")
    keep: Sequence[str] = _asked(
        (),
        "Columns to pass through as they are, NOT protected, separated by commas.",
        read=read_columns,
        spell=spell_columns,
    )
    key: str | None = _asked(None, "Column that names the row; random releases draw by it.")
    secret: str | None = field(default=None, repr=False)  # of the draws, kept apart from the table
    shuffle: bool = _asked(
        False, "Write the rows in a random order, which tells nothing of the table."
    )
    form: str = _asked("parquet", "parquet or csv.", name="format")
    holdout: float | None = _asked(
        None,
        "A share, e.g. 0.3: check the method on as many records that it has not seen. The release is "
        "made from all records all the same.",
    )
    choose_on: float | None = _asked(
        None,
        "A share, e.g. 0.5: choose the code on as many records, drawn in secret, against one who knows "
        "all other records and runs the search again.",
    )
    max_population_leakage: float | None = _asked(
        None,
        "Where some records choose the code: release only if no more than this share is given away, "
        "with 95% confidence, of people who are not in the table.",
        topic="limits",
    )
    attackers: bool | None = _asked(
        None, "Train attackers on the release; by default where it takes seconds."
    )
    is_public: bool = _asked(
        False, "Codebook and report without any figure about S.", name="public"
    )

    def __post_init__(self) -> None:
        # The command line reads the defaults of this class, and must not wait for numpy.
        from privacyfunnel.codebook.output import NUMBERS
        from privacyfunnel.validation import check_choice, check_whole

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
        check_whole("min_count", self.min_count, 0)
        check_whole("min_diversity", self.min_diversity, 0)
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
        from privacyfunnel.recodings import RECODINGS
        from privacyfunnel.validation import check_choice

        make_measure(self.measure)
        check_choice("purpose", self.purpose, KEEPS)
        check_choice("recoding", self.kind, RECODINGS)
        if not self.is_plain and self.soft:
            raise InvalidInput("another measure, a use and caps are searched without lots.")
        if (self.purpose != "x" or self.caps) and self.kind != "symbols":
            raise InvalidInput("a use and caps are searched with symbols.")
        if self.kind == "symbols":
            if target == "kept":
                asks = [name for name in ("soft", "expand") if getattr(self, name)]
                why = f"{asks[0]} goes with symbols, and " if asks and not self.recoding else ""
                raise InvalidInput(
                    f"{why}kept is a target of global and local recoding; symbols take utility."
                )
            for name in self.options():
                if name in ASKED and ASKED[name].topic == "readable" and name != "recoding":
                    raise InvalidInput(
                        f"symbols take no {name.replace('_', ' ')}; global and local recoding do."
                    )
        elif target == "utility":
            raise InvalidInput(
                f"{self.kind} recoding takes kept, leakage or lam as its target; utility is of symbols."
            )
        elif self.soft or self.expand:
            wrong = "draws no lots" if self.soft else "has the columns already"
            raise InvalidInput(f"a {self.kind} recoding {wrong}; leave one of the two out.")
        elif self.kind == "local" and self.balance is not None:
            raise InvalidInput("balance is for global recoding: local recoding drops no column.")

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


ASKED: dict[str, Asked] = {
    f.name: f.metadata["asked"] for f in fields(ReleaseRequest) if "asked" in f.metadata
}
