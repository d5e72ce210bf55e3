"""What does each attacker learn, and what does each option buy? The figures of docs/protection.md.

On the 442 patients that come with scikit-learn: the sex is hidden, age in six and cholesterol in eight
bins are released. Each attack is carried out. Prints a table; a minute or two.
"""

from __future__ import annotations

import pickle

import numpy as np
import scipy.sparse as sp

import privacyfunnel as pf
from privacyfunnel.audits import attack
from privacyfunnel.codes import Channel, Code
from privacyfunnel.columns import Column, ColumnRules
from privacyfunnel.information import mutual_information
from privacyfunnel.joint import Joint
from privacyfunnel.metrics import best_guess, blind_guess, informed_guess, k_anonymity
from privacyfunnel.releases.request import ReleaseRequest
from privacyfunnel.releases.rerun import rerun_attack
from privacyfunnel.releases.search import find
from privacyfunnel.tables import count

KEPT = {"utility": 0.5}
RULES = ColumnRules.parse(["age=6", "chol=8"])
VICTIMS = 40


def tell(attacker: str, release: str, learns: str) -> None:
    print(f"| {attacker} | {release} | {learns} |", flush=True)


def drawn(joint: Joint, code: Code, seed: int = 0) -> Joint:
    """The counted release of a code by lot: every record's symbol drawn once."""
    rng = np.random.default_rng(seed)
    cells, matrix = joint.counts.tocoo(), code.matrix.toarray()
    counts = np.zeros((joint.n_s, matrix.shape[1]))
    for s, x, n in zip(cells.row, cells.col, cells.data, strict=True):
        counts[s] += rng.multinomial(int(n), matrix[x] / matrix[x].sum())
    return Joint.from_counts(counts[:, counts.any(axis=0)])


def releases(joint: Joint) -> dict[str, Joint]:
    """p(s,x̂) of the table as it is and of each kind of release."""
    hard = find(joint, ReleaseRequest(KEPT)).code
    least = find(joint, ReleaseRequest(KEPT, min_count=10)).code
    half = find(joint, ReleaseRequest(KEPT, choose_on=0.5)).code
    soft = find(joint, ReleaseRequest({"leakage": 0.001}, soft=True)).code
    readable = pf.frontier(joint, recoding="global", n_points=8).at(kept=0.5).code
    return {
        "X as it is": joint,
        "symbols": hard.push(joint),
        "symbols, min-count 10": least.push(joint),
        "symbols, choose-on 0.5": half.push(joint),
        "by lot": drawn(joint, soft),
        "global recoding": readable.push(joint),
    }


def guesses(joint: Joint, made: dict[str, Joint]) -> None:
    blind = f"blind {blind_guess(joint):.1%}"
    for name, release in made.items():
        leak = release.information / release.entropy_s
        tell(
            "sees the release", name, f"{best_guess(release):.1%} right ({blind}), {leak:.2%} of S"
        )
    for name, release in made.items():
        found = attack(release, [Column("sex", "integer")], [Column("released", "text")])
        best = max((a for a in found if a.gain_bits is not None), key=lambda a: a.gain_bits)
        tell(
            "has learnt on other records",
            name,
            f"{best.gain_bits:+.3f} bits, {best.accuracy:.1%} right",
        )
    for name, release in made.items():
        tell("knows everybody else's S", name, f"{informed_guess(release):.1%} right ({blind})")
    for name, release in made.items():
        tell("looks for rare values", name, f"smallest group {k_anonymity(release)} records")


def reruns(joint: Joint) -> None:
    for name, request, times in (
        ("symbols", ReleaseRequest(KEPT, effort="fast", points=2), 1),
        ("by lot", ReleaseRequest({"lam": 0.1}, effort="fast", points=2, soft=True), 1),
        ("symbols, choose-on 0.5", ReleaseRequest(KEPT, effort="fast", points=2, choose_on=0.5), 2),
    ):
        found = rerun_attack(joint, request, victims=VICTIMS, reruns=times)
        tell("knows all others and runs the search again", name, str(found))


def repeated(joint: Joint) -> None:
    """The same records drawn once and three times with a new secret each: I(S; X̂₁ X̂₂ X̂₃)."""
    code = find(joint, ReleaseRequest({"leakage": 0.001}, soft=True)).code
    once = code.matrix.toarray()
    thrice = np.einsum("xa,xb,xc->xabc", once, once, once).reshape(len(once), -1)
    for name, matrix in (("by lot, one secret kept", once), ("by lot, three secrets", thrice)):
        pushed = Channel(sp.csr_array(matrix)).push(joint)
        tell("sees three releases", name, f"{pushed.information / joint.entropy_s:.3%} of S")


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
    repeated(joint)
    pickled()


if __name__ == "__main__":
    main()
