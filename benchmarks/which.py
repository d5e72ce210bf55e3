"""Which release do I need: the forms of a release side by side, for one table and one bound on leakage.

Adult (S = salary-class; X = age, education, occupation, workclass), at most 1% given away. For each form:
what is kept of the bits of X, what of the columns on average and of age alone,
what is given away, and what the same code gives away with S shuffled among the records.

    python benchmarks/which.py ../shared/data/arx_adult [form ...]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from data import adult, hierarchies

import privacyfunnel as pf
from privacyfunnel.information import mutual_information
from privacyfunnel.metrics import shuffled

S, X = "salary-class", ["age", "education", "occupation", "workclass"]
LEAKAGE = 0.01


def main(folder: Path) -> None:
    """Print a line for each form."""
    trees = hierarchies(X[1:], folder)
    joint = pf.Joint.from_table(adult(folder), S, X)
    forms: dict[str, Any] = {
        "as it is": lambda: pf.Partition.identity(joint.n_x),
        "global": lambda: readable(joint, "global", {}),
        "global, by trees": lambda: readable(joint, "global", trees),
        "local, by trees": lambda: readable(joint, "local", trees),
        "symbols": lambda: pf.frontier(joint, n_points=2, effort="fast").at(leakage=LEAKAGE).code,
        "soft": lambda: soft(joint),
        "perfect privacy": lambda: private(joint),
    }
    print("form             bits kept  columns kept  age kept  symbols  given away  by chance")
    for name in sys.argv[2:] or forms:
        line(name, joint, forms[name]())


def readable(joint: pf.Joint, recoding: str, trees: dict[str, str]) -> Any:
    """The readable code of most kept columns within the bound."""
    found = pf.frontier(joint, recoding=recoding, hierarchies=trees, n_points=2)
    return found.at(leakage=LEAKAGE).code


def soft(joint: pf.Joint) -> Any:
    """The code by lot of most bits within the bound."""
    return pf.frontier(joint, method="soft", n_points=2, effort="fast").at(leakage=LEAKAGE).code


def private(joint: pf.Joint) -> Any:
    """The code by lot that gives nothing away, of the age by tens, education and workclass.

    Its linear program has a column for each vertex, too many for all 8,873 values.
    """
    coarse = [(age // 10, school, work) for age, school, _, work in joint.labels_x]
    place = {key: i for i, key in enumerate(sorted(set(coarse)))}
    groups = pf.Partition([place[key] for key in coarse])
    return pf.Channel(groups.matrix @ pf.perfect_privacy(groups.push(joint)).code.matrix)


def line(name: str, joint: pf.Joint, code: Any) -> None:
    """Measure one code."""
    from privacyfunnel.objectives import leakage, utility

    kept = {}
    for column in joint.public:
        p = np.zeros((len(column.values), code.n_symbols))
        np.add.at(p, column.codes, code.matrix.toarray() * joint.p_x[:, None])
        whole = -sum(v * np.log2(v) for v in p.sum(axis=1) if v)
        kept[column.name] = mutual_information(p) / whole
    chance = shuffled(joint, code, seed=0, shuffles=20)
    print(
        f"{name:16} {utility(joint, code) / joint.entropy_x:9.1%}  {np.mean(list(kept.values())):12.1%}"
        f"  {kept['age']:8.1%}  {code.n_symbols:7,}  {leakage(joint, code) / joint.entropy_s:10.3%}"
        f"  {chance.mean_bits / joint.entropy_s:9.3%}",
        flush=True,
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
