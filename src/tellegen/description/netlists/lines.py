"""The lines of a netlist: the fields they are made of, and what one line says before names and points are settled."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, final

from tellegen.core.domains import Side
from tellegen.core.errors import Place
from tellegen.elements import CouplingType, ElementKind
from tellegen.expressions import Expression

_BRACKET = re.compile(r"[][(){}]")
_MARK = re.compile(r"[][(){},]")
_CLOSED_BY = {"[": "]", "(": ")", "{": "}"}


def without_comment(line: str) -> str:
    """The line up to its `%`."""
    return line[: line.index("%")] if "%" in line else line


def pieces_of(line: str) -> list[str] | None:
    """The fields of a line, blanks included; None where brackets do not match. Commas inside brackets part nothing."""
    if not _BRACKET.search(line):
        return line.split(",")
    awaited: list[str] = []
    found, start = [], 0
    for mark in _MARK.finditer(line):
        sign = mark.group()
        if sign == ",":
            if not awaited:
                found.append(line[start : mark.start()])
                start = mark.end()
        elif sign in _CLOSED_BY:
            awaited.append(_CLOSED_BY[sign])
        elif not awaited or awaited.pop() != sign:
            return None
    return None if awaited else [*found, line[start:]]


@final
@dataclass(frozen=True, slots=True)
class Wire:
    """A `--` line: two points that are one node, what the line says about its drawing, and where it stands."""

    points: tuple[str, str]
    notes: Mapping[str, str]
    line: int = 0


class Label(NamedTuple):
    """A name after Kn, En, Fn or Qn (empty where only a value is given), with its value; `field` is where it stands."""

    name: str
    value: Expression | None
    size: float
    field: int


class Relation(NamedTuple):
    """The relation of a connection block; the modulus is a name, or a number without one."""

    coupling: CouplingType
    reciprocal: bool
    modulus: Label


@final
class Branch:
    """One element line; a class with slots because a large file has 200 000 of them."""

    __slots__ = ("kind", "labels", "line", "notes", "ordinal", "out", "pin", "place", "points", "relation")

    def __init__(self, place: Place, ordinal: int, kind: ElementKind | None, points: tuple[str, ...]) -> None:
        self.place = place
        self.line = place.line
        self.ordinal = ordinal
        self.kind = kind  # None for a connection block until its domains are known
        self.points = points
        self.labels: dict[str, Label] = {}
        self.notes: dict[str, str] | None = None
        self.pin: int | None = None
        self.out: Side | None = None
        self.relation: Relation | None = None

    def note(self, key: str, text: str) -> None:
        """Keep what the line says about its drawing."""
        if self.notes is None:
            self.notes = {}
        self.notes[key] = text

    def sides(self) -> list[tuple[str, str]]:
        """The pairs of points between which across variables are taken: one, or two for a connection block."""
        points = self.points
        return [(points[0], points[1])] if len(points) == 2 else [(points[0], points[1]), (points[2], points[3])]
