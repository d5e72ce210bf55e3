"""The notebooks of the docs run from the first cell to the last, as they stand there."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

BOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_did(path: Path, tmp_path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    shown = [len(cell.outputs) for cell in book.cells if cell.cell_type == "code"]
    NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    ran = [len(cell.outputs) for cell in book.cells if cell.cell_type == "code"]
    assert [n > 0 for n in ran] == [n > 0 for n in shown], "run it anew and save it"


def test_there_is_one_for_each_job() -> None:
    assert [path.stem for path in BOOKS] == ["curator", "pipeline", "researcher"]
