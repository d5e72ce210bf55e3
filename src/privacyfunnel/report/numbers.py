"""Numbers as people read them."""

from __future__ import annotations

from collections.abc import Sequence


def percent(share: float) -> str:
    """A share in percent, with as many digits as it needs.

    >>> [percent(p) for p in (0, 0.00001, 0.0042, 0.0618, 0.4, 0.99999, 1)]
    ['0%', 'less than 0.01%', '0.42%', '6.2%', '40%', 'more than 99.9%', '100%']
    """
    if share <= 1e-12:
        return "0%"
    if share >= 1 - 1e-12:
        return "100%"
    if share < 0.0001:
        return "less than 0.01%"
    if share > 0.999:
        return "more than 99.9%"
    digits = 2 if share < 0.01 else 1
    return f"{100 * share:.{digits}f}".rstrip("0").rstrip(".") + "%"


def bits(amount: float) -> str:
    """An amount of information.

    >>> bits(0.0), bits(0.0001), bits(4.80999)
    ('0 bits', 'less than 0.01 bits', '4.81 bits')
    """
    if amount <= 1e-9:
        return "0 bits"
    return "less than 0.01 bits" if amount < 0.01 else f"{amount:.2f} bits"


def one_in(probability: float) -> str:
    """A probability as a person would say it.

    >>> one_in(0.0), one_in(0.032), one_in(0.39), one_in(1.0)
    ('0%', '3.2%, about 1 in 31', '39%', '100%')
    """
    words = percent(probability)
    is_small = 0.0 < probability <= 0.2  # 39% is neither 1 in 2 nor 1 in 3
    return f"{words}, about 1 in {1 / probability:.0f}" if is_small else words


def number(value: float) -> str:
    """A count with its thousands apart.

    >>> number(1234567), number(2.5)
    ('1,234,567', '2.5')
    """
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4g}"


def several(n: float, noun: str) -> str:
    """A count and its noun.

    >>> several(1, "record"), several(2000, "record")
    ('1 record', '2,000 records')
    """
    return f"{number(n)} {noun}" if n == 1 else f"{number(n)} {noun}s"


def left_out(n: int) -> str:
    """What it has cost that records with a missing value do not count.

    >>> left_out(1), left_out(2)
    ('1 record with a missing value was left out.', '2 records with a missing value were left out.')
    """
    return f"{several(n, 'record')} with a missing value {'was' if n == 1 else 'were'} left out."


def listed(names: Sequence[str]) -> str:
    """Names in a row of words.

    >>> listed(["age"]), listed(["age", "sex", "chol"])
    ('age', 'age, sex and chol')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
