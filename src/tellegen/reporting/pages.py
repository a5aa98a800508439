"""A report as a value: sections of words, formulas, pictures, tables and listings, whatever it is written as."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape as escaped
from pathlib import Path
from typing import final
from urllib.parse import quote as percent_encoded

from tellegen.core.errors import Rulebook
from tellegen.core.files import failure_reason, write_bytes
from tellegen.core.hidden_characters import visible
from tellegen.core.names import did_you_mean
from tellegen.reporting.formulas import to_mathml, width_of


@final
@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph. `strong` for what must not be missed, `error` where that is a mistake."""

    text: str
    strong: bool = False
    error: bool = False


@final
@dataclass(frozen=True, slots=True)
class PageFormulas:
    """Formulas in LaTeX, one below the other."""

    lines: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Still:
    """One moment of a picture that moves."""

    svg: str
    caption: str


@final
@dataclass(frozen=True, slots=True)
class PagePicture:
    """A figure as SVG, with what it shows in words for those who do not see it. One that moves is printed as its stills."""

    name: str
    svg: str
    caption: str
    stills: tuple[Still, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class PageTable:
    """Rows under a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@final
@dataclass(frozen=True, slots=True)
class Listing:
    """A text shown as it is: a model, a command and what it prints."""

    text: str
    language: str = ""


@final
@dataclass(frozen=True, slots=True)
class Folded:
    """What only some readers want to see: shown on request, and in print."""

    title: str
    blocks: "tuple[PageBlock, ...]"


PageBlock = Paragraph | PageFormulas | PagePicture | PageTable | Listing | Folded


@final
@dataclass(frozen=True, slots=True)
class PageSection:
    """A heading and what stands under it."""

    title: str
    blocks: tuple[PageBlock, ...]

    @property
    def anchor(self) -> str:
        """The name of the section in links."""
        return "-".join("".join(c if c.isalnum() else " " for c in self.title.lower()).split())


@final
@dataclass(frozen=True, slots=True)
class Report:
    """All sections, in order."""

    title: str
    about: str
    sections: tuple[PageSection, ...]

    @property
    def errors(self) -> int:
        """How many mistakes it shows: of the model, of sections that could not be made, and of a run that failed."""
        return sum(
            isinstance(block, Paragraph) and block.error for section in self.sections for block in section.blocks
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


CONTINUED = r"\qquad"
"""How a line begins that continues a sum."""
ROOM = 44.0
"""The width of a page of paper, in em of its formulas."""
MANY = 40
"""More formulas than this stand beside each other where there is room."""
MOST_WHOLE = 20
"""Tables and listings of so many lines are not torn apart by the end of a page of paper; longer ones would leave it half empty."""

# No font, script or picture from elsewhere: a report must look the same in ten years and without a net.
STYLE = """
:root { color-scheme: light; --ink: #1b1d21; --quiet: #5c6470; --line: #d9dde3; --link: #1f5fa8; }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: var(--ink); background: #fff; }
main { max-width: 1060px; margin: 0 auto; padding: 32px 28px 80px; }
header { border-bottom: 2px solid var(--ink); margin-bottom: 24px; padding-bottom: 12px; }
h1 { font-size: 2em; margin: 0 0 4px; } h2 { margin: 44px 0 10px; border-bottom: 1px solid var(--line); padding-bottom: 4px; }
h3 { margin: 28px 0 8px; }
.about, figcaption { color: var(--quiet); }
nav { columns: 3 14em; font-size: 0.94em; margin: 16px 0 8px; } nav a { display: block; padding: 1px 0; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
figure { margin: 18px 0; } figure img { max-width: 100%; height: auto; display: block; margin: 0 auto; }
figcaption { text-align: center; font-size: 0.9em; margin-top: 6px; }
.stills { display: none; }
.scroll { overflow-x: auto; } .formula { overflow: auto hidden; margin: 10px 0; padding: 4px 0 6px; }
.formula[style] { font-size: clamp(11px, calc(1000px / var(--em)), 16px); }
.many { display: flex; flex-wrap: wrap; gap: 0 36px; } .many .formula { max-width: 100%; margin: 6px 0; }
.many .alone { flex-basis: 100%; }
table { border-collapse: collapse; font-size: 0.93em; margin: 12px 0; }
th, td { text-align: left; padding: 4px 14px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { border-bottom: 1.5px solid var(--ink); } td { font-variant-numeric: tabular-nums; }
pre { background: #f5f6f8; border: 1px solid var(--line); border-radius: 4px; padding: 12px 14px; overflow-x: auto;
      font: 13.5px/1.45 ui-monospace, "DejaVu Sans Mono", Consolas, monospace; }
details { margin: 12px 0; } summary { cursor: pointer; color: var(--link); }
.strong { border-left: 4px solid #c45500; padding: 6px 12px; background: #fff6ee; white-space: pre-wrap; }
.lines { white-space: pre-wrap; }
@page { margin: 15mm; }
@media print {
  body { font-size: 13px; } main { max-width: none; padding: 0; } nav { display: none; } h2, h3, summary { break-after: avoid; }
  figure, tr, .formula, .whole, .strong, .lines { break-inside: avoid; }
  figure { margin: 10px 0; } figure img { max-height: 150mm; }
  .moving > img { display: none; } .stills { display: grid; grid-template-columns: 1fr 1fr; gap: 8px 14px; text-align: center; }
  .stills img { max-height: 70mm; }
  .scroll, .formula, pre { overflow: visible; } pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 10.5px; }
  .formula { font-size: 14px; } .formula[style] { font-size: min(14px, calc(640px / var(--em))); }
  table { font-size: 0.85em; } td { overflow-wrap: anywhere; }
  details::details-content { content-visibility: visible; display: block; block-size: auto; }
  summary { color: var(--ink); font-weight: 600; list-style: none; }
}
"""


def to_html(report: Report) -> str:
    """The whole page."""
    # Everything that comes from a model is escaped: a title may hold any sign.
    links = "".join(f'<a href="#{s.anchor}">{escape(s.title)}</a>' for s in report.sections)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(report.title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<header><h1>{escape(report.title)}</h1><p class="about">{escape(report.about)}</p></header>\n'
        f'<nav aria-label="Sections">{links}</nav>\n'
        + "".join(map(_html_section, report.sections))
        + "</main>\n</body>\n</html>\n"
    )


def _html_section(section: PageSection) -> str:
    head = f'<h2 id="{section.anchor}">{escape(section.title)}</h2>\n'
    return f"<section>\n{head}{''.join(map(_html_block, section.blocks))}</section>\n"


def escape(text: str, *, quote: bool = True) -> str:
    """A text as HTML shows it; what a browser would obey is shown as an escape."""
    return visible(escaped(text, quote=quote))


def _html_block(block: PageBlock) -> str:
    match block:
        case Paragraph(text, strong):
            style = "strong" if strong else "lines" if "\n" in text else ""
            return f'<p class="{style}">{escape(text)}</p>\n' if style else f"<p>{escape(text)}</p>\n"
        case PageFormulas(lines):
            shown = "".join(map(_html_formula, lines, [*lines[1:], ""]))
            return f'<div class="many">\n{shown}</div>\n' if len(lines) > MANY else shown
        case PagePicture():
            return _html_picture(block)
        case PageTable(head, rows):
            body = "".join(_html_row(row, "td") for row in rows)
            whole = " whole" if len(rows) <= MOST_WHOLE else ""
            head_row = f"<thead>{_html_row(head, 'th')}</thead>"
            return f'<div class="scroll{whole}"><table>{head_row}<tbody>{body}</tbody></table></div>\n'
        case Listing(text):
            whole = ' class="whole"' if text.count("\n") <= MOST_WHOLE else ""
            return f"<pre{whole}>{escape(text)}</pre>\n"
        case Folded(title, blocks):
            return f"<details><summary>{escape(title)}</summary>\n{''.join(map(_html_block, blocks))}</details>\n"


def _html_formula(line: str, following: str) -> str:
    """One formula; a wide one says how wide it is, so that it is set smaller where there is no room for it.

    What goes on in the next line, or comes from the line before, has its row for itself.
    """
    mathml = to_mathml(line)
    width = width_of(mathml)
    style = f' style="--em: {width:.0f}"' if width > ROOM else ""
    # Beside each other on a wide screen, parts of one sum could not be put together again.
    goes_on = any(text.startswith(CONTINUED) for text in (line, following))
    return f'<div class="formula{" alone" if goes_on else ""}"{style}>{mathml}</div>\n'


def _html_picture(picture: PagePicture) -> str:
    image, caption = _html_image(picture.svg, picture.caption), escape(picture.caption)
    if not picture.stills:
        return f'<figure id="figure-{picture.name}">{image}<figcaption>{caption}</figcaption></figure>\n'
    # On paper nothing moves: stills are in the page from the start, and shown only in print.
    stills = "".join(
        f"<div>{_html_image(still.svg, still.caption)}{escape(still.caption)}</div>" for still in picture.stills
    )
    return (
        f'<figure id="figure-{picture.name}" class="moving">{image}<div class="stills">{stills}</div>'
        f"<figcaption>{caption}</figcaption></figure>\n"
    )


_UNSAFE = re.compile(r"[^\w !$'()*+,\-./:;=?@~\[\]|]+", re.ASCII)
"""What the address of a picture must not hold as it is."""


def _html_image(svg: str, words: str) -> str:
    # As data, so that the names inside one picture do not meet those of another.
    # Percent signs for the few letters that an address must not hold: a quarter shorter than base64.
    plain = re.sub("<[^<>']*>", lambda tag: tag[0].replace('"', "'"), svg)
    # Only where they stand: the library's function looks at every letter of a picture by itself.
    data = _UNSAFE.sub(lambda letters: percent_encoded(letters[0], safe=""), plain)
    return f'<img alt="{escape(words, quote=True)}" src="data:image/svg+xml;charset=utf-8,{data}">'


def _html_row(cells: tuple[str, ...], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def to_markdown(report: Report, folder: str) -> str:
    """The text of the page; its pictures lie in a folder beside it."""
    parts = [f"# {_plain(report.title)}", _plain(report.about)]
    for section in report.sections:
        parts.append(f"## {_plain(section.title)}")
        parts += [text for block in section.blocks for text in _markdown_block(block, folder)]
    return "\n\n".join(part for part in parts if part) + "\n"


def pictures(report: Report) -> Iterator[PagePicture]:
    """Every picture of a report, those that are folded away too."""
    for section in report.sections:
        for block in section.blocks:
            yield from _pictures_of(block)


def _pictures_of(block: PageBlock) -> Iterator[PagePicture]:
    if isinstance(block, PagePicture):
        yield block
    elif isinstance(block, Folded):
        for inner in block.blocks:
            yield from _pictures_of(inner)


def _markdown_block(block: PageBlock, folder: str) -> Iterator[str]:
    match block:
        case Paragraph(text, strong):
            lines = _plain(text).splitlines()
            yield "\n".join(f"> {line}" for line in lines) if strong else "  \n".join(lines)
        case PageFormulas(lines):
            yield from (f"$$\n{line}\n$$" for line in lines)
        case PagePicture(name, _, caption):
            yield f"![{_plain(caption)}]({folder}/{name}.svg)"
            yield f"*{_plain(caption)}*"
        case PageTable(head, rows):
            yield "\n".join(map(_markdown_row, [head, tuple("---" for _ in head), *rows]))
        case Listing(text, language):
            # A listing with a fence of its own would end the outer one.
            longest = max((len(found) for found in re.findall("`+", text)), default=0)
            fence = "`" * max(3, longest + 1)
            yield f"{fence}{language}\n{text.rstrip()}\n{fence}"
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


def check_report_target(path: Path, *, force: bool = True) -> None:
    """Refuse a file name that says no format, a missing folder or, without `force`, a file that is there, before work is done.

    Raises: ExportError (X301, X302, X304), and X303 for a PDF without a browser.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        fix = did_you_mean(suffix, SUFFIXES) or f"end the name in {', '.join(SUFFIXES)}"
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
