"""Every notebook runs from its first cell to its last."""

import os
import sys
from pathlib import Path

import nbclient
import nbformat
import pytest

from code_blocks import ROOT

NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebook_runs(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    notebook: nbformat.NotebookNode = nbformat.reads(file.read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    commands = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.startswith("!")]
    for cell in commands:
        cell.source += "\nassert _exit_code == 0, _exit_code"
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert commands


def test_there_is_a_notebook_for_each_tutorial() -> None:
    tutorials = {page.stem for page in (ROOT / "docs/tutorials").glob("*.md")}
    assert {file.stem for file in NOTEBOOKS} == tutorials
