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
from data import adult, hierarchies
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import OrdinalEncoder

import privacyfunnel as pf

PUBLIC = ["age", "education", "occupation", "workclass", "sex"]
KEPT = 0.6
CLASSIFIED = 8_000  # records that the classifier learns and is tried on


def main(folder: Path) -> None:
    """Release three times and ask the questions."""
    table = adult(folder)
    trees = hierarchies(("education", "occupation", "workclass"), folder)
    print("release     kept  leakage  mean age  age by education: error  sex guessed right")
    answers(table, table, "original", 1.0, None)
    for recoding in ("global", "local"):
        with tempfile.TemporaryDirectory() as place:
            options: dict[str, Any] = {
                "recoding": recoding,
                "hierarchies": trees,
                "numbers": "mean",
                "min_count": 1,  # else a mean is exact over the records that are shown only
            }
            made = pf.release(
                table, "salary-class", PUBLIC, kept=KEPT, out=Path(place) / "out", points=2,
                attackers=False, effort="fast", **options,
            )  # fmt: skip
            released = pd.read_parquet(Path(place) / "out" / "release.parquet")
            answers(table, released, recoding, made.document["recoding"]["kept"], made.leakage)
            with_codebook(table, released, made.codebook.public())
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


def with_codebook(table: pd.DataFrame, released: pd.DataFrame, book: pf.Codebook) -> None:
    """Mean, share and table as a receiver computes them with the public codebook, beside the truth."""
    n = len(released)
    ages = {group.label: book.decode(group.label, "age") for group in book.columns[0].groups}
    mean = sum(found.count * (found.mean or 0.0) for found in ages.values()) / n
    middles = [
        (ages[group.label].count, (group.low + group.high - 1) / 2)
        for group in book.columns[0].groups
        if group.low is not None and group.high is not None
    ]
    guessed = sum(w * m for w, m in middles) / max(1.0, sum(w for w, _ in middles))
    schools = {
        group.label: book.decode(group.label, "education") for group in book.columns[1].groups
    }
    bachelors = sum(
        found.count * (dict(found.values).get("Bachelors") or 0.0) for found in schools.values()
    )
    place = PUBLIC.index("sex")
    sexes = {group.label: book.decode(group.label, "sex") for group in book.columns[place].groups}
    true = pd.crosstab(table["education"], table["sex"]) / n
    found = 0.0 * true
    for (school, sex), times in released.groupby(["education", "sex"]).size().items():
        for a, p in schools[school].values:
            for b, q in sexes[sex].values:
                found.loc[a, b] += times * (p or 0.0) * (q or 0.0) / n
    print(
        f"  mean age {mean:.4f}, truth {table['age'].mean():.4f}, from the middles of closed "
        f"groups {guessed:.2f}; "
        f"Bachelors {bachelors / n:.4%}, truth {(table['education'] == 'Bachelors').mean():.4%}; "
        f"education and sex off by {(true - found).abs().to_numpy().sum() / 2:.2%} of the records"
    )


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
