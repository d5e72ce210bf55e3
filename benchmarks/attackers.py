"""What do attackers gain from the patients' columns as they are, and from a release of them?

On the paper's setting 1 (S = age and sex, X = sex and cholesterol): cross-validated attackers on X and
on the release at utility 0.4; then a codebook made from 70% of the patients and measured on the other
30%. Needs the Hungarian heart data: pass its path, or the copy beside the repository is read, or it is
fetched.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from data import patients

import privacyfunnel as pf
from privacyfunnel.audits import audit_joint, generalise
from privacyfunnel.columns import Column
from privacyfunnel.report import audit_words as words
from privacyfunnel.report.attacker_words import attacker_rows
from privacyfunnel.tables import count

SENSITIVE, PUBLIC, UTILITY = ["age", "sex"], ["sex", "chol"], 0.4


def attacks(table: pd.DataFrame) -> None:
    """The audit of X and of the release side by side."""
    counts = count(table, SENSITIVE, PUBLIC)
    joint = counts.joint()
    code = pf.frontier(joint, targets=[UTILITY], n_jobs=2).at(utility=UTILITY).code
    found = audit_joint(
        (code.push(joint), [Column("released", "text")]),
        counts.roles.sensitive,
        original=(joint, counts.roles.public),
        trials=pf.Trials(n_jobs=2),
    )
    document = found.as_dict()
    for key in ("leakage", "information", "guess_seeing", "k", "unique", "maximal_leakage"):
        row = found[key].as_dict()
        before, after = (words.figure(row[which], row["unit"]) for which in ("original", "value"))
        print(f"{row['name']:20}  X as it is {before:>10}   release {after:>10}")
    print(f"{'Bits by chance':20}  release {found['chance'].value:.3f}")
    print("\n| sensitive | attacker | sees | right | more than blind | bits gained, ± 2 errors |")
    print("|---|---|---|---|---|---|")
    for row in attacker_rows(document):
        print("| " + " | ".join(row) + " |")


def unseen(table: pd.DataFrame, seed: int) -> None:
    """A codebook made from 70% of the patients, on these and on the others."""
    chosen = np.random.default_rng(seed).permutation(len(table)) < 0.7 * len(table)
    counts = count(table[chosen], SENSITIVE, PUBLIC)
    solution = pf.frontier(counts.joint(), targets=[UTILITY], n_jobs=2).at(utility=UTILITY)
    book = pf.Codebook.from_solution(counts.joint(), solution, counts.roles)
    for name, part in (("made from", table[chosen]), ("not seen", table[~chosen])):
        found = generalise(part, book)
        print(
            f"  seed {seed}, {name:9} {len(part)} patients: utility {found.utility:.3f}, leakage "
            f"{found.leakage:.3f} ({found.leakage_bits:.2f} bits, by chance {found.chance_bits:.2f}), "
            f"{found.n_suppressed:.0f} suppressed"
        )


def main() -> None:
    table = patients()
    attacks(table)
    print("\nA codebook on patients that it has not seen:")
    for seed in range(3):
        unseen(table, seed)


if __name__ == "__main__":
    main()
