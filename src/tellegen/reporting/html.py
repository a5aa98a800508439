"""A report as one HTML page, which needs nothing but a browser: no font, script or picture from elsewhere, so that it looks the
same in ten years and without a net.

In a browser with scripts one element lights up in all views, figures are zoomed and curves are read off.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from html import escape as escaped
from importlib.resources import files
from itertools import pairwise
from typing import final
from urllib.parse import quote as percent_encoded

import numpy as np

from tellegen.core.errors import TellegenError
from tellegen.core.hidden_characters import visible
from tellegen.core.language import Phrases
from tellegen.core.units import parse_unit
from tellegen.plots import Panel
from tellegen.plots.axes import Array, engineering
from tellegen.plots.texts import look_of, variable_latex
from tellegen.plots.values import Line, told
from tellegen.reporting.formulas import CONTINUED, LinkedNames, inline_formula, to_mathml, width_of
from tellegen.reporting.pages import (
    Beside,
    Folded,
    Listing,
    LiveRun,
    PageBlock,
    PageFormulas,
    PagePicture,
    PageSection,
    PageTable,
    Paragraph,
    Prose,
    Report,
    Slider,
)
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.strokes import THEMES

ROOM = 44.0
"""The width of a page of paper, in em of its formulas."""
MANY = 40
"""More formulas than this stand beside each other where there is room."""
MOST_WHOLE = 20
"""Tables and listings of so many lines are not torn apart by the end of a page of paper; longer ones would leave it half empty."""
MOST_ROWS = 1500
"""A curve of more points is shown by its extremes: a screen has no more columns."""
MOST_SHARED = 6
"""A name that more elements share, such as a common speed, says nothing about any of them."""


def to_html(report: Report) -> str:
    """The whole page."""
    return _Page(report).text()


def escape(text: str, *, quote: bool = True) -> str:
    """A text as HTML shows it; what a browser would obey is shown as an escape."""
    return visible(escaped(text, quote=quote))


@lru_cache(maxsize=2)
def _script(*, live: bool) -> str:
    folder = files("tellegen.reporting") / "page"
    names = ("uPlot.iife.min.js", "page.js", *(["live.js"] if live else []))
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


@lru_cache(maxsize=1)
def _style() -> str:
    folder = files("tellegen.reporting") / "page"
    return "".join((folder / name).read_text(encoding="utf-8") for name in ("uPlot.min.css", "page.css"))


@final
class _Page:
    """Writes one page, and knows what it has written once for several figures."""

    def __init__(self, report: Report) -> None:
        self.report, self.say = report, Phrases(report.language)
        self.links = {name: found for name, found in report.links.items() if len(found) <= MOST_SHARED}
        self.names = LinkedNames(self.links)
        # Letters of figures, each once for the page.
        self.symbols: dict[str, str] = {}

    def text(self) -> str:
        """Everything that comes from a model is escaped: a title may hold any sign."""
        report = self.report
        links = "".join(f'<a href="#{s.anchor}">{escape(s.title)}</a>' for s in report.sections)
        # Only our own script may run, whatever a model's text gets into the page.
        live = any(isinstance(block, LiveRun) for section in report.sections for block in section.blocks)
        script = _script(live=live)
        digest = b64encode(sha256(script.encode()).digest()).decode()
        policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
        # The code of the model is data of the page, which no other page gives it.
        policy += " 'wasm-unsafe-eval'" if live else ""
        sections = "".join(map(self._section, report.sections))
        defined = f"<defs>{''.join(self.symbols.values())}</defs>"
        letters = f'<svg width="0" height="0" style="position:absolute" aria-hidden="true">{defined}</svg>'
        hint = f'<p class="hint">{escape(self.say("page.hint"))}</p>' if 'class="zooms"' in sections else ""
        return (
            f'<!DOCTYPE html>\n<html lang="{report.language}">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
            f"<title>{escape(report.title)}</title>\n<style>{_style()}</style>\n</head>\n<body>\n"
            f'<nav aria-label="{self.say("page.sections")}">{links}{self._toggle()}</nav>\n<main>\n{letters}'
            f'<header><h1>{escape(report.title)}</h1><p class="about">{escape(report.about)}</p>{hint}</header>\n'
            f"{sections}</main>\n<script>{script}</script>\n</body>\n</html>\n"
        )

    def _toggle(self) -> str:
        dark, light = self.say("page.dark"), self.say("page.light")
        return f'<button type="button" data-dark="{dark}" data-light="{light}" hidden>{dark}</button>'

    def _section(self, section: PageSection) -> str:
        head = f'<h2 id="{section.anchor}">{escape(section.title)}</h2>\n'
        return f"<section>\n{head}{''.join(map(self._block, section.blocks))}</section>\n"

    def _block(self, block: PageBlock) -> str:
        match block:
            case Paragraph(text, strong):
                style = "strong" if strong else "lines" if "\n" in text else ""
                return f'<p class="{style}">{escape(text)}</p>\n' if style else f"<p>{escape(text)}</p>\n"
            case Prose(text, listed):
                return f'<p class="{"listed" if listed else "prose"}">{self._prose(text)}</p>\n'
            case Beside(blocks, picture):
                words = "".join(map(self._block, blocks))
                shown = "" if picture is None else self._picture(picture)
                return f'<div class="beside"><div>\n{words}</div>\n{shown}</div>\n'
            case PageFormulas(lines):
                shown = "".join(map(self._formula, lines, [*lines[1:], ""]))
                return f'<div class="many">\n{shown}</div>\n' if len(lines) > MANY else shown
            case PagePicture():
                return self._picture(block)
            case PageTable():
                return self._table(block)
            case Listing(text):
                whole = ' class="whole"' if text.count("\n") <= MOST_WHOLE else ""
                return f"<pre{whole}>{escape(text)}</pre>\n"
            case LiveRun():
                return self._live(block)
            case Folded(title, blocks):
                inside = "".join(map(self._block, blocks))
                return f"<details><summary>{escape(title)}</summary>\n{inside}</details>\n"

    # -- Formulas and tables -----------------------------------------------------------------------------------------------------

    def _formula(self, line: str, following: str) -> str:
        """One formula; a wide one says how wide it is, so that it is set smaller where there is no room for it.

        What goes on in the next line, or comes from the line before, has its row for itself.
        """
        mathml = to_mathml(line)
        width = width_of(mathml)
        style = f' style="--em: {width:.0f}"' if width > ROOM else ""
        # Beside each other on a wide screen, parts of one sum could not be put together again.
        goes_on = any(text.startswith(CONTINUED) for text in (line, following))
        return f'<div class="formula{" alone" if goes_on else ""}"{style}>{self._linked(mathml)}</div>\n'

    def _prose(self, text: str) -> str:
        parts = text.split("$")
        formulas = range(1, len(parts), 2)
        return "".join(self._linked(inline_formula(p)) if k in formulas else escape(p) for k, p in enumerate(parts))

    def _linked(self, mathml: str) -> str:
        return self.names.linked(mathml)

    def _link(self, name: str) -> str:
        return escape(" ".join(self.links[name]))

    def _table(self, table: PageTable) -> str:
        body = "".join(self._row(row) for row in table.rows)
        whole = " whole" if len(table.rows) <= MOST_WHOLE else ""
        title = f"<h3>{escape(table.title)}</h3>" if table.title else ""
        cells = "".join(f"<th>{escape(cell)}</th>" for cell in table.head)
        head = f"<thead><tr>{cells}</tr></thead>" if any(table.head) else ""
        return f'{title}<div class="scroll{whole}"><table>{head}<tbody>{body}</tbody></table></div>\n'

    def _row(self, row: tuple[str, ...]) -> str:
        return "<tr>" + "".join(map(self._cell, row)) + "</tr>"

    def _cell(self, cell: str) -> str:
        if cell not in self.links:
            power = _POWER_OF_TEN.fullmatch(cell)
            number = f"{power[1]} · 10<sup>{int(power[2])}</sup>" if power else escape(cell)
            return f"<td>{number}</td>"
        return f'<td data-link="{self._link(cell)}">{inline_formula(name_latex(cell))}</td>'

    # -- What runs in the page -----------------------------------------------------------------------------------------------------

    def _live(self, run: LiveRun) -> str:
        """Sliders, and the code of the model as data. Without a script the page shows the run as it was written."""
        sliders = "".join(map(self._slider, run.sliders))
        data = {
            "code": b64encode(run.code).decode(),
            "sliders": [[s.reference, s.value, s.low, s.high, s.factor, s.offset, s.geometric] for s in run.sliders],
            "variables": run.variables,
            "until": run.until,
            "shows": f"figure-{run.shows}",
        }
        rtol = f"{run.rtol:g}".replace("e-0", "e-")
        told = f"Moved by you, computed here: every state within {rtol} of its size."
        return (
            f'<form class="live" hidden aria-label="Values that can be moved">{sliders}'
            f'<p class="hint"><button type="reset">As in the file</button> {told} <output aria-live="polite"></output></p>'
            f'<script type="application/json">{_inert(data)}</script></form>\n'
        )

    def _slider(self, slider: Slider) -> str:
        link = f' data-link="{self._link(slider.name)}"' if slider.name in self.links else ""
        unit = f" {escape(slider.unit)}" if slider.unit else ""
        return (
            f"<label{link}><span>{inline_formula(name_latex(slider.name))}</span>"
            f'<input type="range" min="0" max="1" step="any" aria-label="{escape(slider.name)}">'
            f'<span><input type="number" step="any" aria-label="value of {escape(slider.name)}">{unit}</span></label>'
        )

    # -- Pictures ----------------------------------------------------------------------------------------------------------------

    def _picture(self, picture: PagePicture) -> str:
        caption = f"<figcaption>{escape(picture.caption)}</figcaption>"
        name = f'id="figure-{escape(picture.name)}"'
        if picture.stills:
            # On paper nothing moves: stills are in the page from the start, and shown only in print.
            stills = "".join(
                f"<div>{_image(still.svg, still.caption)}{escape(still.caption)}</div>" for still in picture.stills
            )
            moving = _image(picture.svg, picture.caption)
            return f'<figure {name} class="moving">{moving}<div class="stills">{stills}</div>{caption}</figure>\n'
        drawn = self._inline_svg(picture.svg)
        if picture.panels:
            curves = self._curves(picture.panels)
            return f'<figure {name} class="plot">{curves}<div class="still">{drawn}</div>{caption}</figure>\n'
        return f'<figure {name} class="zooms">{drawn}{caption}</figure>\n'

    def _inline_svg(self, svg: str) -> str:
        """The figure as part of the page. Its letters go to those of the page, and ids with them: they would not be unique."""

        def keep(found: re.Match[str]) -> str:
            self.symbols.setdefault(found[1], found[0])
            return ""

        plain = re.sub(r'<symbol id="([^"]*)".*?</symbol>\n?', keep, svg, flags=re.DOTALL)
        # On the paper of the page, which may be dark.
        plain = re.sub(r'<rect [^>]*fill="#FFFFFF"/>\n', "", plain, count=1)
        plain = re.sub(r"<metadata>.*?</metadata>\n?", "", plain, flags=re.DOTALL)
        return re.sub(r'<g id="[^"]*"', "<g", plain.replace("<defs>\n</defs>\n", ""))

    def _curves(self, panels: tuple[Panel, ...]) -> str:
        """The numbers of a plot for the script of the page, and its texts."""
        texts = "".join(text for k, panel in enumerate(panels) for text in self._panel_texts(k, panel))
        data = _inert([_panel_data(panel) for panel in panels])
        return f'<template>{texts}</template><script type="application/json">{data}</script>'

    def _panel_texts(self, k: int, panel: Panel) -> Iterator[str]:
        _, unit = engineering(panel.unit, _largest(panel), given=panel.given)
        of = panel.title or (_latex(panel.lines[0]) if len(panel.lines) == 1 else "")
        shown = rf"{of}\ (\mathrm{{{unit}}})" if of and unit else of or unit
        yield f'<div class="title" data-panel="{k}">{inline_formula(shown) if shown else ""}</div>'
        x = rf"{panel.x_title}\ (\mathrm{{{panel.x_unit.replace('*', '')}}})" if panel.x_unit else panel.x_title
        yield f'<span data-x="{k}">{inline_formula(x)}</span>'
        for c, line in enumerate(panel.lines):
            link = f' data-link="{self._link(line.name)}"' if line.name in self.links else ""
            latex = _latex(line)
            text = inline_formula(latex) if latex else escape(told(line))
            words = f", {escape(line.words)}" if latex and line.words and line.words != line.name else ""
            yield f'<span data-curve="{k} {c}"{link}>{text}{words}</span>'


def _inert(data: object) -> str:
    """Data for the script of the page: nothing that a model says can end the element that holds it."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _latex(line: Line) -> str:
    """The name of a curve as a formula; nothing where only words tell it."""
    return "" if line.words == line.name else line.latex or variable_latex(line.name)


def _largest(panel: Panel) -> float:
    sizes = (np.abs(line.y[np.isfinite(line.y)]).max(initial=0.0) for line in panel.lines)
    return float(max(sizes, default=0.0))


def _panel_data(panel: Panel) -> dict[str, object]:
    factor, _ = (1.0, "") if panel.kind == "log" else engineering(panel.unit, _largest(panel), given=panel.given)
    unit = _to_si(panel.unit)
    x, rows = _common([(line.x, line.y / factor) for line in map(_shortened, _within(panel))])
    looks = [look_of(line, k) for k, line in enumerate(panel.lines)]
    return {
        "x": _numbers(x),
        "y": [_numbers(y) for y in rows],
        "light": [THEMES["colour"].colour(tone) for tone, _ in looks],
        "dark": [THEMES["dark"].colour(tone) for tone, _ in looks],
        "dash": [list(dash) for _, dash in looks],
        "xlog": panel.x_kind == "log",
        "ylog": panel.kind == "log",
        "turns": panel.unit == "deg",
        "sync": repr(panel.x_key),
        # For numbers that the page makes itself, which are SI.
        "names": [line.name for line in panel.lines],
        "shown": [factor * unit[0], unit[1]],
    }


def _within(panel: Panel) -> Iterable[Line]:
    """The curves in the window of the panel: who zooms out comes back to it."""
    if panel.window is None:
        return panel.lines
    low, high = panel.window
    inside = ((line.x >= low) & (line.x <= high) for line in panel.lines)
    return (replace(line, x=line.x[at], y=line.y[at]) for line, at in zip(panel.lines, inside, strict=True))


def _to_si(unit: str) -> tuple[float, float]:
    """Factor and offset from a unit to SI; those of a logarithm are none."""
    try:
        found = parse_unit(unit)
    except TellegenError:
        return 1.0, 0.0
    return float(found.factor), float(found.offset)


def _shortened(line: Line) -> Line:
    """The curve by the lowest and the highest point of each of so many stretches, where it has more points than can be seen."""
    if len(line.x) <= MOST_ROWS:
        return line
    edges = np.linspace(0, len(line.x), MOST_ROWS // 2 + 1).astype(int)
    kept: set[int] = {0, len(line.x) - 1}
    for start, end in pairwise(edges):
        part = np.nan_to_num(line.y[start:end])
        kept |= {start + int(part.argmin()), start + int(part.argmax())}
    rows = sorted(kept)
    return replace(line, x=line.x[rows], y=line.y[rows])


def _common(curves: Iterable[tuple[Array, Array]]) -> tuple[Array, list[Array]]:
    """Curves over one axis: where they have points of their own, the others have none there."""
    found = list(curves)
    x = found[0][0]
    if all(np.array_equal(x, other) for other, _ in found):
        return x, [y for _, y in found]
    union = np.unique(np.concatenate([x for x, _ in found]))
    return union, [np.interp(union, x, y, left=np.nan, right=np.nan) for x, y in found]


def _numbers(values: Array) -> list[float | None]:
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in values.tolist()]


_POWER_OF_TEN = re.compile(r"(-?\d+(?:\.\d+)?)e([+-]\d+)")

_UNSAFE = re.compile(r"[^\w !$'()*+,\-./:;=?@~\[\]|]+", re.ASCII)
"""What the address of a picture must not hold as it is."""


def _image(svg: str, words: str) -> str:
    # As data: what moves by itself keeps its own clock and its own names.
    # Percent signs for the few letters that an address must not hold: a quarter shorter than base64.
    plain = re.sub("<[^<>']*>", lambda tag: tag[0].replace('"', "'"), svg)
    # Only where they stand: the library's function looks at every letter of a picture by itself.
    data = _UNSAFE.sub(lambda letters: percent_encoded(letters[0], safe=""), plain)
    return f'<img alt="{escape(words, quote=True)}" src="data:image/svg+xml;charset=utf-8,{data}">'
