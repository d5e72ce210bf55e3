"""Each command as a user runs it, with right and with wrong input."""

import subprocess
import sys
import warnings
from pathlib import Path

import pandas as pd
import pytest
from typer import Context
from typer.main import get_command

import privacyfunnel as pf
from commands import FUNNEL, funnel
from privacyfunnel import datasets, errors
from privacyfunnel.cli.app import app
from privacyfunnel.cli.hints import HINTS
from privacyfunnel.columns import MISSING
from privacyfunnel.columns.missing import ALLOWING
from privacyfunnel.solvers import SOLVERS


@pytest.fixture
def patients(tmp_path) -> Path:
    table = pd.DataFrame({"age": [40, 40, 61, 61, 35, 35] * 4, "sex": ["m", "f"] * 12})
    table["chol"] = [200, 210, 220, 210, 230, 200, 220, 240] * 3
    path = tmp_path / "patients.csv"
    table.to_csv(path, index=False)
    return path


def assert_users_mistake(done: subprocess.CompletedProcess[str], words: str) -> None:
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def started(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command from its very start."""
    return subprocess.run([*FUNNEL, *args], cwd=cwd, capture_output=True, text=True, timeout=300)


def test_help_and_version(tmp_path):
    for command in ([], ["demo"], ["frontier"], ["reproduce"], ["inspect"], ["release"], ["apply"]):
        done = started(*command, "--help", cwd=tmp_path)
        assert done.returncode == 0
        assert "Usage" in done.stdout
    assert started("--version", cwd=tmp_path).stdout.startswith("funnel ")


def test_help_does_not_import_the_heavy_parts():
    heavy = ["numpy", "numba", "pandas", "duckdb", "matplotlib"]
    code = f"""if True:
        import sys
        from privacyfunnel.cli import run
        sys.argv = ["funnel", "--help"]
        run()
        print([m for m in {heavy} if m in sys.modules])
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_names_every_method():
    command = get_command(app).commands["frontier"]
    (method,) = (p for p in command.get_params(Context(command)) if p.name == "method")
    assert method.help.startswith("best, ")
    assert all(name in method.help for name in SOLVERS)
    assert "annealing (ib)" in method.help


def test_help_names_every_way_with_missing_values():
    params = get_command(app).commands["release"].params
    (said,) = (param.help for param in params if param.name == "missing")
    assert all(name in said for name in MISSING)
    assert MISSING["symbol"].choice in said
    allowing = [name for name, policy in MISSING.items() if not policy.refuses]
    for hints in (HINTS, errors.HINTS):
        assert hints["missing"].format(allowing=ALLOWING).endswith(" or ".join(allowing))


def catalogued(folder):
    """Catalogues find nothing wrong with a release, and all is as it was made."""
    frictionless, mlcroissant = map(pytest.importorskip, ("frictionless", "mlcroissant"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert frictionless.validate(str(folder / "datapackage.json")).valid
        found = mlcroissant.Dataset(str(folder / "croissant.json")).metadata.issues.report()
    assert found == ""
    assert pf.verify(folder, datasets.load_demo()).is_good


def test_demo_tells_its_story(tmp_path):
    done = started("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "442 patients" in done.stdout
    assert "proved optimal" in done.stdout
    assert done.stderr == ""
    names = {path.name for path in (tmp_path / "funnel-demo").iterdir()}
    assert names == {"frontier.csv", "frontier.png", "frontier.html", "release"}
    catalogued(tmp_path / "funnel-demo" / "release")
    assert_users_mistake(funnel("demo", cwd=tmp_path), "use --force")


@pytest.mark.parametrize("problem", ["pf", "ib"])
def test_frontier_writes_csv_picture_and_page(patients, problem):
    folder = patients.parent / "out"
    done = funnel(
        "frontier", patients, "-s", "age,sex", "-x", "sex, chol", "--problem", problem,
        "--points", 5, "--effort", "fast", "--jobs", 1, "-o", folder, cwd=patients.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    frame = pd.read_csv(folder / "frontier.csv")
    assert frame.columns[:3].tolist() == ["problem", "method", "lam"]
    assert set(frame.problem) == {"funnel" if problem == "pf" else "bottleneck"}
    assert (folder / "frontier.png").read_bytes().startswith(b"\x89PNG")
    page = (folder / "frontier.html").read_text()
    assert "released symbols" in page
    assert '<script src="http' not in page


def test_a_frontier_of_coarser_columns(patients):
    folder = patients.parent / "coarse"
    done = funnel(
        "frontier", patients, "-s", "age", "-x", "chol", "--round", "age=10", "--bins", "chol=4",
        "--points", 3, "--effort", "fast", "-o", folder, cwd=patients.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert pd.read_csv(folder / "frontier.csv").n_symbols.max() <= 5  # 4 bins and missing


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["-s", "age", "-x", "weight"], "weight"),
        (["-s", "age", "-x", ","], "column names are missing"),
        (["-s", "age", "-x", "chol", "--problem", "xx"], "--problem must be pf or ib"),
        (["-s", "age", "-x", "chol", "--method", "magic"], "method must be one of"),
        (["-s", "age", "-x", "chol", "--effort", "huge"], "effort must be one of"),
        (["-s", "age", "-x", "chol", "--min-count", "1000"], "at most the number of records"),
        (["-s", "age", "-x", "chol", "--points", "many"], "--points"),
        (["-s", "age"], "Missing option"),
    ],
)
def test_frontier_refuses_bad_requests(patients, args, words):
    done = funnel("frontier", patients, *args, "-o", "out", cwd=patients.parent)
    assert_users_mistake(done, words)
    left = patients.parent / "out"
    assert not left.exists() or not list(left.iterdir())


def test_frontier_refuses_a_missing_file(tmp_path):
    done = started("frontier", "none.csv", "-s", "a", "-x", "b", "-o", "out", cwd=tmp_path)
    assert_users_mistake(done, "none.csv")


def test_reproduce_one_figure(tmp_path, hungarian):
    hungarian.to_csv(tmp_path / "heart.csv", index=False)
    done = funnel("reproduce", "--data", "heart.csv", "-o", "out", "--figure", "fig3", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"fig3_pairwise.csv", "summary.md"} <= names
    wrong = funnel("reproduce", "--data", "heart.csv", "-o", "o2", "--figure", "fig9", cwd=tmp_path)
    assert_users_mistake(wrong, "fig9")
    missing = funnel("reproduce", "--data", "none.data", "-o", "o3", cwd=tmp_path)
    assert_users_mistake(missing, "none.data")
