"""Release: the curator's whole job, from a table to the files that can be published."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from privacyfunnel.audits import Audit, Limits, broken
from privacyfunnel.codebook import Codebook
from privacyfunnel.codebook.output import check_means
from privacyfunnel.columns import ColumnRules
from privacyfunnel.errors import HINTS, Hints, InvalidInput, LimitBroken
from privacyfunnel.folders import together
from privacyfunnel.frontiers.frontier import Frontier
from privacyfunnel.metrics.stakes import stakes
from privacyfunnel.parallel import Progress
from privacyfunnel.recodings.fixed import check_named
from privacyfunnel.releases import files
from privacyfunnel.releases.audit import audit_release, on_unseen, records_aside
from privacyfunnel.releases.checksums import checksums
from privacyfunnel.releases.description import croissant, data_package
from privacyfunnel.releases.document import describe, without_sensitive
from privacyfunnel.releases.request import TARGETS, ReleaseRequest
from privacyfunnel.releases.search import bins_in_order, frontier_in_bits, rule_of, search
from privacyfunnel.releases.written_file import check_same, measure
from privacyfunnel.report.page import page, receiver_page
from privacyfunnel.solvers.base import in_bits
from privacyfunnel.tables import Counts, Table, count, identifiers, open_table, write_release
from privacyfunnel.tables.join import output_columns
from privacyfunnel.tables.write import shuffle_rows

Stages = Callable[[str], Progress | None]  # a progress bar for each stage of the work


@dataclass(frozen=True)
class Release:
    """What was released: the folder, the codebook and every figure, those about S included."""

    folder: Path
    codebook: Codebook
    document: dict[str, Any]

    @property
    def utility(self) -> float:
        """I(X;X̂)/H(X): the share of the public columns' information that was kept."""
        return float(self.document["measured"]["utility"])

    @property
    def leakage(self) -> float:
        """I(S;X̂)/H(S): the share of the sensitive information that is given away."""
        return float(self.document["measured"]["leakage"])


def release(
    table: Any,
    sensitive: str | Sequence[str],
    public: str | Sequence[str],
    *,
    out: str | Path,
    kept: float | None = None,
    leakage: float | None = None,
    utility: float | None = None,
    lam: float | None = None,
    useful: str | Sequence[str] = (),
    columns: ColumnRules | None = None,
    weight: str | None = None,
    person: str | None = None,
    memory: str | None = None,
    frontier: Frontier | None = None,
    n_jobs: int = 1,
    force: bool = False,
    stages: Stages = lambda _: None,
    hints: Hints = HINTS,
    **options: Any,
) -> Release:
    """Publish columns of a table coarsened so that they give away little about the sensitive ones.

    One target says what is wanted: the least leakage I(S;X̂)/H(S) that keeps the share ``kept`` of the
    columns (see `recodings.kept`), or the most kept with at most this ``leakage``; with
    ``recoding="symbols"`` the least leakage with I(X;X̂)/H(X) ≥ ``utility``, or the least
    I(S;X̂) − ``lam`` I(X;X̂). No target is needed where ``groups`` (lists of values, or the points
    between groups of numbers) or ``cuts`` say what becomes of every column.

    ``useful`` names columns that the release is for, which need not be published: what the release says
    about them is kept, alone or, with ``purpose="both"``, beside X itself; ``caps`` bounds single
    sensitive columns, {"sex": 0.01, "race": "guessing:0.02"}: every cap is met and the most is kept.
    These go with ``recoding="symbols"``. ``measure`` is how what is given away is measured.

    ``out`` becomes a folder with the released table, its codebook and its report, all or none; the
    written file is read again and must hold what was promised. ``table`` is a path or any frame that
    narwhals knows, ``columns`` how its columns are coarsened before, ``weight`` the column that weighs
    the records, ``person`` one that says whose row it is, ``memory`` a bound such as "2GB". A
    ``frontier`` of the same table that is there already is used instead of searching again. ``stages``
    is asked by name for one callback (done, total) for each stage of the work, ``hints`` word the
    report's cures for a front end (Python's, unless it has a table of its own). The other ``options`` are
    the fields of ``releases.request.ReleaseRequest``, which says what each means.

    >>> import tempfile, pandas as pd, privacyfunnel as pf
    >>> table = pd.DataFrame({"ill": [0, 1, 0, 1] * 9, "ward": ["a", "b", "c", "a"] * 9})
    >>> out = Path(tempfile.mkdtemp()) / "out"
    >>> done = pf.release(table, "ill", "ward", utility=0.5, out=out, effort="fast", points=2)
    >>> sorted(path.name for path in done.folder.iterdir())
    ['README.html', 'checksums.json', 'codebook.json', 'croissant.json', 'datapackage.json',
     'release.parquet', 'report.html', 'report.json']
    >>> done.utility >= 0.5, done.codebook.labels
    (True, ['r1', 'r2'])
    """
    given = locals()  # the targets among them, under their names
    named = {"source": str(table) if isinstance(table, str | Path) else type(table).__name__}
    target = {name: given[name] for name in TARGETS if given[name] is not None}
    if useful:
        named["purpose"] = "useful"
    request = ReleaseRequest(target, **(named | options))
    if (request.purpose == "x") != (not useful):
        raise InvalidInput("a use needs its useful columns, and they a purpose that is not x.")
    folder = Path(out)
    opened = open_table(table, memory=memory)
    _check_not_the_table(opened, [folder / name for name in request.files])
    with together(folder, request.files, force, instead_of=files.ANY_FILES) as work:
        counts = count(
            opened, sensitive, public, useful=useful, columns=columns, weight=weight, person=person
        )
        _check_kept(counts, request.keep)
        output: dict[str, Any] = {
            "expand": request.expand,
            "keep": list(request.keep),
            "key": request.key,
        }
        readable = request.kind != "symbols"
        numbers = request.numbers if readable else None
        # Wrong columns are told before the search, which may take long.
        names = output_columns(opened, counts.roles, **output, numbers=numbers)
        joint, persons = counts.joint(), counts.persons
        check_named(request.groups, {column.name: column.values for column in joint.public})
        aside = records_aside(joint, persons, request)
        request = bins_in_order(request, counts.roles.public)
        found = search(
            joint,
            request,
            frontier=frontier,
            rule=rule_of(counts, joint, request),
            persons=persons,
            jobs=n_jobs,
            progress=stages("Searching releases"),
        )
        book = Codebook.from_solution(
            joint,
            in_bits(joint, found.solution),
            counts.roles,
            target=request.target,
            seed=request.seed,
            secret=request.secret,
            min_count=max(1, request.min_count),
        )
        if request.numbers == "mean":
            check_means(book)
        place = work / request.files[0]
        released = write_release(opened, book, place, **output, numbers=request.numbers)
        own = len(names) - len(request.keep) if readable else None
        # Of a column that names each row, counts would say that it tells all.
        out_as_they_are = [c.name for c in counts.roles.public if c.rule is None] + [*request.keep]
        names_rows = identifiers(opened, list(dict.fromkeys(out_as_they_are)))
        told = [name for name in request.keep if name not in names_rows]
        measured = measure(opened, counts.roles, released.path, own, told, person)
        check_same(book, measured)
        if request.shuffle:
            shuffle_rows(released.path, request.form)
        held_out = None
        if aside is not None:
            bar = stages("Checking on records held out")
            held_out = on_unseen(aside, counts.roles, request, jobs=n_jobs, progress=bar)
        audit = audit_release(
            joint,
            book,
            measured,
            request,
            others=found.others,
            persons=persons,
            useful=counts.useful,
            jobs=n_jobs,
            progress=stages("Auditing the release"),
        )
        _check_new_people(audit.audit, request.max_population_leakage)
        bar = stages("Comparing with other kinds of releases") if readable else None
        document = describe(
            request,
            stakes(joint, persons=persons, seed=request.seed),
            book,
            released,
            measured,
            frontier_in_bits(found.frontier),
            audit,
            found.solution,
            useful=[column.name for column in counts.useful],
            held_out=held_out,
            identifiers=names_rows,
        )
        if bar is not None:
            bar(1, 1)
        _write_report(work, book, document, hints, is_public=request.is_public)
    return Release(folder, book, document)


def _check_kept(counts: Counts, keep: Sequence[str]) -> None:
    """Refuse to pass a sensitive column through: what goes out is what is measured."""
    given_away = [column.name for column in counts.roles.sensitive if column.name in keep]
    if given_away:
        raise InvalidInput(
            f"the column {given_away[0]!r} is sensitive and would go out as it is; do not keep it."
        )


def _check_new_people(audit: Audit, limit: float | None) -> None:
    """Refuse a release that may give away more than was allowed of people outside of the table."""
    failed = broken(replace(audit, new=True), Limits(max_population_leakage=limit))
    if failed:
        raise LimitBroken(f"{failed[0]}; nothing was released.")


def _check_not_the_table(table: Table, paths: Sequence[Path]) -> None:
    """Refuse a place where a file of the release would replace the table itself."""
    for path in paths:
        if any(path.exists() and path.samefile(file) for file in table.files):
            raise InvalidInput(f"{path} is the table itself, which is never changed; name another.")


def _write_report(
    folder: Path, book: Codebook, document: Mapping[str, Any], hints: Hints, *, is_public: bool
) -> None:
    """All but the table; with ``is_public`` without any statistic about S, which receivers never get."""
    told, bare = without_sensitive(document), book.public()
    shown = told if is_public else document
    (bare if is_public else book).save(folder / files.CODEBOOK)
    _write(folder / files.PAGE, page(shown, hints))
    _write_json(folder / files.DOCUMENT, shown)
    table = folder / document["release"]["file"]
    handed_on = files.FILES if is_public else (files.README, files.PACKAGE, files.CROISSANT)
    beside = {table.name: "the released table"} | {name: files.FILES[name] for name in handed_on}
    _write(folder / files.README, receiver_page(told, bare, beside))
    codebook = folder / files.CODEBOOK if is_public else None
    _write_json(folder / files.PACKAGE, data_package(table, told, bare))
    _write_json(folder / files.CROISSANT, croissant(table, codebook, told, bare))
    names = [table.name, *(name for name in files.FILES if name != files.CHECKSUMS)]
    _write(folder / files.CHECKSUMS, checksums(folder, names))


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    _write(path, json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
