"""Hints: what to do about an error or a caution, in the words of the pages."""

from __future__ import annotations

from privacyfunnel.errors import FunnelError, Hints

HINTS: Hints = {
    "replace": "choose another place",
    "target": "choose a release first",
    "key": "name it under Columns",
    "unseen": "make a new codebook",
    "readable": "a readable recoding keeps columns that people can read",
    "shuffle": "the command that the studio shows can write them in a random order",
    "missing": "choose another answer for missing values",
    "input-format": "rename it",
    "memory": "use a smaller table",
    "fewer-folds": "use a table with more records",
    "by-hand": "download {url} by hand and choose that file",
    "min-count": "at least {least} records per symbol (under Columns) forbid it",
    "balance": "fewer columns, or less to keep, can be had",
    "order": "an order or a hierarchy of the column puts like with like",
    "holdout": "a check on records held out (on the command line) shows how much",
    "global": "choose the same groups for all records",
    "install": "install it with: pip install 'privacyfunnel[{extra}]'",
    "least-count": "ask for less, or for fewer of them under Columns",
    "new-people": "the command line can choose it on some of them",
    "choose-on": "the command line can choose the code on records drawn in secret",
    "apply": "the command line can release later tables by this codebook",
}


def in_words(error: FunnelError) -> str:
    """An error as a sentence for the page; a name at its beginning stays as it is.

    >>> in_words(FunnelError("no such file: a.csv.")), in_words(FunnelError("a.csv is empty."))
    ('No such file: a.csv.', 'a.csv is empty.')
    """
    text = " ".join(error.in_words(HINTS).split())
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.isalpha() else text
