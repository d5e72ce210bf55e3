"""Other measures, a use, several secrets: is each release the better one by what it was asked for?

    python benchmarks/measures.py speed    ../shared/data
    python benchmarks/measures.py exact    ../shared/data
    python benchmarks/measures.py guessing ../shared/data
    python benchmarks/measures.py purpose  ../shared/data [picture.png]
    python benchmarks/measures.py caps     ../shared/data

speed: CPU seconds of `best` by each measure, as a ratio to Shannon's, on the paper's first setting.
exact: small joints, where all codes can be listed. guessing: Adult, sex hidden, three columns, ten
utilities, by bits and by the best guess. purpose: Adult cut in two halves twice, learnt on one and
judged on the other by gradient boosting, beside fairlearn's CorrelationRemover and dropping columns.
caps: fifty random demands on sex and race.
"""

from __future__ import annotations

import sys
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from data import adult
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import OneHotEncoder

import privacyfunnel as pf
from privacyfunnel.recodings import Recoding, UsefulSearch
from privacyfunnel.solvers import best
from privacyfunnel.solvers.best import BestSearch
from privacyfunnel.solvers.exhaustive import ExhaustiveSearch
from privacyfunnel.solvers.target import Target

MEASURES = (
    "guessing",
    "chi-square",
    "total-variation",
    "arimoto:2",
    "arimoto:3",
    "maximal-leakage",
)
PUBLIC = ["age", "education", "occupation", "workclass", "native-country"]
THREE = ["education", "occupation", "workclass"]
SPLITS = 2  # of Adult in halves, over which areas under the curve are averaged
ALPHAS = (0.25, 0.5, 1.0)  # strengths of CorrelationRemover
# Shares of what the columns say of the use; those of rare combinations are chance, and priced as such.
SHARES = (0.1, 0.13, 0.16, 0.18, 0.2, 0.22, 0.25, 0.3, 0.35, 0.4, 0.48)
# CorrelationRemover is handed the sex of each record; so is this one, within the occupations, where
# groups can hold both sexes of some and tell those of others apart.
BOTH = "occupation and sex"
WITH_SEX = ["age", "education", "workclass", "native-country", BOTH]
FINE = (0.6, 0.85, 0.98)
DRAWN = {  # in the picture's words
    "X": "the five columns as they are",
    "1 dropped": "without one of them",
    "2 dropped": "without two",
    "3 dropped": "without three",
    "X and sex": "the five and the sex",
    "remover": "CorrelationRemover, given the sex",
    "funnel": "releases for the salary class",
    "funnel given the sex": "the same, given the sex",
}
EQUAL = 0.005  # by which two areas under the curve may differ and be called equal


def speed(data: Path) -> None:
    """Time of one target, and of one λ, relative to Shannon's."""
    patients = pd.read_csv(data / "hungarian_age_sex_chol.csv")
    lot = np.random.default_rng(0).random(len(patients))
    patients["use"] = (patients.chol > 240) ^ (lot < 0.3)
    joint = pf.Joint.from_table(patients, ["age", "sex"], ["sex", "chol"], useful="use")

    def seconds(measure: str, keep: str) -> tuple[float, float]:
        aim = pf.Funnel(0.0, measure=measure, keep=keep)
        told, whole = aim.amounts(joint, pf.Partition.identity(joint.n_x))
        bits = 0.4 * whole
        target = Target("funnel", "utility", bits, 1.0, aim.measure, keep)
        runs = []
        for _ in range(6):  # the first compiles; of the others the least: other work only adds
            begun = time.process_time()
            BestSearch().solve_at(joint, target, rng=np.random.default_rng(0))
            between = time.process_time()
            pf.solve(joint, aim.at(1.2 * told / whole))
            runs.append((between - begun, time.process_time() - between))
        for_target, for_lam = np.min(runs[1:], axis=0)
        return float(for_target), float(for_lam)

    base = seconds("shannon", "x")
    print(f"shannon: {base[0]:.2f} s for a target, {base[1]:.2f} s for a λ")
    for measure, keep in [
        *((m, "x") for m in MEASURES),
        ("shannon", "useful"),
        ("shannon", "both"),
    ]:
        found = seconds(measure, keep)
        name = measure if keep == "x" else f"keep={keep}"
        print(
            f"{name:16} target {found[0] / base[0]:5.2f} times, λ {found[1] / base[1]:5.2f} times"
        )


def exact(data: Path) -> None:
    """Two hundred joints for each measure: the search itself, not its list of all codes, beside that."""
    best.SMALL = 0
    rng = np.random.default_rng(0)
    for measure in ("shannon", *MEASURES):
        worse, answers = 0, 0
        for _ in range(200):
            n_s, n_x = int(rng.integers(2, 5)), int(rng.integers(2, 10))
            joint = pf.Joint.from_counts(rng.integers(0, 9, size=(n_s, n_x)) + 1)
            aim = pf.Funnel(float(rng.random()), measure=measure)
            told, _ = aim.amounts(joint, pf.Partition.identity(n_x))
            demands: list[Any] = [aim]
            for quantity, most in (("utility", joint.entropy_x), ("leakage", told)):
                bits = float(rng.random()) * most
                demands.append(Target("funnel", quantity, bits, 1.0, aim.measure))
            for demand in demands:
                prices = []
                for search in (BestSearch(), ExhaustiveSearch()):
                    if isinstance(demand, Target):
                        found = search.solve_at(joint, demand, rng=np.random.default_rng(0))
                        prices.append(demand.price.of(*found.amounts))
                    else:
                        prices.append(
                            search.solve(joint, demand, rng=np.random.default_rng(0)).value
                        )
                answers += 1
                worse += prices[0] > prices[1] + 1e-9
        print(
            f"{measure:16} {worse} of {answers} answers worse than the best of all codes",
            flush=True,
        )


def guessing(data: Path) -> None:
    """The same utilities by bits and by the best guess."""
    joint = pf.Joint.from_table(adult(data / "arx_adult"), "sex", THREE)
    bits, guess = pf.measures.Shannon(), pf.measures.Guessing()
    better = [0, 0]
    for share in np.linspace(0.5, 0.95, 10):
        least = share * joint.entropy_x
        codes = [
            BestSearch("fast").solve_at(
                joint, Target("funnel", "utility", least, 1.0, measure), rng=np.random.default_rng(0)
            ).code
            for measure in (bits, guess)
        ]  # fmt: skip
        read = [[m(joint.p_sx @ code.matrix) for m in (bits, guess)] for code in codes]
        better[0] += read[0][0] < read[1][0] - 1e-9
        better[1] += read[1][1] < read[0][1] - 1e-9
        fine = read[0][0] <= read[1][0] + 1e-9 and read[1][1] <= read[0][1] + 1e-9
        print(
            f"utility {share:.2f}: by bits {read[0][0]:.5f} bits, gain {read[0][1]:.4%}; by guessing "
            f"{read[1][0]:.5f} bits, gain {read[1][1]:.4%}  {'as it should be' if fine else 'NOT'}"
        )
    print(f"strictly better in its own measure: bits at {better[0]}, guessing at {better[1]} of 10")


class Halves:
    """Adult cut in two by lot: a judge learns on one half and ranks the other, whatever is published.

    The same encoding feeds the same judge for every rival: numbers as they are (ages, or the
    place of their interval), categories and groups of them one column each.
    """

    def __init__(self, table: pd.DataFrame, seed: int) -> None:
        first = np.random.default_rng(seed).random(len(table)) < 0.5
        self.parts = [table[first].reset_index(drop=True), table[~first].reset_index(drop=True)]
        self.truth = [
            [part[column] == value for part in self.parts]
            for column, value in (("salary-class", ">50K"), ("sex", "Male"))
        ]

    def encoded(self, published: list[pd.DataFrame]) -> list[Any]:
        """Published columns of both halves as the judge takes them."""
        numbers = [c for c in published[0] if pd.api.types.is_numeric_dtype(published[0][c])]
        others = [c for c in published[0] if c not in numbers]
        found = [part[numbers].to_numpy(float) for part in published]
        if others:
            hot = OneHotEncoder(sparse_output=False, handle_unknown="ignore", min_frequency=20)
            hot.fit(published[0][others])
            wide = [hot.transform(part[others]) for part in published]
            found = [np.column_stack(both) for both in zip(found, wide, strict=True)]
        return found

    def judged(self, features: list[Any]) -> tuple[float, float]:
        """AUC of the use and of the secret."""
        found = []
        for known, truth in self.truth:
            model = HistGradientBoostingClassifier(random_state=0).fit(features[0], known)
            found.append(float(roc_auc_score(truth, model.predict_proba(features[1])[:, 1])))
        return found[0], found[1]

    def columns(self, names: Any) -> list[Any]:
        """Some columns as they are."""
        return self.encoded([part[list(names)] for part in self.parts])

    def removed(self, alpha: float) -> list[Any]:
        """What fairlearn's CorrelationRemover leaves: it sees the sex of each record that it changes."""
        from fairlearn.preprocessing import CorrelationRemover

        wide = [
            np.column_stack([sex, part]).astype(float)
            for sex, part in zip(self.truth[1], self.columns(PUBLIC), strict=True)
        ]
        remover = CorrelationRemover(sensitive_feature_ids=[0], alpha=alpha).fit(wide[0])
        return [remover.transform(part) for part in wide]

    def released(self, names: list[str], shares: Any) -> dict[float, list[Any]]:
        """Readable releases of some columns that keep shares of what these say about the use."""
        joint = pf.Joint.from_table(self.parts[0], "sex", names, useful="salary-class")
        search = UsefulSearch(Recoding("global", chance=2.0).on(joint), np.random.default_rng(0))
        return {
            share: self.encoded(self._recoded(search.at(utility=share).code)) for share in shares
        }

    def _recoded(self, code: Any) -> list[pd.DataFrame]:
        found = []
        for part in self.parts:
            columns = {}
            for column in code.columns:
                place = {v: k for k, group in enumerate(column.groups) for v in group.members}
                coded = part[column.name].map(place).fillna(-1).astype(int)
                numeric = pd.api.types.is_numeric_dtype(part[column.name])
                columns[column.name] = coded if numeric else coded.astype(str)
            found.append(pd.DataFrame(columns))
        return found


def purpose(data: Path, picture: Path | None) -> None:
    """Readable releases for a use beside CorrelationRemover and dropping columns, over some splits."""
    table = adult(data / "arx_adult")
    table[BOTH] = table["occupation"] + ", " + table["sex"]
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for seed in range(SPLITS):
        halves = Halves(table, seed)
        rivals: dict[str, dict[str, Any]] = {
            "X": {"X as it is": halves.columns(PUBLIC)},
            "X and sex": {"X and the sex as they are": halves.columns([*PUBLIC, "sex"])},
            "remover": {f"alpha {a}": halves.removed(a) for a in ALPHAS},
        }
        for n in (1, 2, 3):
            rivals[f"{n} dropped"] = {
                f"without {', '.join(c for c in PUBLIC if c not in kept)}": halves.columns(kept)
                for kept in combinations(PUBLIC, len(PUBLIC) - n)
            }
        for name, columns, shares in (
            ("funnel", PUBLIC, SHARES),
            ("funnel given the sex", WITH_SEX, FINE),
        ):
            made = halves.released(columns, shares)
            rivals[name] = {f"{share:.0%} of the use": part for share, part in made.items()}
        for name, releases in rivals.items():
            for how, features in releases.items():
                found.setdefault(name, {}).setdefault(how, []).append(halves.judged(features))
                print(f"{seed} {name:20} {how:50}", *found[name][how][-1], flush=True)
    mean = {
        name: {how: tuple(np.mean(points, axis=0)) for how, points in releases.items()}
        for name, releases in found.items()
    }
    for name, releases in mean.items():
        for how, (y, s) in releases.items():
            print(f"{name:20} {how:50} AUC of Y {y:.4f}, of S {s:.4f}")
    for name, releases in mean.items():
        if name.startswith(("funnel", "X")):
            continue
        for ours in ("funnel", "funnel given the sex"):
            own = list({**mean[ours], **mean["X" if ours == "funnel" else "X and sex"]}.values())
            least = {
                how: min((f[1] for f in own if f[0] >= y - EQUAL), default=np.inf)
                for how, (y, _) in releases.items()
            }
            wins = sum(least[how] <= s for how, (_, s) in releases.items())
            none = sum(np.isinf(value) for value in least.values())
            print(
                f"{name}: at its AUC of Y (within {EQUAL}) the {ours} tells no more of S at {wins} of "
                f"{len(releases)}; at {none} no release of the same columns has that AUC of Y"
            )
    if picture is not None:
        _draw(mean, picture)


def _draw(mean: dict[str, Any], picture: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.2, 5.0), layout="constrained")
    for name, words in DRAWN.items():
        points = np.array(sorted(mean[name].values()))
        axes.plot(*points.T, "o-" if "funnel" in name else "x", ms=6, label=words)
    axes.set(xlabel="AUC of the salary class, held out", ylabel="AUC of the sex, held out")
    axes.legend(fontsize=8)
    figure.savefig(picture, dpi=150)


def caps(data: Path) -> None:
    """Fifty random demands."""
    joint = pf.Joint.from_table(
        adult(data / "arx_adult"), ["sex", "race"], ["education", "occupation"]
    )
    rng = np.random.default_rng(0)
    met = refused = broken = 0
    for k in range(50):
        asked: dict[str, float | str] = {}
        for name in ("sex", "race"):
            share = float(10 ** rng.uniform(-4, -0.7))
            asked[name] = share if rng.random() < 0.5 else f"guessing:{share:.6f}"
        least = float(rng.uniform(0.2, 1.0)) if rng.random() < 0.5 else None
        try:
            found = pf.solve_capped(joint, asked, utility=least, effort="fast", seed=k)
        except pf.errors.TargetUnreachable as error:
            refused += 1
            print(f"{k:2} {asked}, at least {least:.3f}: {error}", flush=True)
            continue
        told = [
            float(str(most).rpartition(":")[2]) - found.told[name] for name, most in asked.items()
        ]
        fine = min(told) >= -1e-9 and (
            least is None or found.utility >= least * joint.entropy_x - 1e-9
        )
        met, broken = met + fine, broken + (not fine)
        print(f"{k:2} {asked}: kept {found.utility / joint.entropy_x:.3f}", flush=True)
    print(f"{met} met, {refused} refused with the nearest, {broken} broken")


if __name__ == "__main__":
    what, data = sys.argv[1], Path(sys.argv[2])
    if what == "purpose":
        purpose(data, Path(sys.argv[3]) if len(sys.argv) > 3 else None)
    else:
        {"speed": speed, "exact": exact, "guessing": guessing, "caps": caps}[what](data)
