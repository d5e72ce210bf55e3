"""Statements about people: does the bound for new people hold, and what helps against who knows all?

python benchmarks/people.py population ../shared/data/arx_adult   coverage of the bound, 300 splits
python benchmarks/people.py worlds                                the same on three made-up worlds
python benchmarks/people.py speed                                 100,000 rows
python benchmarks/people.py informed ../shared/data/arx_adult     who knows all others, on Adult
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from data import adult, drawn

import privacyfunnel as pf
from privacyfunnel.audits import hold_out
from privacyfunnel.codes import Code, Partition
from privacyfunnel.information import Array
from privacyfunnel.joint import Joint
from privacyfunnel.metrics import best_guess, informed_guess, population_bound
from privacyfunnel.releases.request import ReleaseRequest
from privacyfunnel.releases.search import find

SPLITS = 300
PUBLIC = ["age", "education", "occupation", "workclass"]
SMALL = ["age", "education"]
MOST_BY_LOT = 2_000  # values of X for which draws by lot are searched
RELEASES: dict[str, dict[str, Any]] = {
    "symbols, no least count": {"min_count": 1},
    "symbols, 5 people at least": {},
    "symbols, 100 people at least": {"min_count": 100},
    "symbols, least diversity 2": {"min_diversity": 2},
    "symbols, chosen on half": {"choose_on": 0.5},
    "symbols, chosen on a tenth": {"choose_on": 0.1},
    "by lot": {"soft": True},
    "global recoding": {"recoding": "global"},
    "global recoding, chosen on half": {"recoding": "global", "choose_on": 0.5},
    "local recoding": {"recoding": "local"},
}
TABLE = 10_000  # records of Adult that the curator has; all of Adult are the people


def tell(name: str, n: int, true: list[float], plain: list[float], bound: list[float]) -> None:
    """One line: how often the bound covers the truth, and how tight it is."""
    covered = np.mean(np.array(bound) >= np.array(true))
    print(
        f"| {name} | {n:,} | {np.mean(true):.4f} | {np.mean(plain):.4f} | {np.mean(bound):.4f} | "
        f"{covered:.1%} |",
        flush=True,
    )


def head() -> None:
    print("| world, rule | people | true bits | their own bits | bound | covered |")
    print("|---|---|---|---|---|---|", flush=True)


def population(folder: Path) -> None:
    """Adult as the population: a table drawn from it, a rule chosen on one half, bounded by the other."""
    table = adult(folder)
    head()
    for sensitive in ("salary-class", "marital-status"):
        everybody = Joint.from_table(table, sensitive, PUBLIC)
        for kind in ("global", "symbols"):
            rows: list[tuple[float, float, float]] = []
            for seed in range(SPLITS):
                mine, _ = hold_out(everybody, 1 - TABLE / len(table), seed=seed)
                chose, new = hold_out(mine, 0.5, seed=seed)
                code = _global(chose, seed) if kind == "global" else _symbols(chose, seed)
                seen = _over(code, chose, everybody)
                there = seen.push(everybody)
                bound = population_bound(
                    _over(code, chose, new).push(new), values=(there.n_s, there.n_x)
                )
                rows.append((there.information, bound.measured_bits, bound.bits))
            true, plain, most = (list(part) for part in zip(*rows, strict=True))
            tell(f"Adult, {sensitive}, {kind}", TABLE // 2, true, plain, most)


def _global(joint: Joint, seed: int) -> Code:
    """A readable rule, each column in a few groups: ages in tens, the others in random thirds."""
    rng = np.random.default_rng(seed)
    labels = np.zeros(joint.n_x, dtype=np.int64)
    for column in joint.public:
        groups = rng.integers(0, 3, len(column.values))
        if column.name == "age":
            groups = np.arange(len(column.values)) // 10
        labels = labels * 10 + groups[column.codes]
    return Partition(np.unique(labels, return_inverse=True)[1])


def _symbols(joint: Joint, seed: int) -> Code:
    """A rule fitted hard: every value goes where its group's S stays as it is on the whole."""
    rng = np.random.default_rng(seed)
    counts, goal = joint.counts.toarray(), joint.p_s
    groups = np.zeros((joint.n_s, 40))
    labels = np.zeros(joint.n_x, dtype=np.int64)
    for x in rng.permutation(joint.n_x):
        after = groups + counts[:, [x]]
        off = np.abs(after - goal[:, None] * after.sum(axis=0)).sum(axis=0)
        before = np.abs(groups - goal[:, None] * groups.sum(axis=0)).sum(axis=0)
        labels[x] = int(np.argmin(off - before))
        groups[:, labels[x]] += counts[:, x]
    return Partition(np.unique(labels, return_inverse=True)[1])


def _over(code: Code, chose: Joint, other: Joint) -> Partition:
    """The rule for other records; a value that it has not met is one more symbol."""
    assert isinstance(code, Partition)
    known = dict(zip(chose.labels_x, code.labels.tolist(), strict=True))
    return Partition(np.array([known.get(x, code.n_symbols) for x in other.labels_x]))


def worlds() -> None:
    """Three worlds whose truth is known: nothing to tell, a rare trait, many values of both."""
    rng = np.random.default_rng(1)
    nothing = np.outer([0.24, 0.76], rng.dirichlet(np.ones(50)))
    rare = np.outer([0.01, 0.99], np.full(10, 0.1))
    rare[0] *= np.linspace(0.2, 1.8, 10)
    many = rng.dirichlet(np.full(12, 0.7), size=30).T * rng.dirichlet(np.ones(30))
    head()
    for name, p_sx in {"nothing": nothing, "a rare trait": rare, "12 x 30 values": many}.items():
        p_sx = p_sx / p_sx.sum()
        true = Joint.from_probabilities(p_sx).information
        for n in (100, 1_000, 10_000):
            found = [_sampled(p_sx, n, rng) for _ in range(SPLITS)]
            plain, bound = ([row[i] for row in found] for i in (0, 1))
            tell(name, n, [true] * SPLITS, plain, bound)


def _sampled(p_sx: Array, n: int, rng: np.random.Generator) -> tuple[float, float]:
    counts = rng.multinomial(n, p_sx.ravel()).reshape(p_sx.shape)
    found = population_bound(Joint.from_counts(counts), values=(p_sx.shape[0], p_sx.shape[1]))
    return found.measured_bits, found.bits


def speed() -> None:
    """The bound in an audit of 100,000 rows."""
    rng = np.random.default_rng(0)
    n = 100_000
    table = pd.DataFrame({"s": rng.integers(0, 20, n), "a": rng.integers(0, 50, n)})
    table["b"], table["new"] = rng.integers(0, 20, n), rng.random(n) < 0.5
    none = pf.Trials(permutations=0, bootstraps=0, attackers=False)
    pf.audit(table.head(100), "s", ["a", "b"], trials=none)  # imports
    began = time.process_time()
    plain = pf.audit(table, "s", ["a", "b"], trials=none)
    without = time.process_time() - began
    began = time.process_time()
    pf.audit(table, "s", ["a", "b"], new="new", trials=none)
    print(
        f"100,000 rows: {time.process_time() - began:.2f} CPU s with --new, {without:.2f} without"
    )
    joint, began = Joint.from_table(table, "s", ["a", "b"]), time.process_time()
    population_bound(joint)
    print(f"the bound alone: {time.process_time() - began:.3f} CPU s; {plain['leakage'].value:.3f}")


def informed(folder: Path) -> None:
    """Who knows every other record: how often they are right, and what each option buys and costs."""
    table = adult(folder)
    for public in (PUBLIC, SMALL):
        joint = Joint.from_table(table, "salary-class", public)
        print(f"\nAdult, salary-class from {', '.join(public)}: {joint.n_x:,} values of X")
        print("| release | kept | given away | guess with the data | guess knowing all others |")
        print("|---|---|---|---|---|", flush=True)
        _line("X as it is", joint, joint.entropy_x, joint)
        for name, asked in RELEASES.items():
            if asked.get("soft") and joint.n_x > MOST_BY_LOT:
                continue
            target = {"leakage": 0.001} if asked.get("soft") else {"utility": 0.5}
            if "recoding" in asked:
                target = {"kept": 0.5}
            request = ReleaseRequest(target, **(asked | {"effort": "fast", "points": 2}))  # type: ignore[arg-type]
            solution = find(joint, request)
            code = solution.code
            released = drawn(joint, code) if request.soft else code.push(joint)
            _line(name, released, solution.utility, joint)


def _line(name: str, released: Joint, kept: float, joint: Joint) -> None:
    """One release: what it keeps, what it gives away, and how often the two attackers are right."""
    given = released.information / joint.entropy_s
    print(
        f"| {name} | {kept / joint.entropy_x:.1%} | {given:.2%} | {best_guess(released):.1%} | "
        f"{informed_guess(released):.1%} |",
        flush=True,
    )


if __name__ == "__main__":
    what = sys.argv[1] if len(sys.argv) > 1 else "worlds"
    place = [Path(argument) for argument in sys.argv[2:]]
    {"population": population, "worlds": worlds, "speed": speed, "informed": informed}[what](*place)  # type: ignore[operator]
