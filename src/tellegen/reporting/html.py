"""A report as one HTML file: nothing is loaded, so that it opens offline, and it prints on paper."""

from base64 import b64encode
from html import escape

from tellegen.reporting.formula_widths import width_of
from tellegen.reporting.formulas import to_mathml
from tellegen.reporting.pages import Block, Folded, Formulas, Listing, Picture, Report, Section, Table, Words

CONTINUED = r"\qquad"
"""How a line begins that continues a sum."""
ROOM = 44.0
"""The width of a page of paper, in em of its formulas."""
MANY = 40
"""More formulas than this stand beside each other where there is room."""
MOST_WHOLE = 20
"""Tables and listings of so many lines are not torn apart by the end of a page of paper; longer ones would leave it half empty."""

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
    links = "".join(f'<a href="#{s.anchor}">{escape(s.title)}</a>' for s in report.sections if s.level == 2)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(report.title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<header><h1>{escape(report.title)}</h1><p class="about">{escape(report.about)}</p></header>\n'
        f'<nav aria-label="Sections">{links}</nav>\n'
        + "".join(map(_section, report.sections))
        + "</main>\n</body>\n</html>\n"
    )


def _section(section: Section) -> str:
    head = f'<h{section.level} id="{section.anchor}">{escape(section.title)}</h{section.level}>\n'
    return f"<section>\n{head}{''.join(map(_block, section.blocks))}</section>\n"


def _block(block: Block) -> str:
    match block:
        case Words(text, strong):
            style = "strong" if strong else "lines" if "\n" in text else ""
            return f'<p class="{style}">{escape(text)}</p>\n' if style else f"<p>{escape(text)}</p>\n"
        case Formulas(lines):
            shown = "".join(map(_formula, lines, [*lines[1:], ""]))
            return f'<div class="many">\n{shown}</div>\n' if len(lines) > MANY else shown
        case Picture():
            return _picture(block)
        case Table(head, rows):
            body = "".join(_row(row, "td") for row in rows)
            whole = " whole" if len(rows) <= MOST_WHOLE else ""
            head_row = f"<thead>{_row(head, 'th')}</thead>"
            return f'<div class="scroll{whole}"><table>{head_row}<tbody>{body}</tbody></table></div>\n'
        case Listing(text):
            whole = ' class="whole"' if text.count("\n") <= MOST_WHOLE else ""
            return f"<pre{whole}>{escape(text)}</pre>\n"
        case Folded(title, blocks):
            return f"<details><summary>{escape(title)}</summary>\n{''.join(map(_block, blocks))}</details>\n"


def _formula(line: str, following: str) -> str:
    """One formula; a wide one says how wide it is, so that it is set smaller where there is no room for it.

    What goes on in the next line, or comes from the line before, has its row for itself.
    """
    mathml = to_mathml(line)
    width = width_of(mathml)
    style = f' style="--em: {width:.0f}"' if width > ROOM else ""
    goes_on = any(text.startswith(CONTINUED) for text in (line, following))
    return f'<div class="formula{" alone" if goes_on else ""}"{style}>{mathml}</div>\n'


def _picture(picture: Picture) -> str:
    image, caption = _image(picture.svg, picture.caption), escape(picture.caption)
    if not picture.stills:
        return f'<figure id="figure-{picture.name}">{image}<figcaption>{caption}</figcaption></figure>\n'
    stills = "".join(
        f"<div>{_image(still.svg, still.caption)}{escape(still.caption)}</div>" for still in picture.stills
    )
    return (
        f'<figure id="figure-{picture.name}" class="moving">{image}<div class="stills">{stills}</div>'
        f"<figcaption>{caption}</figcaption></figure>\n"
    )


def _image(svg: str, words: str) -> str:
    # As data, so that the names inside one picture do not meet those of another.
    data = b64encode(svg.encode()).decode()
    return f'<img alt="{escape(words, quote=True)}" src="data:image/svg+xml;base64,{data}">'


def _row(cells: tuple[str, ...], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
