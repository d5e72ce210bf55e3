"""Hold out: records put aside by lot, to see how a code does on what it was not made from."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from privacyfunnel.errors import InvalidInput
from privacyfunnel.joint import Joint
from privacyfunnel.persons import Persons
from privacyfunnel.validation import check_rng

LEAST = 10  # records on either side; fewer show nothing
MOST = 10**9  # records that NumPy can draw from without replacement


def hold_out(
    joint: Joint, share: float, *, persons: Persons | None = None, seed: int = 0
) -> tuple[Joint, Joint]:
    """The records to make a code from, and the share of them that is put aside at random.

    Records with the same s and x are alike, so the lot is drawn from the counts: the same records
    in another order, or in another engine, are parted in the same way. With ``persons`` it is the share
    of them, each with all of their rows; :func:`persons_held_out` tells who they are.

    >>> made_from, put_aside = hold_out(Joint.from_counts([[40, 10], [10, 40]]), 0.3)
    >>> made_from.n_records, put_aside.n_records
    (70, 30)
    """
    if persons is not None:
        (made_from, _), (put_aside, _) = persons_held_out(joint, persons, share, seed=seed)
        return made_from, put_aside
    n = _check(joint, share)
    n_aside = round(share * n)
    if min(n_aside, n - n_aside) < LEAST:
        raise InvalidInput(
            f"a holdout of {share:g} parts the {n:,} records into {n - n_aside:,} and {n_aside:,}; "
            f"at least {LEAST} are needed on either side: choose another share or leave it out."
        )
    cells = joint.counts.tocsr().tocoo()  # row by row
    times = np.rint(cells.data).astype(np.int64)
    aside = check_rng(seed).multivariate_hypergeometric(times, n_aside, method="marginals")
    made_from, put_aside = (
        Joint.from_counts(
            sp.coo_array((part.astype(float), cells.coords), shape=joint.counts.shape),
            joint.labels_s,
            joint.labels_x,
            joint.columns,
        )
        for part in (times - aside, aside)
    )
    _check_varied(made_from, put_aside)
    return made_from, put_aside


def persons_held_out(
    joint: Joint, persons: Persons, share: float, *, seed: int = 0
) -> tuple[tuple[Joint, Persons], tuple[Joint, Persons]]:
    """The rows of some persons and those of the share that is put aside, with whose they are."""
    _check(joint, share)
    n_aside = round(share * persons.n_persons)
    if min(n_aside, persons.n_persons - n_aside) < LEAST:
        raise InvalidInput(
            f"a holdout of {share:g} leaves fewer than {LEAST} of the {persons.n_persons:,} persons on "
            "one side: choose another share or leave it out."
        )
    aside = check_rng(seed).permutation(np.arange(persons.n_persons) < n_aside)
    made_from, put_aside = persons.chosen(joint, ~aside), persons.chosen(joint, aside)
    _check_varied(made_from[0], put_aside[0])
    return made_from, put_aside


def _check(joint: Joint, share: float) -> int:
    """The number of records, where some of them can be put aside."""
    if not 0.0 < share < 1.0:
        raise InvalidInput(
            f"holdout must lie between 0 and 1, got {share:g}; 0.3 holds out 30% of the records."
        )
    if joint.n_records is None:
        raise InvalidInput(
            "weighted records cannot be held out; leave out the holdout or the weight."
        )
    if joint.n_records >= MOST:
        raise InvalidInput(
            f"a holdout takes fewer than {MOST:,} records, got {joint.n_records:,}; take a sample of "
            "the table for this check."
        )
    return joint.n_records


def _check_varied(made_from: Joint, put_aside: Joint) -> None:
    """On records that are all alike nothing can be kept and nothing given away."""
    for part, which in ((made_from, "left to make the code from"), (put_aside, "held out")):
        for role, n_values in (("sensitive", part.n_s), ("public", part.n_x)):
            if n_values < 2:
                raise InvalidInput(
                    f"the {part.n_records:,} records {which} have one distinct {role} value, which "
                    "shows nothing; hold out another share or leave it out."
                )
