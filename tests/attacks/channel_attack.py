"""The attack on a code by lot: what its files tell of its probabilities, and these of S.

Where nothing leaks, Σ_x p(x, x̂) (p(s given x) − p(s)) = 0 for every x̂: who knows p(x, x̂) solves for
the direction of p(s given x), and with whole counts for n(s,x).
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import scipy.linalg

import privacyfunnel as pf
from privacyfunnel.codebook import Codebook
from privacyfunnel.information import entropy, mutual_information
from privacyfunnel.tables import count


def private_table(seed: int, n_x: int = 5, n: int = 300) -> pd.DataFrame:
    """Records whose sensitive bit depends on the public value."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, n_x, n)
    chance = rng.uniform(0.1, 0.9, n_x)
    return pd.DataFrame({"s": (rng.random(n) < chance[x]).astype(int), "x": [f"v{i}" for i in x]})


def private_book(table: pd.DataFrame, **more) -> tuple[pf.Joint, Codebook]:
    """The codebook of a release by lot that gives nothing away."""
    counted = count(table, "s", "x")
    joint = counted.joint()
    solution = pf.solve(joint, pf.Funnel(0.0), method="soft", seed=0)
    return joint, Codebook.from_solution(joint, solution, counted.roles, **more)


def channel_of(document: dict) -> np.ndarray:
    """p(x̂ given x) as far as a file tells it: its rows, else what each symbol stands for."""
    labels = [symbol["label"] for symbol in document["symbols"]]
    if "rows" in document:
        return np.array([[row["released"].get(k, 0.0) for k in labels] for row in document["rows"]])
    words = [symbol["stands_for"][0].split()[-1] for symbol in document["symbols"]]
    values = [f"v{i}" for i in range(5)]
    return np.array([[float(word == value) for word in words] for value in values])


def direction(document: dict) -> np.ndarray | None:
    """Where nothing leaks, Σ_x p(x, x̂) (p(s given x) - p(s)) = 0: solved for p(s given x) - p(s).

    p(x) follows from p(x̂) = Σ_x p(x) p(x̂ given x). None where the equations leave no direction, or
    more than one.
    """
    channel = channel_of(document)
    p_xhat = np.array([symbol["probability"] for symbol in document["symbols"]])
    p_x = np.linalg.lstsq(channel.T, p_xhat, rcond=None)[0]
    null = scipy.linalg.null_space((channel * p_x[:, None]).T, rcond=1e-6)
    return null[:, 0] if null.shape[1] == 1 else None


def truth(joint: pf.Joint) -> np.ndarray:
    p_sx = joint.p_sx.toarray()
    return p_sx[1] / p_sx.sum(axis=0) - joint.p_s[1]


def alike(found: np.ndarray | None, true: np.ndarray) -> float:
    """How well a direction is known: 1 up to its sign, 0 not at all."""
    if found is None:
        return 0.0
    return float(abs(found @ true) / np.linalg.norm(found) / np.linalg.norm(true))


def shared_out(document: dict, p_x: np.ndarray) -> np.ndarray:
    """p(x, x̂) for one who knows p(x): of a code that hides one bit each symbol has two values at most.

    One is the typical one. For every choice of the others p(x) and p(x̂) are equations for the rest,
    and the choice is the one whose I(X;X̂) is as it is told.
    """
    p_xhat = np.array([symbol["probability"] for symbol in document["symbols"]])
    typical = [int(symbol["stands_for"][0][-1]) for symbol in document["symbols"]]
    measured = document["measured"]
    bits = measured.get("utility_bits", measured["utility"] * entropy(p_x))
    n_x, best, found = len(p_x), np.inf, np.zeros((len(p_x), len(p_xhat)))
    for others in itertools.product(range(n_x), repeat=len(p_xhat)):
        cells = sorted(
            {(x, j) for j, pair in enumerate(zip(typical, others, strict=True)) for x in pair}
        )
        rows, columns = np.array(cells).T
        equations = np.zeros((n_x + len(p_xhat), len(cells)))
        equations[rows, range(len(cells))] = equations[n_x + columns, range(len(cells))] = 1
        wanted = np.concatenate([p_x, p_xhat])
        masses = np.linalg.lstsq(equations, wanted, rcond=None)[0]
        p_xxhat = np.zeros((n_x, len(p_xhat)))
        p_xxhat[rows, columns] = np.maximum(masses, 0)
        wrong = abs(equations @ p_xxhat[rows, columns] - wanted).max()
        wrong += abs(mutual_information(p_xxhat / p_xxhat.sum()) - bits)
        if wrong < best:
            best, found = wrong, p_xxhat
    return found
