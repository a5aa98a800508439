"""A model from its file: the one way in for YAML texts and for networks built in Python."""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from tellegen.core.errors import Place, TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.description import rules
from tellegen.description.bond_graphs import read_bond_graph
from tellegen.description.context import MOST_NOTICES, Context, EnoughError, Pending
from tellegen.description.dimensions import Open, si_unit
from tellegen.description.document import Document, Mapping, Node, Scalar, read_document
from tellegen.description.experiment import input_name, read_experiment, state_variables
from tellegen.description.files import without_collector
from tellegen.description.indexing import read_name
from tellegen.description.keys import form_of, make_form
from tellegen.description.ladders import read_ladder
from tellegen.description.model import Experiment, Model, Parameter
from tellegen.description.multiports import is_multiport, read_multiport
from tellegen.description.network import emit_line, read_line, reserved
from tellegen.description.quantities import Reading
from tellegen.description.repeating import emit_block, is_block, read_block
from tellegen.description.values import check_physics, definition_order, evaluate_in_order
from tellegen.expressions import RESERVED_WORDS, Number, Symbol, parse

TOP_KEYS = {
    "system": "the name of the system",
    "about": "what it is, in a sentence or two",
    "version": "the version of this format: 1",
    "parameters": "named constants: numbers with units, and expressions of other parameters",
    "displacements": "angles and positions that parameters may read, with their rates: 'theta: omega'",
    "network": "elements between nodes, one a line",
    "bond graph": "junctions, one-ports and two-ports joined by half arrows, one chain of bonds a line",
    "pog": "the sections, elaboration blocks and connections of a ladder",
    "elements": "laws, values and initial values of the elements of a bond graph or a ladder",
    "experiment": "how long to run, with which inputs, from where",
    "layout": "where things are drawn",
}
VERSION = 1

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


def model_of(document: Document) -> Model:
    """The model that a document describes."""
    context = Context(document)
    # What cannot be collected any more ends the reading; everything found until then is raised below.
    with contextlib.suppress(EnoughError):
        model = _ModelReader(context).read(document.root)
    context.raise_errors()
    return model


class _ModelReader:
    """Reads the parts in the order in which they depend on each other."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.readings: dict[str, Reading] = {}  # of parameters whose dimension is not known yet
        self.texts: dict[str, Scalar] = {}
        self.rates: dict[str, Scalar] = {}

    def read(self, root: Mapping) -> Model:
        context = self.context
        context.check_keys(root, TOP_KEYS, "a system")
        name = self._attempt(self._read_name, root) or ""
        self._attempt(self._read_version, root)
        about = self._attempt(self._read_about, root) or ""
        if (displacements := root.get("displacements")) is not None:
            self._attempt(self._read_displacements, displacements)
        if (parameters := root.get("parameters")) is not None:
            self._attempt(self._read_parameters, parameters)
        self._attempt(self._read_network, root)
        self._settle_parameters()
        for pending in context.pending:
            context.check(pending)
        self._check_own_names()
        self._check_rates()
        experiment = Experiment()
        if (described := root.get("experiment")) is not None:
            experiment = read_experiment(context, described)
        self._check_values()
        self._sum_up_notices()
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

    # Displacements

    def _read_displacements(self, node: Node) -> None:
        for key, value in self.context.mapping(node, "'displacements'").items():
            name = self.context.name(key, "a displacement")
            rate = self.context.formula(value, f"the rate of {name}")
            self.rates[name] = rate
            self.context.displacements[name] = parse(rate.text, place=self.context.text_place(rate))

    def _check_rates(self) -> None:
        """Rates are expressions of parameters, of inputs and of what storages decide."""
        known = {
            *state_variables(self.context.elements.values()),
            *self.context.parameters,
            *self.context.displacements,
        }
        known |= {input_name(e) for e in self.context.elements.values() if e.kind.role == "source"}
        for name, rate in self.context.displacements.items():
            if name in self.context.parameters:
                what = f"'{name}' is a displacement and a parameter"
                self.context.collect(
                    self.context.error(rules.VALUE_TWICE, self.rates[name], what, fix="rename one of them")
                )
            for other in sorted(rate.free_symbols - known):
                fix = did_you_mean(other, known) or f"some that are: {listing(sorted(known))}"
                what = f"the rate of {name} uses '{other}', which is no variable of a storage"
                self.context.collect(self.context.error(rules.UNKNOWN_VARIABLE, self.rates[name], what, fix=fix))

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
        text = context.scalar(node, f"the value of {name}")
        if not text.text.strip():
            context.parameters[name] = Parameter(name, None, None, "", place)
            return
        self.texts[name] = text
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
            read_bond_graph(context, bonds, root.get("elements"))
            return
        if (ladder := root.get("pog")) is not None:
            read_ladder(context, ladder, root.get("elements"))
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
        context.notes.extend(warnings)

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
