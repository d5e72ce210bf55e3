"""Schema: a JSON schema as a check in plain words; it knows no field of any file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from privacyfunnel.errors import InvalidInput

Check = Callable[[Any, str], None]  # of a value, and of what it is called

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def refusal(complaint: str) -> InvalidInput:
    """What a codebook is refused with."""
    return InvalidInput(f"not a valid codebook: {complaint}.")


def need(holds: bool, complaint: str) -> None:
    """Refuse a codebook for which something does not hold."""
    if not holds:
        raise refusal(complaint)


def compiled(schema: Mapping[str, Any]) -> Check:
    """The check of a whole document.

    >>> compiled({"required": ["version"], "properties": {}, "$defs": {}})({}, "the document")
    Traceback (most recent call last):
    ...
    privacyfunnel.errors.InvalidInput: not a valid codebook: the field 'version' is missing.
    """
    return _check_of(schema, schema["$defs"])


def _check_of(rule: Mapping[str, Any], named: Mapping[str, Any]) -> Check:
    """The check of one rule of a schema, built once because it may meet many values."""
    if "$ref" in rule:
        return _check_of(named[rule["$ref"].removeprefix("#/$defs/")], named)
    if "anyOf" in rule:
        return _any_of([_check_of(option, named) for option in rule["anyOf"]])
    given = rule.get("type", [])
    types = tuple(t for name in ([given] if isinstance(given, str) else given) for t in TYPES[name])
    allowed = rule.get("enum", [rule["const"]] if "const" in rule else None)
    pattern = re.compile(rule["pattern"]) if "pattern" in rule else None
    least = rule.get("minLength", rule.get("minItems", rule.get("minProperties", 0)))
    most = rule.get("maxProperties")
    inner = _inner(rule, named)

    def check(value: Any, name: str) -> None:
        fits = (
            (not types or type(value) in types)
            and (allowed is None or any(value == a and type(value) is type(a) for a in allowed))
            and (pattern is None or pattern.search(value) is not None)
            and (not least or len(value) >= least)
            and (most is None or len(value) <= most)
        )
        if not fits or (type(value) in (int, float) and value > rule.get("maximum", value)):
            raise _wrong(value, name)
        if inner is not None:
            inner(value, name)

    return check


def _wrong(value: Any, name: str) -> InvalidInput:
    return refusal(f"{name} has the wrong form, got {repr(value)[:40]}")


def _any_of(options: list[Check]) -> Check:
    def check(value: Any, name: str) -> None:
        for option in options:
            with suppress(InvalidInput):
                option(value, name)
                return
        raise _wrong(value, name)

    return check


def _inner(rule: Mapping[str, Any], named: Mapping[str, Any]) -> Check | None:
    """The check of the parts of an object or of an array."""
    if "items" in rule:
        item = _check_of(rule["items"], named)

        def check_items(value: Any, name: str) -> None:
            for part in value:
                item(part, f"a part of {name}")

        return check_items
    if "properties" not in rule and "additionalProperties" not in rule:
        return None
    own = {name: _check_of(part, named) for name, part in rule.get("properties", {}).items()}
    others = rule.get("additionalProperties", True)
    other = _check_of(others, named) if isinstance(others, Mapping) else None

    def check_fields(value: Any, name: str) -> None:
        for field in rule.get("required", ()):
            need(field in value, f"the field {field!r} is missing")
        for field, part in value.items():
            if field in own:
                own[field](part, f"the field {field!r}")
            elif other is not None:
                other(part, f"the field {field!r}")
            else:
                need(bool(others), f"the field {field!r} is unknown")

    return check_fields
