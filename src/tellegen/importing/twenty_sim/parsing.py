"""The file of a 20-sim model: the XML around it, and a parser of the text of submodels, ports, equations and connections inside.

Blocks end with three kinds of words: `end;` (a list), `implementation_end;` (what is inside a submodel) and
`specification_end;` (one of several versions of a submodel).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import NamedTuple, final
from xml.parsers import expat

from tellegen.core.errors import Place, TellegenError
from tellegen.core.files import MAX_BYTES, failure_reason, read_bytes
from tellegen.core.union_find import UnionFind
from tellegen.importing import rules as importing_rules
from tellegen.importing.twenty_sim import rules
from tellegen.importing.twenty_sim.statements import ONE_BY_ONE, Shape, read_shape

MOST_LEVELS = 40
MOST_SUBMODELS = 50_000
MOST_XML_LEVELS = 100

_TOKEN = re.compile(
    r"\s*(?:(?P<string>'[^']*'|\"[^\"]*\")|(?P<name>[A-Za-z_]\w*)|(?P<number>-?\d+\.?\d*(?:[eE][+-]?\d+)?)|(?P<sign>\|=>|=>\||<=\||\|<=|=>|<=|->|<-|.))",
    re.S,
)
_END_OF_EQUATIONS = re.compile(r"implementation_end\s*;")
_END_OF_VERSION = re.compile(r"specification_end\s*;")
_END_OF_DECLARATIONS = re.compile(r"^\s*(?:submodels|connections|figures|implementation_end)\b", re.MULTILINE)
_LIBRARY = re.compile(r"<LibraryPath>([^<]*)</LibraryPath>")


@final
class SidopsPort(NamedTuple):
    """A port: `domain` is its word ('signal' for a signal), `shape` psi (one end), delta (two) or empty, `way` in, out or none.

    A vector of signals is a port for each of its entries; `sized` are those of efforts and flows, and sizes that are no numbers.
    """

    name: str
    domain: str
    shape: str
    way: str
    sized: bool


@final
class PortWire(NamedTuple):
    """A connection from one end to another; an end is a submodel (empty for a port of the model around) and a port."""

    tail: tuple[str, str]
    head: tuple[str, str]
    signal: bool
    line: int


@final
@dataclass(slots=True)
class Submodel:
    """A submodel: its ports, and either equations or submodels with connections."""

    name: str
    line: int
    type: str = ""
    knot: bool = False
    library: str = ""
    implementation: str = ""
    equations: str = ""
    ports: dict[str, SidopsPort] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)
    inside: dict[str, "Submodel"] = field(default_factory=dict)
    wires: list[PortWire] = field(default_factory=list)


@final
class TwentySimFile(NamedTuple):
    """What a file says: the model, the initial values and parameters of its first experiment by path, and its end.

    `periods` are those of its sampled systems, in s.
    """

    model: Submodel
    initial: dict[str, str]
    parameters: dict[str, str]
    until: str
    periods: tuple[str, ...] = ()


def read_file(path: FilePath) -> TwentySimFile:
    """A file of 20-sim.

    Raises: DescriptionError for a file that cannot be read (D312) or makes no sense (D323).
    """
    try:
        data = read_bytes(path, MAX_BYTES)
    except (OSError, ValueError) as error:
        what = f"'{path}' cannot be read: {failure_reason(error, absent='there is no such file')}"
        raise importing_rules.CANNOT_READ.error(what, fix="check the name and the folder") from error
    if len(data) > MAX_BYTES:
        what = f"'{path}' is larger than {MAX_BYTES // 2**20} MiB"
        raise importing_rules.CANNOT_READ.error(what, fix="save a part of the model")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        # Older versions say UTF-8 and write the letters of Windows.
        data = data.decode("cp1252", errors="replace").encode("utf-8")
    found = _Xml(path)
    found.read(data)
    text = found.sidops.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise _wrong(path, 1, "there is no model in the file", "save it with 20-sim 4 or 5")
    model = _Parser(path, text, found.line).model()
    return TwentySimFile(model, found.initial, found.parameters, found.until, tuple(dict.fromkeys(found.periods)))


def _wrong(path: FilePath, line: int, what: str, fix: str) -> TellegenError:
    return rules.WRONG_FILE.error(what, fix=fix, place=Place(str(path), line, 1))


@final
class _Xml:
    """The parts of the XML that say something; entities are refused, since they can grow without end."""

    def __init__(self, path: FilePath) -> None:
        self.path = path
        self.sidops = self.until = ""
        self.initial: dict[str, str] = {}
        self.parameters: dict[str, str] = {}
        self.line = 1
        self.periods: list[str] = []
        self._open: list[str] = []
        self._texts: dict[str, str] = {}
        self._pieces: list[str] = []

    def read(self, data: bytes) -> None:
        """Read the whole.

        Raises: DescriptionError (D323).
        """
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse
        self._parser = parser
        try:
            parser.Parse(data, True)
        # An encoding that nobody knows is no error of expat, and is told as one of a codec.
        except (expat.ExpatError, LookupError) as error:
            line = getattr(error, "lineno", 1)
            raise _wrong(self.path, line, f"the file is no XML: {error}", "save it with 20-sim 4 or 5") from error

    def _refuse(self, *_: object) -> None:
        raise _wrong(
            self.path, self._parser.CurrentLineNumber, "the file defines entities", "files of 20-sim have none"
        )

    def _begin(self, name: str, _: dict[str, str]) -> None:
        self._open.append(name)
        if len(self._open) > MOST_XML_LEVELS:
            raise _wrong(self.path, self._parser.CurrentLineNumber, "the XML is too deep", "files of 20-sim are not")
        self._pieces = []
        if name == "Sidops":
            self.line = self._parser.CurrentLineNumber
        if name == "Variable":
            self._texts = {}

    def _text(self, text: str) -> None:
        self._pieces.append(text)

    def _end(self, name: str) -> None:
        text = "".join(self._pieces)
        self._pieces = []
        self._open.pop()
        if name == "Sidops" and not self.sidops:
            self.sidops = text
        elif name in ("Name", "Value", "Unit"):
            self._texts[name] = text.strip()
        elif name == "TimeInterval" and self._open and self._open[-1] == "DiscreteSystem":
            self.periods.append(text.strip())
        elif name == "FinishTime" and not self.until:
            self.until = text.strip()
        elif name == "Variable" and self._open and "Value" in self._texts:
            # The first experiment counts.
            kept = {"Initials": self.initial, "Parameters": self.parameters}.get(self._open[-1])
            if kept is not None:
                value = f"{self._texts['Value']} {self._texts.get('Unit', '')}".strip()
                kept.setdefault(self._texts.get("Name", ""), value)


@final
class _Parser:
    """Reads the text of a model, token by token."""

    def __init__(self, path: FilePath, text: str, line: int) -> None:
        self.path, self.source, self.first = path, text, line
        self.at = self.levels = self.count = 0
        # Lines are counted on from where they were counted last: from the beginning each time takes minutes in a long file.
        self._counted = (0, line)

    def model(self) -> Submodel:
        # A submodel that was saved alone begins with its own name.
        self._next()
        self._skip_numbers()
        found = Submodel("", self.first)
        self._body(found)
        return found

    # Tokens

    def _line(self) -> int:
        at, line = self._counted if self._counted[0] <= self.at else (0, self.first)
        self._counted = (self.at, line + self.source.count("\n", at, self.at))
        return self._counted[1]

    def _error(self, what: str) -> TellegenError:
        return _wrong(self.path, self._line(), what, "save the model again with 20-sim 4 or 5")

    def _peek(self) -> tuple[str, str, int]:
        """The kind of the next token, its text, and where it ends."""
        match = _TOKEN.match(self.source, self.at)
        if match is None or match.lastgroup is None:
            return "end", "", self.at
        text = match[match.lastgroup]
        return match.lastgroup, text[1:-1] if match.lastgroup == "string" else text, match.end()

    def _next(self) -> tuple[str, str]:
        kind, text, end = self._peek()
        if kind == "end":
            raise self._error("the text of the model ends too early")
        self.at = end
        return kind, text

    def _expect(self, word: str) -> None:
        kind, text = self._next()
        if text != word or kind == "string":
            raise self._error(f"'{text[:30]}' stands where '{word}' belongs")

    def _is(self, word: str) -> bool:
        kind, text, _ = self._peek()
        return text == word and kind in ("name", "sign")

    def _take(self, word: str) -> bool:
        if not self._is(word):
            return False
        self._next()
        return True

    def _skip_numbers(self) -> None:
        while self._peek()[0] == "number":
            self._next()

    def _statement(self) -> list[tuple[str, str]]:
        """The tokens up to the next semicolon."""
        found = []
        while (token := self._next()) != ("sign", ";"):
            found.append(token)
        return found

    def _ends(self) -> bool:
        """Whether a list ends here: `end;` is taken then."""
        if not self._is("end"):
            return False
        self._next()
        self._expect(";")
        return True

    # Submodels

    def _body(self, into: Submodel) -> None:
        """What stands behind the name of a submodel, up to its end."""
        self.levels += 1
        if self.levels > MOST_LEVELS:
            raise self._error(f"submodels are more than {MOST_LEVELS} levels deep")
        while True:
            _, word = self._next()
            if word == "description":
                text = "".join(text for _, text in self._statement())
                library = _LIBRARY.search(text)
                into.library = library[1].strip() if library else ""
            elif word in ("type", "knot"):
                into.type, into.knot = self._next()[1], word == "knot"
                self._ports(into)
            elif word in ("icon", "terminals"):
                self._skip_figures()
            elif word == "specifications":
                self._versions(into)
                break
            elif word == "implementation":
                self._implementation(into)
                break
            else:
                raise self._error(f"'{word[:30]}' is no part of a submodel")
        self.levels -= 1

    def _ports(self, into: Submodel) -> None:
        """The ports of a submodel; version 4 lists its parameters and variables here too."""
        section = ""
        while not self._ends():
            kind, word, _ = self._peek()
            if word in _SECTIONS and kind == "name":
                self._next()
                section = word
                into.equations += f"\n{word}\n" if word in _EQUATIONS else ""
                continue
            if kind == "string":  # a remark behind the parameter before
                self._next()
                continue
            start = self.at
            words = self._statement()
            if section == "ports":
                self._port(into, words)
            elif section in _EQUATIONS:
                into.equations += self.source[start : self.at]

    def _port(self, into: Submodel, tokens: list[tuple[str, str]]) -> None:
        # What stands in braces is a unit, what stands in brackets a size.
        size = (
            "".join(text for _, text in tokens).partition("[")[2].partition("]")[0] if ("sign", "[") in tokens else ""
        )
        names = []
        for kind, text in tokens:
            if kind == "sign" and text in "[{":
                break
            if kind in ("name", "string"):
                names.append(text)
        if len(names) < 2:
            raise self._error("a port has no name")
        words = set(names[1:-1])
        shape = next((word for word in ("psi", "delta") if word in words), "")
        way = next((word for word in ("in", "out") if word in words), "none")
        domain = next((word for word in names[:-1] if word not in _NO_DOMAINS), "signal")
        found = ONE_BY_ONE if size == "" else read_shape(size)
        name = names[-1]
        if domain != "signal" or found is None:
            into.ports[name] = SidopsPort(name, domain, shape, way, found != ONE_BY_ONE)
            return
        if found != ONE_BY_ONE:
            into.shapes[name] = found
        into.ports |= {entry: SidopsPort(entry, domain, shape, way, False) for entry in found.entries(name)}

    def _skip_figures(self) -> None:
        """Pictures: groups inside each other; `end` alone closes, elsewhere it is an arrow head."""
        depth = 1
        while depth:
            words = [text for kind, text in self._statement() if kind == "name"]
            depth += words.count("group")
            depth -= words == ["end"]

    def _skip_pictures(self) -> None:
        """The pictures of a diagram, which end with the diagram itself."""
        while not (self._is("implementation_end") or self._is("submodels") or self._is("connections")):
            self._statement()

    def _versions(self, into: Submodel) -> None:
        self._expect("active")
        active = self._next()[1]
        while not self._ends():
            self._expect("specification")
            name = self._next()[1]
            version = Submodel(into.name, self._line())
            self._body(version)
            # Equations may go on behind their end, as 20-sim itself writes them.
            found = _END_OF_VERSION.search(self.source, self.at)
            if found is None:
                raise self._error("a version of a submodel does not end")
            version.equations += self.source[self.at : found.start()]
            self.at = found.end()
            if name == active:
                for word in (
                    "type",
                    "knot",
                    "library",
                    "implementation",
                    "equations",
                    "ports",
                    "shapes",
                    "inside",
                    "wires",
                ):
                    setattr(into, word, getattr(version, word))

    def _implementation(self, into: Submodel) -> None:
        into.implementation = self._next()[1]
        if into.implementation != "bg":
            found = _END_OF_EQUATIONS.search(self.source, self.at)
            if found is None:
                raise self._error("the equations of a submodel do not end")
            into.equations += self.source[self.at : found.start()]
            self.at = found.end()
            return
        while not self._take("implementation_end"):
            if self._take("submodels"):
                while not self._ends():
                    self._submodel(into)
            elif self._take("connections"):
                while not self._ends():
                    self._wire(into)
            elif self._take("figures"):
                self._skip_pictures()
            elif self._peek()[1] in _EQUATIONS:
                self._equations(into)
            else:
                raise self._error(f"'{self._peek()[1][:30]}' is no part of a diagram")
        self._expect(";")

    def _equations(self, into: Submodel) -> None:
        """Declarations and equations beside a diagram."""
        found = re.compile(r"^\s*(?:submodels|connections|figures|implementation_end)\b", re.M).search(
            self.source, self.at
        )
        if found is None:
            raise self._error("the equations of a diagram do not end")
        into.equations += self.source[self.at : found.start()]
        self.at = found.start()

    def _submodel(self, into: Submodel) -> None:
        self.count += 1
        if self.count > MOST_SUBMODELS:
            raise self._error(f"there are more than {MOST_SUBMODELS} submodels")
        if self._take("plug"):
            self._statement()
            return
        made = Submodel(self._next()[1], self._line())
        self._skip_numbers()
        self._body(made)
        into.inside[made.name] = made

    def _wire(self, into: Submodel) -> None:
        line = self._line()
        tail, sign, head = self._wire_end(), self._next()[1], self._wire_end()
        self._statement()
        # A stroke is the causality that 20-sim found, or that its user wants.
        sign = sign.replace("|", "")
        if sign not in ("=>", "<=", "->", "<-"):
            raise self._error(f"'{sign}' joins no ports")
        if sign.startswith("<"):
            tail, head = head, tail
        into.wires.append(PortWire(tail, head, "-" in sign, line))

    def _wire_end(self) -> tuple[str, str]:
        first = self._next()[1]
        if self._take("\\"):
            return first, self._next()[1]
        return "", first


_NO_DOMAINS = (
    "knot",
    "psi",
    "delta",
    "duplicatable",
    "none",
    "in",
    "out",
    "real",
    "integer",
    "boolean",
    "any",
    "independent",
)
_SECTIONS = ("ports", "restrictions", "parameters", "variables", "constants", "initialvalues", "terminals")
_EQUATIONS = (
    "parameters",
    "variables",
    "constants",
    "externals",
    "initialequations",
    "code",
    "equations",
    "parameterrelations",
)


Path = tuple[str, ...]


@final
class PortEnd(NamedTuple):
    """A port of a component or of a model inside, and which of its two ends where it has two."""

    path: Path
    port: str
    end: str = ""


@final
class PowerWire(NamedTuple):
    """A bond from one end to another."""

    tail: PortEnd
    head: PortEnd


@final
@dataclass(slots=True)
class FlatModel:
    """The components by path, bonds between ports of efforts and flows, nodes of iconic diagrams, and drivers of signals."""

    components: dict[Path, Submodel] = field(default_factory=dict)
    composites: dict[Path, Submodel] = field(default_factory=dict)
    bonds: list[PowerWire] = field(default_factory=list)
    nodes: dict[PortEnd, int] = field(default_factory=dict)
    drivers: dict[PortEnd, list[PortEnd]] = field(default_factory=dict)

    def port(self, end: PortEnd) -> SidopsPort:
        """The declaration of a port."""
        return (self.components.get(end.path) or self.composites[end.path]).ports[end.port]

    def sources(self, end: PortEnd) -> Iterator[PortEnd]:
        """The ports of components that a signal comes from."""
        waiting, seen = list(self.drivers.get(end, ())), {end}
        while waiting:
            one = waiting.pop(0)
            if one in seen:
                continue
            seen.add(one)
            if one.path in self.components:
                yield one
            else:
                waiting += self.drivers.get(one, ())


def flatten(model: Submodel, file: str) -> FlatModel:
    """The model without levels.

    Raises: DescriptionError (D323) for a connection that leads to nothing.
    """
    flat = FlatModel()
    wires = list(_walk(flat, model, (), file))
    joined: list[PowerWire] = []
    for tail, head, signal in wires:
        if signal:
            flat.drivers.setdefault(head, []).append(tail)
        elif flat.port(tail).shape and flat.port(head).shape:
            joined.append(PowerWire(tail, head))
        else:
            flat.bonds.append(PowerWire(tail, head))
    _number_nodes(flat, joined)
    return flat


def _walk(flat: FlatModel, model: Submodel, path: Path, file: str) -> Iterator[tuple[PortEnd, PortEnd, bool]]:
    flat.composites[path] = model
    for name, inner in model.inside.items():
        if inner.implementation == "bg":
            yield from _walk(flat, inner, (*path, name), file)
        else:
            flat.components[*path, name] = inner
    for wire in model.wires:
        tails, heads = (_ends(model, path, end, wire, file) for end in (wire.tail, wire.head))
        if len(tails) != len(heads):
            what = f"a connection leads from {len(tails)} signals to {len(heads)}, to '{_shown(wire.head)}'"
            fix = "save the model again with 20-sim 4 or 5"
            raise rules.WRONG_FILE.error(what, fix=fix, place=Place(file, wire.line, 1))
        yield from ((tail, head, wire.signal) for tail, head in zip(tails, heads, strict=True))


def _ends(model: Submodel, path: Path, end: tuple[str, str], wire: PortWire, file: str) -> list[PortEnd]:
    """The end of a connection; of a vector of signals one for each entry."""
    name, port = end
    owner = model if not name else model.inside.get(name)
    at = path if not name else (*path, name)
    if owner is not None:
        if port in owner.shapes:
            return [PortEnd(at, entry) for entry in owner.shapes[port].entries(port)]
        if port in owner.ports:
            return [PortEnd(at, port)]
        base, _, side = port.rpartition("_")
        if base in owner.ports and side in ("high", "low"):
            return [PortEnd(at, base, side)]
        # A junction calls its ports as its bonds want them.
        if owner.knot and len(owner.ports) and not wire.signal:
            return [PortEnd(at, next(iter(owner.ports)))]
    what = f"a connection leads to '{_shown(end)}', which there is not"
    raise rules.WRONG_FILE.error(what, fix="save the model again with 20-sim 4 or 5", place=Place(file, wire.line, 1))


def _shown(end: tuple[str, str]) -> str:
    return "\\".join(word for word in end if word)


def _number_nodes(flat: FlatModel, joined: list[PowerWire]) -> None:
    """Give ports with one or two ends the numbers of their nodes."""
    ends: dict[PortEnd, int] = {}
    for path, component in flat.components.items():
        for port in component.ports.values():
            sides = ("high", "low") if port.shape == "delta" else ("",) if port.shape == "psi" else ()
            for side in sides:
                ends.setdefault(PortEnd(path, port.name, side), len(ends))
    for wire in (*joined, *flat.bonds):
        for end in wire:
            if flat.port(end).shape:
                ends.setdefault(end, len(ends))
    groups = UnionFind(len(ends))
    for wire in joined:
        groups.join(ends[wire.tail], ends[wire.head])
    flat.nodes = {end: groups.find(number) for end, number in ends.items()}
