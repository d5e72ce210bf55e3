"""``funnel inspect``, ``release`` and ``apply`` as a curator runs them, with right and wrong input."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import fields
from inspect import signature
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from test_cli import assert_users_mistake
from typer.testing import CliRunner

from commands import FUNNEL, funnel
from page_checks import numbers_in
from privacyfunnel import datasets
from privacyfunnel.cli import run
from privacyfunnel.cli.app import app
from privacyfunnel.cli.options import read_asked, spell_asked
from privacyfunnel.cli.release import release as release_command
from privacyfunnel.releases import files
from privacyfunnel.releases import release as release_module
from privacyfunnel.releases.request import ASKED, ReleaseRequest
from privacyfunnel.releases.written_file import NotAsMeasured

QUICK = ["--effort", "fast", "--points", 2, "--jobs", 1, "--no-attackers"]
FILES = {"release.parquet", *files.FILES}
NASTY = [
    "<script>alert(1)</script>", "a,b", 'say "hi"', "two\nlines", "O'Hara'; DROP TABLE t; --",
    "Zürich 北京", "</style><img src=x onerror=alert(1)>", None, "", "r1", "missing",
]  # fmt: skip


def test_each_field_of_a_request_is_an_option():
    told = {field.name: field for field in fields(ReleaseRequest)}
    options = signature(release_command).parameters
    assert set(told) - set(options) == {"target", "source", "command", "purpose"}
    assert set(told) & set(options) - set(ASKED) == {"secret"}  # a file has it
    for name, asked in ASKED.items():
        (option,) = options[name].annotation.__metadata__
        assert options[name].default == (None if asked.read else told[name].default)
        assert option.help == asked.meaning
        assert "--" not in option.help


EVERY = ReleaseRequest(
    {"kept": 0.5},
    hierarchies={"a=b": "trees/a.csv"},
    orders={"size": ["S", "M", "L"]},
    cuts={"age": [18.0, 65.5]},
    groups={"job": [["nurse", "cook, head"], ["a|b"]], "hour": [6.0, 18.0]},
    importance={"age": 2.0},
    keep=["id", "x,y"],
    recoding="local",
    round_cuts=True,
    attackers=False,
    seed=7,
    form="csv",
    is_public=True,
)
CAPPED = ReleaseRequest({}, caps={"sex": "0.01", "race": "guessing:0.02"})


@pytest.mark.parametrize("request_", [EVERY, CAPPED], ids=["readable", "caps"])
def test_a_request_that_is_spelled_as_options_is_read_again(request_):
    command = typer.main.get_command(app).commands["release"]
    words = ["t.csv", "-s", "a", "-x", "b", "-o", "out", *spell_asked(request_)]
    parsed = command.make_context("release", words).params
    given = read_asked({name: parsed[name] for name in ASKED})
    assert ReleaseRequest(request_.target, **given) == request_


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    """The demo table as csv, released once into ``out`` beside it."""
    folder = tmp_path_factory.mktemp("demo")
    datasets.load_demo().to_csv(folder / "demo.csv", index=False)
    done = funnel(
        "release", "demo.csv", "-s", "age,sex", "-x", "sex,chol", "--utility", 0.4,
        *QUICK, "-o", "out", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "Kept: 40" in done.stdout
    return folder


@pytest.mark.parametrize("command", ["inspect", "release", "apply"])
def test_help(command, tmp_path):
    done = funnel(command, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "--force" in done.stdout or command == "inspect"


def information(a: pd.Series, b: pd.Series) -> float:
    """I(A;B) in bits, from rows, in the most obvious way."""
    both = pd.concat([a, b], axis=1).value_counts(normalize=True, dropna=False)
    separate = [c.value_counts(normalize=True, dropna=False) for c in (a, b)]
    entropies = [-(p * np.log2(p)).sum() for p in (*separate, both)]
    return float(entropies[0] + entropies[1] - entropies[2])


def test_release_is_what_the_report_says(demo):
    table = pd.read_csv(demo / "demo.csv")
    released = pd.read_parquet(demo / "out" / "release.parquet").released.rename("r")
    s = (table.age.astype(str) + "/" + table.sex.astype(str)).rename("s")
    x = (table.sex.astype(str) + "/" + table.chol.astype(str)).rename("x")
    report = json.loads((demo / "out" / "report.json").read_text())
    utility = information(x, released) / information(x, x.rename("y"))
    leakage = information(s, released) / information(s, s.rename("y"))
    assert utility >= 0.4
    assert report["measured"]["utility"] == pytest.approx(utility, abs=1e-9)
    assert report["measured"]["leakage"] == pytest.approx(leakage, abs=1e-9)
    assert len(released) == len(table) == report["records"]["released"]
    book = json.loads((demo / "out" / "codebook.json").read_text())
    assert book["measured"]["leakage"] == pytest.approx(leakage, abs=1e-9)
    assert {p.name for p in (demo / "out").iterdir()} == FILES


def test_the_report_words_cures_as_the_command_does(demo):
    page = (demo / "out" / "report.html").read_text()
    assert "<span>--recoding</span> global keeps columns that people can read" in page
    assert "recoding=&#34;global&#34;" not in page


def test_a_trade_off_by_another_measure_may_be_steeper_than_one_for_one(demo, tmp_path):
    words = ["release", "demo.csv", "-s", "sex", "-x", "chol", "--lam", 2, *QUICK, "-o"]
    refused = funnel(*words, tmp_path / "bits", cwd=demo)
    assert (refused.returncode, refused.stderr.strip()) == (
        2,
        "funnel: lam must lie in [0, 1], got 2.",
    )
    done = funnel(*words, tmp_path / "guesses", "--measure", "guessing", cwd=demo)
    assert done.returncode == 0, done.stderr


def test_the_same_command_makes_the_same_release(demo, tmp_path):
    report = json.loads((demo / "out" / "report.json").read_text())
    words = report["reproduce"]["command"].split()
    assert words[:2] == ["funnel", "release"]
    again = funnel(*words[1:-1], tmp_path / "again", cwd=demo)
    assert again.returncode == 0, again.stderr
    for name in ("release.parquet", "codebook.json"):
        assert (tmp_path / "again" / name).read_bytes() == (demo / "out" / name).read_bytes()


def test_apply_on_the_same_table_reproduces_the_release(demo, tmp_path):
    out = tmp_path / "again.parquet"
    done = funnel("apply", demo / "out/codebook.json", demo / "demo.csv", "-o", out, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "442 rows" in done.stdout
    assert out.read_bytes() == (demo / "out" / "release.parquet").read_bytes()


def test_apply_treats_new_values_as_asked(demo, tmp_path):
    new = pd.DataFrame({"sex": [1, 2, 1] * 6, "chol": [157, 157, 9999] * 6})
    new.to_csv(tmp_path / "new.csv", index=False)
    args = ["apply", demo / "out/codebook.json", "new.csv", "-o", "coded.csv"]
    assert_users_mistake(funnel(*args, cwd=tmp_path), "9999")
    assert not (tmp_path / "coded.csv").exists()
    done = funnel(*args, "--unseen", "suppress", "--expand", "--keep", "sex", cwd=tmp_path)
    assert_users_mistake(done, "two columns named 'sex'")
    done = funnel(*args, "--unseen", "suppress", "--keep", "chol", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "'chol' is passed through as it is and not protected" in done.stderr
    assert "6 rows suppressed" in done.stdout
    coded = pd.read_csv(tmp_path / "coded.csv")
    assert coded.chol.tolist() == [157, 157, 9999] * 6
    assert coded.released.tolist()[2] == "suppressed"
    assert_users_mistake(funnel(*args, "--unseen", "suppress", cwd=tmp_path), "--force")


def test_a_soft_release_says_what_the_rule_and_what_the_draw_gives_away(demo, tmp_path):
    table = pd.read_csv(demo / "demo.csv").assign(id=lambda t: "p" + t.index.astype(str))
    table.to_csv(tmp_path / "in_order.csv", index=False)
    table.sample(frac=1, random_state=3).to_parquet(tmp_path / "shuffled.parquet", index=False)
    args = [
        "-s", "age", "-x", "sex,chol", "--round", "chol=20", "--soft", "--leakage", 0.01,
        "--key", "id", "--keep", "id", "--secret", "secret.txt",
    ]  # fmt: skip
    for name in ("in_order.csv", "shuffled.parquet"):
        done = funnel("release", name, *args, *QUICK, "-o", name.split(".")[0], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "drawn by lot" in done.stdout
    released = pd.read_parquet(tmp_path / "in_order" / "release.parquet")
    other = pd.read_parquet(tmp_path / "shuffled" / "release.parquet").set_index("id")
    assert released.released.tolist() == other.loc[released.id, "released"].tolist()

    report = json.loads((tmp_path / "in_order" / "report.json").read_text())
    assert report["release"]["code"] == "channel"
    assert report["measured"]["leakage"] <= 0.01 + 1e-9
    s, r = table.age.rename("s"), released.released.rename("r")
    seen = information(s, r) / information(s, s.rename("y"))
    assert report["drawn"]["leakage"] == pytest.approx(seen, abs=1e-9)
    assert seen > 0.1  # few records: chance makes most of it, and the report says so
    assert report["drawn"]["chance"]["mean_bits"] > 0.5 * report["drawn"]["leakage_bits"]
    page = (tmp_path / "in_order" / "report.html").read_text()
    assert "Chance alone would show" in page

    out = tmp_path / "again.parquet"
    book = tmp_path / "in_order" / "codebook.json"
    done = funnel(
        "apply", book, "shuffled.parquet", "--key", "id", "--keep", "id", "-o", out, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert pd.read_parquet(out).set_index("id").equals(other)


def test_a_public_soft_release_hides_the_draw(demo, tmp_path):
    done = funnel(
        "release", demo / "demo.csv", "-s", "age", "-x", "sex", "--soft", "--lam", 0.9,
        "--public", *QUICK, "-o", "out", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report, book = (
        json.loads((tmp_path / "out" / name).read_text())
        for name in ("report.json", "codebook.json")
    )
    assert "drawn" not in report
    assert "leakage" not in report["measured"]
    assert "salt" not in book or book["salt"] is None


def test_a_release_with_records_held_out_says_how_it_did_on_them(demo, tmp_path):
    args = ["-s", "age,sex", "-x", "sex,chol", "--utility", 0.4, *QUICK, "--holdout", 0.3]
    table = pd.read_csv(demo / "demo.csv").sample(frac=1, random_state=1)
    table.to_csv(tmp_path / "other_order.csv", index=False)
    for name in (demo / "demo.csv", "other_order.csv"):
        done = funnel("release", name, *args, "-o", Path(name).stem, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "Held out: a coding made from 309 records keeps " in done.stdout
        assert "The release itself is made from all records." in done.stdout
    report, other = (
        json.loads((tmp_path / name / "report.json").read_text())
        for name in ("demo", "other_order")
    )
    assert report["held_out"] == other["held_out"]
    assert report["held_out"]["unseen"]["n_records"] == 133
    assert report["held_out"]["unseen"]["n_suppressed"] > 30
    assert report["held_out"]["unseen"]["leakage"] > report["held_out"]["own"]["leakage"]
    book, plain = (tmp_path / "demo" / "codebook.json", demo / "out" / "codebook.json")
    assert book.read_bytes() == plain.read_bytes()  # made from all records, as without the check


def nasty_table(rows: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            'id"; DROP TABLE t; --': np.arange(rows),
            "<script>alert(1)</script>": rng.choice(np.array(NASTY, dtype=object), rows),
            "größe, cm": rng.choice([1.5, 2.0, np.nan], rows),
            "secret 'name'": rng.choice(np.array(["<b>yes</b>", "nej", None], dtype=object), rows),
        }
    )
    return table.astype({"<script>alert(1)</script>": object})


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_nasty_names_and_values_end_to_end(tmp_path, form):
    table = nasty_table()
    table.to_parquet(tmp_path / "nasty.parquet", index=False)
    keep = 'id"; DROP TABLE t; --'
    done = funnel(
        "release", "nasty.parquet", "-s", "secret 'name'",
        "-x", "<script>alert(1)</script>,größe,, cm", "--utility", 0.6, *QUICK,
        "--expand", "--keep", keep, "--format", form, "-o", "out", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    path = tmp_path / "out" / f"release.{form}"
    read = pd.read_parquet if form == "parquet" else pd.read_csv
    released = read(path)
    assert released[keep].tolist() == table[keep].tolist()
    assert released.released.notna().all()
    x = table["<script>alert(1)</script>"].map(repr) + "/" + table["größe, cm"].map(repr)
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    kept = information(x.rename("x"), released.released)
    assert report["measured"]["utility_bits"] == pytest.approx(kept, abs=1e-9)
    text = (tmp_path / "out" / "report.html").read_text()
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "<img" not in text
    again = funnel(
        "apply", "out/codebook.json", "nasty.parquet", "--expand", "--keep", keep,
        "-o", f"again.{form}", cwd=tmp_path,
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert (tmp_path / f"again.{form}").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("recoding", ["symbols", "global"])
def test_public_output_tells_nothing_about_s(tmp_path, recoding):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"illness": rng.choice(["Zebrapox", "Quokkitis", "none"], 200)})
    table["town"] = rng.integers(0, 12, 200)
    table.to_csv(tmp_path / "t.csv", index=False)
    args = [
        "release", "t.csv", "-s", "illness", "-x", "town", "--leakage", 0.0371, *QUICK,
        "--attackers", "--holdout", 0.3, "--recoding", recoding,
    ]  # fmt: skip
    private = funnel(*args, "-o", "private", cwd=tmp_path)
    public = funnel(*args, "--public", "-o", "public", cwd=tmp_path)
    assert private.returncode == public.returncode == 0, public.stderr
    secret = json.loads((tmp_path / "private" / "report.json").read_text())
    figures = {**secret["measured"], **secret["guessing"], **secret["stakes"]}
    checks = {"attackers": secret["audit"]["attackers"], "held out": secret["held_out"]}
    checks |= {
        row["key"]: [row["value"], row["original"]]
        for row in secret["audit"]["measures"]
        if row["key"] not in ("k", "unique")
    }
    figures |= {f"{key} {i}": n for key, v in checks.items() for i, n in enumerate(numbers_in(v))}
    symbols = numbers_in(
        secret["symbols"]
    )  # their sizes are public; a figure may be one by accident
    figures = {k: v for k, v in figures.items() if v not in symbols}
    figures = {k: v for k, v in figures.items() if isinstance(v, float) and 0 < v < 1e3}
    for name in ("utility", "utility_by_chance", "utility_bits", "entropy_x_bits"):
        figures = {k: v for k, v in figures.items() if v != secret["measured"][name]}
    for name in ("leakage", "entropy_s_bits", "attackers", "held out", "maximal_leakage"):
        assert any(figure.startswith(name) for figure in figures), name
    for name in ("codebook.json", "report.json", "report.html"):
        text = (tmp_path / "public" / name).read_text()
        for word in ("Zebrapox", "Quokkitis", "0.0371", "3.7%"):
            assert word not in text, (name, word)
        for key, value in figures.items():
            assert f"{value:.6f}"[:7] not in text, (name, key)
    done = funnel("apply", "public/codebook.json", "t.csv", "-o", "a.parquet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_inspect_tells_what_is_at_stake(demo):
    done = funnel("inspect", "demo.csv", "-s", "age,sex", "-x", "sex", "-x", "chol", cwd=demo)
    assert done.returncode == 0, done.stderr
    for words in (
        "442 rows",
        "5.23 bits about age and sex",
        "must give away something",
        "few records",
    ):
        assert words in done.stdout
    assert done.stderr == ""


def test_inspect_as_json_with_coarsening_and_identifiers(tmp_path):
    table = nasty_table().assign(w=0.5)
    table.to_parquet(tmp_path / "t.parquet")
    done = funnel(
        "inspect", "t.parquet", "-s", "secret 'name'", "-x", 'größe,, cm,id"; DROP TABLE t; --',
        "--bins", "größe, cm=1.7", "--weight", "w", "--json", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [c["identifier"] for c in found["public"]] == [False, True]
    assert found["public"][0]["coarsened"] == "in bins at 1.7"
    assert found["public"][0]["missing"] == int(table["größe, cm"].isna().sum())
    assert found["stakes"]["records"] is None
    assert {c["about"] for c in found["cautions"]} == {"identifier", "weighted records"}


@pytest.fixture(scope="module")
def wrong(tmp_path_factory, demo) -> Path:
    """A folder of tables with something wrong."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "demo.csv").write_bytes((demo / "demo.csv").read_bytes())
    (folder / "empty.csv").write_text("")
    (folder / "head.csv").write_text("age,chol\n")
    (folder / "binary.csv").write_bytes(b"age,chol\n\xff\xfe\x00\n")
    (folder / "bad.parquet").write_bytes(b"PAR1 this is none PAR1")
    (folder / "one.csv").write_text("age,chol\n1,2\n2,2\n")
    (folder / "taken").mkdir()
    (folder / "taken" / "report.json").write_text("{}")
    return folder


@pytest.mark.parametrize(
    ("table", "args", "words"),
    [
        ("none.csv", [], "none.csv"),
        ("empty.csv", [], "empty.csv is empty"),
        ("head.csv", [], "no rows"),
        ("binary.csv", [], "binary.csv"),
        ("bad.parquet", [], "bad.parquet"),
        ("one.csv", [], "one distinct value"),
        ("demo.csv", ["-x", "colh"], "did you mean 'chol'?"),
        ("demo.csv", ["-x", "age"], "the same"),
        ("demo.csv", ["--lam", 0.5], "exactly one of --kept, --leakage, --utility or --lam"),
        ("demo.csv", ["--utility", 1.5], "[0, 1]"),
        ("demo.csv", ["--format", "xlsx"], "format must be one of"),
        ("demo.csv", ["--keep", "nope"], "no kept column 'nope'"),
        ("demo.csv", ["--weight", "sex", "--person", "sex"], "cannot be counted by person"),
        ("demo.csv", ["--min-diversity", 100], "no combination can go with 100 of them"),
        ("demo.csv", ["--utility", 0.9, "--min-count", 100], "no release was found with a utility"),
        ("demo.csv", ["--jobs", 0], "jobs must not be 0"),
        ("demo.csv", ["--holdout", 0], "holdout must lie between 0 and 1, got 0"),
        ("demo.csv", ["--holdout", 1.2], "holdout must lie between 0 and 1, got 1.2"),
        ("demo.csv", ["--holdout", 0.01], "at least 10 are needed on either side"),
        ("demo.csv", ["--holdout", 0.3, "--weight", "sex"], "weighted records cannot be held out"),
        ("demo.csv", ["-o", "demo.csv"], "is a file"),
        ("demo.csv", ["-o", "demo.csv/out"], "is a file"),
        ("demo.csv", ["-o", "taken"], "use --force"),
    ],
)
def test_release_refuses_bad_requests(wrong, table, args, words, monkeypatch, capsys):
    before = {p: p.stat().st_mtime_ns for p in wrong.rglob("*")}
    public = [] if "-x" in args else ["-x", "chol"]
    base = ["-s", "age", *public, "--utility", 0.4, *QUICK, "-o", "out"]
    monkeypatch.chdir(wrong)
    monkeypatch.setattr(sys, "argv", ["funnel", "release", table, *map(str, [*base, *args])])
    assert run() == 2
    printed = capsys.readouterr()
    assert words in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert {p: p.stat().st_mtime_ns for p in wrong.rglob("*")} == before


def test_apply_refuses_bad_codebooks(demo, wrong, tmp_path):
    good = (demo / "out" / "codebook.json").read_text()
    books = {
        "newer": (good.replace('"version": 1', '"version": 2'), "upgrade"),
        "edited": (good.replace('"label": "r', '"label": "q', 1), "edited by hand"),
        "other": ("[1, 2]", "not a valid codebook"),
    }
    for name, (text, words) in books.items():
        (tmp_path / name).write_text(text)
        done = funnel("apply", tmp_path / name, demo / "demo.csv", "-o", "a.csv", cwd=tmp_path)
        assert_users_mistake(done, words)
    done = funnel("apply", "none.json", demo / "demo.csv", "-o", "a.csv", cwd=tmp_path)
    assert_users_mistake(done, "none.json")
    assert not (tmp_path / "a.csv").exists()


def test_the_table_itself_is_never_replaced(demo, tmp_path):
    table = pd.read_csv(demo / "demo.csv")
    table.to_parquet(tmp_path / "release.parquet")
    base = ["-s", "age", "-x", "chol", "--utility", 0.4, *QUICK, "--force", "-o", "."]
    done = funnel("release", "release.parquet", *base, cwd=tmp_path)
    assert_users_mistake(done, "the table itself")
    assert [p.name for p in tmp_path.iterdir()] == ["release.parquet"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(demo, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    base = ["-s", "age", "-x", "chol", "--utility", 0.4, *QUICK]
    for place in ("locked", "locked/out"):
        done = funnel("release", demo / "demo.csv", *base, "-o", place, cwd=tmp_path)
        assert_users_mistake(done, "no permission")


def test_a_disk_that_fills_while_writing_leaves_nothing(demo, tmp_path):
    command = [
        *FUNNEL, "release", demo / "demo.csv", "-s", "age", "-x", "chol", "--utility", 0.4,
        *QUICK, "-o", "out",
    ]  # fmt: skip
    done = subprocess.run(
        list(map(str, command)),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000)),
        check=False,
    )
    assert_users_mistake(done, "cannot write")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_exits_130_with_one_line_and_leaves_nothing(demo, tmp_path, jobs):
    command = [
        *FUNNEL, "release", demo / "demo.csv", "-s", "age,sex", "-x", "sex,chol", "--utility", 0.4,
        "--effort", "thorough", "--points", 99, "--jobs", jobs, "-o", "out",
    ]  # fmt: skip
    process = subprocess.Popen(
        list(map(str, command)),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(600):
        if any(tmp_path.iterdir()):  # the search has begun
            break
        time.sleep(0.1)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr) == (130, "", "funnel: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_our_fault_exits_1_and_leaves_nothing(demo, tmp_path, monkeypatch):
    def complain(*_):
        raise NotAsMeasured("the written file has leakage 1 bits instead of 0.")

    monkeypatch.setattr(release_module, "check_same", complain)
    args = ["release", demo / "demo.csv", "-s", "age", "-x", "chol", "--utility", 0.4, *QUICK]
    done = CliRunner().invoke(app, list(map(str, [*args, "-o", tmp_path / "out"])))
    assert done.exit_code == 1
    assert "the written file has leakage" in done.output
    assert list(tmp_path.iterdir()) == []
