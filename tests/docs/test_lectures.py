import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from code_blocks import ROOT, blocks
from docs.test_documented_commands import run_console, run_python

LECTURES = sorted((ROOT / "docs" / "lectures").glob("*.md"))


@pytest.mark.slow
@pytest.mark.parametrize("page", LECTURES, ids=lambda page: page.stem)
def test_the_slides_of_a_lecture_are_made_by_its_page(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system_tool: Callable[[str], str]
) -> None:
    pdflatex, pdfinfo = system_tool("pdflatex"), system_tool("pdfinfo")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks(page):
        if block.language == "console":
            run_console(block, tmp_path)
        elif block.language == "python":
            run_python(block, names, page.stem)
    subprocess.run([pdflatex, "-halt-on-error", "slides.tex"], cwd=tmp_path, check=True, capture_output=True)
    told = subprocess.run([pdfinfo, "slides.pdf"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    (promised,) = re.findall(r"makes (\d+) pages", page.read_text(encoding="utf-8"))
    assert f"Pages:           {promised}" in told
