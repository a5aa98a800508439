"""The parts of a system: where they come from (files beside the model, the library that comes with the package, examples that offer
ports), what they are joined to, and which parameters and signals the whole gives them.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import product
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, is_name, listing
from tellegen.core.shipped import LIBRARY, SUFFIX, SYSTEMS, part_names
from tellegen.core.units import Dimension, parse_unit
from tellegen.expressions import RESERVED_WORDS, Expression, Number
from tellegen.model.dimensions import UNKNOWN, si_unit, without_marks
from tellegen.model.model import Model, Parameter, Part, input_name
from tellegen.notations import rules as notations_rules
from tellegen.notations.context import (
    NotWholeError,
    ReadingContext,
    name_at,
)
from tellegen.notations.grammar import PART
from tellegen.notations.network import repetition
from tellegen.notations.network import rules as network_rules
from tellegen.notations.network.repetition import MOST_ELEMENTS
from tellegen.notations.parameters import read_curve
from tellegen.notations.parts import instances, rules
from tellegen.notations.parts.ports import (
    JoinedPorts,
    PartConnections,
    PortNodes,
    names_read,
    source_variables,
)
from tellegen.notations.quantities import QuantityReading, read_quantity
from tellegen.notations.signals.formulas import parse_formula
from tellegen.notations.yaml import rules as yaml_rules
from tellegen.notations.yaml.document import Document, MappingNode, Node, Scalar, read_document

MOST_LEVELS = 16
MOST_FILES = 1000
MOST_PARTS = 200_000


PartReader = Callable[[Document, "PartLibrary", Mapping[str, int]], Model]
"""Reads a document as a part, with the parts that it uses itself; the numbers replace parameters that count."""


@final
class PartLibrary:
    """The parts of one reading. A file is read once, and once more for each other set of numbers that decides its size."""

    def __init__(self, read: PartReader, file: str, given: Mapping[str, Model], folder: Path | None) -> None:
        self.read = read
        self.top = file
        self.folder, self.given = folder, given
        self.items = 0  # elements, parameters and signals made so far, in all parts
        self.parts = 0  # parts made so far, those inside others counted
        self._inside: dict[int, tuple[Model, int]] = {}
        self._kept: dict[tuple[Path, tuple[tuple[str, int], ...]], Model | None] = {}
        self._documents: dict[Path, Document] = {}
        self._reading = [Path(file).resolve()] if os.path.isfile(file) else []

    def template(self, context: ReadingContext, use: Scalar, counts: Mapping[str, int]) -> Model | None:
        """The part that a text names; None where its errors were reported before.

        Raises: DescriptionError with what is wrong in its file, the first time that it is asked for.
        """
        if use.text in self.given and context.file == self.top:
            return self.given[use.text]
        shown = self._find(context, use)
        # Two ways to one file, by a link or by `a/../b`, are one part: else a file could use itself unseen.
        path = shown.resolve()
        if path in self._reading:
            raise self._recursion(context, use, path)
        key = (path, tuple(sorted(counts.items())))
        if key not in self._kept:
            # None until it is read: a second part from a file with errors does not tell them again.
            self._kept[key] = None
            self._check_size(context, use)
            document = self._document(context, use, shown)
            self._reading.append(path)
            try:
                self._kept[key] = self.read(document, self, counts)
            finally:
                self._reading.pop()
        return self._kept[key]

    def inside(self, model: Model) -> int:
        """How many parts a system has, those inside its parts counted."""
        found = self._inside.get(id(model))
        if found is None:
            found = (model, sum(1 + self.inside(part.model) for part in model.parts))
            self._inside[id(model)] = found  # the model is kept, so that nothing else gets its number
        return found[1]

    def _check_size(self, context: ReadingContext, use: Scalar) -> None:
        if len(self._reading) > MOST_LEVELS:
            what = f"'{use.text}' would be a part at level {len(self._reading)}"
            raise context.error(rules.TOO_DEEP, use, what, fix=f"keep the hierarchy within {MOST_LEVELS} levels")
        if len(self._kept) > MOST_FILES:
            what = f"the parts come from more than {MOST_FILES} files, or have more than {MOST_FILES} different sizes"
            raise context.error(rules.TOO_DEEP, use, what, fix="use one file several times, with other parameters")

    def _document(self, context: ReadingContext, use: Scalar, shown: Path) -> Document:
        path = shown.resolve()
        if path not in self._documents:
            try:
                self._documents[path] = read_document(shown)
            except TellegenError as error:
                if error.code != yaml_rules.CANNOT_READ.code:
                    raise
                raise self._missing(context, use, shown, error.what.rpartition(": ")[2]) from error
        return self._documents[path]

    # Where

    def _find(self, context: ReadingContext, use: Scalar) -> Path:
        text = use.text
        if text.endswith(SUFFIX) or "/" in text or "\\" in text:
            return self._beside(context, use)
        if is_name(text):
            for folder in (LIBRARY, SYSTEMS):
                if os.path.isfile(folder / f"{text}{SUFFIX}"):
                    return folder / f"{text}{SUFFIX}"
        near = self._folder(context)
        names, beside = part_names(), _files(near) if near else []
        if f"{text}{SUFFIX}" in beside:
            fix = f"write '{text}{SUFFIX}' for the file beside the model"
        else:
            fix = (
                did_you_mean(text, [*names, *beside])
                or f"name a file such as 'motor.yaml', or one of {listing(names, 40)}"
            )
        raise context.error(rules.NO_SUCH_PART, use, f"the library has no part '{text}'", fix=fix)

    def _beside(self, context: ReadingContext, use: Scalar) -> Path:
        """The file, which must lie in the folder of the model that uses it or below."""
        text = use.text
        folder = self._folder(context)
        if folder is None:
            what = f"the model is no file, so nothing lies beside it: '{text}'"
            fix = "use a part of the library, or Network.part in Python"
            raise context.error(rules.NO_SUCH_PART, use, what, fix=fix)
        if not text.endswith(SUFFIX):
            what = f"'{text}' is no model file, so it cannot be a part"
            raise context.error(rules.NO_PART_LINE, use, what, fix=f"name a file that ends in {SUFFIX}")
        shown = folder / text
        # Both by its text, which decides on every system alike, and by where links lead on this one.
        if _leads_out(text) or not _resolved(shown).is_relative_to(_resolved(folder)):
            what = f"the part '{text}' lies outside the folder of the model"
            raise context.error(rules.OUTSIDE_FOLDER, use, what, fix="put the file beside the model, or below")
        return shown

    def _folder(self, context: ReadingContext) -> Path | None:
        """The folder of the model that is being read; a text lies in none, a network built in Python where the program runs."""
        if context.file == self.top and self.folder is not None:
            return self.folder
        return Path(context.file).parent if os.path.isfile(context.file) else None

    def _missing(self, context: ReadingContext, use: Scalar, shown: Path, reason: str) -> TellegenError:
        if shown.stem in part_names():
            fix = f"write 'use: {shown.stem}' for the part of the library"
        else:
            fix = did_you_mean(shown.name, _files(shown.parent)) or "put the file beside the model"
        return context.error(rules.NO_SUCH_PART, use, f"the part '{use.text}' cannot be read: {reason}", fix=fix)

    def _recursion(self, context: ReadingContext, use: Scalar, path: Path) -> TellegenError:
        chain = [p.name for p in (*self._reading[self._reading.index(path) :], path)]
        way = f": {' uses '.join(chain)}" if len(chain) > 2 else ""
        what = f"'{path.name}' is a part of itself{way}"
        return context.error(rules.RECURSION, use, what, fix="use another file, or leave the part out")


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob(f"*{SUFFIX}"))


def _leads_out(text: str) -> bool:
    """Whether a path is absolute or climbs, here or on another system."""
    return (
        PurePosixPath(text).is_absolute()
        or "\\" in text
        or bool(PureWindowsPath(text).drive)
        or ".." in text.split("/")
    )


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a circle of links leads nowhere
        return Path("/")


@final
class PartLine:
    """The line of one part, or of one copy of it."""

    def __init__(
        self,
        context: ReadingContext,
        connections: PartConnections,
        key: Scalar,
        node: Node,
        copy: repetition.StructureCopy,
    ) -> None:
        self.context, self.connections, self.key, self.copy = context, connections, key, copy
        self.name = self._name()
        self.node = self.context.mapping(node, f"the part {self.name}")
        self.texts: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.signal_formulas: dict[str, Expression] = {}
        # Bindings that decide the dimension of their parameter.
        self.readings: dict[str, tuple[QuantityReading, Scalar]] = {}

    def read(self, library: PartLibrary) -> Part | None:
        """The part; None where the errors in its file were reported before."""
        context = self.context
        use = self.node.get("use")
        if use is None:
            what = f"the part {self.name} does not say what it uses"
            fix = "add 'use: motor.yaml' or the name of a library part"
            raise context.error(rules.NO_PART_LINE, self.key, what, fix=fix, where=self.name)
        text = context.scalar(use, f"the use of {self.name}")
        model = library.template(context, text, {})
        given = list(self._bindings())
        # The file tells which of its parameters count, so it is read once before it is read with other numbers.
        if model is not None and (counts := self._counts(model, given)):
            if text.text in library.given:
                what = f"'{next(iter(counts))}' of the part {self.name} decided how many elements the model has"
                fix = "use its file, or build the model with the other number"
                raise context.error(rules.UNKNOWN_BINDING, text, what, fix=fix, where=self.name)
            model = library.template(context, text, counts)
        if model is None:
            context.broken.add(self.name)
            return None
        ports = JoinedPorts(self.connections, self.name, self.copy).read(model, self.node.get("ports"), self.key)
        self.names = self._names(model, ports)
        bindings = {key.text: self._bind(model, key, value) for key, value in given}
        self._signals(model)
        return Part(
            name=self.name,
            use=text.text,
            model=model,
            ports=ports,
            bindings=bindings,
            signals=self.signal_formulas,
            place=context.place(self.key),
            texts=self.texts,
            names=self.names,
        )

    def _name(self) -> str:
        context, key = self.context, self.key
        name = name_at(context.read_name(key, self.copy.indices, "a part"), self.copy.values)
        if name in context.elements or name in self.connections.parts:
            what = f"'{name}' names {'an element' if name in context.elements else 'another part'} already"
            raise context.error(rules.NAME_CLASH, key, what, fix="rename one of them")
        if name in RESERVED_WORDS or name in instances.OF_ELEMENTS or "." in name:
            dots, meaning = "its dots would lead into another part", "it has a meaning of its own in formulas"
            what = f"'{name}' cannot name a part: {dots if '.' in name else meaning}"
            raise context.error(rules.NAME_CLASH, key, what, fix="choose another name")
        return name

    def _names(self, model: Model, ports: PortNodes) -> dict[str, str]:
        """New names by those inside the part: from a mapping, a list of names that stay, or the word `own`."""
        context, node = self.context, self.node.get("names")
        gone = {port.source for name, port in model.ports.items() if port.source and name in ports}
        known = instances.names_inside(model, gone)
        if node is None:
            return {}
        if isinstance(node, Scalar) and node.text == instances.OWN:
            return {name: name for name, follows in known.items() if not follows}
        if isinstance(node, MappingNode):
            pairs = [(key, context.scalar(v, f"the name of {key.text} of {self.name}")) for key, v in node.items()]
        else:
            pairs = [(text, text) for text in context.texts(node, f"the names of {self.name}")]
        found: dict[str, str] = {}
        for inside, outside in pairs:
            if inside.text not in known:
                fix = did_you_mean(inside.text, known) or f"its names are {listing(known, 20)}"
                what = f"nothing in the part {self.name} ({model.name}) is called '{inside.text}'"
                raise context.error(rules.UNKNOWN_NAME, inside, what, fix=fix, where=self.name)
            new = name_at(context.read_name(outside, self.copy.indices, "something in a part"), self.copy.values)
            if new in found.values():
                what = f"'{new}' would name two things of the part {self.name}"
                raise context.error(rules.NAME_TAKEN, outside, what, fix="give each its own name", where=self.name)
            found[inside.text] = new
        return found

    # Parameters

    def _bindings(self) -> Iterator[tuple[Scalar, Node]]:
        """The parameters that the line sets, each once."""
        own = [(key, value) for key, value in self.node.items() if key.text not in PART.names]
        seen = {key.text for key, _ in own}
        yield from own
        listed = self.node.get("parameters")
        for key, value in self.context.mapping(listed, f"the parameters of {self.name}").items() if listed else ():
            if key.text in seen:
                what = f"'{key.text}' of the part {self.name} is set twice"
                raise self.context.error(rules.BOUND_TWICE, key, what, fix="keep one of the values", where=self.name)
            yield key, value

    def _counts(self, model: Model, given: list[tuple[Scalar, Node]]) -> dict[str, int]:
        """The numbers that decide how many elements the part has."""
        found: dict[str, int] = {}
        for key, node in given:
            if key.text not in model.counts:
                continue
            subject = f"'{key.text}' of the part {self.name}"
            if "." in key.text:
                what = f"{subject} decides how many elements there are further inside"
                fix = f"set it in the file of {self.name}, by a parameter that you can set here"
                raise self.context.error(rules.UNKNOWN_BINDING, key, what, fix=fix, where=self.name)
            text = self.context.formula(node, subject)
            value = self.context.integer_expression(text, text.text, self.copy.indices)
            value = value.substitute(self.copy.counters)
            if not (isinstance(value, Number) and type(value.rational) is int and value.rational >= 0):
                what, fix = f"{subject} is {value}, and it counts elements", "give a whole number"
                raise self.context.error(network_rules.BAD_RANGE, text, what, fix=fix, where=self.name)
            found[key.text] = value.rational
        return found

    def _bind(self, model: Model, key: Scalar, node: Node) -> Parameter:
        context = self.context
        parameter = model.parameters.get(key.text)
        if parameter is None:
            known = [*PART.names, *model.parameters]
            fix = did_you_mean(key.text, known[:2000]) or f"its parameters are {listing(model.parameters, 20)}"
            what = f"'{key.text}' is no parameter of the part {self.name} ({model.name})"
            raise context.error(rules.UNKNOWN_BINDING, key, what, fix=fix, where=self.name)
        full, subject = self.names.get(key.text, f"{self.name}.{key.text}"), f"'{key.text}' of the part {self.name}"
        if isinstance(node, MappingNode):
            return self._curve(full, subject, parameter, key, node)
        text = context.formula(node, subject)
        self.texts[key.text] = self._text(text)
        reading = read_quantity(text.text, lambda: context.text_place(text), self.copy.counters)
        place = context.place(key)
        dimension = parameter.dimension
        if reading.marked is None:
            found = reading.dimension or dimension  # a bare number fits any unit
            if dimension is not None and found is not None and found != dimension:
                context.add_errors([context.wrong_dimension(subject, found, dimension, context.text_place(text))])
            return Parameter(full, reading.expression, found, reading.unit or parameter.unit, place)
        # The formula of the whole decides what its parameter is measured in, once everything is read.
        if dimension is None:
            self.readings[full] = (reading, text)
            return Parameter(full, reading.expression, None, "", place)
        expression = context.check_later(reading.marked, dimension, subject, text)
        return Parameter(full, expression, dimension, si_unit(dimension), place)

    def _curve(self, full: str, subject: str, parameter: Parameter, key: Scalar, node: MappingNode) -> Parameter:
        """A parameter that the line gives by a table, or as a slope."""
        found = read_curve(self.context, full, key, node)
        wanted = parameter.dimension
        if wanted is not None and found.dimension is not None and found.dimension != wanted:
            place = self.context.place(node)
            self.context.add_errors([self.context.wrong_dimension(subject, found.dimension, wanted, place)])
        return found

    def _text(self, text: Scalar) -> str:
        """What the user wrote, if it means the same outside a `repeat`."""
        return "" if self.copy.indices else text.text.strip()

    # Signals

    def _signals(self, model: Model) -> None:
        node = self.node.get("signals")
        for key, value in self.context.mapping(node, f"the signals of {self.name}").items() if node else ():
            inputs = model.signal_ports.inputs
            if key.text not in inputs:
                fix = did_you_mean(key.text, inputs)
                if not fix:
                    offer = f"offer it in its file: 'signal ports: {{inputs: [{key.text}]}}'"
                    fix = f"its inputs are {listing(inputs, 12)}" if inputs else offer
                what = f"the part {self.name} ({model.name}) has no signal input '{key.text}'"
                raise self.context.error(rules.UNKNOWN_PORT, key, what, fix=fix, where=self.name)
            subject = f"the signal '{key.text}' of the part {self.name}"
            text = self.context.formula(value, subject)
            marked = parse_formula(self.context, text, subject, self.copy.counters)
            self.context.formulas.append((marked, _dimension(model, key.text), subject, text))
            self.texts[key.text] = self._text(text)
            self.signal_formulas[key.text] = without_marks(marked)


def _dimension(model: Model, name: str) -> Dimension | None:
    """The unit of a signal input."""
    if name in model.signals:
        return model.signals[name].dimension
    source = next(e for e in model.elements if e.kind.role == "source" and input_name(e) == name)
    return parse_unit(source.kind.domain.power(source.kind.side).unit).dimension


@final
class PartsReader:
    """Reads `parts:` once the elements beside them are known, and adds what is in the parts to the model."""

    def __init__(self, context: ReadingContext, library: PartLibrary) -> None:
        self.context, self.library = context, library
        self.connections = PartConnections(context)
        self.readings: dict[str, tuple[QuantityReading, Scalar]] = {}
        self._reported: set[int] = set()

    def read(self, node: Node, *, first: bool) -> None:
        """Add all parts; with `first`, their elements come before those of the network, as they do in the file."""
        context = self.context
        self._entries(context.mapping(node, "'parts'"), repetition.OUTSIDE)
        self.connections.check_network()
        for source in self.connections.taken:
            context.elements.pop(source, None)
        for name in [
            n for n, members in context.vectors.items() if not self.connections.taken.keys().isdisjoint(members)
        ]:
            del context.vectors[name]
        if first:
            context.put_in_front(self.connections.own)

    def _entries(self, mapping: MappingNode, copy: repetition.StructureCopy, broken: set[int] | None = None) -> None:
        # One error a line is enough: other copies would repeat it.
        failed: set[int] = set() if broken is None else broken
        for key, value in mapping.items():
            if id(key) in failed:
                continue
            try:
                if repetition.is_block(value):
                    self._block(key, value, copy)
                else:
                    line = PartLine(self.context, self.connections, key, value, copy)
                    if (part := line.read(self.library)) is not None:
                        self.readings |= line.readings
                        self._add(part, key)
            except NotWholeError as problem:
                failed.add(id(key))
                self.context.collect(self.context.not_whole_error(key, problem, str(copy)))
            except TellegenError as error:
                failed.add(id(key))
                self.context.broken.add(key.text)
                self.context.collect(error)

    def _block(self, key: Scalar, node: MappingNode, copy: repetition.StructureCopy) -> None:
        context = self.context
        ranges, _, inner = repetition.read_repeat(context, key, node, "parts", copy.indices, "parts")
        mapping, broken = context.mapping(inner, f"the parts of {key.text}"), set[int]()
        copies = repetition.copies_of(context, key, ranges, copy)
        while (each := self._next(copies)) is not None:
            self._entries(mapping, each, broken)

    def _next(self, copies: Iterator[repetition.StructureCopy]) -> repetition.StructureCopy | None:
        try:
            return next(copies, None)
        except TellegenError as error:
            if error.code != network_rules.TOO_MANY.code:
                raise
            raise rules.TOO_LARGE.error(error.what, fix=error.finding.fix, place=error.finding.place) from None

    # Joining

    def _add(self, part: Part, key: Scalar) -> None:
        context = self.context
        self._check_sources(part, key)
        made = instances.part_instance(part)
        self._check_size(part, made, key)
        self._check_names(part, made, key)
        self._check_shorts(part, made, key)
        context.elements.update(made.elements)
        context.parameters.update(made.parameters)
        context.displacements.update(made.displacements)
        context.fields.extend(made.fields)
        context.vectors.update(made.vectors)
        for name, definition in made.signals.items():
            context.signals[name] = definition
            context.signal_measures[name] = UNKNOWN if definition.dimension is None else definition.dimension
        self.connections.parts[part.name] = part
        self._note(part)

    def _check_size(self, part: Part, made: instances.PartInstance, key: Scalar) -> None:
        library = self.library
        library.parts += 1 + library.inside(part.model)
        library.items += len(made.elements) + len(made.parameters) + len(made.signals)
        what = ""
        if library.parts > MOST_PARTS:
            what = f"there are more than {MOST_PARTS} parts, those inside parts counted"
        elif library.items > MOST_ELEMENTS:
            what = f"all parts together have more than {MOST_ELEMENTS} elements, parameters and signals"
        if what:
            raise self.context.error(rules.TOO_LARGE, key, what, fix="use fewer or smaller parts")

    def _check_names(self, part: Part, made: instances.PartInstance, key: Scalar) -> None:
        """Names that a part brings into the whole are new there, and nothing beside it has a name that belongs inside."""
        context = self.context
        taken: dict[str, Collection[str]] = {
            "an element": context.elements,
            "a parameter": context.parameters,
            "a displacement": context.displacements,
            "a signal": context.signals,
            "a variable": {v for element in context.elements.values() for v in element.variables.values()},
        }
        for name, (word, there) in product(part.names.values(), taken.items()):
            if name in there:
                what = f"the part {part.name} calls something '{name}', which names {word} of the whole"
                fix = f"choose another name on the line of {part.name}"
                raise context.error(rules.NAME_TAKEN, key, what, fix=fix, where=part.name)
        for word, inside, beside in (
            ("parameter", made.parameters, context.parameters),
            ("displacement", made.displacements, context.displacements),
            ("signal", made.signals, context.signals),
        ):
            if inner := sorted(inside.keys() & beside.keys()):
                own = inner[0].removeprefix(f"{part.name}.")
                what = f"the {word} '{inner[0]}' is described beside the part {part.name}, where it belongs"
                bind = f"write '{own}: ...' on the line of {part.name}"
                fix = bind if word == "parameter" else "choose a name without dots"
                raise context.error(rules.NAME_CLASH, key, what, fix=fix, where=part.name)

    def _check_shorts(self, part: Part, made: instances.PartInstance, key: Scalar) -> None:
        if not part.ports:
            return
        for element in made.elements.values():
            ends = element.nodes
            at = next((one for one, two in zip(ends[::2], ends[1::2], strict=True) if one == two), None)
            if at is not None:
                what = f"both ends of the {element.kind.name} {element.name} are at '{at}' through the ports of {part.name}"
                fix = "join the ports to different nodes"
                raise self.context.error(notations_rules.SHORTED, key, what, fix=fix, where=part.name)

    def _check_sources(self, part: Part, key: Scalar) -> None:
        """Nothing reads the variables of a source whose place is taken."""
        replaced = instances.replaced_sources(part)
        if replaced:
            by_name = {e.name: e for e in part.model.elements if e.name in replaced}
            gone = {name: source for source, e in by_name.items() for name in source_variables(e)}
            if read := sorted(gone.keys() & names_read(part.model)):
                what = f"a formula in the part {part.name} reads '{read[0]}' of the source '{gone[read[0]]}', which a port replaces"
                fix = "read a variable of another element, or offer nodes as the port"
                raise self.context.error(rules.SOURCE_IS_READ, key, what, fix=fix, where=part.name)

    def _note(self, part: Part) -> None:
        """What reading the part by itself found, once; parameters that stay symbols, for each part."""
        context, model = self.context, part.model
        if id(model) not in self._reported:
            self._reported.add(id(model))
            # These two are judged in the whole, where parameters may have other values.
            again = (notations_rules.NO_VALUE.code, notations_rules.ACTIVE_ELEMENT.code)
            context.notes.extend(finding for finding in model.findings if finding.code not in again)
        for name, parameter in model.parameters.items():
            if parameter.expression is None and name not in part.bindings:
                fix = f"add '{name}: ...' to the line of {part.name}"
                context.note_symbol(f"{part.name}.{name}", fix, part.name, part.place)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts that were read."""
        return tuple(self.connections.parts.values())
