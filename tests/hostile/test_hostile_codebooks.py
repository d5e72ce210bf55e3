"""Hostile codebooks: refused in one line, or applied with every row conserved."""

from __future__ import annotations

import random
import warnings

import pandas as pd
import pytest
from hostile_codebooks import hostile
from test_hostile_tables import Hang, patience, rows_of

import privacyfunnel as pf
from privacyfunnel.codebook import Codebook
from privacyfunnel.codebook.output import NUMBERS
from privacyfunnel.columns import ColumnRules
from privacyfunnel.errors import FunnelError
from privacyfunnel.tables import count, write_release

EACH = 40  # codebooks of each kind: 5 kinds


def table_of() -> pd.DataFrame:
    rng = random.Random(0)
    return pd.DataFrame(
        {
            "s": [rng.choice("uvw") for _ in range(40)],
            "age": [rng.choice([20, 31, 47, 62]) for _ in range(40)],
            "town": [rng.choice(["Bonn", "Zürich", "北京", None]) for _ in range(40)],
            "day": [rng.choice(pd.to_datetime(["1960-01-01", "2020-02-29"])) for _ in range(40)],
        }
    )


KINDS = {
    "partition": ({}, ["town", "day"], ColumnRules()),
    "rules": ({}, ["age", "town"], ColumnRules.parse(["age=3"], (), "symbol")),
    "channel": ({"method": "soft"}, ["town"], ColumnRules()),
    "global": ({"recoding": "global", "min_count": 3}, ["age", "town", "day"], ColumnRules()),
    "local": ({"recoding": "local", "moves": 100_000}, ["age", "town"], ColumnRules()),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_codebook_is_refused_or_applied(kind, tmp_path):
    how, public, rules = KINDS[kind]
    table = table_of()
    counts = count(table, "s", public, columns=rules)
    solution = pf.solve(counts.joint(), pf.Funnel(0.5), **how)
    place = tmp_path / "codebook.json"
    Codebook.from_solution(counts.joint(), solution, counts.roles).save(place)
    text = place.read_text("utf-8")
    found = []
    for number in range(EACH):
        rng = random.Random(f"{kind} {number}")
        place.write_bytes(hostile(rng, text))
        output = tmp_path / f"out-{number}.{rng.choice(['csv', 'parquet'])}"
        unseen = rng.choice(["error", "suppress"])
        try:
            with patience(), warnings.catch_warnings():
                warnings.simplefilter("error")
                more = (
                    {"expand": True} if "recoding" not in how else {"numbers": rng.choice(NUMBERS)}
                )
                write_release(table, Codebook.load(place), output, unseen=unseen, **more)
                if rows_of(output) != len(table):
                    found.append(f"{kind} {number}: {rows_of(output)} rows of {len(table)}")
        except FunnelError as error:
            if (
                not str(error).strip()
                or "\n" in str(error)
                or len(str(error)) > 1000
                or output.exists()
            ):
                found.append(f"{kind} {number}: not one clear line: {str(error)[:200]!r}")
        except (Exception, Hang) as error:
            words = " ".join(str(error).split())[:200]
            found.append(f"{kind} {number}: {type(error).__name__}: {words}")
    assert not found, "\n" + "\n".join(found)
