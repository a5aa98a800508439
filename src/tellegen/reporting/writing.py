"""Reports as files: one HTML page, Markdown with its pictures beside it, or PDF as a browser prints the page."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tellegen.core.errors import Rulebook
from tellegen.core.files import failure_reason, write_bytes
from tellegen.core.names import did_you_mean
from tellegen.reporting.html import escape, to_html
from tellegen.reporting.pages import (
    Beside,
    Folded,
    Listing,
    LiveRun,
    PageBlock,
    PageFormulas,
    PagePicture,
    PageTable,
    Paragraph,
    Prose,
    Report,
    pictures,
)

RULES = Rulebook("X")

BAD_REPORT_SUFFIX = RULES.rule(
    "X301",
    "report of an unknown format",
    meaning="A report was to be written to a file whose ending says no format that there is.",
    why="the ending decides: .html (one page with everything in it), .md (Markdown, pictures beside it) or .pdf",
)
REPORT_NOT_WRITTEN = RULES.rule(
    "X302",
    "report that cannot be written",
    meaning="The system refused to write the file of a report.",
    why="the folder may be missing, full or not yours",
)
NO_BROWSER = RULES.rule(
    "X303",
    "no browser to print with",
    meaning="A report was asked for as PDF, which a browser without a window prints, and there is none.",
    why="the page is made of HTML, MathML and SVG; Chromium or Chrome sets it on paper",
)
WOULD_OVERWRITE = RULES.rule(
    "X304",
    "report over a file that exists",
    meaning="The file of a report is there already.",
    why="what is in it would be lost",
)
BAD_SLIDER = RULES.rule(
    "X305",
    "slider that cannot be",
    meaning="A page was asked for a slider of something that it cannot move, or with ends that are no interval.",
    why="parameters that other parameters do not give can be moved, and inputs that are constant in the experiment",
)


def to_markdown(report: Report, folder: str) -> str:
    """The text of the page; its pictures lie in a folder beside it."""
    parts = [f"# {_plain(report.title)}", _plain(report.about)]
    for section in report.sections:
        parts.append(f"## {_plain(section.title)}")
        parts += [text for block in section.blocks for text in _markdown_block(block, folder)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _markdown_block(block: PageBlock, folder: str) -> Iterator[str]:
    match block:
        case Paragraph(text, strong):
            lines = _plain(text).splitlines()
            yield "\n".join(f"> {line}" for line in lines) if strong else "  \n".join(lines)
        case Prose(text, listed):
            yield f"- {_plain(text)}" if listed else _plain(text)
        case PageFormulas(lines):
            yield from (f"$$\n{line}\n$$" for line in lines)
        case PagePicture(name, _, caption):
            yield f"![{_plain(caption)}]({folder}/{name}.svg)"
            yield f"*{_plain(caption)}*"
        case PageTable(head, rows, title):
            yield f"**{_plain(title)}**" if title else ""
            head = head or tuple("" for _ in rows[0])
            yield "\n".join(map(_markdown_row, [head, tuple("---" for _ in head), *rows]))
        case Listing(text, language):
            # A listing with a fence of its own would end the outer one.
            longest = max((len(found) for found in re.findall("`+", text)), default=0)
            fence = "`" * max(3, longest + 1)
            yield f"{fence}{language}\n{text.rstrip()}\n{fence}"
        case LiveRun():
            return  # paper and Markdown run nothing
        case Beside(blocks, picture):
            for inner in (*blocks, *((picture,) if picture is not None else ())):
                yield from _markdown_block(inner, folder)
        case Folded(title, blocks):
            yield f"**{_plain(title)}**"
            for inner in blocks:
                yield from _markdown_block(inner, folder)


def _plain(text: str) -> str:
    """A text of the model as words: Markdown would hand its tags and the addresses of its links on to a browser."""
    return escape(text, quote=False).replace("](", "\\](")


def _markdown_row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(_plain(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


SUFFIXES = (".html", ".md", ".pdf")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# Nothing of the browser may phone, ask or print a header of its own.
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


def check_report_target(path: Path, *, force: bool = True, suffixes: tuple[str, ...] = SUFFIXES) -> None:
    """Refuse a file name that says no format, a missing folder or, without `force`, a file that is there, before work is done.

    Raises: ExportError (X301, X302, X304), and X303 for a PDF without a browser.
    """
    suffix = path.suffix.lower()
    if suffix not in suffixes:
        fix = did_you_mean(suffix, suffixes) or f"end the name in {', '.join(suffixes)}"
        raise BAD_REPORT_SUFFIX.error(f"a report is not written as '{suffix or path.name}'", fix=fix)
    if not os.path.isdir(path.parent):
        what = f"'{path}' cannot be written: there is no folder '{path.parent}'"
        raise REPORT_NOT_WRITTEN.error(what, fix="make the folder, or choose another one")
    if not force and os.path.exists(path):
        fix = "choose another name, or force it (force=True, --force)"
        raise WOULD_OVERWRITE.error(f"'{path}' is there already", fix=fix)
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
        what = f"'{path}' cannot be written: {failure_reason(error)}"
        raise REPORT_NOT_WRITTEN.error(what, fix="choose another folder or name") from error


def _write_markdown(report: Report, path: Path) -> None:
    folder = path.with_name(f"{path.stem}_files")
    # Pictures first, then the text: whoever sees the file finds all that it names.
    shown = list(pictures(report))
    if shown:
        folder.mkdir(exist_ok=True)
    for picture in shown:
        write_bytes(folder / f"{picture.name}.svg", picture.svg.encode())
    write_bytes(path, to_markdown(report, folder.name).encode())


def _printed(page: str) -> bytes:
    """The page on paper. Inputs and outputs lie in a folder of their own, which also keeps the browser's profile."""
    browser = _browser()
    # A browser writes a profile wherever it runs: in a folder that is gone afterwards.
    with tempfile.TemporaryDirectory(prefix="tellegen-report-") as name:
        folder = Path(name)
        (folder / "report.html").write_text(page, encoding="utf-8")
        options = [*QUIET, f"--user-data-dir={folder / 'profile'}", f"--print-to-pdf={folder / 'report.pdf'}"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            options.append("--no-sandbox")  # a browser refuses to shut itself in as root
        command = [browser, *options, (folder / "report.html").as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PRINTING_S)
        # The file is what counts: an exit code says nothing about it.
        printed = folder / "report.pdf"
        if not printed.is_file():
            what = f"'{Path(browser).name}' printed nothing: {done.stderr.strip()[-200:]}"
            raise NO_BROWSER.error(what, fix="write the report as .html, open it and print it")
        return printed.read_bytes()


def _browser() -> str:
    for name in BROWSERS:
        if found := shutil.which(name):
            return found
    raise NO_BROWSER.error(
        "there is no Chromium or Chrome to print the report with",
        fix="install chromium, or write the report as .html and print it from your browser",
    )
