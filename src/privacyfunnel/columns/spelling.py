"""Spelling: names, orders, cuts and groups of columns as people type them, read and written.

A mark that stands within a name or a value is doubled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from typing import Any

from privacyfunnel.columns.kinds import show
from privacyfunnel.columns.missing import SHOWN
from privacyfunnel.errors import InvalidInput


def read_columns(text: str | Iterable[str]) -> list[str]:
    """Column names from a list with commas, or several; a doubled comma stands for one within a name.

    >>> read_columns("age, sex")
    ['age', 'sex']
    >>> read_columns("name,,first,sex")
    ['name,first', 'sex']
    """
    if not isinstance(text, str):
        return [name for part in text for name in read_columns(part)]
    parts = text.replace(",,", "\0").split(",")
    names = [part.replace("\0", ",").strip() for part in parts]
    if not all(names):
        raise InvalidInput(f"column names are missing in {text!r}.")
    return names


def read_by_column(option: str, words: Iterable[str], read: Callable[[str], Any]) -> dict[str, Any]:
    """What is said of single columns, each in a word COLUMN=VALUE; a = within a name is doubled.

    >>> read_by_column("importance", ["age=2", "a==b=0.5"], float)
    {'age': 2.0, 'a=b': 0.5}
    """
    found: dict[str, Any] = {}
    for word in words:
        parts = re.fullmatch("((?:[^=]|==)++)=(.+)", word, re.DOTALL)
        try:
            value = read(parts[2]) if parts else None
        except ValueError:
            value = None
        if parts is None or value is None:
            raise InvalidInput(f"{option} takes COLUMN=VALUE, got {word!r}.")
        name = parts[1].replace("==", "=")
        if name in found:
            raise InvalidInput(f"{option} names {name!r} twice; give it once.")
        found[name] = value
    return found


def read_order(text: str) -> list[str]:
    """The values of a column, first to last.

    >>> read_order("S<M<L")
    ['S', 'M', 'L']
    """
    return text.split("<")


def read_cuts(text: str) -> list[float | date | datetime]:
    """Numbers, dates or times.

    >>> read_cuts("18,65"), read_cuts("2024-10-01")
    ([18.0, 65.0], [datetime.date(2024, 10, 1)])
    """
    return [_cut(part) for part in text.split(",")]


def _cut(text: str) -> float | date | datetime:
    try:
        return float(text)
    except ValueError:
        stamp = text.strip()
        return datetime.fromisoformat(stamp) if len(stamp) > 10 else date.fromisoformat(stamp)


def read_groups(text: str) -> list[Any]:
    """The points between groups of numbers or dates, else lists of values.

    >>> read_groups("18,65"), read_groups("a,b|c,,d")
    ([18.0, 65.0], [['a', 'b'], ['c,d']])
    """
    try:
        return list(read_cuts(text))
    except ValueError:
        parts = text.replace("||", "\0").removesuffix("|").split("|")
        return [read_columns(part.replace("\0", "|")) for part in parts]


def spell_columns(names: Sequence[str]) -> str:
    """Column names as `read_columns` reads them.

    >>> spell_columns(["age", "height, cm"])
    'age,height,, cm'
    """
    text = ",".join(name.replace(",", ",,") for name in names)
    if read_columns(text) != list(names):
        raise InvalidInput("a column name begins or ends with a blank or a comma")
    return text


def spell_by_column(name: str, value: str) -> str:
    """A word that `read_by_column` reads.

    >>> spell_by_column("a=b", "0.5")
    'a==b=0.5'
    """
    if value.startswith("="):
        raise InvalidInput("a value begins with the mark =")
    return f"{name.replace('=', '==')}={value}"


def spell_order(values: Sequence[str]) -> str:
    """An order as `read_order` reads it.

    >>> spell_order(["S", "M", "L"])
    'S<M<L'
    """
    if any("<" in value for value in values):
        raise InvalidInput("a value holds the mark < of an order")
    return "<".join(values)


def spell_cuts(cuts: Sequence[Any]) -> str:
    """Cuts as `read_cuts` reads them.

    >>> spell_cuts([18.0, 65.5])
    '18,65.5'
    """
    return ",".join(map(show, cuts))


def spell_groups(lists: Sequence[Any]) -> str:
    """The points between groups, or their values with a bar between groups, as `read_groups` reads them.

    >>> spell_groups([["a", "b|c"], ["1"]]), spell_groups([["01", "02"]]), spell_groups([18, 65])
    ('a,b||c|1', '01,02|', '18,65')
    """
    if not all(isinstance(members, list | tuple) for members in lists):
        return spell_cuts(lists)
    texts = [[show(value) for value in members] for members in lists]
    text = "|".join(spell_columns(names).replace("|", "||") for names in texts)
    text = text if "|" in text else f"{text}|"  # or numbers would be taken for cuts
    names = [name for members in texts for name in members]
    if read_groups(text) != texts or len(set(names)) < len(names):
        raise InvalidInput(f"a value begins or ends with a blank or a mark, or is called {SHOWN}")
    return text
