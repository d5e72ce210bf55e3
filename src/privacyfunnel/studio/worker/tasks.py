"""Tasks: what the jobs do, each a few calls of the library. They run in processes of their own.

Each takes a reporter, a private folder of its own and plain arguments, and gives back plain values;
what the next task needs and is too large to send stays in the folder.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import privacyfunnel as pf
from privacyfunnel.columns import KINDS, known, show
from privacyfunnel.errors import InvalidInput
from privacyfunnel.frontiers.frontier import Frontier
from privacyfunnel.frontiers.readable_frontier import ReadableFrontier
from privacyfunnel.information import share
from privacyfunnel.measures import make_measure
from privacyfunnel.metrics.stakes import Stakes, stakes
from privacyfunnel.objectives import Funnel
from privacyfunnel.parallel import Progress
from privacyfunnel.recodings import RECODINGS
from privacyfunnel.releases.cautions import about_table
from privacyfunnel.releases.recoded import rough_frontier
from privacyfunnel.releases.request import ReleaseRequest
from privacyfunnel.releases.search import bins_in_order, frontier_of, rule_of, searched_instead
from privacyfunnel.releases.search import search as find_release
from privacyfunnel.report.inspection import in_words
from privacyfunnel.solvers.soft.randomised_response import randomised_response_curve
from privacyfunnel.studio.drafts import Change, Draft
from privacyfunnel.studio.forms import Choices, SearchSettings
from privacyfunnel.studio.hints import HINTS
from privacyfunnel.studio.worker.by_hand import BareTable, changed, draft_of, improved, laid
from privacyfunnel.studio.worker.growing_frontier import GrowingFrontier
from privacyfunnel.studio.worker.preview import preview
from privacyfunnel.tables import Counts, Table, count, identifiers, open_table, summary
from privacyfunnel.tables.summary import is_nearly_unique

SHOWN_ROWS = 6
MOST_LISTED = 60  # values of a column that can be put in order
LONGEST = 200  # characters of a value that are sent to the page
NOISE_VALUES = 1500  # above this many public values plain noise is not drawn: its matrix is dense
RESULT, BARE = "result.pickle", "bare_table.pickle"


@dataclass(frozen=True)
class Reporter:
    """How a task reports to the page while it runs."""

    pipe: Connection

    def progress(self, done: int, total: int) -> None:
        """How far it is."""
        self.pipe.send(("progress", (done, total)))

    def stage(self, name: str) -> Progress:
        """A new part of the work begins; how far it is."""
        self.show(stage=name)
        self.progress(0, 0)
        return self.progress

    def show(self, **news: Any) -> None:
        """Something to show already."""
        self.pipe.send(("news", news))


@dataclass(frozen=True)
class Inspected:
    """What a look at the chosen columns leaves for the searches."""

    counts: Counts
    at_stake: Stakes
    identifiers: list[str]


def look(_: Reporter, folder: Path, *, table: str, is_demo: bool = False) -> dict[str, Any]:
    """What columns a table has, what they hold and its first rows; the demo is written first."""
    if is_demo:
        pf.datasets.load_demo().to_csv(table, index=False)
    opened = _open(table, folder)
    found = {column.name: column for column in summary(opened)}
    columns = []
    for name, kind in zip(opened.names, opened.kinds, strict=True):
        known = found.get(name)
        unique = known and is_nearly_unique(known.distinct, known.n_rows - known.missing)
        columns.append(
            {
                "name": name,
                "kind": kind,
                "usable": known is not None,
                "missing": known.missing if known else None,
                "distinct": known.distinct if known else None,
                "nearly_unique": bool(unique),
            }
        )
    if not found:
        raise InvalidInput("no column of this table can be counted: text, numbers or dates needed.")
    return {"columns": columns, "n_rows": opened.n_rows, "rows": _first_rows(opened)}


def inspect(_: Reporter, folder: Path, *, table: str, choices: Choices) -> dict[str, Any]:
    """What publishing the chosen columns as they are would give away."""
    opened = _open(table, folder)
    counts = count(
        opened,
        choices.sensitive,
        choices.public,
        useful=choices.useful,
        person=choices.person,
        columns=choices.rules,
    )
    at_stake = stakes(counts.joint(), persons=counts.persons)
    plain = [column.name for column in counts.roles.columns.values() if column.rule is None]
    marked = identifiers(opened, plain) if plain else []
    public = [column.name for column in counts.roles.public]
    _save(folder, Inspected(counts, at_stake, [name for name in marked if name in public]))
    cautions = about_table(at_stake, counts.roles, marked)
    return {
        "values": _listed(counts),
        "sentences": in_words(counts.roles, at_stake),
        "cautions": [asdict(caution) for caution in cautions],
        "left_out": counts.n_dropped,
    }


def search(
    reporter: Reporter, folder: Path, *, inspected: Path, search: SearchSettings
) -> dict[str, Any]:
    """The frontier of releases; its points are shown as they are found."""
    kept: Inspected = _load(inspected)
    joint = kept.counts.joint()
    aim = Funnel(0.0, make_measure(search.measure), search.purpose)
    whole = share(aim.measure(joint.p_sx), aim.whole_leakage(joint))
    reporter.show(whole=whole, n_values=joint.n_x)
    request = bins_in_order(search.request(), kept.counts.roles.public)
    rule = rule_of(kept.counts, joint, request)
    if rule is not None:  # it is applied to what is found
        request = searched_instead(joint, request, rule)
    if search.recoding == "symbols":
        if aim.plain:
            reporter.show(free=kept.at_stake.free_utility)
        growing = GrowingFrontier(joint, folder / "found.jsonl", aim)

        def progress(done: int, total: int) -> None:
            reporter.progress(done, total)
            reporter.show(points=growing.read())

        found = frontier_of(joint, request, progress=progress, checkpoint=growing.path)
    else:
        found = frontier_of(joint, request, progress=reporter.progress)
        if isinstance(found, ReadableFrontier) and search.recoding == "global":
            _save(folder, BareTable.of(found, kept.counts.roles.public), BARE)
    _save(folder, found)
    reporter.show(points=_points(found, search.kept))
    return {}


def compare(
    reporter: Reporter, folder: Path, *, inspected: Path, search: SearchSettings
) -> dict[str, Any]:
    """Curves to compare with: the other recodings; of symbols, plain noise and releases by lot."""
    kept: Inspected = _load(inspected)
    joint = kept.counts.joint()
    if search.recoding != "symbols":
        others: dict[str, Any] = {}
        request = search.request()
        kinds = [kind for kind in RECODINGS if kind != search.recoding]
        for done, kind in enumerate(kinds):
            others[kind] = rough_frontier(joint, kind, request)
            reporter.show(others=others)
            reporter.progress(done + 1, len(kinds))
        return {}
    if joint.n_x <= NOISE_VALUES:
        curve = randomised_response_curve(joint)
        x, y = share(curve[:, 0], joint.entropy_x), share(curve[:, 1], joint.entropy_s)
        reporter.show(noise=[{"kept": u, "leakage": v} for u, v in zip(x, y, strict=True)])
    found = pf.frontier(
        joint,
        method="soft",
        n_points=search.points,
        seed=search.seed,
        effort=search.effort,
        progress=reporter.progress,
    )
    _save(folder, found)
    reporter.show(soft=_points(found, "utility"))
    return {}


def choose(
    _: Reporter, folder: Path, *, inspected: Path, frontier: Path, asked: ReleaseRequest
) -> dict[str, Any]:
    """The release that meets a target, described as its report would, before a file is written."""
    kept: Inspected = _load(inspected)
    found: Frontier = _load(frontier)
    rule = rule_of(kept.counts, found.joint, asked)
    solution = find_release(found.joint, asked, frontier=found, rule=rule).solution
    if asked.kind == "global":
        _save(folder, solution)
    return preview(asked, found.joint, solution, kept.counts, kept.identifiers)


def begin(_: Reporter, folder: Path, *, searched: Path, chosen: Path) -> dict[str, Any]:
    """The chosen release as a first draft, to be changed by hand."""
    table = _bare_table(searched)
    return laid(table, draft_of(_load(chosen), table))


def lay(
    _: Reporter, folder: Path, *, searched: Path, draft: Draft, change: Change
) -> dict[str, Any]:
    """A draft after one change, measured at once."""
    table = _bare_table(searched)
    return laid(table, changed(table, draft, change))


def improve(
    reporter: Reporter,
    folder: Path,
    *,
    inspected: Path,
    searched: Path,
    draft: Draft,
    search: SearchSettings,
) -> dict[str, Any]:
    """A draft whose columns that are not held were searched anew."""
    kept: Inspected = _load(inspected)
    table = _bare_table(searched)
    request = bins_in_order(search.request(), kept.counts.roles.public)
    joint = kept.counts.joint()
    return laid(table, improved(joint, table, draft, request, reporter.progress))


def release(
    reporter: Reporter,
    folder: Path,
    *,
    table: str,
    choices: Choices,
    frontier: Path,
    asked: ReleaseRequest,
) -> dict[str, Any]:
    """The files of a release, as the command line makes them, but for the search, which is done."""
    made = pf.release(
        _open(table, folder),
        choices.sensitive,
        choices.public,
        useful=choices.useful,
        person=choices.person,
        columns=choices.rules,
        out=folder / "files",
        frontier=_load(frontier),
        stages=reporter.stage,
        hints=HINTS,
        **asked.options(),
    )
    return made.document


def _open(table: str, folder: Path) -> Table:
    """Open a table; an uploaded one is opened in its place, so that messages name it as the user does."""
    path = Path(table)
    if path.parent != folder.parent:
        return open_table(table)
    os.chdir(path.parent)  # of this process alone
    return open_table(path.name)


def _listed(counts: Counts) -> dict[str, list[str]]:
    """The values of the public columns that have no order of their own, where they are not too many."""
    columns = zip(counts.roles.public, counts.joint().public, strict=True)
    return {
        column.name: [show(value) for value in known(found.values)]
        for column, found in columns
        if column.rule is None
        and not KINDS[column.kind].is_ordered
        and 2 < len(found.values) <= MOST_LISTED
    }


def _first_rows(table: Table) -> list[list[str]]:
    with table.in_duckdb(table.names) as con:
        rows = con.sql(f"SELECT * FROM funnel_rows LIMIT {SHOWN_ROWS}").fetchall()
    return [["" if value is None else show(value)[:LONGEST] for value in row] for row in rows]


def _points(found: Frontier, kept: str) -> list[dict[str, Any]]:
    """The points as the page draws them: ``kept`` is the column that is the horizontal axis."""
    frame = found.to_frame()[[kept, "leakage", "n_symbols", "limit", "gap"]]
    frame = frame.rename(columns={kept: "kept"})
    frame["proved"] = found.proved
    rows = frame.to_dict("records")
    # Where no limit is proved, there is none; JSON knows no NaN.
    return [{str(k): None if v != v else v for k, v in row.items()} for row in rows]


def _save(folder: Path, value: Any, name: str = RESULT) -> None:
    (folder / name).write_bytes(pickle.dumps(value))


def _load(folder: Path, name: str = RESULT) -> Any:
    """What an earlier task of the same session has kept: our own file in our own private folder."""
    return pickle.loads((folder / name).read_bytes())


@lru_cache(maxsize=1)
def _bare_table(searched: Path) -> BareTable:
    """The counts that a search has left; in memory where one change is made after the other."""
    table: BareTable = _load(searched, BARE)
    return table


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    task.__name__: task
    for task in (look, inspect, search, compare, choose, begin, lay, improve, release)
}
