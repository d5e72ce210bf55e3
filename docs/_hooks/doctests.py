"""Docstrings for the web: doctest examples become code blocks, Sphinx roles become plain code.

The fields of a request are shown with the meaning that each was given.
"""

from __future__ import annotations

import ast
import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:meth|class|func|mod|attr):`~?([^`]+)`")


class Doctests(griffe.Extension):
    """Rewrite every docstring before it is rendered."""

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Called by griffe for each attribute that it reads, before signatures are made of them."""
        call = attr.value
        if isinstance(call, griffe.ExprCall) and str(call.function) == "_asked":
            default, meaning = call.arguments[:2]
            attr.value = default
            attr.docstring = griffe.Docstring(ast.literal_eval(str(meaning)))

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called by griffe for each module, class, function and attribute that it has loaded."""
        if obj.docstring:
            obj.docstring.value = for_the_web(obj.docstring.value)


def for_the_web(text: str) -> str:
    r"""Markdown of a docstring; text without examples stays as it is.

    >>> for_the_web("Adds.\n\n>>> 1 + 1\n2\n\nThe end.")
    'Adds.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nThe end.'
    """
    lines: list[str] = []
    is_example = False
    for line in ROLE.sub(r"`\1`", text).splitlines():
        if not is_example and line.startswith(">>> "):
            is_example = True
            lines += [] if not lines or not lines[-1] else [""]
            lines.append("```pycon")
        elif is_example and not line.strip():
            is_example = False
            lines.append("```")
        lines.append(line)
    if is_example:
        lines.append("```")
    return "\n".join(lines)
