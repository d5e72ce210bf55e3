"""Rerun: an attacker who knows every record but one person's S, and runs the search again.

The search is no secret and, for a given table, always ends at the same code. Whoever knows all other
records tries each value of S for the victim, searches, and compares with the codebook that was
published: where only one value leads to it, that is the victim's. No bound on I(S;X̂) forbids this,
which is about the choice of the code and not about the code. ``choose_on`` hides the choice: the
code is chosen on records drawn in secret, and the attacker can only draw others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from privacyfunnel.information import entropy, mutual_information
from privacyfunnel.joint import Joint
from privacyfunnel.releases.search import find

if TYPE_CHECKING:
    from privacyfunnel.codes import Code
    from privacyfunnel.releases.request import ReleaseRequest

SAME = 1e-9  # bits that two codes may differ by and count as one


@dataclass(frozen=True)
class RerunAttack:
    """How an attacker did who ran the search again for each value of S of some victims."""

    n_victims: int
    singled_out: int  # victims whose S alone leads to the very code that was published
    right: float  # expected share of right guesses, ties broken by lot
    blind: float  # share of right guesses of the most frequent S

    def __str__(self) -> str:
        return (
            f"{self.singled_out} of {self.n_victims} victims singled out; {self.right:.0%} of guesses "
            f"right, {self.blind:.0%} without the codebook"
        )


def rerun_attack(
    joint: Joint, request: ReleaseRequest, *, victims: int = 20, reruns: int = 1, seed: int = 0
) -> RerunAttack:
    """Publish a code as requested, then attack it on records drawn at random.

    ``reruns`` is how many times the attacker searches for each candidate; more than one is of use only
    where the code is chosen on records drawn in secret.

    >>> from privacyfunnel.releases.request import ReleaseRequest
    >>> joint = Joint.from_counts([[4, 0, 2, 1], [1, 5, 1, 2]])
    >>> print(rerun_attack(joint, ReleaseRequest({"lam": 0.5}, effort="fast"), victims=4))
    2 of 4 victims singled out; 75% of guesses right, 25% without the codebook
    """
    rng = np.random.default_rng(seed)
    published = find(joint, request).code
    cells = joint.counts.tocoo()
    n = len(cells.data)
    p = cells.data / cells.data.sum()
    drawn = rng.choice(n, size=victims, p=p)
    prior = np.asarray(joint.counts.sum(axis=1)).ravel()
    singled, right, blind = 0, 0.0, 0.0
    for cell in drawn:
        s, x = int(cells.row[cell]), int(cells.col[cell])
        blind += float(np.argmax(prior) == s) / victims
        distances = np.zeros(joint.n_s)
        for candidate in np.repeat(np.arange(joint.n_s), reruns):
            again = _rerun(joint, request, s, x, int(candidate))
            distances[candidate] += _distance(joint, published, again) / reruns
        nearest = np.flatnonzero(distances <= distances.min() + SAME)
        hit = s in nearest
        right += hit / len(nearest) / victims
        singled += int(hit and len(nearest) == 1 and distances.min() <= SAME)
    return RerunAttack(victims, singled, right, blind)


def _rerun(joint: Joint, request: ReleaseRequest, s: int, x: int, candidate: int) -> Code | None:
    """The code of the table in which the record (s, x) had another S; None if X would not be the same."""
    counts = sp.lil_array(joint.counts)
    counts[s, x] -= 1
    counts[candidate, x] += 1
    other = Joint.from_counts(sp.csc_array(counts), columns=joint.columns, labels_x=joint.labels_x)
    return find(other, request).code if other.n_x == joint.n_x else None


def _distance(joint: Joint, first: Code, second: Code | None) -> float:
    """H(first | second) + H(second | first) in bits, over p(x): 0 for the same groups."""
    if second is None:
        return np.inf
    together = first.matrix.T @ sp.csr_array(second.matrix.multiply(joint.p_x[:, None]))
    marginals = [entropy(np.asarray(together.sum(axis=axis)).ravel()) for axis in (0, 1)]
    return max(0.0, sum(marginals) - 2 * mutual_information(together))
