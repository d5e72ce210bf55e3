"""Verification: every figure that a release's folder tells, measured again from its files and the table.

First the files, byte by byte; then what the released rows and the codebook say by themselves; then, where
the table is given, all that depends on it. Only what a search has found on its way, the frontier and
a check on records held out, is not searched again.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from privacyfunnel.audits import Trials, audit_joint
from privacyfunnel.codebook.codebook import COARSE, Codebook
from privacyfunnel.codebook.output import ANY
from privacyfunnel.codebook.recoded import holds
from privacyfunnel.codes import ColumnCode, Group, RecodedColumn
from privacyfunnel.columns import Roles
from privacyfunnel.columns.missing import WRITTEN
from privacyfunnel.errors import DataUnavailable, FunnelError, InvalidInput
from privacyfunnel.information import entropy, share
from privacyfunnel.joint import Joint
from privacyfunnel.metrics.random_grouping import KeptByChance, kept_by_chance
from privacyfunnel.metrics.stakes import stakes
from privacyfunnel.objectives import utility
from privacyfunnel.recodings.kept import kept
from privacyfunnel.releases.checksums import fingerprint, read_checksums
from privacyfunnel.releases.document import columns_kept, guesses, measured_of, symbols_of
from privacyfunnel.releases.files import CHECKSUMS, CODEBOOK, DOCUMENT, TABLES
from privacyfunnel.releases.recoded import recoded_columns
from privacyfunnel.releases.written_file import AGREE, Measured, measure, with_kept
from privacyfunnel.report.numbers import number, several
from privacyfunnel.tables import Table, count_roles, open_table
from privacyfunnel.tables.join import match_roles
from privacyfunnel.tables.paths import read_paths

SEARCHED = ("frontier", "held_out")  # told by the search alone
OF_OTHERS = ("population_leakage", "population_bits")  # measured on records that are not told


@dataclass(frozen=True)
class Finding:
    """What is not as it was told: in which file, which figure, what is told and what was found."""

    file: str
    what: str
    told: Any = None
    found: Any = None

    def __str__(self) -> str:
        if self.told is None and self.found is None:
            return f"{self.file}: {self.what}"
        return f"{self.file}: {self.what} is told as {self.told!r}, but measured as {self.found!r}"


@dataclass
class Verification:
    """What was compared, and what was found wrong."""

    n_files: int = 0
    n_figures: int = 0
    is_coarse: bool = False  # whether shares may be told in whole percents
    findings: list[Finding] = field(default_factory=list)
    not_measured: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether all is as it was told."""
        return not self.findings

    def compare(self, file: str, told: Any, found: Any, what: str = "") -> None:
        """Compare what a document tells with what was found; what was not measured is passed over."""
        if isinstance(found, Mapping):
            for key, value in found.items():
                if isinstance(told, Mapping) and key in told:
                    self.compare(file, told[key], value, f"{what}.{key}" if what else str(key))
            return
        if isinstance(found, list | tuple):
            if not isinstance(told, list | tuple) or len(told) != len(found):
                got = len(told) if isinstance(told, list | tuple) else told
                self.findings.append(Finding(file, f"the number of {what}", got, len(found)))
                return
            for i, (a, b) in enumerate(zip(told, found, strict=True)):
                self.compare(file, a, b, f"{what}[{i}]")
            return
        self.n_figures += 1
        if not _alike(told, found, self.is_coarse):
            self.findings.append(Finding(file, what, told, found))


def _alike(told: Any, found: Any, is_coarse: bool) -> bool:
    if {type(told), type(found)} not in ({float}, {float, int}):  # counts are exact
        return bool(told == found)
    return math.isclose(told, found, rel_tol=1e-9, abs_tol=1e-9) or (
        is_coarse and told == round(found, COARSE)
    )


def verify(folder: str | Path, table: Any = None, *, memory: str | None = None) -> Verification:
    """Compare the files of a release with their fingerprints and measure its figures again.

    ``table`` is the table that the release was made from; without it, what depends on it is not measured.

    >>> import tempfile, pandas as pd, privacyfunnel as pf
    >>> table = pd.DataFrame({"ill": [0, 1, 0, 1] * 9, "ward": ["a", "b", "c", "a"] * 9})
    >>> out = Path(tempfile.mkdtemp()) / "out"
    >>> _ = pf.release(table, "ill", "ward", kept=0.5, out=out, effort="fast", points=2)
    >>> verify(out, table).is_good
    True
    >>> _ = (out / "README.html").write_text("Hello")
    >>> [str(finding) for finding in verify(out).findings]
    ['README.html: it is not as it was written']
    """
    place = Path(folder)
    if not place.is_dir():
        raise InvalidInput(f"{place} is no folder; name the folder of a release.")
    if not (place / CHECKSUMS).is_file():
        raise InvalidInput(f"{place} has no {CHECKSUMS}, so it is not the folder of a release.")
    done = Verification()
    done.findings += _damaged(place, done)
    damaged = {finding.file for finding in done.findings}
    names = [name for name in TABLES if (place / name).exists()]
    if not names or damaged & {CODEBOOK, DOCUMENT, *names}:
        done.not_measured.append(
            "all figures, because files that they are measured from are damaged"
        )
        return done
    try:
        document = json.loads((place / DOCUMENT).read_text(encoding="utf-8"))
        book = Codebook.load(place / CODEBOOK)
    except (FunnelError, ValueError, OSError) as error:
        done.findings.append(Finding(CODEBOOK, f"it cannot be read ({error})"))
        return done
    if document["release"]["file"] not in names:
        done.findings.append(
            Finding(DOCUMENT, "release.file", document["release"]["file"], names[0])
        )
        return done
    done.is_coarse = bool(document["is_public"] and (book.soft or book.roles.is_shared))
    n_released = _from_rows(done, place / document["release"]["file"], document, book)
    _from_codebook(done, document, book)
    done.not_measured += [name for name in SEARCHED if document.get(name)]
    if table is None:
        done.not_measured.append("what depends on the table, which was not given")
    else:
        _from_table(done, open_table(table, memory=memory), place, document, book, n_released)
    return done


def _damaged(folder: Path, done: Verification) -> Iterator[Finding]:
    """Files that are not as they were written, are gone, or that nobody vouches for."""
    told = read_checksums(folder / CHECKSUMS)
    if told is None:
        yield Finding(CHECKSUMS, "it is not as it was written")
        return
    for name, wanted in told.items():
        done.n_files += 1
        path = folder / name
        if Path(name).name != name or not path.exists():
            yield Finding(name, "it is not there")
        else:
            try:
                found = fingerprint(path)
            except OSError as error:
                raise DataUnavailable(f"cannot read {path}: {error.strerror}.") from error
            if found != wanted:
                yield Finding(name, "it is not as it was written")
    for name in TABLES:
        if (folder / name).exists() and name not in told:
            yield Finding(name, "it is no file of this release")


def _from_rows(done: Verification, path: Path, document: Mapping[str, Any], book: Codebook) -> int:
    """What the released rows say by themselves; how many they are."""
    from privacyfunnel.tables.connection import connect

    numbers = document["release"].get("numbers", "label")
    with connect() as con:
        columns = list(read_paths(con, path, {}, missing=[WRITTEN]).names)
        # Labels are text, whatever they look like.
        texts = dict.fromkeys(columns, "text")
        reading = read_paths(con, path, texts, missing=[WRITTEN])
        wanted = [columns[0]]
        if book.columns:
            wanted = [] if numbers == "mean" else [column.name for column in book.columns]
        places = [columns.index(name) for name in wanted if name in columns]
        safe = ", ".join(f"f{i}" for i in range(len(columns)))
        keys = ", ".join(f"CAST(f{i} AS VARCHAR)" for i in places) or "1"
        rows = con.execute(
            f"SELECT {keys}, count(*) FROM {reading.sql} AS s({safe}) GROUP BY ALL"
        ).fetchall()
    n = int(sum(row[-1] for row in rows))
    found: dict[str, Any] = {"records": {"released": n}, "release": {"columns": columns}}
    counted = {tuple(WRITTEN if v is None else v for v in row[:-1]): row[-1] for row in rows}
    if places and not book.soft and book.roles.weight is None:
        counts = np.array(list(counted.values()), dtype=float)
        found["release"]["symbols"] = len(counted)
        found["measured"] = {"utility_bits": float(entropy(counts / n))}
        known: dict[str, float] = {}
        by_record = not document["is_public"] and document["records"].get("persons") is None
        if by_record and not document["asked"]["keep"]:  # which tells rows apart, too
            known = {"k": int(counts.min()), "unique": float((counts == 1).sum() / n)}
        found["audit"] = {
            "measures": [
                {"value": known[row["key"]]} if row["key"] in known else {}
                for row in document["audit"]["measures"]
            ]
        }
        for j, symbol in enumerate(book.symbols):
            shown = book.stands_for(symbol.label) if book.columns else (symbol.label,)
            done.compare(CODEBOOK, symbol.count, counted.get(shown, 0), f"symbols[{j}].count")
        found["recoding"] = _groups(document, wanted, counted, n)
    done.compare(DOCUMENT, document, found)
    return n


def _groups(
    document: Mapping[str, Any],
    names: Sequence[str],
    counted: Mapping[tuple[str, ...], int],
    n: int,
) -> dict[str, Any] | None:
    """The groups of each column of a readable release, as the rows have them."""
    if not document.get("recoding"):
        return None
    columns = []
    for told in document["recoding"]["columns"]:
        i, sums = names.index(told["name"]), Counter[str]()
        for labels, times in counted.items():
            sums[labels[i]] += times
        records = [sums[group["label"]] for group in told["groups"]]
        columns.append({"groups": [{"share": r / n, "records": r} for r in records]})
    return {"columns": columns}


def _from_codebook(done: Verification, document: Mapping[str, Any], book: Codebook) -> None:
    """What the codebook's counts say: how much is kept of the whole and of each column."""
    if not book.counts or None in book.counts or not book.values:
        return
    joint = Joint.from_counts(
        np.array([book.counts], dtype=float),
        labels_x=book.labels_x,
        columns=[column.name for column in book.roles.public],
    )
    found = _kept(joint, book, document)
    if not book.soft:
        found["symbols"] = symbols_of(book)
    done.compare(DOCUMENT, document, found)


def _kept(
    joint: Joint, book: Codebook, document: Mapping[str, Any], by_chance: KeptByChance | None = None
) -> dict[str, Any]:
    """How much is kept of the whole and of each column."""
    bits, whole = utility(joint, book.over(joint)), joint.entropy_x
    return {
        "measured": {"utility_bits": bits, "entropy_x_bits": whole, "utility": share(bits, whole)},
        "columns": _by_name(columns_kept(joint, book, by_chance), document["columns"]),
    }


def _by_name(found: Sequence[dict[str, Any]], told: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Those that are told, in that order."""
    by_name = {entry["name"]: entry for entry in found}
    return [by_name.get(entry["name"], {}) for entry in told]


def _from_table(
    done: Verification,
    table: Table,
    folder: Path,
    document: Mapping[str, Any],
    book: Codebook,
    n_released: int,
) -> None:
    """What the table says: S and X of its rows, coded by the codebook; ``n_released`` are in the file."""
    roles, about_s = book.roles, not document["is_public"]
    if not about_s:  # a public codebook does not say how sensitive columns were coarsened
        roles = replace(roles, sensitive=roles.public[:1])
    opened, roles = match_roles(table, roles)
    counts = count_roles(opened, roles)
    joint = counts.joint()
    can_code = not (book.soft and book.is_public)
    if can_code and book.uncovered(joint).any():
        done.findings.append(Finding(CODEBOOK, "it does not know all values of the table"))
        return
    found: dict[str, Any] = {"records": {"in_table": counts.n_rows, "left_out": counts.n_dropped}}
    made = counts.n_rows - counts.n_dropped
    if n_released != made:
        what = f"it has {several(n_released, 'row')}, of a table that makes {number(made)}"
        done.findings.append(Finding(document["release"]["file"], what))
        done.compare(DOCUMENT, document, found)
        return
    if about_s:
        chance = kept_by_chance(joint, book.over(joint), seed=document["asked"]["seed"])
        found |= _kept(joint, book, document, chance)
        found |= _about_s(done, opened, roles, folder, document, book, joint)
        found["measured"]["utility_by_chance"] = chance.whole
    elif can_code:
        found |= _kept(joint, book, document)
    if book.columns and document.get("recoding"):
        found["recoding"] = _recoded(joint, document["recoding"], book)
    done.compare(DOCUMENT, document, found)


def _recoded(joint: Joint, told: Mapping[str, Any], book: Codebook) -> dict[str, Any]:
    """The part of the document that is about the columns of a readable release."""
    columns = []
    for column, recoded in zip(joint.public, book.columns, strict=True):
        groups = [
            replace(g, members=tuple(v for v in column.values if holds(g, v)))
            for g in recoded.groups
        ]
        if all(group.label != ANY for group in groups):
            groups.append(Group(ANY, tuple(column.values)))
        columns.append(RecodedColumn(recoded.name, tuple(groups)))
    code = ColumnCode(columns, book.cells_of(joint))
    found = recoded_columns(joint, code, is_local=told["kind"] == "local")
    return {
        "kept": kept(joint, code, told["importance"] or None),
        "suppressed": float(joint.p_x[code.suppressed].sum()),
        "columns": _by_name(found, told["columns"]),
    }


def _about_s(
    done: Verification,
    table: Table,
    roles: Roles,
    folder: Path,
    document: Mapping[str, Any],
    book: Codebook,
    joint: Joint,
) -> dict[str, Any]:
    """What the released rows, with the columns kept beside them, tell about S."""
    code = book.over(joint)
    rule = code.push(joint)
    alone, beside = rule.information, document["release"]["kept_measured"]
    keep = document["asked"]["keep"]
    own = len(document["release"]["columns"]) - len(keep) if book.columns else None
    written = measure(table, roles, folder / document["release"]["file"], own, beside)
    is_ordered = not book.soft and abs(written.unkept.information - alone) <= AGREE
    at_stake = stakes(joint, seed=document["asked"]["seed"])
    found: dict[str, Any] = {"measured": {"leakage_without_kept": share(alone, joint.entropy_s)}}
    if document["records"].get("persons") is None:
        found["stakes"] = at_stake.to_json()
    if not is_ordered:
        done.not_measured.append(
            "the audit: the rows are drawn by lot, or not in the table's order"
        )
        if beside:
            return found
    if written.beside is not None:
        rule = with_kept(written.beside, joint, code).push(written.beside)
    found["measured"] |= measured_of(joint, utility(joint, code), rule.information)
    found["guessing"] = guesses(at_stake, rule)
    if is_ordered:
        found["audit"] = _audited(done, written, roles, document, joint)
    return found


def _audited(
    done: Verification,
    written: Measured,
    roles: Roles,
    document: Mapping[str, Any],
    joint: Joint,
) -> dict[str, Any]:
    """The audit's measures of the rows as they were written, beside the table's."""
    if document["records"].get("persons") is not None:
        done.not_measured.append("the audit: it is of persons")
        return {}
    settings = dict(document["audit"]["settings"])
    if settings["attackers"]:
        done.not_measured.append("attackers")
    found = audit_joint(
        (written.joint, written.public),
        roles.sensitive,
        original=(joint, roles.public),
        trials=Trials(**{**settings, "attackers": False}),
    ).as_dict()
    rows = {row["key"]: row for row in found["measures"] if row["key"] not in OF_OTHERS}
    return {
        "measures": [rows.get(row["key"], {}) for row in document["audit"]["measures"]],
        "columns": found["columns"],
    }
