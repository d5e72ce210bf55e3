"""Escape: any text without characters that could hide what it is."""

from __future__ import annotations

import re

# Control characters, and those that turn the direction of the text or have no width: a value that
# holds one could hide what it is.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
EMPTY = "(empty text)"  # what stands in its place, as nothing of it would be seen


def visible(text: str) -> str:
    """The text with unseen characters spelled out.

    >>> print(visible("two\\nlines"), visible("\\u202etxt"))
    two\\nlines \\u202etxt
    """
    return _UNSEEN.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)
