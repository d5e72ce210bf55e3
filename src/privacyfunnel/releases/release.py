"""Making: the curator's whole job, from an open table to the four files of a release."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacyfunnel.audits import hold_out
from privacyfunnel.codebook import Codebook
from privacyfunnel.codes import Partition
from privacyfunnel.errors import InvalidInput
from privacyfunnel.folders import check_folder, together
from privacyfunnel.objectives import Funnel
from privacyfunnel.parallel import Progress
from privacyfunnel.releases.audit import audit_release
from privacyfunnel.releases.document import Asked, describe, without_sensitive
from privacyfunnel.releases.holdout import on_unseen
from privacyfunnel.releases.search import search
from privacyfunnel.releases.stakes import stakes
from privacyfunnel.releases.verify import Measured, measure
from privacyfunnel.report.page import page
from privacyfunnel.solvers.base import Solution, Status
from privacyfunnel.tables import Counts, Table, identifiers, write_release
from privacyfunnel.tables.join import Join
from privacyfunnel.tables.write import FORMATS
from privacyfunnel.validation import check_choice

if TYPE_CHECKING:
    from privacyfunnel.joint import Joint

AGREE = 1e-9  # bits that the written file may differ from what the search has measured
OTHERS = ("codebook.json", "report.html", "report.json")

Stages = Callable[[str], Progress | None]  # a progress bar for each stage of the work


class NotAsMeasured(RuntimeError):
    """The written file does not hold what the search has measured: a fault of ours."""


def files_of(form: str) -> list[str]:
    """The names of the files that a release consists of."""
    return [f"release.{form}", *OTHERS]


def check_output(table: Table, folder: Path, form: str, force: bool = False) -> None:
    """Refuse a place that cannot take the files, or where one would replace the table itself."""
    check_choice("format", form, FORMATS)
    check_folder(folder, files_of(form), force)
    for path in (folder / name for name in files_of(form)):
        if any(path.exists() and path.samefile(file) for file in table.files):
            raise InvalidInput(f"{path} is the table itself, which is never changed; name another.")


def make_release(
    table: Table,
    counts: Counts,
    folder: str | Path,
    asked: Asked,
    *,
    jobs: int = 1,
    force: bool = False,
    progress: Progress | None = None,
    stages: Stages = lambda _: None,
) -> dict[str, Any]:
    """Search, write, measure again and report; the full document is given back.

    The four files appear together or not at all. With ``asked.is_public`` codebook and report are
    without any statistic about S; the document that is given back has them. ``progress`` is told of
    the search; ``stages`` is asked for one more for each check that follows it.
    """
    folder = Path(folder)
    check_output(table, folder, asked.form, force)
    _check_asked(counts, asked)
    joint = counts.joint()
    choices: dict[str, Any] = {"expand": asked.expand, "keep": asked.keep, "key": asked.key}
    _check_plan(table, counts, joint, choices)
    parts = None if asked.holdout is None else hold_out(joint, asked.holdout, seed=asked.seed)
    names = files_of(asked.form)
    others = [name for form in FORMATS for name in files_of(form)]
    with together(folder, names, force, instead_of=others) as work:
        searching = progress or stages("Searching releases")
        found, solution = search(joint, asked, jobs=jobs, progress=searching)
        book = Codebook.from_solution(
            joint,
            solution,
            counts.roles,
            target=asked.target,
            seed=asked.seed,
            min_count=asked.min_count,
        )
        released = write_release(table, book, work / files_of(asked.form)[0], **choices)
        measured = measure(table, counts.roles, released.path)
        _check_same(book, measured)
        held_out = None
        if parts is not None:
            bar = stages("Checking on records held out")
            held_out = on_unseen(*parts, counts.roles, asked, jobs=jobs, progress=bar)
        bar = stages("Auditing the release")
        audited = audit_release(joint, book, measured.joint, asked, jobs=jobs, progress=bar)
        document = describe(
            asked,
            stakes(joint, seed=asked.seed),
            book,
            released,
            measured,
            found,
            audited,
            held_out=held_out,
            identifiers=_identifiers(table, counts, asked.keep),
        )
        _write_words(work, book, document, asked.is_public)
    return document


def _write_words(work: Path, book: Codebook, document: Mapping[str, Any], is_public: bool) -> None:
    """The codebook and the report beside the release."""
    shown = without_sensitive(document) if is_public else document
    (book.public() if is_public else book).save(work / "codebook.json")
    (work / "report.html").write_text(page(shown), encoding="utf-8", newline="\n")
    text = json.dumps(shown, indent=1, ensure_ascii=False, allow_nan=False)
    (work / "report.json").write_text(text + "\n", encoding="utf-8", newline="\n")


def _check_asked(counts: Counts, asked: Asked) -> None:
    """Refuse what does not go together."""
    if counts.roles.weight is not None and asked.min_count > 1:
        raise InvalidInput("a least count is of records, which weights are not; leave one out.")
    if asked.soft and asked.min_count > 1:
        raise InvalidInput("a release by lot cannot promise a least count; leave one out.")


def _check_plan(table: Table, counts: Counts, joint: Joint, choices: Mapping[str, Any]) -> None:
    """Refuse columns that cannot go out before the search, which may take long."""
    nothing = Solution.measured(joint, Funnel(0.0), Partition.trivial(joint.n_x), Status.CONVERGED)
    book = Codebook.from_solution(joint, nothing, counts.roles)
    Join.of(table, book, suppress=False, **choices)


def _check_same(book: Codebook, measured: Measured) -> None:
    """A hard code's file has the very bits of the search; a soft one's only what may be drawn."""
    if book.soft:
        strange = measured.coded - _possible(book)
        if strange:
            raise NotAsMeasured(
                f"the written file has {len(strange)} values under symbols that the codebook does "
                "not allow for them; nothing was released. Please report this."
            )
        return
    for name, found in (
        ("utility_bits", measured.utility_bits),
        ("leakage_bits", measured.leakage_bits),
    ):
        if not abs(book.measured[name] - found) <= AGREE:
            raise NotAsMeasured(
                f"the written file has {name.replace('_bits', '')} {found!r} bits instead of "
                f"{book.measured[name]!r}; nothing was released. Please report this."
            )


def _possible(book: Codebook) -> set[tuple[Any, str]]:
    """Every value of X with each label that it may be released as."""
    one = len(book.roles.public) == 1
    return {
        (value[0] if one else value, book.labels[j])
        for value, row in zip(book.values, book.rows, strict=True)
        for j, _ in row
    }


def _identifiers(table: Table, counts: Counts, keep: Sequence[str]) -> list[str]:
    """Columns that go out nearly unique per row: public ones without a rule, and kept ones."""
    plain = [column.name for column in counts.roles.public if column.rule is None]
    return identifiers(table, list(dict.fromkeys([*plain, *keep])))
