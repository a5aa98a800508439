"""Reports as files: HTML, Markdown with its pictures, or PDF printed by a browser without a window."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tellegen.core.names import did_you_mean
from tellegen.description.files import reason, write_bytes
from tellegen.reporting import rules
from tellegen.reporting.html import to_html
from tellegen.reporting.markdown import pictures, to_markdown
from tellegen.reporting.pages import Report

SUFFIXES = (".html", ".md", ".pdf")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
QUIET = (
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-pdf-header-footer",
)
PRINTING_S = 120
"""A browser that has not printed a page after so long never will."""


def check_report_target(path: Path, *, force: bool = True) -> None:
    """Refuse a file name that says no format, a missing folder or, without `force`, a file that is there, before work is done.

    Raises: ExportError (X301, X302, X304), and X303 for a PDF without a browser.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        fix = did_you_mean(suffix, SUFFIXES) or f"end the name in {', '.join(SUFFIXES)}"
        raise rules.BAD_REPORT_SUFFIX.error(f"a report is not written as '{suffix or path.name}'", fix=fix)
    if not path.parent.is_dir():
        what = f"'{path}' cannot be written: there is no folder '{path.parent}'"
        raise rules.REPORT_NOT_WRITTEN.error(what, fix="make the folder, or choose another one")
    if not force and path.exists():
        fix = "choose another name, or force it (force=True, --force)"
        raise rules.WOULD_OVERWRITE.error(f"'{path}' is there already", fix=fix)
    if suffix == ".pdf":
        _browser()


def write_report(report: Report, path: Path) -> None:
    """Write a report in the format of its suffix, under a temporary name first.

    Raises: ExportError for an unknown suffix (X301), when the system refuses (X302) or when nothing can print (X303).
    """
    check_report_target(path)
    suffix = path.suffix.lower()
    try:
        if suffix == ".html":
            write_bytes(path, to_html(report).encode())
        elif suffix == ".pdf":
            write_bytes(path, _printed(to_html(report)))
        else:
            _write_markdown(report, path)
    except (OSError, ValueError) as error:
        what = f"'{path}' cannot be written: {reason(error)}"
        raise rules.REPORT_NOT_WRITTEN.error(what, fix="choose another folder or name") from error


def _write_markdown(report: Report, path: Path) -> None:
    folder = path.with_name(f"{path.stem}_files")
    shown = list(pictures(report))
    if shown:
        folder.mkdir(exist_ok=True)
    for picture in shown:
        write_bytes(folder / f"{picture.name}.svg", picture.svg.encode())
    write_bytes(path, to_markdown(report, folder.name).encode())


def _printed(page: str) -> bytes:
    """The page on paper. Inputs and outputs lie in a folder of their own, which also keeps the browser's profile."""
    browser = _browser()
    with tempfile.TemporaryDirectory(prefix="tellegen-report-") as name:
        folder = Path(name)
        (folder / "report.html").write_text(page, encoding="utf-8")
        options = [*QUIET, f"--user-data-dir={folder / 'profile'}", f"--print-to-pdf={folder / 'report.pdf'}"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            options.append("--no-sandbox")  # a browser refuses to shut itself in as root
        command = [browser, *options, (folder / "report.html").as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PRINTING_S)
        printed = folder / "report.pdf"
        if not printed.is_file():
            what = f"'{Path(browser).name}' printed nothing: {done.stderr.strip()[-200:]}"
            raise rules.NO_BROWSER.error(what, fix="write the report as .html, open it and print it")
        return printed.read_bytes()


def _browser() -> str:
    for name in BROWSERS:
        if found := shutil.which(name):
            return found
    raise rules.NO_BROWSER.error(
        "there is no Chromium or Chrome to print the report with",
        fix="install chromium, or write the report as .html and print it from your browser",
    )
