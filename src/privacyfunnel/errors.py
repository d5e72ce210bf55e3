"""Everything that can go wrong, in one tree.

    FunnelError
    ├── InvalidInput        (also ValueError)  an argument that makes no sense
    │   ├── InvalidJoint                       counts or probabilities that are no distribution
    │   ├── InvalidCode                        a partition or channel that does not fit the joint
    │   ├── TargetUnreachable                  no release meets the target; the message names the nearest
    │   └── TooLarge                           more than fits into memory; refused before it is tried
    ├── LimitBroken                            a limit that was asked for is not kept
    ├── UnknownSymbol       (also KeyError, ValueError)  a value that the code has never seen
    ├── DataUnavailable     (also OSError)     a file or download that cannot be had
    └── MissingExtra        (also ImportError) a library that an extra of the package brings

An error is a fact: what was wrong and what we got, in one sentence. What to do about it depends on where
the user sits, so that an error carries a hint, a code, and the fields that its words need. ``HINTS``
words the hints for Python; the command line and the studio have tables of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

Hints = Mapping[str, str]

HINTS: Hints = {
    "replace": "use force=True to replace it",
    "target": "give one of kept, leakage, utility or lam, or groups= of every public column",
    "key": "name it with key=",
    "unseen": 'use unseen="suppress" or make a new codebook',
    "readable": 'recoding="global" keeps columns that people can read',
    "shuffle": "write the rows in a random order with shuffle=True",
    "missing": "set missing= to {allowing}",
    "input-format": 'say which it is with open_table(path, input_format="csv")',
    "memory": "allow more with memory=",
    "fewer-folds": "leave the attackers out with attackers=False (an audit takes it, or fewer folds, in "
    "trials=Trials(...))",
    "by-hand": "download {url} by hand and pass its path",
    "min-count": "at least {least} records for each symbol (min_count={least}) forbid it",
    "balance": "balance=0 lets columns be given up",
    "order": "orders={{{column!r}: [first, ..., last]}} or hierarchies= puts like with like",
    "holdout": "a check on records held out (holdout=0.3) shows how much",
    "global": 'recoding="global" is the safer choice',
    "install": "install it with: pip install 'privacyfunnel[{extra}]'",
    "least-count": "ask for less, or for fewer of them (min_count, min_diversity; 1 is no rule)",
    "new-people": "choose it on some of them (choose_on=0.5)",
    "choose-on": "a code chosen on some records, drawn in secret (choose_on=0.5), makes it much harder",
    "apply": "release later tables by this codebook (write_release), with the same key",
}


def with_cure(fact: str, hint: str, fields: Mapping[str, Any], hints: Hints) -> str:
    """A fact and what to do about it, in the words of one table of hints.

    >>> with_cure("a.csv exists.", "replace", {}, HINTS)
    'a.csv exists; use force=True to replace it.'
    """
    if not hint:
        return fact
    return f"{fact.removesuffix('.')}; {hints[hint].format(**fields)}."


class FunnelError(Exception):
    """Root of all errors that this package raises on purpose.

    >>> error = FunnelError("a.csv exists.", hint="replace")
    >>> error.fact
    'a.csv exists.'
    >>> str(error)
    'a.csv exists; use force=True to replace it.'
    """

    def __init__(self, fact: str = "", *, hint: str = "", **fields: Any) -> None:
        super().__init__(fact)
        self.fact, self.hint, self.fields = fact, hint, fields

    def __str__(self) -> str:
        return self.in_words(HINTS)

    def in_words(self, hints: Hints) -> str:
        """What was wrong and what to do about it, in the words of one table of hints."""
        return with_cure(self.fact, self.hint, self.fields, hints)


class InvalidInput(FunnelError, ValueError):
    """An argument that makes no sense."""


class InvalidJoint(InvalidInput):
    """Counts or probabilities that are not a joint distribution."""


class InvalidCode(InvalidInput):
    """A partition or channel that does not fit."""


class TargetUnreachable(InvalidInput):
    """No release meets the target; the message names the nearest that can be met."""


class TooLarge(InvalidInput):
    """More than fits into memory; the message says how much it would need."""


class LimitBroken(FunnelError):
    """A limit that was asked for is not kept."""


class UnknownSymbol(FunnelError, KeyError, ValueError):
    """A value that the code has never seen."""


class DataUnavailable(FunnelError, OSError):
    """A file or a download that cannot be had."""


class MissingExtra(FunnelError, ImportError):
    """A library that is not installed because its extra was not asked for."""


@contextmanager
def from_extra(extra: str, what: str) -> Iterator[None]:
    """Imports of libraries that an extra of the package brings; ``what`` says who needs them.

    >>> with from_extra("plots", "a picture"):
    ...     import no_such_library
    Traceback (most recent call last):
    privacyfunnel.errors.MissingExtra: a picture needs no_such_library, which is not installed; \
    install it with: pip install 'privacyfunnel[plots]'.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"{what} needs {error.name}, which is not installed.", hint="install", extra=extra
        ) from error
