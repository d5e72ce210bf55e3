"""What does each attacker learn, and what does each option buy? The figures of docs/protection.md.

On the 442 patients that come with scikit-learn: the sex is hidden, age in six and cholesterol in eight
bins are released. Each attack is carried out; what hangs on secrets or lots is the mean over several. The
attack on the probabilities of a code by lot is that of ``tests/attacks``. Prints a table; some minutes.
"""

from __future__ import annotations

import difflib
import itertools
import json
import pickle
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from data import drawn

import privacyfunnel as pf
from privacyfunnel.audits import attack
from privacyfunnel.codebook.file import write
from privacyfunnel.codes import Channel
from privacyfunnel.columns import Column, ColumnRules
from privacyfunnel.information import mutual_information
from privacyfunnel.joint import Joint
from privacyfunnel.metrics import best_guess, blind_guess, informed_guess, k_anonymity
from privacyfunnel.releases.request import ReleaseRequest
from privacyfunnel.releases.search import drawn_records, find
from privacyfunnel.tables import count

KEPT = {"utility": 0.5}
RULES = ColumnRules.parse(["age=6", "chol=8"])
VICTIMS = 40
SECRETS = 5  # draws of lots, and of the records that choose a code
TABLES = 40  # small random ones, for the attack on the probabilities of a code by lot

sys.path.append(str(Path(__file__).parents[1] / "tests" / "attacks"))


def tell(attacker: str, release: str, learns: str) -> None:
    print(f"| {attacker} | {release} | {learns} |", flush=True)


def releases(joint: Joint) -> dict[str, list[Joint]]:
    """p(s,x̂) of the table as it is and of each kind of release, several where lots are drawn."""
    hard = find(joint, ReleaseRequest(KEPT)).code
    least = find(joint, ReleaseRequest(KEPT, min_count=10)).code
    halves = [find(joint, ReleaseRequest(KEPT, choose_on=0.5)).code for _ in range(SECRETS)]
    soft = find(joint, ReleaseRequest({"leakage": 0.001}, soft=True)).code
    readable = pf.frontier(joint, recoding="global", n_points=8).at(kept=0.5).code
    return {
        "X as it is": [joint],
        "symbols": [hard.push(joint)],
        "symbols, min-count 10": [least.push(joint)],
        "symbols, choose-on 0.5": [half.push(joint) for half in halves],
        "by lot": [drawn(joint, soft, seed) for seed in range(SECRETS)],
        "global recoding": [readable.push(joint)],
    }


def guesses(joint: Joint, made: dict[str, list[Joint]]) -> None:
    blind = f"blind {blind_guess(joint):.1%}"
    for name, same in made.items():
        leak = np.mean([release.information / release.entropy_s for release in same])
        right = np.mean([best_guess(release) for release in same])
        tell("sees the release", name, f"{right:.1%} right ({blind}), {leak:.2%} of S")
    for name, same in made.items():
        found = attack(same[0], [Column("sex", "integer")], [Column("released", "text")])
        best = max((a for a in found if a.gain_bits is not None), key=lambda a: a.gain_bits)
        tell(
            "has learnt on other records",
            name,
            f"{best.gain_bits:+.3f} bits, {best.accuracy:.1%} right",
        )
    for name, same in made.items():
        right = np.mean([informed_guess(release) for release in same])
        tell("knows everybody else's S", name, f"{right:.1%} right ({blind})")
    for name, same in made.items():
        fewest = min(k_anonymity(release) for release in same)
        tell("looks for rare values", name, f"smallest group {fewest} records")


def reruns(joint: Joint) -> None:
    from rerun_attack import rerun_attack

    for name, request, times in (
        ("symbols", ReleaseRequest(KEPT, effort="fast", points=2), 1),
        ("by lot", ReleaseRequest({"lam": 0.1}, effort="fast", points=2, soft=True), 1),
        *[
            (
                "symbols, choose-on 0.5",
                ReleaseRequest(KEPT, effort="fast", points=2, choose_on=0.5),
                2,
            )
        ]
        * 3,
    ):
        found = rerun_attack(joint, request, victims=VICTIMS, reruns=times)
        tell("knows all others and runs the search again", name, str(found))


def solved() -> None:
    """How well the direction of p(s given x) is known from what is told of a code that leaks nothing."""
    from channel_attack import alike, direction, private_book, private_table, shared_out, truth

    found: dict[str, list[float]] = {}
    for seed in range(TABLES):
        table = private_table(seed)
        joint, book = private_book(table)
        rng, true = np.random.default_rng(seed), truth(joint)
        private, public = (json.loads(write(b)) for b in (book, book.public()))
        exact = public | {"measured": book.measured, "symbols": [vars(s) for s in book.symbols]}
        x, matrix = table["x"].str[1:].to_numpy(dtype=int), book.code.matrix.toarray()
        xhat = [rng.choice(matrix.shape[1], p=matrix[i] / matrix[i].sum()) for i in x]
        pairs = np.zeros_like(matrix)
        np.add.at(pairs, (x, xhat), 1.0)
        guessed = rng.normal(size=5)
        for name, told in {
            "private codebook": direction(private),
            "public codebook": direction(public),
            "public codebook, and p(x)": _least(shared_out(public, joint.p_x)),
            "public codebook in all digits, and p(x)": _least(shared_out(exact, joint.p_x)),
            "X of every row, in the table's order": _least(pairs),
            "nothing": guessed - joint.p_x * (guessed @ joint.p_x) / (joint.p_x @ joint.p_x),
        }.items():
            found.setdefault(name, []).append(alike(told, true))
    for name, cosines in found.items():
        tell("solves for p(s given x), by lot", name, f"cosine {np.mean(cosines):.2f}")


def _least(p_xxhat: np.ndarray) -> np.ndarray:
    """The direction that p(x, x̂) takes nearest to 0."""
    return np.asarray(np.linalg.svd(p_xxhat.T)[2][-1])


def located() -> None:
    """Who lacks S and was left out: the release laid beside the table's X, row by row."""
    table = pf.datasets.load_demo().astype({"sex": "Int64"})
    table.loc[::9, "sex"] = None
    lacking = set(table.index[table["sex"].isna()])
    rules = ColumnRules.parse(["age=6", "chol=8"], missing="drop")
    for name, shuffle in (("in the table's order", False), ("shuffled", True)):
        with tempfile.TemporaryDirectory() as folder:
            made = pf.release(
                table, "sex", ["age", "chol"], **KEPT, out=f"{folder}/out", columns=rules, form="csv",
                effort="fast", points=2, attackers=False, shuffle=shuffle,
            )  # fmt: skip
            rows = pd.read_csv(f"{folder}/out/release.csv")["released"].tolist()
        values = table[["age", "chol"]].itertuples(index=False, name=None)
        symbols = [made.codebook.encode(value) for value in values]
        blocks = difflib.SequenceMatcher(None, symbols, rows, False).get_matching_blocks()
        missed = set(range(len(symbols))) - {i for a, _, n in blocks for i in range(a, a + n)}
        right = len(missed & lacking) / max(1, len(missed))
        tell("knows X of every row", name, f"{right:.0%} of the rows named lack S (blind 11%)")


def repeated(joint: Joint) -> None:
    """The same records released three times: I(S; X̂₁ X̂₂ X̂₃), by the rule.

    With one codebook, with one secret and a code that is searched anew on nine tenths of the records,
    and with a secret each.
    """
    request = ReleaseRequest({"leakage": 0.001}, soft=True)
    once = find(joint, request).code.matrix.toarray()
    others = [
        find(drawn_records(joint, 0.9, seed=seed), request).code.matrix.toarray() for seed in (1, 2)
    ]
    thrice = np.einsum("xa,xb,xc->xabc", once, once, once).reshape(len(once), -1)
    for name, matrix in (
        ("by lot, one codebook", once),
        ("by lot, one secret, searched again", _one_draw([once, *others])),
        ("by lot, three secrets", thrice),
    ):
        pushed = Channel(sp.csr_array(matrix)).push(joint)
        tell("sees three releases", name, f"{pushed.information / joint.entropy_s:.3%} of S")


def _one_draw(channels: list[np.ndarray]) -> np.ndarray:
    """The channel to all symbols that records get by several channels from one draw each."""
    ends = [np.cumsum(channel, axis=1) for channel in channels]
    rows: list[dict[tuple[int, ...], float]] = []
    for x in range(len(ends[0])):
        cuts = np.unique(np.concatenate([[0.0], *(end[x] for end in ends)]).clip(0.0, 1.0))
        row: dict[tuple[int, ...], float] = {}
        for low, high in itertools.pairwise(cuts):
            key = tuple(int(np.searchsorted(end[x], (low + high) / 2)) for end in ends)
            row[key] = row.get(key, 0.0) + high - low
        rows.append(row)
    place = {key: j for j, key in enumerate(sorted({key for row in rows for key in row}))}
    found = np.zeros((len(rows), len(place)))
    for x, row in enumerate(rows):
        for key, p in row.items():
            found[x, place[key]] = p
    return found / found.sum(axis=1, keepdims=True)


def pickled() -> None:
    table = pf.datasets.load_demo()
    funnel = pf.PrivacyFunnel(**KEPT, bins=6).fit(table[["age", "chol"]], table["sex"])
    for name, estimator in (("fitted estimator", funnel), ("estimator.public()", funnel.public())):
        held = vars(pickle.loads(pickle.dumps(estimator))).get("_counts")
        told = "nothing about S"
        if held is not None:
            told = f"n(s, x̂) to the record, {mutual_information(held / held.sum()):.4f} bits"
        tell("unpickles a model", name, told)


def main() -> None:
    counts = count(pf.datasets.load_demo(), "sex", ["age", "chol"], columns=RULES)
    joint = counts.joint()
    print(f"{joint.n_records} records, {joint.n_x} values of X, {joint.entropy_s:.3f} bits of S")
    print("\n| attacker | release | learns |\n|---|---|---|")
    guesses(joint, releases(joint))
    reruns(joint)
    solved()
    located()
    repeated(joint)
    pickled()


if __name__ == "__main__":
    main()
