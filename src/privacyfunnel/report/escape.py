"""Escape: any text as harmless, visible HTML."""

from __future__ import annotations

import html
import re

# Control characters, and those that turn the direction of the text or have no width: a value that
# holds one could hide what it is.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def visible(text: str) -> str:
    """The text with unseen characters spelled out.

    >>> print(visible("two\\nlines"), visible("\\u202etxt"))
    two\\nlines \\u202etxt
    """
    return _UNSEEN.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def safe(text: object, most: int | None = None) -> str:
    """Any text for HTML, in an element or in a quoted attribute; cut after ``most`` characters.

    >>> safe("<b title='x'>")
    '&lt;b title=&#x27;x&#x27;&gt;'
    >>> safe("a long story", most=6)
    'a lon…'
    """
    words = str(text)
    if most is not None and len(words) > most:
        words = words[: most - 1] + "…"
    return html.escape(visible(words), quote=True)
