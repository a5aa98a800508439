"""Every notebook runs from its first cell to its last."""

from collections.abc import Iterator
from pathlib import Path

import nbclient
import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync

from code_blocks import ROOT

NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))

# One kernel serves all notebooks, as a restarted one would: nothing of the notebook before is left. Commands run inside it.
PREPARE = """\
import os, sys
os.chdir({folder!r})
sys.path.insert(0, {tools!r})
from notebooks import run_cell_command
get_ipython().system = run_cell_command
%reset -f
"""


@pytest.fixture(scope="module")
def kernel() -> Iterator[AsyncKernelManager]:
    manager = AsyncKernelManager(kernel_name="python3")
    run_sync(manager.start_kernel)()
    yield manager
    run_sync(manager.shutdown_kernel)(now=True)


@pytest.mark.slow  # the code of their pages is run anyway
@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebook_runs(file: Path, tmp_path: Path, kernel: AsyncKernelManager) -> None:
    notebook: nbformat.NotebookNode = nbformat.reads(file.read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    assert any(cell.cell_type == "code" and cell.source.startswith("!tellegen ") for cell in notebook.cells)
    prepare = PREPARE.format(folder=str(tmp_path), tools=str(ROOT / "tools"))
    notebook.cells.insert(0, nbformat.v4.new_code_cell(prepare))  # type: ignore[no-untyped-call]
    client = nbclient.NotebookClient(notebook, km=kernel, timeout=300)
    try:
        client.execute()
    finally:
        if client.kc is not None:
            client.kc.stop_channels()


def test_there_is_a_notebook_for_each_tutorial() -> None:
    tutorials = {page.stem for page in (ROOT / "docs/tutorials").glob("*.md")}
    assert {file.stem for file in NOTEBOOKS} == tutorials
