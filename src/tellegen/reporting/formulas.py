"""LaTeX for a page: lines out of their environment, wide matrices set apart, MathML, and how wide a formula will be."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import final
from xml.etree.ElementTree import Element, fromstring

from tellegen.core.hidden_characters import visible
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.typesetting import with_plain_words

SMALL = 0.75
"""The size of an index beside that of its letter."""
COLUMN_GAP = 1.0
ROOT_SIGN = 1.0
# Widths of letters are those of common fonts, roughly: the browser sets the formula, and only needs to be warned.
NARROW = frozenset("()[]{}|,.;′'")
WIDE = frozenset("=+-−⟶→≥≤<>∧∨")
"""Signs that stand between others, with room on both sides."""
INVISIBLE = frozenset("\u2061\u2062\u2063&")


@lru_cache(maxsize=4096)
def width_of(mathml: str) -> float:
    """About the width of a formula in em; rather too much than too little."""
    return _width(fromstring(mathml))


def _width(node: Element) -> float:
    tag = node.tag.rpartition("}")[2]
    parts = [_width(child) for child in node]
    match tag:
        case "mi" | "mn" | "mo" | "mtext":
            return sum(map(_letter, node.text or ""))
        case "mspace":
            # As MathML writes it: `2em`, or a length that is too small to count.
            width = node.get("width", "0")
            return float(width[:-2]) if width.endswith("em") else 0.0
        case "mfrac":
            return max(parts, default=0) + 0.3
        case "mtable":
            return _table(node)
        case "munder" | "mover" | "munderover":
            return max(parts[0], *(SMALL * part for part in parts[1:]))
        case "msub" | "msup":
            return parts[0] + SMALL * parts[1]
        case "msubsup":
            return parts[0] + SMALL * max(parts[1:])
        case "msqrt" | "mroot":
            return sum(parts) + ROOT_SIGN
    return sum(parts)


def _table(table: Element) -> float:
    """The widest cell of each column, and the gaps between columns."""
    rows = [[_width(cell) for cell in row] for row in table]
    columns = max(map(len, rows), default=0)
    widest = [max(row[k] for row in rows if k < len(row)) for k in range(columns)]
    return sum(widest) + COLUMN_GAP * columns


def _letter(letter: str) -> float:
    if letter in INVISIBLE:
        return 0.0
    if letter in NARROW:
        return 0.48
    return 1.45 if letter in WIDE else 0.65


WIDEST = 58.0
"""A formula wider than this many em shows letters for its matrices, which follow below it."""

LONGEST_ENTRIES = (9.0, 4.0)
"""An entry of a wide matrix that takes more room than this has a line of its own: more of them where it is still too wide."""

CONTINUED = r"\qquad"
"""How a line begins that continues a sum."""

LINE = 44.0
"""A sum wider than this goes on in the next line. So wide is a line on paper."""

_ENVIRONMENT = re.compile(r"\\(begin|end)\{(\w+\*?)\}")
_BRACE = r"\underbrace{"


def formula_lines(latex: str) -> tuple[str, ...]:
    """The lines of an `align*` or `aligned` environment, without their alignment marks."""
    body = re.sub(r"^\s*\\begin\{align(?:ed|\*)?\}|\\end\{align(?:ed|\*)?\}\s*$", "", latex.strip())
    lines: list[str] = []
    depth, start = 0, 0
    for found in re.finditer(r"\\(begin|end)\{\w+\*?\}|\\\\", body):
        if found[0] == r"\\":
            if depth == 0:
                # A line ends only outside of matrices, whose rows end with the same two strokes.
                lines.append(body[start : found.start()])
                start = found.end()
        else:
            depth += 1 if found[1] == "begin" else -1
    lines.append(body[start:])
    return tuple(text for line in lines if (text := _without_marks(line).strip()))


def _without_marks(line: str) -> str:
    """The line without the `&` that align it: those outside of matrices."""
    depth, kept = 0, []
    for piece in re.split(r"(\\begin\{\w+\*?\}|\\end\{\w+\*?\}|&)", line):
        if _ENVIRONMENT.fullmatch(piece):
            depth += 1 if piece.startswith(r"\begin") else -1
        if piece == "&" and depth == 0:
            continue
        kept.append(piece)
    return "".join(kept)


def page_lines(latex: str) -> tuple[str, ...]:
    """The lines of an environment as a page has room for them: the matrices of a wide equation follow below it, each once."""
    shown: list[str] = []
    apart: dict[str, str] = {}
    for line in formula_lines(latex):
        # Only equations with letters below their braces can be told in letters.
        if _BRACE not in line or width_of(to_mathml(line)) <= WIDEST:
            shown += [line] if "matrix" in line or "array" in line else _broken(line)
            continue
        # The rate of a vector lists the same names with dots.
        found = {letter: body for letter, body in _braced(line) if not letter.startswith(r"\dot")}
        shown.append(_with_letters(line))
        shown += [text for letter in found if letter not in apart for text in _matrix_lines(letter, found[letter])]
        apart |= found
    return tuple(shown)


def _broken(line: str) -> Iterator[str]:
    """A sum in lines that fit on paper, each with the size of the others."""
    if width_of(to_mathml(line)) <= LINE:
        yield line
        return
    begun = ""
    for term in _terms(line):
        if begun and width_of(to_mathml(begun + term)) > LINE:
            yield begun
            # The indent tells readers, and the writers of pages, that a sum goes on.
            begun = rf"{CONTINUED} {term.strip()} "
        else:
            begun += term
    yield begun


def _terms(line: str) -> Iterator[str]:
    """The terms of the outermost sum, each with its sign; the first with all that stands before it."""
    depth, start = 0, 0
    for found in re.finditer(r"\\left|\\right|(?<!\\)[{}]|(?<=[^=(]) [+-] ", line):
        if found[0] in {r"\left", "{"}:
            depth += 1
        elif found[0] in {r"\right", "}"}:
            depth -= 1
        elif depth == 0 and line[start : found.start()].strip() not in {"", CONTINUED}:
            yield line[start : found.start()]
            start = found.start()
    yield line[start:]


def _matrix_lines(letter: str, body: str) -> list[str]:
    """`letter = matrix`; where that is still too wide, long entries are told below it, equal ones together."""
    lines = [f"{letter} = {body}"]
    begin, inside, end = _opened(body)
    cells = [row.split(" & ") for row in inside.split(r" \\ ")]
    # A matrix of one entry is no wider than the entry told by itself.
    if len(cells) == 1 and len(cells[0]) == 1:
        return lines
    for longest in LONGEST_ENTRIES:
        if width_of(to_mathml(lines[0])) <= WIDEST:
            break
        short, places = _told_apart(letter, cells, longest)
        shown = r" \\ ".join(" & ".join(row) for row in short)
        lines = [f"{letter} = {begin}{shown}{end}", *(" = ".join([*where, entry]) for entry, where in places.items())]
    return lines


def _told_apart(letter: str, cells: list[list[str]], longest: float) -> tuple[list[list[str]], dict[str, list[str]]]:
    """The cells with names for long entries, and the names of each such entry."""
    short = [list(row) for row in cells]
    places: dict[str, list[str]] = {}
    for i, row in enumerate(short):
        for j, entry in enumerate(row):
            # Equal entries share one line below: symmetric matrices would say everything twice.
            if width_of(to_mathml(entry)) > longest:
                row[j] = f"{letter}_{{{i + 1},{j + 1}}}"
                places.setdefault(entry, []).append(row[j])
    return short, places


def _opened(body: str) -> tuple[str, str, str]:
    """How a matrix begins, its rows, and how it ends."""
    found = re.fullmatch(r"(.*?\\begin\{(?:bmatrix\}|array\}\{c+\}) )(.*)( \\end\{.*)", body, re.DOTALL)
    assert found is not None, f"not a matrix: {body!r}"
    return found[1], found[2], found[3]


def _with_letters(line: str) -> str:
    """The line with the letter of each matrix instead of the matrix above it."""
    for letter, body in _braced(line):
        line = line.replace(f"{_BRACE}{body}}}_{{{letter}}}", letter, 1)
    return line


def _braced(line: str) -> Iterator[tuple[str, str]]:
    """What stands under each brace of a line, and the matrix above it: `\\underbrace{matrix}_{letter}`."""
    start = line.find(_BRACE)
    while start >= 0:
        end = _closing(line, start + len(_BRACE))
        last = _closing(line, end + len("}_{"))
        yield line[end + len("}_{") : last], line[start + len(_BRACE) : end]
        start = line.find(_BRACE, last)


def _closing(line: str, start: int) -> int:
    """Where the group that begins at `start` is closed."""
    depth = 1
    for at in range(start, len(line)):
        # A brace behind a stroke is printed, and groups nothing.
        if line[at] in "{}" and line[at - 1] != "\\":
            depth += 1 if line[at] == "{" else -1
        if depth == 0:
            return at
    raise AssertionError(f"a brace is not closed in {line!r}")


@lru_cache(maxsize=4096)
def to_mathml(latex: str) -> str:
    """One formula as a MathML element of its own line."""
    from latex2mathml.converter import convert  # noqa: PLC0415  its tables of symbols are read when a page has formulas

    # A letter is the same with and without a row of its own, so that one name is written in one way.
    return _LONE.sub(r"\1", str(convert(with_plain_words(latex), display="block")))


_LONE = re.compile(r"<mrow>(<(m[in])>[^<]*</\2>)</mrow>")


@lru_cache(maxsize=4096)
def inline_formula(latex: str) -> str:
    """One formula as a MathML element within a line of words."""
    return to_mathml(latex).replace('display="block"', 'display="inline"', 1)


@final
class LinkedNames:
    """Names of a model in formulas, told apart by what they belong to: `data-link` of each names its elements.

    `links` gives for each name the elements that it belongs to.
    """

    def __init__(self, links: Mapping[str, Sequence[str]]) -> None:
        self.written = {_bare(name_latex(name)): tuple(found) for name, found in links.items()}
        # Longest first: the letter of a name is no name of its own.
        words = sorted(self.written, key=len, reverse=True)
        self.pattern = re.compile("|".join(map(re.escape, words))) if words else None

    def linked(self, mathml: str) -> str:
        """The formula with its names linked."""
        return self.pattern.sub(self._link, mathml) if self.pattern is not None else mathml

    def _link(self, found: re.Match[str]) -> str:
        tag = re.match(r"<\w+", found[0])
        assert tag is not None, "MathML begins with a tag"
        elements = visible(escape(" ".join(self.written[found[0]]), quote=True))
        return f'{tag[0]} data-link="{elements}"{found[0][tag.end() :]}'


def _bare(latex: str) -> str:
    """The MathML of a name without what surrounds it in a formula of its own."""
    return re.sub(r"^<math[^>]*>(?:<mrow>)?|(?:</mrow>)?</math>$", "", to_mathml(latex))


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def readable_unit(unit: str) -> str:
    """A unit as people write it: `N·m²` for `N*m^2`."""
    text = re.sub(r"\^(-?\d+)(?![.\d])", lambda power: power[1].translate(_RAISED), unit)
    return text.replace("*", "·").replace("ohm", "Ω")
