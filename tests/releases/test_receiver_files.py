"""What receivers get beside a release: valid, public in every folder, and no byte of it changed."""

from __future__ import annotations

import json
import shutil
import warnings

import numpy as np
import pandas as pd
import pytest

import privacyfunnel as pf
from page_checks import assert_inert
from privacyfunnel.cli.app import app
from privacyfunnel.errors import InvalidInput
from privacyfunnel.releases.checksums import checksums, read_checksums
from privacyfunnel.releases.files import (
    CHECKSUMS,
    CODEBOOK,
    CROISSANT,
    DOCUMENT,
    FILES,
    PACKAGE,
    README,
)
from privacyfunnel.releases.verification import verify

QUICK = {"effort": "fast", "points": 2, "attackers": False, "min_count": 1}
CASES = {
    "global": {"kept": 0.5, "keep": ["id"]},
    "public": {"kept": 0.5, "is_public": True, "form": "csv", "min_count": 4, "numbers": "bounds"},
    "symbols": {"utility": 0.4, "expand": True, "form": "csv"},
    "local": {"kept": 0.4, "recoding": "local", "min_count": 4, "numbers": "mean"},
    "soft": {"utility": 0.2, "soft": True},
}


def people(n=240):
    rng = np.random.default_rng(0)
    ill = rng.integers(0, 2, n)
    return pd.DataFrame(
        {
            "ill": ill,
            "age": rng.integers(18, 50, n) + 5 * ill,
            'the "city"; <b>': rng.choice(["Bonn", "Rom", "O'Hara'; --", None], n),
            "id": range(n),
        }
    )


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("releases")
    for name, options in CASES.items():
        public = ["age", 'the "city"; <b>']
        pf.release(people(), "ill", public, out=place / name, **(QUICK | options))
    return place


@pytest.mark.parametrize("case", CASES)
def test_a_release_is_as_it_tells(case, folders):
    alone, beside = verify(folders / case), verify(folders / case, people())
    assert alone.is_good, list(map(str, alone.findings))
    assert beside.is_good, list(map(str, beside.findings))
    assert alone.n_files == len(FILES)  # the table and all but the checksums
    assert beside.n_figures > alone.n_figures > 3
    assert any("table" in line for line in alone.not_measured)


def test_each_changed_byte_is_found_and_named(folders, tmp_path):
    rng = np.random.default_rng(1)
    names = ["release.csv", *FILES]
    for turn in range(50):
        name = names[turn % len(names)]
        place = tmp_path / "changed"
        shutil.copytree(folders / "public", place)
        data = bytearray((place / name).read_bytes())
        at = int(rng.integers(len(data)))
        data[at] ^= int(rng.integers(1, 256))
        (place / name).write_bytes(data)
        assert [finding.file for finding in verify(place).findings] == [name]
        shutil.rmtree(place)


def resigned(folder):
    """Fingerprints made again, as one would who wants to hide a change."""
    names = list(read_checksums(folder / CHECKSUMS))
    (folder / CHECKSUMS).write_text(checksums(folder, names), encoding="utf-8")


@pytest.mark.parametrize(
    "path",
    [
        ("measured", "leakage"), ("measured", "utility_bits"), ("records", "released"),
        ("guessing", "released"), ("stakes", "information_bits"), ("columns", 0, "kept"),
        ("recoding", "columns", 0, "groups", 0, "records"), ("recoding", "columns", 1, "alone"),
        ("recoding", "kept"), ("symbols", "largest", 0, "count"), ("audit", "columns", 0, "leakage"),
    ],
)  # fmt: skip
def test_a_wrong_figure_is_found_and_named(path, folders, tmp_path):
    place = tmp_path / "wrong"
    shutil.copytree(folders / "global", place)
    document = json.loads((place / DOCUMENT).read_text())
    part = document
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] += 0.01
    (place / DOCUMENT).write_text(json.dumps(document))
    resigned(place)
    found = verify(place, people()).findings
    assert any(f.file == DOCUMENT and str(path[-1]) in f.what for f in found)


def test_other_rows_are_found(folders, tmp_path):
    place = tmp_path / "rows"
    shutil.copytree(folders / "public", place)
    rows = pd.read_csv(place / "release.csv", keep_default_na=False)
    rows.loc[0] = rows.loc[rows["age"] != rows["age"][0]].iloc[0]
    rows.to_csv(place / "release.csv", index=False)
    resigned(place)
    files = {finding.file for finding in verify(place).findings}
    assert files == {CODEBOOK, DOCUMENT}


@pytest.mark.parametrize("recoding", ["global", "local"])
def test_labels_that_look_like_other_values_are_read_as_they_are(recoding, tmp_path):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "ill": rng.integers(0, 2, 200),
            "pet": rng.random(200) < 0.4,
            "car": rng.choice(["yes", "no"], 200),
            "seen": pd.Timestamp("2024-05-01 12:30")
            + pd.to_timedelta(rng.integers(0, 4, 200), "h"),
            "dose": rng.choice([0.5, 1.0, 1e20], 200),
        }
    )
    table.to_csv(tmp_path / "table.csv", index=False)
    public = ["pet", "car", "seen", "dose"]
    asked = QUICK | {"kept": 0.9, "recoding": recoding, "form": "csv"}
    pf.release(tmp_path / "table.csv", "ill", public, out=tmp_path / "out", **asked)
    done = verify(tmp_path / "out", tmp_path / "table.csv")
    assert done.is_good, list(map(str, done.findings))
    assert "True" in (tmp_path / "out" / "release.csv").read_text()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("n", [200, 245])
def test_a_table_with_more_or_fewer_rows_is_found(case, n, folders):
    other = pd.concat([people(), people()]).head(n)
    words = [str(finding) for finding in verify(folders / case, other).findings]
    assert any(f"it has 240 rows, of a table that makes {n}" in line for line in words), words
    if case != "public":  # which does not tell
        assert any("records.in_table" in line for line in words), words


def test_the_command_ends_with_3(folders, tmp_path):
    from typer.testing import CliRunner

    people().to_csv(tmp_path / "people.csv", index=False)
    done = CliRunner().invoke(app, ["verify", str(folders / "symbols")])
    assert done.exit_code == 0, done.output
    assert "All is as it was told." in done.output
    place = tmp_path / "changed"
    shutil.copytree(folders / "symbols", place)
    (place / README).write_text("Hello")
    done = CliRunner().invoke(app, ["verify", str(place)])
    assert done.exit_code == 3
    assert "README.html" in done.output
    with pytest.raises(InvalidInput, match="no folder"):
        verify(tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match=CHECKSUMS):
        verify(tmp_path)


@pytest.mark.parametrize("case", CASES)
def test_catalogues_find_nothing_wrong(case, folders, caplog):
    frictionless = pytest.importorskip("frictionless")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mlcroissant = pytest.importorskip("mlcroissant")
        found = frictionless.validate(str(folders / case / PACKAGE))
        assert found.valid, found.flatten(["type", "note"])
        data = mlcroissant.Dataset(str(folders / case / CROISSANT))
    assert data.metadata.issues.report() == ""
    assert not caplog.records
    fields = json.loads((folders / case / PACKAGE).read_text())["resources"][0]["schema"]["fields"]
    document = json.loads((folders / case / DOCUMENT).read_text())
    assert [field["name"] for field in fields] == document["release"]["columns"]


def test_receivers_get_the_same_from_a_private_folder(tmp_path):
    for name in ("private", "public"):
        pf.release(
            people(),
            "ill",
            ["age"],
            kept=0.5,
            out=tmp_path / name,
            is_public=name == "public",
            **QUICK,
        )
    texts = [(tmp_path / name / PACKAGE).read_bytes() for name in ("private", "public")]
    assert texts[0] == texts[1]
    private = json.loads((tmp_path / "private" / DOCUMENT).read_text())
    page = (tmp_path / "private" / README).read_text()
    assert_inert(page)
    for figure in ("leakage", "leakage_bits", "entropy_s_bits", "gap_bits"):
        told = f"{private['measured'][figure]:.4g}"
        assert len(told) < 4 or told not in page
    assert "ill" not in page.split()


def test_what_shared_columns_tell_is_left_out(tmp_path):
    table = people()
    table["ward"] = table["id"] % 3
    made = pf.release(
        table,
        ["age", "ill"],
        ["age", "ward"],
        kept=0.5,
        out=tmp_path / "out",
        is_public=True,
        **QUICK,
    )
    book = pf.Codebook.load(made.folder / CODEBOOK)
    assert not any(tally.values for tally in book.tallies[0])
    assert any(tally.values for tally in book.tallies[1])
