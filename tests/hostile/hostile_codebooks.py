"""Hostile codebooks: damaged, or changed at one place and signed again, from a fixed seed."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

from privacyfunnel.codebook.checks import checksum

ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2**63, 2**64, -(2**63), 10**30, 0.5, 1e308, -0.0, "", " ", "a",
    "\ud800", "\x00", "r1", "\x1b[31m", "a" * 100_000, [], {}, [[]], [None], {"a": 1}, [1, 2, 3],
    ["a", "a"], {"": None}, "2020-13-45", "99999-01-01", "integer", "text", "date", "datetime",
    "number", "boolean", "suppressed", "drop", "error", "*", "é", "e\u0301",
]  # fmt: skip

MOST = 2_000_000  # characters that one change may add


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to everything in a parsed document."""
    items = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def change(rng: random.Random, document: dict[str, Any], path: tuple[Any, ...]) -> None:
    """One change: a value replaced, left out, doubled, multiplied, or an unknown one added."""
    node: Any = document
    try:
        for key in path[:-1]:
            node = node[key]
        node[path[-1]]
    except (LookupError, TypeError):
        return  # an earlier change took it away
    how = rng.choice(["replace", "replace", "replace", "leave out", "twice", "many", "add"])
    if how == "leave out":
        del node[path[-1]]
    elif how == "twice" and isinstance(node, list):
        node.append(copy.deepcopy(node[path[-1]]))
    elif how == "many":
        times = min(2_000, MOST // len(json.dumps(node[path[-1]])))  # of copies, too, in their turn
        node[path[-1]] = [copy.deepcopy(node[path[-1]])] * max(2, times)
    elif how == "add" and isinstance(node, dict):
        node[rng.choice(["count", "salt", "bins", "round", "\ud800", ""])] = rng.choice(ODD)
    else:
        node[path[-1]] = rng.choice(ODD)


def hostile(rng: random.Random, text: str) -> bytes:
    """A damaged file, or one that was changed and signed again."""
    if rng.random() < 0.25:
        data = bytearray(text.encode())
        for _ in range(rng.choice([1, 3])):
            data[rng.randrange(len(data))] = rng.randrange(256)
        return bytes(data[: rng.randrange(len(data))] if rng.random() < 0.3 else data)
    document = json.loads(text)
    before = sorted(places(document), key=repr)  # not of what changes have multiplied
    for _ in range(rng.choice([1, 1, 2, 4])):
        change(rng, document, rng.choice(before))
    if rng.random() < 0.05:
        return b"[" * 200_000 + b"]" * 200_000
    document["checksum"] = checksum(document)
    return json.dumps(document).encode()
