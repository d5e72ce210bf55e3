"""What a receiver can do with a release: the same questions to symbols, global and local recoding.

From the Adult census (S = salary-class; X = age, education, occupation, workclass, sex), released with
the same share kept of the columns: the mean age, the mean age by education, and how well a column that
nobody hid (sex) is guessed from the others.

    python benchmarks/receiver.py ../shared/data/arx_adult
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import OrdinalEncoder

import privacyfunnel as pf

PUBLIC = ["age", "education", "occupation", "workclass", "sex"]
KEPT = 0.6
CLASSIFIED = 8_000  # records that the classifier learns and is tried on


def main(folder: Path) -> None:
    """Release three times and ask the questions."""
    table = pd.read_csv(folder / "adult.csv", sep=";")
    trees = {
        name: str(folder / f"adult_hierarchy_{name}.csv")
        for name in ("education", "occupation", "workclass")
    }
    print("release     kept  leakage  mean age  age by education: error  sex guessed right")
    answers(table, table, "original", 1.0, None)
    for recoding in ("global", "local"):
        with tempfile.TemporaryDirectory() as place:
            options: dict[str, Any] = {
                "recoding": recoding,
                "hierarchies": trees,
                "numbers": "mean",
            }
            made = pf.release(
                table, "salary-class", PUBLIC, kept=KEPT, out=Path(place) / "out", points=2,
                attackers=False, effort="fast", **options,
            )  # fmt: skip
            released = pd.read_parquet(Path(place) / "out" / "release.parquet")
            answers(table, released, recoding, made.document["recoding"]["kept"], made.leakage)
    joint = pf.Joint.from_table(table, "salary-class", PUBLIC)
    solution = pf.solve(joint, pf.Funnel(0.05), "greedy")
    place_of = {
        x: int(label) for x, label in zip(joint.labels_x, solution.code.labels, strict=True)
    }
    symbols = pd.DataFrame(
        {"released": [place_of[x] for x in zip(*(table[c] for c in PUBLIC), strict=True)]}
    )
    means = [float(np.mean(list(pf.recodings.column_utilities(joint, solution.code).values())))]
    answers(table, symbols, "symbols", means[0], solution.leakage / joint.entropy_s)


def answers(
    table: pd.DataFrame, released: pd.DataFrame, name: str, kept: float, leakage: float | None
) -> None:
    """One line of the table."""
    mean, error = float("nan"), float("nan")
    if "age" in released:
        age = pd.to_numeric(released["age"], errors="coerce")
        mean = float(age.mean())
        true = table.groupby("education")["age"].mean()
        found = age.groupby(released["education"]).mean()
        told = released["education"].map(found)
        error = float((told - table["education"].map(true)).abs().mean())
    features = released.drop(columns=[c for c in ("sex",) if c in released]).astype(str)
    encoded = OrdinalEncoder().fit_transform(features)
    model = HistGradientBoostingClassifier(max_iter=40, random_state=0)
    some = np.random.default_rng(0).permutation(len(table))[:CLASSIFIED]
    right = float(cross_val_score(model, encoded[some], table["sex"].iloc[some], cv=3).mean())
    lost = "" if leakage is None else f"{leakage:.4f}"
    print(f"{name:10} {kept:5.2f}  {lost:>7}  {mean:8.2f}  {error:23.2f}  {right:17.3f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
