"""The geometry of a netlist: where its points are, by their placement or by the angles and lengths of its lines.

A point that nothing places follows from the other end of the first line that has it: at a length `Ln` in the direction `An`. The
first point of all is at (0, 1), and so a netlist that only says which way it turns is drawn like a text is written.
"""

import cmath
import re
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite, radians
from typing import NamedTuple

from tellegen.description.model import NOTHING, Element
from tellegen.description.netlists.lines import Branch
from tellegen.description.netlists.reading import LineReader
from tellegen.description.sketches import Sketch, SketchedBranch

START = 1j
"""Where the first point is."""
APART = 1.5
"""Between parts that no line joins."""
NARROWEST = 0.7
"""Between the two sides of a connection block."""
GAP = 0.4
FARTHEST = 1e4
GEOMETRY = ("An", "Ln", "Sh")
"""The options that tell how somebody wants it drawn."""

_NUMBER = r"[+-]?\s*(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_IMAGINARY = rf"(?P<y>{_NUMBER})\s*\*?\s*(?:1\s*)?[ij]|(?P<unit>[+-]?)\s*[ij]"
_PLACE = re.compile(rf"\(?\s*(?:(?P<x>{_NUMBER})(?=\s*(?:[+-]|\)?$)))?\s*(?:{_IMAGINARY})?\s*\)?")
_PAIR = re.compile(rf"\[\s*({_NUMBER})\s*[;,]\s*({_NUMBER})\s*\]")


class _Line(NamedTuple):
    """A line of the netlist from one point to another."""

    start: str
    end: str
    step: complex


def sketch_of(reader: LineReader, elements: Iterable[Element], nodes: Mapping[str, str]) -> Sketch | None:
    """Where a netlist draws its elements; None where it says nothing about it."""
    branches = reader.branches
    if not reader.positions and not any(key in (branch.notes or NOTHING) for branch in branches for key in GEOMETRY):
        return None
    placed = {label: place for label, text in reader.positions.items() if (place := read_place(text)) is not None}
    for line in _lines(reader):
        _place(line, placed)
    drawn = {element.name: _branch(branch, element, nodes) for branch, element in zip(branches, elements, strict=True)}
    wires = tuple(wire.points for wire in reader.wires if wire.points[0] != wire.points[1])
    return Sketch({label: placed[label] for label in reader.points if label in placed}, nodes, wires, drawn)


def read_place(text: str) -> complex | None:
    """The point that a text such as `(2+1*1i)` tells; None where it tells none.

    >>> read_place("(2+1*1i)"), read_place("1.5"), read_place("-2i"), read_place("here")
    ((2+1j), (1.5+0j), -2j, None)
    """
    found = _PLACE.fullmatch(text.strip())
    if found is None or (not any(found.group("x", "y")) and found["unit"] is None):
        return None
    x = float((found["x"] or "0").replace(" ", ""))
    y = float(found["y"].replace(" ", "")) if found["y"] else {"-": -1.0, None: 0.0}.get(found["unit"], 1.0)
    return complex(x, y) if max(abs(x), abs(y)) <= FARTHEST else None


def _lines(reader: LineReader) -> Iterator[_Line]:
    """The lines of the netlist in the order in which they stand there, wires among elements."""
    found = [(branch.line, line) for branch in reader.branches for line in _steps(branch)]
    found += [(wire.line, _Line(*wire.points, _step(wire.notes))) for wire in reader.wires]
    return (line for _, line in sorted(found, key=lambda item: item[0]))


def _steps(branch: Branch) -> Iterator[_Line]:
    notes = branch.notes or NOTHING
    if len(branch.points) == 2:
        yield _Line(branch.points[0], branch.points[1], _step(notes))
        return
    # A connection block: its two sides, and the way from the one to the other. Sides lead down where nothing says more.
    top, bottom, other_top, other_bottom = branch.points
    shifts = _shifts(branch)
    down = _step(notes, angle=-90.0)
    across = max(NARROWEST, _number(notes.get("La"), GAP) + shifts[0] - shifts[1]) * down / abs(down) * 1j
    yield _Line(top, bottom, down)
    yield _Line(top, other_top, across)
    yield _Line(bottom, other_bottom, across)


def _step(notes: Mapping[str, str], angle: float = 0.0) -> complex:
    return cmath.rect(max(_number(notes.get("Ln"), 1.0), 0.05), radians(_number(notes.get("An"), angle)))


def _place(line: _Line, placed: dict[str, complex]) -> None:
    """Place the ends of a line that have no place yet."""
    if line.start not in placed and line.end in placed:
        placed[line.start] = placed[line.end] - line.step
    if line.start not in placed:
        right = max((place.real for place in placed.values()), default=-APART) + APART
        placed[line.start] = START + right
    placed.setdefault(line.end, placed[line.start] + line.step)


def _branch(branch: Branch, element: Element, nodes: Mapping[str, str]) -> SketchedBranch:
    in_order = tuple(nodes[point] for point in branch.points) == element.nodes
    points = branch.points if in_order else branch.points[::-1]
    notes = branch.notes or NOTHING
    key = "Kn" if element.kind.role != "source" else "En" if element.kind.side == "across" else "Fn"
    return SketchedBranch(points, _shifts(branch), -1 if notes.get(key, "").startswith("-") else 1, in_order)


def _shifts(branch: Branch) -> tuple[float, ...]:
    text = (branch.notes or NOTHING).get("Sh")
    if len(branch.points) == 2:
        return (_number(text, 0.0),)
    found = _PAIR.fullmatch(text or "")
    return (_number(found[1], 0.0), _number(found[2], 0.0)) if found else (0.0, 0.0)


def _number(text: str | None, default: float) -> float:
    """The number that a text is; the default where it is none, as where nothing is said."""
    try:
        value = float(text.replace(" ", "")) if text is not None else default
    except ValueError:
        return default
    return value if isfinite(value) and abs(value) <= FARTHEST else default
