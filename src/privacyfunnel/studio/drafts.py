"""Drafts: a release whose groups are laid by hand, and what the page may change about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from privacyfunnel.errors import InvalidInput
from privacyfunnel.validation import check_choice

if TYPE_CHECKING:
    from privacyfunnel.releases.request import ReleaseRequest

CHANGES = ("add", "move", "remove", "every", "shift", "hold")  # cuts, values, a whole column
NEW, APART = "new", "apart"  # groups that values may be moved to, beside those that are there
LONGEST = 200  # characters of a cut
SHOWN = 200  # values of a column that can be marked; rarer ones are named


@dataclass(frozen=True)
class Draft:
    """What becomes of each column: the points between its groups, or lists of values.

    ``held`` are the columns that a search for the rest must leave as they are.
    """

    groups: Mapping[str, Sequence[Any]]
    held: frozenset[str] = frozenset()

    def request(self, like: ReleaseRequest) -> ReleaseRequest:
        """The release that these groups are, otherwise as another one."""
        cuts = {name: given for name, given in self.groups.items() if _are_points(given)}
        lists = {name: given for name, given in self.groups.items() if name not in cuts}
        return replace(like, target={}, cuts=cuts, groups=lists)


def _are_points(given: Sequence[Any]) -> bool:
    return not any(isinstance(part, list | tuple) for part in given)


@dataclass(frozen=True)
class Change:
    """One thing to do to a draft: what, to which column, and what the page says about it."""

    what: str
    column: int = 0
    cut: int = 0  # which of the column's cuts
    at: str = ""  # where to cut, or the step between cuts
    values: tuple[int, ...] = ()  # which of the column's values
    named: str = ""  # more of them, in words
    to: str = NEW  # the group that they go to


def read_change(form: Mapping[str, str]) -> Change:
    """What a form of the page asks for; marked values are numbered.

    >>> read_change({"do": "shift", "column": "1", "value-4": "on", "to": "0"})
    Change(what='shift', column=1, cut=0, at='', values=(4,), named='', to='0')
    """
    what = form.get("do", "")
    check_choice("the change", what, CHANGES)
    marked = [name.removeprefix("value-") for name in form if name.startswith("value-")]
    return Change(
        what,
        _place(form.get("column", "0")),
        _place(form.get("cut", "0")),
        form.get("at", "").strip()[:LONGEST],
        tuple(_place(text) for text in marked),
        form.get("named", "").strip(),
        form.get("to", NEW),
    )


def _place(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InvalidInput("this form makes no sense; reload the page.")
    return int(text)


@dataclass
class History:
    """What was laid so far, each step as the page shows it; the last can be undone."""

    steps: list[dict[str, Any]] = field(default_factory=list)
    MOST = 100

    @property
    def now(self) -> dict[str, Any] | None:
        """The step that the page shows."""
        return self.steps[-1] if self.steps else None

    def add(self, step: dict[str, Any]) -> None:
        """One more step; of very many the first are forgotten."""
        self.steps = [*self.steps, step][-self.MOST :]

    def undo(self) -> None:
        """Back to the step before."""
        if len(self.steps) > 1:
            self.steps.pop()
