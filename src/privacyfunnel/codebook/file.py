"""The codebook's file: JSON that people can read and that is verified before it is used.

A value of one public column stands for itself, of several it is the list of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from privacyfunnel.codebook.checks import (
    FORMAT,
    VERSION,
    check_file,
    checksum,
    no_constant,
    no_twins,
)
from privacyfunnel.codebook.codebook import Codebook, Row, Symbol, in_order
from privacyfunnel.codebook.schema import refusal
from privacyfunnel.codebook.tallies import Tally
from privacyfunnel.codebook.values import decode, encode
from privacyfunnel.codes import Group, RecodedColumn
from privacyfunnel.columns import Bins, Calendar, Column, Roles, Round, Rule
from privacyfunnel.errors import DataUnavailable, InvalidInput
from privacyfunnel.files import in_words

AS_THEY_ARE = ("tool", "is_public", "problem", "target", "measured", "n_records", "seed", "salt")


def write(book: Codebook) -> str:
    """The text of a codebook's file: one line per symbol."""
    document = _document(book)
    document["checksum"] = checksum(document)
    lines = [f" {_json(key)}: {_block(value)}" for key, value in document.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read(path: str | Path) -> Codebook:
    """The codebook of a file, verified."""
    try:
        if Path(path).exists() and not Path(path).is_file():  # a pipe would be waited for
            raise InvalidInput(f"{path}: not a codebook: not a file.")
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidInput(f"{path}: not a codebook: not a text file.") from None
    except OSError as error:
        raise DataUnavailable(f"cannot read {path}: {in_words(error)}.") from error
    try:
        document = json.loads(text, object_pairs_hook=no_twins, parse_constant=no_constant)
        return from_document(document)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None
    except (ValueError, RecursionError):
        raise InvalidInput(f"{path}: not a codebook: not valid JSON.") from None


def from_document(document: Any) -> Codebook:
    """The codebook that a parsed file holds; refuses what it cannot verify."""
    try:
        check_file(document)
        return _book(document)
    except InvalidInput:
        raise
    except KeyError as error:
        raise refusal(f"no field {error}") from None
    except (TypeError, AttributeError, IndexError, ValueError, OverflowError):
        raise refusal("a field has the wrong form") from None


def _document(book: Codebook) -> dict[str, Any]:
    symbols: list[dict[str, Any]] = []
    count_of = dict(zip(book.values, book.counts, strict=True)) if book.counts else {}
    for symbol, members in zip(book.symbols, book.members, strict=True):
        entry: dict[str, Any] = {"label": symbol.label, "probability": symbol.probability}
        if book.soft:
            entry["stands_for"] = list(symbol.stands_for or ())
        else:
            entry["count"] = symbol.count
        if symbol.cells is not None:
            entry["released"] = list(book.stands_for(symbol.label))
        if not book.soft and not (book.columns and book.is_public):
            entry["members"] = [_encode_tuple(m) for m in members]
            if count_of:
                entry["counts"] = [count_of[m] for m in members]
        symbols.append(entry)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "tool": book.tool,
        "is_public": book.is_public,
        "problem": book.problem,
        "target": dict(book.target),
        "measured": dict(book.measured),
        "n_records": book.n_records,
        "weight": book.roles.weight,
        "seed": book.seed,
        "salt": book.salt,
        "min_count": book.min_count,
        "missing": book.roles.missing,
        "sensitive": [_column(column) for column in book.roles.sensitive],
        "public": [_column(column) for column in book.roles.public],
        "code": "channel" if book.soft else "columns" if book.columns else "partition",
        "symbols": symbols,
    }
    if book.columns:
        document["recoding"] = book.recoding
        document["columns"] = [
            _recoded(column, means, book.tallies[i] if book.tallies else ())
            for i, (column, means) in enumerate(zip(book.columns, book.means, strict=True))
        ]
    if book.soft and not book.is_public:
        document["rows"] = [
            {
                "value": _encode_tuple(value),
                "released": {book.labels[j]: p for j, p in row},
                **({"count": count_of[value]} if count_of else {}),
            }
            for value, row in zip(book.values, book.rows, strict=True)
        ]
    return document


def _recoded(
    column: RecodedColumn, means: Sequence[float | None], tallies: Sequence[Tally]
) -> dict[str, Any]:
    groups = []
    for g, (group, mean) in enumerate(zip(column.groups, means, strict=True)):
        entry: dict[str, Any] = {"label": group.label}
        if group.members:
            entry["members"] = [encode(value) for value in group.members]
        for name, bound in (("low", group.low), ("high", group.high), ("mean", mean)):
            if bound is not None:
                entry[name] = encode(bound)
        if tallies:
            entry["count"] = tallies[g].count
            if tallies[g].values:
                entry["counts"] = [[encode(value), n] for value, n in tallies[g].values]
        groups.append(entry)
    return {"name": column.name, "groups": groups}


def _read_recoded(entry: Mapping[str, Any]) -> RecodedColumn:
    return RecodedColumn(
        entry["name"],
        tuple(
            Group(
                group["label"],
                tuple(decode(value) for value in group.get("members", ())),
                decode(group.get("low")),
                decode(group.get("high")),
            )
            for group in entry["groups"]
        ),
    )


def _read_tallies(entry: Mapping[str, Any]) -> tuple[Tally, ...]:
    return tuple(
        Tally(group["count"], tuple((decode(v), n) for v, n in group.get("counts", ())))
        for group in entry["groups"]
        if "count" in group
    )


def _book(document: Mapping[str, Any]) -> Codebook:
    soft = document["code"] == "channel"
    readable = document["code"] == "columns"
    recoded = document.get("columns", ())
    columns, tallies = tuple(map(_read_recoded, recoded)), tuple(map(_read_tallies, recoded))
    place_of = [{group.label: g for g, group in enumerate(column.groups)} for column in columns]
    roles = Roles(
        tuple(map(_read_column, document["sensitive"])),
        tuple(map(_read_column, document["public"])),
        document["missing"],
        document["weight"],
    )
    symbols = tuple(
        Symbol(
            s["label"],
            float(s["probability"]),
            None if soft else s["count"],
            tuple(s["stands_for"]) if soft else None,
            tuple(of[k] for of, k in zip(place_of, s["released"], strict=True))
            if readable
            else None,
        )
        for s in document["symbols"]
    )
    place = {symbol.label: j for j, symbol in enumerate(symbols)}
    rows: list[Row]
    if soft:
        given = document.get("rows", [])
        values = [_decode_tuple(row["value"]) for row in given]
        rows = [
            tuple((place[label], float(p)) for label, p in row["released"].items()) for row in given
        ]
        counts = [row["count"] for row in given if "count" in row]
    else:
        pairs = [
            (_decode_tuple(m), j)
            for j, s in enumerate(document["symbols"])
            for m in (s.get("members", ()) if readable else s["members"])
        ]
        values, rows = [v for v, _ in pairs], [((j, 1.0),) for _, j in pairs]
        counts = [n for s in document["symbols"] for n in s.get("counts", ())]
    return Codebook(
        roles=roles,
        symbols=symbols,
        **in_order(roles.public, values, rows, counts),
        soft=soft,
        **{name: document[name] for name in AS_THEY_ARE},
        min_count=document.get("min_count", 1),
        recoding=document.get("recoding", "symbols"),
        columns=columns,
        means=tuple(tuple(group.get("mean") for group in entry["groups"]) for entry in recoded),
        tallies=tallies if all(tallies) else (),
    )


def _column(column: Column) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": column.name, "kind": column.kind}
    if isinstance(column.rule, Bins):
        entry["bins"] = [encode(edge) for edge in column.rule.edges]
    elif isinstance(column.rule, Round):
        entry["round"] = column.rule.step
    elif isinstance(column.rule, Calendar):
        entry["round"] = column.rule.unit
    return entry


def _read_column(entry: Mapping[str, Any]) -> Column:
    rule: Rule | None = None
    if "bins" in entry:
        rule = Bins(tuple(decode(edge) for edge in entry["bins"]))
    elif isinstance(entry.get("round"), str):
        rule = Calendar(entry["round"], entry["kind"] == "datetime")
    elif "round" in entry:
        rule = Round(float(entry["round"]))
    return Column(entry["name"], entry["kind"], rule)


def _encode_tuple(value: tuple[Any, ...]) -> Any:
    return encode(value[0]) if len(value) == 1 else [encode(part) for part in value]


def _decode_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(map(decode, value)) if isinstance(value, list) else (decode(value),)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _block(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return _json(value)
    return "[\n  " + ",\n  ".join(map(_json, value)) + "\n ]"
