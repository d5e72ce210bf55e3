"""Forms: what the user has chosen about the columns, the search and the release, read from the page."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from privacyfunnel.columns import KINDS, MISSING, USUAL, ColumnRules
from privacyfunnel.columns.spelling import spell_by_column
from privacyfunnel.errors import InvalidInput
from privacyfunnel.releases.request import BALANCE, ReleaseRequest
from privacyfunnel.validation import check_choice

TREATMENTS = {
    "category": "category: each value as it is",
    "bins": "number in bins",
    "round": "number, rounded",
    "identifier": "identifier: leave it out",
}
WANTED = {
    "bins": "a number of bins (10) or their edges (0, 18, 40, 65)",
    "round": "a step to round to (10, or 0.5); of dates day, month, quarter or year",
}
RECODINGS = {
    "global": "readable columns: ages in ranges, categories in groups, the same for all records",
    "local": "readable columns: each record is made only as coarse as it needs to be",
    "symbols": "one column of symbols, each for any group of values: most information, hard to read",
}
SHAPES = {
    "free": "any values may be put together",
    "order": "only neighbours in this order",
    "tree": "along a hierarchy",
}
MEASURES = {
    "shannon": ("information", "all that is told counts"),
    "guessing": ("guessing", "how often a guess is right"),
    "maximal-leakage": ("the worst case", "for any guess"),
    "total-variation": ("moved odds", "how far, on average"),
    "chi-square": ("correlation", "of the best score"),
    "arimoto": ("Arimoto's measure", "of order 2"),
}
PURPOSES = {
    "useful": "what they say about {useful}",
    "both": "what they say about {useful} and the columns themselves, half and half",
}
CAPS = "caps"  # beside a share to keep and a share to give away, what a release is chosen by
MOST_IMPORTANT = 4  # times as important as another column
EFFORTS = {"fast": "fast", "normal": "normal", "thorough": "thorough: may take long"}
BINS, PERIOD = "10", "month"  # that are proposed for many numbers and for many dates
DATED = {"bins": "date in bins", "round": "date, rounded"}
MOST_POINTS = 200

Form = Mapping[str, str]


@dataclass(frozen=True)
class ColumnChoice:
    """How one column is to be treated and what roles it has; ``how`` is its bins or its step."""

    name: str
    kind: str
    treat: str = "category"
    how: str = ""
    sensitive: bool = False
    public: bool = False
    useful: bool = False  # what the release is for

    @property
    def is_used(self) -> bool:
        """Whether it has a role, and so is counted."""
        return self.sensitive or self.public or self.useful


@dataclass(frozen=True)
class Choices:
    """All columns of a table with what was chosen for them, and what a missing value means.

    ``person`` is the column that says whose row it is, where people have several.
    """

    columns: tuple[ColumnChoice, ...]
    missing: str = USUAL
    person: str | None = None

    @property
    def sensitive(self) -> list[str]:
        """The names of the sensitive columns."""
        return [column.name for column in self.columns if column.sensitive]

    @property
    def public(self) -> list[str]:
        """The names of the columns to publish."""
        return [column.name for column in self.columns if column.public]

    @property
    def useful(self) -> list[str]:
        """The names of the columns that the release is for."""
        return [column.name for column in self.columns if column.useful]

    def words(self, treat: str) -> list[str]:
        """The command line's words for a treatment: ``chol=10``, of the columns that are used."""
        chosen = [c for c in self.columns if c.treat == treat and c.is_used]
        return [spell_by_column(column.name, column.how) for column in chosen]

    @property
    def rules(self) -> ColumnRules:
        """The same as the library takes it."""
        return ColumnRules.parse(self.words("bins"), self.words("round"), self.missing)

    def check(self) -> Choices:
        """Refuse what cannot be meant, before any work."""
        for column in self.columns:
            if column.treat == "identifier" and column.is_used:
                role = (
                    "sensitive" if column.sensitive else "to publish" if column.public else "useful"
                )
                raise InvalidInput(
                    f"{column.name!r} is marked as an identifier, which is left out, and as {role}; "
                    "choose one of the two."
                )
            if column.treat in WANTED and not column.how and column.is_used:
                raise InvalidInput(
                    f"column {column.name!r} ({KINDS[column.kind]}) needs {WANTED[column.treat]}."
                )
        for role, names in (("sensitive", self.sensitive), ("to publish", self.public)):
            if not names:
                raise InvalidInput(f"mark at least one column as {role}.")
        _ = self.rules
        return self


def guess(columns: Sequence[Mapping[str, Any]]) -> Choices:
    """What the columns seem to be; the user confirms it.

    >>> seen = {"name": "id", "kind": "integer", "distinct": 99, "nearly_unique": True, "usable": 1}
    >>> guess([seen, {**seen, "kind": "number"}]).columns[0].treat
    'identifier'
    """
    return Choices(tuple(_guess(column) for column in columns if column["usable"]))


def _guess(column: Mapping[str, Any]) -> ColumnChoice:
    plain = ColumnChoice(column["name"], column["kind"])
    if column["nearly_unique"] and (KINDS[plain.kind].names_rows or KINDS[plain.kind].is_dated):
        return replace(plain, treat="identifier")
    if column["distinct"] > KINDS[plain.kind].many:
        if KINDS[plain.kind].is_dated:
            return replace(plain, treat="round", how=PERIOD)
        return replace(plain, treat="bins", how=BINS)
    return plain


def with_roles(choices: Choices, sensitive: Sequence[str], public: Sequence[str]) -> Choices:
    """The choices with these roles marked, each value as it is."""
    columns = [
        ColumnChoice(c.name, c.kind, sensitive=c.name in sensitive, public=c.name in public)
        if c.name in (*sensitive, *public)
        else c
        for c in choices.columns
    ]
    return replace(choices, columns=tuple(columns))


def read_choices(form: Form, before: Choices) -> Choices:
    """The choices of the form about the same columns; fields are numbered, not named.

    >>> before = Choices((ColumnChoice("age", "integer"),))
    >>> read_choices({"treat-0": "bins", "how-0": "18, 65", "sensitive-0": "on"}, before).rules.bins
    {'age': (18, 65)}
    """
    columns = []
    for i, column in enumerate(before.columns):
        treat = _one_of(TREATMENTS, form, f"treat-{i}", column.treat, "the treatment of a column")
        how = form.get(f"how-{i}", "").strip()
        columns.append(
            replace(
                column,
                treat=treat,
                how=how if treat in WANTED else "",
                sensitive=f"sensitive-{i}" in form,
                public=f"public-{i}" in form,
                useful="has_use" in form and f"useful-{i}" in form,
            )
        )
    missing = _one_of(MISSING, form, "missing", before.missing)
    places = ["", *map(str, range(len(columns)))]
    person = _one_of(places, form, "person", "", "the column of persons")
    return Choices(tuple(columns), missing, columns[int(person)].name if person else None)


@dataclass(frozen=True)
class SearchSettings:
    """How to search: the settings that the release will have too, so that both find the same.

    ``importance`` weighs what is kept of a column, where it is not 1.
    """

    recoding: str = "global"
    measure: str = ReleaseRequest.measure
    purpose: str = ReleaseRequest.purpose
    importance: Mapping[str, float] = field(default_factory=dict)
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    trees: Mapping[str, str] = field(default_factory=dict)  # the lines of each hierarchy
    hierarchies: Mapping[str, str] = field(default_factory=dict)  # the file of each
    effort: str = "fast"
    points: int = ReleaseRequest.points
    min_count: int = ReleaseRequest.min_count
    seed: int = ReleaseRequest.seed
    compare: bool = True  # also draw other kinds of releases

    @property
    def kept(self) -> str:
        """The name of what is kept: of symbols the utility, of readable columns the mean share."""
        return "utility" if self.recoding == "symbols" else "kept"

    def request(
        self,
        source: str = "",
        target: Mapping[str, float] = MappingProxyType({"leakage": 1.0}),
        soft: bool = False,
        caps: Mapping[str, str] = MappingProxyType({}),
    ) -> ReleaseRequest:
        """The release that meets a target or caps, found with these settings."""
        both = {
            name: value for name, value in vars(self).items() if name not in ("trees", "compare")
        }
        balance = BALANCE if self.recoding == "global" else None
        return ReleaseRequest(target, source, soft=soft, caps=caps, balance=balance, **both)

    def allows(self, *, caps: Mapping[str, str] = MappingProxyType({}), **changes: Any) -> bool:
        """Whether a release can be asked for with these settings, some of them changed.

        >>> SearchSettings(recoding="symbols").allows(measure="guessing")
        True
        """
        try:
            replace(self, **changes).request(target={} if caps else {"leakage": 1.0}, caps=caps)
        except InvalidInput:
            return False
        return True


def read_search(
    form: Form,
    public: Sequence[str] = (),
    values: Mapping[str, Sequence[str]] | None = None,
    useful: Sequence[str] = (),
) -> SearchSettings:
    """The settings of the search's form; the columns to publish have a number for their importance.

    Of columns whose ``values`` the page lists, they may be put in order (the fields come in it) or in a
    hierarchy. Where columns are marked as ``useful``, what the others say about them is kept.

    >>> form = {"shape-0": "order", "order-0-2": "", "order-0-0": "", "order-0-1": ""}
    >>> read_search(form, ["size"], {"size": ["L", "M", "S"]}).orders
    {'size': ['S', 'L', 'M']}
    >>> read_search({"recoding": "global", "importance-1": "2"}, ["age", "job"]).importance
    {'job': 2.0}
    """
    usual = SearchSettings()
    recoding = _one_of(RECODINGS, form, "recoding", usual.recoding)
    importance, orders, trees = {}, {}, {}
    for i, name in enumerate(public):
        weight = form.get(f"importance-{i}", "").strip() or "1"
        must = f"the importance of {name!r} must be 0 to {MOST_IMPORTANT:g}"
        importance[name] = _up_to(MOST_IMPORTANT, weight, must)
        shape = _one_of(SHAPES, form, f"shape-{i}", "free", "the shape of a column")
        listed = (values or {}).get(name)
        if listed and shape == "order":
            orders[name] = _ordered(form, f"order-{i}-", listed)
        elif shape == "tree":
            trees[name] = form.get(f"tree-{i}", "").replace("\r", "")
    if recoding == "symbols":
        importance, orders, trees = {}, {}, {}
    return SearchSettings(
        orders=orders,
        trees=trees,
        recoding=recoding,
        measure=_one_of(MEASURES, form, "measure", usual.measure),
        purpose=_one_of(PURPOSES, form, "purpose", "useful") if useful else usual.purpose,
        importance={name: weight for name, weight in importance.items() if weight != 1.0},
        effort=_one_of(EFFORTS, form, "effort", usual.effort),
        points=_whole(form, "points", usual.points, 1, MOST_POINTS),
        min_count=_whole(form, "min_count", usual.min_count, 1, 10**9),
        seed=_whole(form, "seed", usual.seed, 0, 2**31 - 1),
        compare="compare" in form,
    )


def _ordered(form: Form, prefix: str, listed: Sequence[str]) -> list[str]:
    """The values in the order in which their fields came."""
    places = [name.removeprefix(prefix) for name in form if name.startswith(prefix)]
    if sorted(places) != sorted(map(str, range(len(listed)))):
        raise InvalidInput("this form makes no sense; reload the page.")
    return [listed[int(place)] for place in places]


def read_target(form: Form, kept: str) -> dict[str, float]:
    """The one target of the choice: a share of what is ``kept``, or of what is given away.

    There is none where caps of the sensitive columns say it.
    """
    by = _one_of([kept, "leakage", CAPS], form, "by", "")
    return {} if by == CAPS else {by: _share(form.get("value", ""), "the target")}


def read_caps(form: Form, sensitive: Sequence[str], measure: str) -> dict[str, str]:
    """The caps of the choice, by column; an empty field is none.

    >>> read_caps({"by": "caps", "cap-0": "0.01", "cap-1": ""}, ["age", "sex"], "guessing")
    {'age': 'guessing:0.01'}
    """
    if form.get("by") != CAPS:
        return {}
    given = {name: form.get(f"cap-{i}", "").strip() for i, name in enumerate(sensitive)}
    shares = {name: _share(text, f"the cap of {name!r}") for name, text in given.items() if text}
    if not shares:
        raise InvalidInput("say of at least one column how much may be given away.")
    by = "" if measure == ReleaseRequest.measure else f"{measure}:"
    return {name: f"{by}{share!r}" for name, share in shares.items()}


def _one_of(choices: Collection[str], form: Form, name: str, usual: str, what: str = "") -> str:
    """A field that must be one of some choices; ``what`` is its name in words."""
    value = form.get(name, usual)
    check_choice(what or name, value, choices)
    return value


def _share(text: str, what: str) -> float:
    return _up_to(1.0, text, f"{what} must be between 0% and 100%")


def _up_to(most: float, text: str, must: str) -> float:
    """A number from 0 to the most; ``must`` says so in words."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0.0 <= value <= most:
        raise InvalidInput(f"{must}, got {text[:20]!r}.")
    return value


def _whole(form: Form, name: str, usual: int, least: int, most: int) -> int:
    text = form.get(name, "").strip() or str(usual)
    is_whole = text.isascii() and text.isdigit() and len(text) <= len(str(most))
    if not (is_whole and least <= int(text) <= most):
        field = name.replace("_", " ")
        raise InvalidInput(
            f"{field} must be a whole number from {least} to {most}, got {text[:20]!r}."
        )
    return int(text)
