"""Readable releases on the Adult census: asked and reached, beside ARX on the same data.

The data and hierarchies are read from ``../shared/data/arx_adult`` beside the checkout. ARX's figures
are the best of 800 of its runs over its privacy models, global and local.
Times are CPU seconds of one process. ``python benchmarks/recoding.py arx`` runs one section.
"""

from __future__ import annotations

import itertools
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

import privacyfunnel as pf
from privacyfunnel.recodings import RecodedSolution, RecodingSearch, column_utilities, make_recoding

DATA = Path(__file__).parents[2] / "shared" / "data" / "arx_adult"
COLUMNS = [
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation",
]  # fmt: skip
TASKS = {
    "sex": (
        ["age", "occupation", "workclass"],
        [0.52, 0.59, 0.70, 0.75, 0.79, 0.885],
        [0.0004, 0.0028, 0.011, 0.020, 0.030, 0.070],
        [0.0004, 0.0031, 0.0144, 0.0333, 0.0647, 0.1331],
    ),
    "marital-status": (
        ["age", "education", "occupation", "sex"],
        [0.23, 0.37, 0.45, 0.56, 0.63, 0.72],
        [0.0036, 0.0085, 0.017, 0.040, 0.060, 0.105],
        [0.0070, 0.0258, 0.0450, 0.0767, 0.1237, 0.1355],
    ),
}


def adult() -> pd.DataFrame:
    if not DATA.exists():
        sys.exit(f"the Adult census with ARX's hierarchies is not at {DATA}")
    return pd.read_csv(DATA / "adult.csv", sep=";")


def hierarchies(columns: list[str]) -> dict[str, Path]:
    return {name: DATA / f"adult_hierarchy_{name}.csv" for name in columns}


def joint_of(table: pd.DataFrame, sensitive: str, public: list[str]) -> pf.Joint:
    return pf.Joint.from_table(table, sensitive=[sensitive], public=public)


def mean_utility(joint: pf.Joint, solution: RecodedSolution) -> float:
    """mean_i I(X_i;X̂_i)/H(X_i), what ARX's points are compared at."""
    return float(np.mean(list(column_utilities(joint, solution.code).values())))


def at_utility(search: RecodingSearch, utility: float, seed: int = 0) -> RecodedSolution:
    """The release of the least leakage found whose mean column utility is the one asked."""
    return search.at(np.random.default_rng([seed, round(utility * 1e4)]), kept=utility)


def verdict(met: bool) -> str:
    return "met" if met else "NOT met"


def against_arx(table: pd.DataFrame) -> None:
    """The twelve points of ARX, without a least count and with five."""
    for sensitive, (public, utilities, asked, arx) in TASKS.items():
        joint = joint_of(table, sensitive, public)
        for least in (1, 5):
            recoding = make_recoding(
                "local", hierarchies=hierarchies(public), min_count=least, keep="information"
            )
            search = recoding.on(joint)
            for utility, bound, theirs in zip(utilities, asked, arx, strict=True):
                bound *= 1.0 if least == 1 else 1.1
                begun = time.process_time()
                found = at_utility(search, utility)
                spent = time.process_time() - begun
                leakage = found.leakage / joint.entropy_s
                print(
                    f"S = {sensitive}, min_count {least}, utility {utility}: asked {bound:.4f}, "
                    f"reached {leakage:.5f} (utility {mean_utility(joint, found):.4f}, kept "
                    f"{found.kept:.4f}, {found.n_symbols} combinations, {spent:.0f} s), ARX {theirs}: "
                    f"{verdict(round(leakage, 4) <= bound + 1e-12)}",
                    flush=True,
                )


def all_columns(table: pd.DataFrame) -> None:
    """S = salary-class with all eight other columns, against ARX's local points."""
    joint = joint_of(table, "salary-class", COLUMNS)
    recoding = make_recoding(
        "local", hierarchies=hierarchies(COLUMNS), min_count=5, keep="information"
    )
    search = recoding.on(joint)
    for leakage, theirs in ((0.01, 0.503), (0.02, 0.542), (0.05, 0.576)):
        begun = time.process_time()
        found = search.at(np.random.default_rng(0), leakage=leakage * joint.entropy_s)
        spent = time.process_time() - begun
        utility = mean_utility(joint, found)
        least = np.bincount(found.code.labels, weights=joint.p_x).min() * joint.total
        print(
            f"S = salary-class, eight columns, leakage {leakage}: asked above {theirs}, reached "
            f"{utility:.4f} (leakage {found.leakage / joint.entropy_s:.5f}, kept {found.kept:.4f}, "
            f"k {least:.0f}, {spent:.0f} s): {verdict(utility > theirs)}",
            flush=True,
        )


def released_on(
    code: pf.ColumnCode, learnt: pf.Joint, whole: pf.Joint
) -> tuple[np.ndarray, np.ndarray]:
    """The combination that each x of the whole table is released as, learnt on some of its records.

    One never met is released as the finest combination that was released and covers it, or as ``*``.
    Returns the combinations and the groups of the columns.
    """
    seen = {label: x for x, label in enumerate(learnt.labels_x)}
    rows = np.unique(code.cells, axis=0)
    covers = np.ones((whole.n_x, len(rows)), dtype=bool)
    size = np.zeros(len(rows))
    for i, (column, coded) in enumerate(zip(whole.public, code.columns, strict=True)):
        holds = np.array([[v in set(g.members) for g in coded.groups] for v in column.values])
        covers &= holds[column.codes][:, rows[:, i]]
        size += np.log2(holds.sum(axis=0))[rows[:, i]]
    order = np.argsort(size, kind="stable")
    finest = order[np.argmax(covers[:, order], axis=1)]
    finest[~covers.any(axis=1)] = len(rows)
    place = {tuple(row): k for k, row in enumerate(rows)}
    for x, label in enumerate(whole.labels_x):
        if label in seen:
            finest[x] = place[tuple(code.cells[seen[label]])]
    groups = np.vstack([rows, np.full(rows.shape[1], -1)])[finest]
    return finest, groups


def judged(whole: pf.Joint, cells: np.ndarray, groups: np.ndarray, s: np.ndarray, x: np.ndarray):
    """Mean column utility, leakage, and leakage less its shuffled level, on given records."""
    rng = np.random.default_rng(0)

    def leakage(of: np.ndarray) -> float:
        counts = np.zeros((whole.n_s, cells.max() + 1))
        np.add.at(counts, (of, cells[x]), 1.0)
        joint = pf.Joint.from_counts(counts)
        return joint.information / joint.entropy_s

    utilities = []
    for i, column in enumerate(whole.public):
        pairs = np.zeros((len(column.values), groups[:, i].max() + 2))
        np.add.at(pairs, (column.codes[x], groups[x, i]), 1.0)
        both = pf.Joint.from_counts(pairs)
        utilities.append(both.information / both.entropy_s)
    shuffled = np.mean([leakage(rng.permutation(s)) for _ in range(5)])
    plain = leakage(s)
    return float(np.mean(utilities)), plain, plain - float(shuffled)


HELD = {"sex": {0.59: 0.011, 0.78: 0.068}, "marital-status": {0.55: 0.065}}


def held_out(table: pd.DataFrame, splits: int = 5, moves: int = 4_000_000) -> None:
    """Learnt on one half and judged on the other, by leakage less its shuffled level."""
    for sensitive, points in HELD.items():
        public = TASKS[sensitive][0]
        whole = joint_of(table, sensitive, public)
        labels = list(table[public].itertuples(index=False, name=None))
        place = {label: k for k, label in enumerate(whole.labels_x)}
        x = np.array([place[label] for label in labels])
        place_s = {label: k for k, label in enumerate(whole.labels_s)}
        s = np.array([place_s[label] for label in table[sensitive]])
        one = (whole.n_s - 1) / (2 * np.log(2))  # bits that a cell tells by chance, times records
        local = {"hierarchies": hierarchies(public), "keep": "information", "moves": moves}
        variants: dict[str, tuple[str, dict]] = {
            "global, intervals and groups": ("global", {}),
            "global, intervals and groups, population": ("global", {"fit": "population"}),
            "global, ARX's hierarchies": ("global", {"hierarchies": hierarchies(public)}),
            "local, plain": ("local", local),
            "local, least count 5": ("local", local | {"min_count": 5}),
            "local, chance": ("local", local | {"chance": one}),
            "local, population": ("local", local | {"fit": "population"}),
            "local, population and chance": (
                "local",
                local | {"fit": "population", "chance": one / 2},
            ),
        }
        for name, (kind, options) in variants.items():
            for utility, theirs in points.items():
                rows = []
                for split in range(splits):
                    half = np.random.default_rng(split).permutation(len(s)) < len(s) // 2
                    counts = np.zeros((whole.n_s, whole.n_x))
                    np.add.at(counts, (s[half], x[half]), 1.0)
                    learnt = pf.Joint.from_counts(
                        counts, whole.labels_s, whole.labels_x, columns=public
                    )
                    search = make_recoding(kind, **options).on(learnt)
                    found = search.at(np.random.default_rng(0), kept=utility)
                    inside = found.leakage / learnt.entropy_s
                    cells, groups = released_on(found.code, learnt, whole)
                    rows.append((inside, *judged(whole, cells, groups, s[~half], x[~half])))
                inside, reached, plain, held = np.mean(rows, axis=0)
                print(
                    f"S = {sensitive}, {name}, utility {utility}: ARX's local {theirs}, reached "
                    f"{held:.4f} (leakage {plain:.4f} with its shuffled level, {inside:.4f} where it was "
                    f"learnt; utility on the other half {reached:.3f}; {splits} splits): "
                    f"{verdict(held <= theirs and reached >= utility - 0.005)}",
                    flush=True,
                )


def lattice(table: pd.DataFrame) -> None:
    """Global recoding against the best node of ARX's full-domain lattice, all enumerated."""
    for sensitive, (public, *_) in TASKS.items():
        joint = joint_of(table, sensitive, public)
        for name, options in (
            ("ARX's hierarchies", {"hierarchies": hierarchies(public)}),
            ("intervals and groups", {}),
        ):
            search = make_recoding("global", **options).on(joint)
            points = lattice_points(joint, public)
            below = worse = 0
            inside = points[(points[:, 0] > 0.1) & (points[:, 0] < 0.95)]
            for utility in np.linspace(inside[:, 0].min(), inside[:, 0].max(), 10):
                node = points[points[:, 0] >= utility - 1e-12][:, 1].min()
                found = search.at(np.random.default_rng(0), kept=float(utility))
                worse += found.leakage > node + 1e-9
                below += found.leakage <= 0.75 * node
                print(
                    f"  S = {sensitive}, {name}, utility {utility:.3f}: lattice "
                    f"{node / joint.entropy_s:.5f}, ours {found.leakage / joint.entropy_s:.5f}",
                    flush=True,
                )
            print(
                f"S = {sensitive}, {name}: asked never above and 25% below at 8 of 10, reached above "
                f"at {worse}, 25% below at {below}: {verdict(worse == 0 and below >= 8)}"
            )


def lattice_points(joint: pf.Joint, public: list[str]) -> np.ndarray:
    """Mean column utility and leakage of every node: each column at one level of its hierarchy."""
    trees = make_recoding("global", hierarchies=hierarchies(public)).on(joint).columns
    levels = []
    for column in joint.public:
        rows = (
            [
                line.split(";")
                for line in (DATA / f"adult_hierarchy_{column.name}.csv").read_text().split()
            ]
            if column.name == "age"
            else [
                line.split(";")
                for line in (DATA / f"adult_hierarchy_{column.name}.csv").read_text().splitlines()
            ]
        )
        above = {row[0]: row for row in rows if row[0]}
        depth = len(rows[0])
        of_value = [above[str(value)] for value in column.values]
        levels.append(
            [np.unique([row[k] for row in of_value], return_inverse=True)[1] for k in range(depth)]
        )
    found = [trees.measured(list(node)) for node in itertools.product(*levels)]
    return np.array([(code.kept, code.leakage) for code in found])


def local_and_global(table: pd.DataFrame) -> None:
    """Local recoding is never above global recoding with the same hierarchies."""
    tables = {s: public for s, (public, *_) in TASKS.items()}
    tables["salary-class"] = ["age", "education", "occupation", "workclass"]
    for sensitive, public in tables.items():
        joint = joint_of(table, sensitive, public)
        options = {"hierarchies": hierarchies(public)}
        both = {
            kind: pf.frontier(joint, recoding=kind, n_points=5, **options)
            for kind in ("global", "local")
        }
        most = joint.information / joint.entropy_s
        worse, gains = 0, []
        for leakage in np.linspace(0.02, 0.98, 20) * most:
            shares = {kind: f.at(leakage=float(leakage)).kept for kind, f in both.items()}
            worse += shares["local"] < shares["global"] - 1e-9
            gains.append(shares["local"] - shares["global"])
        print(
            f"S = {sensitive}: asked local never keeps less than global at 20 leakages, reached {worse} "
            f"times less; it keeps {np.mean(gains):.3f} more on average: {verdict(worse == 0)}",
            flush=True,
        )


def times(table: pd.DataFrame) -> None:
    """A global frontier of 20 points and one local target, for four and for eight columns."""
    small = joint_of(table, "salary-class", ["age", "education", "occupation", "workclass"])
    large = joint_of(table, "salary-class", COLUMNS)
    tiny = joint_of(table.head(300), "salary-class", ["age", "workclass"])
    for kind in ("global", "local"):  # compile first
        pf.frontier(tiny, recoding=kind, n_points=3, min_count=2).at(leakage=0.1)
    for name, joint, bounds in (("four", small, (10, 15)), ("eight", large, (60, 60))):
        public = [column.name for column in joint.public]
        for words, given in (("free", {}), ("ARX's hierarchies", hierarchies(public))):
            begun = time.process_time()
            frontier = pf.frontier(joint, recoding="global", n_points=20, hierarchies=given)
            spent = time.process_time() - begun
            print(
                f"{name} columns, {words}: global frontier of {len(frontier)} points, asked "
                f"{bounds[0]} s, reached {spent:.1f} s: {verdict(spent <= bounds[0])}",
                flush=True,
            )
        begun = time.process_time()
        search = make_recoding("local", hierarchies=hierarchies(public)).on(joint)
        found = search.at(np.random.default_rng(0), kept=0.5)
        spent = time.process_time() - begun
        print(
            f"{name} columns: one local target (kept {found.kept:.4f}, leakage "
            f"{found.leakage / joint.entropy_s:.5f}), asked {bounds[1]} s, reached {spent:.1f} s: "
            f"{verdict(spent <= bounds[1])}",
            flush=True,
        )


SECTIONS = {
    "arx": against_arx,
    "salary": all_columns,
    "held": held_out,
    "lattice": lattice,
    "local": local_and_global,
    "time": times,
}

if __name__ == "__main__":
    records = adult()
    for section in sys.argv[1:] or SECTIONS:
        SECTIONS[section](records)
