"""A model from its file: the one way in for YAML texts and for networks built in Python."""

import contextlib
from collections.abc import Callable
from collections.abc import Mapping as TypingMapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from tellegen.core.errors import Place, TellegenError
from tellegen.core.names import TIME, did_you_mean, listing
from tellegen.description import rules
from tellegen.description.bond_graphs import read_bond_graph
from tellegen.description.closures import closures_of, read_closures
from tellegen.description.context import MOST_NOTICES, Context, EnoughError, Pending
from tellegen.description.curves import read_curve, settle_slopes
from tellegen.description.dimensions import Open, si_unit
from tellegen.description.document import Document, Mapping, Node, Scalar, read_document
from tellegen.description.experiment import read_experiment
from tellegen.description.field_values import check_fields
from tellegen.description.files import without_collector
from tellegen.description.heat import add_heat_sources
from tellegen.description.indexing import read_name
from tellegen.description.keys import form_of, make_form
from tellegen.description.ladders import read_ladder
from tellegen.description.layouts import Places, read_layout
from tellegen.description.mechanisms import Lowering, read_mechanism
from tellegen.description.model import Closure, Experiment, Model, Parameter, Part, Port, SignalPorts
from tellegen.description.multiports import is_multiport, read_multiport
from tellegen.description.network import emit_line, read_line, reserved
from tellegen.description.parts.ports import read_ports, read_signal_ports
from tellegen.description.parts.reading import PartsReader
from tellegen.description.parts.shelf import Shelf
from tellegen.description.quantities import Reading
from tellegen.description.repeating import emit_block, is_block, read_block
from tellegen.description.signals import rules as signal_rules
from tellegen.description.signals.checking import SignalsChecker
from tellegen.description.signals.formulas import Scope
from tellegen.description.signals.reading import SignalsReader
from tellegen.description.switching import check_switching
from tellegen.description.values import check_physics, definition_order, evaluate_in_order
from tellegen.description.variables import input_name, known_variables, sensed_variables, state_variables
from tellegen.expressions import RESERVED_WORDS, Number, Symbol, number, parse

TOP_KEYS = {
    "system": "the name of the system",
    "about": "what it is, in a sentence or two",
    "version": "the version of this format: 1",
    "parameters": "named constants: numbers with units, and expressions of other parameters",
    "ports": "where other systems are joined to this one: a node, two nodes, or {source: name} for the place of a source",
    "signal ports": "the signals that this system takes from others and those that it offers",
    "displacements": "angles and positions that parameters may read, with their rates: 'theta: omega'",
    "parts": "systems used as elements of this one, one a line: {use: motor.yaml, ports: {shaft: s}, K: 0.1 N*m/A}",
    "network": "elements between nodes, one a line",
    "mechanism": "planar rigid bodies and their joints, whose nodes elements of the network may use",
    "bond graph": "junctions, one-ports and two-ports joined by half arrows, one chain of bonds a line",
    "pog": "the sections, elaboration blocks and connections of a ladder",
    "closures": "loops of positions: equations of displacements that stay zero, and the displacements that follow from them",
    "signals": "references, sensors and controllers: formulas and blocks that are causal and carry no power",
    "elements": "laws, values and initial values of the elements of a bond graph or a ladder",
    "experiment": "how long to run, with which inputs, from where",
    "layout": "where items stand in figures: 'bond: {L_a: [340, 120]}'",
}
VERSION = 1

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
    with without_collector():
        return model_of(read_document(source, file))


def model_of(
    document: Document,
    functions: Functions | None = None,
    parts: TypingMapping[str, Model] | None = None,
    folder: Path | None = None,
) -> Model:
    """The model that a document describes.

    `functions` are those of its signals that are Python functions, by signal; `parts` are systems that its parts may use besides
    files, by name. Files of parts and tables lie in the folder of the document, or in `folder` where it is no file.
    """
    context = Context(document)
    context.functions, context.folder = functions or {}, folder
    return _read(context, Shelf(_read_part, document.file, parts or {}, folder))


def _read_part(document: Document, shelf: Shelf, counts: TypingMapping[str, int]) -> Model:
    """A system as a part of another; its own experiment is not read."""
    context = Context(document)
    context.given_counts = counts
    return _read(context, shelf, as_part=True)


def _read(context: Context, shelf: Shelf, *, as_part: bool = False) -> Model:
    # What cannot be collected any more ends the reading; everything found until then is raised below.
    with contextlib.suppress(EnoughError):
        model = _ModelReader(context, shelf).read(context.document.root, as_part=as_part)
    context.raise_errors()
    return model


class _ModelReader:
    """Reads the sections of a file in the order in which they depend on each other."""

    def __init__(self, context: Context, shelf: Shelf) -> None:
        self.context = context
        self.shelf = shelf
        self.readings: dict[str, Reading] = {}  # of parameters whose dimension is not known yet
        self.texts: dict[str, Scalar] = {}
        self.rates: dict[str, Scalar] = {}
        self.signals = SignalsReader(context)
        self.checker = SignalsChecker(context, self.signals.lines)

    def read(self, root: Mapping, *, as_part: bool = False) -> Model:
        context = self.context
        context.check_keys(root, TOP_KEYS, "a system")
        name = self._attempt(self._read_name, root) or ""
        self._attempt(self._read_version, root)
        about = self._attempt(self._read_about, root) or ""
        if (displacements := root.get("displacements")) is not None:
            self._attempt(self._read_displacements, displacements)
        if (parameters := root.get("parameters")) is not None:
            self._attempt(self._read_parameters, parameters)
        if (signals := root.get("signals")) is not None:
            self._attempt(self.signals.read, signals)
        self._attempt(self._read_network, root)
        mechanism = self._attempt(self._read_mechanism, root)
        closures = None if (given := root.get("closures")) is None else self._attempt(self._read_closures, given)
        parts = self._attempt(self._read_parts, root) or ()
        self._attempt(add_heat_sources, context)
        ports = {} if (offered := root.get("ports")) is None else self._attempt(self._read_ports, offered)
        settle_slopes(context)
        self._settle_parameters()
        self.checker.settle()
        for pending in context.pending:
            context.check(pending)
        self._check_own_names()
        self._check_rates()
        self._check_formulas()
        experiment = Experiment()
        if (described := root.get("experiment")) is not None and not as_part:
            experiment = read_experiment(context, described)
        if mechanism is not None:
            experiment = replace(experiment, initial={**mechanism.initial, **experiment.initial})
        self._check_time(experiment)
        self._check_values()
        self._sum_up_notices()
        signal_ports = self._attempt(self._read_signal_ports, root) or SignalPorts()
        layout = None if (node := root.get("layout")) is None else self._attempt(self._read_layout, node)
        elements = tuple(context.elements.values())
        return Model(
            name,
            elements,
            context.parameters,
            experiment,
            tuple(context.notes),
            context.file,
            about,
            context.displacements,
            tuple(context.fields),
            context.signals,
            context.vectors,
            ports or {},
            signal_ports,
            parts,
            frozenset(context.counted).union(
                part.names.get(count, f"{part.name}.{count}") for part in parts for count in part.model.counts
            ),
            (*(closures or ()), *(() if mechanism is None else mechanism.closures), *closures_of(parts)),
            None if mechanism is None else mechanism.mechanism,
            layout=layout or {},
        )

    def _attempt(self, step: Callable[[_Given], _Found], argument: _Given) -> _Found | None:
        try:
            return step(argument)
        except TellegenError as error:
            self.context.collect(error)
            return None

    def _read_name(self, root: Mapping) -> str:
        node = root.get("system")
        if node is None:
            raise self.context.error(
                rules.MISSING_KEY, root, "the file has no 'system'", fix="start with a line 'system: name'"
            )
        name = self.context.scalar(node, "the name of the system").text.strip()
        if not name:
            raise self.context.error(rules.MISSING_KEY, node, "the system has no name", fix="write 'system: name'")
        return name

    def _read_version(self, root: Mapping) -> None:
        node = root.get("version")
        if node is not None and (text := self.context.scalar(node, "the version").text.strip()) != str(VERSION):
            what = f"the file is in version '{text}' of the format, and this program reads version {VERSION}"
            raise self.context.error(rules.UNKNOWN_VERSION, node, what, fix=f"write 'version: {VERSION}'")

    def _read_about(self, root: Mapping) -> str:
        node = root.get("about")
        return "" if node is None else self.context.scalar(node, "'about'").text.strip()

    def _read_layout(self, node: Node) -> dict[str, Places]:
        return read_layout(self.context, node)

    # Displacements

    def _read_displacements(self, node: Node) -> None:
        for key, value in self.context.mapping(node, "'displacements'").items():
            name = self.context.name(key, "a displacement")
            rate = self.context.formula(value, f"the rate of {name}")
            self.rates[name] = rate
            self.context.displacements[name] = parse(rate.text, place=self.context.text_place(rate))

    def _check_rates(self) -> None:
        """Rates are expressions of parameters, of inputs, of what storages decide and of what ideal sensors read."""
        known = {
            *state_variables(self.context.elements.values()),
            *sensed_variables(self.context.elements.values()),
            *self.context.parameters,
            *self.context.displacements,
        }
        known |= {input_name(e) for e in self.context.elements.values() if e.kind.role == "source"}
        for name in self.rates:  # those of a mechanism are made of its own speeds
            rate = self.context.displacements.get(name)
            if rate is None:  # it could not be read, which is told already
                continue
            if name in self.context.parameters:
                what = f"'{name}' is a displacement and a parameter"
                self.context.collect(
                    self.context.error(rules.VALUE_TWICE, self.rates[name], what, fix="rename one of them")
                )
            for other in sorted(rate.free_symbols - known):
                fix = did_you_mean(other, known) or f"some that are: {listing(sorted(known))}"
                what = f"the rate of {name} uses '{other}', which is no variable of a storage or of a sensor"
                self.context.collect(self.context.error(rules.UNKNOWN_VARIABLE, self.rates[name], what, fix=fix))

    def _check_formulas(self) -> None:
        """Formulas of elements with modes read what those of signals read."""
        if self.context.formulas:
            scope = Scope(self.context)
            for marked, wanted, subject, node in self.context.formulas:
                scope.checked(marked, wanted, subject, node)

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
                parameter = context.parameters.get(TIME)
                place = parameter.place if parameter is not None else None
                what = f"a {word} is named '{TIME}', like the time"
                context.add_errors([signal_rules.TIME_TAKEN.finding(what, fix="rename it", place=place)])

    # Parameters

    def _read_parameters(self, node: Node) -> None:
        for key, value in self.context.mapping(node, "'parameters'").items():
            if self.context.is_rest(key, value):
                continue
            try:
                self._read_parameter(key, value)
            except TellegenError as error:
                self.context.broken.add(key.text)
                self.context.collect(error)

    def _read_parameter(self, key: Scalar, node: Node) -> None:
        context = self.context
        name = read_name(context, key, (), "a parameter")
        assert isinstance(name, str), "without indices a name is a text"
        if name in RESERVED_WORDS:
            raise reserved(context, key, "a parameter")
        place = context.place(key)
        if isinstance(node, Mapping):
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
        elif (
            reading.dimension is None
            and isinstance(reading.expression, Number)
            and type(reading.expression.rational) is int
        ):
            context.counts[name] = reading.expression.rational

    def _settle_early(self) -> None:
        """The dimensions of parameters given by formulas, for a notation in which units choose the kind of an element.

        What is wrong in a formula is said later, when all parameters are known.
        """
        parameters = self.context.parameters
        for name in definition_order(parameters)[0]:
            if name in self.readings and (dimension := self.context.dimension_of(self.readings[name])) is not None:
                parameters[name] = replace(parameters[name], dimension=dimension, unit=si_unit(dimension))

    def _settle_parameters(self) -> None:
        """The dimensions of parameters, each after those it uses."""
        context = self.context
        self.order, cycles = definition_order(context.parameters)
        context.add_errors(cycles)
        for name in self.order:
            if name not in self.readings:
                continue
            reading = self.readings[name]
            assert reading.marked is not None, "plain readings need no second look"
            pending = Pending(reading.marked, None, f"the value of {name}", _At(context, self.texts[name]), {})
            measure = context.check(pending)
            if not isinstance(measure, Open):
                context.parameters[name] = replace(context.parameters[name], dimension=measure, unit=si_unit(measure))

    # Elements

    def _read_network(self, root: Mapping) -> None:
        context = self.context
        node = root.get("network")
        notations = [word for word in ("network", "bond graph", "pog") if root.get(word) is not None]
        if len(notations) > 1:
            fix = "keep one of them: each notation describes the whole system"
            what = f"the file describes the system twice: {' and '.join(notations)}"
            raise context.error(rules.VALUE_TWICE, root, what, fix=fix)
        if notations == ["network"] and (details := root.get("elements")) is not None:
            fix = "write its keys on the lines of the network"
            raise context.error(rules.WRONG_SHAPE, details, "'elements' goes with a bond graph or a ladder", fix=fix)
        if (bonds := root.get("bond graph")) is not None:
            self._settle_early()
            read_bond_graph(context, bonds, root.get("elements"))
            return
        if (ladder := root.get("pog")) is not None:
            read_ladder(context, ladder, root.get("elements"))
            return
        if node is None and (root.get("parts") is not None or root.get("mechanism") is not None):
            return
        if node is None:
            fix = "add 'network:' with a line for each element, or 'bond graph:', or 'pog:'"
            raise context.error(rules.MISSING_KEY, root, "the file describes no network", fix=fix)
        mapping = context.mapping(node, "'network'")
        for key, value in zip(mapping.keys, mapping.values, strict=True):
            try:
                if isinstance(value, Mapping) and is_multiport(value):
                    read_multiport(context, key, value)
                elif isinstance(value, Mapping) and is_block(value):
                    emit_block(context, read_block(context, key, value, ()))
                else:
                    emit_line(context, read_line(context, key, value, ()))
            except TellegenError as error:
                context.broken.add(key.text)
                context.collect(error)

    def _read_closures(self, node: Node) -> tuple[Closure, ...]:
        return read_closures(self.context, node)

    def _read_mechanism(self, root: Mapping) -> Lowering | None:
        """A mechanism is read after the network, whose elements may be joined to its points; it stands where the file has it."""
        node = root.get("mechanism")
        if node is None or self.context.errors:
            return None
        context = self.context
        before = dict(context.elements)
        lowering = read_mechanism(context, node, root)
        order = [key.text for key in root.keys if key.text in ("mechanism", "network", "bond graph", "pog")]
        if order[0] == "mechanism":
            own = {name: e for name, e in context.elements.items() if name not in before}
            context.elements.clear()
            context.elements.update({**own, **before})
        return lowering

    # Hierarchy

    def _read_parts(self, root: Mapping) -> tuple[Part, ...]:
        """Parts are joined once the elements beside them are known, and stand before them where the file says so."""
        node = root.get("parts")
        if node is None:
            return ()
        reader = PartsReader(self.context, self.shelf)
        order = [key.text for key in root.keys if key.text in ("parts", "network", "bond graph", "pog")]
        reader.read(node, first=order[0] == "parts")
        for name, (reading, text) in reader.readings.items():
            self.readings[name], self.texts[name] = reading, text
        return reader.parts

    def _read_ports(self, node: Node) -> dict[str, Port]:
        return {} if self.context.errors else read_ports(self.context, node)

    def _read_signal_ports(self, root: Mapping) -> SignalPorts:
        node = root.get("signal ports")
        return SignalPorts() if node is None or self.context.errors else read_signal_ports(self.context, node)

    def _check_own_names(self) -> None:
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

    # Numbers

    def _check_values(self) -> None:
        context = self.context
        order = [name for name in self.order if name in context.parameters]
        values, problems = evaluate_in_order(context.parameters, order)
        context.add_errors(problems)
        errors, warnings = check_physics(context.elements.values(), values)
        context.add_errors(errors)
        errors, active = check_fields(context.fields, context.elements, values)
        context.add_errors(errors)
        warnings += active
        context.add_errors(check_switching(context.elements.values(), values, self._constant()))
        context.notes.extend(warnings)
        self.checker.check_numbers(values)

    def _constant(self) -> frozenset[str]:
        """Parameters that depend on no displacement."""
        moving = set(self.context.displacements)
        for name in self.order:
            expression = self.context.parameters[name].expression if name in self.context.parameters else None
            if expression is not None and expression.free_symbols & moving:
                moving.add(name)
        return frozenset(self.context.parameters.keys() - moving)

    def _sum_up_notices(self) -> None:
        context = self.context
        if context.without_value > MOST_NOTICES:
            what = f"{context.without_value - MOST_NOTICES} more elements have no value: they stay symbols"
            context.notes.append(rules.NO_VALUE.finding(what, fix="give their values, or derive with symbols"))


class _At:
    """Where a text stands, found only when somebody asks."""

    def __init__(self, context: Context, node: Scalar) -> None:
        self.context = context
        self.node = node

    def __call__(self) -> Place:
        return self.context.text_place(self.node)
