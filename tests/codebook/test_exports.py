"""A codebook for other tools: a dbt project that builds, ARX's files that come back, a list."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from test_sql import applied

from coded_rows import LEARNT, book, rows
from privacyfunnel.codebook.exports.dbt import to_dbt
from privacyfunnel.codebook.recoded import holds
from privacyfunnel.codebook.tallies import Tally
from privacyfunnel.errors import InvalidInput
from privacyfunnel.recodings.hierarchy import Hierarchy
from warehouses import as_rows

DBT = Path(sys.prefix) / "dbt" / "bin" / "dbt"  # an environment of its own: see the Makefile


@pytest.mark.skipif(not DBT.exists(), reason="dbt is not installed beside the tests' environment")
def test_the_dbt_project_builds_the_same_rows(tmp_path):
    given = rows(2000, seed=5)
    con = duckdb.connect(str(tmp_path / "house.duckdb"))
    con.register("given", given)
    con.execute('CREATE TABLE "the table" AS FROM given')
    con.close()
    # One project with the models of several codebooks costs one start of dbt.
    project = tmp_path / "project"
    cases = ["symbols", "global, many names", "local, least count"]
    for i, case in enumerate(cases):
        made = to_dbt(book(case), table="the table", keep=["id"])
        for path, text in made.items():
            name = path if path == "dbt_project.yml" else path.replace("/", f"/c{i}_", 1)
            text = text.replace("ref('funnel_", f"ref('c{i}_funnel_")
            text = text.replace('"name": "funnel_', f'"name": "c{i}_funnel_')
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(text, encoding="utf-8")
    settings = json.loads((project / "dbt_project.yml").read_text())
    settings["name"] = "funnel_release"
    (project / "dbt_project.yml").write_text(json.dumps(settings))
    profile = {"type": "duckdb", "path": str(tmp_path / "house.duckdb"), "threads": 1}
    (project / "profiles.yml").write_text(
        json.dumps({"funnel_release": {"target": "dev", "outputs": {"dev": profile}}})
    )
    ran = subprocess.run(
        [DBT, "--no-use-colors", "build", "--project-dir", project, "--profiles-dir", project],
        capture_output=True, text=True, cwd=tmp_path, check=False,
        env={**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "PYTHONPATH": ""},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout[-3000:]
    con = duckdb.connect(str(tmp_path / "house.duckdb"))
    for i, case in enumerate(cases):
        found = con.execute(f"FROM c{i}_funnel_release").fetchall()
        assert as_rows(found) == applied(book(case), given.drop_columns(["ill"]), tmp_path)
    con.close()


@pytest.mark.parametrize("case", ["global, many names", "global, numbers", "local, plain"])
def test_hierarchy_files_come_back(case, tmp_path):
    coded = book(case)
    for i, (name, text) in enumerate(coded.to_arx().items()):
        (tmp_path / name).write_text(text, encoding="utf-8")
        groups = coded.columns[i].groups
        values = sorted({v for tally in coded.tallies[i] for v, _ in tally.values if v is not None})
        tree = Hierarchy.read(tmp_path / name).tree(values)
        made = {group.label: set(group.members) & set(values) for group in tree.groups}
        n_checked = 0
        for group in groups:
            inside = {value for value in values if holds(group, value)}
            if 1 < len(inside) < len(values):
                assert made[group.label] == inside
                n_checked += 1
        assert n_checked or len(groups) < 3 or name == "smoker.csv"


def test_what_a_hierarchy_file_cannot_hold_is_said():
    with pytest.raises(InvalidInput, match="cannot hold"):
        book("global").to_arx()  # a text of two lines


def test_symbols_have_no_hierarchy():
    with pytest.raises(InvalidInput, match="no groups"):
        book("symbols").to_arx()


def test_the_list_holds_every_record():
    for case in ("symbols", "global", "local"):
        coded = book(case)
        lines = list(csv.DictReader(io.StringIO(coded.to_csv())))
        total = sum(float(line["records"]) for line in lines)
        assert total == coded.n_records * (len(coded.columns) or 1)
        if coded.columns:
            ages = [line for line in lines if line["column"] == "age"]
            missing = sum(float(line["records"]) for line in ages if line["is_missing"] == "1")
            assert missing == LEARNT["age"].null_count


def test_the_list_has_0_where_no_record_is_released_so_and_nothing_where_it_is_not_told():
    coded = book("local, plain")
    first = coded.tallies[0]
    nobody = replace(coded, tallies=((Tally(0.0), *first[1:]), *coded.tallies[1:]))
    group = coded.columns[0].groups[0].label
    lines = list(csv.DictReader(io.StringIO(nobody.to_csv())))
    assert {line["records"] for line in lines if line["released"] == group} == {"0"}
    listed = csv.DictReader(io.StringIO(coded.to_csv()))
    told = [line["records"] for line in listed]  # values that nobody in a group has are there too
    assert "0" in told
    assert "" not in told
    hidden = csv.DictReader(io.StringIO(book("local, least count").public().to_csv()))
    assert "" in [line["records"] for line in hidden]


def test_the_command_writes_each_form(tmp_path):
    from typer.testing import CliRunner

    from privacyfunnel.cli.app import app

    place = tmp_path / "codebook.json"
    book("global, many names").save(place)

    def run(*words):
        return CliRunner().invoke(app, ["export", str(place), *map(str, words)])

    done = run(
        "--to", "sql", "--dialect", "postgres", "--table", "s.people", "-o", tmp_path / "r.sql"
    )
    assert done.exit_code == 0, done.output
    assert '"s"."people"' in (tmp_path / "r.sql").read_text()
    assert stat.S_IMODE((tmp_path / "r.sql").stat().st_mode) == 0o600
    for form in ("dbt", "arx"):
        done = run("--to", form, "-o", tmp_path / form)
        assert done.exit_code == 0, done.output
        with pytest.raises(InvalidInput, match="exists"):
            CliRunner().invoke(
                app,
                ["export", str(place), "--to", form, "-o", str(tmp_path / form)],
                catch_exceptions=False,
            )
    assert (tmp_path / "dbt" / "models" / "funnel_release.sql").exists()
    assert sorted(path.name for path in (tmp_path / "arx").iterdir()) == ["age.csv", "code.csv"]
    assert run("--to", "csv", "-o", tmp_path / "c.csv").exit_code == 0
    assert isinstance(run("--to", "xml", "-o", tmp_path / "x").exception, InvalidInput)
