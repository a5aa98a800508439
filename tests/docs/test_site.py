"""The documentation site builds from scratch without a warning, and loads nothing from elsewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from code_blocks import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", str(folder / "doctrees")]
    done = subprocess.run(
        [*command, str(ROOT / "docs"), str(folder / "html")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


def test_every_page_is_there(site: Path) -> None:
    pages = {p.relative_to(ROOT / "docs").with_suffix(".html") for p in (ROOT / "docs").rglob("*.md")}
    assert not {page for page in pages if not (site / page).is_file()}


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    outside = re.compile(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="(?:https?:)?//[^"]*"')
    assert not [page.name for page in site.rglob("*.html") if outside.search(page.read_text(encoding="utf-8"))]


def test_formulas_are_mathml(site: Path) -> None:
    page = (site / "theory/power_oriented_graphs.html").read_text(encoding="utf-8")
    assert "<math" in page
    assert "T^T" not in re.sub(r"<title>.*?</title>", "", page)
