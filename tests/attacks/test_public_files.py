"""What a public folder must not tell: each attack was carried out, and succeeded, before."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import stat
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from channel_attack import alike, direction, private_book, private_table, shared_out, truth

import privacyfunnel as pf
from privacyfunnel.codebook import Codebook
from privacyfunnel.codebook.draws import draw
from privacyfunnel.codebook.file import write
from privacyfunnel.columns import ColumnRules
from privacyfunnel.errors import DataUnavailable, InvalidInput, UnknownSymbol
from privacyfunnel.tables import count, open_table, write_release

# --- the channel ------------------------------------------------------------------------------


def test_the_public_codebook_does_not_solve_for_the_sensitive_column():
    before, after = [], []
    for seed in range(6):
        joint, book = private_book(private_table(seed))
        before.append(alike(direction(json.loads(write(book))), truth(joint)))
        after.append(alike(direction(json.loads(write(book.public()))), truth(joint)))
    assert min(before) > 0.99  # the attack works where the channel is told
    assert max(after) < 0.9  # it hangs on which value is typical of no symbol; at random: 0.4
    assert np.mean(after) < 0.7


def test_who_knows_x_cannot_solve_for_the_channel_of_a_public_codebook():
    """Told to the last digit, p(x̂) and I(X;X̂) were the channel, and so the direction of p(s given x)."""
    before, after = [], []
    for seed in range(1, 7):
        joint, book = private_book(private_table(seed))
        public = json.loads(write(book.public()))
        exact = public | {"measured": book.measured, "symbols": [vars(s) for s in book.symbols]}
        for document, found in ((exact, before), (public, after)):
            null = np.linalg.svd(shared_out(document, joint.p_x).T)[2][-1]
            found.append(alike(null, truth(joint)))
    assert np.mean(before) > 0.95
    assert np.mean(after) < 0.7  # at random: 0.4


def test_the_public_codebook_says_what_is_typical_and_no_more():
    _, book = private_book(private_table(0))
    document = json.loads(write(book.public()))
    assert "rows" not in document
    assert all(set(s) == {"label", "probability", "stands_for"} for s in document["symbols"])
    for symbol in document["symbols"]:
        assert symbol["stands_for"][0].split()[0] in ("mostly", "often")
    with pytest.raises(InvalidInput, match="private"):
        book.public().encode("v0", key=1)


# --- the secret of the draws ------------------------------------------------------------------


def test_the_secret_cannot_be_guessed_from_the_seed_and_all_records():
    """Once it was a digest of seed, labels and counts: who knew all S but one tried two tables."""
    table = private_table(1, n=36)
    joint, book = private_book(table, seed=0)
    found = hashlib.sha256(repr((joint.counts.shape, 0, joint.labels_s, joint.labels_x)).encode())
    for part in (joint.counts.indptr, joint.counts.indices, joint.counts.data):
        found.update(part.astype("<f8").tobytes())
    assert book.salt != found.hexdigest()[:32]
    assert private_book(table, seed=0)[1].salt != book.salt
    assert private_book(table, secret=book.salt)[1].salt == book.salt


@pytest.mark.skipif(os.name != "posix", reason="rights of files as POSIX has them")
def test_the_private_codebook_is_for_its_owner_only(tmp_path):
    _, book = private_book(private_table(1))
    book.save(tmp_path / "private.json")
    book.public().save(tmp_path / "public.json")
    assert stat.S_IMODE((tmp_path / "private.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "public.json").stat().st_mode) & 0o044


# --- draws ------------------------------------------------------------------------------------


def test_a_record_keeps_its_draw_under_one_secret(tmp_path):
    """58% kept their symbol when the secret changed with the table."""
    table = private_table(2).assign(id=range(300))
    _, book = private_book(table, secret="kept apart from the table")
    first = write_release(table, book, tmp_path / "a.csv", key="id", keep="id").path
    later = table.sample(frac=0.7, random_state=0)
    second = write_release(later, book, tmp_path / "b.csv", key="id", keep="id").path
    both = pd.read_csv(first).merge(pd.read_csv(second), on="id")
    assert len(both) == 210
    assert (both["released_x"] == both["released_y"]).all()


def test_who_releases_named_records_by_lot_is_told_to_keep_the_codebook(tmp_path):
    """Three searches under one secret told as much as X itself: the draw is the same, the code is not."""
    table = private_table(2).assign(id=range(300))
    for key, warned in (("id", True), (None, False)):
        made = pf.release(
            table, "s", "x", out=tmp_path / str(key), leakage=0.01, soft=True, key=key, effort="fast",
            points=2, attackers=False,
        )  # fmt: skip
        about = {caution["about"]: caution for caution in made.document["cautions"]}
        assert ("records that come back" in about) == warned


def test_row_seven_of_every_table_has_draws_of_its_own(tmp_path):
    table = private_table(3, n=600)
    _, book = private_book(table)
    same = table.assign(x="v0")
    one = pd.read_csv(write_release(same, book, tmp_path / "a.csv").path)["released"]
    changed = pd.concat([same.iloc[:-1], table[table["x"] != "v0"].iloc[:1]])
    other = pd.read_csv(write_release(changed, book, tmp_path / "b.csv").path)["released"]
    again = pd.read_csv(write_release(same, book, tmp_path / "c.csv").path)["released"]
    assert (one == again).all()
    shares = one.value_counts(normalize=True)
    by_chance = float((shares**2).sum())
    assert abs(float((one == other)[:-1].mean()) - by_chance) < 0.1  # it was 1
    assert draw(book.check_salt(), 7) != draw(book.check_salt() + ":1", 7)


# --- least counts -----------------------------------------------------------------------------


def hard_book(table: pd.DataFrame, min_count: int) -> Codebook:
    counted = count(table, "s", "x")
    solution = pf.Solution.measured(
        counted.joint(),
        pf.Funnel(0.5),
        pf.Partition.identity(counted.joint().n_x),
        pf.Status.CONVERGED,
    )
    return Codebook.from_solution(counted.joint(), solution, counted.roles, min_count=min_count)


def test_applying_a_codebook_keeps_the_least_count(tmp_path):
    table = private_table(4)
    hard_book(table, 5).save(tmp_path / "c.json")
    book = Codebook.load(tmp_path / "c.json")
    new = pd.DataFrame({"x": ["v0"] * 9 + ["v1"] * 7 + ["v2"]})  # v2 would go out alone
    with pytest.raises(InvalidInput, match="'r3' would go out with 1 records, fewer than the 5"):
        write_release(new, book, tmp_path / "o.csv")
    done = write_release(new, book, tmp_path / "o.csv", unseen="suppress", expand=True)
    counts = pd.read_csv(done.path)["released"].value_counts()
    assert counts.to_dict() == {"r1": 9, "suppressed": 8}  # v1 joins: one suppressed row is one too
    assert pd.read_csv(done.path).loc[9:, "x"].isna().all()
    with pytest.raises(InvalidInput, match="1 records would be released"):
        write_release(new[-1:], book, tmp_path / "p.csv", unseen="suppress")
    strange = new.replace("v2", "v9")  # no label is rare: what is wrong is the value
    with pytest.raises(UnknownSymbol, match="'x' has the value v9"):
        write_release(strange, book, tmp_path / "p.csv")


def test_what_is_dropped_counts_for_no_label(tmp_path):
    table = private_table(4).astype({"s": "Int64"})
    counted = count(table, "s", "x", columns=ColumnRules(missing="drop"))
    solution = pf.Solution.measured(
        counted.joint(), pf.Funnel(0.5), pf.Partition.identity(5), pf.Status.CONVERGED
    )
    book = Codebook.from_solution(counted.joint(), solution, counted.roles, min_count=3)
    new = pd.DataFrame({"s": [1, 1, None, None, 0, 0, 0], "x": ["v0"] * 4 + ["v1"] * 3})
    with pytest.raises(InvalidInput, match="'r1' would go out with 2 records"):
        write_release(new.astype({"s": "Int64"}), book, tmp_path / "o.csv")


def test_what_was_suppressed_has_no_mean(tmp_path):
    """Two patients were * in every column, and the codebook told how old they are on average."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"s": rng.integers(0, 2, 62), "age": [30] * 30 + [50] * 30 + [93, 97]})
    made = pf.release(
        table, "s", "age", out=tmp_path / "out", lam=1.0, recoding="global", min_count=2,
        numbers="mean", suppress=0.1, is_public=True, effort="fast", attackers=False,
        hierarchies={"age": str(ages(tmp_path))}, form="csv",
    )  # fmt: skip
    document = json.loads((tmp_path / "out" / "codebook.json").read_text())
    means = {g["label"]: g.get("mean") for g in document["columns"][0]["groups"]}
    assert made.document["recoding"]["suppressed"] > 0
    assert means.pop("*") is None
    assert set(means.values()) == {30, 50}
    released = pd.read_csv(tmp_path / "out" / "release.csv", skip_blank_lines=False)
    assert released["age"].isna().sum() == 2


def ages(folder: Path) -> Path:
    """A tree in which 93 and 97 meet nobody below the root."""
    place = folder / "ages.csv"
    place.write_text("".join(f"{age};*\n" for age in (30, 50, 93, 97)))
    return place


# --- a hostile database -----------------------------------------------------------------------


def test_a_view_of_a_database_reads_no_other_file(tmp_path):
    (tmp_path / "salaries.csv").write_text("s,x\n1,secret\n0,open\n")
    with duckdb.connect(str(tmp_path / "d.duckdb")) as con:
        con.execute("CREATE TABLE t AS SELECT range % 2 AS s, range % 3 AS x FROM range(60)")
        con.execute(f"CREATE VIEW v AS FROM read_csv('{tmp_path / 'salaries.csv'}')")
        con.execute("CREATE VIEW w AS SELECT s, x + 1 AS x FROM t")
    with pytest.raises(DataUnavailable, match="cannot read"):
        open_table(f"duckdb://{tmp_path / 'd.duckdb'}#v")
    for name in "tw":
        table = open_table(f"duckdb://{tmp_path / 'd.duckdb'}#{name}", memory="200MB")
        done = write_release(table, hard_book(table, 1), tmp_path / f"{name}.csv")
        assert done.n_released == 60


# --- rows left out ----------------------------------------------------------------------------


@pytest.mark.parametrize("fmt", ["csv", "parquet"])
def test_a_random_order_does_not_tell_who_was_left_out(fmt, tmp_path):
    """With X of all records and the code, the rows of the file can be laid beside the table's."""
    table = private_table(5, n=400).astype({"s": "Int64"})
    table.loc[::9, "s"] = None
    counted = count(table, "s", "x", columns=ColumnRules(missing="drop"))
    solution = pf.Solution.measured(
        counted.joint(), pf.Funnel(0.5), pf.Partition.identity(5), pf.Status.CONVERGED
    )
    book = Codebook.from_solution(counted.joint(), solution, counted.roles)
    symbols = [book.encode(x) for x in table["x"]]
    lacking = set(table.index[table["s"].isna()])

    def found(shuffle: bool) -> float:
        place = tmp_path / f"{shuffle}.{fmt}"
        done = write_release(table, book, place, shuffle=shuffle, keep="x")
        read = pd.read_csv if fmt == "csv" else pd.read_parquet
        released = read(done.path)
        assert len(released) == 400 - len(lacking)
        assert (released["x"].map(book.encode) == released["released"]).all()
        matcher = difflib.SequenceMatcher(None, symbols, list(released["released"]), False)
        kept = {i for a, _, n in matcher.get_matching_blocks() for i in range(a, a + n)}
        guessed = set(table.index) - kept
        return len(guessed & lacking) / len(guessed)

    assert found(shuffle=False) > 0.6
    assert found(shuffle=True) < 0.3  # 45 of 400 lack it
