"""How fast are the estimators: fit on 5,000 distinct rows, transform of a million rows?

Prints, for 100,000 rows of three columns with about 5,000 distinct rows, the seconds that ``fit``
takes for each kind of target and what it reaches; then the seconds that ``transform`` takes for a
million rows of text, of categories, and of numbers that are binned, a tenth of them never seen.
Compiled loops are warmed up before.
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

from privacyfunnel import InformationBottleneck, PrivacyFunnel

SIDE = 17  # values of each column: 17³ = 4,913 distinct rows


def table(n_rows: int, kinds: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows of three columns of text, and an S of so many kinds that depends on them."""
    places = rng.integers(0, SIDE, size=(n_rows, 3))
    lean = np.random.default_rng(7).normal(size=(SIDE, SIDE, SIDE, kinds))  # the same every time
    chance = np.exp(lean[tuple(places.T)])
    chance /= chance.sum(axis=1, keepdims=True)
    s = (rng.random((n_rows, 1)) > np.cumsum(chance, axis=1)).sum(axis=1)
    words = np.array([f"{chr(97 + i)}-value" for i in range(SIDE)])
    return pd.DataFrame(words[places], columns=["first", "second", "third"]), s


def time_fits(rng: np.random.Generator) -> None:
    for kinds in (2, 12):
        rows, s = table(100_000, kinds, rng)
        for estimator in (
            PrivacyFunnel(),
            PrivacyFunnel(utility=0.9),
            PrivacyFunnel(leakage=0.05),
            PrivacyFunnel(lam=0.3),
            InformationBottleneck(),
            InformationBottleneck(n_symbols=10),
            InformationBottleneck(relevance=0.05),
            InformationBottleneck(lam=0.1),
        ):
            start = time.perf_counter()
            estimator.fit(rows, s)
            took = time.perf_counter() - start
            reached = estimator.codebook_.measured
            print(
                f"fit  {len(rows)} rows, {estimator.code_.n_x} distinct, {kinds:2d} kinds of S  "
                f"{estimator!s:40s} {took:6.2f} s  I(X;X̂)/H(X) {reached['utility']:.3f}  "
                f"I(S;X̂)/H(S) {reached['leakage']:.4f}  {estimator.code_.n_symbols} symbols"
            )


def time_transforms(rng: np.random.Generator) -> None:
    fitted, s = table(100_000, 2, rng)
    many, _ = table(1_000_000, 2, rng)
    news = many.copy()
    news.loc[rng.random(len(news)) < 0.1, "second"] = "never seen"
    numbers = pd.DataFrame(rng.normal(size=(1_100_000, 3)), columns=["a", "b", "c"])
    labels = (numbers["a"][:100_000] > 0).to_numpy()
    by_number = PrivacyFunnel(bins=17).fit(numbers[:100_000], labels)
    by_text = PrivacyFunnel().fit(fitted, s)
    by_object = PrivacyFunnel().fit(fitted.to_numpy(dtype=object), s)
    for what, estimator, rows in (
        ("text", by_text, many),
        ("categories", by_text, many.astype("category")),
        ("text, a tenth never seen", by_text, news),
        ("numbers, 17 bins a column", by_number, numbers[100_000:]),
        ("numpy objects", by_object, many.to_numpy(dtype=object)),
    ):
        start = time.perf_counter()
        estimator.transform(rows)
        print(f"transform  {len(rows)} rows of {what:28s} {time.perf_counter() - start:6.2f} s")


def main() -> None:
    rng = np.random.default_rng(0)
    small, s = table(3000, 3, rng)
    for estimator in (PrivacyFunnel(), PrivacyFunnel(lam=0.3), InformationBottleneck()):
        estimator.fit(small, s)  # compiles
    InformationBottleneck(n_symbols=5).fit(small, s)
    time_fits(rng)
    time_transforms(rng)


if __name__ == "__main__":
    main()
