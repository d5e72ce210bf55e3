"""Words: the library's sentences without the options of the command line, which the page has not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

ON_THE_PAGE = {
    r"--min-count (\d+)": r"at least \1 records per symbol (under Columns)",
    r" with min_count=(\d+)": r" with at least \1 records per symbol",
    r"utility >= ([\d.]+)": r"a utility of at least \1",
    r"leakage <= ([\d.]+)": r"a leakage of at most \1",
    r"--bins or --round": "bins or rounding",
    r" \(--missing drop\)": "",
    r"use --missing symbol or --missing drop": "choose another answer for missing values",
    r" \(--keep\)": "",
    r"; raise --memory": "; use a smaller table",
    r"; --holdout 0.3 shows how much": "",
}


def on_the_page(text: str) -> str:
    """A sentence in the words of the page.

    >>> on_the_page("A rare symbol can point at a person; --min-count 5 forbids it.")
    'A rare symbol can point at a person; at least 5 records per symbol (under Columns) forbids it.'
    """
    for option, words in ON_THE_PAGE.items():
        text = re.sub(option, words, text)
    return text
