"""Request: what a release is asked for: one target, how to search for it and what to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from privacyfunnel.errors import InvalidInput

FORMATS = ("parquet", "csv")
TARGETS = ("utility", "leakage", "lam")
CODEBOOK, PAGE, DOCUMENT = "codebook.json", "report.html", "report.json"
ANY_FILES = (*(f"release.{form}" for form in FORMATS), CODEBOOK, PAGE, DOCUMENT)


@dataclass(frozen=True)
class ReleaseRequest:
    """One target (utility, leakage or lam) and how to search, check and write.

    The defaults of a release stand here and nowhere else.

    >>> ReleaseRequest({"utility": 0.5}).files
    ('release.parquet', 'codebook.json', 'report.html', 'report.json')
    """

    target: Mapping[str, float]
    source: str = ""  # the table's name in the report
    command: str = ""  # what makes the same release once more
    soft: bool = False
    min_count: int = 1
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

    def __post_init__(self) -> None:
        # The command line reads the defaults of this class, and must not wait for numpy.
        from privacyfunnel.validation import check_at_least, check_choice

        given = [name for name in TARGETS if name in self.target]
        if len(given) != 1 or len(self.target) != 1:
            got = " and ".join(self.target) or "none"
            raise InvalidInput(f"give exactly one of {', '.join(TARGETS)}; got {got}.")
        (value,) = self.target.values()
        if not 0.0 <= value <= 1.0:
            raise InvalidInput(f"{given[0]} must lie in [0, 1], got {value:g}.")
        check_choice("format", self.form, FORMATS)
        check_at_least("min_count", self.min_count, 1)
        if self.choose_on is not None and not 0.0 < self.choose_on < 1.0:
            raise InvalidInput(
                f"choose_on is a share of the records between 0 and 1, got {self.choose_on:g}."
            )
        if self.choose_on is not None and self.min_count > 1:
            raise InvalidInput(
                "a code chosen on some records promises no least count; leave one out."
            )
        if self.soft and self.min_count > 1:
            raise InvalidInput("a release by lot cannot promise a least count; leave one out.")

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files that the release consists of; the table comes first."""
        return (f"release.{self.form}", CODEBOOK, PAGE, DOCUMENT)

    def options(self) -> dict[str, Any]:
        """The request as arguments of ``pf.release``, without those that are as by default."""
        found = {f.name: getattr(self, f.name) for f in fields(self)[1:]}
        del found["secret"]  # what is printed must not tell it
        plain = {f.name: f.default for f in fields(self)[1:]}
        return {**self.target, **{k: v for k, v in found.items() if v != plain[k]}}
