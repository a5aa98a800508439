"""A netlist file or text as a model: its text checked as a whole, its branches as elements, its geometry as a sketch.

A point that nothing places follows from the other end of the first line that has it: at a length `Ln` in the direction `An`. The
first point of all is at (0, 1), and so a netlist that only says which way it turns is drawn like a text is written.
"""

import cmath
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite, radians
from pathlib import Path
from typing import NamedTuple, final

from tellegen.core.domains import Side, other_side
from tellegen.core.errors import Place, TellegenError
from tellegen.core.files import MAX_BYTES, failure_reason, find_forbidden, read_bytes
from tellegen.core.hidden_characters import HIDDEN
from tellegen.core.memory import without_collector
from tellegen.elements import ElementKind
from tellegen.expressions import Expression, symbol
from tellegen.model.model import NOTHING, Element, Experiment, Model, Sketch, SketchedBranch
from tellegen.model.signals import Signal
from tellegen.notations import rules as notations_rules
from tellegen.notations.netlist import rules
from tellegen.notations.netlist.lines import NetlistBranch, NetlistFindings, NetlistWire
from tellegen.notations.netlist.nodes import KEY_OF_SIDE, NameAssignment, NetlistNames, automatic_name, find_nodes
from tellegen.notations.netlist.reading import LineReader

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


def _sketch_of(reader: LineReader, elements: Iterable[Element], nodes: Mapping[str, str]) -> Sketch | None:
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
    # By lines of the file: a point without a place follows from the first line that has it.
    return (line for _, line in sorted(found, key=lambda item: item[0]))


def _steps(branch: NetlistBranch) -> Iterator[_Line]:
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


def _branch(branch: NetlistBranch, element: Element, nodes: Mapping[str, str]) -> SketchedBranch:
    in_order = tuple(nodes[point] for point in branch.points) == element.nodes
    points = branch.points if in_order else branch.points[::-1]
    notes = branch.notes or NOTHING
    key = "Kn" if element.kind.role != "source" else "En" if element.kind.side == "across" else "Fn"
    return SketchedBranch(points, _shifts(branch), -1 if notes.get(key, "").startswith("-") else 1, in_order)


def _shifts(branch: NetlistBranch) -> tuple[float, ...]:
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


_ABOUT = "Read from a POG_Modeler netlist."


@final
class ModelBuilder:
    """Makes the model of lines that were read."""

    def __init__(self, reader: LineReader, title: str) -> None:
        self.reader, self.title = reader, title
        self.findings = reader.findings
        self.branches = reader.branches
        # Nodes before names: connection blocks get their kinds there, and kinds say what a name stands for.
        self.nodes = find_nodes(reader)
        self.names = NameAssignment(reader)

    def build(self) -> Model:
        """The model; raises every error found on the way."""
        self._check_branches()
        self.findings.raise_errors()
        elements = self._elements()
        experiment = self._experiment(elements)
        notices = self.findings.all_notices()
        sketch = _sketch_of(self.reader, elements, self.nodes)
        return Model(
            name=self.title,
            elements=elements,
            parameters=self.names.parameters,
            experiment=experiment,
            findings=notices,
            source=self.findings.file,
            about=_ABOUT,
            sketch=sketch,
        )

    # Checks

    def _check_branches(self) -> None:
        nodes, sizes = self.nodes, self.names.sizes
        for branch, parameter in zip(self.branches, self.names.parameter_of, strict=True):
            points = branch.points
            if nodes[points[0]] == nodes[points[1]] or (len(points) == 4 and nodes[points[2]] == nodes[points[3]]):
                self._report_short(branch)
            if parameter:
                if not sizes[parameter] > 0:
                    self._check_size(branch, parameter, sizes[parameter])
            elif branch.relation is not None:
                self._check_size(branch, "", branch.relation.modulus.size)

    def _report_short(self, branch: NetlistBranch) -> None:
        one, two = next(side for side in branch.sides() if self.nodes[side[0]] == self.nodes[side[1]])
        same, joined = f"both ends are the point '{one}'", f"its ends '{one}' and '{two}' are joined by '--' lines"
        what = f"the element is shorted: {same if one == two else joined}"
        self.findings.error(rules.SHORTED, what, branch.line, fix="remove it, or change a point")

    def _check_size(self, branch: NetlistBranch, name: str, size: float) -> None:
        """Physics of the value; a symbol has none (nan) and passes."""
        kind = branch.kind
        if kind is None or size > 0 or math.isnan(size):
            return
        findings, line = self.findings, branch.line
        what = f"the value of this {kind.name}, '{name}', is {size:g}"
        if kind.role == "storage":
            rule = notations_rules.NEGATIVE_STORAGE if size < 0 else notations_rules.EMPTY_STORAGE
            findings.error(rule, what, line, fix="give a positive value")
        elif kind.role == "coupling":
            if size == 0:
                findings.notice(
                    notations_rules.NO_PASSAGE, "the modulus is zero: no power passes", line, fix="check the value"
                )
        elif size < 0:
            findings.notice(notations_rules.ACTIVE_ELEMENT, what, line, fix="check the sign of the value")

    # Elements

    def _elements(self) -> tuple[Element, ...]:
        taken = NetlistNames(self.names.labels)
        elements = []
        rows = zip(self.branches, self.names.parameter_of, self.names.variables, strict=True)
        for branch, parameter, variables in rows:
            kind = branch.kind
            assert kind is not None, "every branch has its kind once errors are raised"
            # A source is called like its input, other elements like their parameters: so the equations of the book name
            # them.
            wanted = variables[kind.side] if kind.role == "source" else parameter or automatic_name(branch)
            name = taken.give(wanted)
            if name != wanted and kind.role != "source":
                self._report_shared(branch, parameter, name)
            elements.append(self._element(branch, kind, name, parameter, variables))
        return tuple(elements)

    def _report_shared(self, branch: NetlistBranch, parameter: str, name: str) -> None:
        what = f"the parameter '{parameter}' stands for another element too: this one is called '{name}'"
        fix = "give each element a parameter of its own, if they may differ"
        self.findings.notice(rules.SHARED_PARAMETER, what, branch.line, fix=fix, members=[name])

    def _element(
        self, branch: NetlistBranch, kind: ElementKind, name: str, parameter: str, variables: dict[str, str]
    ) -> Element:
        ends = self._ends(branch, kind)
        if ends != branch.points:
            branch.note("points", ", ".join(branch.points))
        prefer = branch.out
        if branch.pin is not None or prefer is not None:
            prefer = self._check_options(branch, kind)
        value: Expression | None = symbol(parameter) if parameter else None
        if branch.relation is not None and not parameter:
            value = branch.relation.modulus.value
        return Element(
            name=name,
            kind=kind,
            nodes=ends,
            value=value,
            variables=variables or NOTHING,
            initial=self._initial(branch, kind) if kind.role == "storage" else None,
            prefer=prefer,
            forced=prefer is not None,
            place=branch.place,
            notes=branch.notes or NOTHING,
        )

    def _ends(self, branch: NetlistBranch, kind: ElementKind) -> tuple[str, ...]:
        """The nodes of an element, in the order in which its variables are counted."""
        nodes, points = self.nodes, branch.points
        if len(points) != 2:
            return tuple([nodes[point] for point in points])
        first, second = nodes[points[0]], nodes[points[1]]
        return (second, first) if _is_turned(branch, kind) else (first, second)

    def _initial(self, branch: NetlistBranch, kind: ElementKind) -> Expression | None:
        key = KEY_OF_SIDE[kind.side]
        label = branch.labels.get(key)
        if label is not None and label.value is not None:
            return label.value
        return self.reader.default(f"{key}0", branch)[0]

    def _check_options(self, branch: NetlistBranch, kind: ElementKind) -> Side | None:
        """Say what Pin and Out do here; gives the output variable demanded."""
        findings, line = self.findings, branch.line
        if branch.pin == 1 and kind.role == "source":
            output = kind.domain.power(other_side(kind.side)).word
            what = f"Pin, 1 on a source: its output, the {output}, has the other sign than in POG_Modeler"
            fix = "read the output as what gives, times the input, the power supplied"
            findings.notice(rules.OUTPUT_SIGN, what, line, fix=fix)
        elif branch.pin == -1 and kind.role in ("storage", "resistive"):
            turned = kind.domain.power("across" if _is_turned(branch, kind) else "through").word
            what = f"Pin, -1 on this {kind.name}: its {turned} is counted the other way, so that power enters"
            findings.notice(rules.REVERSED, what, line, fix="remove Pin")
        elif branch.pin is not None and kind.role == "coupling":
            findings.notice(rules.NO_EFFECT, "Pin says nothing about a connection block", line, fix="remove it")
        if branch.out is not None and kind.role in ("source", "coupling"):
            findings.notice(rules.NO_EFFECT, f"Out says nothing about a {kind.name}", line, fix="remove it")
            return None
        return branch.out

    # The experiment

    def _experiment(self, elements: tuple[Element, ...]) -> Experiment:
        inputs = {}
        for branch, element in zip(self.branches, elements, strict=True):
            if element.kind.role == "source" and (signal := self._signal(branch, element.kind)) is not None:
                inputs[element.variables[element.kind.side]] = signal
        until, seconds = self.reader.value_of("sTfin")
        return Experiment(until=until if seconds > 0 else None, inputs=inputs)

    def _signal(self, branch: NetlistBranch, kind: ElementKind) -> Signal | None:
        label = branch.labels.get(KEY_OF_SIDE[kind.side])
        value, size = (label.value, label.size) if label is not None else (None, math.nan)
        if value is None:
            value, size = self.reader.default("In0", branch)
        return None if value is None else Signal("constant", (value,), f"{size:.15g}", value)


def _is_turned(branch: NetlistBranch, kind: ElementKind) -> bool:
    """Whether the through variable that the element decides runs from its second point to its first.

    Our through sources drive from their first node to their second, while here the flow leaves at the first point.
    """
    if kind.side == "across":
        return False
    return branch.pin != 1 if kind.role == "source" else branch.pin == -1 and kind.role == "storage"


MAX_LINES = 5_000_000

_CONTROL = re.compile(HIDDEN.pattern.replace("\n", "\n\r"))


@final
@dataclass(frozen=True, slots=True)
class Netlist:
    """A netlist that was read: its model, and what it says about the drawing beside the notes of the elements.

    `options` are those of the `**` lines under their short names, the last one of each; `wires` are the `--` lines in
    order; `positions` are the texts that place points, such as `(2+1*1i)`. Points are labels as written, before wires
    make them nodes.
    """

    model: Model
    options: Mapping[str, str]
    wires: tuple[NetlistWire, ...]
    positions: Mapping[str, str]


def read_netlist(source: Path | str, *, file: str = "<netlist>") -> Model:
    """The model of a netlist file (a `Path`) or of a netlist text (a `str`, then `file` names it in messages).

    States, inputs and outputs follow the order of lines. Names without a value stay symbols. Outputs are counted so
    that output times input is the power supplied, `Pin, 1` or not.

    Raises: DescriptionError with everything found (at most 50 errors, codes D200 to D221, and D130 to D133 for values).

    >>> model = read_netlist("eV, 1, 0, En, V_a\\neL, 1, 2, Kn, L_a, Fn, I_a\\neR, 2, 0, Kn, R_a=3")
    >>> [element.name for element in model.elements]
    ['V_a', 'L_a', 'R_a']
    """
    return load_netlist(source, file=file).model


def load_netlist(source: Path | str, *, file: str = "<netlist>") -> Netlist:
    """The netlist of a file or a text, with its drawing; see `read_netlist`."""
    old_encoding = False
    if isinstance(source, Path):
        file = str(source)
        text, old_encoding = _read_file(source)
    else:
        text = source
    text = text.removeprefix("\ufeff")
    _check_text(text, file)
    with without_collector():
        return _load(file, text, old_encoding)


def _load(file: str, text: str, old_encoding: bool) -> Netlist:
    """The work of `load_netlist`; what it needs on the way is gone when the collector looks again."""
    findings = NetlistFindings(file, text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    if old_encoding:
        what = "the file is not UTF-8: it was read as Windows-1252"
        findings.notice(rules.OLD_ENCODING, what, 1, fix="save the file as UTF-8")
    reader = LineReader(findings)
    reader.read()
    title = Path(file).stem if file and not file.startswith("<") else "netlist"
    model = ModelBuilder(reader, title).build()
    return Netlist(model, reader.options, tuple(reader.wires), reader.positions)


def _read_file(path: Path) -> tuple[str, bool]:
    """The text of a file, and whether it was not UTF-8."""
    try:
        data = read_bytes(path, MAX_BYTES)
    except (OSError, ValueError) as error:
        what = f"'{path}' cannot be read: {failure_reason(error, absent='there is no such file')}"
        raise rules.CANNOT_READ.error(what, fix="check the name and the folder") from error
    if len(data) > MAX_BYTES:
        raise _too_large(f"the file is larger than {MAX_BYTES // 2**20} MiB", str(path))
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        # Older editors on Windows saved so; a wrong letter in a comment is no reason to stop.
        return data.decode("cp1252", errors="replace"), True


def _check_text(text: str, file: str) -> None:
    if len(text) > MAX_BYTES:
        raise _too_large(f"the text has more than {MAX_BYTES} characters", file)
    if text.count("\n") > MAX_LINES:
        raise _too_large(f"there are more than {MAX_LINES} lines", file)
    if (found := find_forbidden(_CONTROL, text, file)) is not None:
        character, place = found
        what = f"{character} cannot stand in a netlist"
        raise rules.NOT_TEXT.error(what, fix="give a POG_Modeler .txt file", place=place)


def _too_large(what: str, file: str) -> TellegenError:
    fix = "write repeated structure as a YAML model, by a count"
    return rules.TOO_LARGE.error(what, fix=fix, place=Place(file, 1, 1))
