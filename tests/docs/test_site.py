"""The documentation site builds from scratch without a warning, and loads nothing from elsewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from code_blocks import ROOT

pytestmark = pytest.mark.slow
"""Sphinx reads some hundred pages; that their commands and links are true is tested page by page beside it."""


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


def test_every_page_but_those_of_errors_is_in_the_sidebar(site: Path) -> None:
    """Tutorials are listed one by one, in the order of reading: a new one is not to be forgotten."""
    start = (site / "index.html").read_text(encoding="utf-8")
    pages = {
        str(p.relative_to(site))
        for p in site.rglob("*.html")
        if (ROOT / "docs" / p.relative_to(site)).with_suffix(".md").is_file()
    }
    linked = set(re.findall(r'class="reference internal" href="([^"#]+)"', start))
    assert not {page for page in pages - linked if not page.startswith("errors/")} - {"index.html"}


def test_sidebar_that_pages_of_errors_share_leads_somewhere(site: Path) -> None:
    for code in ("D110", "S110"):
        page = site / f"errors/{code}.html"
        shown = page.read_text(encoding="utf-8")
        sidebar = shown[shown.index('<div class="sidebar-tree">') : shown.index("</aside>")]
        links = set(re.findall(r'class="reference internal" href="([^"#]+)"', sidebar))
        assert "../gallery/corking_machine.html" in links
        assert all((page.parent / link).is_file() for link in links)


def test_signatures_name_types_without_their_modules(site: Path) -> None:
    page = (site / "reference/python.html").read_text(encoding="utf-8")
    shown = re.sub(r"<[^>]+>", "", page)
    assert "~tellegen" not in shown
    assert "&lt;factory&gt;" not in shown


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    outside = re.compile(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="(?:https?:)?//[^"]*"')
    assert not [page.name for page in site.rglob("*.html") if outside.search(page.read_text(encoding="utf-8"))]


def test_formulas_are_mathml(site: Path) -> None:
    page = (site / "theory/power_oriented_graphs.html").read_text(encoding="utf-8")
    assert "<math" in page
    assert "T^T" not in re.sub(r"<title>.*?</title>", "", page)
