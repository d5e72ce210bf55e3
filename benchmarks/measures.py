"""Other measures, a use, several secrets: is each release the better one by what it was asked for?

    python benchmarks/measures.py speed    ../shared/data
    python benchmarks/measures.py guessing ../shared/data
    python benchmarks/measures.py purpose  ../shared/data [picture.png]
    python benchmarks/measures.py caps     ../shared/data

speed: CPU seconds of `best` by each measure, as a ratio to Shannon's, on the paper's first setting.
guessing: Adult, sex hidden, three columns, ten utilities, by bits and by the best guess. purpose: Adult
cut in two halves, learnt on one and judged on the other by gradient boosting, beside fairlearn's
CorrelationRemover and dropping columns. caps: fifty random demands on sex and race.
"""

from __future__ import annotations

import sys
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

import privacyfunnel as pf
from privacyfunnel.recodings import Recoding, UsefulSearch
from privacyfunnel.solvers.best import BestSearch
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


def adult(data: Path) -> pd.DataFrame:
    """The Adult census as ARX ships it."""
    return pd.read_csv(data / "arx_adult" / "adult.csv", sep=";")


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
        spent = []
        for _ in range(2):  # the first one compiles
            spent = []
            begun = time.process_time()
            BestSearch().solve_at(joint, target, rng=np.random.default_rng(0))
            spent.append(time.process_time() - begun)
            begun = time.process_time()
            pf.solve(joint, aim.at(1.2 * told / whole))
            spent.append(time.process_time() - begun)
        return spent[0], spent[1]

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


def guessing(data: Path) -> None:
    """The same utilities by bits and by the best guess."""
    joint = pf.Joint.from_table(adult(data), "sex", THREE)
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


def auc(train: Any, labels: Any, test: Any, truth: Any) -> float:
    """How well gradient boosting ranks held-out records."""
    model = HistGradientBoostingClassifier(max_iter=40, random_state=0)
    return float(roc_auc_score(truth, model.fit(train, labels).predict_proba(test)[:, 1]))


def judged(
    name: str, train: Any, test: Any, halves: list[pd.DataFrame]
) -> tuple[str, float, float]:
    """AUC of the use and of the secret, learnt on one half and judged on the other."""
    found = [
        auc(train, halves[0][column] == value, test, halves[1][column] == value)
        for column, value in (("salary-class", ">50K"), ("sex", "Male"))
    ]
    print(f"{name:44} AUC of Y {found[0]:.4f}, of S {found[1]:.4f}", flush=True)
    return name, found[0], found[1]


def purpose(data: Path, picture: Path | None) -> None:
    """The curve of readable releases for a use, beside CorrelationRemover and dropping columns."""
    from fairlearn.preprocessing import CorrelationRemover

    table = adult(data)
    first = np.random.default_rng(0).random(len(table)) < 0.5
    halves = [table[first].reset_index(drop=True), table[~first].reset_index(drop=True)]
    found: dict[str, list[tuple[str, float, float]]] = {"funnel": [], "remover": [], "dropping": []}
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    plain = [encoder.fit_transform(halves[0][PUBLIC]), encoder.transform(halves[1][PUBLIC])]
    for size in (5, 4):
        for kept in combinations(range(len(PUBLIC)), size):
            names = ", ".join(PUBLIC[i] for i in kept)
            some = [half[:, list(kept)] for half in plain]
            found["dropping"].append(judged(names, *some, halves))
    hot = OneHotEncoder(sparse_output=False, handle_unknown="ignore", min_frequency=20)
    wide = [hot.fit_transform(halves[0][PUBLIC]), hot.transform(halves[1][PUBLIC])]
    wide = [
        np.column_stack([half["sex"] == "Male", part]).astype(float)
        for half, part in zip(halves, wide, strict=True)
    ]
    for alpha in (0.5, 0.8, 1.0):
        remover = CorrelationRemover(sensitive_feature_ids=[0], alpha=alpha).fit(wide[0])
        parts = [remover.transform(part) for part in wide]
        found["remover"].append(judged(f"CorrelationRemover, alpha {alpha}", *parts, halves))
    joint = pf.Joint.from_table(halves[0], "sex", PUBLIC, useful="salary-class")
    search = UsefulSearch(Recoding("global", chance=2.0).on(joint), np.random.default_rng(0))
    for share in (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.65):
        code = search.at(utility=share).code
        groups = [
            {v: column.groups.index(g) for g in column.groups for v in g.members}
            for column in code.columns
        ]
        parts = [
            np.column_stack(
                [half[c].map(g).fillna(-1) for c, g in zip(PUBLIC, groups, strict=True)]
            )
            for half in halves
        ]
        found["funnel"].append(judged(f"funnel, {share:.0%} of the use", *parts, halves))
    for rival in ("remover", "dropping"):
        wins = 0
        for _, y, s in found[rival]:
            equal = [f for f in found["funnel"] if f[1] >= y - 0.005]
            wins += bool(equal) and min(f[2] for f in equal) <= s
        print(
            "at the AUC of Y (within 0.005) the funnel tells no more of S: "
            f"{wins} of {len(found[rival])} of {rival}"
        )
    if picture is not None:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
        for name, points in found.items():
            axes.plot(
                [p[1] for p in points],
                [p[2] for p in points],
                "o-" if name == "funnel" else "x",
                label=name,
            )
        axes.set(xlabel="AUC of the salary class, held out", ylabel="AUC of the sex, held out")
        axes.legend()
        figure.savefig(picture, dpi=150)


def caps(data: Path) -> None:
    """Fifty random demands."""
    joint = pf.Joint.from_table(adult(data), ["sex", "race"], ["education", "occupation"])
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
        {"speed": speed, "guessing": guessing, "caps": caps}[what](data)
