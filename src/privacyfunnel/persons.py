"""Persons: whose rows are whose, where one person has several."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privacyfunnel.information import Array
from privacyfunnel.joint import Joint

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Persons:
    """Rows of a joint by person: ``n[i]`` rows of ``person[i]`` have the symbols ``s[i]`` and ``x[i]``.

    >>> found = Persons.of([0, 0, 1, 2], [1, 1, 0, 1], [0, 1, 0, 1], [1, 2, 1, 1])
    >>> found.n_persons, found.people(2).round(2).tolist(), found.distinct(2).tolist()
    (3, [1.33, 1.67], [2, 2])
    """

    person: Ints
    s: Ints
    x: Ints
    n: Ints

    @classmethod
    def of(cls, person: Any, s: Any, x: Any, n: Any) -> Persons:
        """From the symbols of groups of rows in any order; persons are numbered anew."""
        numbers = np.unique(np.asarray(person), return_inverse=True)[1]
        parts = [np.asarray(part, dtype=np.int64) for part in (numbers, s, x, n)]
        order = np.lexsort(parts[::-1])  # what is drawn by a seed is drawn from them in this order
        return cls(*(part[order] for part in parts))

    @property
    def n_persons(self) -> int:
        """How many there are."""
        return int(self.person.max()) + 1

    @cached_property
    def shares(self) -> Array:
        """The part of its person that each group of rows is: rows / rows of the person."""
        rows = np.bincount(self.person, weights=self.n)
        return np.asarray(self.n / rows[self.person], dtype=float)

    def people(self, n_x: int) -> Array:
        """For each x the parts of persons with it; over a cell they sum to no more than its persons."""
        return np.bincount(self.x, weights=self.shares, minlength=n_x).astype(float)

    def distinct(self, n_x: int) -> Ints:
        """For each x how many persons have it."""
        pairs = np.unique(np.stack([self.x, self.person]), axis=1)
        return np.bincount(pairs[0], minlength=n_x)

    @cached_property
    def own_s(self) -> Ints | None:
        """The s of each person; None where somebody has several."""
        own = self.s[np.unique(self.person, return_index=True)[1]]
        return own if (own[self.person] == self.s).all() else None

    def chosen(self, joint: Joint, members: NDArray[np.bool_]) -> tuple[Joint, Persons]:
        """The joint of the rows of some persons, and whose they are."""
        mine = members[self.person]
        triples = (self.n[mine].astype(float), (self.s[mine], self.x[mine]))
        part = sp.coo_array(triples, shape=joint.counts.shape)
        found = Joint.from_counts(part, joint.labels_s, joint.labels_x, joint.columns)
        # Symbols that are left without a row are dropped from the joint, and the others move up.
        s, x = (np.unique(of[mine], return_inverse=True)[1] for of in (self.s, self.x))
        return found, Persons.of(self.person[mine], s, x, self.n[mine])

    def even(self, joint: Joint) -> Joint:
        """p(s,x) of a random row of a random person: who has many rows counts no more than others."""
        triples = (self.shares, (self.s, self.x))
        p_sx = sp.coo_array(triples, shape=joint.counts.shape) / self.n_persons
        return Joint.from_probabilities(p_sx, joint.labels_s, joint.labels_x)

    def pooled(self, n_s: int) -> Joint:
        """S of a random row of a random person, and all that is released of that person.

        X is the set of the person's x̂ with how often each occurs and, where the person has several
        s, the x̂ of the row itself. Counts are persons where everybody has one s.

        >>> Persons.of([0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 0], [1, 1, 1, 1]).pooled(2).counts.toarray()
        array([[1., 0.],
               [0., 1.]])
        """
        owned = np.stack([self.person, self.x])
        pairs, place = np.unique(owned, axis=1, return_inverse=True)
        rows = np.bincount(place.ravel(), weights=self.n).astype(np.int64)
        bounds = np.searchsorted(pairs[0], np.arange(self.n_persons + 1))
        keys: dict[bytes, int] = {}
        seen = np.array(
            [
                keys.setdefault(pairs[1, a:b].tobytes() + rows[a:b].tobytes(), len(keys))
                for a, b in pairwise(bounds)
            ]
        )
        symbol = seen[self.person]
        if self.own_s is None:
            symbol = np.unique(symbol * (int(self.x.max()) + 1) + self.x, return_inverse=True)[1]
        shape = (n_s, int(symbol.max()) + 1)
        counts = sp.csc_array(sp.coo_array((self.shares, (self.s, symbol)), shape=shape))
        if self.own_s is not None:
            counts.data = np.rint(counts.data)
        return Joint.from_counts(counts)
