"""The lines of a netlist: the fields they are made of, what one line says, and what is found in it, with the place of its field."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, final

from tellegen.core.domains import Side
from tellegen.core.errors import DescriptionError, Finding, Place, Rule
from tellegen.core.files import clip
from tellegen.elements import CouplingType, ElementKind
from tellegen.expressions import Expression
from tellegen.notations.context import MOST_ERRORS, MOST_NOTICES

_BRACKET = re.compile(r"[][(){}]")
_MARK = re.compile(r"[][(){},]")
_CLOSED_BY = {"[": "]", "(": ")", "{": "}"}


def without_comment(line: str) -> str:
    """The line up to its `%`."""
    return line[: line.index("%")] if "%" in line else line


def fields_of(line: str) -> list[str] | None:
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
class NetlistWire:
    """A `--` line: two points that are one node, what the line says about its drawing, and where it stands."""

    points: tuple[str, str]
    notes: Mapping[str, str]
    line: int = 0


class NetlistLabel(NamedTuple):
    """A name after Kn, En, Fn or Qn (empty where only a value is given), with its value; `field` is where it stands."""

    name: str
    value: Expression | None
    size: float
    field: int


class BlockRelation(NamedTuple):
    """The relation of a connection block; the modulus is a name, or a number without one."""

    coupling: CouplingType
    reciprocal: bool
    modulus: NetlistLabel


@final
class NetlistBranch:
    """One element line; a class with slots because a large file has 200 000 of them."""

    __slots__ = ("kind", "labels", "line", "notes", "ordinal", "out", "pin", "place", "points", "relation")

    def __init__(self, place: Place, ordinal: int, kind: ElementKind | None, points: tuple[str, ...]) -> None:
        self.place = place
        self.line = place.line
        self.ordinal = ordinal
        self.kind = kind  # None for a connection block until its domains are known
        self.points = points
        self.labels: dict[str, NetlistLabel] = {}
        self.notes: dict[str, str] | None = None
        self.pin: int | None = None
        self.out: Side | None = None
        self.relation: BlockRelation | None = None

    def note(self, key: str, text: str) -> None:
        """Keep what the line says about its drawing."""
        if self.notes is None:
            self.notes = {}
        self.notes[key] = text

    def sides(self) -> list[tuple[str, str]]:
        """The pairs of points between which across variables are taken: one, or two for a connection block."""
        points = self.points
        return [(points[0], points[1])] if len(points) == 2 else [(points[0], points[1]), (points[2], points[3])]


class RefusedLineError(Exception):
    """A line that cannot be used; the finding is already kept."""


@final
class NetlistFindings:
    """What was found, with places worked out only when needed; stops at too many errors.

    Lines count from 1, fields of a line from 0; the field -1 is the whole line.
    """

    def __init__(self, file: str, lines: list[str]) -> None:
        self.file = file
        self.lines = lines
        self.errors: list[Finding] = []
        self.notices: dict[str, list[Finding]] = {}
        self.unsaid: dict[str, int] = {}

    def error(
        self, rule: Rule, what: str, line: int, field: int = -1, *, fix: str = "", members: Iterable[str] = ()
    ) -> None:
        """Keep an error; raises DescriptionError when enough are there."""
        self.errors.append(rule.finding(what, fix=fix, place=self.place(line, field), members=members))
        if len(self.errors) >= MOST_ERRORS:
            self.raise_errors()

    def refuse(self, rule: Rule, what: str, line: int, field: int = -1, *, fix: str = "") -> RefusedLineError:
        """Keep an error and give what to raise to leave the line."""
        self.error(rule, what, line, field, fix=fix)
        return RefusedLineError()

    def notice(
        self, rule: Rule, what: str, line: int, field: int = -1, *, fix: str = "", members: Iterable[str] = ()
    ) -> None:
        """Keep a notice or a warning, up to a number of each rule; the rest is counted."""
        if self.is_full(rule):
            self.unsaid[rule.code] = self.unsaid.get(rule.code, 0) + 1
        else:
            finding = rule.finding(what, fix=fix, place=self.place(line, field), members=members)
            self.notices.setdefault(rule.code, []).append(finding)

    def is_full(self, rule: Rule) -> bool:
        """Whether further notices of a rule are only counted."""
        return rule.code in self.unsaid or len(self.notices.get(rule.code, ())) >= MOST_NOTICES

    def raise_errors(self) -> None:
        """Raises: DescriptionError with all errors so far, if there are any."""
        if self.errors:
            raise DescriptionError(self.errors)

    def all_notices(self) -> tuple[Finding, ...]:
        """Notices in the order of lines; where some were left out, a last one says how many."""
        found = [finding for kept in self.notices.values() for finding in kept]
        found.sort(key=lambda finding: finding.place.line if finding.place else 0)
        for code, count in self.unsaid.items():
            last = self.notices[code][-1]
            found.append(Finding(code, last.severity, f"{count} more like this were found", why=last.why))
        return tuple(found)

    def place(self, line: int, field: int = -1) -> Place:
        """Where a field of a line stands."""
        text = without_comment(self.lines[line - 1])
        if field < 0:
            return Place(self.file, line, len(text) - len(text.lstrip()) + 1, clip(text.strip()))
        pieces = fields_of(text)
        if pieces is None or field >= len(pieces):
            return Place(self.file, line, len(text.rstrip()) + 1, clip(text.strip()))
        piece = pieces[field]
        column = sum(map(len, pieces[:field])) + field + len(piece) - len(piece.lstrip()) + 1
        return Place(self.file, line, column, clip(piece.strip()))

    def line_place(self, line: int) -> Place:
        """The place of a line as a whole; made for each element, so the column is not worked out."""
        return Place(self.file, line, 1, clip(self.lines[line - 1].strip()))
