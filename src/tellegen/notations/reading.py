"""A model from its file: the one way in for YAML texts and for networks built in Python."""

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from tellegen.core.errors import Finding
from tellegen.core.memory import without_collector
from tellegen.core.names import TIME, nearest
from tellegen.expressions import Expression, Number, Symbol, number
from tellegen.model.dimensions import NoDimension, si_unit, without_marks
from tellegen.model.laws import MatrixField
from tellegen.model.mechanism import Geometry
from tellegen.model.model import Element, Experiment, Model, Parameter, Part, known_variables
from tellegen.model.signals import SignalPorts
from tellegen.notations import rules
from tellegen.notations.bond_graph.reading import read_bond_graph
from tellegen.notations.context import MOST_NOTICES, PendingCheck, ReadingContext, StopReadingError
from tellegen.notations.experiment import read_experiment
from tellegen.notations.layout import GeometryReader, geometry_of_parts, read_layout
from tellegen.notations.mechanism.lowering import LoweredMechanism
from tellegen.notations.mechanism.reading import read_mechanism
from tellegen.notations.migrations import (
    BEFORE,
    TextChange,
    content_changes,
    is_of_version_1,
    migrated,
    with_changes,
)
from tellegen.notations.network.elements import (
    GRAVITY,
    add_element_of_line,
    add_heat_sources,
    add_weights,
    check_switching,
    read_gravity,
)
from tellegen.notations.network.fields import check_fields
from tellegen.notations.network.keys import form_of, make_form
from tellegen.notations.network.lines import read_line
from tellegen.notations.network.multiports import is_multiport, read_multiport
from tellegen.notations.network.repetition import add_elements_of_block, is_block, read_block
from tellegen.notations.parameters import (
    DisplacementsReader,
    check_physics,
    closures_of_parts,
    definition_order,
    evaluate_in_order,
    finite_value,
    read_closures,
    read_curve,
    resolve_slopes,
    value_finding,
)
from tellegen.notations.parts.ports import read_ports, read_signal_ports
from tellegen.notations.parts.reading import PartLibrary, PartsReader
from tellegen.notations.pog.reading import read_ladder
from tellegen.notations.quantities import QuantityReading
from tellegen.notations.scales import doubtful_scales
from tellegen.notations.schema import FILE, NOTATIONS, VERSION
from tellegen.notations.signals import rules as signals_rules
from tellegen.notations.signals.formulas import FormulaScope
from tellegen.notations.signals.reading import SignalsReader
from tellegen.notations.symbols import ReadSymbols, read_symbols
from tellegen.notations.yaml.document import Document, MappingNode, Node, Scalar, read_document


def _read_lines(context: ReadingContext, node: Node) -> None:
    mapping = context.mapping(node, "'network'")
    for key, value in zip(mapping.keys, mapping.values, strict=True):
        with context.collecting(key.text):
            if is_multiport(value):
                read_multiport(context, key, value)
            elif is_block(value):
                add_elements_of_block(context, read_block(context, key, value, ()))
            else:
                add_element_of_line(context, read_line(context, key, value, ()))


class ParametersReader:
    """Reads `parameters:`; dimensions are settled when all of them, and those of parts, are known."""

    def __init__(self, context: ReadingContext) -> None:
        self.context = context
        self.readings: dict[str, QuantityReading] = {}  # of parameters whose dimension is not known yet
        self.texts: dict[str, Scalar] = {}
        self.order: list[str] = []

    def add(self, readings: Mapping[str, tuple[QuantityReading, Scalar]]) -> None:
        """Take over parameters of parts that are given by formulas."""
        for name, (reading, text) in readings.items():
            self.readings[name], self.texts[name] = reading, text

    def read(self, node: Node) -> None:
        """Parse every parameter."""
        for key, value in self.context.mapping(node, "'parameters'").items():
            if not self.context.is_rest(key, value):
                with self.context.collecting(key.text):
                    self._read_parameter(key, value)

    def _read_parameter(self, key: Scalar, node: Node) -> None:
        context = self.context
        name = context.read_name(key, (), "a parameter")
        assert isinstance(name, str), "without indices a name is a text"
        context.refuse_reserved(key, "a parameter")
        place = context.place(key)
        if isinstance(node, MappingNode):
            context.parameters[name] = read_curve(context, name, key, node)
            return
        text = context.scalar(node, f"the value of {name}")
        if not text.text.strip():
            context.parameters[name] = Parameter(name, None, None, "", place)
            return
        self.texts[name] = text
        if name in context.given_counts:
            context.parameters[name] = Parameter(name, number(context.given_counts[name]), None, "", place)
            context.counts[name] = context.given_counts[name]
            return
        reading = context.quantity(text, f"the value of {name}")
        context.parameters[name] = Parameter(name, reading.expression, reading.dimension, reading.unit, place)
        if reading.marked is not None:
            self.readings[name] = reading
        elif reading.dimension is None and type(value := reading.expression) is Number and type(value.rational) is int:
            context.counts[name] = value.rational

    def settle_early(self) -> None:
        """The dimensions of parameters given by formulas, for a notation in which units choose the kind of an element.

        What is wrong in a formula is said later, when all parameters are known.
        """
        parameters = self.context.parameters
        for name in definition_order(parameters)[0]:
            if name in self.readings and (dimension := self.context.dimension_of(self.readings[name])) is not None:
                parameters[name] = replace(parameters[name], dimension=dimension, unit=si_unit(dimension))

    def settle(self) -> None:
        """The dimensions of parameters, each after those it uses."""
        context = self.context
        self.order, cycles = definition_order(context.parameters)
        context.add_errors(cycles)
        # Each after those that it uses, so that their dimensions are known.
        for name in self.order:
            if name not in self.readings:
                continue
            reading = self.readings[name]
            assert reading.marked is not None, "plain readings need no second look"
            where = partial(context.text_place, self.texts[name])
            measure = context.check(PendingCheck(reading.marked, None, f"the value of {name}", where))
            if not isinstance(measure, NoDimension):
                context.parameters[name] = replace(context.parameters[name], dimension=measure, unit=si_unit(measure))

    def check_own_names(self) -> None:
        """A parameter that an element takes by its own name has the unit of the element; one without value takes it over."""
        parameters = self.context.parameters
        for name, element in self.context.elements.items():
            if type(element.value) is not Symbol:
                continue
            used = parameters.get(element.value.name)
            if used is None or (used.dimension is not None and used.name != name):
                continue
            form = form_of(element.kind.name) or make_form(element.kind)
            if used.dimension is None:
                if used.expression is None:
                    unit = element.kind.quantity.unit if element.kind.quantity else ""
                    unit = unit or si_unit(form.dimension)
                    parameters[used.name] = replace(used, dimension=form.dimension, unit=unit)
            elif used.dimension != form.dimension and name in self.texts:
                word = element.kind.quantity.word if element.kind.quantity else "value"
                place = self.context.text_place(self.texts[name])
                finding = self.context.wrong_dimension(f"the {word} of {name}", used.dimension, form.dimension, place)
                self.context.add_errors([finding])

    def constant(self) -> frozenset[str]:
        """Parameters that depend on no displacement."""
        moving = set(self.context.displacements)
        for name in self.order:
            expression = self.context.parameters[name].expression if name in self.context.parameters else None
            if expression is not None and expression.free_symbols & moving:
                moving.add(name)
        return frozenset(self.context.parameters.keys() - moving)


Functions = dict[str, Callable[..., float]]

_Given = TypeVar("_Given")
_Found = TypeVar("_Found")


def read_model(source: Path | str, *, file: str = "<text>") -> Model:
    """The model in a YAML file (a `Path`) or in a YAML text (a `str`, which `file` names in messages).

    Notices and warnings are in `findings`. Opening a file never runs code.

    Raises: DescriptionError with every error found, up to 50.

    >>> read_model("system: Lamp\\nnetwork: {V: {voltage source: [a]}, R: {resistor: [a], R: 6 ohm}}").inputs
    ('V',)
    """
    # Reading makes millions of values and hardly a ring: the collector would look at all of them again and again.
    with without_collector():
        return model_of_document(read_document(source, file))


def model_of_document(
    document: Document,
    functions: Functions | None = None,
    parts: Mapping[str, Model] | None = None,
    folder: Path | None = None,
) -> Model:
    """The model that a document describes.

    `functions` are those of its signals that are Python functions, by signal; `parts` are systems that its parts may use besides
    files, by name. Files of parts and tables lie in the folder of the document, or in `folder` where it is no file.
    """
    return _read_document(document, functions, parts, folder).model


class _Reading(NamedTuple):
    model: Model
    context: ReadingContext
    changes: tuple[TextChange, ...]


def _read_document(
    document: Document,
    functions: Functions | None = None,
    parts: Mapping[str, Model] | None = None,
    folder: Path | None = None,
) -> _Reading:
    context, told, changes = _context_of(document)
    context.functions, context.folder = functions or {}, folder
    model = _read(context, PartLibrary(_read_part, document.file, parts or {}, folder), told=told)
    return _Reading(model, context, changes)


def _context_of(document: Document) -> tuple[ReadingContext, tuple[str, ...], tuple[TextChange, ...]]:
    """A reading of a document, or of what a document of before means now; what changed, and the changes of its text."""
    if not is_of_version_1(document):
        return ReadingContext(document), (), ()
    now, told, changes = migrated(document)
    context = ReadingContext(now)
    context.version_1 = True
    return context, told, changes


class Migration(NamedTuple):
    """The text of a file in the newest version of the format, and what changed; nothing did where it is of that version."""

    text: str
    told: tuple[str, ...]


def migration(source: Path | str) -> Migration:
    """What a file of before says now, with its comments as they are.

    Raises: DescriptionError with every error found, as for reading it.
    """
    document = read_document(source)
    _, context, changes = _read_document(document)
    if not context.version_1:
        return Migration(document.content, ())
    contents = list(content_changes(context))
    version = document.root.get("version")
    newest = [] if version is None else [TextChange(document.start(version), document.end(version), str(VERSION))]
    text = with_changes(document.text, [*changes, *(change for _, change in contents), *newest])
    # As a document, so that a mark at the beginning of the file stays.
    return Migration(replace(document, text=text).content, context.told)


def _read_part(document: Document, library: PartLibrary, counts: Mapping[str, int]) -> Model:
    """A system as a part of another; its own experiment is not read."""
    context, told, _ = _context_of(document)
    context.given_counts = counts
    return _read(context, library, as_part=True, told=told)


def _read(context: ReadingContext, library: PartLibrary, *, as_part: bool = False, told: tuple[str, ...] = ()) -> Model:
    # What cannot be collected any more ends the reading; everything found until then is raised below.
    with contextlib.suppress(StopReadingError):
        model = _ModelReader(context, library).read(context.document.root, as_part=as_part)
    context.raise_errors()
    if not as_part:
        context.add_errors(doubtful_scales(model))
        context.raise_errors()
    context.told = (*told, *dict.fromkeys(said for said, _ in content_changes(context)))
    if not context.told:
        return model
    file = context.file if context.file.endswith((".yaml", ".yml")) else "FILE"
    what = f"the file is of version 1 of the format, and is read as it was meant: {'; '.join(context.told)}"
    root = context.document.root
    place = context.place(root.key("version") or root.keys[0])
    fix = f"rewrite it with 'tellegen migrate {file}'"
    notice = rules.OF_BEFORE.finding(what, where=model.name, fix=fix, place=place)
    return replace(model, findings=(*model.findings, notice))


class _ModelReader:
    """Reads the sections of a file in the order in which they depend on each other."""

    def __init__(self, context: ReadingContext, library: PartLibrary) -> None:
        self.context, self.library = context, library
        self.parameters = ParametersReader(context)
        self.displacements = DisplacementsReader(context)
        self.meant: set[str | None] = set()  # keys that words which are none were probably meant for
        self.parts: tuple[Part, ...] = ()
        self.signals = SignalsReader(context)

    def read(self, root: MappingNode, *, as_part: bool = False) -> Model:
        context = self.context
        context.check_keys(root, FILE.names, "a system")
        # `netwrok:` is told as an unknown key; that the file has no network would tell the same slip twice.
        self.meant = {nearest(key.text, FILE.names) for key in root.keys if key.text not in FILE.names}
        name = self._attempt(self._read_name, root) or ""
        self._section(root, "version", self._check_version)
        about = self._section(root, "about", lambda node: context.scalar(node, "'about'").text.strip()) or ""
        # Displacements and parameters come first: formulas of everything else may read them.
        self._section(root, "displacements", self.displacements.read)
        self._section(root, "parameters", self.parameters.read)
        # Signals come before the network, because in formulas on its lines a word that names a signal is no unit.
        self._section(root, "signals", self.signals.read)
        context.gravity = self._section(root, GRAVITY, partial(read_gravity, context))
        # The network comes before the mechanism, which makes the points into nodes that elements are joined to.
        self._attempt(self._read_notation, root)
        mechanism = self._attempt(self._read_mechanism, root)
        closures = self._section(root, "closures", partial(read_closures, context)) or ()
        # Parts come after all elements beside them: a port may take the place of a source.
        found = self._attempt(self._read_parts, root)
        self.parts = parts = found or ()
        geometry = None if found is None else self._attempt(self._GeometryReader, root)
        self._attempt(add_heat_sources, context)
        self._attempt(add_weights, context)
        # Ports may lead to nodes and sources inside parts.
        # The nodes of elements that could not be read would be called unknown.
        ports = {} if context.errors else self._section(root, "ports", partial(read_ports, context)) or {}
        self._settle()
        # The experiment names variables, and these are known with the last element.
        described = None if as_part else root.get("experiment")
        experiment = Experiment() if described is None else read_experiment(context, described)
        if mechanism is not None:
            # What somebody says about the start comes before what follows from it for the other positions.
            experiment = replace(experiment, initial={**mechanism.initial, **experiment.initial})
        self._check_time(experiment)
        self._check_values()
        if not as_part:
            self._note_unused(root.get("parameters"))
        if (more := context.without_value - MOST_NOTICES) > 0:
            what = f"{more} more elements have no value: they stay symbols"
            context.notes.append(rules.NO_VALUE.finding(what, fix="give their values, or derive with symbols"))
        offered = None if context.errors else self._section(root, "signal ports", partial(read_signal_ports, context))
        signal_ports = offered or SignalPorts()
        layout, turned = self._section(root, "layout", partial(read_layout, context)) or ({}, {})
        # With elements missing, their names would be told as unknown.
        given = None if context.errors else self._section(root, "symbols", partial(read_symbols, context))
        symbols = given or ReadSymbols({}, {})
        return Model(
            name=name,
            elements=tuple(context.elements.values()),
            parameters=context.parameters,
            experiment=experiment,
            findings=tuple(context.notes),
            source=context.file,
            about=about,
            displacements=context.displacements,
            fields=tuple(context.fields),
            signals=context.signals,
            vectors=context.vectors,
            bond_numbers=context.bond_numbers,
            ports=ports,
            signal_ports=signal_ports,
            parts=parts,
            # The parameters of parts that decide how many elements there are, as the whole calls them.
            counts=frozenset(context.counted).union(
                p.names.get(n, f"{p.name}.{n}") for p in parts for n in p.model.counts
            ),
            closures=(*closures, *(() if mechanism is None else mechanism.closures), *closures_of_parts(parts)),
            mechanism=None if mechanism is None else mechanism.mechanism,
            layout=layout,
            turned=turned,
            symbols=symbols.named,
            counted_symbols=symbols.counted,
            geometry=geometry,
        )

    def _section(self, root: MappingNode, key: str, step: Callable[[Node], _Found]) -> _Found | None:
        """What a section of the file says; None where there is none, or it cannot be read."""
        node = root.get(key)
        return None if node is None else self._attempt(step, node)

    def _settle(self) -> None:
        """Check what could not be judged before all names were known."""
        # Slopes give parameters their formulas, parameters give signals their units, and formulas may read all of them.
        resolve_slopes(self.context)
        self.parameters.settle()
        self.signals.settle()
        for pending in self.context.pending:
            self.context.check(pending)
        self.parameters.check_own_names()
        self.displacements.check_rates()
        # Formulas of elements with modes read what those of signals read.
        if self.context.formulas:
            scope = FormulaScope(self.context)
            for marked, wanted, subject, node in self.context.formulas:
                scope.checked(marked, wanted, subject, node)

    def _attempt(self, step: Callable[[_Given], _Found], argument: _Given) -> _Found | None:
        with self.context.collecting():
            return step(argument)
        return None

    def _read_name(self, root: MappingNode) -> str:
        node = root.get("system")
        if node is None and "system" in self.meant:
            return ""
        if node is None:
            fix = "start with a line 'system: name'"
            raise self.context.error(rules.MISSING_KEY, root, "the file has no 'system'", fix=fix)
        name = self.context.scalar(node, "the name of the system").text.strip()
        if not name:
            raise self.context.error(rules.MISSING_KEY, node, "the system has no name", fix="write 'system: name'")
        return name

    def _check_version(self, node: Node) -> None:
        if (text := self.context.scalar(node, "the version").text.strip()) not in (BEFORE, str(VERSION)):
            what = f"the file is in version '{text}' of the format, and this program reads version {VERSION}"
            raise self.context.error(rules.UNKNOWN_VERSION, node, what, fix=f"write 'version: {VERSION}'")

    def _GeometryReader(self, root: MappingNode) -> Geometry | None:
        node = root.get("geometry")
        if node is not None and root.get("mechanism") is not None:
            what = "a system with a mechanism has a geometry besides"
            raise self.context.error(rules.WRONG_SHAPE, node, what, fix="leave it out: a mechanism is drawn as it is")
        if node is None:
            return None if root.get("mechanism") is not None else geometry_of_parts(self.parts, {})
        return GeometryReader(self.context, self.parts).read(node)

    def _check_time(self, experiment: Experiment) -> None:
        """Where something depends on time, nothing else is named like it."""
        context = self.context
        courses = [signal.expression for signal in experiment.inputs.values() if signal.expression is not None]
        if not (context.signals or context.driven or any(TIME in e.free_symbols for e in courses)):
            return
        named = {
            "parameter": context.parameters.keys(),
            "displacement": context.displacements.keys(),
            "variable": known_variables(context.elements.values()).keys(),
        }
        for word, names in named.items():
            if TIME in names:
                place = context.parameters[TIME].place if TIME in context.parameters else None
                what = f"a {word} is named '{TIME}', like the time"
                context.add_errors([signals_rules.TIME_TAKEN.finding(what, fix="rename it", place=place)])

    def _read_notation(self, root: MappingNode) -> None:
        """The elements of a file from its one notation."""
        context, details = self.context, root.get("elements")
        if not any(word in root for word in NOTATIONS) and self.meant.intersection(NOTATIONS):
            return
        found = {word: node for word in NOTATIONS if (node := root.get(word)) is not None}
        if len(found) > 1:
            fix = "keep one of them: each notation describes the whole system"
            what = f"the file describes the system twice: {' and '.join(found)}"
            raise context.error(rules.VALUE_TWICE, root, what, fix=fix)
        if "network" in found and details is not None:
            fix = "write its keys on the lines of the network"
            raise context.error(rules.WRONG_SHAPE, details, "'elements' goes with a bond graph or a ladder", fix=fix)
        if (bonds := found.get("bond graph")) is not None:
            self.parameters.settle_early()  # units of parameters tell the domains of bonds
            read_bond_graph(context, bonds, details)
        elif (ladder := found.get("pog")) is not None:
            read_ladder(context, ladder, details)
        elif (network := found.get("network")) is not None:
            _read_lines(context, network)
        elif details is not None:
            fix = "add 'bond graph:' or 'pog:', whose elements it describes, or write them as lines of 'network:'"
            what = "'elements' describes elements, and the file has no bond graph and no ladder in which they are"
            raise context.error(rules.MISSING_KEY, details, what, fix=fix)
        elif all(root.get(word) is None for word in ("parts", "mechanism", "signals")):
            fix = "add 'network:' with a line for each element, or 'bond graph:', or 'pog:'"
            raise context.error(rules.MISSING_KEY, root, "the file describes no network", fix=fix)

    def _read_mechanism(self, root: MappingNode) -> LoweredMechanism | None:
        """A mechanism is read after the network, whose elements may be joined to its points; it stands where the file has it."""
        node = root.get("mechanism")
        # With elements missing, other points would be wanted: first the network has to be right.
        if node is None or self.context.errors:
            return None
        context = self.context
        before = set(context.elements)
        lowering = read_mechanism(context, node, root)
        order = [key.text for key in root.keys if key.text in ("mechanism", "network", "bond graph", "pog")]
        if order[0] == "mechanism":
            context.put_in_front(before)
        return lowering

    def _read_parts(self, root: MappingNode) -> tuple[Part, ...]:
        """Parts are joined once the elements beside them are known, and stand before them where the file says so."""
        node = root.get("parts")
        if node is None:
            return ()
        reader = PartsReader(self.context, self.library)
        order = [key.text for key in root.keys if key.text in ("parts", "network", "bond graph", "pog")]
        reader.read(node, first=order[0] == "parts")
        self.parameters.add(reader.readings)
        return reader.parts

    def _note_unused(self, section: Node | None) -> None:
        """Tell parameters whose names stand nowhere else in the file."""
        context = self.context
        words = Counter(re.findall(r"[^\W\d]\w*", context.document.text))
        for key in section.keys if isinstance(section, MappingNode) else ():
            if key.text in context.parameters and words[key.text] == 1:
                what = f"nothing reads the parameter {key.text}"
                fix = "use its name where it is meant, or leave it out"
                place = context.place(key)
                context.notes.append(rules.UNUSED_PARAMETER.finding(what, where=key.text, fix=fix, place=place))

    def _check_values(self) -> None:
        context = self.context
        order = [name for name in self.parameters.order if name in context.parameters]
        values, problems = evaluate_in_order(context.parameters, order)
        context.add_errors(problems)
        errors, warnings = check_numbers(context.elements, context.fields, values, self.parameters.constant())
        context.add_errors(errors)
        context.notes.extend(warnings)
        self._check_constants(values)
        self.signals.check_numbers(values)

    def _check_constants(self, values: Mapping[str, float]) -> None:
        """Formulas of constants have a value wherever they stand; those of elements were judged with their sizes."""
        context = self.context
        # "the value of L divides by zero" was said, and "the inductance of L divides by zero" would be the same slip again.
        told, known = {finding.what.partition(" of ")[2] for finding in context.errors}, set[Expression]()
        asked = [(p.marked, p.subject, p.where, p.names) for p in context.pending]
        asked += [
            (marked, subject, partial(context.text_place, node), {}) for marked, _, subject, node in context.formulas
        ]
        for marked, subject, where, names in asked:
            if marked in known:
                continue
            known.add(marked)
            formula = without_marks(marked)
            if not formula.free_symbols <= values.keys() - names.keys():
                continue
            try:
                finite_value(formula, values)
            except ArithmeticError as problem:
                found = value_finding(subject, problem, where())
                context.add_errors([] if found.what.partition(" of ")[2] in told else [found])


def check_numbers(
    elements: Mapping[str, Element],
    fields: Iterable[MatrixField],
    values: Mapping[str, float],
    constant: frozenset[str] = frozenset(),
) -> tuple[list[Finding], list[Finding]]:
    """Errors and warnings about the numbers of elements and fields; `constant` are the names of what never changes."""
    errors, warnings = check_physics(elements.values(), values)
    negative, active = check_fields(fields, elements, values)
    wrong = check_switching(elements.values(), values, constant)
    return [*errors, *negative, *wrong], [*warnings, *active]
